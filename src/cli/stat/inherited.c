/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/stat/inherited.h"

/* Signals for writing to a reader that has gone, or to a file that may not grow. */
static const int at_write[] = {SIGPIPE, SIGXFSZ};

static bool was_usual[sizeof(at_write) / sizeof(at_write[0])];
static struct rlimit files_before;

void stat_inherited_begin(void)
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

void stat_inherited_undo(void)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};

	for (size_t i = 0; i < sizeof(at_write) / sizeof(at_write[0]); i++)
		if (was_usual[i])
			sigaction(at_write[i], &usual, NULL);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
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
