/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of pfm.c where the library is built without libpfm4. */
#include "core/events/internal.h"

#include <errno.h>
#include <string.h>

int pm_pfm_load(void)
{
	return -ELIBACC;
}

const char *pm_pfm_refused(void)
{
	return "libperfmon was built without libpfm4";
}

static int resolve(struct pm_resolve *r)
{
	/* No other source has such a name. */
	if (memmem(r->item.at, r->item.length, "::", 2))
		return pm_diag_set(r->diag, -ENOENT, "event '%s'%s is libpfm4's: %s",
				   PM_ITEM(r, r->item), pm_pfm_refused());
	return PM_RESOLVE_NOT_MINE;
}

static int list(const struct pm_listing *listing)
{
	(void)listing;
	return 0;
}

const struct pm_event_source pm_source_pfm = {.resolve = resolve, .list = list};
