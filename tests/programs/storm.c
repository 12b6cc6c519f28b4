/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Creates threads (or processes) as fast as it can, most of them short-lived, until it is
 * told to stop; then each of those that last causes a number of page faults that it
 * knows.
 *
 *	storm DESCRIPTOR CREATORS LASTING threads|asked|relay|processes|none
 *
 * DESCRIPTOR is a shared struct storm, LASTING how many threads are created that last.
 * asked: those that last only as they are asked for. relay: short-lived threads are created
 * by short-lived threads. none: all threads are created before the first one waits. With "leaves" after it, the main thread ends.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../storm.h"

static struct storm *storm;
static unsigned int lasting_wanted, every = 8;
static bool processes, relay, asked;
static pthread_attr_t detached, joined;

static void wait_for(uint32_t phase)
{
	uint32_t now;

	while ((now = atomic_load(&storm->phase)) < phase)
		syscall(SYS_futex, &storm->phase, FUTEX_WAIT, now, NULL, NULL, 0);
}

/* A page fault for each of COUNT times that the page is given back. */
static void work(volatile char *page, unsigned int count)
{
	while (count--) {
		madvise((void *)page, 4096, MADV_DONTNEED);
		page[0] = 1;
	}
}

static void last(void)
{
	unsigned int count = 1 + (unsigned int)syscall(SYS_gettid) % 7;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		abort();
	wait_for(STORM_REHEARSE);
	work(page, count);
	atomic_fetch_add(&storm->rehearsed, 1);
	wait_for(STORM_WORK);
	work(page, count);
	atomic_fetch_add(&storm->faults, count);
	atomic_fetch_add(&storm->worked, 1);
	for (;;)
		wait_for(UINT32_MAX);
}

static void *lasting_thread(void *argument)
{
	last();
	return argument;
}

static void *short_thread(void *argument)
{
	pthread_t thread;

	/* Two generations more, of which the first does not wait for the second. */
	if (relay && argument &&
	    !pthread_create(&thread, &detached, short_thread, (char *)argument - 1))
		atomic_fetch_add(&storm->created, 1);
	return argument;
}

static void create_thread(bool lasts, unsigned int n)
{
	pthread_t thread;
	bool join = !lasts && n % 2;

	if (pthread_create(&thread, join ? &joined : &detached,
			   lasts ? lasting_thread : short_thread, (void *)2L)) {
		/* Too many at this moment. */
		usleep(100);
		if (lasts)
			abort();
		return;
	}
	if (join)
		pthread_join(thread, NULL);
}

static void create_process(bool lasts, unsigned int n)
{
	pid_t pid;

	if (lasts && n % 2)
		atomic_fetch_add(&storm->lasting, 1);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid) {
		if (!lasts)
			waitpid(pid, NULL, 0);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!lasts)
		_exit(0);
	if (n % 2)
		create_thread(true, n);
	last();
}

static bool wants_lasting(unsigned int n)
{
	static _Atomic unsigned int given;

	if (n % every || atomic_load(&given) >= lasting_wanted)
		return false;
	if (asked && atomic_load(&given) >= atomic_load(&storm->asked))
		return false;
	return atomic_fetch_add(&given, 1) < lasting_wanted;
}

static void *creator(void *argument)
{
	unsigned int n = 0;

	while (atomic_load(&storm->phase) == STORM_CREATE) {
		bool lasts = wants_lasting(++n);

		if (lasts)
			atomic_fetch_add(&storm->lasting, 1);
		if (processes)
			create_process(lasts, n / every);
		else
			create_thread(lasts, n);
		atomic_fetch_add(&storm->created, 1);
	}
	atomic_fetch_sub(&storm->creating, 1);
	last();
	return argument;
}

int main(int argc, char **argv)
{
	unsigned int creators, i;
	pthread_t thread;
	bool leaves;

	if (argc < 5)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED,
		     atoi(argv[1]), 0);
	if (storm == MAP_FAILED)
		return 2;
	creators = (unsigned int)atoi(argv[2]);
	lasting_wanted = (unsigned int)atoi(argv[3]);
	processes = !strcmp(argv[4], "processes");
	relay = !strcmp(argv[4], "relay");
	asked = !strcmp(argv[4], "asked");
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 128 << 10);
	pthread_attr_init(&joined);
	pthread_attr_setstacksize(&joined, 128 << 10);
	if (!strcmp(argv[4], "none")) {
		atomic_fetch_add(&storm->lasting, lasting_wanted);
		for (i = 0; i < lasting_wanted; i++)
			create_thread(true, i);
		atomic_fetch_add(&storm->created, lasting_wanted);
	}
	leaves = argc > 5;
	atomic_fetch_add(&storm->lasting, creators + !leaves);
	atomic_fetch_add(&storm->creating, creators);
	for (i = 0; i < creators; i++)
		pthread_create(&thread, &detached, creator, NULL);
	/* While others live, the kernel lists a main thread that ended, as a zombie. */
	if (leaves)
		pthread_exit(NULL);
	last();
	return 0;
}
