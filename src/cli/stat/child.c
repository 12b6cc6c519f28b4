/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command of perfmon stat: it is forked, waits until the session is attached, and is
 * then executed. Signals are passed on to it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/stat/child.h"
#include "core/kernel/kernel.h"

#define SECOND_NS UINT64_C(1000000000)

/* Signals that end a program, or are sent to one, and leave it time to act. */
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Signals for writing to a reader that has gone, or to a file that may not grow. */
static const int at_write[] = {SIGPIPE, SIGXFSZ};

static sigset_t taken, mask_before;
static bool was_usual[sizeof(at_write) / sizeof(at_write[0])];
static struct rlimit files_before;

void stat_signals_begin(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN},
			       usual = {.sa_handler = SIG_DFL};
	struct sigaction now;

	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
		/* A signal that was ignored at the start stays ignored (nohup). */
		if (!sigaction(passed_on[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&taken, passed_on[i]);
	}
	/* If it were ignored, children would leave no status. */
	sigaction(SIGCHLD, &usual, NULL);
	/* They must not replace the command's exit status. */
	for (size_t i = 0; i < sizeof(at_write) / sizeof(at_write[0]); i++) {
		sigaction(at_write[i], NULL, &now);
		was_usual[i] = now.sa_handler == SIG_DFL;
		if (was_usual[i])
			sigaction(at_write[i], &ignore, NULL);
	}
	sigprocmask(SIG_BLOCK, &taken, &mask_before);
}

void stat_signals_end(void)
{
	const struct timespec now = {.tv_sec = 0};

	while (sigtimedwait(&taken, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void stat_files_begin(void)
{
	struct rlimit more;

	/* A failure does no harm: the error of an event says why. */
	if (getrlimit(RLIMIT_NOFILE, &files_before))
		return;
	more = files_before;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);
}

/* The position of standard input at the start; negative: it cannot be restored. */
static off_t input_at = -1;

bool stat_input_begin(void)
{
	struct stat input;

	input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return fstat(STDIN_FILENO, &input) ||
	       !(S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
}

void stat_input_again(void)
{
	if (input_at >= 0)
		lseek(STDIN_FILENO, input_at, SEEK_SET);
}

uint64_t stat_now_ns(void)
{
	uint64_t now = 0;

	pm_kernel_clock_ns(CLOCK_MONOTONIC, &now);
	return now;
}

/* --- start -------------------------------------------------------------------------- */

static void __attribute__((noreturn)) execute(char **command, int parent)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	char byte;
	int err;

	/* If the parent has ended, nothing comes, and the child ends, too. */
	if (read(parent, &byte, 1) != 1)
		_exit(126);
	for (size_t i = 0; i < sizeof(at_write) / sizeof(at_write[0]); i++)
		if (was_usual[i])
			sigaction(at_write[i], &usual, NULL);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(parent, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

int stat_child_fork(struct stat_child *child, char **command)
{
	int ends[2], err = 0;

	*child = (struct stat_child){.link = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	child->pid = fork();
	if (!child->pid) {
		close(ends[0]);
		execute(command, ends[1]);
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

static void reap(struct stat_child *child)
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

int stat_child_release(struct stat_child *child)
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

void stat_child_drop(struct stat_child *child)
{
	close(child->link);
	reap(child);
}

/* --- wait --------------------------------------------------------------------------- */

enum stat_wake stat_child_wait(struct stat_child *child, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now = stat_now_ns(), left = 0;
		siginfo_t info = {.si_pid = 0};
		struct timespec wait;
		int number;

		if (child->pid &&
		    !waitid(P_PID, (id_t)child->pid, &info,
			    WEXITED | WNOHANG | WNOWAIT) &&
		    info.si_pid) {
			reap(child);
			return STAT_WAKE_END;
		}
		if (deadline_ns && now >= deadline_ns)
			return STAT_WAKE_TIME;
		left = deadline_ns ? deadline_ns - now : 3600 * SECOND_NS;
		wait.tv_sec = (time_t)(left / SECOND_NS);
		wait.tv_nsec = (long)(left % SECOND_NS);
		number = sigtimedwait(&taken, &info, &wait);
		if (number <= 0 || number == SIGCHLD)
			continue;
		if (!child->pid)
			return STAT_WAKE_SIGNAL;
		/* A terminal has already sent its signals to the whole process group. */
		if (info.si_code <= 0)
			kill(child->pid, number);
	}
}

int stat_child_exit_status(const struct stat_child *child)
{
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status)
					  : WEXITSTATUS(child->status);
}
