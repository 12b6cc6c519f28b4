/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether hardware breakpoints count here. On some virtual machines they open without an
 * error, and never fire. */
#ifndef TESTS_BREAKPOINTS_H
#define TESTS_BREAKPOINTS_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BREAKPOINTS_SILENT "hardware breakpoints open here but do not fire"

/*
 * Linux takes a breakpoint for the instruction INT1 if the CPU gives no cause, and ends the
 * program. KVM before Linux 6.14 can lose the cause (DR6). scripts/run-test knows the line, and
 * runs such a test once more.
 */
static inline void breakpoint_is_lost(int number, siginfo_t *info, void *context)
{
	static const char line[] = "a breakpoint came without its cause\n";
	ssize_t ignored = info->si_code == TRAP_BRKPT
				  ? write(STDERR_FILENO, line, sizeof(line) - 1)
				  : 0;

	(void)ignored;
	(void)context;
	signal(number, SIG_DFL);
	raise(number);
}

/* Returns whether a breakpoint counts any of a variable's writes. It is also true where
 * none opens: a test has the kernel's reason for that. */
static inline bool breakpoints_fire(void)
{
	static volatile uint64_t written __attribute__((aligned(8)));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&written,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct sigaction action = {.sa_sigaction = breakpoint_is_lost,
				   .sa_flags = SA_SIGINFO};
	uint64_t count = 0;
	ssize_t size;
	int fd =
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return true;
	sigaction(SIGTRAP, &action, NULL);
	for (uint64_t i = 0; i < 10; i++)
		written = i;
	size = read(fd, &count, sizeof(count));
	close(fd);
	return size != sizeof(count) || count;
}

/* Begin a test with this if it needs a breakpoint to fire. */
#define NEEDS_BREAKPOINTS()                                                              \
	do {                                                                             \
		if (!breakpoints_fire())                                                 \
			cr_skip_test("%s", BREAKPOINTS_SILENT);                          \
	} while (0)

#endif
