/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of perfmon stat. */
#ifndef PM_CLI_STAT_OPTIONS_H
#define PM_CLI_STAT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmon/session.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_options {
	char *events;	/* NULL: the machine's defaults */
	char **command; /* NULL: none */
	/* Running targets; none: the command. */
	struct perfmon_target *targets; /* threads or processes */
	uint32_t target_count;
	bool threads, processes;
	const char *place; /* CPUs; NULL: none */
	const char *level; /* the result is by this level; NULL: the sum */
	uint32_t runs;
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* 0: none */
	const char *output;   /* NULL: stderr */
	enum stat_format format;
	bool append;
	bool inherit;	     /* count the command's children, too */
	bool descendants;    /* count the children apart */
	bool split;	     /* every event in a group of its own */
	const char *groups;  /* NULL: none */
	const char *metrics; /* by name; NULL: none */
	bool exact;	     /* by the Valgrind tool */
	bool verbose;
};

/* Parses the options. The caller frees them, also after a failure. Returns -1 to
 * continue, or the exit status. */
int stat_options_parse(struct stat_options *options, int argc, char **argv);

#endif
