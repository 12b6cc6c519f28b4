/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command: fork, exec, signals, wait. */
#ifndef PM_CLI_STAT_CHILD_H
#define PM_CLI_STAT_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stat_child {
	pid_t pid; /* 0: none */
	/* A socket: a byte starts the child's exec, which closes the other end, or fails and
	 * sends its errno. */
	int link;
	int status; /* as in wait4(2) */
	uint64_t user_ns, system_ns;
};

/* Blocks the signals that perfmon stat handles itself. */
void stat_signals_begin(void);

/* Restores the usual effect of signals, after the last command has ended. Drops pending
 * signals that a terminal sent to all, which were meant for the command. */
void stat_signals_end(void);

/* Raises the limit of descriptors to the maximum: each event needs one on each CPU. The
 * command gets the old limit. */
void stat_files_begin(void);

/*
 * Makes each run read standard input from the same place. Call it before the first run,
 * and stat_input_again() before each later one. Returns false if the input is a pipe or a
 * socket.
 */
bool stat_input_begin(void);
void stat_input_again(void);

/* Forks a child, which waits for stat_child_release(). Returns 0 or a negative errno. */
int stat_child_fork(struct stat_child *child, char **command);

/* Starts the command. Returns 0 when it is being executed, or the negative errno of
 * execvp(). */
int stat_child_release(struct stat_child *child);

/* Ends a child that was not released. */
void stat_child_drop(struct stat_child *child);

enum stat_wake { STAT_WAKE_END, STAT_WAKE_SIGNAL, STAT_WAKE_TIME };

/*
 * Waits until the child has ended (its status and times are then set), a signal asks for
 * an end and there is no child, or CLOCK_MONOTONIC is DEADLINE_NS (0: never). Passes
 * signals on to the child.
 */
enum stat_wake stat_child_wait(struct stat_child *child, uint64_t deadline_ns);

/* Returns the status that a shell would have: 0 to 255, 128 + n for signal n. */
int stat_child_exit_status(const struct stat_child *child);

uint64_t stat_now_ns(void);

#endif
