/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The diagnostic sentence of an error: the request, the cause, and a remedy. It is
 * written only on failure paths. Writing it never allocates. And lists of sentences.
 */
#ifndef PM_TEXT_DIAG_H
#define PM_TEXT_DIAG_H

#include <stdint.h>

struct pm_diag {
	int error;	 /* negative errno of the last failure, 0 if there was none */
	char text[1000]; /* one sentence, no newline; empty if there was no failure */
};

/*
 * pm_diag_set() - records ERROR (a negative errno) with a sentence and returns ERROR,
 * so that a failing function can end with `return pm_diag_set(diag, -EINVAL, ...)`.
 * DIAG may be NULL. A text too long for the buffer ends in "...".
 */
__attribute__((format(printf, 3, 4))) int pm_diag_set(struct pm_diag *diag, int error,
						      const char *format, ...);

/* Adds to the end of the sentence in DIAG (NULL is accepted). */
__attribute__((format(printf, 2, 3))) void pm_diag_add(struct pm_diag *diag,
						       const char *format, ...);

/* Adds a sentence to the notes of OF, which owns the texts. Returns 0 or -ENOMEM. */
#define PM_NOTE(of, ...) pm_note_add(&(of)->notes, &(of)->note_count, __VA_ARGS__)
__attribute__((format(printf, 3, 4))) int pm_note_add(char ***notes, uint32_t *count,
						      const char *format, ...);

static inline void pm_diag_clear(struct pm_diag *diag)
{
	if (!diag)
		return;
	diag->error = 0;
	diag->text[0] = '\0';
}

#endif
