/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/run_note.h"

#include <string.h>

bool pm_run_note_next(struct pm_slice *rest, struct pm_slice *item, struct pm_slice *key,
		      struct pm_slice *value)
{
	while (rest->at) {
		size_t length = 0;

		while (length < rest->length && rest->at[length] != ';' &&
		       rest->at[length] != '\n')
			length++;
		*item = pm_slice_trim((struct pm_slice){rest->at, length});
		if (length == rest->length)
			*rest = (struct pm_slice){NULL, 0};
		else
			*rest = (struct pm_slice){rest->at + length + 1,
						  rest->length - length - 1};
		if (!item->length)
			continue;
		*key = pm_slice_trim(pm_slice_cut(*item, '=', value));
		*value = value->at ? pm_slice_trim(*value) : (struct pm_slice){NULL, 0};
		return true;
	}
	return false;
}

static bool is_key(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pm_char_is_digit(c) ||
	       c == '_' || c == '-' || c == '.';
}

bool pm_run_note_is_good(struct pm_slice key, struct pm_slice value)
{
	bool good = key.length > 0 && key.length <= PM_RUN_NOTE_KEY && value.length > 0 &&
		    value.length <= PM_RUN_NOTE_VALUE;

	for (size_t i = 0; good && i < key.length; i++)
		good = is_key(key.at[i]);
	for (size_t i = 0; good && i < value.length; i++)
		good = (unsigned char)value.at[i] >= ' ' && value.at[i] != 0x7f;
	return good;
}

const struct pm_run_note *pm_run_note_find(const struct pm_run_notes *notes,
					   struct pm_slice key)
{
	for (uint32_t i = 0; notes && i < notes->count; i++)
		if (strlen(notes->at[i].key) == key.length &&
		    !memcmp(notes->at[i].key, key.at, key.length))
			return &notes->at[i];
	return NULL;
}

struct pm_run_note *pm_run_note_set(struct pm_run_notes *notes, struct pm_slice key,
				    struct pm_slice value)
{
	const struct pm_run_note *found = pm_run_note_find(notes, key);
	struct pm_run_note *note;

	if (!pm_run_note_is_good(key, value) || (!found && notes->count == PM_RUN_NOTES))
		return NULL;
	note = &notes->at[found ? found - notes->at : notes->count++];
	memset(note, 0, sizeof(*note));
	memcpy(note->key, key.at, key.length);
	memcpy(note->value, value.at, value.length);
	return note;
}

void pm_run_notes_join(struct pm_run_notes *notes, const struct pm_run_notes *other)
{
	for (uint32_t i = 0; i < notes->count; i++) {
		const struct pm_run_note *same =
			pm_run_note_find(other, pm_slice_of(notes->at[i].key));

		notes->at[i].differs |= !same || same->differs ||
					strcmp(same->value, notes->at[i].value) != 0;
	}
	for (uint32_t i = 0; other && i < other->count; i++) {
		struct pm_slice key = pm_slice_of(other->at[i].key);
		struct pm_run_note *added;

		if (pm_run_note_find(notes, key))
			continue;
		added = pm_run_note_set(notes, key, pm_slice_of(other->at[i].value));
		if (added)
			added->differs = true;
	}
}
