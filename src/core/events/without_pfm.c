/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of pfm.c where the library is built without libpfm4. */
#include "core/events/internal.h"

const char *pm_pfm_prepare(void)
{
	return "libperfmon was built without libpfm4";
}

static int resolve(struct pm_resolve *r)
{
	(void)r;
	return PM_RESOLVE_NOT_MINE;
}

const struct pm_event_source pm_source_pfm = {.resolve = resolve};
