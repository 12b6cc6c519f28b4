/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat runs a command, or watches threads, and prints their counts. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/stat/child.h"
#include "cli/stat/formats.h"
#include "cli/stat/stat.h"
#include "core/kernel/kernel.h"
#include "core/text/grow.h"

/* --- output ------------------------------------------------------------------------- */

static int write_standard(void *argument, const char *text, size_t size)
{
	const struct stat_options *options = argument;
	int fd = options->output ? STDOUT_FILENO : STDERR_FILENO;

	return pm_report_fd_write(&fd, text, size);
}

/* Opens the output. Intervals can be read there while others are counted. */
static int open_output(struct cli_output *output, struct pm_out *out,
		       struct stat_options *options)
{
	/* In the order of enum stat_format. */
	static const char *const suffix[] = {"txt", "csv", "json"};
	int status = cli_output_grow(output, "stat", options->output,
				     suffix[options->format], options->append);

	out->sink = output->path ? cli_output_write : write_standard;
	out->argument = output->path ? (void *)output : options;
	cli_terminal_use(output->path	   ? output->file.fd
			 : options->output ? STDOUT_FILENO
					   : STDERR_FILENO);
	return status;
}

/* --- counting ----------------------------------------------------------------------- */

struct stat_work {
	struct stat_options *options;
	struct stat_counting counting;
	struct stat_exact exact;
	struct stat_cell *cells, *interval;
	double *samples; /* see struct stat_result */
	struct stat_result result;
	struct cli_output output;
	struct pm_out out;
	int *watches; /* pidfds of processes */
};

static void tell_interval(struct stat_work *work, uint64_t start_ns, uint64_t last_ns,
			  uint64_t now_ns)
{
	struct stat_result result = work->result;

	result.cells = work->interval;
	result.time_ns = now_ns - start_ns;
	result.wall_ns = (struct stat_sum){0};
	stat_sum_add(&result.wall_ns, (double)(now_ns - last_ns));
	switch (work->options->format) {
	case STAT_TEXT:
		stat_text_interval(&result, &work->out);
		break;
	case STAT_CSV:
		stat_csv_rows(&result, &work->out);
		break;
	case STAT_JSON:
		stat_json_interval(&result, &work->out);
		break;
	}
	pm_out_end(&work->out);
}

static int read_interval(struct stat_work *work)
{
	memset(work->interval, 0,
	       stat_counting_cells(&work->counting) * sizeof(work->interval[0]));
	return stat_counting_read(&work->counting, work->interval, false);
}

/* Returns whether process PID has ended. WATCH is its pidfd or negative. */
static bool process_has_ended(pid_t pid, int watch)
{
	short events = POLLIN;

	if (watch < 0)
		return pm_kernel_kill(pid, 0) == -ESRCH;
	return pm_kernel_poll(watch, &events) > 0;
}

/* Returns whether no target is left. */
static bool targets_ended(struct stat_work *work)
{
	const struct stat_options *options = work->options;

	if (!options->processes)
		return stat_counting_is_over(&work->counting);
	for (uint32_t t = 0; t < options->target_count; t++)
		if (!process_has_ended(options->targets[t].id, work->watches[t]))
			return false;
	return true;
}

/* Targets that this command did not start are checked this often. */
#define LOOK_NS 100000000

/* Waits for the end, and reports at intervals meanwhile. */
static int wait_for_end(struct stat_work *work, struct stat_child *child,
			uint64_t start_ns)
{
	const struct stat_options *options = work->options;
	uint64_t last = start_ns, next = start_ns + options->interval_ns;
	uint64_t end = options->timeout_ns ? start_ns + options->timeout_ns : 0;
	int err;

	for (;;) {
		uint64_t deadline = end, now = stat_now_ns();
		enum stat_wake wake;

		if (options->interval_ns && (!deadline || next < deadline))
			deadline = next;
		if (!child->pid && (!deadline || deadline > now + LOOK_NS))
			deadline = now + LOOK_NS;
		wake = stat_child_wait(child, deadline);
		now = stat_now_ns();
		if (wake == STAT_WAKE_TIME && end && now >= end) {
			wake = STAT_WAKE_SIGNAL;
			end = 0;
			if (child->pid) {
				kill(child->pid, SIGTERM);
				continue;
			}
		}
		if (wake == STAT_WAKE_TIME && !child->pid && targets_ended(work))
			wake = STAT_WAKE_END;
		if (wake != STAT_WAKE_TIME) {
			stat_counting_stop(&work->counting);
			if (!options->interval_ns)
				return 0;
		} else if (!options->interval_ns || now < next) {
			continue;
		}
		err = read_interval(work);
		if (err)
			return err;
		tell_interval(work, start_ns, last, now);
		if (wake != STAT_WAKE_TIME)
			return 0;
		last = now;
		/* Skip missed intervals. */
		while (next <= now)
			next += options->interval_ns;
	}
}

