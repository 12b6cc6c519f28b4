/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat runs a command, or watches threads, and prints their counts. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/metrics/named.h"
#include "cli/stat/inside.h"
#include "cli/stat/stat.h"
#include "core/kernel/kernel.h"
#include "core/text/grow.h"

/* --- output ------------------------------------------------------------------------- */

/* In the order of enum stat_format. */
static const struct {
	const char *suffix;
	void (*begin)(const struct stat_result *result, struct pm_out *out);
	void (*interval)(const struct stat_result *result, struct pm_out *out);
	void (*end)(const struct stat_result *result, struct pm_out *out);
} formats[] = {
	{"txt", stat_text_begin, stat_text_interval, stat_text_end},
	{"csv", stat_csv_begin, stat_csv_rows, stat_csv_rows},
	{"json", NULL, stat_json_interval, stat_json_end},
};

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
	int status = cli_output_grow(output, "stat", options->output,
				     formats[options->format].suffix, options->append);

	out->sink = output->path ? cli_output_write : write_standard;
	out->argument = output->path ? (void *)output : options;
	cli_terminal_use(output->path	   ? output->file.fd
			 : options->output ? STDOUT_FILENO
					   : STDERR_FILENO);
	return status;
}

/* --- what a command inherits -------------------------------------------------------- */

/* Signals for writing to a reader that has gone, or to a file that may not grow. */
static const int at_write[] = {SIGPIPE, SIGXFSZ};

static bool was_usual[sizeof(at_write) / sizeof(at_write[0])];
static struct rlimit files_before;

/* Ignores signals for writing, which must not replace the command's exit status. Raises the limit of
 * descriptors to the maximum: each event needs one on each CPU. */
static void inherited_begin(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction now;
	struct rlimit more;

	for (size_t i = 0; i < sizeof(at_write) / sizeof(at_write[0]); i++) {
		sigaction(at_write[i], NULL, &now);
		was_usual[i] = now.sa_handler == SIG_DFL;
		if (was_usual[i])
			sigaction(at_write[i], &ignore, NULL);
	}
	/* A failure does no harm: the error of an event says why. */
	if (getrlimit(RLIMIT_NOFILE, &files_before))
		return;
	more = files_before;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);
}

/* Gives a command the effects of signals and the limit from before. */
static void inherited_undo(void)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};

	for (size_t i = 0; i < sizeof(at_write) / sizeof(at_write[0]); i++)
		if (was_usual[i])
			sigaction(at_write[i], &usual, NULL);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
}

/* --- counting ----------------------------------------------------------------------- */

struct stat_work {
	struct stat_options *options;
	struct stat_counting counting;
	struct stat_exact exact;
	struct cli_named named;
	struct pm_metrics *formulas;
	struct stat_cell *cells, *interval;
	double *samples; /* see struct stat_result */
	struct stat_result result;
	struct cli_output output;
	struct pm_out out;
	int *watches; /* pidfds of processes */
};

/* Reports the interval from LAST_NS to NOW_NS. */
static int write_interval(struct stat_work *work, uint64_t start_ns, uint64_t last_ns,
			  uint64_t now_ns)
{
	struct stat_result result = work->result;
	int err;

	memset(work->interval, 0,
	       stat_counting_cells(&work->counting) * sizeof(work->interval[0]));
	err = stat_counting_read(&work->counting, work->interval, false);
	if (err)
		return err;
	result.cells = work->interval;
	result.time_ns = now_ns - start_ns;
	result.wall_ns = (struct pm_sum){0};
	pm_sum_add(&result.wall_ns, (double)(now_ns - last_ns));
	formats[work->options->format].interval(&result, &work->out);
	pm_out_end(&work->out);
	return 0;
}

/* Returns whether no target is left. */
static bool targets_ended(struct stat_work *work)
{
	const struct stat_options *options = work->options;

	if (!options->processes)
		return stat_counting_is_over(&work->counting);
	for (uint32_t t = 0; t < options->target_count; t++) {
		int watch = work->watches[t];
		short events = POLLIN;

		if (watch < 0 ? pm_kernel_kill(options->targets[t].id, 0) != -ESRCH
			      : pm_kernel_poll(watch, &events) <= 0)
			return false;
	}
	return true;
}

