/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon run and stat count by the names of groups (-g) and of metrics (-M). */
#ifndef PM_CLI_METRICS_NAMED_H
#define PM_CLI_METRICS_NAMED_H

#include <stdbool.h>

#include "cli/common/common.h"

struct cli_named_wish {
	const char *events;  /* also count these, as the user wrote them; NULL: none */
	const char *groups;  /* NULL: none */
	const char *metrics; /* NULL: none */
	bool exact;	     /* the tool of exact/ counts */
	bool cpus;	     /* CPUs are counted, not threads */
	unsigned int most;   /* events that can be counted at a time; 0: any number */
};

struct cli_named {
	char *events; /* all events; NULL: the wish names none, the default is counted */
	char *formulas; /* of doc/metrics.md; NULL: none */
};

/* For `take` of an option whose list of names is given once. `to` is a const char **. */
int cli_named_take(const char *command, const struct cli_option *option,
		   const char *text);

/* Finds the events and the formulas of a WISH. Prints what is missing. Returns 0, or the
 * exit status after a message of SUBCOMMAND. Free NAMED in either case. */
int cli_named_find(const char *subcommand, const struct cli_named_wish *wish,
		   struct cli_named *named);
void cli_named_free(struct cli_named *named);

#endif
