/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/metrics/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/common.h"
#include "core/events/events.h"
#include "core/named/named.h"
#include "core/text/text.h"

/* Adds TEXT, formulas, behind *TO. Returns 0, or CLI_FAILED after a message. */
static int add_formulas(const char *subcommand, char **to, const char *text)
{
	if (!text || !*text || !pm_text_add(to, "; ", text))
		return 0;
	return cli_no_memory(subcommand);
}

/* Adds EVENTS to *TO. Returns 0, or CLI_FAILED after a message. */
static int add_events(const char *subcommand, char **to, const char *events)
{
	if (!events || !*events || !pm_named_add_events(to, events))
		return 0;
	return cli_no_memory(subcommand);
}

static int add_metrics(const char *subcommand, const struct cli_named_wish *wish,
		       struct cli_named *named)
{
	struct cli_named metrics = {NULL, NULL};
	int status;

	if (wish->exact)
		return cli_fail(CLI_USAGE, subcommand,
				"-M needs the counters of a CPU: --exact has no events "
				"of perf's metrics; -g FLOPS or MEM counts exactly");
	status = cli_metrics_find(subcommand, wish->metrics, wish->cpus, &metrics);
	status = status ?: add_events(subcommand, &named->events, metrics.events);
	status = status ?: add_formulas(subcommand, &named->formulas, metrics.formulas);
	cli_named_free(&metrics);
	return status;
}

static void note(void *argument, const char *sentence)
{
	const char *const *subcommand = argument;

	cli_complain(*subcommand, "%s", sentence);
}

/* Says what answers a question without counters, if something does. */
static int refused(const char *subcommand, const struct cli_named_wish *wish, int err,
		   const struct pm_diag *diag)
{
	const struct pm_named_request request = {.names = wish->groups, .exact = true};
	struct pm_named_groups *groups;
	struct pm_diag ignored = {0};

	if (err != -ENOENT)
		cli_complain(subcommand, "%s", diag->text);
	if (err == -ENOENT && !wish->exact &&
	    !pm_named_find(&request, &groups, &ignored)) {
		pm_named_free(groups);
		cli_complain(subcommand,
			     "without counters '--exact -g %s' counts exactly, and "
			     "'perfmon roofline' adds the times of the machine",
			     wish->groups);
	}
	return err == -EINVAL ? CLI_USAGE : CLI_FAILED;
}

static int add_groups(const char *subcommand, const struct cli_named_wish *wish,
		      struct cli_named *named)
{
	const struct pm_named_request request = {.names = wish->groups,
						 .exact = wish->exact};
	struct pm_named_groups *groups = NULL;
	char *events = NULL, *metrics = NULL;
	const char *to = subcommand;
	struct pm_diag diag = {0};
	int status, err = pm_named_find(&request, &groups, &diag);

	err = err ?: pm_named_join(groups, &events, &metrics, note, &to, &diag);
	pm_named_free(groups);
	if (err)
		return refused(subcommand, wish, err, &diag);
	status = add_events(subcommand, &named->events, events);
	status = status ?: add_formulas(subcommand, &named->formulas, metrics);
	free(events);
	free(metrics);
	return status;
}

/* Checks that not more events are named than can be counted. */
static int check_number(const char *subcommand, const struct cli_named_wish *wish,
			const char *events)
{
	struct pm_event_list *list;
	size_t count;

	/* A list that cannot be parsed is reported where it is counted. */
	if (!wish->most || wish->exact || !events ||
	    pm_events_parse(events, PM_EVENTS_USER_ONLY, &list, NULL))
		return 0;
	count = list->count;
	pm_events_free(list);
	if (count <= wish->most)
		return 0;
	return cli_fail(CLI_USAGE, subcommand,
			"%zu events are needed, and regions count %u at most: name fewer "
			"groups or metrics, or count the whole command by 'perfmon stat'",
			count, wish->most);
}

int cli_named_take(const char *command, const struct cli_option *option, const char *text)
{
	const char **list = option->to;

	if (*list)
		return cli_fail(CLI_USAGE, command,
				"--%s is given twice: name all in one list: --%s %s,%s",
				option->name, option->name, *list, text);
	*list = text;
	return 0;
}

/* Returns whether EVENTS are named one by one. */
static bool are_named(const char *events)
{
	return events && *events && strcasecmp(events, "auto") != 0 &&
	       strcasecmp(events, "none") != 0;
}

int cli_named_find(const char *subcommand, const struct cli_named_wish *wish,
		   struct cli_named *named)
{
	int status = 0;

	*named = (struct cli_named){NULL, NULL};
	if (are_named(wish->events))
		status = add_events(subcommand, &named->events, wish->events);
	if (!status && wish->groups)
		status = add_groups(subcommand, wish, named);
	if (!status && wish->metrics)
		status = add_metrics(subcommand, wish, named);
	return status ?: check_number(subcommand, wish, named->events);
}

void cli_named_free(struct cli_named *named)
{
	free(named->events);
	free(named->formulas);
}