/* Targets that this command did not start are checked this often. */
#define LOOK_NS 100000000

/* Waits for the end, and reports at intervals meanwhile. */
static int wait_for_end(struct stat_work *work, struct cli_child *child,
			uint64_t start_ns)
{
	const struct stat_options *options = work->options;
	uint64_t last = start_ns, next = start_ns + options->interval_ns;
	uint64_t end = options->timeout_ns ? start_ns + options->timeout_ns : 0;
	int err;

	for (;;) {
		uint64_t deadline = end, now = cli_now_ns();
		enum cli_wake wake;

		if (options->interval_ns && (!deadline || next < deadline))
			deadline = next;
		if (!child->pid && (!deadline || deadline > now + LOOK_NS))
			deadline = now + LOOK_NS;
		wake = cli_child_wait(child, deadline);
		now = cli_now_ns();
		if (wake == CLI_WAKE_TIME && end && now >= end) {
			wake = CLI_WAKE_SIGNAL;
			end = 0;
			if (child->pid) {
				kill(child->pid, SIGTERM);
				continue;
			}
		}
		if (wake == CLI_WAKE_TIME && !child->pid && targets_ended(work))
			wake = CLI_WAKE_END;
		if (wake != CLI_WAKE_TIME) {
			stat_counting_stop(&work->counting);
			if (!options->interval_ns)
				return 0;
		} else if (!options->interval_ns || now < next) {
			continue;
		}
		err = write_interval(work, start_ns, last, now);
		if (err || wake != CLI_WAKE_TIME)
			return err;
		last = now;
		/* Skip missed intervals. */
		while (next <= now)
			next += options->interval_ns;
	}
}

static int complain(struct stat_work *work)
{
	return cli_fail(CLI_FAILED, "stat", "%s", work->counting.diag.text);
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
		if (options->descendants)
			options->targets[i].flags =
				PERFMON_TARGET_CHILDREN | PERFMON_TARGET_APART;
		else if (options->processes && options->inherit)
			options->targets[i].flags = PERFMON_TARGET_CHILDREN;
	}
	if (options->place)
		return stat_counting_start(&work->counting, NULL, 0, true);
	return stat_counting_start(&work->counting, options->targets ?: &target,
				   options->targets ? options->target_count : 1,
				   options->targets != NULL);
}

static void note_command(struct stat_result *result, const struct cli_child *child)
{
	pm_sum_add(&result->user_ns, (double)child->user_ns);
	pm_sum_add(&result->system_ns, (double)child->system_ns);
	if (result->exit_status > 0)
		return;
	result->exit_status = cli_child_exit_status(child->status);
	if (WIFSIGNALED(child->status))
		result->signal = WTERMSIG(child->status);
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
	pm_sum_add(&result->wall_ns, time_ns);
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
	const struct cli_child_how how = {.undo = inherited_undo};
	struct cli_child child = {.pid = 0};
	uint64_t start_ns, end_ns;
	pid_t pid;
	int err = 0;

	if (command)
		err = cli_child_fork(&child, command, &how);
	if (err)
		return cli_fail(CLI_FAILED, "stat",
				"cannot create a process for '%s': %s",
				options->command[0], strerror(-err));
	pid = child.pid;
	err = options->exact ? stat_exact_begin(&work->exact, &work->counting)
			     : start_counting(work, pid);
	if (err) {
		if (child.pid)
			cli_child_drop(&child);
		return complain(work);
	}
	start_ns = cli_now_ns();
	if (child.pid) {
		err = cli_child_release(&child);
		if (err) {
			stat_counting_end(&work->counting);
			return cli_child_cannot_run("stat", command[0], err);
		}
	}
	err = wait_for_end(work, &child, start_ns);
	end_ns = cli_now_ns();
	if (options->command)
		note_command(&work->result, &child);
	if (!err && options->exact)
		err = stat_exact_read(&work->exact, &work->counting, pid, work->cells);
	else if (!err)
		err = stat_counting_read(&work->counting, work->cells, true);
	if (!err)
		err = keep_samples(work, (double)(end_ns - start_ns));
	stat_counting_end(&work->counting);
	return err ? complain(work) : 0;
}

