/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table on a terminal. However the program ends, the terminal is restored: signals
 * that end the program are caught, restore it, and still end the program. */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/common/common.h"
#include "cli/top/top.h"

#define HEAD_LINES 3 /* the program; the options; the headings */
#define ESCAPE	   27

struct screen {
	struct top_watch *watch;
	struct top_options *options;
	struct top_table table;
	uint32_t first_row, first_column; /* the first ones that are shown */
	bool paused, help;
	bool typing;		/* a filter */
	char was[TOP_TEXT];	/* the filter before that */
	struct pm_diag problem; /* the error of the last look */
	uint64_t shown;		/* tables */
	uint64_t next_ns;	/* time of the next look */
	sigset_t stops;		/* SIGTSTP, and a descriptor for it */
	int stop_fd;
};

/* --- restoring the terminal ------------------------------------------------------- */

static struct {
	struct termios modes;
	char text[256]; /* the text that ncurses would write at its end */
	size_t length;
} before;

/* Adds a capability's text, without the "$<2>" that is the delay for an old terminal. */
static void before_add(const char *text)
{
	if (!text || text == (char *)-1)
		return;
	for (; *text; text++) {
		const char *end;

		if (text[0] == '$' && text[1] == '<' && (end = strchr(text, '>'))) {
			text = end;
			continue;
		}
		if (before.length < sizeof(before.text))
			before.text[before.length++] = *text;
	}
}

/* A signal handler: only async-signal-safe calls. */
static void end_by_signal(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	ssize_t ignored = write(STDOUT_FILENO, before.text, before.length);

	(void)ignored;
	tcsetattr(STDIN_FILENO, TCSANOW, &before.modes);
	sigaction(number, &action, NULL);
	/* The signal is blocked and comes when this returns; a fault is repeated. */
	raise(number);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = end_by_signal}, old;

	sigfillset(&action.sa_mask);
	for (int number = 1; number <= SIGRTMAX; number++) {
		switch (number) {
		case SIGKILL:
		case SIGSTOP:
		/* These do not end a program. SIGTSTP is read from a descriptor; ncurses
		 * handles SIGWINCH. */
		case SIGCHLD:
		case SIGCONT:
		case SIGTSTP:
		case SIGTTIN:
		case SIGTTOU:
		case SIGURG:
		case SIGWINCH:
			continue;
		}
		if (sigaction(number, NULL, &old))
			continue;
		/* Ignored signals stay ignored. ncurses' own handlers do not suit a
		 * program that waits in poll(2). */
		if (old.sa_handler != SIG_IGN)
			sigaction(number, &action, NULL);
	}
}

/* Stops, with the terminal restored, until the process is continued. STOPS is SIGTSTP,
 * which is blocked, since ncurses ignores it while it draws. */
static void stop(int stop_fd, const sigset_t *stops)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	struct signalfd_siginfo info;

	if (read(stop_fd, &info, sizeof(info)) != sizeof(info))
		return;
	endwin();
	sigaction(SIGTSTP, &action, &old);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, stops, NULL);
	/* The process stopped here. */
	sigprocmask(SIG_BLOCK, stops, NULL);
	sigaction(SIGTSTP, &old, NULL);
	refresh();
}

static SCREEN *screen_begin(void)
{
	const char *type = getenv("TERM");
	SCREEN *terminal;
	sigset_t resize;

	setlocale(LC_CTYPE, "");
	if (tcgetattr(STDIN_FILENO, &before.modes))
		return NULL;
	/* ncurses reads the size before it handles SIGWINCH. One that comes between them
	 * would be ignored, and the table drawn for a size that is no longer true; one that
	 * is blocked waits for the handler. */
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, NULL);
	terminal = newterm(NULL, stdout, stdin);
	sigprocmask(SIG_UNBLOCK, &resize, NULL);
	if (!terminal) {
		cli_complain("top",
			     "unknown terminal: TERM is '%s'; use --once for a table",
			     type ? type : "");
		return NULL;
	}
	before.length = 0;
	before_add(tigetstr("rmkx"));
	before_add(tigetstr("sgr0"));
	before_add(tigetstr("cnorm"));
	if (tigetstr("rmcup"))
		before_add(tigetstr("rmcup"));
	else
		before_add("\r\n");
	catch_signals();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	return terminal;
}

/* --- drawing ---------------------------------------------------------------------- */

