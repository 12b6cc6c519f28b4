/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon roofline shows how near the regions of a program come to what the machine can do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/roofline/roofline.h"
#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "cli/roofline/data.h"
#include "cli/roofline/runs.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon roofline [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"       perfmon roofline [OPTION]... --timed PROFILE [--counts PROFILE]\n"
	"       perfmon roofline [OPTION]...\n\n"
	"Shows how near each region of a program comes to the ceilings of this machine, which\n"
	"needs no hardware counters. Runs COMMAND at full speed for times, then once more by\n"
	"translation, which counts its flops and bytes exactly and takes some 10 times as long,\n"
	"and measures the bandwidth of caches and memory and the peak of flops. The second run\n"
	"prints nothing. Without a command and profiles: the ceilings alone.\n\n"
	"  -f, --format FORMAT   text (default), json, html: one page for a browser\n"
	"      --html            the same as -f html\n"
	"  -o, --output FILE     to this file; - is standard output, the default\n"
	"      --ceilings FILE   take the ceilings from this file, and keep there what is measured\n"
	"      --quick           measure the ceilings in half a second, less exactly\n"
	"      --quantities      flops and bytes are what the program says (perfmon_quantity(3)), and\n"
	"                        COMMAND runs once\n"
	"      --timed PROFILE   show this profile, which perfmon run -P has kept\n"
	"      --counts PROFILE  its flops and bytes, which perfmon run --exact -e\n"
	"                        sp-flops,dp-flops,load-bytes,store-bytes -P has kept. Not given:\n"
	"                        --quantities\n"
	"  -h, --help            this text\n\n"
	"Exit status: the command's own, 1 if something could not be run, read or written, 2 if\n"
	"an option is wrong, 126 or 127 if COMMAND cannot be run or is not there.\n";
/* clang-format on */

struct request {
	unsigned int format;
	bool quick, quantities;
	const char *output, *ceilings, *timed, *counts;
	char **command; /* NULL: profiles, or ceilings alone */
};
enum { TEXT, JSON, HTML };

/* --- ceilings --------------------------------------------------------------------------- */

/* Keeps CEILINGS in the file PATH. */
static int ceilings_keep(const struct cli_ceilings *ceilings, const char *path)
{
	struct cli_output output;

	if (cli_output_begin(&output, "roofline", path, "json"))
		return CLI_FAILED;
	return cli_output_end(&output,
			      cli_ceilings_write(ceilings, cli_output_print, &output));
}

/* Measures what the points need, or, for ceilings alone, one thread and all. */
static int ceilings_measure(struct cli_ceilings *ceilings, const struct roof *roof,
			    bool quick)
{
	uint32_t all = cli_ceilings_threads();
	struct pm_diag diag = {0};
	int err = 0;

	if (!roof->profile) {
		err = cli_ceilings_measure(ceilings, 1, quick, &diag);
		if (!err && all > 1)
			err = cli_ceilings_measure(ceilings, all, quick, &diag);
	}
	for (uint32_t t = 0; !err && (t = roof_threads(roof, t));)
		err = cli_ceilings_measure(ceilings, t, quick, &diag);
	if (err)
		return cli_fail(CLI_FAILED, "roofline", "%s", diag.text);
	return 0;
}

/* Begins CEILINGS with what the file of REQUEST has. */
static int ceilings_begin(struct cli_ceilings *ceilings, const struct request *request)
{
	struct pm_diag diag = {0};
	int err = cli_ceilings_begin(ceilings);

	if (err)
		pm_diag_set(&diag, err, "%s", strerror(-err));
	else if (request->ceilings)
		err = cli_ceilings_read(ceilings, request->ceilings, &diag);
	if (!err || err == -ENOENT)
		return 0;
	return cli_fail(CLI_FAILED, "roofline", "%s", diag.text);
}

/* --- output ----------------------------------------------------------------------------- */

