/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts below numbers, each once: a format that numbers its names or its paths writes each of
 * them at its first use. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/export/export.h"
#include "core/text/grow.h"

static int compare(const void *a, const void *b)
{
	const struct export_entry *left = a, *right = b;

	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	return strcmp(left->text, right->text);
}

static struct export_entry *entry_make(uint32_t above, const char *text)
{
	struct export_entry *entry = calloc(1, sizeof(*entry));

	if (entry)
		entry->text = strdup(text);
	if (!entry || !entry->text) {
		free(entry);
		return NULL;
	}
	entry->above = above;
	return entry;
}

struct export_entry *export_table_add(struct export_table *table, uint32_t above,
				      const char *text)
{
	const struct export_entry key = {.above = above, .text = (char *)(uintptr_t)text};
	struct export_entry **found = tfind(&key, &table->root, compare);
	struct export_entry *entry;

	if (found)
		return *found;
	entry = PM_GROW(table->entries, table->count) ? entry_make(above, text) : NULL;
	if (entry && !tsearch(entry, &table->root, compare)) {
		free(entry->text);
		free(entry);
		entry = NULL;
	}
	if (!entry)
		return NULL;
	entry->number = table->count;
	table->entries[table->count++] = entry;
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

void export_mark_words(uint32_t marks, struct pm_diag *words)
{
	for (uint32_t mark = 1; mark && mark <= marks; mark <<= 1)
		if (marks & mark & EXPORT_MARKS)
			pm_diag_add(words, "%s%s", *words->text ? ", " : "",
				    pm_report_mark_name(mark));
}

void export_plain(struct pm_out *out, const char *name)
{
	if (!*name)
		pm_out_text(out, "(no name)");
	while (*name)
		name += cli_plain_part(out, name, strlen(name));
}

struct text {
	char *at;
	size_t used;
};

static int text_print(void *argument, const char *text, size_t size)
{
	struct text *to = argument;
	char *larger = realloc(to->at, to->used + size + 1);

	if (!larger)
		return -1;
	to->at = larger;
	memcpy(to->at + to->used, text, size);
	to->used += size;
	to->at[to->used] = '\0';
	return 0;
}

char *export_plain_text(const char *name)
{
	struct text text = {.at = NULL};
	struct pm_out out = {.sink = text_print, .argument = &text};

	export_plain(&out, name);
	if (pm_out_end(&out)) {
		free(text.at);
		return NULL;
	}
	return text.at;
}
