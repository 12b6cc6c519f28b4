/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon report prints the report of profiles in files, or of running processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/report.h"
#include "cli/common/common.h"
#include "cli/join/join.h"
#include "cli/report/by.h"
#include "cli/report/html.h"
#include "cli/report/jobs.h"
#include "core/profile/profile.h"
#include "core/report/merge/merge.h"
#include "core/text/text.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon report [OPTION]... FILE|DIRECTORY...\n\n"
	"Reports what programs have counted in their regions, from the files where they\n"
	"kept their profiles (PERFMON_PROFILE, perfmon run -P), also if they were killed or\n"
	"still run. Several profiles, as those of the ranks of an MPI program, become one\n"
	"report: sums, and how they are spread over the processes.\n\n"
	"  -p, --pid PID         the profile that this running process keeps in memory\n"
	"  -f, --format FORMAT   text (default): the call tree; flat: by region; json; csv;\n"
	"                        html: one page for a browser, which needs nothing else\n"
	"      --html            the same as -f html\n"
	"  -T, --per-thread      each thread of one profile, too\n"
	"      --by KEY          a table of many runs: a row for each region, a column for each value of\n"
	"                        their note KEY (perfmon run --note KEY=VALUE)\n"
	"      --counts FILE     beside these visits and times the counts of another run of the\n"
	"                        program, by path: a profile, or a directory with one run's\n"
	"                        profiles; may be repeated (perfmon run --exact -P)\n"
	"  -P, --profile FILE    with --counts: write what is joined to this file, too: a profile\n"
	"      --job ID          the profiles of this job; those of several jobs are not summed\n"
	"  -l, --level LEVEL     the threads of each pu, core, l1, l2, l3, l4, group, numa, die\n"
	"                        or package of one profile, too, on the machine that wrote it\n"
	"  -m, --metrics TEXT    more columns: 'NAME = FORMULA; ...', @FILE, none\n"
	"      --top N           in text, only the N paths (flat: regions) with the most time in\n"
	"                        themselves, with the paths above them\n"
	"  -b, --subtract-bias   take out what measuring added (PERFMON_BIAS=subtract)\n"
	CLI_HELP_DEBUG_DIR
	"  -o, --output FILE     to this file; - is standard output, the default\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0, 1 if something could not be read or written, 2 if an option is wrong.\n";
/* clang-format on */

/* A page of more processes has no threads. */
#define PAGE_THREADS 64
/* So many files without the note of a table are named; the rest is counted. */
#define NAMED_MOST 5

struct request {
	struct cli_sources sources;
	struct cli_counts counts;
	const char *profile; /* NULL: the joined profile is not kept */
	struct pm_report_options how;
	bool html;
	struct cli_html *page; /* NULL: no page */
	const char *output;    /* NULL: standard output */
	const char *job;       /* NULL: all profiles are of one job */
	const char *by;	       /* a note of the runs; NULL: one report of all */
	uint32_t top;	       /* as the option says; 0: it is not given */
};

/* Returns whether people read FORMAT on a terminal. */
static bool is_text(enum pm_format format)
{
#define TEXT(constant, name, suffix, writer, text) text,
	static const bool texts[] = {PM_FORMATS_ALL(TEXT)};
#undef TEXT

	return texts[format];
}

/* Writes the table BY, or the report of SNAPSHOT if that is NULL. */
static int write_report(const struct request *request,
			const struct pm_report_options *options,
			const struct pm_snapshot *snapshot, const struct by *by)
{
	struct pm_report_options how = *options;
	struct cli_output output;

	if (cli_output_begin(&output, "report", request->output,
			     pm_format_suffix(how.format)))
		return CLI_FAILED;
	if (!output.path && is_text(how.format)) {
		how.columns = cli_columns();
		cli_pager_begin();
	}
	return cli_output_end(
		&output, by ? by_write(by, &how, &output)
			    : pm_report_write(snapshot, &how, cli_output_print, &output));
}

/* Reads the profile of SOURCE. Returns NULL after a message. */
static struct pm_snapshot *profile_read(const struct cli_source *source)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};

	if (!cli_source_read(source, &snapshot, &diag))
		return snapshot;
	cli_progress_end();
	cli_complain("report", "%s", diag.text);
	return NULL;
}

