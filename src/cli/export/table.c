/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names as formats write them, and the notes of all profiles. */
#include <errno.h>

#include "cli/export/export.h"
#include "core/report/output/escape.h"
#include "core/text/bytes.h"

static int text_print(void *argument, const char *text, size_t size)
{
	struct pm_bytes *bytes = argument;

	pm_bytes_add(bytes, text, size);
	return bytes->failed ? -ENOMEM : 0;
}

struct cli_text *export_add_plain(struct cli_texts *table, uint32_t above,
				  const char *name)
{
	struct pm_bytes text = {.used = 0};
	struct pm_out out = {.sink = text_print, .argument = &text};
	struct cli_text *entry = NULL;

	export_plain(&out, name);
	pm_out_bytes(&out, "", 1);
	if (!pm_out_end(&out))
		entry = cli_texts_add(table, above, (const char *)text.data);
	pm_bytes_free(&text);
	return entry;
}

static int add_all(struct cli_texts *notes, char *const *texts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!cli_texts_add(notes, 0, texts[i]))
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
