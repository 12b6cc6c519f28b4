/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Section 9's perfmon2 calls, beside section 10's in one file. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>

#include "helpers.h"
#include "perfmon2_probe.h"
/* From here on the names are section 9's. */
#include "perfmon/perfmon2_section9.h"

TestSuite(section9, .timeout = 120);

#define SOME 20 /* elements: more than fit on the stack of a call */

static int create_session(unsigned int flags)
{
	struct pfarg_ctx ctx = {.flags = flags};
	int fd = pfm_create_session(&ctx, NULL, NULL, 0);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	return fd;
}

static struct pfarg_pmc counts_writes_to(unsigned int i, uint16_t number)
{
	return (struct pfarg_pmc){.reg_num = number,
				  .reg_value = (uintptr_t)&watched[i],
				  .reg_flags = PFM_PMCFL_WRITES};
}

/* Row: PM-48: the life of a session. */
Test(section9, counts_its_own_thread)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmc pmcs[2] = {counts_writes_to(0, 5), counts_writes_to(1, 200)};
	struct pfarg_pmd pmds[SOME] = {{.reg_num = 200, .reg_value = 7},
				       {.reg_num = 5, .reg_value = UINT64_MAX - 9}};
	struct pfarg_load load = {.target = (uint32_t)own_tid()};
	int fd = create_session(0), i;

	for (i = 2; i < SOME; i++)
		pmds[i] = (struct pfarg_pmd){.reg_num = (uint16_t)i + 10,
					     .reg_value = (uint64_t)i};
	OK(fd, pfm_write_pmds(fd, pmds, SOME));
	OK(fd, pfm_write_pmcs(fd, pmcs, 2));
	FAILS(pfm_start(fd), EINVAL);
	FAILS(pfm_stop(fd), EINVAL);
	OK(fd, pfm_load_context(fd, &load));
	FAILS(pfm_load_context(fd, &load), EBUSY);
	touch(0, 10);
	OK(fd, pfm_start(fd));
	FAILS(pfm_write_pmcs(fd, pmcs, 2), EBUSY);
	touch(0, 15);
	touch(1, 3);
	OK(fd, pfm_stop(fd));
	touch(0, 10);
	for (i = 0; i < SOME; i++)
		pmds[i].reg_value = 12345;
	OK(fd, pfm_read_pmds(fd, pmds, SOME));
	cr_assert_eq(pmds[0].reg_value, 10);
	cr_assert_eq(pmds[1].reg_value, 5, "9 more than the last one before 0");
	for (i = 2; i < SOME; i++)
		cr_assert_eq(pmds[i].reg_value, (uint64_t)i);
	OK(fd, pfm_unload_context(fd));
	OK(fd, pfm_read_pmds(fd, pmds, 1));
	cr_assert_eq(pmds[0].reg_value, 10);
	close(fd);
	FAILS(pfm_start(fd), EBADF);
}

/* Row: PM-48: numbers of elements; one bad element changes nothing. */
Test(section9, vectors_have_a_number_of_elements)
{
	static struct pfarg_pmd many[1025];
	struct pfarg_pmc pmc = counts_writes_to(0, 1);
	struct pfarg_pmd pmds[2] = {{.reg_num = 1, .reg_value = 5},
				    {.reg_num = 256, .reg_value = 5}};
	int fd = create_session(0);

	FAILS(pfm_write_pmcs(fd, &pmc, 0), EINVAL);
	cr_assert(strstr(message(fd), "0 elements"), "%s", message(fd));
	FAILS(pfm_write_pmcs(fd, &pmc, -1), EINVAL);
	FAILS(pfm_write_pmcs(fd, NULL, 1), EINVAL);
	FAILS(pfm_write_pmds(fd, pmds, 0), EINVAL);
	FAILS(pfm_write_pmds(fd, pmds, INT32_MIN), EINVAL);
	FAILS(pfm_write_pmds(fd, many, 1025), E2BIG);
	FAILS(pfm_read_pmds(fd, many, INT32_MAX), E2BIG);
	FAILS(pfm_read_pmds(fd, NULL, 1), EINVAL);
	FAILS(pfm_write_pmcs(-1, &pmc, 0), EBADF);
	OK(fd, pfm_write_pmds(fd, many, 1024));
	OK(fd, pfm_read_pmds(fd, many, 1024));

	FAILS(pfm_write_pmds(fd, pmds, 2), EINVAL);
	OK(fd, pfm_read_pmds(fd, pmds, 1));
	cr_assert_eq(pmds[0].reg_value, 0, "the first was not written either");
	pmds[0].reg_value = 5;
	FAILS(pfm_read_pmds(fd, pmds, 2), EINVAL);
	cr_assert_eq(pmds[0].reg_value, 5, "nothing was read");
	close(fd);
}

