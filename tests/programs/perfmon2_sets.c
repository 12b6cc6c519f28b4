/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples itself with two event sets that take turns, as the text of perfmon2 has it: the
 * signal of the descriptor interrupts the work, whose handler reads the message and goes
 * on. Which set was active stands in the message.
 *
 *	perfmon2_sets			its page faults, every 100
 *	perfmon2_sets CODE0 CODE1 PERIOD	raw events of this CPU, in hexadecimal
 */
#include <perfmon/perfmon2.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENOUGH	  5
#define STEP	  65536
#define MOST_WORK 10000000

static volatile sig_atomic_t samples[2], wrong;
static int fd = -1;

static int fail(const char *what)
{
	char text[1000] = "";

	perror(what);
	if (fd >= 0 && pfm_message(fd, text, sizeof(text)) > 0)
		fprintf(stderr, "%s\n", text);
	return 1;
}

static void on_overflow(int signo)
{
	union pfarg_msg msg;
	int saved = errno;

	(void)signo;
	while (read(fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg)) {
		unsigned int set = msg.pfm_ovfl_msg.msg_active_set;

		if (set == 0 || set == 20)
			samples[set != 0] = samples[set != 0] + 1;
		else
			wrong = wrong + 1;
		/* After the stop a last message may come, which no restart follows. */
		if (pfm_start(fd, PFM_STARTFL_RESTART) && errno != EBUSY)
			wrong = wrong + 1;
	}
	errno = saved;
}

int main(int argc, char **argv)
{
	unsigned long long period = argc > 3 ? strtoull(argv[3], NULL, 0) : 100;
	struct f_owner_ex owner;
	struct pfarg_setdesc sets[2];
	struct pfarg_setinfo info[2];
	struct pfarg_pmc pmcs[2];
	struct pfarg_pmd pmds[2];
	struct sigaction action;
	char *memory;
	long i;

	memset(sets, 0, sizeof(sets));
	memset(info, 0, sizeof(info));
	memset(pmcs, 0, sizeof(pmcs));
	memset(pmds, 0, sizeof(pmds));
	for (i = 0; i < 2; i++) {
		info[i].set_id = pmds[i].reg_set = pmcs[i].reg_set = sets[i].set_id =
			20 * i;
		sets[i].set_flags = PFM_SETFL_TIME_SWITCH;
		sets[i].set_timeout = 2000000;
		if (argc > 2) {
			pmcs[i].reg_value = strtoull(argv[1 + i], NULL, 16);
		} else {
			pmcs[i].reg_flags = PFM_PMCFL_SOFTWARE;
			pmcs[i].reg_value = PERF_COUNT_SW_PAGE_FAULTS;
		}
		pmds[i].reg_flags = PFM_PMDFL_OVFL_NOTIFY;
		pmds[i].reg_value = pmds[i].reg_long_reset = -period;
	}
	memory = (char *)mmap(NULL, 16 * STEP, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 16 * STEP, MADV_NOHUGEPAGE);
	fd = pfm_create_context(0);
	if (fd < 0)
		return fail("pfm_create_context");
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_overflow;
	owner.type = F_OWNER_TID;
	owner.pid = (int)syscall(SYS_gettid);
	if (sigaction(SIGUSR1, &action, NULL) || fcntl(fd, F_SETSIG, SIGUSR1) ||
	    fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK))
		return fail("fcntl");
	if (pfm_create_evtsets(fd, sets, sizeof(sets)))
		return fail("pfm_create_evtsets");
	if (pfm_write_pmcs(fd, pmcs, sizeof(pmcs)))
		return fail("pfm_write_pmcs");
	if (pfm_write_pmds(fd, pmds, sizeof(pmds)))
		return fail("pfm_write_pmds");
	if (pfm_load_context(fd, 0, (int)syscall(SYS_gettid)))
		return fail("pfm_load_context");
	if (pfm_start(fd, 0))
		return fail("pfm_start");
	for (i = 0; i < MOST_WORK && (samples[0] < ENOUGH || samples[1] < ENOUGH); i++) {
		if (i % 16 == 0) {
			madvise(memory, 16 * STEP, MADV_DONTNEED);
			poll(NULL, 0, 0); /* where a sanitizer lets the handler run */
		}
		memory[i % 16 * STEP] = 1;
	}
	if (pfm_stop(fd, 0))
		return fail("pfm_stop");
	if (pfm_getinfo_evtsets(fd, info, sizeof(info)))
		return fail("pfm_getinfo_evtsets");
	printf("sampled %d %d, took turns %d %d, %d wrong\n", samples[0] >= ENOUGH,
	       samples[1] >= ENOUGH, info[0].set_runs > 0, info[1].set_runs > 0,
	       (int)wrong);
	return close(fd) ? fail("close") : 0;
}