/* Writes the part of TEXT that fits into WIDTH columns. Returns how many it took. */
static int put(int y, int x, int width, const char *text)
{
	mbstate_t state = {0};
	int taken = 0;

	if (y < 0 || y >= LINES || x >= COLS)
		return 0;
	if (width > COLS - x)
		width = COLS - x;
	move(y, x);
	while (*text) {
		wchar_t c;
		size_t length = mbrtowc(&c, text, strlen(text), &state);
		bool is_text = length != (size_t)-1 && length != (size_t)-2;
		int columns = is_text ? wcwidth(c) : -1;

		if (!is_text) {
			memset(&state, 0, sizeof(state));
			length = 1;
		}
		if (taken + (columns < 0 ? 1 : columns) > width)
			break;
		if (columns >= 0) {
			addnstr(text, (int)length);
			taken += columns;
		} else {
			/* A control character, which ncurses might pass on, or not a
			 * character of this locale. */
			addch('?');
			taken++;
		}
		text += length;
	}
	return taken;
}

static void put_bold(int y, const char *text)
{
	attron(A_BOLD);
	put(y, 0, COLS, text);
	attroff(A_BOLD);
}

static int rows_visible(void)
{
	return LINES > HEAD_LINES + 1 ? LINES - HEAD_LINES - 1 : 0;
}

/* Returns the width of the name's column, at most half of the screen. */
static int name_columns(const struct screen *screen)
{
	int width = (int)screen->table.name_width, most = COLS / 2;

	return width < most ? width : most;
}

/* Draws the columns of ROW (NULL: their headings) that are on the screen. */
static void draw_columns(const struct screen *screen, int y, const struct top_row *row)
{
	const struct top_table *table = &screen->table;
	int x = name_columns(screen);

	for (uint32_t c = screen->first_column; c < table->column_count; c++) {
		const struct top_column *column = &table->columns[c];
		int end = x + 2 + (int)column->width;

		x = end + (int)column->marks;
		if (x > COLS)
			return;
		if (row) {
			const struct pm_cell *cell = &row->cells[c];

			put(y, end - (int)strlen(cell->text), COLS, cell->text);
			put(y, end, COLS, cell->marks);
			continue;
		}
		if (c == table->sorted)
			attron(A_BOLD | A_UNDERLINE);
		put(y, end - (int)pm_out_plain(NULL, column->heading, 0), COLS,
		    column->heading);
		attroff(A_BOLD | A_UNDERLINE);
	}
}

static void draw_row(const struct screen *screen, int y, const struct top_row *row)
{
	struct pm_out out = {0};
	char title[100];

	if (!row->node) {
		top_group_title(screen->table.look, row->group, title, sizeof(title));
		put_bold(y, title);
		return;
	}
	pm_cell_name(row->tree, row->node, &out);
	out.buffer[out.used] = '\0';
	put(y, 0, name_columns(screen), out.buffer);
	draw_columns(screen, y, row);
}

static void draw_state(const struct screen *screen)
{
	const struct top_options *options = screen->options;
	const struct top_table *table = &screen->table;
	char text[sizeof(screen->problem.text)], common[400];

	if (*screen->problem.text)
		snprintf(text, sizeof(text), "%s", screen->problem.text);
	else
		top_text_problem(screen->watch, text, sizeof(text));
	if (*text) {
		put_bold(1, text);
		return;
	}
	top_table_common(table, common, sizeof(common));
	snprintf(text, sizeof(text), "%s%s, %s by %s%s%s%s%s%s%s",
		 screen->paused ? "PAUSED, " : "",
		 options->flat ? "regions" : "call tree",
		 options->threads ? "of each thread," : "of all threads,",
		 table->sorted < table->column_count ? table->columns[table->sorted].name
						     : "name",
		 options->reverse ? ", the lowest first" : "",
		 *options->filter ? ", with '" : "", options->filter,
		 *options->filter ? "'" : "", *common ? "; " : "", common);
	put(1, 0, COLS, text);
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"q            leave",
		"p, space     hold the table, and go on",
		"< >          sort by the column before, by the next one",
		"r            the lowest first, and back",
		"/            show only regions with a text in their names",
		"t            each thread by itself, and all together again",
		"f            by region, and by path again",
		"arrows, Page up, Page down, Home, End",
		"             other rows and columns",
		"",
		"open         visits that have begun and not ended",
		"visits/s     visits that have ended",
		"time%        time in these visits per elapsed time: 100 for each",
		"             thread that is always there, so 200 for two. A visit's",
		"             time is known when it ends",
		"cpu%         the part of that on a CPU; only if the program counts",
		"             task-clock. CPU above is the whole process's, or thread's",
		"self%        time%, less that of regions below",
		"mean         time of a visit",
		"EVENT/s      by path: with regions below; by region: without",
		"",
		"?  visits were open at one of the two looks: the value may miss",
		"   a part of them, or include an earlier part",
		"~  estimated   <  part of it   -  not counted   n/a  never opened",
		"   perfmon-top(1) has the other marks",
	};

	put(0, 0, COLS, "perfmon top");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put((int)i + 2, 2, COLS, lines[i]);
}

