/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/child.h"

#define WIDTH	  40
#define FIRST_NS  250000000
#define PERIOD_NS 100000000

static struct {
	bool known, is_terminal, drawn;
	uint64_t due_ns;
} progress;

void cli_progress(size_t done, size_t all, const char *noun)
{
	static const char bar[WIDTH + 1] = "########################################";
	uint64_t now = cli_now_ns();
	int filled;

	if (!progress.known) {
		const char *type = getenv("TERM");

		progress.known = true;
		progress.is_terminal = isatty(STDERR_FILENO) && type && *type &&
				       strcmp(type, "dumb") != 0;
		progress.due_ns = now + FIRST_NS;
	}
	if (!progress.is_terminal || now < progress.due_ns || !all)
		return;
	progress.due_ns = now + PERIOD_NS;
	progress.drawn = true;
	filled = (int)((double)WIDTH * (double)done / (double)all);
	fprintf(stderr, "\r[%-*.*s] %zu of %zu %s", WIDTH, filled, bar, done, all, noun);
}

void cli_progress_end(void)
{
	if (progress.drawn)
		fputs("\r\033[K", stderr);
	progress.drawn = false;
}
