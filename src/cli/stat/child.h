/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command: fork, exec, signals, wait. */
#ifndef PM_CLI_STAT_CHILD_H
#define PM_CLI_STAT_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stat_child {
	pid_t pid; /* 0: none */
	int go;	   /* write here to let it go; its exec closes `report` */
	int report;
	int status; /* as wait4(2) has it */
	uint64_t user_ns, system_ns;
};

/* The signals that perfmon stat takes itself, blocked from now on. */
void stat_signals_begin(void);

/* The last command has ended: from now on they do what they usually do. Those that were
 * meant for the command, which a terminal sends to all, are forgotten. */
void stat_signals_end(void);

/* As many descriptors as the limit can be raised to: each event takes one on each CPU.
 * The command has the limit as it was. */
void stat_files_begin(void);

/* Before the first run, and before each later one: standard input is read from the same place.
 * stat_input_begin() is false if it cannot be, since it is a pipe or a socket. */
bool stat_input_begin(void);
void stat_input_again(void);

/* A child that waits to be let go. 0 or a negative errno. */
int stat_child_fork(struct stat_child *child, char **command);

/* Lets it go: 0 when the command is being executed, or the negative errno of execvp(). */
int stat_child_release(struct stat_child *child);

/* Ends a child that was not let go. */
void stat_child_drop(struct stat_child *child);

enum stat_wake { STAT_WAKE_END, STAT_WAKE_SIGNAL, STAT_WAKE_TIME };

/* Waits until the child has ended (its status and times are then known), a signal asks
 * for an end where there is no child, or CLOCK_MONOTONIC is DEADLINE_NS (0: never).
 * Passes signals on to the child meanwhile. */
enum stat_wake stat_child_wait(struct stat_child *child, uint64_t deadline_ns);

/* What a shell would say: 0 to 255, 128 + n for signal n. */
int stat_child_exit_status(const struct stat_child *child);

uint64_t stat_now_ns(void);

#endif
