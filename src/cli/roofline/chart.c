/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chart in characters. Both axes are logarithmic. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/roofline/data.h"
#include "core/report/output/escape.h"
#include "core/report/output/number.h"
#include "core/report/output/row.h"

#define WIDE 64
#define HIGH 18

struct chart {
	const struct roof *roof;
	uint32_t threads;
	double peak, dp, sp;		   /* the highest line; 0: no point needs SP's */
	double slopes[CLI_CEILING_LEVELS]; /* 0: not measured */
	double left, right, bottom, top;   /* log10 of the ends of the axes */
	char cells[HIGH][WIDE + 1];
};

static bool belongs(const struct chart *chart, uint32_t n)
{
	const struct roof_point *point = &chart->roof->points[n];

	return point->placed && point->ceiling_threads == chart->threads;
}

/* Returns whether points do some of their operations in single precision. */
static bool any_single(const struct chart *chart)
{
	bool any = false;

	for (uint32_t n = 1; n < chart->roof->profile->tree.node_count; n++)
		any |= belongs(chart, n) && chart->roof->points[n].sp > 0;
	return any;
}

/* Chooses the axes so that points, and the ridges of L1 and memory, are inside. */
static void axes_choose(struct chart *chart)
{
	double slowest = chart->slopes[CLI_CEILING_MEMORY];
	double left = chart->peak / chart->slopes[CLI_CEILING_L1];
	double right = slowest > 0 ? chart->peak / slowest : left;
	double bottom = chart->dp, top = chart->peak;

	for (uint32_t n = 1; n < chart->roof->profile->tree.node_count; n++) {
		const struct roof_point *point = &chart->roof->points[n];

		if (!belongs(chart, n))
			continue;
		left = fmin(left, point->intensity);
		right = fmax(right, point->intensity);
		bottom = fmin(bottom, point->flops_per_s);
		top = fmax(top, point->flops_per_s);
	}
	chart->left = log10(left / 2);
	chart->right = log10(right * 3);
	chart->bottom = log10(bottom / 2);
	chart->top = log10(top * 1.5);
}

static double intensity_at(const struct chart *chart, int x)
{
	return pow(10, chart->left + (chart->right - chart->left) * (x + 0.5) / WIDE);
}

static int row_of(const struct chart *chart, double flops_per_s)
{
	return (int)floor((chart->top - log10(flops_per_s)) /
			  (chart->top - chart->bottom) * HIGH);
}

static void put(struct chart *chart, int x, int y, char c)
{
	if (x >= 0 && x < WIDE && y >= 0 && y < HIGH)
		chart->cells[y][x] = c;
}

/* Draws the line of LEVEL up to the peak, and its name where it begins. */
static void slope_draw(struct chart *chart, int level)
{
	const char *name = cli_ceiling_name((enum cli_ceiling_of)level);
	char mark = level == CLI_CEILING_L1 ? '/' : '.';
	int first = -1, x, y;

	for (x = 0; x < WIDE; x++) {
		double rate = chart->slopes[level] * intensity_at(chart, x);

		y = row_of(chart, rate);
		if (rate > chart->peak || y < 0 || y >= HIGH)
			continue;
		first = first < 0 ? x : first;
		put(chart, x, y, mark);
	}
	if (first < 0)
		return;
	y = row_of(chart, chart->slopes[level] * intensity_at(chart, first));
	for (x = first; *name && x < WIDE; x++)
		put(chart, x, y, *name++);
}

/* Draws the line of PEAK from L1's on, with its NAME where there are two. */
static void peak_draw(struct chart *chart, double peak, const char *name)
{
	double ridge = peak / chart->slopes[CLI_CEILING_L1];
	int y = row_of(chart, peak), end = WIDE - (int)strlen(name);

	for (int x = 0; x < WIDE; x++)
		if (intensity_at(chart, x) >= ridge)
			put(chart, x, y, x < end ? '-' : name[x - end]);
}

static void lines_draw(struct chart *chart)
{
	for (int level = CLI_CEILING_MEMORY; level >= CLI_CEILING_L1; level--)
		if (chart->slopes[level] > 0)
			slope_draw(chart, level);
	peak_draw(chart, chart->dp, chart->sp > 0 ? " double precision" : "");
	if (chart->sp > 0)
		peak_draw(chart, chart->sp, " single precision");
}

/* Returns the cell of POINT. The axes have room for all points. */
static char *cell_of(struct chart *chart, const struct roof_point *point)
{
	double part =
		(log10(point->intensity) - chart->left) / (chart->right - chart->left);

	return &chart->cells[row_of(chart, point->flops_per_s)][(int)(part * WIDE)];
}

