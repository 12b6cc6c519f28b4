/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the system calls of two ways to do the same. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* Behind <sys/ptrace.h>, whose names it would replace. */
#include <linux/ptrace.h>

#include "bench.h"

#define MARK	   SYS_getppid
#define CALLS_MOST 64

struct calls {
	int count;
	uint64_t number[CALLS_MOST];
};

/* Runs in a child that is traced. */
static void traced(void (*library)(void), void (*by_hand)(void))
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	syscall(MARK);
	library();
	syscall(MARK);
	by_hand();
	syscall(MARK);
	_exit(0);
}

static void record(pid_t child, struct calls calls[2])
{
	struct __ptrace_syscall_info info;
	int status, marks = 0;

	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSTOP)
			ptrace(PTRACE_SETOPTIONS, child, NULL,
			       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info) >
			    0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			if (info.entry.nr == MARK)
				marks++;
			else if (marks >= 1 && marks <= 2 &&
				 calls[marks - 1].count < CALLS_MOST)
				calls[marks - 1].number[calls[marks - 1].count++] =
					info.entry.nr;
		}
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	}
}

int bench_same_calls(const char *what, void (*prepare)(void), void (*library)(void),
		     void (*by_hand)(void))
{
	struct calls calls[2] = {{0}, {0}};
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		prepare();
		traced(library, by_hand);
	}
	record(child, calls);
	if (calls[0].count && calls[0].count == calls[1].count &&
	    !memcmp(calls[0].number, calls[1].number, sizeof(calls[0].number)))
		return 0;
	for (int side = 0; side < 2; side++) {
		char text[8 * CALLS_MOST + 1] = "";

		for (int i = 0; i < calls[side].count; i++)
			snprintf(text + strlen(text), 9, " %d",
				 (int)calls[side].number[i]);
		bench_say("system calls of %s, %s:%s", what,
			  side ? "by hand" : "the library", text);
	}
	return 1;
}
