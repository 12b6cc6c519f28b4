/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text of events: ASCII only, independent of the program's locale. A Turkish tolower('I')
 * must not hide an event, and a decimal comma must not change a scale.
 */
#ifndef PM_TEXT_TEXT_H
#define PM_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a longer text, not NUL-terminated. */
struct pm_slice {
	const char *at;
	size_t length;
};

struct pm_slice pm_slice_of(const char *text);
struct pm_slice pm_slice_trim(struct pm_slice slice);
/* Returns the part before the first SEPARATOR, or all of SLICE if there is none. *REST,
 * if not NULL, gets the part behind the separator, with at == NULL if there was none. */
struct pm_slice pm_slice_cut(struct pm_slice slice, char separator,
			     struct pm_slice *rest);
/* Compares without regard to case. */
bool pm_slice_is(struct pm_slice slice, const char *text);
bool pm_slice_starts(struct pm_slice slice, const char *prefix);
/* Returns whether PATTERN, in which * is any text and ? one byte, matches all of TEXT. */
bool pm_slice_glob(struct pm_slice pattern, const char *text);
/* Returns a malloc'ed copy, or NULL. */
char *pm_slice_copy(struct pm_slice slice);
/* Adds MORE to *TEXT, which is NULL or malloc'ed, with BETWEEN between. Returns 0, or -ENOMEM: then
 * *TEXT is as it was. */
int pm_text_add(char **text, const char *between, const char *more);

/* Returns how many of the first MOST bytes of TEXT are whole characters of UTF-8: the precision for
 * a "%.*s". */
int pm_text_cut(const char *text, size_t most);

char pm_char_lower(char c);
bool pm_char_is_blank(char c);
bool pm_char_is_digit(char c);
bool pm_char_is_hex(char c);

/* Parses an unsigned number, decimal or hexadecimal with 0x. SLICE may contain nothing
 * else. Returns 0, -EINVAL (not a number) or -ERANGE (beyond 64 bits). */
int pm_slice_number(struct pm_slice slice, uint64_t *value);
int pm_slice_hex(struct pm_slice slice, uint64_t *value);

/* Converts as strtod() does in the C locale. -EINVAL unless all of TEXT is one finite
 * number. */
int pm_text_double(const char *text, double *value);

/* A copy of SLICE for a message: at most 60 characters, no control characters. */
struct pm_quote {
	char text[72];
};
struct pm_quote pm_slice_quote(struct pm_slice slice);

/*
 * Finds the known name that is most like the given one. Start from { .wanted = slice }.
 * `best` is the nearest candidate so far, or "".
 */
struct pm_suggestion {
	struct pm_slice wanted;
	unsigned int distance;
	char best[128];
};
/* Compares CANDIDATE. SPELLING is the name to suggest; NULL means CANDIDATE. */
void pm_suggestion_offer(struct pm_suggestion *suggestion, const char *candidate,
			 const char *spelling);

#endif
