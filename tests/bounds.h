/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bounds under a sanitizer, whose own memory faults are counted with the test's: an upper
 * bound of a count does not hold there. */
#ifndef TESTS_BOUNDS_H
#define TESTS_BOUNDS_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TESTS_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESTS_SANITIZED 1
#endif

#ifdef TESTS_SANITIZED
#define MOST(n) UINT64_MAX
#else
#define MOST(n) (n)
#endif

/* Begin a test with the first if it cannot run under the address or thread sanitizer, and
 * with the second if it cannot run under the thread sanitizer. */
#ifdef TESTS_SANITIZED
#define NOT_SANITIZED(why) cr_skip_test(why)
#else
#define NOT_SANITIZED(why) ((void)0)
#endif
#if defined(__SANITIZE_THREAD__)
#define NOT_UNDER_TSAN(why) cr_skip_test(why)
#else
#define NOT_UNDER_TSAN(why) ((void)0)
#endif

#endif