static void points_draw(struct chart *chart)
{
	/* The first one of a cell is on top. */
	for (uint32_t n = chart->roof->profile->tree.node_count - 1; n; n--)
		if (belongs(chart, n) && chart->roof->points[n].letter)
			*cell_of(chart, &chart->roof->points[n]) =
				chart->roof->points[n].letter;
}

/* Names the points that are not to be seen. */
static void hidden_write(struct chart *chart, struct pm_out *out)
{
	const struct pm_report_tree *tree = &chart->roof->profile->tree;
	uint32_t more = 0;
	bool any = false;

	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		const struct roof_point *point = &chart->roof->points[n];
		char top;

		if (!belongs(chart, n))
			continue;
		more += !point->letter;
		top = *cell_of(chart, point);
		if (!point->letter || top == point->letter)
			continue;
		pm_out_format(out, "%s%c where %c is",
			      any ? ", " : "\n  also there: ", point->letter, top);
		any = true;
	}
	pm_out_text(out, any ? "\n" : "");
	if (more)
		pm_out_format(out, "\n  without a letter, and not in the chart: %u\n",
			      more);
}

/* Writes the label of row Y: a power of ten that lies in it. */
static void label_write(const struct chart *chart, int y, struct pm_row *row)
{
	double step = (chart->top - chart->bottom) / HIGH;
	double power = floor(chart->top - step * y);
	char text[PM_CELL] = "";

	if (power > chart->top - step * (y + 1))
		pm_cell_unit(text, pow(10, power), "FLOP/s");
	/* "100.0 GFLOP/s" */
	pm_row_right(row, text, 0, 13);
}

static void scale_write(const struct chart *chart, struct pm_out *out)
{
	char line[WIDE + PM_CELL], text[PM_CELL];
	double width = chart->right - chart->left;
	int end = 0;

	memset(line, ' ', sizeof(line));
	for (int power = (int)ceil(chart->left); power <= (int)chart->right; power++) {
		int x = (int)((power - chart->left) / width * WIDE);

		if (power < -4 || power > 4)
			snprintf(text, sizeof(text), "1e%d", power);
		else
			pm_cell_fixed(text, pow(10, power), power < 0 ? -power : 0);
		/* No two run into each other. */
		if (x < end || x >= WIDE)
			continue;
		memcpy(line + x, text, strlen(text));
		end = x + (int)strlen(text) + 1;
	}
	line[WIDE + 6] = '\0';
	for (size_t last = strlen(line); last && line[last - 1] == ' '; last--)
		line[last - 1] = '\0';
	pm_out_text(out, "               ");
	pm_out_plain(out, line, 0);
	pm_out_text(out, "\n");
}

void roof_chart(const struct roof *roof, uint32_t threads, struct pm_out *out)
{
	struct chart chart = {.roof = roof, .threads = threads};
	struct pm_row row = {.out = out};
	bool any = false;

	for (uint32_t n = 1; n < roof->profile->tree.node_count; n++)
		any |= belongs(&chart, n);
	for (int of = 0; of < CLI_CEILINGS; of++) {
		double rate = cli_ceiling_rate(roof->ceilings, (enum cli_ceiling_of)of,
					       threads);

		if (of == CLI_CEILING_DP)
			chart.dp = rate;
		else if (of == CLI_CEILING_SP)
			chart.sp = any_single(&chart) ? rate : 0;
		else
			chart.slopes[of] = rate;
	}
	chart.peak = fmax(chart.dp, chart.sp);
	if (!any || !(chart.dp > 0) || !(chart.slopes[CLI_CEILING_L1] > 0))
		return;
	memset(chart.cells, ' ', sizeof(chart.cells));
	axes_choose(&chart);
	lines_draw(&chart);
	points_draw(&chart);
	pm_out_format(out, "\nflops a second over flops per byte, %u thread%s:\n",
		      threads, threads == 1 ? "" : "s");
	for (int y = 0; y < HIGH; y++) {
		chart.cells[y][WIDE] = '\0';
		label_write(&chart, y, &row);
		pm_row_left(&row, " |", 0, 2);
		for (int x = 0; x < WIDE; x++) {
			char cell[2] = {chart.cells[y][x]};

			if (*cell == ' ')
				row.blanks++;
			else
				pm_row_left(&row, cell, 0, 1);
		}
		pm_row_end(&row);
	}
	pm_out_text(out, "              +");
	pm_out_repeat(out, '-', WIDE);
	pm_out_text(out, "\n");
	scale_write(&chart, out);
	hidden_write(&chart, out);
}
