/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/functions/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/functions/code.h"
#include "cli/functions/names.h"
#include "cli/functions/profile.h"
#include "cli/functions/trees.h"
#include "core/kernel/clock.h"
#include "core/report/model/metric.h"
#include "core/report/report.h"
#include "core/text/diag.h"
#include "core/text/grow.h"
#include "core/text/text.h"

#define SHARE 0.01 /* of --functions without one */

/* --- options ------------------------------------------------------------------------- */

int cli_functions_take_name(const char *command, const struct cli_option *option,
			    const char *text)
{
	struct cli_functions *functions = option->to;

	if (!*text)
		return cli_fail(CLI_USAGE, command,
				"--function: expects the name of a function, or a "
				"pattern with * and ?");
	if (!PM_GROW(functions->names, functions->name_count))
		return cli_no_memory("run");
	functions->names[functions->name_count++] = text;
	return 0;
}

int cli_functions_take_share(const char *command, const struct cli_option *option,
			     const char *text)
{
	struct cli_functions *functions = option->to;
	struct pm_slice number = pm_slice_trim(pm_slice_of(text));
	bool percent = number.length && number.at[number.length - 1] == '%';
	double share = SHARE;
	char *copy;
	int err = 0;

	functions->all = true;
	functions->like = *text == '@' ? text + 1 : NULL;
	if (functions->like)
		return 0;
	number.length -= percent;
	copy = pm_slice_copy(number);
	if (!copy)
		return cli_no_memory("run");
	if (number.length || percent)
		err = pm_text_double(copy, &share);
	free(copy);
	functions->share = percent ? share / 100 : share;
	if (!err && functions->share >= 0 && functions->share < 1)
		return 0;
	return cli_fail(CLI_USAGE, command,
			"--functions: '%s' is no share: expects a percentage or a "
			"fraction below 1, such as 1%% or 0.01, or @FILE, a profile",
			pm_slice_quote(pm_slice_of(text)).text);
}

bool cli_functions_wanted(const struct cli_functions *functions)
{
	return functions->all || functions->name_count;
}

/* --- begin and end ------------------------------------------------------------------- */

/* The place of the regions' profile: "a.profile.regions", or of a folder "a.regions/". */
static int move_profile_of_regions(void)
{
	const char *profile = cli_variable("PERFMON_PROFILE");
	size_t length;
	struct stat st;
	bool folder;
	char *text;
	int status;

	if (!profile)
		return 0;
	length = strlen(profile);
	folder = profile[length - 1] == '/' ||
		 (!stat(profile, &st) && S_ISDIR(st.st_mode));
	while (length > 1 && profile[length - 1] == '/')
		length--;
	if (asprintf(&text, "%.*s.regions%s", (int)length, profile, folder ? "/" : "") <
	    0)
		return cli_no_memory("run");
	status = cli_variable_set("run", "PERFMON_PROFILE", text);
	free(text);
	return status;
}

/* Reads the profile whose functions are to be counted. */
static int read_model(struct cli_functions *functions)
{
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	int err;

	if (!functions->like)
		return 0;
	err = pm_profile_file_open(functions->like, &file, &diag);
	if (!err) {
		err = pm_profile_file_snapshot(file, &functions->model, &diag);
		pm_profile_file_close(file);
	}
	if (err)
		return cli_fail(CLI_FAILED, "run", "--functions: %s", diag.text);
	return 0;
}

int cli_functions_begin(struct cli_functions *functions)
{
	int status = read_model(functions);

	pm_clock_init();
	functions->begin_ns = pm_clock.begin_ns;
	functions->begin_realtime_ns = pm_clock.begin_realtime_ns;
	if (!status)
		functions->folder = cli_folder_make("run", "the counts");
	status = status ?: functions->folder ? 0 : CLI_FAILED;
	if (!status && cli_functions_wanted(functions))
		status = move_profile_of_regions();
	return status;
}

void cli_functions_free(struct cli_functions *functions)
{
	cli_folder_remove(functions->folder);
	free(functions->folder);
	free(functions->names);
	pm_snapshot_free(functions->model);
	*functions = (struct cli_functions){0};
}

/* --- profiles ------------------------------------------------------------------------ */

