/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PMU for x86-64 machines that have none. It consists of a program's own definitions of
 * syscall() and mmap(), which its libraries then use.
 *
 * Hardware events that the kernel does not know are opened as software events, so that
 * opening, enabling and read(2) work as usual. With fake_pmu_pages, the page of such an
 * event says that its counter may be read from user space, and a handler of SIGSEGV
 * emulates the rdpmc that faults.
 */
#ifndef BENCH_FAKE_PMU_H
#define BENCH_FAKE_PMU_H

#include <stdbool.h>

extern bool fake_pmu_pages;

/* Installs the handler. */
void fake_pmu_start(void);

/* rdpmc, and its length. */
#define FAKE_PMU_RDPMC	      0x330f
#define FAKE_PMU_RDPMC_LENGTH 2

#endif
