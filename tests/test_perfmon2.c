/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon2 calls by their names, on descriptors. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "perfmon2_probe.h"

TestSuite(perfmon2, .timeout = 120);

/* As the text lays them out. */
_Static_assert(sizeof(struct pfarg_pmc) == 48, "pfarg_pmc");
_Static_assert(offsetof(struct pfarg_pmc, reg_set) == 2, "pfarg_pmc");
_Static_assert(offsetof(struct pfarg_pmc, reg_flags) == 4, "pfarg_pmc");
_Static_assert(offsetof(struct pfarg_pmc, reg_value) == 8, "pfarg_pmc");
_Static_assert(offsetof(struct pfarg_pmc, reg_reserved2) == 16, "pfarg_pmc");
_Static_assert(sizeof(struct pfarg_pmd) == 96 + 16 * PFM_PMD_BV, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_value) == 8, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_long_reset) == 16, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_short_reset) == 24, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_last_reset_val) == 32, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_ovfl_switch_cnt) == 40, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_reset_pmds) == 48, "pfarg_pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_smpl_pmds) == 48 + 8 * PFM_PMD_BV, "pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_smpl_eventid) == 48 + 16 * PFM_PMD_BV,
	       "pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_random_mask) == 56 + 16 * PFM_PMD_BV,
	       "pmd");
_Static_assert(offsetof(struct pfarg_pmd, reg_reserved2) == 64 + 16 * PFM_PMD_BV, "pmd");
_Static_assert(sizeof(struct pfarg_setdesc) == 64, "pfarg_setdesc");
_Static_assert(offsetof(struct pfm_setdesc, set_timeout) == 8, "pfm_setdesc");
_Static_assert(sizeof(struct pfarg_setinfo) == 80 + 24 * PFM_PMD_BV, "pfarg_setinfo");
_Static_assert(offsetof(struct pfm_setinfo, set_ovfl_pmds) == 8, "pfm_setinfo");
_Static_assert(offsetof(struct pfarg_setinfo, set_runs) == 8 + 8 * PFM_PMD_BV, "setinfo");
_Static_assert(offsetof(struct pfarg_setinfo, set_avail_pmcs) == 32 + 8 * PFM_PMD_BV, "");
_Static_assert(sizeof(union pfarg_msg) == 24 + 8 * PFM_PMD_BV, "pfarg_msg");
_Static_assert(offsetof(struct pfarg_ovfl_msg, msg_active_set) == 8, "pfarg_ovfl_msg");
_Static_assert(offsetof(struct pfarg_ovfl_msg, msg_ovfl_tid) == 12, "pfarg_ovfl_msg");
_Static_assert(offsetof(struct pfarg_ovfl_msg, msg_ovfl_ip) == 16, "pfarg_ovfl_msg");
_Static_assert(PFM_PMC_BV == PFM_PMD_BV, "masks");

/* The kernel's word on how many threads this process has. */
static int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Row: PM-01, PM-20: the life of a session, by its calls. */
Test(perfmon2, counts_its_own_thread)
{
	NEEDS_BREAKPOINTS();
	int before = open_descriptors(), fd = create();
	struct pfarg_pmc pmcs[2] = {writes_to(0, 0, 5), writes_to(1, 0, 200)};
	struct pfarg_pmd pmds[3] = {{.reg_num = 200, .reg_value = 7},
				    {.reg_num = 5, .reg_value = UINT64_MAX - 9},
				    {.reg_num = 6, .reg_value = 11}};

	cr_assert_eq(value_of(fd, 0, 0), 0, "what was never written is 0");
	OK(fd, pfm_write_pmds(fd, &pmds[2], sizeof(pmds[2])));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, pmds, 2 * sizeof(pmds[0])));
	touch(0, 100);
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	touch(0, 100);
	OK(fd, pfm_start(fd, 0));
	touch(0, 15);
	touch(1, 3);
	OK(fd, pfm_stop(fd, 0));
	touch(0, 100);
	memset(pmds, 0, sizeof(pmds));
	pmds[0].reg_num = 6;
	pmds[1].reg_num = 5;
	pmds[2].reg_num = 200;
	OK(fd, pfm_read_pmds(fd, pmds, sizeof(pmds)));
	cr_assert_eq(pmds[0].reg_value, 11, "a PMD without a PMC keeps its value");
	cr_assert_eq(pmds[1].reg_value, 5, "64 bits wide");
	cr_assert_eq(pmds[2].reg_value, 10);
	OK(fd, pfm_start(fd, 0));
	OK(fd, pfm_start(fd, 0));
	touch(1, 1);
	OK(fd, pfm_unload_context(fd, 0));
	touch(1, 1);
	cr_assert_eq(value_of(fd, 0, 200), 11);
	OK(fd, pfm_unload_context(fd, 0));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	touch(1, 1);
	cr_assert_eq(value_of(fd, 0, 200), 12, "it goes on from where it was");
	cr_assert_eq(close(fd), 0);
	WAIT_UNTIL(open_descriptors() <= before);
}

