/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a subcommand, as a table. */
#ifndef PM_CLI_COMMON_OPTIONS_H
#define PM_CLI_COMMON_OPTIONS_H

#include <stdbool.h>

struct cli_option {
	const char *name; /* --name; the letter is in the table of letters */
	const char *
		value; /* used instead of an argument; NULL: the option takes one, unless it has a flag */
	bool optional;	   /* with a value: an argument may follow, as in --name=1% */
	bool *flag;	   /* set to true */
	const char **text; /* set to the argument, if not NULL */
	/* Set to the argument's index in CHOICES: "text, json". */
	unsigned int *choice;
	const char *choices;
	/* Handles the argument. Returns 0, or an exit status after a message. */
	int (*take)(const char *command, const struct cli_option *option,
		    const char *text);
	void *to; /* for `take` */
};

struct cli_command {
	const char *name;
	const char *help;
	bool options_first; /* the first argument that is no option begins a command */
	const struct cli_option *options; /* the last has no name; --help is added */
};

/* Returns -1 to continue with the arguments from optind on, or the exit status. */
int cli_options_read(const struct cli_command *command, int argc, char **argv);

/* For options: sets the struct pm_metrics * in TO from the last such option. */
int cli_take_metrics(const char *command, const struct cli_option *option,
		     const char *text);

/* For options: sets the const char * in TO to a level of a machine. */
int cli_take_level(const char *command, const struct cli_option *option,
		   const char *text);

#endif
