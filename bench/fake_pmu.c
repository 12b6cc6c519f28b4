/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake_pmu.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define FDS	   1024
#define INTERPOSED __attribute__((visibility("default")))

bool fake_pmu_pages;
static unsigned char faked[FDS];
static unsigned int counters;

static long open_event(long (*next)(long, ...), const long *argument)
{
	const struct perf_event_attr *wanted = (const void *)argument[0];
	struct perf_event_attr attr = *wanted;
	long fd = next(SYS_perf_event_open, argument[0], argument[1], argument[2],
		       argument[3], argument[4]);

	if (fd >= 0 || attr.type == PERF_TYPE_SOFTWARE)
		return fd;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.config1 = attr.config2 = 0;
	attr.precise_ip = 0;
	fd = next(SYS_perf_event_open, &attr, argument[1], argument[2], argument[3],
		  argument[4]);
	if (fd >= 0 && fd < FDS)
		faked[fd] = 1;
	return fd;
}

INTERPOSED long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long argument[6];
	va_list args;

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open)
		return open_event(next, argument);
	return next(number, argument[0], argument[1], argument[2], argument[3],
		    argument[4], argument[5]);
}

INTERPOSED void *mmap(void *address, size_t size, int protection, int flags, int fd,
		      off_t offset)
{
	struct perf_event_mmap_page *page;
	static void *(*next)(void *, size_t, int, int, int, off_t);

	if (!next)
		next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT,
									      "mmap");
	if (!fake_pmu_pages || fd < 0 || fd >= FDS || !faked[fd])
		return next(address, size, protection, flags, fd, offset);
	page = next(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return page;
	page->lock = 2;
	page->index = 1 + counters++ % 4;
	page->pmc_width = 48;
	page->cap_user_rdpmc = 1;
	return page;
}

static void rdpmc(int signal_number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	static uint32_t value;
	uint16_t code;

	(void)info;
	memcpy(&code, (const void *)registers[REG_RIP], sizeof(code));
	if (code != FAKE_PMU_RDPMC) {
		signal(signal_number, SIG_DFL);
		return;
	}
	registers[REG_RAX] = ++value;
	registers[REG_RDX] = 0;
	registers[REG_RIP] += FAKE_PMU_RDPMC_LENGTH;
}

void fake_pmu_start(void)
{
	struct sigaction action = {.sa_sigaction = rdpmc, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	fake_pmu_pages = true;
}
