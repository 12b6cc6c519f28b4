/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests of the perfmon2 calls: registers that count writes to a variable, the
 * same on every machine; calls that must succeed or fail; and programs. */
#ifndef TESTS_PERFMON2_PROBE_H
#define TESTS_PERFMON2_PROBE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perfmon/perfmon2.h"
#include "helpers.h"
#include "raw_codes.h"
#include "watched.h"

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

/* Writes a PMC with a raw code and loads it; skips the test if the machine has no such
 * code. */
static inline void load_raw(int fd, const struct pfarg_pmc *pmcs, size_t size)
{
	OK(fd, pfm_write_pmcs(fd, (struct pfarg_pmc *)pmcs, size));
	if (!pfm_load_context(fd, 0, own_tid()))
		return;
	cr_assert(errno == ENOENT || errno == EOPNOTSUPP || errno == EACCES, "%s: %s",
		  strerror(errno), message(fd));
	cr_skip_test("%s", message(fd));
}

/* Makes PMC NUMBER of SET count writes to watched[i]. */
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

/* Runs a program of tests/programs and returns its output. */
static inline const char *output_of(const char *program)
{
	static char out[1000];
	char self[4096], command[4200];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *pipe;
	size_t n;

	cr_assert_gt(length, 0);
	self[length] = '\0';
	snprintf(command, sizeof(command), "%s/programs/%s 2>&1", dirname(self), program);
	pipe = popen(command, "r");
	n = fread(out, 1, sizeof(out) - 1, pipe);
	out[n] = '\0';
	cr_assert_eq(pclose(pipe), 0, "%s", out);
	return out;
}

static inline int create(void)
{
	int fd = pfm_create_context(0);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	return fd;
}

#endif