/* Row: PM-03: PMCs and PMDs are written in any order, before and after loading. */
Test(perfmon2, registers_are_independent)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmc pmc = writes_to(0, 0, 0), quiet = {.reg_num = 0};
	struct pfarg_pmd pmd = {.reg_num = 0, .reg_value = 1000};
	int fd = create();

	OK(fd, pfm_write_pmcs(fd, &quiet, sizeof(quiet)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	cr_assert_eq(value_of(fd, 0, 0), 1000, "programmed, it goes on from there");
	OK(fd, pfm_start(fd, 0));
	touch(0, 4);
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EBUSY);
	cr_assert_eq(value_of(fd, 0, 0), 1004);
	pmd.reg_value = 1;
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	touch(0, 4);
	cr_assert_eq(value_of(fd, 0, 0), 5);
	OK(fd, pfm_stop(fd, 0));
	OK(fd, pfm_write_pmcs(fd, &quiet, sizeof(quiet)));
	OK(fd, pfm_start(fd, 0));
	touch(0, 4);
	cr_assert_eq(value_of(fd, 0, 0), 5, "a quiescent register counts nothing");
	close(fd);
}

/* Row: PM-04: sizes of vectors; one bad element changes nothing. */
Test(perfmon2, vectors_are_checked)
{
	NEEDS_BREAKPOINTS();
	static struct pfarg_pmd many[1025];
	static struct pfarg_pmc many_pmcs[257];
	struct pfarg_pmc pmcs[3] = {writes_to(0, 0, 1), writes_to(1, 0, 2),
				    writes_to(2, 0, 3)};
	struct pfarg_pmd pmds[2] = {{.reg_num = 1, .reg_value = 5},
				    {.reg_num = 256, .reg_value = 5}};
	struct pfarg_setdesc set = {.set_id = 1};
	struct pfarg_setinfo info = {.set_id = 0};
	int i, fd = create();

	FAILS(pfm_write_pmcs(fd, pmcs, 0), EINVAL);
	FAILS(pfm_write_pmcs(fd, pmcs, sizeof(pmcs) - 1), EINVAL);
	FAILS(pfm_write_pmcs(fd, NULL, sizeof(pmcs)), EINVAL);
	FAILS(pfm_write_pmds(fd, pmds, 0), EINVAL);
	FAILS(pfm_write_pmds(fd, pmds, sizeof(pmds[0]) + 4), EINVAL);
	FAILS(pfm_read_pmds(fd, pmds, 0), EINVAL);
	FAILS(pfm_read_pmds(fd, pmds, 1), EINVAL);
	FAILS(pfm_read_pmds(fd, many, sizeof(many)), E2BIG);
	FAILS(pfm_write_pmds(fd, many, sizeof(many)), E2BIG);
	OK(fd, pfm_read_pmds(fd, many, sizeof(many) - sizeof(many[0])));
	FAILS(pfm_create_evtsets(fd, &set, 0), EINVAL);
	FAILS(pfm_create_evtsets(fd, &set, sizeof(set) + 1), EINVAL);
	FAILS(pfm_delete_evtsets(fd, &set, 0), EINVAL);
	FAILS(pfm_getinfo_evtsets(fd, &info, 3), EINVAL);

	/* A bad element behind good ones. */
	OK(fd, pfm_write_pmcs(fd, &pmcs[0], sizeof(pmcs[0])));
	FAILS(pfm_write_pmds(fd, pmds, sizeof(pmds)), EINVAL);
	cr_assert(strstr(message(fd), "element 1"), "%s", message(fd));
	cr_assert_eq(value_of(fd, 0, 1), 0);
	pmcs[0].reg_value = (uintptr_t)&watched[3];
	pmcs[2].reg_set = 9;
	FAILS(pfm_write_pmcs(fd, pmcs, sizeof(pmcs)), EINVAL);
	pmcs[2].reg_set = 0;
	pmcs[2].reg_value++;
	FAILS(pfm_write_pmcs(fd, pmcs, sizeof(pmcs)), EINVAL);
	/* One that fails on its way: there is no room for the last. */
	for (i = 0; i < 257; i++) {
		many_pmcs[i].reg_num = (uint16_t)(i % 256);
		many_pmcs[i].reg_set = (uint16_t)(i / 256);
		many_pmcs[i].reg_flags = PFM_PMCFL_SOFTWARE;
		many_pmcs[i].reg_value = PERF_COUNT_SW_DUMMY;
	}
	OK(fd, pfm_create_evtsets(fd, &set, sizeof(set)));
	FAILS(pfm_write_pmcs(fd, many_pmcs, sizeof(many_pmcs)), E2BIG);
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	touch(0, 6);
	touch(1, 6);
	touch(3, 6);
	cr_assert_eq(value_of(fd, 0, 1), 6, "it counts what it did");
	cr_assert_eq(value_of(fd, 0, 2), 0);
	OK(fd, pfm_unload_context(fd, 0));
	/* What such a call left behind is no loss. */
	OK(fd, pfm_write_pmcs(fd, many_pmcs, 255 * sizeof(many_pmcs[0])));
	OK(fd, pfm_delete_evtsets(fd, &set, sizeof(set)));
	OK(fd, pfm_write_pmcs(fd, many_pmcs, 256 * sizeof(many_pmcs[0])));
	close(fd);
}