static int print(const struct roof *roof, const struct request *request)
{
	static int (*const writers[])(const struct roof *, struct pm_out *) = {
		[TEXT] = roof_text, [JSON] = roof_json, [HTML] = roof_html};
	static const char *const suffixes[] = {"txt", "json", "html"};
	struct cli_output output;
	struct pm_out out = {.sink = cli_output_print, .argument = &output};
	int err;

	if (cli_output_begin(&output, "roofline", request->output,
			     suffixes[request->format]))
		return CLI_FAILED;
	if (!output.path && request->format == TEXT) {
		out.columns = cli_columns();
		cli_pager_begin();
	}
	err = writers[request->format](roof, &out);
	return cli_output_end(&output, pm_out_end(&out) ?: err);
}

/* --- steps ------------------------------------------------------------------------------ */

/* Checks that profiles can be what they are given for. */
static int profiles_check(struct roof *roof, const struct request *request)
{
	/* A profile that perfmon run -P alone has kept has no exact counts. */
	if (!request->command && !request->counts && !roof_has_source(roof))
		roof->source = ROOF_QUANTITIES;
	if (roof->profile->model.exact)
		return cli_fail(CLI_FAILED, "roofline",
				"'%s' was counted by translation, and has no times of "
				"the machine: give it as --counts, and as --timed a "
				"profile without --exact",
				roof->title);
	return 0;
}

/* Says how times and rates of several threads are meant, and which rates cannot be. */
static void notes_of_points(struct roof *roof)
{
	bool mean = false, wall = false, more = false, above = false;

	for (uint32_t n = 1; n < roof->profile->tree.node_count; n++) {
		const struct roof_point *point = &roof->points[n];

		mean |= point->rated && !point->wall;
		wall |= point->rated && point->wall && point->threads > 1;
		more |= point->rated && point->threads > point->ceiling_threads;
		above |= point->rated && point->percent > 103;
	}
	if (mean)
		PM_NOTE(roof, "time is the mean over the threads that had the region, "
			      "and rates are of all of them: they are taken to run at "
			      "the same time");
	if (wall)
		PM_NOTE(roof, "the time of a team is its wall time");
	if (more)
		PM_NOTE(roof, "more threads than CPUs: the ceilings are those of all "
			      "CPUs, and rates are too high where threads took turns");
	if (above)
		PM_NOTE(roof, "more than 100 %% reached: the machine was busier when the "
			      "ceilings were measured than in the run, or the region is "
			      "short; measure again");
}

static void notes_make(struct roof *roof, const struct request *request)
{
	const struct pm_snapshot *s = roof->profile->model.snapshot;

	notes_of_points(roof);
	if (!request->command && !cli_machine_of(s))
		PM_NOTE(roof,
			"the times are of the machine '%s', or from before its last "
			"start; the ceilings are of this machine, now",
			s->header.host);
	for (uint32_t i = roof->profile->notes_from; i < s->note_count; i++)
		PM_NOTE(roof, "%s", s->notes[i]);
	if (roof->ceilings->assumed)
		PM_NOTE(roof, "the kernel does not tell the caches: L1 is taken to have "
			      "32 KiB, and others are not measured");
}

/* Makes the points of the profiles TIMED and COUNTS, and prints them. */
static int show(struct roof *roof, struct cli_ceilings *ceilings,
		const struct request *request)
{
	uint32_t before = ceilings->count;
	int status = 0, kept = 0;

	if (roof->profile)
		status = profiles_check(roof, request) ?: roof_points_make(roof);
	if (!status)
		status = ceilings_measure(ceilings, roof, request->quick);
	if (status)
		return status;
	roof->ceilings_from = before ? request->ceilings : NULL;
	/* Ceilings took long to measure, so they are shown all the same. */
	if (request->ceilings && ceilings->count > before)
		kept = ceilings_keep(ceilings, request->ceilings);
	if (roof->profile) {
		roof_points_bound(roof);
		notes_make(roof, request);
	}
	return print(roof, request) ?: kept;
}