static void draw_keys(const struct screen *screen)
{
	char text[200];

	if (screen->typing) {
		snprintf(text, sizeof(text), "filter: %s", screen->options->filter);
		put(LINES - 1, put(LINES - 1, 0, COLS, text), 1, "_");
		return;
	}
	put(LINES - 1, 0, COLS,
	    screen->help
		    ? "any key: back"
		    : "q leave  h help  p hold  < > r sort  / filter  t threads  f flat");
}

static void draw_table(const struct screen *screen)
{
	char text[700];
	int visible = rows_visible();

	top_text_head(screen->watch, text, sizeof(text));
	put(0, 0, COLS, text);
	draw_state(screen);
	attron(A_REVERSE);
	mvhline(2, 0, ' ', COLS);
	put(2, 0, COLS, "region");
	draw_columns(screen, 2, NULL);
	attroff(A_REVERSE);
	for (int i = 0; i < visible; i++) {
		uint32_t r = screen->first_row + (uint32_t)i;

		if (r < screen->table.row_count)
			draw_row(screen, HEAD_LINES + i, &screen->table.rows[r]);
	}
	if (!screen->table.row_count)
		put(HEAD_LINES, 0, COLS,
		    *screen->options->filter ? "no region matches the filter"
					     : "no region was entered");
}

static void draw(const struct screen *screen)
{
	erase();
	if (screen->help)
		draw_help();
	else
		draw_table(screen);
	draw_keys(screen);
	refresh();
}

/* --- keys ------------------------------------------------------------------------- */

/* Makes the table again with the present options. */
static void remake(struct screen *screen)
{
	struct pm_diag *problem = &screen->problem;

	/* The old table shows a look that may have been freed. */
	top_table_free(&screen->table);
	if ((screen->options->threads && top_watch_threads(screen->watch, problem)) ||
	    top_table_make(&screen->table, screen->watch->look, screen->options, problem))
		top_table_free(&screen->table);
}

/* Scrolls, but not beyond the table. */
static void scroll_to(struct screen *screen, int64_t row, int64_t column)
{
	int64_t last = (int64_t)screen->table.row_count - rows_visible();

	row = row > last ? last : row;
	column = column >= (int64_t)screen->table.column_count
			 ? (int64_t)screen->table.column_count - 1
			 : column;
	screen->first_row = row > 0 ? (uint32_t)row : 0;
	screen->first_column = column > 0 ? (uint32_t)column : 0;
}

/* Sorts by the column STEP further; the name is before the first column. */
static void sort_next(struct screen *screen, int step)
{
	const struct top_table *table = &screen->table;
	uint32_t count = table->column_count + 1, at = (table->sorted + 1) % count;

	at = (at + (uint32_t)((int)count + step)) % count;
	snprintf(screen->options->sort, sizeof(screen->options->sort), "%s",
		 at ? table->columns[at - 1].name : "name");
}

static void type_key(struct screen *screen, int key)
{
	char *filter = screen->options->filter;
	size_t length = strlen(filter);

	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		screen->typing = false;
	} else if (key == ESCAPE) {
		screen->typing = false;
		snprintf(filter, sizeof(screen->options->filter), "%s", screen->was);
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		/* All bytes of the last character. */
		while (length && (filter[--length] & 0xc0) == 0x80)
			;
		filter[length] = '\0';
	} else if (key >= ' ' && key < 256 && key != 127 &&
		   length + 1 < sizeof(screen->options->filter)) {
		filter[length] = (char)key;
		filter[length + 1] = '\0';
	}
}