/* Row: PM-15, PM-27, PM-28: reserved fields and unknown flags must be 0. */
Test(perfmon2, what_is_reserved_is_zero)
{
	struct pfarg_pmc pmc = writes_to(0, 0, 0);
	struct pfarg_pmd pmd = {.reg_num = 0};
	struct pfarg_setdesc set = {.set_id = 1};
	struct pfarg_setinfo info = {.set_id = 0};
	int fd = create();

	pmc.reg_reserved2[3] = 1;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EINVAL);
	pmc.reg_reserved2[3] = 0;
	pmc.reg_flags |= 0x80;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EINVAL);
	pmc.reg_flags = PFM_PMCFL_WRITES | PFM_PMCFL_NO_EMUL64;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EOPNOTSUPP);
	pmc.reg_flags = PFM_PMCFL_WRITES | PFM_PMCFL_SOFTWARE;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EINVAL);
	pmd.reg_reserved2[7] = 1;
	FAILS(pfm_write_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	FAILS(pfm_read_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	pmd.reg_reserved2[7] = 0;
	pmd.reg_flags = 0x10;
	FAILS(pfm_write_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	FAILS(pfm_read_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	set.set_reserved1 = 1;
	FAILS(pfm_create_evtsets(fd, &set, sizeof(set)), EINVAL);
	set.set_reserved1 = 0;
	set.reserved[5] = 1;
	FAILS(pfm_create_evtsets(fd, &set, sizeof(set)), EINVAL);
	set.reserved[5] = 0;
	set.set_flags = 4;
	FAILS(pfm_create_evtsets(fd, &set, sizeof(set)), EINVAL);
	cr_assert_str_eq(message(fd), "unknown flags 0x4");
	/* Six as in the text, of which the first is the library's answer. */
	_Static_assert(sizeof(info.set_reserved3) == 6 * sizeof(__u64),
		       "as the text has it");
	info.set_reserved3[0] = 77;
	OK(fd, pfm_getinfo_evtsets(fd, &info, sizeof(info)));
	cr_assert_eq(info.set_reserved3[0], info.set_leftover);
	info.set_reserved3[5] = 1;
	FAILS(pfm_getinfo_evtsets(fd, &info, sizeof(info)), EINVAL);
	info.set_reserved3[5] = 0;
	info.set_reserved1 = 1;
	FAILS(pfm_getinfo_evtsets(fd, &info, sizeof(info)), EINVAL);
	FAILS(pfm_load_context(fd, 1, own_tid()), EINVAL);
	FAILS(pfm_unload_context(fd, 1), EINVAL);
	FAILS(pfm_stop(fd, 1), EINVAL);
	FAILS(pfm_start(fd, 4), EINVAL);
	close(fd);
}

/* Row: PM-21: flags of creation, by macro and by function. */
Test(perfmon2, sampling_arguments_need_their_flag)
{
	char name[] = "default";
	int argument, fd;

	FAILS(pfm_create_context(0x10), EINVAL);
	FAILS(pfm_create_context(PFM_FL_NOTIFY_BLOCK | PFM_FL_SYSTEM_WIDE), EINVAL);
	FAILS(pfm_create_context(0, name, &argument, sizeof(argument)), EINVAL);
	FAILS(pfm_create_context(0, name), EINVAL);
	FAILS(pfm_create_context(PFM_FL_SYSTEM_WIDE, NULL, NULL, 1), EINVAL);
	fd = pfm_create_context(0, NULL, NULL, 0);
	cr_assert_geq(fd, 0);
	close(fd);
	fd = (pfm_create_context)(0);
	cr_assert_geq(fd, 0);
	close(fd);
}

/* Row: PM-02, PM-06: targets. */
Test(perfmon2, targets_are_checked)
{
	int thread = create(), cpu = pfm_create_context(PFM_FL_SYSTEM_WIDE);
	pid_t child;
	int status;

	FAILS(pfm_load_context(thread, 0, 0), EINVAL);
	FAILS(pfm_load_context(thread, 0, -1), EINVAL);
	FAILS(pfm_load_context(cpu, 0, -1), EINVAL);
	OK(thread, pfm_load_context(thread, 0, own_tid()));
	FAILS(pfm_load_context(thread, 0, own_tid()), EBUSY);
	OK(thread, pfm_unload_context(thread, 0));
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	{
		struct pfarg_pmc pmc = writes_to(0, 0, 0);

		OK(thread, pfm_write_pmcs(thread, &pmc, sizeof(pmc)));
		FAILS(pfm_load_context(thread, 0, child), ESRCH);
	}
	close(thread);
	close(cpu);
}

/* Row: PM-02: a CPU. */
Test(perfmon2, counts_a_cpu)
{
	struct pfarg_pmc pmc = {.reg_flags = PFM_PMCFL_SOFTWARE | PFM_PMCFL_KERNEL,
				.reg_value = PERF_COUNT_SW_CPU_CLOCK};
	int fd = pfm_create_context(PFM_FL_SYSTEM_WIDE), i;

	cr_assert_geq(fd, 0);
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	if (pfm_load_context(fd, 0, 0) && (errno == EACCES || errno == EPERM))
		cr_skip_test("%s", message(fd));
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 1000; i++)
		touch(0, 100);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_gt(value_of(fd, 0, 0), 0);
	close(fd);
}

/* Row: PM-16: raw encodings are taken as the vendor's manual has them, and are the events
 * that the generic numbers stand for. */
Test(perfmon2, raw_values_reach_the_hardware)
{
	struct pfarg_pmc pmcs[] = {{.reg_num = 0, .reg_value = RAW_INSTRUCTIONS},
				   {.reg_num = 1, .reg_value = RAW_CYCLES},
				   {.reg_num = 2,
				    .reg_flags = PFM_PMCFL_GENERIC,
				    .reg_value = PERF_COUNT_HW_INSTRUCTIONS}};
	struct pfarg_pmd pmds[] = {{.reg_num = 0}, {.reg_num = 1}, {.reg_num = 2}};
	int fd = create();

	load_raw(fd, pmcs, sizeof(pmcs));
	OK(fd, pfm_start(fd, 0));
	touch(0, 100000);
	OK(fd, pfm_stop(fd, 0));
	OK(fd, pfm_read_pmds(fd, pmds, sizeof(pmds)));
	cr_assert_geq(pmds[0].reg_value, 300000);
	cr_assert_lt(pmds[0].reg_value, 3000000);
	cr_assert_eq(pmds[0].reg_value, pmds[2].reg_value);
	cr_assert_gt(pmds[1].reg_value, 0);
	close(fd);
}

/* Row: PM-16, PM-20: software and generic events by number. */
Test(perfmon2, software_events_by_number)
{
	struct pfarg_pmc pmc = {.reg_flags = PFM_PMCFL_SOFTWARE,
				.reg_value = PERF_COUNT_SW_PAGE_FAULTS};
	int fd = create(), i;
	char *memory = mmap(NULL, 16 * 65536, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, 16 * 65536, MADV_NOHUGEPAGE);
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 16; i++)
		memory[i * 65536] = 1;
	OK(fd, pfm_stop(fd, 0));
	cr_assert_geq(value_of(fd, 0, 0), 16);
	cr_assert_lt(value_of(fd, 0, 0), 100);
	munmap(memory, 16 * 65536);
	pmc.reg_value = PERF_COUNT_SW_MAX + 20;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EINVAL);
	pmc.reg_flags = PFM_PMCFL_GENERIC;
	pmc.reg_value = PERF_COUNT_HW_MAX;
	FAILS(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), EINVAL);
	close(fd);
}

