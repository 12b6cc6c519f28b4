/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON, member by member. */
#ifndef PM_REPORT_JSON_OUT_H
#define PM_REPORT_JSON_OUT_H

#include "report/formats.h"
#include "report/out.h"

/* Members: a comma before each but the first of its object or array. */
struct pm_json {
	struct pm_out *out;
	bool first;
};

/* Before a value of an array. */
void pm_json_next(struct pm_json *j);

/* Before the value of the member NAME. */
void pm_json_key(struct pm_json *j, const char *name);

/* BRACKET begins an object or an array, or ends it. */
void pm_json_open(struct pm_json *j, const char *bracket);
void pm_json_close(struct pm_json *j, const char *bracket);

/* Members. What is not KNOWN is null. */
void pm_json_string(struct pm_json *j, const char *name, const char *value);
void pm_json_number(struct pm_json *j, const char *name, uint64_t value);
void pm_json_signed(struct pm_json *j, const char *name, int64_t value);
void pm_json_null(struct pm_json *j, const char *name);
void pm_json_bool(struct pm_json *j, const char *name, bool value);
void pm_json_real(struct pm_json *j, const char *name, double value, bool known);
void pm_json_known(struct pm_json *j, const char *name, uint64_t value, bool known);
void pm_json_text(struct pm_json *j, const char *name, const char *value, bool known);

/* The member "nodes": those of TREE (json_nodes.c). */
void pm_json_nodes(struct pm_json *j, const struct pm_report *report,
		   const struct pm_report_tree *tree);

#endif