/* Completes HOW for a report of SNAPSHOT alone. */
static void options_complete(struct pm_report_options *how,
			     const struct pm_snapshot *snapshot)
{
	static const char *const notes[] = {
		[PM_WRITER_RUNS] = "the process still runs: the values so far",
		[PM_WRITER_PACKED] = NULL,
		[PM_WRITER_ENDED] = NULL,
		[PM_WRITER_GONE] = "the process died before ending its profile: values "
				   "exclude visits open at that time",
		[PM_WRITER_UNKNOWN] = "the process has not ended its profile, and may "
				      "still run: values exclude open visits",
	};

	if (notes[snapshot->writer]) {
		how->notes = &notes[snapshot->writer];
		how->note_count = 1;
	}
	how->machine = cli_machine_of(snapshot);
}

/* Joins the counts to SNAPSHOT, and keeps the result. */
static int counts_join(const struct request *request, struct pm_snapshot *snapshot)
{
	int status = cli_counts_join(&request->counts, snapshot);

	if (!status && request->profile)
		status = cli_join_write("report", snapshot, request->profile);
	return status;
}

/* Reports one profile. A page already has it or remains empty. */
static int report_one(const struct request *request, const struct cli_source *source)
{
	struct pm_report_options how = request->how;
	struct pm_snapshot *snapshot;
	int status;

	snapshot = profile_read(source);
	if (!snapshot)
		return CLI_FAILED;
	options_complete(&how, snapshot);
	status = counts_join(request, snapshot);
	if (!status && request->page && !request->page->begun)
		cli_html_add(request->page, snapshot, &how);
	if (!status)
		status = request->page ? cli_html_end(request->page, snapshot, &how, 0)
				       : write_report(request, &how, snapshot, NULL);
	pm_snapshot_free(snapshot);
	return status;
}

/* Adds one profile. Returns 0, 1 if it may be added after others, or a negative errno
 * after a message. */
static int merge_one(const struct request *request, struct pm_merge *merge,
		     const struct cli_source *source, bool is_last_try)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err;

	snapshot = profile_read(source);
	if (!snapshot)
		return -EINVAL;
	err = pm_merge_add(merge, snapshot, &diag);
	if (!err && request->page &&
	    !cli_html_add(request->page, snapshot, &request->how))
		err = -EIO;
	pm_snapshot_free(snapshot);
	if (err == -EINVAL && !is_last_try)
		return 1;
	if (err == -EIO)
		return err;
	if (err) {
		cli_progress_end();
		cli_complain("report", "'%s': %s", source->name, diag.text);
	}
	return err;
}

/* Adds all profiles. Returns 0 or an exit status. *GOOD is one that could be added. *LAST
 * is -ENOMEM if one could only be added in part, -EIO if the page cannot be written. */
