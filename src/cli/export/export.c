/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon export writes profiles in the formats of viewers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/export/export.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon export [OPTION]... --format FORMAT FILE...\n\n"
	"Writes profiles that programs kept in files (perfmon run -P FILE) for other programs:\n\n"
	"  callgrind   for callgrind_annotate and KCachegrind\n"
	"  chrome      a trace for ui.perfetto.dev and chrome://tracing. It shows sums: each\n"
	"              event is all visits of a path, in each thread\n"
	"  folded      lines 'a;b;c 123' for flame graphs: exclusive values of paths\n"
	"  json-split  Caliper's format, for Hatchet\n"
	"  pprof       for pprof of Go\n\n"
	"  -f, --format FORMAT   callgrind, chrome, folded, json-split, pprof\n"
	"  -w, --weight NAME     folded: time (in ns, the default), an event, or a metric; of a\n"
	"                        quotient what is divided. Exact profiles have no time: the\n"
	"                        default is their first event\n"
	"  -m, --metrics TEXT    chrome, folded: more metrics: 'NAME = FORMULA; ...', @FILE, none\n"
	"  -T, --per-thread      folded, pprof: each thread separately\n"
	CLI_HELP_DEBUG_DIR
	"  -o, --output FILE     to this file; - is standard output, the default\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0, 1 if something could not be read or written, 2 if an option is wrong.\n";
/* clang-format on */

#define FORMATS "callgrind, chrome, folded, json-split, pprof"
enum { CALLGRIND, CHROME, FOLDED, SPLIT, PPROF, NO_FORMAT };

static const struct {
	const char *suffix;
	int (*write)(struct pm_out *out, struct export_profile *profile,
		     struct export_job *job);
	int (*end)(struct pm_out *out, struct export_job *job); /* NULL: nothing */
	bool whole; /* it has all values of a profile */
} formats[] = {
	[CALLGRIND] = {"callgrind", export_callgrind, export_callgrind_end, true},
	[CHROME] = {"json", export_chrome, export_chrome_end, false},
	[FOLDED] = {"folded", export_folded, NULL, false},
	[SPLIT] = {"json", export_split, export_split_end, true},
	[PPROF] = {"pb.gz", export_pprof, export_pprof_end, true},
};

struct request {
	struct cli_sources sources;
	unsigned int format;
	const char *weight; /* NULL: not given */
	struct pm_metrics *metrics;
	struct export_weights weights;
	bool per_thread;
	const char *output; /* NULL: standard output */
};

static int read_one(const struct cli_source *source, struct pm_snapshot **snapshot)
{
	struct pm_diag diag = {0};
	int err = cli_source_read(source, snapshot, &diag);

	if (err)
		cli_complain("export", "%s", diag.text);
	else if ((*snapshot)->partial)
		cli_complain("export", "'%s': partial: %s", source->name,
			     (*snapshot)->problem);
	return err;
}

static int model_make(const struct request *request, const struct pm_snapshot *snapshot,
		      struct pm_report_model *model)
{
	return pm_report_model_make(model, snapshot, false,
				    request->format == CHROME ? request->metrics
							      : request->weights.metrics);
}

/* Checks that MODEL, of profile I, has the same columns as that of the first profile. */
static int check_columns(const struct request *request,
			 const struct pm_report_model *model,
			 const struct pm_snapshot *first, struct pm_diag *diag)
{
	struct export_weight weight;
	struct pm_report_model other;
	const char *a, *b;
	int err = model_make(request, first, &other);

	if (err)
		return err;
	for (uint32_t c = 0;; c++) {
		a = export_column(&other, c, &weight);
		b = export_column(model, c, &weight);
		if (!a || !b || strcmp(a, b))
			break;
	}
	if (a || b)
		err = pm_diag_set(
			diag, -EINVAL,
			"its events are not those of '%s': export them one by one",
			request->sources.at[0].name);
	pm_report_model_free(&other);
	return err;
}

/* Checks that profile I can be exported, before anything is written. Returns 0, or an exit
 * status after a message. */
static int check_one(const struct request *request, struct pm_snapshot **snapshots,
		     size_t i)
{
	const struct pm_snapshot *snapshot = snapshots[i];
	struct pm_report_model model;
	struct export_weight weight;
	struct pm_diag diag = {0};
	int err = model_make(request, snapshot, &model);

	if (!err) {
		/* An error reports notes about a metric that is the weight. */
		for (uint32_t n = 0; request->format == CHROME && n < model.note_count;
		     n++)
			cli_complain("export", "'%s': %s", request->sources.at[i].name,
				     model.notes[n]);
		err = export_weight_find(&request->weights, &model, &weight, &diag);
		/* Profiles of the Valgrind tool have no times, and the others have no
		 * common event. */
		if (!err && model.exact != pm_report_is_exact(snapshots[0]))
			err = pm_diag_set(&diag, -EINVAL,
					  "some profiles were counted exactly by "
					  "translation, others by the machine's "
					  "counters: export them one by one");
		if (!err && i && formats[request->format].whole)
			err = check_columns(request, &model, snapshots[0], &diag);
		if (!err && !i && model.exact && !request->weight)
			cli_complain("export", "%s: " PM_REPORT_EXACT "; values are %s",
				     request->sources.at[i].name, model.events[0].name);
		pm_report_model_free(&model);
	}
	if (err)
		cli_complain("export", "%s: %s", request->sources.at[i].name,
			     diag.text[0] ? diag.text : "no memory");
	return err;
}

