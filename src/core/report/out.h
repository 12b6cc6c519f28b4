/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text on its way to a report's sink, and numbers as text, whatever the locale is. */
#ifndef PM_REPORT_OUT_H
#define PM_REPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_out {
	int (*sink)(void *argument, const char *text, size_t size);
	void *argument;
	int error;		    /* the sink's first; nothing is written after it */
	unsigned int columns;	    /* of the terminal it goes to; 0: it goes to none */
	unsigned int table_columns; /* ... where tables of text are split then; 0: 110 */
	/* A passage that is broken between words: see pm_out_fold(). */
	struct {
		size_t limit, indent; /* LIMIT 0: nothing is broken */
		size_t at, blanks;    /* columns so far, and blanks before the word */
		size_t width, used;   /* of the word */
		char word[256];
	} fold;
	size_t used;
	char buffer[8192];
};

void pm_out_bytes(struct pm_out *out, const char *text, size_t size);
void pm_out_text(struct pm_out *out, const char *text);
void pm_out_repeat(struct pm_out *out, char c, size_t count);

/*
 * pm_out_fold() - from the start of a line on, breaks lines between words so that they have
 * at most LIMIT columns; further lines begin at INDENT. 0 breaks nothing. A word that is
 * too long for any line stays whole. pm_out_fold_end() ends it, at the end of a line.
 */
void pm_out_fold(struct pm_out *out, size_t limit, size_t indent);
void pm_out_fold_end(struct pm_out *out);

/* No floating-point conversions: they depend on the locale. */
__attribute__((format(printf, 2, 3))) void pm_out_format(struct pm_out *out,
							 const char *format, ...);
/* Shortest text that reads back as VALUE; "null" if it is not finite. */
void pm_out_double(struct pm_out *out, double value);
/*
 * What is not ours, such as a name or a unit, goes through one of these three, by format.
 * Nothing in it reaches a terminal as a control character, a mark of direction or a byte
 * that is no UTF-8. The suite "format" fails on a name that goes another way.
 */
/* A JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
void pm_out_json(struct pm_out *out, const char *text);
/* A field of RFC 4180, quoted if it must be; control characters as \xNN, bytes that are
 * no UTF-8 as U+FFFD. Before one of = + - @ ' at its start stands another ', so that no
 * spreadsheet takes it for a formula. */
void pm_out_csv(struct pm_out *out, const char *text);
/* Plain text: control characters and bytes that are no UTF-8 as \xNN. Wider than WIDTH
 * (0: any width) it is cut in its middle, with "...". Returns the columns it took; OUT
 * may be NULL, to measure only. */
size_t pm_out_plain(struct pm_out *out, const char *text, size_t width);
/* The same of a region's name, in quotes if it is empty or begins or ends with a blank, or
 * if it has to be told from another thing (QUOTE). */
size_t pm_out_name(struct pm_out *out, const char *name, size_t width, bool quote);
int pm_out_end(struct pm_out *out); /* flushes; 0 or the sink's error */

/* Cells, which are plain text. BUFFER of PM_CELL bytes; four significant digits and a
 * unit's prefix. */
#define PM_CELL 40
void pm_cell_fixed(char *buffer, double value, int decimals);
void pm_cell_time(char *buffer, double ns);
void pm_cell_count(char *buffer, double count);	  /* exact below 100,000 */
char *pm_cell_number(char *buffer, double value); /* small and negative ones, too */
void pm_cell_unit(char *buffer, double value, const char *unit);
/* Whether a number in UNIT may get a prefix: not in one that has a prefix (GB/s, ms), nor in
 * a ratio of other things than a second's (flop/B). */
bool pm_unit_takes_prefix(const char *unit);

/* The character at TEXT and its length in bytes; -1 (length 1) if it is no UTF-8. */
int32_t pm_utf8_next(const char *text, size_t *length);

#endif
