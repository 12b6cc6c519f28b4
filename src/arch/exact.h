/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts by translation: what the library and the Valgrind tool of exact/ agree on.
 *
 * Under the tool an unprivileged read of a hardware counter, which Valgrind itself does not
 * know, reads what the tool counts: on x86-64 rdpmc of counter k, on arm64 `mrs` of
 * pmevcntr<k>_el0, is event k of the running thread, up to the instruction before. So a page
 * with index k + 1, 64 bits wide, makes every fast read an exact one, and none is dearer
 * where there is no tool.
 *
 * A program finds the tool by one client request (valgrind/valgrind.h), which outside
 * Valgrind, and under its other tools, answers 0.
 */
#ifndef PM_ARCH_EXACT_H
#define PM_ARCH_EXACT_H

#include <stdint.h>

/* VG_USERREQ_TOOL_BASE('P', 'M') and what follows it. */
#define PM_EXACT_REQUEST_FIND UINT32_C(0x504d0000) /* the address of a struct pm_exact */
#define PM_EXACT_REQUEST_TOTALS                                                          \
	UINT32_C(0x504d0001) /* argument: uint64_t[events] to fill */

#define PM_EXACT_VERSION 1

/* Event, its name, what one is. A new one comes last. */
#define PM_EXACT_EVENTS(EVENT)                                                           \
	EVENT(INSTRUCTIONS, "instructions",                                              \
	      "instructions; a repeated string one is one")                              \
	EVENT(LOADS, "loads", "reads of memory")                                         \
	EVENT(STORES, "stores", "writes of memory")                                      \
	EVENT(LOAD_BYTES, "load-bytes", "bytes read")                                    \
	EVENT(STORE_BYTES, "store-bytes", "bytes written")                               \
	EVENT(BRANCHES, "cond-branches", "conditional branches, taken or not")           \
	EVENT(CALLS, "calls", "calls of functions")                                      \
	EVENT(FLOPS_32, "sp-flops", "floating-point operations of 32 bits")              \
	EVENT(FLOPS_64, "dp-flops", "floating-point operations of 64 bits")

enum pm_exact_event {
#define PM_EXACT_ENUM(event, name, text) PM_EXACT_##event,
	PM_EXACT_EVENTS(PM_EXACT_ENUM)
#undef PM_EXACT_ENUM
		PM_EXACT_EVENT_COUNT
};

/* What the tool says of itself; it stays at its address and does not change. */
struct pm_exact {
	uint32_t size;
	uint32_t version;
	uint32_t events;  /* so many the tool knows */
	uint32_t counted; /* bit k: event k is counted in this run; others read 0 */
};

#endif
