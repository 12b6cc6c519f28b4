/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts its own work, as the text of perfmon2 has it: creates, programs, loads, starts,
 * stops, reads, unloads, closes. Nothing but <perfmon/perfmon2.h> is needed of the
 * library, from C and from C++.
 *
 *	perfmon2_self		writes to a variable
 *	perfmon2_self CODE	the raw event CODE of this CPU, in hexadecimal
 */
#include <perfmon/perfmon2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long long watched;

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
	struct pfarg_pmc pmc;
	struct pfarg_pmd pmd;
	int fd, turn;

	memset(&pmc, 0, sizeof(pmc));
	memset(&pmd, 0, sizeof(pmd));
	if (argc > 1) {
		pmc.reg_value = strtoull(argv[1], NULL, 16);
	} else {
		pmc.reg_flags = PFM_PMCFL_WRITES;
		pmc.reg_value = (size_t)&watched;
	}
	fd = pfm_create_context(0);
	if (fd < 0)
		return fail(fd, "pfm_create_context");
	if (pfm_write_pmcs(fd, &pmc, sizeof(pmc)))
		return fail(fd, "pfm_write_pmcs");
	if (pfm_write_pmds(fd, &pmd, sizeof(pmd)))
		return fail(fd, "pfm_write_pmds");
	if (pfm_load_context(fd, 0, (int)syscall(SYS_gettid)))
		return fail(fd, "pfm_load_context");
	for (turn = 0; turn < 2; turn++) {
		if (pfm_start(fd, 0))
			return fail(fd, "pfm_start");
		work();
		if (pfm_stop(fd, 0))
			return fail(fd, "pfm_stop");
		work();
		if (pfm_read_pmds(fd, &pmd, sizeof(pmd)))
			return fail(fd, "pfm_read_pmds");
		printf("PMD0 %llu\n", pmd.reg_value);
	}
	if (pfm_unload_context(fd, 0))
		return fail(fd, "pfm_unload_context");
	return close(fd) ? fail(-1, "close") : 0;
}
