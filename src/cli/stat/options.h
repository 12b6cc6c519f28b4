/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of perfmon stat. */
#ifndef PM_CLI_STAT_OPTIONS_H
#define PM_CLI_STAT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmon/session.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_options {
	char *events;	/* NULL: what the machine has */
	char **command; /* NULL: none */
	/* What runs already; none: the command. */
	struct perfmon_target *targets; /* threads, or */
	uint32_t target_count;
	bool threads, processes;
	const char *place; /* CPUs; NULL: none */
	const char *level; /* ... reported by it; NULL: their sum */
	uint32_t runs;
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* 0: none */
	const char *output;   /* NULL: stderr */
	enum stat_format format;
	bool append;
	bool inherit;	  /* count what the command creates, too */
	bool descendants; /* ... and apart */
	bool split;	  /* every event on its own */
	bool exact;	  /* by translation */
	bool verbose;
};

/* Takes the options; what it allocates is the caller's to free, also after a failure. -1
 * to go on, or the exit status to end with. */
int stat_options_parse(struct stat_options *options, int argc, char **argv);

#endif
