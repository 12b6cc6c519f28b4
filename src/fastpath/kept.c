/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN and END as the asm statements of the macros call them: arch/keep.h says which registers
 * stay as they are. The compiler keeps them by its options (configure.ac), and the suite `pair`
 * reads the machine code.
 */
#include "arch/keep.h"
#include "fastpath/region.h"

#if PERFMON_ARCH_KEEPS

#if defined(__x86_64__)
#define ENTRY(function)                                                                  \
	__attribute__((visibility("hidden"))) void entry_##function(                     \
		struct perfmon_region *region);                                          \
	PERFMON_ARCH_ENTRY(entry_##function, function);
#define ENTERED(function) entry_##function
#else
#define ENTRY(function)
#define ENTERED(function) function
#endif

#if defined(PM_KEEP) && !defined(PM_SANITIZED)

#define KEPT
#define MONOTONIC()                                                                      \
	(pm_region_general.monotonic > 1 ? pm_kept_replaced() : pm_kept_monotonic())
#define FORM __attribute__((used)) static

#include "fastpath/forms.h"

#define ENTRY_ROW(name, counters, is_general, is_strided)                                \
	{ENTERED(begin_##name), ENTERED(end_##name)},

/* Slow paths call these again: entries are for sites alone. */
struct pm_region_calls pm_region_kept = {begin_first, end_first};

#define FIRST_BEGIN ENTERED(begin_first)
#define FIRST_END   ENTERED(end_first)

ENTRY(pm_kept_begin_ordinary)
ENTRY(pm_kept_end_ordinary)

static struct pm_region_calls choose(uint32_t form)
{
	static const struct pm_region_calls entries[] = {ALL_FORMS(ENTRY_ROW)};
	struct pm_region_calls calls;

	if (pm_region_is_surrounded) {
		PM_PUT(pm_region_kept.begin, pm_kept_begin_ordinary);
		PM_PUT(pm_region_kept.end, pm_kept_end_ordinary);
		return (struct pm_region_calls){ENTERED(pm_kept_begin_ordinary),
						ENTERED(pm_kept_end_ordinary)};
	}
	calls = form_for(form);
	PM_PUT(pm_region_kept.begin, calls.begin);
	PM_PUT(pm_region_kept.end, calls.end);
	return entries[pm_region_general.filters ? FORM_filtered : form];
}

#else

/* Sanitizers add calls to each access, and some compilers cannot be told. */
struct pm_region_calls pm_region_kept;
ENTRY(pm_kept_begin_ordinary)
ENTRY(pm_kept_end_ordinary)
#define FIRST_BEGIN ENTERED(pm_kept_begin_ordinary)
#define FIRST_END   ENTERED(pm_kept_end_ordinary)

static struct pm_region_calls choose(uint32_t form)
{
	(void)form;
	return (struct pm_region_calls){FIRST_BEGIN, FIRST_END};
}

#endif

PM_REGION_EXPORT struct perfmon_region_calls perfmon_region_calls = {
	.armed = 1, .begin = FIRST_BEGIN, .end = FIRST_END};

/* The pointers are never NULL: a thread may have found regions armed before. Sites load all three
 * relaxed, so that no acquire pairs with the releases here: see pm_region_calls_arm(). */
void pm_region_kept_arm(uint32_t form)
{
	struct pm_region_calls calls = choose(form);

	__atomic_store_n(&perfmon_region_calls.begin, calls.begin, __ATOMIC_RELAXED);
	__atomic_store_n(&perfmon_region_calls.end, calls.end, __ATOMIC_RELAXED);
	__atomic_store_n(&perfmon_region_calls.armed, 1, __ATOMIC_RELEASE);
}

void pm_region_kept_disarm(void)
{
	__atomic_store_n(&perfmon_region_calls.armed, 0, __ATOMIC_RELEASE);
}

#endif