static int merge_all(const struct request *request, struct pm_merge *merge, size_t *good,
		     int *last)
{
	const struct cli_sources *sources = &request->sources;
	bool *wait = calloc(sources->count, sizeof(*wait));
	int status = wait ? 0 : cli_no_memory("report"), result = wait ? 0 : -ENOMEM;

	/* A profile with an unknown clock waits for one that has a clock. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0;
		     result != -ENOMEM && result != -EIO && i < sources->count; i++) {
			if (pass && !wait[i])
				continue;
			cli_progress(i, sources->count, "profiles");
			result = merge_one(request, merge, &sources->at[i], pass);
			wait[i] = result == 1;
			if (!result)
				*good = i;
			else if (result < 0)
				status = CLI_FAILED;
		}
	}
	cli_progress_end();
	free(wait);
	*last = result;
	return status;
}

/* Makes one report of many profiles. */
static int report_merged(const struct request *request)
{
	struct pm_report_options how = request->how;
	struct pm_snapshot *sum;
	struct pm_merge *merge;
	int status = 0, err;
	size_t good = 0;

	err = pm_merge_create(&merge, how.subtract_bias);
	if (err)
		return cli_fail(CLI_FAILED, "report", "%s", strerror(-err));
	status = merge_all(request, merge, &good, &err);
	/* A profile is only partly in the sum, or the output cannot be written. */
	if (err == -ENOMEM || err == -EIO) {
		if (request->page)
			cli_html_end(request->page, NULL, NULL, err);
		pm_merge_free(merge);
		return CLI_FAILED;
	}
	err = 0;
	if (pm_merge_process_count(merge) == 1) {
		err = report_one(request, &request->sources.at[good]);
	} else if (pm_merge_process_count(merge)) {
		err = pm_merge_end(merge);
		sum = pm_merge_sum(merge);
		if (err)
			cli_complain("report", "%s", strerror(-err));
		else if (counts_join(request, sum))
			err = -EINVAL;
		how.merge = merge;
		how.machine = cli_machine_of(sum);
		if (request->page)
			err = cli_html_end(request->page, sum, &how, err);
		else if (!err)
			err = write_report(request, &how, sum, NULL);
	}
	pm_merge_free(merge);
	return err ? CLI_FAILED : status;
}

/* Adds the profile of SOURCE, or SOURCE to LACKING, of which COUNT have no such note. */
static int by_add_one(struct by *by, const struct cli_source *source,
		      const char *lacking[NAMED_MOST], size_t *count)
{
	struct pm_snapshot *snapshot = profile_read(source);
	struct pm_diag diag = {0};
	int err;

	if (!snapshot)
		return CLI_FAILED;
	err = by_add(by, snapshot, &diag);
	pm_snapshot_free(snapshot);
	if (err == -ENODATA) {
		if (*count < NAMED_MOST)
			lacking[*count] = source->name;
		++*count;
		return 0;
	}
	if (err) {
		cli_progress_end();
		cli_complain("report", "'%s': %s", source->name, diag.text);
	}
	return err ? CLI_FAILED : 0;
}

/* Adds all profiles. Names those that are in no column. */
static int by_add_all(struct by *by, const struct cli_sources *sources)
{
	const char *lacking[NAMED_MOST];
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < sources->count; i++) {
		cli_progress(i, sources->count, "profiles");
		status = by_add_one(by, &sources->at[i], lacking, &count) ?: status;
	}
	cli_progress_end();
	for (size_t i = 0; i < count && i < NAMED_MOST; i++)
		cli_complain("report", "'%s' is left out: it has no note '%s'",
			     lacking[i], by->key);
	if (count > NAMED_MOST)
		cli_complain("report", "%zu more have no note '%s'", count - NAMED_MOST,
			     by->key);
	return status;
}

/* Makes a table of all profiles by a note of theirs. */
static int report_by(const struct request *request)
{
	const char *key = request->by;
	struct by by = {.key = key, .subtract_bias = request->how.subtract_bias};
	int status = by_add_all(&by, &request->sources);

	by_end(&by);
	if (by.value_count) {
		status = write_report(request, &request->how, NULL, &by) ?: status;
	} else if (!status) {
		status = cli_fail(CLI_USAGE, "report",
				  "--by: no profile has a note '%s': give one by perfmon "
				  "run --note %s=VALUE",
				  key, key);
	}
	by_free(&by);
	return status;
}

static int take_top(const char *command, const struct cli_option *option,
		    const char *text)
{
	uint64_t number;

	if (!pm_slice_number(pm_slice_of(text), &number) && number > 0 &&
	    number <= UINT32_MAX) {
		*(uint32_t *)option->to = (uint32_t)number;
		return 0;
	}
	return cli_fail(CLI_USAGE, command,
			"--top: '%s' is not a number of paths: expects 1 or more", text);
}

