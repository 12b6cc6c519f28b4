/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables and notes for people. */
#include "cli/roofline/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/output/escape.h"
#include "core/report/output/number.h"
#include "core/report/output/row.h"
#include "core/report/table.h"

/* So many paths are named for a reason. */
#define NAMED 4
/* If others took this part of the CPUs or more, the text names it. */
#define TAKEN 0.05

enum columns {
	LETTER,
	THREADS,
	TIME,
	FLOPS,
	BYTES,
	FLOPS_RATE,
	BYTES_RATE,
	INTENSITY,
	BOUND,
	REACHED,
	OF_MEMORY,
	COLUMNS
};

/* --- ceilings --------------------------------------------------------------------------- */

/* The rows of ceilings: what, and by which way; CLI_CEILING_WAYS: the best of all. */
static const struct {
	const char *name;
	enum cli_ceiling_of of;
	enum cli_ceiling_by by;
} rows[] = {
	{"double precision, FMA", CLI_CEILING_DP, CLI_BY_FMA},
	{"double precision, add and multiply", CLI_CEILING_DP, CLI_BY_ADD_MUL},
	{"single precision, FMA", CLI_CEILING_SP, CLI_BY_FMA},
	{"single precision, add and multiply", CLI_CEILING_SP, CLI_BY_ADD_MUL},
	{"L1", CLI_CEILING_L1, CLI_CEILING_WAYS},
	{"L2", CLI_CEILING_L2, CLI_CEILING_WAYS},
	{"L3", CLI_CEILING_L3, CLI_CEILING_WAYS},
	{"memory, triad", CLI_CEILING_MEMORY, CLI_BY_TRIAD},
	{"memory, copy", CLI_CEILING_MEMORY, CLI_BY_COPY},
	{"memory, loads alone", CLI_CEILING_MEMORY, CLI_BY_LOAD},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Returns the ceiling of row R, or NULL. */
static const struct cli_ceiling *row_of(const struct cli_ceilings *ceilings, size_t r,
					uint32_t threads, uint32_t bits)
{
	return cli_ceiling_find(ceilings, rows[r].of, rows[r].by, threads, bits);
}

/* Returns the next larger number of threads, or width, that was measured; 0: there is none. */
static uint32_t next_measured(const struct cli_ceilings *ceilings, uint32_t after,
			      bool bits)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < ceilings->count; i++) {
		uint32_t value = bits ? ceilings->at[i].bits : ceilings->at[i].threads;

		if (value > after && (!next || value < next))
			next = value;
	}
	return next;
}

static void rate_text(const struct cli_ceiling *c, char text[PM_CELL])
{
	if (c)
		pm_cell_unit(text, c->rate,
			     c->of < CLI_CEILING_LEVELS ? "B/s" : "FLOP/s");
	else
		strcpy(text, "-");
}

/* Writes a table of all that THREADS can do, by width. */
static void ceilings_table(const struct cli_ceilings *ceilings, uint32_t threads,
			   struct pm_out *out)
{
	struct pm_row row = {.out = out};
	char text[PM_CELL];

	snprintf(text, sizeof(text), "%u thread%s", threads, threads == 1 ? "" : "s");
	pm_row_left(&row, text, 0, 34);
	for (uint32_t bits = 0; (bits = next_measured(ceilings, bits, true));) {
		snprintf(text, sizeof(text), bits == 64 ? "scalar" : "%u bits", bits);
		pm_row_right(&row, text, 0, 16);
	}
	pm_row_end(&row);
	for (size_t r = 0; r < ROWS; r++) {
		if (!row_of(ceilings, r, threads, 0))
			continue;
		pm_row_left(&row, rows[r].name, 0, 34);
		for (uint32_t bits = 0; (bits = next_measured(ceilings, bits, true));) {
			rate_text(row_of(ceilings, r, threads, bits), text);
			pm_row_right(&row, text, 0, 16);
		}
		pm_row_end(&row);
	}
}

