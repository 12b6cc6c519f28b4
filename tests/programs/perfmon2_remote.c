/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches another thread, as the text of perfmon2 has it: each time that the thread's
 * counter overflows a message comes, and the session waits for a restart.
 *
 *	perfmon2_remote			page faults of the thread, every 10
 *	perfmon2_remote CODE PERIOD	the raw event CODE of this CPU, in hexadecimal
 */
#include <perfmon/perfmon2.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MESSAGES 5
#define STEP	 65536

static int report[2]; /* a pipe: the thread says who it is */
static int begin[2];  /* and another: it is to work */
static volatile int done;

static void *work(void *argument)
{
	int tid = (int)syscall(SYS_gettid);
	unsigned long i;
	char byte;

	if (write(report[1], &tid, sizeof(tid)) < 0 || read(begin[0], &byte, 1) < 0)
		return argument;
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		char *memory = mmap(NULL, 64 * STEP, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(memory, 64 * STEP, MADV_NOHUGEPAGE);
		for (i = 0; i < 64; i++)
			memory[i * STEP] = 1;
		munmap(memory, 64 * STEP);
	}
	return NULL;
}

static int fail(int fd, const char *what)
{
	char text[1000] = "";

	perror(what);
	if (fd >= 0 && pfm_message(fd, text, sizeof(text)) > 0)
		fprintf(stderr, "%s\n", text);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long long period = argc > 2 ? strtoull(argv[2], NULL, 0) : 10;
	struct pfarg_pmc pmc;
	struct pfarg_pmd pmd;
	union pfarg_msg msg;
	struct pollfd ready;
	pthread_t thread;
	int fd, tid, messages, wrong = 0;

	if (pipe(report) || pipe(begin) || pthread_create(&thread, NULL, work, NULL) ||
	    read(report[0], &tid, sizeof(tid)) != (ssize_t)sizeof(tid))
		return fail(-1, "thread");
	memset(&pmc, 0, sizeof(pmc));
	pmc.reg_num = 3;
	if (argc > 1) {
		pmc.reg_value = strtoull(argv[1], NULL, 16);
	} else {
		pmc.reg_flags = PFM_PMCFL_SOFTWARE;
		pmc.reg_value = PERF_COUNT_SW_PAGE_FAULTS;
	}
	memset(&pmd, 0, sizeof(pmd));
	pmd.reg_num = 3;
	pmd.reg_flags = PFM_PMDFL_OVFL_NOTIFY;
	pmd.reg_value = pmd.reg_long_reset = -period;
	fd = pfm_create_context(0);
	if (fd < 0)
		return fail(fd, "pfm_create_context");
	if (pfm_write_pmcs(fd, &pmc, sizeof(pmc)))
		return fail(fd, "pfm_write_pmcs");
	if (pfm_write_pmds(fd, &pmd, sizeof(pmd)))
		return fail(fd, "pfm_write_pmds");
	if (pfm_load_context(fd, 0, tid))
		return fail(fd, "pfm_load_context");
	if (pfm_start(fd, 0) || write(begin[1], "", 1) != 1)
		return fail(fd, "pfm_start");
	ready.fd = fd;
	ready.events = POLLIN;
	for (messages = 0; messages < MESSAGES; messages++) {
		if (poll(&ready, 1, 60000) != 1)
			return fail(fd, "poll");
		if (read(fd, &msg, sizeof(msg)) != (ssize_t)sizeof(msg))
			return fail(fd, "read");
		wrong += msg.type != PFM_MSG_OVFL;
		wrong += msg.pfm_ovfl_msg.msg_ovfl_tid != (unsigned int)tid;
		wrong += msg.pfm_ovfl_msg.msg_ovfl_pid != (unsigned int)getpid();
		wrong += msg.pfm_ovfl_msg.msg_ovfl_pmds[0] != 1 << 3;
		if (pfm_start(fd, PFM_STARTFL_RESTART))
			return fail(fd, "pfm_start");
	}
	if (pfm_stop(fd, 0) || pfm_unload_context(fd, 0))
		return fail(fd, "pfm_stop");
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	printf("%d messages, %d wrong\n", messages, wrong);
	return close(fd) ? fail(-1, "close") : 0;
}
