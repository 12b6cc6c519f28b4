/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON, member by member. */
#ifndef PM_REPORT_JSON_OUT_H
#define PM_REPORT_JSON_OUT_H

#include <stdbool.h>

#include "core/report/output/out.h"

/* Members: a comma before each but the first of its object or array. */
struct pm_json {
	struct pm_out *out;
	bool first;
};

/* Before the value of the member NAME of an object, or of an array's next (NULL): so all
 * that take a NAME do. */
void pm_json_key(struct pm_json *j, const char *name);

/* BRACKET begins an object or an array, or ends it. An object that is not THERE is null,
 * and false; one that begins a LINE is an array's. */
void pm_json_begin(struct pm_json *j, const char *name, const char *bracket);
bool pm_json_begin_known(struct pm_json *j, const char *name, const void *there);
void pm_json_begin_line(struct pm_json *j);
void pm_json_close(struct pm_json *j, const char *bracket);

/* Values. What is not KNOWN is null. */
void pm_json_string(struct pm_json *j, const char *name, const char *value);
void pm_json_number(struct pm_json *j, const char *name, uint64_t value);
void pm_json_signed(struct pm_json *j, const char *name, int64_t value);
void pm_json_null(struct pm_json *j, const char *name);
void pm_json_bool(struct pm_json *j, const char *name, bool value);
void pm_json_real(struct pm_json *j, const char *name, double value, bool known);
void pm_json_known(struct pm_json *j, const char *name, uint64_t value, bool known);
void pm_json_text(struct pm_json *j, const char *name, const char *value, bool known);

#endif
