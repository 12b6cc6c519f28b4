/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person at a terminal gets besides the text: pages, colours, lines that fit. All
 * of it is off where standard output is no terminal, so that programs and files get plain
 * text whose lines are whole.
 */
#ifndef PM_CLI_COMMON_TERMINAL_H
#define PM_CLI_COMMON_TERMINAL_H

#include <stdbool.h>

/*
 * Looks at standard output once, before a pager takes its place. Colours need a terminal,
 * TERM that is neither unset nor "dumb", and NO_COLOR unset or empty.
 */
bool cli_is_terminal(void);

/* From now on these look at FD, for what is written elsewhere than to standard output. */
void cli_terminal_use(int fd);
bool cli_has_colours(void);

/* Its columns (COLUMNS, or what the terminal says, or 80); 0: no terminal, no limit. */
unsigned int cli_columns(void);

enum cli_style {
	CLI_PLAIN,  /* ends any of the others */
	CLI_STRONG, /* a heading */
	CLI_FAINT,  /* what helps but is not asked for */
	CLI_GOOD,
	CLI_BAD,
};

/* The text that turns STYLE on; "" without colours. */
const char *cli_style(enum cli_style style);

/* Prints TEXT in STYLE from COLUMN (where the cursor is) on, broken between words so that
 * it fits; further lines begin at that column, too. Ends with a newline. */
void cli_print_wrapped(unsigned int column, enum cli_style style, const char *text);

/*
 * On a terminal, what is printed from now on goes through $PAGER, by default `less -FRX`,
 * which ends by itself if the text fits the screen. An empty PAGER or `cat` is none;
 * where the pager cannot be run the text comes without it. cli_finish() waits until the
 * reader has left it. A pager that is left early is no error.
 */
void cli_pager_begin(void);

/* For cli_finish(): true if there was a pager, which now has ended. */
bool cli_pager_end(void);

#endif