/* Writes the ceilings of THREADS that points are compared with. */
static void ceilings_line(const struct cli_ceilings *ceilings, uint32_t threads,
			  struct pm_out *out)
{
	char text[PM_CELL];
	const char *between = "";

	pm_out_format(out, "  ceilings of %u thread%s: ", threads,
		      threads == 1 ? "" : "s");
	for (int of = 0; of < CLI_CEILINGS; of++) {
		const struct cli_ceiling *c = cli_ceiling_find(
			ceilings, (enum cli_ceiling_of)of, CLI_CEILING_WAYS, threads, 0);

		if (!c)
			continue;
		rate_text(c, text);
		pm_out_format(out, "%s%s %s", between,
			      cli_ceiling_name((enum cli_ceiling_of)of), text);
		between = ", ";
	}
	pm_out_text(out, "\n");
}

/* --- points ----------------------------------------------------------------------------- */

static struct pm_field number(double value)
{
	return (struct pm_field){.known = isfinite(value), .value = value};
}

static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	const struct roof *roof = argument;
	const struct roof_point *point = &roof->points[n];

	memset(fields, 0, COLUMNS * sizeof(*fields));
	snprintf(fields[LETTER].text, sizeof(fields[LETTER].text), "%c",
		 point->letter ? point->letter : ' ');
	fields[THREADS] = number((double)point->threads);
	if (point->time_ns > 0)
		fields[TIME] = number(point->time_ns);
	for (int c = FLOPS; c < COLUMNS && !point->rated; c++)
		strcpy(fields[c].text, "-");
	if (!point->rated)
		return true;
	fields[FLOPS] = number(point->sp + point->dp);
	fields[BYTES] = number(point->loads + point->stores);
	fields[FLOPS_RATE] = number(point->flops_per_s);
	fields[BYTES_RATE] = number(point->bytes_per_s);
	fields[INTENSITY] = number(point->intensity);
	strcpy(fields[BOUND].text, roof_bound_name(point));
	if (point->roof > 0)
		fields[REACHED] = number(point->percent);
	if (point->of_memory > 0)
		fields[OF_MEMORY] = number(point->of_memory);
	return true;
}

static int points_table(const struct roof *roof, struct pm_out *out)
{
	struct pm_column columns[COLUMNS] = {
		[LETTER] = {.title = "point", .kind = PM_COLUMN_LABEL, .begins = true},
		[THREADS] = {.title = "threads", .kind = PM_COLUMN_EXACT},
		[TIME] = {.title = "time", .kind = PM_COLUMN_TIME},
		[FLOPS] = {.title = "flops", .kind = PM_COLUMN_EVENT, .unit = ""},
		[BYTES] = {.title = "bytes", .kind = PM_COLUMN_EVENT, .unit = "B"},
		[FLOPS_RATE] = {.title = "flops/s",
				.kind = PM_COLUMN_METRIC,
				.unit = "FLOP/s",
				.begins = true},
		[BYTES_RATE] = {.title = "bytes/s",
				.kind = PM_COLUMN_METRIC,
				.unit = "B/s"},
		[INTENSITY] = {.title = "intensity",
			       .kind = PM_COLUMN_METRIC,
			       .unit = "FLOP/B"},
		[BOUND] = {.title = "bound by", .kind = PM_COLUMN_LABEL},
		[REACHED] = {.title = "reached", .kind = PM_COLUMN_SHARE},
		[OF_MEMORY] = {.title = "of memory", .kind = PM_COLUMN_SHARE},
	};
	struct pm_table table = {
		.tree = &roof->profile->tree,
		.columns = columns,
		.count = COLUMNS,
		.fill = fill,
		.argument = (void *)(uintptr_t)roof,
	};

	return pm_table_write(&table, out);
}

/* --- notes ------------------------------------------------------------------------------ */

/* Begins a passage that is broken between words where it goes to a terminal. */
static void passage(struct pm_out *out, const char *begin)
{
	pm_out_fold(out, out->columns, 4);
	pm_out_text(out, begin);
}

