/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/grow.h"

static int compare(const void *a, const void *b)
{
	const struct cli_text *left = a, *right = b;

	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	return strcmp(left->text, right->text);
}

struct cli_text *cli_texts_add(struct cli_texts *texts, uint32_t above, const char *text)
{
	const struct cli_text key = {.above = above, .text = (char *)(uintptr_t)text};
	struct cli_text **found = tfind(&key, &texts->root, compare);
	struct cli_text *entry;

	if (found)
		return *found;
	entry = PM_GROW(texts->entries, texts->count) ? malloc(sizeof(*entry)) : NULL;
	if (!entry)
		return NULL;
	*entry = (struct cli_text){
		.number = texts->count, .above = above, .text = strdup(text)};
	if (!entry->text || !tsearch(entry, &texts->root, compare)) {
		free(entry->text);
		free(entry);
		return NULL;
	}
	texts->entries[texts->count++] = entry;
	return entry;
}

void cli_texts_free(struct cli_texts *texts)
{
	for (uint32_t i = 0; i < texts->count; i++) {
		tdelete(texts->entries[i], &texts->root, compare);
		free(texts->entries[i]->text);
		free(texts->entries[i]);
	}
	free(texts->entries);
}
