/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/text/text.h"

#define SECOND_NS UINT64_C(1000000000)

/* Signals that end a program, or are sent to one, and leave it time to act. */
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static sigset_t taken, mask_before;
static bool begun;
static struct sigaction child_before;
static int interrupt;
/* The command's that ran last. */
static pid_t last;

uint64_t cli_now_ns(void)
{
	uint64_t now = 0;

	pm_kernel_clock_ns(CLOCK_MONOTONIC, &now);
	return now;
}

/* --- environment -------------------------------------------------------------------- */

const char *cli_variable(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

int cli_variable_set(const char *command, const char *name, const char *text)
{
	if (!setenv(name, text, 1))
		return 0;
	return cli_fail(CLI_FAILED, command, "%s: %s", name, strerror(errno));
}

int cli_variable_add(const char *command, const char *name, const char *separator,
		     const char *text)
{
	const char *before = cli_variable(name);
	char *all = NULL;
	bool failed = (before && pm_text_add(&all, "", before)) ||
		      pm_text_add(&all, separator, text);
	int status =
		failed ? cli_no_memory(command) : cli_variable_set(command, name, all);

	free(all);
	return status;
}

/* --- standard input ----------------------------------------------------------------- */

/* Its position at the start; negative: it cannot be restored. */
static off_t input_at = -1;

bool cli_input_begin(void)
{
	struct stat input;

	input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return fstat(STDIN_FILENO, &input) ||
	       !(S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
}

void cli_input_again(void)
{
	if (input_at >= 0)
		lseek(STDIN_FILENO, input_at, SEEK_SET);
}

/* --- signals ------------------------------------------------------------------------ */

void cli_child_signals_begin(void)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	struct sigaction now;

	if (begun)
		return;
	begun = true;
	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
		/* A signal that was ignored at the start stays ignored (nohup). */
		if (!sigaction(passed_on[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&taken, passed_on[i]);
	}
	/* If it were ignored, children would leave no status. */
	sigaction(SIGCHLD, &usual, &child_before);
	sigprocmask(SIG_BLOCK, &taken, &mask_before);
}

/* Waits for a signal at most NS, 0: not at all. Returns its number, or another one. */
static int take(uint64_t ns, siginfo_t *info)
{
	const struct timespec wait = {.tv_sec = (time_t)(ns / SECOND_NS),
				      .tv_nsec = (long)(ns % SECOND_NS)};
	int number = sigtimedwait(&taken, info, &wait);

	if (number > 0 && number != SIGCHLD && number != SIGUSR1 && number != SIGUSR2)
		interrupt = number;
	return number;
}

int cli_child_interrupt(void)
{
	siginfo_t info;

	while (begun && take(0, &info) > 0)
		;
	return interrupt;
}

void cli_child_signals_end(void)
{
	cli_child_interrupt();
	if (begun)
		sigprocmask(SIG_SETMASK, &mask_before, NULL);
	begun = false;
}

/* --- start -------------------------------------------------------------------------- */

static void __attribute__((noreturn))
execute(char **command, int parent, const struct cli_child_how *how)
{
	char byte;
	int err;

	prctl(PR_SET_PDEATHSIG, how->death_signal);
	/* If the parent has ended, nothing comes, and the child ends, too. */
	if (read(parent, &byte, 1) != 1)
		_exit(126);
	for (int fd = 0; how->standard && fd < 3; fd++)
		if (how->standard[fd] >= 0)
			dup2(how->standard[fd], fd);
	if (how->undo)
		how->undo();
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(parent, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

int cli_child_fork(struct cli_child *child, char **command,
		   const struct cli_child_how *how)
{
	int ends[2], err = 0;

	*child = (struct cli_child){.link = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	child->pid = fork();
	if (!child->pid) {
		close(ends[0]);
		execute(command, ends[1], how);
	}
	if (child->pid < 0) {
		err = -errno;
		child->pid = 0;
		close(ends[0]);
	}
	close(ends[1]);
	child->link = ends[0];
	return err;
}

static void reap(struct cli_child *child)
{
	struct rusage usage;

	while (wait4(child->pid, &child->status, 0, &usage) < 0)
		if (errno != EINTR)
			return;
	child->user_ns = (uint64_t)usage.ru_utime.tv_sec * SECOND_NS +
			 (uint64_t)usage.ru_utime.tv_usec * 1000;
	child->system_ns = (uint64_t)usage.ru_stime.tv_sec * SECOND_NS +
			   (uint64_t)usage.ru_stime.tv_usec * 1000;
	child->pid = 0;
}

int cli_child_release(struct cli_child *child)
{
	int err = 0;
	ssize_t n;

	while (write(child->link, "", 1) < 0 && errno == EINTR)
		;
	do
		n = read(child->link, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(child->link);
	if (n != sizeof(err))
		return 0;
	reap(child);
	return -err;
}

void cli_child_drop(struct cli_child *child)
{
	close(child->link);
	reap(child);
}

/* --- wait --------------------------------------------------------------------------- */

enum cli_wake cli_child_wait(struct cli_child *child, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now = cli_now_ns();
		siginfo_t info = {.si_pid = 0};
		int number;

		if (child->pid &&
		    !waitid(P_PID, (id_t)child->pid, &info,
			    WEXITED | WNOHANG | WNOWAIT) &&
		    info.si_pid) {
			reap(child);
			return CLI_WAKE_END;
		}
		if (deadline_ns && now >= deadline_ns)
			return CLI_WAKE_TIME;
		number = take(deadline_ns ? deadline_ns - now : 3600 * SECOND_NS, &info);
		if (number <= 0 || number == SIGCHLD)
			continue;
		if (!child->pid)
			return CLI_WAKE_SIGNAL;
		/* A terminal has already sent its signals to the whole process group. */
		if (info.si_code <= 0)
			kill(child->pid, number);
	}
}

int cli_child_cannot_run(const char *command, const char *name, int err)
{
	return cli_fail(err == -ENOENT ? 127 : 126, command, "cannot run '%s': %s", name,
			strerror(-err));
}

int cli_child_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- the whole ---------------------------------------------------------------------- */

int cli_child_run(char **command, const int *standard, int *status)
{
	const struct cli_child_how how = {.standard = standard, .death_signal = SIGKILL};
	struct cli_child child;
	int err;

	cli_child_signals_begin();
	/* A signal of the user's has ended the runs before. */
	err = cli_child_interrupt() ? -EINTR : cli_child_fork(&child, command, &how);
	if (err)
		return err;
	last = child.pid;
	err = cli_child_release(&child);
	if (!err)
		cli_child_wait(&child, 0);
	*status = err ? *status : child.status;
	return err;
}

pid_t cli_child_pid(void)
{
	return last;
}

int cli_child_end_as(int status)
{
	const struct rlimit no_core = {0, 0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	cli_child_signals_end();
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return cli_child_exit_status(status);
}