static void passage_end(struct pm_out *out)
{
	pm_out_fold_end(out);
	pm_out_text(out, "\n");
}

/* Names the paths that have PROBLEM. */
static void problem_write(const struct roof *roof, enum roof_problem problem,
			  struct pm_out *out)
{
	const struct pm_report_tree *tree = &roof->profile->tree;
	uint32_t count = 0;

	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		if (roof->points[n].problem != problem || ++count > NAMED)
			continue;
		if (count == 1)
			passage(out, "  ");
		pm_out_text(out, count > 1 ? ", " : "");
		pm_report_path_write(tree, n, out);
	}
	if (!count)
		return;
	if (count > NAMED)
		pm_out_format(out, " and %u more", count - NAMED);
	pm_out_text(out, ": ");
	pm_out_plain(out, roof_problems[problem].text, 0);
	passage_end(out);
}

static const char exact[] =
	"  bytes are those of loads and stores. All of these go to L1, so its bandwidth "
	"is the ceiling. How many reach L2, L3 or memory is not known: their ceilings "
	"are there for comparison. 'of memory' sets bytes/s beside memory's bandwidth: "
	"above 100 %, caches serve a part";
static const char said[] =
	"  bytes are what the program says, taken for traffic of memory, or of a cache "
	"where memory is too slow for them; flops are taken for double precision";

static void head_write(const struct roof *roof, struct pm_out *out)
{
	const struct cli_ceilings *c = roof->ceilings;

	pm_out_text(out, "perfmon roofline: ");
	pm_out_plain(out, roof->title ? roof->title : "ceilings of this machine", 0);
	pm_out_text(out, "\n  machine   ");
	pm_out_plain(out, *c->cpu ? c->cpu : c->architecture, 0);
	pm_out_text(out, ", CPUs ");
	pm_out_plain(out, c->cpus, 0);
	if (c->quick)
		pm_out_text(out, "; ceilings measured quickly (--quick)");
	if (roof->ceilings_from) {
		pm_out_text(out, "\n  ceilings  of the file ");
		pm_out_plain(out, roof->ceilings_from, 0);
	}
	if (c->taken > TAKEN)
		pm_out_format(out,
			      "\n  busy      others had a CPU for up to %.0f %% of the "
			      "time in which ceilings were measured: they may be too low",
			      100 * c->taken);
	if (roof->profile)
		pm_out_text(out,
			    roof->source == ROOF_EXACT
				    ? "\n  times     of a run at full speed\n"
				      "  counts    exact, by translation, of a run of "
				      "their own: flops, and bytes of loads and stores"
				    : "\n  times     of a run at full speed\n"
				      "  counts    flops and bytes as the program says");
	pm_out_text(out, "\n\n");
}

int roof_text(const struct roof *roof, struct pm_out *out)
{
	int err;

	head_write(roof, out);
	if (!roof->profile) {
		for (uint32_t t = 0; (t = next_measured(roof->ceilings, t, false));) {
			ceilings_table(roof->ceilings, t, out);
			pm_out_text(out, "\n");
		}
		pm_out_text(out, "  memory's bytes are those of the program, as STREAM "
				 "counts them\n");
		return 0;
	}
	err = points_table(roof, out);
	if (err)
		return err;
	for (uint32_t t = 0; (t = roof_threads(roof, t));)
		roof_chart(roof, t, out);
	pm_out_text(out, "\n");
	for (uint32_t t = 0; (t = roof_threads(roof, t));)
		ceilings_line(roof->ceilings, t, out);
	pm_out_text(out, "\n");
	passage(out, roof->source == ROOF_EXACT ? exact : said);
	passage_end(out);
	for (int p = ROOF_GOOD + 1; p < ROOF_PROBLEMS; p++)
		problem_write(roof, (enum roof_problem)p, out);
	for (uint32_t i = 0; i < roof->note_count; i++) {
		passage(out, "  note: ");
		pm_out_plain(out, roof->notes[i], 0);
		passage_end(out);
	}
	return 0;
}