/* Row: PM-29, PM-40: sets switched by hand; the last active one goes on. */
Test(perfmon2, starts_at_a_set)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_setdesc sets[] = {{.set_id = 65535},
				       {.set_id = 4, .set_timeout = 9}};
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 0), writes_to(0, 4, 0),
				   writes_to(0, 65535, 0)};
	int fd = create();

	OK(fd, pfm_create_evtsets(fd, sets, sizeof(sets)));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	FAILS(pfm_start(fd, 0), EINVAL);
	FAILS(pfm_stop(fd, 0), EINVAL);
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	FAILS(pfm_start(fd, PFM_STARTFL_SET, 5), EINVAL);
	FAILS(pfm_start(fd, PFM_STARTFL_SET, 65536 + 4), EINVAL);
	FAILS(pfm_start(fd, PFM_STARTFL_SET, -1), EINVAL);
	FAILS(pfm_start(fd, PFM_STARTFL_RESTART), EBUSY);
	FAILS(pfm_start(fd, PFM_STARTFL_RESTART | PFM_STARTFL_SET, 4), EBUSY);
	OK(fd, pfm_start(fd, 0));
	touch(0, 1);
	OK(fd, pfm_start(fd, PFM_STARTFL_SET, 65535));
	touch(0, 10);
	OK(fd, pfm_start(fd, PFM_STARTFL_SET, 4));
	touch(0, 100);
	OK(fd, pfm_stop(fd, 0));
	touch(0, 1000);
	OK(fd, pfm_start(fd, 0));
	touch(0, 100);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(value_of(fd, 0, 0), 1);
	cr_assert_eq(value_of(fd, 65535, 0), 10);
	cr_assert_eq(value_of(fd, 4, 0), 200);
	close(fd);
}