static int run_command(const struct request *request, struct roof_profile *profile,
		       int *ended)
{
	struct roof_runs runs;
	int status = roof_runs_begin(&runs);

	if (!status)
		status = roof_run_timed(&runs, request->command);
	*ended = runs.status;
	if (!status && WIFSIGNALED(runs.status))
		status = CLI_FAILED;
	else if (!status && !request->quantities)
		status = roof_run_counted(&runs, request->command);
	if (!status)
		status = roof_load(profile, runs.timed,
				   request->quantities ? NULL : runs.counts,
				   "the second of the command");
	roof_runs_end(&runs);
	cli_child_signals_end();
	if (cli_child_interrupt())
		raise(cli_child_interrupt());
	return status;
}

/* Says before the runs, which take long, that no file can be made at PATH. */
static int place_check(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *folder;
	int status = 0;

	/* A folder at the end is made when it is needed. */
	if (!path || !strcmp(path, "-") || !access(path, F_OK) || (slash && !slash[1]))
		return 0;
	folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!folder || access(folder, W_OK | X_OK))
		status = cli_fail(CLI_FAILED, "roofline", "'%s': %s", path,
				  strerror(errno));
	free(folder);
	return status;
}

static int check(const struct request *request)
{
	const char *wrong = NULL;

	if (request->command && (request->timed || request->counts))
		wrong = "a command and profiles were given: only one of them can be "
			"shown";
	else if (request->counts && !request->timed)
		wrong = "--counts: --timed is missing, the profile with the times";
	else if (request->counts && request->quantities)
		wrong = "--quantities: --counts says where flops and bytes come from";
	if (wrong)
		return cli_fail(CLI_USAGE, "roofline", "%s; see perfmon roofline --help",
				wrong);
	if (!request->command || request->quantities || cli_exact_is_there())
		return place_check(request->output) ?: place_check(request->ceilings);
	return cli_fail(CLI_FAILED, "roofline",
			"flops and bytes are counted under Valgrind, which is not there, "
			"or perfmon was built without it: install the package valgrind, "
			"or take what the program says (--quantities)");
}

static int read_options(struct request *request, int argc, char **argv)
{
	static const char formats[] = "text, json, html";
	const struct cli_option options[] = {
		{"format", .choice = &request->format, .choices = formats},
		{"html", "html", .choice = &request->format, .choices = formats},
		{"output", .text = &request->output},
		{"ceilings", .text = &request->ceilings},
		{"quick", .flag = &request->quick},
		{"quantities", .flag = &request->quantities},
		{"timed", .text = &request->timed},
		{"counts", .text = &request->counts},
		{.name = NULL},
	};
	const struct cli_command command = {"roofline", help, true, options};
	int status = cli_options_read(&command, argc, argv);

	if (optind < argc)
		request->command = argv + optind;
	return status;
}

int cli_roofline(int argc, char **argv)
{
	struct request request = {.format = TEXT};
	struct roof_profile profile = {.merge = NULL};
	struct cli_ceilings ceilings = {.count = 0};
	struct roof roof = {.ceilings = &ceilings};
	int status = read_options(&request, argc, argv), ended = 0;

	if (status >= 0)
		return status;
	status = check(&request) ?: ceilings_begin(&ceilings, &request);
	roof.source = request.quantities ? ROOF_QUANTITIES : ROOF_EXACT;
	roof.title = request.command ? request.command[0] : request.timed;
	roof.timed = request.timed;
	roof.counts = request.counts;
	if (!status && request.command)
		status = run_command(&request, &profile, &ended);
	else if (!status && request.timed)
		status = roof_load(&profile, request.timed, request.counts,
				   request.counts);
	if (profile.made)
		roof.profile = &profile;
	if (!status)
		status = show(&roof, &ceilings, &request);
	cli_ceilings_free(&ceilings);
	roof_free(&roof);
	roof_unload(&profile);
	status = cli_finish("roofline", status);
	return ended && status <= CLI_FAILED ? cli_child_end_as(ended) : status;
}
