/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A terminal for tests: runs a command on a pseudo-terminal that understands as much of
 * xterm as ncurses uses, and does what its standard input says, line by line.
 *
 *	terminal ROWS COLUMNS COMMAND [ARGUMENT]...
 *
 *	see TEXT	waits until TEXT is on the screen
 *	gone TEXT	waits until it is not
 *	line N TEXT	waits until it is in line N (from 0)
 *	keys TEXT	types it; \e is Escape, \r Return, \d Delete
 *	size ROWS COLUMNS
 *	signal NUMBER	sends it to the command
 *	show		prints the screen
 *	taken		the modes are not those of the begin, the other screen is shown
 *	restored	all of that is as it was
 *	ends STATUS	waits for the command's end (128 + n for signal n)
 *
 * What does not come to be within 20 seconds, or is not so, ends it with status 1, after
 * the screen. What is left running is killed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ROWS	    200
#define COLUMNS	    300
#define PATIENCE_MS 20000

static int master;
static pid_t child;
static int status = -1; /* of the child, once it has ended */
static struct termios at_begin;
static int rows, columns;

static uint32_t cell[ROWS][COLUMNS], kept[ROWS][COLUMNS];
static int row, column, kept_row, kept_column, top, bottom;
static bool other_screen, cursor_hidden, keypad;
static uint32_t last; /* character, for REP */

static void show(FILE *to)
{
	for (int r = 0; r < rows; r++) {
		int end = columns;

		while (end && cell[r][end - 1] == ' ')
			end--;
		for (int c = 0; c < end; c++) {
			uint32_t u = cell[r][c];

			if (u < 0x80)
				fputc((int)u, to);
			else if (u < 0x800)
				fprintf(to, "%c%c", 0xc0 | u >> 6, 0x80 | (u & 0x3f));
			else
				fprintf(to, "%c%c%c", 0xe0 | u >> 12,
					0x80 | (u >> 6 & 0x3f), 0x80 | (u & 0x3f));
		}
		fputc('\n', to);
	}
}

static void send_signal(int number);