/* Row: PM-48: what is reserved must be 0, each word of it. */
Test(section9, what_is_reserved_is_zero)
{
	struct pfarg_pmc pmc = counts_writes_to(0, 0);
	struct pfarg_pmd pmd = {.reg_num = 0};
	struct pfarg_ctx ctx = {.flags = 0};
	struct pfarg_load load = {.target = (uint32_t)own_tid()};
	int fd = create_session(0);

#define EACH_WORD(object, call)                                                          \
	for (size_t w = 0; w < sizeof(object.reserved) / sizeof(object.reserved[0]);     \
	     w++) {                                                                      \
		object.reserved[w] = 1;                                                  \
		FAILS(call, EINVAL);                                                     \
		object.reserved[w] = 0;                                                  \
	}
	EACH_WORD(ctx, pfm_create_session(&ctx, NULL, NULL, 0));
	EACH_WORD(pmc, pfm_write_pmcs(fd, &pmc, 1));
	EACH_WORD(pmd, pfm_write_pmds(fd, &pmd, 1));
	EACH_WORD(pmd, pfm_read_pmds(fd, &pmd, 1));
	EACH_WORD(load, pfm_load_context(fd, &load));
	ctx.reserved1 = 1;
	FAILS(pfm_create_session(&ctx, NULL, NULL, 0), EINVAL);
	pmc.reserved1 = 1;
	FAILS(pfm_write_pmcs(fd, &pmc, 1), EINVAL);
	load.reserved1 = 1;
	FAILS(pfm_load_context(fd, &load), EINVAL);
	load.reserved1 = 0;
	OK(fd, pfm_load_context(fd, &load));
	close(fd);
}

/* Row: PM-48: what a session is created with. */
Test(section9, creation_is_checked)
{
	struct pfarg_ctx ctx = {.flags = 0};
	char name[] = "default", no_format[] = "no such format";
	int argument = 0, fd;

	FAILS(pfm_create_session(NULL, NULL, NULL, 0), EINVAL);
	FAILS(pfm_create_session(&ctx, NULL, &argument, 0), EINVAL);
	FAILS(pfm_create_session(&ctx, NULL, NULL, sizeof(argument)), EINVAL);
	FAILS(pfm_create_session(&ctx, no_format, NULL, 0), ENOENT);
	ctx.flags = 0x10;
	FAILS(pfm_create_session(&ctx, NULL, NULL, 0), EINVAL);
	ctx.flags = 0x80000000;
	FAILS(pfm_create_session(&ctx, NULL, NULL, 0), EINVAL);
	ctx.flags = PFM_FL_SMPL_FMT;
	FAILS(pfm_create_session(&ctx, name, NULL, 0), EINVAL);
	ctx.flags = PFM_CTX_SYSTEM_WIDE;
	fd = pfm_create_session(&ctx, name, NULL, 0);
	cr_assert_geq(fd, 0, "%s", strerror(errno));
	cr_assert_not_null(pfm_smpl_buffer(fd, NULL));
	close(fd);
}