/* Adds what the reader of TREE's report of functions should know. */
static int add_notes(const struct tree *tree, struct pm_snapshot *snapshot)
{
	int err = PM_NOTE(snapshot,
			  "regions here are functions of the program; " PROFILE_PROGRAM
			  " has what none of them has");

	if (!err && tree->has_regions)
		err = PM_NOTE(snapshot,
			      "the program has regions of its own: they are in a report "
			      "and a profile of their own, of the same instructions");
	if (!err && tree->has_stacks)
		err = PM_NOTE(snapshot, "the program changes between stacks, as fibres "
					"and coroutines do: what a function has may be "
					"in another one. The total is right");
	if (!err && !tree->has_symbols)
		err = PM_NOTE(
			snapshot,
			"'%.*s' has no symbols (it is stripped): its own functions "
			"count in their callers from libraries, or in " PROFILE_PROGRAM,
			pm_text_cut(tree->program, 200), tree->program);
	if (!err && tree->has_symbols && tree->main < tree->object_count &&
	    !code_has_local_names(tree->objects[tree->main]))
		err = PM_NOTE(
			snapshot,
			"'%.*s' names only functions that other files may call (it is "
			"stripped): its other functions count in their callers",
			pm_text_cut(tree->program, 200), tree->program);
	if (!err && tree->lost)
		err = PM_NOTE(snapshot,
			      "%" PRIu64
			      " calls count in their callers: there were more than 4 "
			      "million paths. Count fewer functions (--function)",
			      tree->lost);
	return err;
}

static int add_processes(uint32_t processes, uint32_t missing,
			 struct pm_snapshot *snapshot)
{
	int err = 0;

	if (processes > 1)
		err = PM_NOTE(snapshot, "the sum of %u processes that the command ran",
			      processes);
	if (err || !missing)
		return err;
	return PM_NOTE(snapshot,
		       "%u more process%s left no counts: killed by SIGKILL, or still "
		       "running. All counts are too low by what these executed",
		       missing, missing == 1 ? "" : "es");
}

static int report(const struct profile_source *source, struct pm_snapshot *snapshot)
{
	struct pm_metrics *metrics = pm_metrics_of(source->options);
	struct pm_diag diag = {0};
	int err = source->keep ? profile_write(snapshot, source->options, &diag) : 0;

	if (diag.text[0])
		cli_complain("run", "%s", diag.text);
	diag = (struct pm_diag){0};
	if (pm_report_at_exit(snapshot, source->options, metrics,
			      snapshot->header.parent_link != 0, &diag))
		cli_complain("run", "no report: %s", diag.text);
	pm_metrics_free(metrics);
	return err ? CLI_FAILED : 0;
}

/* Writes the profile and the report of TREE. NAMES is NULL without functions. */
static int write_tree(const struct profile_source *source, const struct names *names,
		      struct tree *tree, uint32_t processes, uint32_t missing)
{
	struct pm_snapshot *snapshot = profile_make(source, tree);
	int err = snapshot ? add_processes(processes, missing, snapshot) : -ENOMEM;

	if (!err && names)
		err = add_notes(tree, snapshot);
	for (uint32_t i = 0; !err && names && i < names->note_count; i++)
		err = PM_NOTE(snapshot, "%s", names->notes[i]);
	err = err ? cli_no_memory("run") : report(source, snapshot);
	pm_snapshot_free(snapshot);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns whether the model has the function NAME. */
static bool is_in_model(const struct cli_functions *functions, const char *name)
{
	return bsearch(&name, functions->model->regions,
		       functions->model->region_count + 1, sizeof(char *),
		       compare_names) != NULL;
}

static bool is_kept(const struct cli_functions *functions, const struct tree *tree,
		    const struct tree_function *function)
{
	if (function->wanted || !functions->all)
		return function->wanted;
	if (functions->model)
		return is_in_model(functions, function->name);
	return function->inclusive &&
	       (double)function->inclusive >= functions->share * (double)tree->total[0];
}

/* Leaves only functions in TREE that the user wants. 0 or -ENOMEM. */
static int choose(const struct cli_functions *functions, struct tree *tree,
		  uint32_t events)
{
	int err = tree_sum(tree);

	for (uint32_t i = 0; !err && i < tree->function_count; i++)
		tree->functions[i].kept = is_kept(functions, tree, &tree->functions[i]);
	return err ? err : tree_prune(tree, events);
}

static bool has_functions(const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].function && tree->nodes[i].visits)
			return true;
	return false;
}

/* Counts the processes that the command ran and that get no report. */
struct left_out {
	uint32_t count;
	uint64_t sum; /* of the first event */
};

