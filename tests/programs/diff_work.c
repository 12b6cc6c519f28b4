/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What perfmon diff compares: diff_work [STEPS [VISITS [THREADS]]]. In each thread the
 * region "work" takes STEPS steps in each of VISITS visits, "same" always as many, below
 * "all"; "touch" writes the word at 0x30000000 once for ten steps.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <perfmon/region.h>

#define TOUCHED ((uint64_t *)0x30000000)

static unsigned long steps = 10000, visits = 20, threads = 1;

static void step(unsigned long count)
{
	for (volatile unsigned long i = 0; i < count; i++)
		;
}

static void *thread(void *unused)
{
	PERFMON_REGION_BEGIN("all");
	for (unsigned long v = 0; v < visits; v++) {
		PERFMON_REGION_BEGIN("work");
		step(steps);
		PERFMON_REGION_END("work");
		PERFMON_REGION_BEGIN("same");
		step(10000);
		PERFMON_REGION_END("same");
		PERFMON_REGION_BEGIN("touch");
		for (unsigned long i = 0; i < steps / 10; i++)
			__atomic_store_n(TOUCHED, i, __ATOMIC_RELAXED);
		PERFMON_REGION_END("touch");
	}
	PERFMON_REGION_END("all");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t others[16];

	if (argc > 1)
		steps = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		visits = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		threads = strtoul(argv[3], NULL, 0);
	if (mmap((void *)TOUCHED, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) == MAP_FAILED ||
	    threads < 1 || threads > 16)
		return 1;
	for (unsigned long t = 1; t < threads; t++)
		if (pthread_create(&others[t], NULL, thread, NULL))
			return 1;
	thread(NULL);
	for (unsigned long t = 1; t < threads; t++)
		pthread_join(others[t], NULL);
	return 0;
}
