/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon diff: compares two programs, or two sets of runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/diff/data.h"
#include "cli/diff/diff.h"

/* The statuses of diff(1), and further ones for a change that is not for the worse, and
 * for an undecided comparison. */
#define DIFF_EXIT_WORSE	    1
#define DIFF_EXIT_TROUBLE   2
#define DIFF_EXIT_BETTER    3
#define DIFF_EXIT_UNDECIDED 4

/* The default minimum effects. Counts of the Valgrind tool do not vary by chance, but a
 * longer path or another environment may change them a little. */
#define EFFECT	     0.01
#define EFFECT_EXACT 0.001

/* clang-format off */
static const char help[] =
	"usage: perfmon diff [OPTION]... A B\n"
	"       perfmon diff [OPTION]... A... -- B...\n\n"
	"Compares profiles that programs kept in files (perfmon run -P FILE): region by region,\n"
	"the time and the events of a visit. Each of A and B is a file, a directory of them, or\n"
	"several; each is a run of the same program. A program without regions is compared as a\n"
	"whole: perfmon stat -f json -o FILE counts it, with -r in several runs. Times need five\n"
	"runs on each side, better six, in the order ABBA ABBA. Counts of instructions can be\n"
	"judged from one.\n\n"
	"      --min-effect N%   smaller changes do not count (1%; 0.1% of exact counts)\n"
	"      --not-slower N%   exit with 0 only if no typical visit is slower by more, which the\n"
	"                        runs must prove\n"
	"      --alpha N%        the chance of any false alarm (1%)\n"
	"      --only NAMES      compare these alone: time, visits, events, separated by ','\n"
	"      --inclusive       with nested regions\n"
	"  -A, --all             show unchanged values, too\n"
	"  -m, --metrics TEXT    more metrics: 'NAME = FORMULA; ...', @FILE, none\n"
	CLI_HELP_DEBUG_DIR
	"  -f, --format FORMAT   text (default), json\n"
	"      --undecided same|fail  what to do if something is open: same: exit as if it had\n"
	"                        not changed; fail: exit with 1\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0 all is the same, 1 something is slower or more, 3 something is faster or\n"
	"less and nothing slower or more, 4 no change was found but something is open (it may\n"
	"have changed: see --undecided), 2 the comparison could not be made.\n";
/* clang-format on */

/* At this alpha, ten of a million splits may show a change. */
#define ALPHA_LEAST 1e-5

/* An option that is a percentage or a fraction, below 1. */
struct fraction {
	double value, least;
};

/* Reads "1%" or "0.01". */
static int take_fraction(const char *command, const struct cli_option *option,
			 const char *text)
{
	struct fraction *to = option->to;
	char *end;
	double number = strtod(text, &end);

	if (end != text && *end == '%') {
		number /= 100;
		end++;
	}
	if (end != text && !*end && number >= 0 && number < to->least)
		return cli_fail(DIFF_EXIT_TROUBLE, command,
				"--%s '%s': expects at least %g%%: by the splits that "
				"are looked at, less is never decided",
				option->name, text, 100 * to->least);
	if (end == text || *end || !(number >= to->least) || !(number < 1))
		return cli_fail(DIFF_EXIT_TROUBLE, command,
				"--%s '%s': expects a percentage or a fraction, such as "
				"5%% or 0.05",
				option->name, text);
	to->value = number;
	return 0;
}

/* Returns -1 to continue, or the exit status. */
static int options_read(struct diff_options *to, int argc, char **argv)
{
	struct fraction effect = {-1, 0}, not_slower = {0, 1e-4},
			alpha = {0.01, ALPHA_LEAST};
	unsigned int format = 0;
	const struct cli_option options[] = {
		{"min-effect", .take = take_fraction, .to = &effect},
		{"not-slower", .take = take_fraction, .to = &not_slower},
		{"alpha", .take = take_fraction, .to = &alpha},
		{"only", .text = &to->only},
		{"inclusive", .flag = &to->inclusive},
		{"all", .flag = &to->all},
		{"metrics", .take = cli_take_metrics, .to = &to->metrics},
		CLI_OPTION_DEBUG_DIR,
		{"format", .choice = &format, .choices = "text, json"},
		{"undecided", .choice = &to->undecided, .choices = "same, fail"},
		{.name = NULL},
	};
	/* The options end at the first file: "--" has another meaning after it. */
	const struct cli_command command = {"diff", help, true, options};
	int status = cli_options_read(&command, argc, argv);

	to->json = format;
	to->min_effect = effect.value;
	to->not_slower = not_slower.value;
	to->alpha = alpha.value;
	return status;
}

/* Loads the profiles at PATH for SIDE: all of them, or none, since fewer runs would give
 * another verdict. */
