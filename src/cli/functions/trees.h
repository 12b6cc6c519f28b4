/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trees of calls that the tool has written, and what is kept of them. */
#ifndef PM_CLI_FUNCTIONS_TREES_H
#define PM_CLI_FUNCTIONS_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/exact.h"
#include "cli/exact/exact.h"

struct tree_function {
	char *name;
	bool wanted; /* a pattern names it */
	bool kept;
	uint64_t inclusive; /* of the first event */
};

struct tree_node {
	uint32_t parent;   /* 0: a thread */
	uint32_t function; /* 0: a thread */
	uint64_t visits;
	uint64_t count[PM_EXACT_EVENT_COUNT]; /* exclusive */
};

struct tree_thread {
	uint32_t root; /* its node */
	uint32_t lwp;
	char name[16];
};

/* A process's tree. Numbers of functions and nodes count from 1. A node has a higher number
 * than its parent. */
struct tree {
	pid_t pid, parent;
	bool execs;	 /* the process went on as another program */
	bool is_command; /* it is what the user has started, and is no other program by now */
	bool has_symbols; /* the program itself, whatever its libraries have */
	bool has_regions;
	bool has_stacks; /* other than one for each thread */
	char *program;	 /* as it was called */
	uint32_t main;	 /* the object that is the program, or more than there are */
	uint32_t function_count, node_count, thread_count, pattern_count, object_count;
	struct tree_function *functions;
	struct tree_node *nodes;
	struct tree_thread *threads;
	uint32_t *found; /* how many functions each pattern has chosen */
	char **objects;	 /* files with code */
	uint64_t lost;	 /* calls that have no node */
	uint64_t total[PM_EXACT_EVENT_COUNT];
};

struct trees {
	uint32_t count;
	struct tree *at;
	uint32_t missing; /* processes that have begun, and left no counts of their end */
};

/*
 * Reads the files in FOLDER. Counts have the order of EVENTS, which are those of the run. The trees are
 * first those of the process FIRST, then the others in the order of their PIDs. Returns 0, -ENOMEM,
 * -EINVAL for a file that is not whole, or an error of opendir(3) or open(2).
 */
int trees_read(const char *folder, pid_t first, const struct cli_exact_events *events,
	       struct trees *trees);
void trees_free(struct trees *trees);

/* Sums what each function counts with what it calls, of the first event. 0 or -ENOMEM. */
int tree_sum(struct tree *tree);

/* Leaves functions that are not kept out: they count in their callers. 0 or -ENOMEM. */
int tree_prune(struct tree *tree, uint32_t events);

/* Makes one tree of all, with a node for each thread and no function. 0 or -ENOMEM. */
int trees_sum(struct trees *trees, uint32_t events);

#endif