/* Returns whether TREE has a report. IS_FIRST: it is that of the command. ALL is what all trees count. */
static bool has_report(const struct cli_functions *functions, const struct tree *tree,
		       bool is_first, uint64_t all)
{
	if (functions->all && !functions->model)
		return is_first ||
		       (double)tree->total[0] >= functions->share * (double)all;
	return (functions->all && is_first) || has_functions(tree);
}

/* Leaves only functions that the user wants in each tree, and finds the small ones. */
static int choose_all(const struct profile_source *source, struct trees *trees,
		      bool *reported, struct left_out *left_out)
{
	const struct cli_functions *functions = source->functions;
	uint64_t all = 0;

	for (uint32_t i = 0; i < trees->count; i++)
		all += trees->at[i].total[0];
	for (uint32_t i = 0; i < trees->count; i++) {
		if (choose(functions, &trees->at[i], source->run->events->count))
			return -ENOMEM;
		reported[i] = has_report(functions, &trees->at[i], !i, all);
		left_out->count += !reported[i];
		left_out->sum += reported[i] ? 0 : trees->at[i].total[0];
	}
	return 0;
}

/* Adds the note about other processes to those of the command's own. */
static void note_left_out(const struct profile_source *source,
			  const struct left_out *left_out, struct names *names)
{
	if (left_out->count && source->functions->all)
		PM_NOTE(names,
			"the command ran %u other program%s without a report here: "
			"%" PRIu64 " %s",
			left_out->count, left_out->count == 1 ? "" : "s", left_out->sum,
			cli_exact_label(source->run->events->event[0]));
}

/* Each process that has called a chosen function has a profile, as with regions. */
static int write_functions(const struct profile_source *source, struct trees *trees)
{
	const struct cli_functions *functions = source->functions;
	bool *reported = calloc(trees->count, sizeof(reported[0]));
	struct left_out left_out = {0};
	struct names names;
	uint32_t missing = trees->missing;
	int status, one;

	if (!reported)
		return cli_no_memory("run");
	status = names_look(functions, trees, &names);
	if (functions->model)
		qsort(functions->model->regions, functions->model->region_count + 1,
		      sizeof(char *), compare_names);
	if (choose_all(source, trees, reported, &left_out)) {
		status = cli_no_memory("run");
		goto out;
	}
	note_left_out(source, &left_out, &names);
	for (uint32_t i = 0; i < trees->count; i++) {
		if (!reported[i])
			continue;
		/* Missing trees are reported once. */
		one = write_tree(source, &names, &trees->at[i], 1, missing);
		missing = 0;
		status = status ? status : one;
	}
out:
	names_free(&names);
	free(reported);
	return status;
}

static int write_program(const struct profile_source *source, struct trees *trees)
{
	uint32_t count = 1;

	/* Those of one process stand together. */
	for (uint32_t t = 1; t < trees->count; t++)
		count += trees->at[t].pid != trees->at[t - 1].pid;
	if (trees_sum(trees, source->run->events->count))
		return cli_no_memory("run");
	trees->at[0].is_command = true;
	return write_tree(source, NULL, &trees->at[0], count, trees->missing);
}

int cli_functions_end(const struct cli_functions *functions,
		      const struct cli_functions_run *run, const char *profile)
{
	struct pm_options options;
	struct profile_source source = {functions, run, &options, profile != NULL};
	struct trees trees = {0};
	int err, status = 0;

	if (!cli_functions_wanted(functions) && run->has_profile)
		return 0;
	if (profile)
		setenv("PERFMON_PROFILE", profile, 1);
	pm_options_read(&options, NULL);
	err = trees_read(functions->folder, run->pid, run->events, &trees);
	/* A program that became another one has left only a part of its counts. */
	if (err || !trees.count || trees.at[0].pid != run->pid || trees.at[0].execs) {
		status = cli_fail(CLI_FAILED, "run", "'%s' left no counts: %s",
				  run->command[0],
				  err == -EINVAL ? "the file of a process is not whole"
				  : err		 ? strerror(-err)
					: "it was killed, or the tool could not run it "
					  "or write them");
	} else if (cli_functions_wanted(functions)) {
		status = write_functions(&source, &trees);
	} else {
		status = write_program(&source, &trees);
	}
	trees_free(&trees);
	pm_options_free(&options);
	return status;
}
