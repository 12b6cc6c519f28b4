/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts below numbers, each once: a format that numbers its names or its paths writes each of
 * them at its first use. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "core/report/output/escape.h"
#include "core/text/bytes.h"
#include "core/text/grow.h"

static int compare(const void *a, const void *b)
{
	const struct export_entry *left = a, *right = b;

	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	return strcmp(left->text, right->text);
}

struct export_entry *export_table_add(struct export_table *table, uint32_t above,
				      const char *text)
{
	const struct export_entry key = {.above = above, .text = (char *)(uintptr_t)text};
	struct export_entry **found = tfind(&key, &table->root, compare);
	struct export_entry *entry;

	if (found)
		return *found;
	entry = PM_GROW(table->entries, table->count) ? malloc(sizeof(*entry)) : NULL;
	if (!entry)
		return NULL;
	*entry = (struct export_entry){
		.number = table->count, .above = above, .text = strdup(text)};
	if (!entry->text || !tsearch(entry, &table->root, compare)) {
		free(entry->text);
		free(entry);
		return NULL;
	}
	table->entries[table->count++] = entry;
	return entry;
}

static int text_print(void *argument, const char *text, size_t size)
{
	struct pm_bytes *bytes = argument;

	pm_bytes_add(bytes, text, size);
	return bytes->failed ? -ENOMEM : 0;
}

struct export_entry *export_table_add_plain(struct export_table *table, uint32_t above,
					    const char *name)
{
	struct pm_bytes text = {.used = 0};
	struct pm_out out = {.sink = text_print, .argument = &text};
	struct export_entry *entry = NULL;

	export_plain(&out, name);
	pm_out_bytes(&out, "", 1);
	if (!pm_out_end(&out))
		entry = export_table_add(table, above, (const char *)text.data);
	pm_bytes_free(&text);
	return entry;
}

void export_table_free(struct export_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		tdelete(table->entries[i], &table->root, compare);
		free(table->entries[i]->text);
		free(table->entries[i]);
	}
	free(table->entries);
}

static int add_all(struct export_table *notes, char *const *texts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!export_table_add(notes, 0, texts[i]))
			return -ENOMEM;
	return 0;
}

int export_notes_add(struct export_job *job, const struct export_profile *profile)
{
	const struct pm_snapshot *s = profile->snapshot;

	return add_all(&job->notes, s->notes, s->note_count)
		       ?: add_all(&job->notes, profile->model->notes,
				  profile->model->note_count);
}

void export_plain(struct pm_out *out, const char *name)
{
	if (!*name)
		pm_out_text(out, "(no name)");
	pm_out_plain(out, name, 0);
}