/* Returns false to leave. */
static bool command_key(struct screen *screen, int key)
{
	struct top_options *options = screen->options;
	int64_t row = screen->first_row, column = screen->first_column;
	int page = rows_visible() > 1 ? rows_visible() - 1 : 1;

	switch (key) {
	case 'q':
		return false;
	case 'h':
	case '?':
		screen->help = true;
		break;
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		break;
	case '<':
	case '>':
		sort_next(screen, key == '<' ? -1 : 1);
		break;
	case 'r':
		options->reverse = !options->reverse;
		break;
	case 't':
		options->threads = !options->threads;
		break;
	case 'f':
		options->flat = !options->flat;
		break;
	case '/':
		screen->typing = true;
		memcpy(screen->was, options->filter, sizeof(screen->was));
		break;
	case KEY_UP:
		row--;
		break;
	case KEY_DOWN:
		row++;
		break;
	case KEY_PPAGE:
		row -= page;
		break;
	case KEY_NPAGE:
		row += page;
		break;
	case KEY_HOME:
		row = column = 0;
		break;
	case KEY_END:
		row = screen->table.row_count;
		break;
	case KEY_LEFT:
		column--;
		break;
	case KEY_RIGHT:
		column++;
		break;
	case 'L' & 31:
		clearok(stdscr, TRUE);
		break;
	}
	scroll_to(screen, row, column);
	return true;
}

/* Handles all keys that were pressed. Returns false to leave. */
static bool take_keys(struct screen *screen)
{
	int key;

	while ((key = getch()) != ERR) {
		if (key == KEY_RESIZE)
			continue;
		if (screen->help)
			screen->help = false;
		else if (screen->typing)
			type_key(screen, key);
		else if (!command_key(screen, key))
			return false;
		remake(screen);
	}
	scroll_to(screen, screen->first_row, screen->first_column);
	return true;
}

/* --- the loop --------------------------------------------------------------------- */

static void run(struct screen *screen)
{
	uint64_t delay_ns = (uint64_t)(screen->options->delay * 1e9);
	uint64_t count = screen->options->count;

	screen->next_ns = cli_now_ns() + delay_ns;
	screen->shown = 1;
	for (;;) {
		bool looks = screen->watch->alive && !screen->paused;
		enum top_wake wake;

		draw(screen);
		wake = top_wait(screen->watch, screen->stop_fd,
				looks ? screen->next_ns : 0);
		if (wake == TOP_STOP)
			stop(screen->stop_fd, &screen->stops);
		/* After any event: after a stop or a new size, ncurses does its work when
		 * a key is read. */
		if (!take_keys(screen))
			return;
		if (wake == TOP_TIME_IS_UP) {
			screen->next_ns += delay_ns;
			/* Skip the looks that were missed during a pause or stop. */
			if (screen->next_ns < cli_now_ns())
				screen->next_ns = cli_now_ns() + delay_ns;
			if (count && screen->shown >= count)
				return;
		}
		if (wake != TOP_TIME_IS_UP && wake != TOP_END)
			continue;
		pm_diag_clear(&screen->problem);
		top_watch_look(screen->watch, true, &screen->problem);
		remake(screen);
		screen->shown++;
	}
}

int top_screen_run(struct top_watch *watch, struct top_options *options)
{
	struct screen screen = {.watch = watch, .options = options};
	struct pm_diag diag = {0};
	SCREEN *terminal;
	int err;

	/* Report errors before the screen begins. */
	err = (options->threads ? top_watch_threads(watch, &diag) : 0)
		      ?: top_watch_look(watch, false, &diag)
		      ?: top_table_make(&screen.table, watch->look, options, &diag);
	if (err) {
		cli_complain("top", "%s", diag.text);
		top_table_free(&screen.table);
		return err == -EINVAL && watch->look ? CLI_USAGE : CLI_FAILED;
	}
	top_notes_print(watch);
	sigemptyset(&screen.stops);
	sigaddset(&screen.stops, SIGTSTP);
	sigprocmask(SIG_BLOCK, &screen.stops, NULL);
	screen.stop_fd = signalfd(-1, &screen.stops, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen.stop_fd < 0)
		cli_complain("top", "signalfd: %s", strerror(errno));
	terminal = screen.stop_fd < 0 ? NULL : screen_begin();
	if (terminal) {
		run(&screen);
		endwin();
		delscreen(terminal);
	}
	if (screen.stop_fd >= 0)
		close(screen.stop_fd);
	top_table_free(&screen.table);
	return terminal ? 0 : CLI_FAILED;
}
