/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

static volatile sig_atomic_t child, interrupt;
/* The command's that ran last. */
static pid_t last;

static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number != SIGUSR1 && number != SIGUSR2)
		interrupt = number;
	/* A terminal has already sent its signals to the whole process group. */
	if (info->si_code <= 0 && child > 0)
		kill((pid_t)child, number);
}

static void __attribute__((noreturn))
execute(char **command, const sigset_t *mask, int report, const int *standard)
{
	int err;

	for (int fd = 0; standard && fd < 3; fd++)
		if (standard[fd] >= 0)
			dup2(standard[fd], fd);

	/* A signal that kills this process kills the command, too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Starts COMMAND, and passes signals on from then on. Returns 0 or a negative errno. */
static int start(char **command, const int *standard)
{
	const struct sigaction pass = {.sa_sigaction = pass_on,
				       .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before;
	sigset_t mine, mask;
	int ends[2], err = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sigemptyset(&mine);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaddset(&mine, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mine, &mask);
	/* A signal of the user's has ended the runs before. */
	child = interrupt ? -1 : fork();
	if (!child)
		execute(command, &mask, ends[1], standard);
	if (child < 0)
		err = interrupt ? EINTR : errno;
	/* A signal that was ignored at the start stays ignored (nohup). */
	for (size_t i = 0; child > 0 && i < PASSED_ON; i++)
		if (!sigaction(passed_on[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(passed_on[i], &pass, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(ends[1]);
	do
		n = child > 0 ? read(ends[0], &err, sizeof(err)) : 0;
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (n > 0)
		waitpid((pid_t)child, NULL, 0);
	return -err;
}

int cli_child_end_as(int status)
{
	const struct rlimit no_core = {0, 0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

pid_t cli_child_pid(void)
{
	return last;
}

int cli_child_interrupt(void)
{
	return (int)interrupt;
}

int cli_child_run(char **command, const int *standard, int *status)
{
	int err = start(command, standard);

	while (!err && waitpid((pid_t)child, status, 0) < 0)
		err = errno == EINTR ? 0 : -errno;
	last = (pid_t)child;
	child = 0;
	return err;
}

void cli_child_signals_end(void)
{
	struct sigaction now;

	for (size_t i = 0; i < PASSED_ON; i++)
		if (!sigaction(passed_on[i], NULL, &now) && now.sa_sigaction == pass_on)
			signal(passed_on[i], SIG_DFL);
	if (interrupt)
		raise((int)interrupt);
}
