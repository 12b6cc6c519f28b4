/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Upper bounds of exact counts: a sanitizer's own memory faults along with the test's. */
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

#endif
