/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the library's system calls, and makes one kind of them fail. */
#ifndef TESTS_KERNEL_CALLS_H
#define TESTS_KERNEL_CALLS_H

#include <string.h>

#include "core/kernel/kernel.h"

/* The calls of each kind, since watch_calls() or fail_calls(). */
static unsigned int calls[PM_CALLS];

static struct {
	enum pm_kernel_call call;
	int error;	 /* negative */
	unsigned int at; /* the number of the call, from 1; 0: all */
} failing;

static inline int count_call(enum pm_kernel_call call)
{
	calls[call]++;
	if (call == failing.call && (!failing.at || calls[call] == failing.at))
		return failing.error;
	return 0;
}

/* Counts calls, and makes those of one kind fail: all of them, or call number AT. */
static inline void fail_calls(enum pm_kernel_call call, int error, unsigned int at)
{
	memset(calls, 0, sizeof(calls));
	failing.call = call;
	failing.error = error;
	failing.at = at;
	pm_kernel_fault = count_call;
}

static inline void watch_calls(void)
{
	fail_calls(PM_CALLS, 0, 0);
}

static inline void unwatch_calls(void)
{
	pm_kernel_fault = NULL;
}

static inline unsigned int all_calls(void)
{
	unsigned int n = 0;

	for (int i = 0; i < PM_CALLS; i++)
		n += calls[i];
	return n;
}

#endif
