/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts tests/programs/storm, and makes it run through its phases. */
#ifndef TESTS_STORM_CHILD_H
#define TESTS_STORM_CHILD_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "storm.h"

struct child {
	struct storm *storm;
	pid_t pid;
	bool leaves; /* its main thread ends */
};

static inline struct child start(unsigned int creators, unsigned int lasting,
				 const char *kind, const char *leaves)
{
	char path[PATH_MAX], self[PATH_MAX - 32], numbers[3][16];
	int fd = memfd_create("storm", 0);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct child child;

	cr_assert(fd >= 0 && n > 0 && !ftruncate(fd, sizeof(*child.storm)));
	self[n] = '\0';
	snprintf(path, sizeof(path), "%s/programs/storm", dirname(self));
	child.storm = mmap(NULL, sizeof(*child.storm), PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
	snprintf(numbers[0], sizeof(numbers[0]), "%d", fd);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", creators);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", lasting);
	child.leaves = leaves != NULL;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child.pid = fork();
	if (!child.pid) {
		/*
		 * Otherwise other tests might take it for the parent of their processes.
		 */
		setpgid(0, 0);
		execl(path, path, numbers[0], numbers[1], numbers[2], kind, leaves, NULL);
		_exit(127);
	}
	close(fd);
	return child;
}

static inline bool is_alive(const struct child *child)
{
	int status = 0;

	cr_assert_eq(waitpid(child->pid, &status, WNOHANG), 0, "it ended: %x", status);
	return true;
}

static inline void wait_until(const struct child *child, const _Atomic uint32_t *number,
			      uint32_t least)
{
	WAIT_UNTIL(is_alive(child) && atomic_load(number) >= least);
}

static inline void raise_phase(const struct child *child, enum storm_phase phase)
{
	atomic_store(&child->storm->phase, phase);
	syscall(SYS_futex, &child->storm->phase, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Waits until there are no new threads, those that do not last have ended, and the others
 * have all their pages. */
static inline void calm_down(const struct child *child)
{
	char path[64];

	raise_phase(child, STORM_CALM);
	WAIT_UNTIL(!atomic_load(&child->storm->creating));
	snprintf(path, sizeof(path), "/proc/%d/task", child->pid);
	WAIT_UNTIL(count_names(path) <=
		   atomic_load(&child->storm->lasting) + child->leaves);
	raise_phase(child, STORM_REHEARSE);
	wait_until(child, &child->storm->rehearsed, atomic_load(&child->storm->lasting));
}

static inline void stop(const struct child *child)
{
	kill(child->pid, SIGKILL);
	/* Also waits for its child processes, which end after it. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	munmap(child->storm, sizeof(*child->storm));
}

#endif
