/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text as events need it: ASCII only, whatever locale the program has set (a Turkish
 * tolower('I') must not hide an event, nor a decimal comma change a scale).
 */
#ifndef PM_TEXT_TEXT_H
#define PM_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a longer text; not NUL-terminated. */
struct pm_slice {
	const char *at;
	size_t length;
};

struct pm_slice pm_slice_of(const char *text);
struct pm_slice pm_slice_trim(struct pm_slice slice);
/* The part before the first SEPARATOR (all of it if there is none); *REST, if not NULL,
 * gets what follows the separator, with at == NULL if there was none. */
struct pm_slice pm_slice_cut(struct pm_slice slice, char separator,
			     struct pm_slice *rest);
/* Equal without regard to case. */
bool pm_slice_is(struct pm_slice slice, const char *text);
bool pm_slice_starts(struct pm_slice slice, const char *prefix);
/* A malloc'ed copy, or NULL. */
char *pm_slice_copy(struct pm_slice slice);

char pm_char_lower(char c);
bool pm_char_is_blank(char c);
bool pm_char_is_digit(char c);
bool pm_char_is_hex(char c);

/* An unsigned number, decimal or 0x hexadecimal: 0, -EINVAL (not a number) or -ERANGE
 * (beyond 64 bits). Nothing but the number may be in SLICE. */
int pm_slice_number(struct pm_slice slice, uint64_t *value);
int pm_slice_hex(struct pm_slice slice, uint64_t *value);

/* strtod() as in the C locale; -EINVAL unless all of TEXT is one finite number. */
int pm_text_double(const char *text, double *value);

/* A copy of SLICE fit for a message: at most 60 characters, no control characters. */
struct pm_quote {
	char text[72];
};
struct pm_quote pm_slice_quote(struct pm_slice slice);

/*
 * A name like the one given: the best candidate offered so far. Start from
 * { .wanted = slice }; `best` is "" while nothing is near enough.
 */
struct pm_suggestion {
	struct pm_slice wanted;
	unsigned int distance;
	char best[128];
};
/* CANDIDATE is what is compared, SPELLING (NULL: the same) what would be suggested. */
void pm_suggestion_offer(struct pm_suggestion *suggestion, const char *candidate,
			 const char *spelling);

#endif
