/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command that runs as a child: fork, exec, signals, and how it ended. */
#ifndef PM_CLI_COMMON_CHILD_H
#define PM_CLI_COMMON_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli_child {
	pid_t pid; /* 0: none */
	/* A socket: a byte starts the child's exec, which closes the other end, or fails and
	 * sends its errno. */
	int link;
	int status; /* as in wait4(2) */
	uint64_t user_ns, system_ns;
};

struct cli_child_how {
	/* Descriptors for standard input, output and error, -1: the caller's; NULL: all are. */
	const int *standard;
	int death_signal;   /* the command gets it if this process dies; 0: none */
	void (*undo)(void); /* is called in the child before its exec; or NULL */
};

/* Returns the variable NAME, or NULL if it is not set or empty. */
const char *cli_variable(const char *name);
/* Sets the variable NAME for commands. Returns 0, or CLI_FAILED after a message of COMMAND. */
int cli_variable_set(const char *command, const char *name, const char *text);
/* Adds TEXT to what the variable has, with SEPARATOR between. */
int cli_variable_add(const char *command, const char *name, const char *separator,
		     const char *text);

/*
 * Makes each run of a command read standard input from the same place: call it before the first run, and
 * cli_input_again() before each later one. Returns false if the input is a pipe or a socket.
 */
bool cli_input_begin(void);
void cli_input_again(void);

/* Blocks the signals that are passed on to commands, and SIGCHLD. Other calls than the first do
 * nothing. */
void cli_child_signals_begin(void);

/* Restores the usual effect of signals, after the last command has ended. Drops pending signals that
 * a terminal sent to all, which were meant for the command. */
void cli_child_signals_end(void);

/* Forks a child, which waits for cli_child_release(). Returns 0 or a negative errno. */
int cli_child_fork(struct cli_child *child, char **command,
		   const struct cli_child_how *how);

/* Starts the command. Returns 0 when it is being executed, or the negative errno of
 * execvp(). */
int cli_child_release(struct cli_child *child);

/* Ends a child that was not released. */
void cli_child_drop(struct cli_child *child);

enum cli_wake { CLI_WAKE_END, CLI_WAKE_SIGNAL, CLI_WAKE_TIME };

/*
 * Waits until the child has ended (its status and times are then set), a signal asks for
 * an end and there is no child, or CLOCK_MONOTONIC is DEADLINE_NS (0: never). Passes
 * signals on to the child.
 */
enum cli_wake cli_child_wait(struct cli_child *child, uint64_t deadline_ns);

/* Says that COMMAND cannot run NAME, for the negative errno ERR. Returns the status that a shell would
 * have. */
int cli_child_cannot_run(const char *command, const char *name, int err);

/* Returns the status that a shell would have: 0 to 255, 128 + n for signal n. */
int cli_child_exit_status(int status);

/*
 * cli_child_run() - runs COMMAND as a child, which dies with this process, and passes signals on to
 * it. STANDARD is as in struct cli_child_how. Returns 0 with its STATUS as waitpid(2) gives it; or
 * -errno if it could not be run: -EINTR after a signal of the user's, which cli_child_interrupt()
 * has.
 */
int cli_child_run(char **command, const int *standard, int *status);

/* Returns the process ID of the command that ran last. */
pid_t cli_child_pid(void);

/* Returns the signal that asked this process to end since cli_child_signals_begin(); 0: none. */
int cli_child_interrupt(void);

/* Ends as a command with this STATUS did: by its signal, or returns its exit status. */
int cli_child_end_as(int status);

/* Returns the time of CLOCK_MONOTONIC. */
uint64_t cli_now_ns(void);

#endif
