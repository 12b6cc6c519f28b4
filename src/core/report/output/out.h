/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream of text to a report's sink. Nothing here depends on the locale. */
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
	unsigned int table_columns; /* ... where tables of text are split then; 0: 80 */
	/* A passage that is broken between words: see pm_out_fold(). */
	struct {
		size_t limit, indent; /* LIMIT 0: nothing is broken */
		size_t at, blanks;    /* columns so far, and blanks before the word */
		const char *on, *off; /* around each line, such as a colour */
		size_t width, used;   /* of the word */
		char word[256];
	} fold;
	size_t used;
	char buffer[8192];
};

void pm_out_bytes(struct pm_out *out, const char *text, size_t size);
void pm_out_text(struct pm_out *out, const char *text);
void pm_out_repeat(struct pm_out *out, char c, size_t count);
void pm_out_plural(struct pm_out *out, uint64_t n, const char *noun); /* "2 CPUs" */

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
int pm_out_end(struct pm_out *out); /* flushes; 0 or the sink's error */

#endif