static int load_path(struct diff_data *data, uint32_t side, const char *path,
		     bool inclusive)
{
	struct cli_sources sources = {.command = "diff"};
	struct pm_diag diag = {0};
	int status = cli_sources_add_path(&sources, path);

	for (size_t i = 0; !status && i < sources.count; i++) {
		status = diff_load(data, side, sources.at[i].name, inclusive, &diag);
		if (status)
			cli_complain("diff", "%s", diag.text);
	}
	cli_sources_free(&sources);
	return status ? DIFF_EXIT_TROUBLE : 0;
}

/* Loads the files of both sides. */
static int load(struct diff_data *data, bool inclusive, char **files, int count)
{
	struct pm_diag diag = {0};
	int middle = 0;

	for (int i = 0; i < count; i++) {
		if (!strcmp(files[i], "--") && !middle) {
			middle = i;
		} else if (files[i][0] == '-' && files[i][1]) {
			return cli_fail(DIFF_EXIT_TROUBLE, "diff",
					"option '%s' after a file: put options first; "
					"write './%s' for a file of this name",
					files[i], files[i]);
		}
	}
	if (middle ? middle + 1 == count : count != 2)
		return cli_fail(
			DIFF_EXIT_TROUBLE, "diff", "%s; see perfmon diff --help",
			middle ? "no file after '--'"
			: count < 2
				? "expects two profiles, A and B"
				: "separate the files of A from those of B with '--'");
	for (int i = 0; i < count; i++) {
		uint32_t side = middle ? i > middle : (uint32_t)i;

		if (middle && i == middle)
			continue;
		if (load_path(data, side, files[i], inclusive))
			return DIFF_EXIT_TROUBLE;
	}
	if (diff_load_end(data, &diag))
		return cli_fail(DIFF_EXIT_TROUBLE, "diff", "%s", diag.text);
	return 0;
}

static int status_of(const struct diff_result *result)
{
	const struct diff_options *how = result->options;
	unsigned int undecided = how->undecided;
	bool open = result->by[DIFF_OPEN] || result->by[DIFF_TYPICAL];
	uint32_t unproven;

	if (result->row_count == result->by[DIFF_ONE_SIDE])
		return DIFF_EXIT_TROUBLE;
	if (how->not_slower > 0)
		return diff_proven(result, how->not_slower, &unproven) && !unproven
			       ? 0
			       : DIFF_EXIT_WORSE;
	if (result->by[DIFF_MORE] || (open && undecided == DIFF_UNDECIDED_FAIL))
		return DIFF_EXIT_WORSE;
	if (result->by[DIFF_LESS])
		return DIFF_EXIT_BETTER;
	return diff_is_undecided(result) && undecided == DIFF_UNDECIDED_OWN
		       ? DIFF_EXIT_UNDECIDED
		       : 0;
}

static int show(const struct diff_data *data, const struct diff_options *how)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	struct diff_result result;
	int err = 0, failed, status;

	if (diff_decide(&result, data, how))
		return cli_fail(DIFF_EXIT_TROUBLE, "diff", "no memory");
	if (how->json) {
		diff_json(&out, &result);
	} else {
		cli_pager_begin();
		err = diff_text(&out, &result);
		if (err)
			cli_complain("diff", "no memory");
	}
	failed = pm_out_end(&out);
	status = err || failed ? DIFF_EXIT_TROUBLE : status_of(&result);
	diff_result_free(&result);
	return status;
}

int cli_diff(int argc, char **argv)
{
	struct diff_options how = {.undecided = DIFF_UNDECIDED_OWN};
	struct diff_data data = {0};
	const char *bad;
	int status = options_read(&how, argc, argv);

	if (status >= 0)
		goto out;
	if (!how.metrics && pm_metrics_parse(NULL, &how.metrics, NULL)) {
		status = cli_fail(DIFF_EXIT_TROUBLE, "diff", "no memory");
		goto out;
	}
	data.metrics = how.metrics;
	status = load(&data, how.inclusive, argv + optind, argc - optind);
	if (how.min_effect < 0)
		how.min_effect = data.exact ? EFFECT_EXACT : EFFECT;
	bad = status ? NULL : diff_only_check(&data, how.only);
	if (bad)
		status = cli_fail(DIFF_EXIT_TROUBLE, "diff",
				  *bad ? "--only: neither A nor B has '%s'"
				       : "--only '%s': expects names separated by "
					 "commas, such as time, visits or an event",
				  bad);
	if (!status) {
		status = show(&data, &how);
		/* CI acts on the status, so a full disk must not have the status of a
		 * verdict. */
		if (cli_finish("diff", 0))
			status = DIFF_EXIT_TROUBLE;
	}
out:
	diff_data_free(&data);
	pm_metrics_free(how.metrics);
	return status;
}
