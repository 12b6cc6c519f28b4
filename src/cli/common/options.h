/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a subcommand, as a table. */
#ifndef PM_CLI_COMMON_OPTIONS_H
#define PM_CLI_COMMON_OPTIONS_H

#include <stdbool.h>

struct cli_option {
	const char *name;  /* --name; its letter stands in the table of letters */
	const char *value; /* instead of an argument; NULL: it takes one, unless it has */
	bool *flag;	   /* ... which becomes true */
	const char **text; /* becomes the argument, if not NULL */
	/* Becomes the argument's place in CHOICES: "text, json". */
	unsigned int *choice;
	const char *choices;
	/* Does with the argument what it is for: 0, or an exit status and it has
	 * complained. */
	int (*take)(const char *command, const struct cli_option *option,
		    const char *text);
	void *to; /* for `take` */
};

struct cli_command {
	const char *name;
	const char *help;
	bool options_first; /* what is no option ends them: the rest is a command's */
	const struct cli_option *options; /* the last has no name; --help is added */
};

/* -1 to go on with the arguments from optind on, or the exit status. */
int cli_options_read(const struct cli_command *command, int argc, char **argv);

/* For options: the metrics of the last one, TO a struct pm_metrics *. */
int cli_take_metrics(const char *command, const struct cli_option *option,
		     const char *text);

/* ... a level of a machine, TO a const char *. */
int cli_take_level(const char *command, const struct cli_option *option,
		   const char *text);

#endif
