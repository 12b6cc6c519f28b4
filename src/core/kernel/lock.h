/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock of one word, for calls that cost little more than their system call. Taking and
 * releasing it are one atomic instruction each if no other thread wants it.
 *
 *	word	 meaning			taking it	 releasing it
 *	0	 free				1
 *	1	 held				2, and waits	 0
 *	2	 held, a thread may wait	2, and waits	 0, and wakes
 */
#ifndef PM_KERNEL_LOCK_H
#define PM_KERNEL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/kernel/kernel.h"

struct pm_lock {
	uint32_t word;
};

static inline void pm_lock_take(struct pm_lock *lock)
{
	uint32_t word = 0;

	/* The acquires pair with the release in pm_lock_release(): the last holder's
	 * writes are visible. */
	if (__builtin_expect(__atomic_compare_exchange_n(&lock->word, &word, 1, false,
							 __ATOMIC_ACQUIRE,
							 __ATOMIC_RELAXED),
			     1))
		return;
	/* After a wait the lock stays marked, because another thread may still wait. */
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE))
		pm_kernel_futex_wait(&lock->word, 2);
}

static inline void pm_lock_release(struct pm_lock *lock)
{
	/* Pairs with the acquires in pm_lock_take(). */
	if (__builtin_expect(__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2,
			     0))
		pm_kernel_futex_wake(&lock->word);
}

#endif