/* Row: PM-48: targets; in per-CPU mode the caller must be running there. */
Test(section9, targets_are_checked)
{
	int thread = create_session(0), cpu = create_session(PFM_CTX_SYSTEM_WIDE);
	struct pfarg_pmc pmc = {.reg_flags = PFM_PMCFL_SOFTWARE | PFM_PMCFL_KERNEL,
				.reg_value = PERF_COUNT_SW_CPU_CLOCK};
	struct pfarg_pmc writes = counts_writes_to(0, 0);
	struct pfarg_pmd pmd = {.reg_num = 0};
	struct pfarg_load load = {.target = 0};
	uint32_t here = (uint32_t)sched_getcpu();
	cpu_set_t only;

	OK(thread, pfm_write_pmcs(thread, &writes, 1));
	FAILS(pfm_load_context(thread, NULL), EINVAL);
	FAILS(pfm_load_context(thread, &load), EINVAL);
	load.target = 0x80000000;
	FAILS(pfm_load_context(thread, &load), EINVAL);
	load.target = 0x7fffffff;
	FAILS(pfm_load_context(thread, &load), ESRCH);

	CPU_ZERO(&only);
	CPU_SET(here, &only);
	cr_assert_eq(sched_setaffinity(0, sizeof(only), &only), 0, "%s", strerror(errno));
	OK(cpu, pfm_write_pmcs(cpu, &pmc, 1));
	load.target = here + 1;
	FAILS(pfm_load_context(cpu, &load), EINVAL);
	cr_assert(strstr(message(cpu), "sched_setaffinity"), "%s", message(cpu));
	load.target = here;
	if (pfm_load_context(cpu, &load) && (errno == EACCES || errno == EPERM))
		cr_skip_test("%s", message(cpu));
	OK(cpu, pfm_start(cpu));
	do
		OK(cpu, pfm_read_pmds(cpu, &pmd, 1));
	while (!pmd.reg_value);
	OK(cpu, pfm_stop(cpu));
	close(cpu);
	close(thread);
}

/* Row: PM-48: programs that follow section 9 alone. */
Test(section9, programs_of_the_text)
{
	NEEDS_BREAKPOINTS();
	static const char *const expected = "PMD0 1000 PMD1 7\nPMD0 2000 PMD1 7\n";

	cr_assert_str_eq(output_of("perfmon2_section9"), expected);
	cr_assert_str_eq(output_of("perfmon2_section9_cxx"), expected);
}

/* Row: PM-48: the same programs with codes of the hardware. */
Test(section9, programs_of_the_text_with_raw_codes)
{
	struct pfarg_pmc pmc = {.reg_value = RAW_INSTRUCTIONS};
	struct pfarg_load load = {.target = (uint32_t)own_tid()};
	unsigned long long first, second;
	int fd = create_session(0);
	char command[100];
	const char *out;

	OK(fd, pfm_write_pmcs(fd, &pmc, 1));
	if (pfm_load_context(fd, &load))
		cr_skip_test("%s", message(fd));
	close(fd);
	snprintf(command, sizeof(command), "perfmon2_section9 %x", RAW_INSTRUCTIONS);
	out = output_of(command);
	cr_assert_eq(sscanf(out, "PMD0 %llu PMD1 7 PMD0 %llu PMD1 7", &first, &second), 2,
		     "%s", out);
	/* A thousand writes take at least two instructions each. */
	cr_assert_geq(first, 2000);
	cr_assert_geq(second, first + 2000);
	fd = create_session(PFM_CTX_SYSTEM_WIDE);
	OK(fd, pfm_write_pmcs(fd, &pmc, 1));
	load.target = (uint32_t)sched_getcpu();
	if (pfm_load_context(fd, &load) && (errno == EACCES || errno == EPERM))
		cr_skip_test("%s", message(fd));
	close(fd);
	snprintf(command, sizeof(command), "perfmon2_section9 %x cpu", RAW_INSTRUCTIONS);
	out = output_of(command);
	cr_assert_eq(sscanf(out, "PMD0 %llu PMD1 7 PMD0 %llu PMD1 7", &first, &second), 2,
		     "%s", out);
	cr_assert_geq(second, first + 2000);
}
