/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "core/valgrind/exact.h"

#include <stddef.h>
#include <string.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>

/* Room for the events of a newer tool. */
#define ROOM 64

_Static_assert((unsigned int)VG_USERREQ_TOOL_BASE('P', 'M') == PM_EXACT_REQUEST_FIND,
	       "the requests are the tool's");

static uintptr_t ask(unsigned int request, uintptr_t argument)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, request, argument, 0, 0, 0, 0);
}

static bool translated(void)
{
	return RUNNING_ON_VALGRIND;
}

static const struct pm_exact *find(void)
{
	const struct pm_exact *exact =
		translated() ? (const struct pm_exact *)ask(PM_EXACT_REQUEST_FIND, 0)
			     : NULL;

	return exact && exact->version == PM_EXACT_VERSION && exact->events <= ROOM
		       ? exact
		       : NULL;
}

bool pm_exact_totals(uint64_t totals[PM_EXACT_EVENT_COUNT])
{
	uint64_t all[ROOM] = {0};

	if (!pm_exact() || ask(PM_EXACT_REQUEST_TOTALS, (uintptr_t)all) != 1)
		return false;
	memcpy(totals, all, PM_EXACT_EVENT_COUNT * sizeof(totals[0]));
	return true;
}

#else

static bool translated(void)
{
	return false;
}

static const struct pm_exact *find(void)
{
	return NULL;
}

bool pm_exact_totals(uint64_t totals[PM_EXACT_EVENT_COUNT])
{
	(void)totals;
	return false;
}

#endif

bool pm_is_translated(void)
{
	static int known; /* 1: no, 2: yes; any thread may set it */
	int now = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!now) {
		now = translated() ? 2 : 1;
		__atomic_store_n(&known, now, __ATOMIC_RELAXED);
	}
	return now == 2;
}

const struct pm_exact *pm_exact(void)
{
	static const struct pm_exact *found, none;
	const struct pm_exact *now = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!now) {
		now = find();
		now = now ? now : &none;
		__atomic_store_n(&found, now, __ATOMIC_RELAXED);
	}
	return now == &none ? NULL : now;
}

bool pm_exact_counts(uint32_t event)
{
	const struct pm_exact *exact = pm_exact();

	return exact && event < PM_EXACT_EVENT_COUNT && event < exact->events &&
	       exact->counted >> event & 1;
}
