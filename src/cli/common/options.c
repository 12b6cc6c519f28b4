/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/report/model/metric.h"
#include "core/text/text.h"

#define OPTIONS_MAX 32
#define NO_LETTER   256 /* the first option without a letter; the others follow */

/* The letters of the whole command. A letter means the same option in all subcommands. */
static const struct {
	char letter;
	const char *name;
} letters[] = {
	{'A', "all"},		{'C', "cpus"},	     {'I', "interval"},
	{'M', "named-metrics"}, {'g', "group"},	     {'P', "profile"},
	{'T', "per-thread"},	{'a', "all-cpus"},   {'b', "subtract-bias"},
	{'d', "delay"},		{'e', "events"},     {'f', "format"},
	{'h', "help"},		{'i', "no-inherit"}, {'k', "sort"},
	{'l', "level"},		{'m', "metrics"},    {'n', "count"},
	{'o', "output"},	{'p', "pid"},	     {'r', "repeat"},
	{'s', "stride"},	{'t', "tid"},	     {'u', "umasks"},
	{'v', "verbose"},	{'w', "weight"},     {'x', "exact"},
};

static int letter_of(const struct cli_option *options, int i)
{
	for (size_t at = 0; at < sizeof(letters) / sizeof(letters[0]); at++)
		if (!strcmp(letters[at].name, options[i].name))
			return letters[at].letter;
	return NO_LETTER + i;
}

static int choose(const char *command, const struct cli_option *option, const char *text)
{
	struct pm_slice rest = pm_slice_of(option->choices);

	for (unsigned int i = 0; rest.at; i++) {
		if (pm_slice_is(pm_slice_trim(pm_slice_cut(rest, ',', &rest)), text)) {
			*option->choice = i;
			return 0;
		}
	}
	return cli_fail(CLI_USAGE, command, "'%s' is not one of %s", text,
			option->choices);
}

static int take(const char *command, const struct cli_option *option, const char *text)
{
	if (option->flag)
		*option->flag = true;
	if (option->text)
		*option->text = text;
	if (option->choices)
		return choose(command, option, text);
	return option->take ? option->take(command, option, text) : 0;
}

int cli_options_read(const struct cli_command *command, int argc, char **argv)
{
	const struct cli_option *options = command->options;
	struct option names[OPTIONS_MAX + 2] = {{NULL, 0, NULL, 0}};
	char known[2 * OPTIONS_MAX + 3], *at = known;
	static char own[32];
	int c, i, status = 0;

	/* getopt(3) begins its messages with it. */
	snprintf(own, sizeof(own), "perfmon %s", command->name);
	argv[0] = own;
	if (command->options_first)
		*at++ = '+';
	for (i = 0; i < OPTIONS_MAX && options[i].name; i++) {
		bool argument = !options[i].flag && !options[i].value;
		int kind = options[i].optional ? optional_argument
			   : argument	       ? required_argument
					       : no_argument;

		names[i] = (struct option){options[i].name, kind, NULL,
					   letter_of(options, i)};
		if (letter_of(options, i) >= NO_LETTER)
			continue;
		*at++ = (char)letter_of(options, i);
		if (argument)
			*at++ = ':';
	}
	names[i] = (struct option){"help", 0, NULL, 'h'};
	*at++ = 'h';
	*at = '\0';
	while (!status && (c = getopt_long(argc, argv, known, names, NULL)) >= 0) {
		if (c == 'h') {
			fputs(command->help, stdout);
			return cli_finish(command->name, 0);
		}
		for (i = 0; options[i].name && letter_of(options, i) != c; i++)
			;
		/* getopt(3) has printed the message */
		status = !options[i].name
				 ? CLI_USAGE
				 : take(command->name, &options[i],
					options[i].value && !optarg ? options[i].value
								    : optarg);
	}
	return status ? status : -1;
}

int cli_take_metrics(const char *command, const struct cli_option *option,
		     const char *text)
{
	struct pm_metrics **metrics = option->to;
	struct pm_diag diag = {0};

	pm_metrics_free(*metrics);
	*metrics = NULL;
	if (!pm_metrics_parse(text, metrics, &diag))
		return 0;
	return cli_fail(CLI_USAGE, command, "%s", diag.text);
}

int cli_take_level(const char *command, const struct cli_option *option, const char *text)
{
	*(const char **)option->to = text;
	if (pm_level_find(pm_slice_of(text)) >= 0)
		return 0;
	return cli_fail(CLI_USAGE, command,
			"'%s' is not a level of the machine: expects one of %s", text,
			PM_LEVEL_NAMES);
}