/* Reports marks and small values, which formats without marks cannot show. */
static void tell_marks(const char *name, const struct export_profile *profile,
		       bool folded)
{
	uint32_t marks = profile->marks & EXPORT_MARKS;
	struct pm_diag words = {0};

	pm_report_mark_words(marks, ", ", &words);
	if (marks)
		cli_complain("export", "'%s': some values have marks in reports: %s",
			     name, words.text);
	if (folded && profile->any_less && !profile->any)
		cli_complain("export",
			     "'%s': all values are below 0.5, and folded stacks have "
			     "whole numbers: use a smaller unit",
			     name);
}

/* Says what of PROFILE, which is called NAME, the format does not have. */
static void tell_left_out(const struct request *request, const char *name,
			  const struct export_profile *profile)
{
	const struct pm_report_tree *tree = profile->tree;
	const struct pm_snapshot *s = profile->snapshot;
	uint32_t paths = 0;

	if (s->steps_count)
		cli_complain("export",
			     "'%s': the steps of %u path%s are left out; 'perfmon report "
			     "-f json' has them",
			     name, s->steps_count, s->steps_count == 1 ? "" : "s");
	if ((request->format == CHROME || request->per_thread) && s->joined_count)
		cli_complain("export",
			     "'%s': the counts of other runs are left out, since they "
			     "are not known of each thread; 'perfmon report' has them",
			     name);
	/* These have inclusive values. */
	if (request->format == CHROME || request->format == SPLIT)
		return;
	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n))
		paths += pm_path(tree, n)->is_overlapping;
	if (paths)
		cli_complain("export",
			     "'%s': the times and counts of %u path%s of overlapping "
			     "visits are left out, since they are in no sum; 'perfmon "
			     "report' and -f json-split have them",
			     name, paths, paths == 1 ? "" : "s");
}

/* Writes each thread of PROFILE by itself. */
static int write_threads(const struct request *request, struct export_profile *profile,
			 struct export_job *job, struct pm_out *out)
{
	const struct pm_snapshot *s = profile->snapshot;
	int err = 0;

	for (uint32_t t = 0; !err && t < s->thread_count; t++) {
		const struct perfmon_profile_thread *thread = &s->threads[t].record;
		struct pm_report_tree tree;
		char text[64] = "ended threads";

		err = pm_report_tree_make(&tree, profile->model, &t, 1);
		if (err)
			break;
		if (thread->state != PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
			snprintf(text, sizeof(text), "%u %s", thread->tid, thread->name);
		profile->tree = &tree;
		profile->thread = text;
		err = formats[request->format].write(out, profile, job);
		profile->first = false;
		pm_report_tree_free(&tree);
	}
	return err;
}

/* Returns a number of process I that no other one has here. */
static uint32_t pid_of(struct pm_snapshot **snapshots, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (snapshots[before]->header.pid == snapshots[i]->header.pid)
			return EXPORT_NO_NUMBER + (uint32_t)i;
	return snapshots[i]->header.pid;
}

static int write_one(const struct request *request, struct pm_snapshot **snapshots,
		     size_t i, struct export_job *job, struct pm_out *out)
{
	const struct pm_snapshot *snapshot = snapshots[i];
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct export_profile profile = {
		.snapshot = snapshot,
		.model = &model,
		.tree = &tree,
		.pid = pid_of(snapshots, i),
		.delay_ns = pm_less(snapshot->header.begin_realtime_ns, job->first_ns),
		.number = (uint32_t)i,
		.first = !i,
	};
	const char *name = request->sources.at[i].name;
	int err = model_make(request, snapshot, &model);

	if (err)
		return err;
	/* Checked before, in check_one(). */
	export_weight_find(&request->weights, &model, &profile.weight, NULL);
	err = pm_report_tree_make(&tree, &model, NULL, 0)
		      ?: export_notes_add(job, &profile);
	if (!err) {
		tell_left_out(request, name, &profile);
		err = request->per_thread && snapshot->thread_count
			      ? write_threads(request, &profile, job, out)
			      : formats[request->format].write(out, &profile, job);
	}
	job->marks |= profile.marks;
	if (request->format != CHROME && !err)
		tell_marks(name, &profile, request->format == FOLDED);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	return err;
}

/* Returns true if each of the COUNT profiles is of another rank. */
static bool has_ranks(struct pm_snapshot **snapshots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (snapshots[i]->header.rank < 0)
			return false;
		for (size_t before = 0; before < i; before++)
			if (snapshots[before]->header.rank == snapshots[i]->header.rank)
				return false;
	}
	return true;
}

