/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exact counts under Valgrind: the interface between the library and the tool of exact/.
 *
 * Under the tool an unprivileged read of a hardware counter, which Valgrind itself does
 * not know, returns the tool's count. Counter k of rdpmc on x86-64, and pmevcntr<k>_el0
 * on arm64, is event k of the running thread, up to the instruction before. A page with
 * index k + 1 and a width of 64 bits makes every fast read exact. A read without the tool
 * costs nothing more.
 *
 * A program finds the tool by one client request (valgrind/valgrind.h). Outside Valgrind,
 * and under its other tools, the request returns 0.
 */
#ifndef PM_ARCH_EXACT_H
#define PM_ARCH_EXACT_H

#include <stdint.h>

/* VG_USERREQ_TOOL_BASE('P', 'M') and its successors. */
#define PM_EXACT_REQUEST_FIND UINT32_C(0x504d0000) /* the address of a struct pm_exact */
#define PM_EXACT_REQUEST_TOTALS                                                          \
	UINT32_C(0x504d0001) /* argument: uint64_t[events] to fill */

#define PM_EXACT_VERSION 1

/* Each line has an event, its name and its unit. A new event comes last. */
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

/* The tool's description of itself. Its address and its values do not change. */
struct pm_exact {
	uint32_t size;
	uint32_t version;
	uint32_t events;  /* number of events that the tool knows */
	uint32_t counted; /* bit k: event k is counted in this run; others read 0 */
};

#endif