/* Row: PM-41, PM-45: sets are made and deleted while detached, their registers stay or
 * go with them. */
Test(perfmon2, sets_come_and_go)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_setdesc sets[] = {{.set_id = 1}, {.set_id = 2}},
			     none = {.set_id = 3};
	struct pfarg_pmc pmcs[] = {writes_to(0, 1, 0), writes_to(1, 2, 0),
				   writes_to(2, 1, 7), writes_to(3, 2, 7)};
	struct pfarg_pmd pmds[] = {{.reg_num = 0, .reg_set = 2, .reg_value = 20},
				   {.reg_num = 7, .reg_set = 2, .reg_value = 27}};
	struct pfarg_setinfo info[] = {{.set_id = 2}, {.set_id = 0}},
			     missing = {.set_id = 1};
	int fd = create();

	OK(fd, pfm_create_evtsets(fd, sets, sizeof(sets)));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, pmds, sizeof(pmds)));
	OK(fd, pfm_create_evtsets(fd, &sets[1], sizeof(sets[1])));
	cr_assert_eq(value_of(fd, 2, 7), 27, "changed, it keeps its registers");
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	FAILS(pfm_create_evtsets(fd, &none, sizeof(none)), EBUSY);
	FAILS(pfm_delete_evtsets(fd, &sets[0], sizeof(sets[0])), EBUSY);
	OK(fd, pfm_unload_context(fd, 0));
	FAILS(pfm_delete_evtsets(fd, &none, sizeof(none)), EINVAL);
	OK(fd, pfm_delete_evtsets(fd, &sets[0], sizeof(sets[0])));
	FAILS(pfm_getinfo_evtsets(fd, &missing, sizeof(missing)), EINVAL);
	cr_assert_eq(value_of(fd, 2, 0), 20);
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, PFM_STARTFL_SET, 2));
	touch(1, 1);
	touch(3, 3);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(value_of(fd, 2, 0), 21);
	cr_assert_eq(value_of(fd, 2, 7), 30);
	OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	cr_assert_eq(info[0].set_id, 2);
	cr_assert_eq(info[0].set_runs, 1);
	cr_assert_gt(info[0].set_act_duration, 0);
	cr_assert_eq(info[0].set_avail_pmcs[0] & 0x81, 0x81);
	cr_assert_eq(info[0].set_avail_pmds[0], info[0].set_avail_pmcs[0]);
	cr_assert_eq(info[1].set_runs, 0);
	cr_assert_eq(info[1].set_act_duration, 0);
	close(fd);
}

