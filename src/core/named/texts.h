/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that grow by parts. Each ends with a null character, and is NULL while it is empty. */
#ifndef PM_NAMED_TEXTS_H
#define PM_NAMED_TEXTS_H

#include "core/named/named.h"
#include "core/text/bytes.h"

static inline void pm_named_put(struct pm_bytes *to, const char *from, size_t length)
{
	pm_bytes_add(to, from, length);
	pm_bytes_add(to, "", 1);
	to->used -= !to->failed;
}

static inline void pm_named_put_text(struct pm_bytes *to, const char *from)
{
	pm_named_put(to, from, strlen(from));
}

/* Adds ITEM and a comma before it, unless *TO has it. */
static inline void pm_named_put_item(struct pm_bytes *to, const char *item)
{
	if (pm_named_has_event((const char *)to->data, item))
		return;
	if (to->used)
		pm_named_put_text(to, ",");
	pm_named_put_text(to, item);
}

#endif