static int options_read(struct request *request, struct pm_metrics **metrics, int argc,
			char **argv)
{
	/* In the order of enum pm_format, then the page. */
#define NAME(constant, name, suffix, writer, text) name ", "
	static const char formats[] = PM_FORMATS_ALL(NAME) "html";
#undef NAME
	const unsigned int html = PM_FORMATS;
	unsigned int format = PM_FORMAT_TEXT;
	const struct cli_option options[] = {
		{"pid", .take = cli_take_pid, .to = &request->sources},
		{"format", .choice = &format, .choices = formats},
		{"html", "html", .choice = &format, .choices = formats},
		{"per-thread", .flag = &request->how.per_thread},
		{"level", .take = cli_take_level, .to = &request->how.level},
		{"metrics", .take = cli_take_metrics, .to = metrics},
		{"job", .text = &request->job},
		{"by", .text = &request->by},
		{"counts", .take = cli_take_counts, .to = &request->counts},
		{"profile", .text = &request->profile},
		{"subtract-bias", .flag = &request->how.subtract_bias},
		{"top", .take = take_top, .to = &request->top},
		CLI_OPTION_DEBUG_DIR,
		{"output", .text = &request->output},
		{.name = NULL},
	};
	const struct cli_command command = {"report", help, false, options};
	struct pm_options environment;
	int status;

	/* As in the program's own report; -b and --top have priority. */
	pm_options_read(&environment, NULL);
	request->how.subtract_bias = environment.subtract_bias;
	request->how.top = environment.top;
	pm_options_free(&environment);
	status = cli_options_read(&command, argc, argv);
	request->html = format == html;
	request->how.format = request->html ? PM_FORMAT_TEXT : (enum pm_format)format;
	request->how.metrics = *metrics;
	if (request->top)
		request->how.top = request->top;
	return status;
}

/* Returns an option that was given and that a table by a note does not follow, or NULL. */
static const char *not_with_by(const struct request *request)
{
	return request->html		 ? "--html"
	       : request->counts.count	 ? "--counts"
	       : request->how.level	 ? "--level"
	       : request->how.per_thread ? "--per-thread"
	       : request->how.metrics	 ? "--metrics"
					 : NULL;
}

/* Returns 0, or the exit status after a message about options that do not go together. */
static int check(const struct request *request)
{
	size_t count = request->sources.count;
	const char *one = request->how.level	    ? "--level"
			  : request->how.per_thread ? "--per-thread"
						    : NULL;

	if (request->html && request->how.level)
		return cli_fail(CLI_USAGE, "report",
				"--level: --html does not show levels");
	if (request->top && (request->html || !is_text(request->how.format)))
		return cli_fail(CLI_USAGE, "report",
				"--top: only -f text and -f flat leave paths out");
	if (request->profile && !request->counts.count)
		return cli_fail(CLI_USAGE, "report",
				"--profile: expects --counts, too: it writes what "
				"--counts joins");
	if (request->by && not_with_by(request))
		return cli_fail(CLI_USAGE, "report", "--by: %s is not possible with it",
				not_with_by(request));
	if (one && count > 1 && !request->html)
		return cli_fail(CLI_USAGE, "report", "%s: expects one profile, got %zu",
				one, count);
	return 0;
}

int cli_report(int argc, char **argv)
{
	struct pm_metrics *metrics = NULL;
	struct request request = {.sources.command = "report",
				  .counts.command = "report"};
	struct cli_html page = {.begun = false};
	size_t *count = &request.sources.count;
	int status = options_read(&request, &metrics, argc, argv), failed = 0;

	if (status >= 0)
		goto out;
	status = 0;
	/* A source that cannot be read is reported; the others are used. */
	while (optind < argc)
		failed |= cli_sources_add_path(&request.sources, argv[optind++]);
	/* Runs that are compared may be of many jobs. */
	if (request.job || !request.by)
		status = cli_jobs_choose(&request.sources, request.job);
	if (!status && !*count && !failed)
		status = cli_fail(CLI_USAGE, "report",
				  "no profile is given; see perfmon report --help");
	status = status ?: check(&request);
	page.path = request.output;
	page.threads = *count <= PAGE_THREADS;
	request.page = request.html ? &page : NULL;
	if (!status && *count)
		status = request.by   ? report_by(&request)
			 : *count > 1 ? report_merged(&request)
				      : report_one(&request, &request.sources.at[0]);
out:
	cli_sources_free(&request.sources);
	cli_counts_free(&request.counts);
	pm_metrics_free(metrics);
	return cli_finish("report", status ? status : failed);
}
