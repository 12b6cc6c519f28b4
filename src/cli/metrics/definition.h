/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics as they are defined, and events as perf encodes them. */
#ifndef PM_CLI_METRICS_DEFINITION_H
#define PM_CLI_METRICS_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "core/text/text.h"

struct metric_definition {
	char *name, *expression;
	char *scale_unit; /* "100%", "1GB/s"; NULL: none */
	/* For whoever reads the expression: whether that has begun or is done, and the tree. */
	enum { METRIC_UNREAD, METRIC_READING, METRIC_READ } is;
	uint32_t root;
};

struct metric_encoding {
	char *name;  /* "inst_retired.any" */
	char *event; /* "cpu/event=0xc0/" */
};

struct metric_definitions {
	struct metric_definition *metrics;
	size_t count;
	struct metric_encoding *encodings;
	size_t encoding_count;
};

/* Adds copies. Return 0 or -ENOMEM. */
int metric_definition_add(struct metric_definitions *all, const char *name,
			  struct pm_slice expression, const char *scale_unit);
int metric_encoding_add(struct metric_definitions *all, const char *name,
			struct pm_slice event);

/* Find NAME without regard to case; NULL: there is none. */
struct metric_definition *metric_definition_find(const struct metric_definitions *all,
						 const char *name);
const char *metric_encoding_find(const struct metric_definitions *all, const char *name,
				 size_t length);

void metric_definitions_free(struct metric_definitions *all);

/*
 * metric_perf_read() - adds the metrics that perf prints, or with EVENTS the encodings.
 * Returns 0, or a negative errno with a message.
 */
int metric_perf_read(struct metric_definitions *all, bool events, struct pm_diag *diag);

/* Adds the metrics of a file of JSON: the objects in it that have MetricName and
 * MetricExpr. Returns 0, or a negative errno with a message. */
int metric_file_read(struct metric_definitions *all, const char *path,
		     struct pm_diag *diag);

#endif