/* Row: PM-20: what is no session. */
Test(perfmon2, other_descriptors_are_refused)
{
	int ends[2], fd = create();
	union pfarg_msg msgs[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	FAILS(pfm_start(ends[0], 0), EINVAL);
	FAILS(pfm_start(STDERR_FILENO, 0), EINVAL);
	FAILS(pfm_start(-1, 0), EBADF);
	FAILS(pfm_stop(1000, 0), EBADF);
	FAILS(pfm_load_context(-1, 0, 1), EBADF);
	FAILS(pfm_unload_context(-1, 0), EBADF);
	FAILS(pfm_write_pmcs(-1, NULL, 0), EBADF);
	FAILS(pfm_write_pmds(-1, NULL, 0), EBADF);
	FAILS(pfm_read_pmds(-1, NULL, 0), EBADF);
	FAILS(pfm_create_evtsets(-1, NULL, 0), EBADF);
	FAILS(pfm_delete_evtsets(-1, NULL, 0), EBADF);
	FAILS(pfm_getinfo_evtsets(-1, NULL, 0), EBADF);
	/* Row: PM-30: sizes, and no message. */
	FAILS(pfm_read_msg(fd, msgs, 0), EINVAL);
	FAILS(pfm_read_msg(fd, msgs, sizeof(msgs) - 1), EINVAL);
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	FAILS(pfm_read_msg(fd, msgs, sizeof(msgs)), EAGAIN);
	FAILS(pfm_read_msg(-1, msgs, sizeof(msgs)), EBADF);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* Row: PM-11, PM-14: any copy is the session, and the last one that is closed ends it,
 * with its events and the library's thread. */
Test(perfmon2, lives_as_long_as_a_copy)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmc pmc = writes_to(0, 0, 0);
	struct pollfd wait = {.events = POLLIN};
	int before = open_descriptors(), alone, fd, copy;
	pthread_t first;

	/* A sanitizer's own thread comes with the first. */
	pthread_create(&first, NULL, do_nothing, NULL);
	pthread_join(first, NULL);
	alone = threads();
	fd = create();
	copy = dup(fd);
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(copy, pfm_load_context(copy, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	close(fd);
	touch(0, 3);
	cr_assert_eq(value_of(copy, 0, 0), 3);
	FAILS(pfm_stop(fd, 0), EBADF);
	wait.fd = copy;
	cr_assert_eq(poll(&wait, 1, 0), 0, "no message, no readiness");
	close(copy);
	WAIT_UNTIL(open_descriptors() <= before);
	WAIT_UNTIL(threads() <= alone);
	/* And again, with a new thread. */
	fd = create();
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	close(fd);
	WAIT_UNTIL(open_descriptors() <= before);
	WAIT_UNTIL(threads() <= alone);
}

/* Row: PM-14: when close(2) returns, its counters are free for the next load. A session
 * that is closed while it runs is ended by the library, not by the call. */
Test(perfmon2, a_load_finds_the_counters_of_a_closed_session_free)
{
	NEEDS_BREAKPOINTS();
	enum { ROUNDS = 300 };
	struct pfarg_pmc pmc = writes_to(0, 0, 0);

	for (int i = 0; i < ROUNDS; i++) {
		int fd = create();

		OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
		OK(fd, pfm_load_context(fd, 0, own_tid()));
		OK(fd, pfm_start(fd, 0));
		touch(0, 3);
		cr_assert_eq(value_of(fd, 0, 0), 3);
		close(fd);
	}
}

/* Row: PM-11: hundreds of them. */
Test(perfmon2, many_are_told_apart)
{
	enum { MANY = 300 };
	int before = open_descriptors(), fds[MANY], i;

	for (i = 0; i < MANY; i++) {
		struct pfarg_pmd pmd = {.reg_value = (uint64_t)i};

		fds[i] = create();
		OK(fds[i], pfm_write_pmds(fds[i], &pmd, sizeof(pmd)));
	}
	for (i = 0; i < MANY; i++)
		cr_assert_eq(value_of(fds[i], 0, 0), (uint64_t)i);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	WAIT_UNTIL(open_descriptors() <= before);
}

/* Row: PM-14: a forked child holds, reads and polls; controls are refused. It has
 * sessions of its own. */
Test(perfmon2, a_child_may_hold_it)
{
	NEEDS_BREAKPOINTS();
	int before = open_descriptors(), fd = create(), status, own;
	struct pfarg_pmc pmc = writes_to(0, 0, 0);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	union pfarg_msg msg;
	int ends[2];
	pid_t child;
	char byte;

	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (!child) {
		struct pfarg_pmd pmd = {.reg_num = 0};

		close(ends[1]);
		if (pfm_stop(fd, 0) != -1 || errno != ECHILD)
			_exit(1);
		if (pfm_read_pmds(fd, &pmd, sizeof(pmd)) != -1 || errno != ECHILD)
			_exit(2);
		if (pfm_load_context(fd, 0, getpid()) != -1 || errno != ECHILD)
			_exit(3);
		if (poll(&wait, 1, 0))
			_exit(4);
		own = pfm_create_context(0);
		if (own < 0 || pfm_write_pmcs(own, &pmc, sizeof(pmc)) ||
		    pfm_load_context(own, 0, own_tid()) || pfm_start(own, 0))
			_exit(5);
		touch(0, 9);
		if (pfm_read_pmds(own, &pmd, sizeof(pmd)) || pmd.reg_value != 9)
			_exit(6);
		close(own);
		if (read(ends[0], &byte, 1)) /* until the parent has closed its own */
			_exit(7);
		/* It has nothing to say: the end of its process is the end of
		 * messages. */
		fcntl(fd, F_SETFL, O_NONBLOCK);
		if (pfm_read_msg(fd, &msg, sizeof(msg)) != -1 || errno != EAGAIN)
			_exit(8);
		_exit(0);
	}
	close(ends[0]);
	touch(0, 5);
	cr_assert_eq(value_of(fd, 0, 0), 5, "the child's work is its own");
	close(fd);
	/* The session lives by the child's copy. */
	let_time_pass_ms(20);
	cr_assert_gt(open_descriptors(), before + 1);
	close(ends[1]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: %d",
		  WEXITSTATUS(status));
	WAIT_UNTIL(open_descriptors() <= before);
}

/* Sends DESCRIPTOR over SOCKET, and receives one. */
static void pass(int socket, int *descriptor, bool receive)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	char byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	if (!receive)
		memcpy(CMSG_DATA(&control.header), descriptor, sizeof(int));
	cr_assert_eq(
		receive ? recvmsg(socket, &message, 0) : sendmsg(socket, &message, 0), 1);
	if (receive)
		memcpy(descriptor, CMSG_DATA(&control.header), sizeof(int));
}

/* Row: PM-50: a descriptor that another process has made and sent here is refused as that;
 * a socket that is no session is none. */
Test(perfmon2, a_received_descriptor_is_another_process_s)
{
	int ends[2], fd, status;
	pid_t child;
	char byte;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	child = fork();
	if (!child) {
		close(ends[0]);
		fd = create();
		pass(ends[1], &fd, false);
		_exit(read(ends[1], &byte, 1) != 0); /* until the parent has closed */
	}
	close(ends[1]);
	pass(ends[0], &fd, true);
	FAILS(pfm_stop(fd, 0), ECHILD);
	FAILS(pfm_stop(ends[0], 0), EINVAL);
	close(ends[0]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	FAILS(pfm_stop(fd, 0), ECHILD);
	close(fd);
}

/* Row: PM-14: a child that no handler has prepared is refused as well. */
Test(perfmon2, a_raw_child_is_refused)
{
	int fd = create(), status;
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child) {
		if (pfm_stop(fd, 0) != -1 || errno != ECHILD)
			_exit(1);
		if (pfm_create_context(0) != -1 || errno != ECHILD)
			_exit(2);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: %d",
		  WEXITSTATUS(status));
	OK(fd, pfm_unload_context(fd, 0));
	close(fd);
}

static void *use_and_close(void *argument)
{
	int i;

	(void)argument;
	for (i = 0; i < 50; i++) {
		struct pfarg_pmd pmd = {.reg_value = (uint64_t)i};
		int fd = pfm_create_context(0);

		if (fd < 0 || pfm_write_pmds(fd, &pmd, sizeof(pmd)) ||
		    pfm_read_pmds(fd, &pmd, sizeof(pmd)) || pmd.reg_value != (uint64_t)i)
			return (void *)(intptr_t)1;
		close(fd);
	}
	return NULL;
}

/* Sessions end on one thread while others are made: by threads, and around forks. */
Test(perfmon2, threads_and_forks_do_not_mix_them_up)
{
	pthread_t others[4];
	int before = open_descriptors(), i, status;
	void *failed;

	for (i = 0; i < 4; i++)
		pthread_create(&others[i], NULL, use_and_close, others);
	for (i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
			/* They do not get over threads and memory that a child of threads
			 * asks for. */
			status = 0;
#else
			status = use_and_close(NULL) != NULL;
#endif
			/* Past the sanitizers, which miss the parent's threads. */
			syscall(SYS_exit_group, status);
		}
		waitpid(child, &status, 0);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "0x%x, fork %d",
			  status, i);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(others[i], &failed);
		cr_assert_null(failed);
	}
	WAIT_UNTIL(open_descriptors() <= before);
}

