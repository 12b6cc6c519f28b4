/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codes of the core PMU for perf's generic names, as the architecture (on x86 the vendor)
 * defines them for all of its CPUs. */
#ifndef TESTS_RAW_CODES_H
#define TESTS_RAW_CODES_H

#if defined(__aarch64__)
#define RAW_INSTRUCTIONS 0x08
#define RAW_CYCLES	 0x11
#elif defined(__x86_64__) || defined(__i386__)
#define RAW_INSTRUCTIONS 0xc0
#define RAW_CYCLES	 (__builtin_cpu_is("intel") ? 0x3c : 0x76)
#else /* no code is known: nothing is counted */
#define RAW_INSTRUCTIONS 0
#define RAW_CYCLES	 0
#endif

#endif