static int complain(struct stat_work *work)
{
	cli_complain("stat", "%s", work->counting.diag.text);
	return CLI_FAILED;
}

/* Starts counting the targets of the options, or the child. */
static int start_counting(struct stat_work *work, pid_t child)
{
	const struct stat_options *options = work->options;
	struct perfmon_target target = {
		.kind = PERFMON_TARGET_KIND_THREAD,
		.id = child,
		.flags = PERFMON_TARGET_ON_EXEC |
			 (options->inherit ? PERFMON_TARGET_CHILDREN : 0) |
			 (options->descendants ? PERFMON_TARGET_APART : 0),
	};

	for (uint32_t i = 0; i < options->target_count; i++) {
		struct perfmon_target *running = &options->targets[i];

		if (options->processes)
			running->kind = PERFMON_TARGET_KIND_PROCESS;
		if (options->descendants)
			running->flags = PERFMON_TARGET_CHILDREN | PERFMON_TARGET_APART;
		else if (options->processes && options->inherit)
			running->flags = PERFMON_TARGET_CHILDREN;
	}
	if (options->place)
		return stat_counting_start(&work->counting, NULL, 0, false, true);
	return stat_counting_start(&work->counting, options->targets ?: &target,
				   options->targets ? options->target_count : 1,
				   options->descendants, options->targets != NULL);
}

static void note_command(struct stat_result *result, const struct stat_child *child)
{
	stat_sum_add(&result->user_ns, (double)child->user_ns);
	stat_sum_add(&result->system_ns, (double)child->system_ns);
	if (result->exit_status > 0)
		return;
	result->exit_status = stat_child_exit_status(child);
	if (WIFSIGNALED(child->status))
		result->signal = WTERMSIG(child->status);
}

/* Prepares a run, before the child continues. */
static int begin_run(struct stat_work *work, pid_t child)
{
	return work->options->exact ? stat_exact_begin(&work->exact, &work->counting)
				    : start_counting(work, child);
}

static int read_run(struct stat_work *work, pid_t child)
{
	return work->options->exact
		       ? stat_exact_read(&work->exact, &work->counting, child,
					 work->cells)
		       : stat_counting_read(&work->counting, work->cells, true);
}

/* Keeps the results of a run, which took TIME_NS. */
static int keep_samples(struct stat_work *work, double time_ns)
{
	struct stat_result *result = &work->result;
	size_t cells = stat_counting_cells(&work->counting);
	void *samples = work->samples;
	double *sample;

	if (!pm_grow(&samples, result->runs, (cells + 1) * sizeof(*sample)))
		return pm_diag_set(&work->counting.diag, -ENOMEM, "out of memory");
	result->samples = work->samples = samples;
	sample = work->samples + result->runs++ * (cells + 1);
	stat_sum_add(&result->wall_ns, time_ns);
	*sample++ = time_ns;
	for (size_t c = 0; c < cells; c++)
		*sample++ = work->cells[c].last;
	return 0;
}

/* Makes one run. Returns 0, or the exit status. */
static int run_once(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	char **command = options->exact ? work->exact.line : options->command;
	struct stat_child child = {.pid = 0};
	uint64_t start_ns, end_ns;
	pid_t pid;
	int err = 0;

	if (command)
		err = stat_child_fork(&child, command);
	if (err) {
		cli_complain("stat", "cannot create a process for '%s': %s",
			     options->command[0], strerror(-err));
		return CLI_FAILED;
	}
	pid = child.pid;
	if (begin_run(work, pid)) {
		if (child.pid)
			stat_child_drop(&child);
		return complain(work);
	}
	start_ns = stat_now_ns();
	if (child.pid) {
		err = stat_child_release(&child);
		if (err) {
			stat_counting_end(&work->counting);
			cli_complain("stat", "cannot run '%s': %s", command[0],
				     strerror(-err));
			return err == -ENOENT ? 127 : 126;
		}
	}
	err = wait_for_end(work, &child, start_ns);
	end_ns = stat_now_ns();
	if (options->command)
		note_command(&work->result, &child);
	if (!err)
		err = read_run(work, pid);
	if (!err)
		err = keep_samples(work, (double)(end_ns - start_ns));
	stat_counting_end(&work->counting);
	return err ? complain(work) : 0;
}