/* Ends what still runs. */
static void give_up(void)
{
	if (status >= 0 || child <= 0)
		return;
	send_signal(SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool modes_are_as_before(void);

static void fail(const char *what, const char *text)
{
	fprintf(stderr,
		"terminal: %s '%s'; modes %s, %s screen, cursor %s, keypad %s; the "
		"screen:\n",
		what, text, modes_are_as_before() ? "as before" : "changed",
		other_screen ? "other" : "first", cursor_hidden ? "hidden" : "shown",
		keypad ? "on" : "off");
	show(stderr);
	give_up();
	exit(1);
}

/* --- what the command writes ------------------------------------------------------ */

static void blank(int r, int from, int to)
{
	for (int c = from; c < to; c++)
		cell[r][c] = ' ';
}

static void move_lines(int from, int to, int by)
{
	/* Lines FROM to TO, the last included, up by BY (down if it is negative). */
	for (; by > 0; by--) {
		memmove(cell[from], cell[from + 1],
			(size_t)(to - from) * sizeof(cell[0]));
		blank(to, 0, COLUMNS);
	}
	for (; by < 0; by++) {
		memmove(cell[from + 1], cell[from],
			(size_t)(to - from) * sizeof(cell[0]));
		blank(from, 0, COLUMNS);
	}
}

static void line_feed(void)
{
	if (row == bottom)
		move_lines(top, bottom, 1);
	else if (row < rows - 1)
		row++;
}

static void character(uint32_t u)
{
	if (column == columns) {
		column = 0;
		line_feed();
	}
	cell[row][column++] = u;
	last = u;
}

static int limit(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static void private_mode(int mode, bool on)
{
	switch (mode) {
	case 1:
		keypad = on;
		break;
	case 25:
		cursor_hidden = !on;
		break;
	case 1049:
		if (on == other_screen)
			break;
		other_screen = on;
		if (on) {
			memcpy(kept, cell, sizeof(cell));
			kept_row = row;
			kept_column = column;
			for (int r = 0; r < ROWS; r++)
				blank(r, 0, COLUMNS);
		} else {
			memcpy(cell, kept, sizeof(cell));
			row = limit(kept_row, 0, rows - 1);
			column = limit(kept_column, 0, columns - 1);
		}
		break;
	default: /* blinking, autowrap and the like: nothing that is looked at */
		break;
	}
}

static void control(const char *text, char final)
{
	bool is_private = *text == '?';
	int n[8] = {0}, count = 0, one;
	const char *at = text + is_private;

	while (count < 8) {
		n[count++] = (int)strtol(at, (char **)&at, 10);
		if (*at != ';')
			break;
		at++;
	}
	one = n[0] ? n[0] : 1;
	if (*at && *at != '>')
		fail("does not know the sequence", text);
	switch (final) {
	case 'A':
		row = limit(row - one, 0, rows - 1);
		break;
	case 'B':
		row = limit(row + one, 0, rows - 1);
		break;
	case 'C':
		column = limit(column + one, 0, columns - 1);
		break;
	case 'D':
		column = limit(column - one, 0, columns - 1);
		break;
	case 'G':
		column = limit(one - 1, 0, columns - 1);
		break;
	case 'd':
		row = limit(one - 1, 0, rows - 1);
		break;
	case 'H':
		row = limit(one - 1, 0, rows - 1);
		column = limit((n[1] ? n[1] : 1) - 1, 0, columns - 1);
		break;
	case 'J':
		blank(row, n[0] ? 0 : column, n[0] == 1 ? column + 1 : COLUMNS);
		for (int r = n[0] ? 0 : row + 1; r < (n[0] == 1 ? row : ROWS); r++)
			blank(r, 0, COLUMNS);
		break;
	case 'K':
		blank(row, n[0] ? 0 : column, n[0] == 1 ? column + 1 : COLUMNS);
		break;
	case 'X':
		blank(row, column, limit(column + one, 0, COLUMNS));
		break;
	case 'P':
		one = limit(one, 0, COLUMNS - column);
		memmove(&cell[row][column], &cell[row][column + one],
			(size_t)(COLUMNS - column - one) * sizeof(cell[0][0]));
		blank(row, COLUMNS - one, COLUMNS);
		break;
	case '@':
		one = limit(one, 0, COLUMNS - column);
		memmove(&cell[row][column + one], &cell[row][column],
			(size_t)(COLUMNS - column - one) * sizeof(cell[0][0]));
		blank(row, column, column + one);
		break;
	case 'L':
		move_lines(row, bottom, -one);
		break;
	case 'M':
		move_lines(row, bottom, one);
		break;
	case 'S':
		move_lines(top, bottom, one);
		break;
	case 'T':
		move_lines(top, bottom, -one);
		break;
	case 'b':
		while (one--)
			character(last);
		break;
	case 'r':
		top = limit(one - 1, 0, rows - 1);
		bottom = limit((n[1] ? n[1] : rows) - 1, top, rows - 1);
		row = column = 0;
		break;
	case 'h':
	case 'l':
		for (int i = 0; is_private && i < count; i++)
			private_mode(n[i], final == 'h');
		break;
	case 'm': /* how characters look */
	case 't': /* of windows */
		break;
	default:
		fail("does not know the sequence that ends in", (char[]){final, '\0'});
	}
}

/* One byte of what the command writes. */
static void take(unsigned char byte)
{
	static enum { TEXT, ESCAPE, CONTROL, CHARSET } state;
	static char text[64];
	static size_t length;
	static uint32_t u;
	static int more; /* bytes of a character in UTF-8 */

	switch (state) {
	case ESCAPE:
		state = TEXT;
		length = 0;
		if (byte == '[')
			state = CONTROL;
		else if (byte == '(' || byte == ')')
			state = CHARSET;
		else if (byte == 'M' && row == top)
			move_lines(top, bottom, -1);
		else if (byte == 'M')
			row--;
		return;
	case CONTROL:
		if (byte >= 0x40) {
			text[length] = '\0';
			state = TEXT;
			control(text, (char)byte);
		} else if (length < sizeof(text) - 1) {
			text[length++] = (char)byte;
		}
		return;
	case CHARSET:
		state = TEXT;
		return;
	default:
		break;
	}
	if (more && (byte & 0xc0) == 0x80) {
		u = u << 6 | (byte & 0x3f);
		if (!--more)
			character(u);
		return;
	}
	more = 0;
	if (byte == 27) {
		state = ESCAPE;
	} else if (byte == '\r') {
		column = 0;
	} else if (byte == '\n') {
		line_feed();
	} else if (byte == '\b') {
		column -= column > 0;
	} else if (byte == '\t') {
		column = limit((column / 8 + 1) * 8, 0, columns - 1);
	} else if (byte >= 0xc0) {
		more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
		u = byte & (0x3f >> more);
	} else if (byte >= ' ') {
		character(byte);
	}
}

/* Takes what comes within MS. False: nothing did. */
static bool pump(int ms)
{
	struct pollfd fd = {.fd = master, .events = POLLIN};
	unsigned char buffer[4096];
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = read(master, buffer, sizeof(buffer));
	for (ssize_t i = 0; i < n; i++)
		take(buffer[i]);
	return n > 0;
}

/* --- what the test says ----------------------------------------------------------- */

static bool in_line(int r, const char *text)
{
	char line[COLUMNS * 3 + 1];
	size_t length = 0;

	for (int c = 0; c < columns; c++) {
		uint32_t u = cell[r][c];

		if (u < 0x80) {
			line[length++] = (char)u;
		} else if (u < 0x800) {
			line[length++] = (char)(0xc0 | u >> 6);
			line[length++] = (char)(0x80 | (u & 0x3f));
		} else {
			line[length++] = (char)(0xe0 | u >> 12);
			line[length++] = (char)(0x80 | (u >> 6 & 0x3f));
			line[length++] = (char)(0x80 | (u & 0x3f));
		}
	}
	line[length] = '\0';
	return strstr(line, text) != NULL;
}

static bool on_screen(const char *text)
{
	for (int r = 0; r < rows; r++)
		if (in_line(r, text))
			return true;
	return false;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool ended(void)
{
	int got;

	if (status < 0 && waitpid(child, &got, WNOHANG) == child)
		status = WIFEXITED(got) ? WEXITSTATUS(got) : 255;
	return status >= 0;
}

static bool modes_are_as_before(void)
{
	struct termios modes;

	return !tcgetattr(master, &modes) && modes.c_iflag == at_begin.c_iflag &&
	       modes.c_oflag == at_begin.c_oflag && modes.c_lflag == at_begin.c_lflag &&
	       modes.c_cflag == at_begin.c_cflag;
}

static bool holds(const char *word, const char *text)
{
	char *rest;
	long n;

	if (!strcmp(word, "see"))
		return on_screen(text);
	if (!strcmp(word, "gone"))
		return !on_screen(text);
	if (!strcmp(word, "taken"))
		return !modes_are_as_before() && other_screen && cursor_hidden && keypad;
	if (!strcmp(word, "restored"))
		return modes_are_as_before() && !other_screen && !cursor_hidden &&
		       !keypad;
	n = strtol(text, &rest, 10);
	if (!strcmp(word, "line"))
		return n >= 0 && n < rows && in_line((int)n, rest + (*rest == ' '));
	if (!strcmp(word, "ends"))
		return ended() && status == n;
	fail("does not know", word);
	return false;
}

static void wait_for(const char *word, const char *text)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (pump(0) || !holds(word, text)) {
		/* After its end nothing can change any more. */
		bool over = ended();

		if (!pump(20) && (over || now_ms() > until) && !holds(word, text))
			fail(word, text);
	}
}

static void type(const char *text)
{
	for (; *text; text++) {
		char c = *text;

		if (c == '\\' && text[1]) {
			text++;
			c = *text == 'e'   ? 27
			    : *text == 'r' ? '\r'
			    : *text == 'd' ? 127
					   : *text;
		}
		if (write(master, &c, 1) != 1)
			fail("cannot type", text);
	}
}

static void resize(const char *text)
{
	struct winsize size = {0};

	if (sscanf(text, "%d %d", &rows, &columns) != 2 || rows < 2 || rows > ROWS ||
	    columns < 2 || columns > COLUMNS)
		fail("is no size:", text);
	size.ws_row = (unsigned short)rows;
	size.ws_col = (unsigned short)columns;
	ioctl(master, TIOCSWINSZ, &size);
	top = 0;
	bottom = rows - 1;
	row = limit(row, 0, bottom);
	column = limit(column, 0, columns - 1);
}

/* Leads the session, as a shell does: a command without one beside it cannot be stopped.
 * Ends as the command does. */
static void lead(int slave, char **command)
{
	int got = 0;
	pid_t pid;

	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	close(slave);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		setenv("TERM", "xterm", 1);
		unsetenv("COLUMNS");
		unsetenv("LINES");
		execvp(command[0], command);
		_exit(127);
	}
	/* Goes with the terminal, so that the command is not left behind. */
	signal(SIGHUP, SIG_IGN);
	waitpid(pid, &got, 0);
	_exit(WIFEXITED(got) ? WEXITSTATUS(got) : 128 + WTERMSIG(got));
}

/* The signal goes to what runs in the foreground. */
static void send_signal(int number)
{
	pid_t group = tcgetpgrp(master);

	if (group > 0)
		kill(-group, number);
}

static void start(const char *size, char **command)
{
	char *name;
	int slave;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    !(name = ptsname(master)) || (slave = open(name, O_RDWR | O_NOCTTY)) < 0) {
		perror("terminal");
		exit(2);
	}
	tcgetattr(master, &at_begin);
	/* Before the command begins: one that asked too early would be told of no size. */
	resize(size);
	fflush(stdout);
	child = fork();
	if (!child)
		lead(slave, command);
	/* Stays open here, so that what has been written last can be read. */
}

int main(int argc, char **argv)
{
	char line[1000], size[40];

	if (argc < 4) {
		fprintf(stderr, "usage: terminal ROWS COLUMNS COMMAND [ARGUMENT]...\n");
		return 2;
	}
	for (int r = 0; r < ROWS; r++)
		blank(r, 0, COLUMNS);
	snprintf(size, sizeof(size), "%s %s", argv[1], argv[2]);
	start(size, argv + 3);
	while (fgets(line, sizeof(line), stdin)) {
		char *text = line + strcspn(line, " \n");

		line[strcspn(line, "\n")] = '\0';
		if (*text)
			*text++ = '\0';
		if (!*line || *line == '#')
			continue;
		if (!strcmp(line, "keys"))
			type(text);
		else if (!strcmp(line, "size"))
			resize(text);
		else if (!strcmp(line, "signal"))
			send_signal(atoi(text));
		else if (strcmp(line, "show") != 0)
			wait_for(line, text);
		while (pump(0))
			;
		if (!strcmp(line, "show"))
			show(stdout);
		fflush(stdout);
	}
	give_up();
	return 0;
}
