/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts its own work, as section 9 of the text of perfmon2 has it, from C and from C++.
 *
 *	perfmon2_section9		writes to a variable
 *	perfmon2_section9 CODE		the raw event CODE of this CPU, in hexadecimal
 *	perfmon2_section9 CODE cpu	the same on the CPU on which it runs
 */
#include <perfmon/perfmon2_section9.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long long watched __attribute__((aligned(8)));

static int fail(int fd, const char *what)
{
	char text[1000] = "";

	perror(what);
	if (fd >= 0 && pfm_message(fd, text, sizeof(text)) > 0)
		fprintf(stderr, "%s\n", text);
	return 1;
}

static void work(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		watched = watched + 1;
}

int main(int argc, char **argv)
{
	struct pfarg_ctx ctx;
	struct pfarg_pmc pmcs[2];
	struct pfarg_pmd pmds[2];
	struct pfarg_load load;
	cpu_set_t here;
	int fd, turn;

	memset(&ctx, 0, sizeof(ctx));
	memset(pmcs, 0, sizeof(pmcs));
	memset(pmds, 0, sizeof(pmds));
	memset(&load, 0, sizeof(load));
	load.target = (unsigned int)syscall(SYS_gettid);
	if (argc > 1) {
		pmcs[0].reg_value = strtoull(argv[1], NULL, 16);
	} else {
		pmcs[0].reg_flags = PFM_PMCFL_WRITES;
		pmcs[0].reg_value = (size_t)&watched;
	}
	if (argc > 2) {
		ctx.flags = PFM_CTX_SYSTEM_WIDE;
		load.target = (unsigned int)sched_getcpu();
		CPU_ZERO(&here);
		CPU_SET(load.target, &here);
		if (sched_setaffinity(0, sizeof(here), &here))
			return fail(-1, "sched_setaffinity");
	}
	pmcs[1].reg_num = 1;
	pmds[1].reg_num = 1;
	pmds[1].reg_value = 7;
	fd = pfm_create_session(&ctx, NULL, NULL, 0);
	if (fd < 0)
		return fail(fd, "pfm_create_session");
	if (pfm_write_pmcs(fd, pmcs, 2))
		return fail(fd, "pfm_write_pmcs");
	if (pfm_write_pmds(fd, pmds, 2))
		return fail(fd, "pfm_write_pmds");
	if (pfm_load_context(fd, &load))
		return fail(fd, "pfm_load_context");
	for (turn = 0; turn < 2; turn++) {
		if (pfm_start(fd))
			return fail(fd, "pfm_start");
		work();
		if (pfm_stop(fd))
			return fail(fd, "pfm_stop");
		work();
		if (pfm_read_pmds(fd, pmds, 2))
			return fail(fd, "pfm_read_pmds");
		printf("PMD0 %llu PMD1 %llu\n", pmds[0].reg_value, pmds[1].reg_value);
	}
	if (pfm_unload_context(fd))
		return fail(fd, "pfm_unload_context");
	return close(fd) ? fail(-1, "close") : 0;
}
