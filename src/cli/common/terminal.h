/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal: pager, colours, and lines that fit. All of it is off if standard output
 * is not a terminal, so that programs and files get plain text with complete lines. */
#ifndef PM_CLI_COMMON_TERMINAL_H
#define PM_CLI_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/report/output/row.h"

/* Checks standard output once, before a pager replaces it. Colours also need TERM to be
 * set and not "dumb", and NO_COLOR to be unset or empty. */
bool cli_is_terminal(void);

/* Makes the functions below use FD instead of standard output. */
void cli_terminal_use(int fd);

/* Returns the number of columns (COLUMNS, the terminal's, or 80), or 0 without a
 * terminal. */
unsigned int cli_columns(void);

enum cli_style {
	CLI_PLAIN,  /* ends any other style */
	CLI_STRONG, /* a heading */
	CLI_FAINT,  /* additional help */
	CLI_GOOD,
	CLI_BAD,
};

/* Returns the text that turns STYLE on, or "" without colours. */
const char *cli_style(enum cli_style style);
/* Sets the style of ROW's next texts. */
void cli_style_row(struct pm_row *row, enum cli_style style);

/* Prints TEXT in STYLE from COLUMN (the cursor's) on, broken between words so that it
 * fits; further lines begin at the same column. Ends with a newline. */
void cli_print_wrapped(unsigned int column, enum cli_style style, const char *text);

/* Shows that DONE of ALL are done, by a bar on standard error if that is a terminal; NOUN names
 * them. Draws at most ten times a second, and not before a quarter of a second has passed. */
void cli_progress(size_t done, size_t all, const char *noun);

/* Removes the bar, before anything else is written. */
void cli_progress_end(void);

/*
 * On a terminal, sends all further output through $PAGER, by default `less -FRX`, which
 * ends by itself if the text fits the screen. An empty PAGER and `cat` mean no pager. If
 * the pager cannot be run, the text is printed without it. cli_finish() waits for the
 * pager. A pager that is left early is not an error.
 */
void cli_pager_begin(void);

/* For cli_finish(): waits for the pager. Returns false if there was none. */
bool cli_pager_end(void);

#endif