/* Row: PM-20, PM-22, PM-30, PM-42: the same programs with codes of the hardware. */
Test(perfmon2, programs_of_the_text_with_raw_codes)
{
	struct pfarg_pmc pmc = {.reg_value = RAW_CYCLES};
	char command[100];
	int fd = create();

	load_raw(fd, &pmc, sizeof(pmc));
	close(fd);
	snprintf(command, sizeof(command), "perfmon2_remote %x 100000", RAW_CYCLES);
	cr_assert_str_eq(output_of(command), "5 messages, 0 wrong\n");
	snprintf(command, sizeof(command), "perfmon2_sets %x %x 100000", RAW_CYCLES,
		 RAW_CYCLES);
	cr_assert_str_eq(output_of(command), "sampled 1 1, took turns 1 1, 0 wrong\n");
	snprintf(command, sizeof(command), "perfmon2_self %x", RAW_INSTRUCTIONS);
	cr_assert(strstr(output_of(command), "PMD0 "));
}

/* Row: PM-20: programs that follow the text alone. */
Test(perfmon2, programs_of_the_text)
{
	NEEDS_BREAKPOINTS();
	cr_assert_str_eq(output_of("perfmon2_remote"), "5 messages, 0 wrong\n");
	cr_assert_str_eq(output_of("perfmon2_sets"),
			 "sampled 1 1, took turns 1 1, 0 wrong\n");
	cr_assert_str_eq(output_of("perfmon2_self"), "PMD0 1000\nPMD0 2000\n");
	cr_assert_str_eq(output_of("perfmon2_self_cxx"), "PMD0 1000\nPMD0 2000\n");
}
