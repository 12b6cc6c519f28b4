/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cells of a table for people: names, values and their marks as text. */
#ifndef PM_REPORT_CELLS_H
#define PM_REPORT_CELLS_H

#include "core/report/model/value.h"
#include "core/report/output/json.h"
#include "core/report/output/number.h"
#include "core/report/output/out.h"

struct pm_cell {
	char text[PM_CELL];
	char marks[32]; /* with a blank in front, or "" */
};

/* The state and the marks of VALUE; the text only if it is not counted. Adds to *MARKS,
 * and to *STATES a bit for each enum pm_state: what a legend is to explain. */
void pm_cell_value(struct pm_cell *cell, const struct pm_value *value, uint32_t *marks,
		   uint32_t *states);

/* The text of a counted VALUE. */
void pm_cell_event(struct pm_cell *cell, const struct pm_value *value,
		   const struct perfmon_profile_counter *counter);
void pm_cell_metric(struct pm_cell *cell, const struct pm_value *value,
		    const struct pm_metric *metric);

/* Writes the legend of MARKS and STATES, below a table. */
void pm_report_text_legend(struct pm_out *out, uint32_t marks, uint32_t states);

/* Writes the member NAME of JSON: an array of the names of MARKS. */
void pm_json_marks(struct pm_json *j, const char *name, uint32_t marks);

/* With the marks: ">=" stood before a number. */
#define PM_CELL_AT_LEAST (UINT32_C(1) << 31)
/* There are columns of estimates from histograms. */
#define PM_CELL_HISTOGRAM (UINT32_C(1) << 30)

/* The row that has the sum; a region of this name stands in quotes. */
#define PM_CELL_TOTAL "total"

/* The name of node N, indented by its depth, in at most WIDTH columns (0: as long as it
 * is, but for very long ones); how many it takes. OUT may be NULL. */
size_t pm_cell_name_within(const struct pm_report_tree *tree, uint32_t n, size_t width,
			   struct pm_out *out);
/* The same in at most 48 columns for the name itself. */
size_t pm_cell_name(const struct pm_report_tree *tree, uint32_t n, struct pm_out *out);

/*
 * The nodes of the path of N, from the top down, in LINE. A profile may make the paths of
 * all its nodes longer than itself: of a path whose names come to more than MOST bytes
 * the middle is left out, for which 0 stands, the root's number. How many are in LINE.
 */
#define PM_PATH_NODES (PERFMON_PROFILE_DEPTH_MAX + 1)
#define PM_PATH_BYTES 4096
#define PM_PATH_LEFT  "..." /* how what is left out is written */
uint32_t pm_report_path(const struct pm_report_tree *tree, uint32_t n, size_t most,
			uint32_t line[PM_PATH_NODES]);
/* Writes the path of node N, with " > " between the names. */
void pm_report_path_write(const struct pm_report_tree *tree, uint32_t n,
			  struct pm_out *out);

#endif