static void tell_begin(struct stat_work *work)
{
	if (work->options->format == STAT_TEXT)
		stat_text_begin(&work->result, &work->out);
	else if (work->options->format == STAT_CSV)
		stat_csv_begin(&work->result, &work->out);
}

static void tell_end(struct stat_work *work)
{
	switch (work->options->format) {
	case STAT_TEXT:
		stat_text_end(&work->result, &work->out);
		break;
	case STAT_CSV:
		stat_csv_rows(&work->result, &work->out);
		break;
	case STAT_JSON:
		stat_json_end(&work->result, &work->out);
		break;
	}
}

static int count_and_tell(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	struct stat_result *result = &work->result;
	int status = 0;

	stat_signals_begin();
	stat_files_begin();
	if (options->interval_ns)
		tell_begin(work);
	result->input_lost = !stat_input_begin() && options->runs > 1;
	for (uint32_t i = 0; i < options->runs && !status; i++) {
		if (i)
			stat_input_again();
		status = run_once(work);
	}
	stat_exact_end(&work->exact);
	stat_signals_end();
	if (status)
		return status;
	if (!options->interval_ns)
		tell_begin(work);
	tell_end(work);
	status = result->exit_status > 0 ? result->exit_status : 0;
	/* Every process that ends by itself leaves counts. */
	if (!status && work->exact.lost_runs)
		status = CLI_FAILED;
	if (!pm_out_end(&work->out))
		return status;
	cli_complain("stat", "%s: %s", options->output ?: "standard error",
		     strerror(-work->out.error));
	return status ?: CLI_FAILED;
}

/* Resolves the events. Returns 0, or the exit status. */
static int init_counting(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	const char *events = options->events;
	int err;

	if (options->exact)
		return stat_exact_init(&work->exact, &work->counting, events,
				       options->command);
	if (events && !strcasecmp(events, "auto"))
		events = NULL;
	err = stat_counting_init(&work->counting, events, options->place, options->level);
	if (!err)
		return 0;
	cli_complain("stat", "%s", work->counting.diag.text);
	return err == -ENOMEM ? CLI_FAILED : CLI_USAGE;
}

static int stat_main(struct stat_options *options)
{
	struct stat_work work = {.options = options};
	size_t cells;
	int status = init_counting(&work);

	if (status)
		goto out;
	cells = stat_counting_cells(&work.counting) + 1;
	work.cells = calloc(cells, sizeof(work.cells[0]));
	work.interval = calloc(cells, sizeof(work.interval[0]));
	work.watches = calloc(options->target_count + 1, sizeof(work.watches[0]));
	for (uint32_t t = 0; work.watches && t < options->target_count; t++)
		work.watches[t] =
			options->processes
				? pm_kernel_pidfd_open(options->targets[t].id, 0)
				: -1;
	if (work.cells && work.interval && work.watches) {
		work.result =
			(struct stat_result){.options = options,
					     .counting = &work.counting,
					     .exact = options->exact ? &work.exact : NULL,
					     .cells = work.cells,
					     .exit_status = -1};
		pm_kernel_clock_ns(CLOCK_REALTIME, &work.result.began_realtime_ns);
		work.counting.processes = options->processes;
		work.counting.split = options->split;
		status = open_output(&work.output, &work.out, options);
		if (!status) {
			int ended;

			status = count_and_tell(&work);
			ended = cli_output_end(&work.output, 0);
			status = status ?: ended;
		}
	} else {
		cli_complain("stat", "%s", strerror(ENOMEM));
		status = CLI_FAILED;
	}
	free(work.watches);
	free(work.samples);
	free(work.cells);
	free(work.interval);
out:
	stat_counting_free(&work.counting);
	stat_exact_free(&work.exact);
	return status;
}

int cli_stat(int argc, char **argv)
{
	struct stat_options options;
	int status = stat_options_parse(&options, argc, argv);

	if (status < 0)
		status = stat_main(&options);
	free(options.events);
	free(options.targets);
	return status;
}
