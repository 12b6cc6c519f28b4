/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does what it is told, word by word, so that its counts are known:
 *
 *	touch N		writes N times to the 8 bytes at 0x30000000
 *	fork N, thread N  has a child or a thread do that, and waits for it
 *	faults N	touches N new pages
 *	loop N		N rounds of a loop of two instructions
 *	sleep MS	sleeps
 *	ignore N, catch N  ignores signal N; ends with status 42 when it comes
 *	ready FILE	makes FILE
 *	until FILE	waits until there is FILE
 *	wait		for a signal
 *	raise N		sends itself signal N
 *	again ...	executes itself with the words that follow
 *	euid 0		prints its effective user
 *	exit N
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t *const watched = (uint64_t *)0x30000000;

static void touch(unsigned long n)
{
	while (n--)
		*watched += 1;
}

static void *touch_in_thread(void *n)
{
	touch((unsigned long)(uintptr_t)n);
	return NULL;
}

static void faults(unsigned long n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(99);
	madvise((void *)memory, n * page, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < n; i++)
		memory[i * page] = 1;
}

static void loop(unsigned long n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	while (n--)
		__asm__ volatile("");
#endif
}

static void end(int signal)
{
	(void)signal;
	_exit(42);
}

static void act(const char *word, const char *value)
{
	unsigned long n = strtoul(value, NULL, 10);
	pthread_t thread;
	pid_t child;

	if (!strcmp(word, "touch")) {
		touch(n);
	} else if (!strcmp(word, "fork")) {
		child = fork();
		if (!child) {
			touch(n);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	} else if (!strcmp(word, "thread")) {
		if (pthread_create(&thread, NULL, touch_in_thread, (void *)n))
			_exit(99);
		pthread_join(thread, NULL);
	} else if (!strcmp(word, "faults")) {
		faults(n);
	} else if (!strcmp(word, "loop")) {
		loop(n);
	} else if (!strcmp(word, "sleep")) {
		usleep((useconds_t)n * 1000);
	} else if (!strcmp(word, "ignore")) {
		signal((int)n, SIG_IGN);
	} else if (!strcmp(word, "catch")) {
		signal((int)n, end);
	} else if (!strcmp(word, "ready")) {
		close(open(value, O_WRONLY | O_CREAT, 0666));
	} else if (!strcmp(word, "until")) {
		while (access(value, F_OK))
			usleep(2000);
	} else if (!strcmp(word, "raise")) {
		raise((int)n);
	} else if (!strcmp(word, "euid")) {
		printf("%u\n", (unsigned int)geteuid());
		fflush(stdout);
	} else if (!strcmp(word, "exit")) {
		_exit((int)n);
	} else {
		_exit(98);
	}
}

int main(int argc, char **argv)
{
	if (mmap((void *)(uintptr_t)watched, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)(uintptr_t)watched)
		return 99;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "wait")) {
			pause();
		} else if (!strcmp(argv[i], "again")) {
			argv[i] = argv[0];
			execv(argv[0], argv + i);
			return 97;
		} else if (i + 1 < argc) {
			act(argv[i], argv[i + 1]);
			i++;
		}
	}
	/* Nothing is counted of what a libc or a sanitizer does at an exit. */
	_exit(0);
}
