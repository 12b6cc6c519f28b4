/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes of a run: what a program or its user says of it, a key and a value each ("n=128"). Reports
 * show them, and compare runs by them. Other notes are sentences about what could not be counted.
 */
#ifndef PM_SETTINGS_RUN_NOTE_H
#define PM_SETTINGS_RUN_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/text.h"

/* Bytes of a key and of a value, without their NUL, and how many notes a run has at most. */
#define PM_RUN_NOTE_KEY	  63
#define PM_RUN_NOTE_VALUE 255
#define PM_RUN_NOTES	  32

struct pm_run_note {
	char key[PM_RUN_NOTE_KEY + 1];
	char value[PM_RUN_NOTE_VALUE + 1];
	bool fixed;   /* the program does not change it */
	bool differs; /* of several runs: they have different values, or not all have one */
};

struct pm_run_notes {
	uint32_t count;
	struct pm_run_note at[PM_RUN_NOTES];
};

#define PM_RUN_NOTE_RULE                                                                 \
	"expects KEY=VALUE, a key of 1 to 63 letters, digits, '_', '-' and '.', and a "  \
	"value of 1 to 255 bytes without control characters"

/* Takes the next note of REST, "KEY=VALUE" with ";" or lines between: the text in ITEM, and its
 * parts. False: there is none. The parts are not checked. */
bool pm_run_note_next(struct pm_slice *rest, struct pm_slice *item, struct pm_slice *key,
		      struct pm_slice *value);

/* Returns whether a note can have this KEY and this VALUE. */
bool pm_run_note_is_good(struct pm_slice key, struct pm_slice value);

/* Returns the note of KEY, or NULL. NOTES may be NULL. */
const struct pm_run_note *pm_run_note_find(const struct pm_run_notes *notes,
					   struct pm_slice key);

/* Adds or changes a note. Returns it, or NULL if it is not good or there are too many. */
struct pm_run_note *pm_run_note_set(struct pm_run_notes *notes, struct pm_slice key,
				    struct pm_slice value);

/* Keeps in NOTES what another run's OTHER (may be NULL) has, too. */
void pm_run_notes_join(struct pm_run_notes *notes, const struct pm_run_notes *other);

#endif
