/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

#define COLUMNS_MIN	40
#define COLUMNS_MAX	1000
#define COLUMNS_DEFAULT 80

static struct {
	int fd;
	bool known, is_terminal, colours;
	unsigned int columns;
	pid_t pager;
} terminal = {.fd = STDOUT_FILENO};

static unsigned int ask_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	long columns = text ? strtol(text, NULL, 10) : 0;

	if (columns <= 0 && !ioctl(terminal.fd, TIOCGWINSZ, &size))
		columns = size.ws_col;
	if (columns <= 0)
		columns = COLUMNS_DEFAULT;
	return columns < COLUMNS_MIN   ? COLUMNS_MIN
	       : columns > COLUMNS_MAX ? COLUMNS_MAX
				       : (unsigned int)columns;
}

/* Returns whether TERM names a terminal that can do more than print. */
static bool is_capable(void)
{
	const char *type = getenv("TERM");

	return type && *type && strcmp(type, "dumb") != 0;
}

static void look(void)
{
	const char *plain = getenv("NO_COLOR");

	if (terminal.known)
		return;
	terminal.known = true;
	terminal.is_terminal = isatty(terminal.fd);
	terminal.columns = terminal.is_terminal ? ask_columns() : 0;
	terminal.colours = terminal.is_terminal && is_capable() && !(plain && *plain);
}

void cli_terminal_use(int fd)
{
	terminal.fd = fd;
	terminal.known = false;
}

bool cli_is_terminal(void)
{
	look();
	return terminal.is_terminal;
}

unsigned int cli_columns(void)
{
	look();
	return terminal.columns;
}

const char *cli_style(enum cli_style style)
{
	static const char *const codes[] = {
		[CLI_PLAIN] = "\033[0m", [CLI_STRONG] = "\033[1m",
		[CLI_FAINT] = "\033[2m", [CLI_GOOD] = "\033[32m",
		[CLI_BAD] = "\033[31m",
	};

	look();
	return terminal.colours ? codes[style] : "";
}

void cli_style_row(struct pm_row *row, enum cli_style style)
{
	row->on = style == CLI_PLAIN ? NULL : cli_style(style);
	row->off = style == CLI_PLAIN ? NULL : cli_style(CLI_PLAIN);
}

void cli_put_wrapped(struct pm_out *out, size_t column, enum cli_style style,
		     const char *text)
{
	const char *on = style == CLI_PLAIN ? "" : cli_style(style);
	const char *off = style == CLI_PLAIN ? "" : cli_style(CLI_PLAIN);
	size_t columns = cli_columns();

	pm_out_text(out, on);
	/* Too few columns are left: the terminal breaks the line. */
	pm_out_fold(out, columns < column + 20 ? 0 : columns, column);
	/* Each line has its own style, since a pager may show lines apart. */
	out->fold.on = on;
	out->fold.off = off;
	out->fold.at = column;
	pm_out_plain(out, text, 0);
	pm_out_fold_end(out);
	pm_out_text(out, off);
	pm_out_text(out, "\n");
}

void cli_note_put(void *argument, const char *note)
{
	static const char mark[] = "  note: ";
	struct cli_note_list *list = argument;

	pm_out_text(list->out, list->begun ? "" : "\n");
	list->begun = true;
	pm_out_text(list->out, cli_style(CLI_FAINT));
	pm_out_text(list->out, mark);
	cli_put_wrapped(list->out, strlen(mark), CLI_FAINT, note);
}

/* --- progress ----------------------------------------------------------------------- */

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
	uint64_t now = 0;
	int filled;

	pm_kernel_clock_ns(CLOCK_MONOTONIC, &now);
	if (!progress.known) {
		progress.known = true;
		progress.is_terminal = isatty(STDERR_FILENO) && is_capable();
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

/* --- pages -------------------------------------------------------------------------- */

static const char *pager_command(char *buffer, size_t size)
{
	const char *pager = getenv("PAGER");

	if (!pager)
		return "if command -v less >/dev/null; then exec less -FRX; else exec "
		       "cat; fi";
	if (!*pager || !strcmp(pager, "cat"))
		return NULL;
	/* If there is no such pager, cat prints the text. */
	if ((size_t)snprintf(buffer, size, "%s\ncase $? in 126 | 127) exec cat ;; esac",
			     pager) >= size)
		return NULL;
	return buffer;
}

static void become_pager(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	/* There is no shell either: print the text here. */
	for (;;) {
		char bytes[4096];
		ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

		if (n <= 0 || write(STDOUT_FILENO, bytes, (size_t)n) != n)
			_exit(n != 0);
	}
}

void cli_pager_begin(void)
{
	char buffer[4096];
	const char *command;
	int ends[2];
	pid_t pid;

	if (!cli_is_terminal() || terminal.pager || fflush(stdout))
		return;
	command = pager_command(buffer, sizeof(buffer));
	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	/* While the pager runs it has the keyboard, and its end must not end this
	 * process. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	pid = fork();
	if (!pid)
		become_pager(command, ends[0]);
	if (pid > 0 && dup2(ends[1], STDOUT_FILENO) >= 0)
		terminal.pager = pid;
	close(ends[0]);
	close(ends[1]);
}

bool cli_pager_end(void)
{
	int status;

	if (!terminal.pager)
		return false;
	fflush(stdout);
	/* The pager sees the end of the text. */
	close(STDOUT_FILENO);
	while (waitpid(terminal.pager, &status, 0) < 0 && errno == EINTR)
		;
	terminal.pager = 0;
	return true;
}
