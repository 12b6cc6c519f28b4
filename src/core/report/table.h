/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of a text report: a row for each path, and one for the sum. Each column has
 * one unit, which stands below its title. What is wider than the terminal is cut up into
 * several tables with the same rows. A table is made several times, to measure its columns
 * and to print them, so that no copy of it is held.
 */
#ifndef PM_REPORT_TABLE_H
#define PM_REPORT_TABLE_H

#include "core/report/model/value.h"
#include "core/report/output/number.h"
#include "core/report/output/out.h"

enum pm_column_kind {
	PM_COLUMN_EXACT, /* a whole number, in full */
	PM_COLUMN_TIME,	 /* ns; the unit is that of the largest */
	PM_COLUMN_VISIT, /* ns of a visit; the unit is one in which the least can be read */
	PM_COLUMN_SHARE,  /* per cent */
	PM_COLUMN_EVENT,  /* of UNIT */
	PM_COLUMN_RATIO,  /* a plain number with two decimals */
	PM_COLUMN_METRIC, /* of UNIT, of any size */
	PM_COLUMN_LABEL	  /* a text */
};

/* How the numbers of a column are written. */
struct pm_scale {
	double divisor;
	int decimals;
	bool each; /* each number for itself: they are too different */
	bool fine; /* one unit, and as many decimals as a small number needs */
	char unit[24];
};

struct pm_column {
	const char *title; /* NULL: the next column's stands above both */
	enum pm_column_kind kind;
	const char *unit;
	const struct pm_column *like; /* with whose scale; NULL: its own */
	bool begins; /* a group, which stands in one table if it fits there */
	/* what measuring finds */
	double least, most;
	struct pm_scale scale;
	size_t width, marks;
};

/* A cell of a row. */
struct pm_field {
	bool known;    /* VALUE is; else TEXT stands there, if there is any */
	bool at_least; /* it may be more */
	double value;
	char text[96];
	char marks[32];
};

/* The text below the tables explains these: marks, and a bit for each enum pm_state. */
struct pm_legend {
	uint32_t marks, states;
};

/* Sets FIELD to SHOWN, VALUE in the unit of the column, with the marks of VALUE; or to the text of a VALUE
 * that is not counted. Says nothing of visits that have not ended. */
void pm_field_value(struct pm_field *field, const struct pm_value *value, double shown,
		    struct pm_legend *legend);

struct pm_table {
	const struct pm_report_tree *tree;
	struct pm_column *columns;
	uint32_t count;
	/* Fills in a field for each column, for node N, or for the sum (0). False: the row
	 * is left out, and what is below it. */
	bool (*fill)(void *argument, uint32_t n, struct pm_field *fields);
	void *argument;
	/* If the rows are no regions, `rows` is their title, and `name` writes the name of row N in
	 * at most MOST columns (0: as long as it is), or only returns how many it takes (OUT is
	 * NULL). NULL: the rows are regions. */
	const char *rows;
	size_t (*name)(void *argument, uint32_t n, size_t most, struct pm_out *out);
	bool total; /* there is a row for the sum */
};

/* 0 or -ENOMEM. */
int pm_table_write(const struct pm_table *table, struct pm_out *out);

/* The scale of a column, by the least value in it, without zeros, and the most. */
void pm_scale_choose(struct pm_scale *scale, enum pm_column_kind kind, const char *unit,
		     double least, double most);
/* Writes VALUE to TEXT. A value that rounds to 0 is written as "<0.001". */
void pm_scale_text(const struct pm_scale *scale, double value, char text[PM_CELL]);

#endif
