/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes reports as text, and finds parts of them. */
#ifndef PM_TESTS_REPORT_TEXT_H
#define PM_TESTS_REPORT_TEXT_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/report.h"
#include "core/text/diag.h"
#include "profile_builder.h"

struct report_kept {
	char *text;
	size_t size;
};

static inline int report_keep(void *argument, const char *text, size_t size)
{
	struct report_kept *to = argument;

	to->text = realloc(to->text, to->size + size + 1);
	memcpy(to->text + to->size, text, size);
	to->size += size;
	to->text[to->size] = '\0';
	return 0;
}

/* Returns the report of SNAPSHOT; free it. */
static inline char *report_text(const struct pm_snapshot *snapshot,
				const struct pm_report_options *options)
{
	struct report_kept kept = {NULL, 0};

	cr_assert_eq(pm_report_write(snapshot, options, report_keep, &kept), 0);
	return kept.text;
}

/* Returns the report of the complete profile in B; free it. */
static inline char *report_built(struct profile_builder *b,
				 const struct pm_report_options *options)
{
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	char *text;

	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &s, &diag), 0, "%s",
		     diag.text);
	cr_assert(!s->partial, "%s", s->problem);
	text = report_text(s, options);
	pm_snapshot_free(s);
	return text;
}

static inline void has(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

static inline void has_not(const char *text, const char *part)
{
	cr_assert(!strstr(text, part), "'%s' is in:\n%s", part, text);
}

#endif
