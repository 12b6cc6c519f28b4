/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "core/valgrind/exact.h"

#include <string.h>

/* Room for the events of a newer tool. */
#define ROOM 64

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>

_Static_assert((unsigned int)VG_USERREQ_TOOL_BASE('P', 'M') == PM_EXACT_REQUEST_FIND,
	       "the requests are the tool's");
#else
#define RUNNING_ON_VALGRIND		     0
#define VALGRIND_DO_CLIENT_REQUEST_EXPR(...) 0
#endif

/* Returns 0 where Valgrind does not run. Its header has no code for some CPUs. */
static uintptr_t ask(unsigned int request, uintptr_t argument)
{
	(void)request;
	(void)argument;
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, request, argument, 0, 0, 0, 0);
}

bool pm_is_translated(void)
{
	return RUNNING_ON_VALGRIND;
}

const struct pm_exact *pm_exact(void)
{
	static const struct pm_exact *found, none;
	const struct pm_exact *now = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!now) {
		now = (const struct pm_exact *)ask(PM_EXACT_REQUEST_FIND, 0);
		if (!now || now->version != PM_EXACT_VERSION || now->events > ROOM)
			now = &none;
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

bool pm_exact_totals(uint64_t totals[PM_EXACT_EVENT_COUNT])
{
	uint64_t all[ROOM] = {0};

	if (!pm_exact() || ask(PM_EXACT_REQUEST_TOTALS, (uintptr_t)all) != 1)
		return false;
	memcpy(totals, all, PM_EXACT_EVENT_COUNT * sizeof(totals[0]));
	return true;
}
