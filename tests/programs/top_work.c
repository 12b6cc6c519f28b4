/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What perfmon top watches in tests: does nothing but what its standard input says, and
 * answers each line with one of its own when it is done.
 *
 *	visits N	visits "outer" N times, and in each "inner" twice
 *	thread N	the same in a thread of its own, which then ends
 *	stay N		the same in one that lives on until the program ends
 *	spin		visits "spin" over and over in a thread that lives on
 *	sleep		visits "sleep" once, for 50 ms off the CPU
 *	begin NAME	begins that region
 *	end NAME	ends it
 *	exec		becomes a program that uses no regions, and lives on
 *	exit		ends
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <perfmon/region.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void visit(unsigned long n)
{
	while (n--) {
		PERFMON_REGION_BEGIN("outer");
		for (int i = 0; i < 2; i++) {
			PERFMON_REGION_BEGIN("inner");
			PERFMON_REGION_END("inner");
		}
		PERFMON_REGION_END("outer");
	}
}

static void *visitor(void *n)
{
	visit((uintptr_t)n);
	return NULL;
}

static pthread_barrier_t has_visited;

static void *stayer(void *n)
{
	pthread_setname_np(pthread_self(), "stayer");
	visit((uintptr_t)n);
	pthread_barrier_wait(&has_visited);
	for (;;)
		pause();
	return NULL;
}

static void *spinner(void *unused)
{
	pthread_setname_np(pthread_self(), "spinner");
	pthread_barrier_wait(&has_visited);
	for (;;) {
		PERFMON_REGION_BEGIN("spin");
		for (volatile int i = 0; i < 1000000; i++)
			;
		PERFMON_REGION_END("spin");
	}
	return unused;
}

static void nap(void)
{
	PERFMON_REGION_BEGIN("sleep");
	usleep(50000);
	PERFMON_REGION_END("sleep");
}

static int on_thread(void *(*run)(void *), unsigned long n, int ends)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)n))
		return -1;
	if (ends)
		return pthread_join(thread, NULL);
	pthread_barrier_wait(&has_visited);
	return 0;
}

int main(void)
{
	char line[200], name[100];
	unsigned long n;

	pthread_barrier_init(&has_visited, NULL, 2);
	visit(1);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int bad = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "visits %lu", &n) == 1)
			visit(n);
		else if (sscanf(line, "thread %lu", &n) == 1)
			bad = on_thread(visitor, n, 1);
		else if (sscanf(line, "stay %lu", &n) == 1)
			bad = on_thread(stayer, n, 0);
		else if (!strcmp(line, "spin"))
			bad = on_thread(spinner, 0, 0);
		else if (!strcmp(line, "sleep"))
			nap();
		else if (sscanf(line, "begin %99[^\n]", name) == 1)
			perfmon_region_begin_name(name);
		else if (sscanf(line, "end %99[^\n]", name) == 1)
			perfmon_region_end_name(name);
		else if (!strcmp(line, "exec"))
			bad = execlp("sleep", "sleep", "1000", (char *)NULL);
		else if (!strcmp(line, "exit"))
			break;
		else
			bad = 1;
		puts(bad ? "no" : "ok");
		fflush(stdout);
	}
	return 0;
}