static void write_begin(struct stat_work *work)
{
	if (formats[work->options->format].begin)
		formats[work->options->format].begin(&work->result, &work->out);
}

static int count_and_write(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	struct stat_result *result = &work->result;
	int status = 0;

	cli_child_signals_begin();
	inherited_begin();
	if (options->interval_ns)
		write_begin(work);
	result->input_lost = !cli_input_begin() && options->runs > 1;
	for (uint32_t i = 0; i < options->runs && !status; i++) {
		/* A signal that asks for an end ends all runs. */
		if (i && cli_child_interrupt())
			break;
		if (i)
			cli_input_again();
		status = run_once(work);
	}
	stat_exact_end(&work->exact);
	cli_child_signals_end();
	if (status)
		return status;
	if (!options->interval_ns)
		write_begin(work);
	formats[options->format].end(result, &work->out);
	status = result->exit_status > 0 ? result->exit_status : 0;
	/* Every process that ends by itself leaves counts. */
	if (!status && work->exact.lost_runs)
		status = CLI_FAILED;
	if (!pm_out_end(&work->out))
		return status;
	return cli_fail(status ?: CLI_FAILED, "stat", "%s: %s",
			options->output ?: "standard error", strerror(-work->out.error));
}

/* Resolves the events. Returns 0, or the exit status. */
static int init_counting(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	const char *events = options->events;
	int err;

	if (work->named.events)
		events = work->named.events;
	if (options->exact)
		return stat_exact_init(&work->exact, &work->counting, events,
				       options->command);
	if (events && !strcasecmp(events, "auto"))
		events = NULL;
	err = stat_counting_init(&work->counting, events, options->place, options->level);
	if (!err)
		return 0;
	return cli_fail(err == -ENOMEM ? CLI_FAILED : CLI_USAGE, "stat", "%s",
			work->counting.diag.text);
}

/* Finds what groups and metrics by name need. Returns 0, or the exit status. */
static int find_named(struct stat_work *work)
{
	const struct stat_options *options = work->options;
	const struct cli_named_wish wish = {.events = options->events,
					    .groups = options->groups,
					    .metrics = options->metrics,
					    .exact = options->exact,
					    .cpus = options->place};
	struct pm_diag diag = {0};
	char *text = NULL;
	int status = cli_named_find("stat", &wish, &work->named);

	if (status || !work->named.formulas)
		return status;
	if (asprintf(&text, "none; %s", work->named.formulas) < 0 ||
	    pm_metrics_parse(text, &work->formulas, &diag))
		status = cli_fail(CLI_FAILED, "stat", "%s",
				  diag.error ? diag.text : strerror(ENOMEM));
	free(text);
	return status;
}

static int stat_main(struct stat_options *options)
{
	struct stat_work work = {.options = options};
	size_t cells;
	int ended, status = find_named(&work);

	status = status ?: init_counting(&work);
	if (status)
		goto out;
	cells = stat_counting_cells(&work.counting);
	work.cells = calloc(cells + 1, 2 * sizeof(work.cells[0]));
	work.watches = calloc(options->target_count + 1, sizeof(work.watches[0]));
	if (!work.cells || !work.watches) {
		status = cli_no_memory("stat");
		goto out;
	}
	work.interval = work.cells + cells;
	for (uint32_t t = 0; options->processes && t < options->target_count; t++)
		work.watches[t] = pm_kernel_pidfd_open(options->targets[t].id, 0);
	work.result = (struct stat_result){.options = options,
					   .counting = &work.counting,
					   .exact = options->exact ? &work.exact : NULL,
					   .formulas = work.formulas,
					   .cells = work.cells,
					   .exit_status = -1};
	pm_kernel_clock_ns(CLOCK_REALTIME, &work.result.began_realtime_ns);
	work.counting.apart = options->descendants;
	work.counting.split = options->split;
	status = open_output(&work.output, &work.out, options);
	if (status)
		goto out;
	status = count_and_write(&work);
	ended = cli_output_end(&work.output, 0);
	status = status ?: ended;
out:
	pm_metrics_free(work.formulas);
	cli_named_free(&work.named);
	free(work.watches);
	free(work.samples);
	free(work.cells);
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