static int write_all(const struct request *request, struct pm_snapshot **snapshots,
		     struct pm_out *out)
{
	size_t count = request->sources.count;
	struct export_job job = {
		.profiles = (uint32_t)count,
		.ranks = has_ranks(snapshots, count),
		.first_ns = UINT64_MAX,
	};
	int err = 0;

	for (size_t i = 0; i < count; i++)
		if (snapshots[i]->header.begin_realtime_ns < job.first_ns)
			job.first_ns = snapshots[i]->header.begin_realtime_ns;
	for (size_t i = 0; !err && i < count; i++)
		err = write_one(request, snapshots, i, &job, out);
	if (!err && formats[request->format].end)
		err = formats[request->format].end(out, &job);
	cli_texts_free(&job.table);
	cli_texts_free(&job.notes);
	free(job.totals);
	return err;
}

static int write_output(const struct request *request, struct pm_snapshot **snapshots)
{
	struct pm_out out = {.sink = cli_output_print};
	struct cli_output output;
	int err;

	if (cli_output_begin(&output, "export", request->output,
			     formats[request->format].suffix))
		return CLI_FAILED;
	out.argument = &output;
	err = write_all(request, snapshots, &out);
	return cli_output_end(&output, err ?: pm_out_end(&out));
}

/* All sources are read and checked before the output is opened: after an error it is
 * unchanged. */
static int export(const struct request *request)
{
	size_t count = request->sources.count, read = 0, good = 0;
	struct pm_snapshot **snapshots = calloc(count, sizeof(struct pm_snapshot *));
	int status = CLI_FAILED;

	if (!snapshots)
		return cli_fail(status, "export", "no memory");
	while (read < count && !read_one(&request->sources.at[read], &snapshots[read]))
		read++;
	while (read == count && good < count && !check_one(request, snapshots, good))
		good++;
	if (good == count)
		status = write_output(request, snapshots);
	while (read--)
		pm_snapshot_free(snapshots[read]);
	free(snapshots);
	return status;
}

/* Returns the option that the format does not have, or NULL. */
static const char *option_too_many(const struct request *request)
{
	if (request->weight && request->format != FOLDED)
		return "--weight is for --format folded";
	if (request->per_thread && request->format != FOLDED && request->format != PPROF)
		return "--per-thread is for --format folded and --format pprof";
	if (request->metrics && formats[request->format].whole)
		return "--metrics is for --format chrome and --format folded";
	return NULL;
}

static int sources_add(struct request *request, int argc, char **argv)
{
	int status = 0;

	for (; !status && optind < argc; optind++)
		status = cli_sources_add_path(&request->sources, argv[optind]);
	if (!status && !request->sources.count)
		status = cli_fail(CLI_USAGE, "export",
				  "no profile is given; see perfmon export --help");
	return status;
}

/* Returns -1 to continue, or the exit status. */
static int options_read(struct request *request, int argc, char **argv)
{
	const struct cli_option options[] = {
		{"format", .choice = &request->format, .choices = FORMATS},
		{"metrics", .take = cli_take_metrics, .to = &request->metrics},
		{"weight", .text = &request->weight},
		{"per-thread", .flag = &request->per_thread},
		CLI_OPTION_DEBUG_DIR,
		{"output", .text = &request->output},
		{.name = NULL},
	};
	const struct cli_command command = {"export", help, false, options};
	int status = cli_options_read(&command, argc, argv);
	const char *wrong;

	if (status >= 0)
		return status;
	if (request->format == NO_FORMAT)
		return cli_fail(CLI_USAGE, "export",
				"--format is missing: one of " FORMATS);
	wrong = option_too_many(request);
	if (wrong)
		return cli_fail(CLI_USAGE, "export", "%s", wrong);
	status = sources_add(request, argc, argv);
	return status ? status : -1;
}

int cli_export(int argc, char **argv)
{
	struct request request = {.sources.command = "export", .format = NO_FORMAT};
	int status = options_read(&request, argc, argv);

	/* Without the option, use the built-in metrics. */
	if (status < 0 &&
	    ((!request.metrics && pm_metrics_parse(NULL, &request.metrics, NULL)) ||
	     export_weights_make(&request.weights, request.metrics, request.weight)))
		status = cli_fail(CLI_FAILED, "export", "no memory");
	if (status < 0)
		status = export(&request);
	free(request.weights.metrics);
	pm_metrics_free(request.metrics);
	cli_sources_free(&request.sources);
	return cli_finish("export", status);
}
