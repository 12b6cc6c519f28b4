/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What perfmon run --passes counts: passes_work [FILE]. The region "calc" takes the same steps in each
 * of 4 visits, and "touch" writes the word at 0x30000000 1000 times. "calls" has 500 system calls. With FILE
 * each run takes twice as many steps as the one before, which FILE remembers.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/region.h>

#define TOUCHED ((uint64_t *)0x30000000)
#define STEPS	200000

/* Returns how often FILE was named so far, from 1. */
static unsigned int run_of(const char *file)
{
	FILE *stream = fopen(file, "a+");
	unsigned int runs = 1;

	if (!stream)
		return 1;
	while (getc(stream) != EOF)
		runs++;
	putc('.', stream);
	fclose(stream);
	return runs;
}

int main(int argc, char **argv)
{
	unsigned long steps = STEPS * (argc > 1 ? 1ul << (run_of(argv[1]) - 1) : 1);

	if (mmap(TOUCHED, 4096, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != TOUCHED)
		return 2;
	for (int visit = 0; visit < 4; visit++) {
		PERFMON_REGION_BEGIN("calc");
		for (volatile unsigned long i = 0; i < steps; i++)
			;
		PERFMON_REGION_END("calc");
		PERFMON_REGION_BEGIN("touch");
		for (uint64_t i = 0; i < 1000; i++)
			__atomic_store_n(TOUCHED, i, __ATOMIC_RELAXED);
		PERFMON_REGION_END("touch");
		PERFMON_REGION_BEGIN("calls");
		for (int i = 0; i < 500; i++)
			syscall(SYS_getppid);
		PERFMON_REGION_END("calls");
	}
	puts("done");
	return 0;
}
