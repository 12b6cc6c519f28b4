/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of the perfmon2 calls share: registers that count writes to a variable,
 * which is exact on every machine, and calls that must succeed or fail. */
#ifndef TESTS_PERFMON2_PROBE_H
#define TESTS_PERFMON2_PROBE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfmon/perfmon2.h"

static volatile uint64_t watched[4] __attribute__((aligned(64)));

static inline void touch(unsigned int i, unsigned int times)
{
	while (times--)
		watched[i]++;
}

static inline int gettid_now(void)
{
	return (int)syscall(SYS_gettid);
}

static inline const char *message(int fd)
{
	static char text[1000];

	text[0] = '\0';
	pfm_message(fd, text, sizeof(text));
	return text;
}

#define OK(fd, call)                                                                     \
	cr_assert_eq(call, 0, "%s: %s: %s", #call, strerror(errno), message(fd))
#define FAILS(call, error)                                                               \
	do {                                                                             \
		errno = 0;                                                               \
		cr_assert_eq(call, -1);                                                  \
		cr_assert_eq(errno, error, "%s: %s", #call, strerror(errno));            \
	} while (0)

/* Architectural codes of the core PMU. */
#if defined(__aarch64__)
#define RAW_CYCLES	 0x11
#define RAW_INSTRUCTIONS 0x08
#else /* x86 */
#define RAW_CYCLES	 0x3c
#define RAW_INSTRUCTIONS 0xc0
#endif

/* Writes a PMC with a raw code and loads; a machine that has not got it skips the test.
 */
static inline void load_raw(int fd, const struct pfarg_pmc *pmcs, size_t size)
{
	OK(fd, pfm_write_pmcs(fd, (struct pfarg_pmc *)pmcs, size));
	if (!pfm_load_context(fd, 0, gettid_now()))
		return;
	cr_assert(errno == ENOENT || errno == EOPNOTSUPP || errno == EACCES, "%s: %s",
		  strerror(errno), message(fd));
	cr_skip_test("%s", message(fd));
}

/* PMC number of set counts writes to watched[i]. */
static inline struct pfarg_pmc writes_to(unsigned int i, uint16_t set, uint16_t number)
{
	return (struct pfarg_pmc){.reg_num = number,
				  .reg_set = set,
				  .reg_flags = PFM_PMCFL_WRITES,
				  .reg_value = (uintptr_t)&watched[i]};
}

static inline uint64_t value_of(int fd, uint16_t set, uint16_t number)
{
	struct pfarg_pmd pmd = {.reg_num = number, .reg_set = set};

	OK(fd, pfm_read_pmds(fd, &pmd, sizeof(pmd)));
	return pmd.reg_value;
}

static inline int create(void)
{
	int fd = pfm_create_context(0);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	return fd;
}

#endif
