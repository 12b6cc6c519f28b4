/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/metrics/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/common.h"
#include "cli/metrics/metrics.h"
#include "core/named/named.h"

/* Adds TEXT behind *TO and the SEPARATOR. Returns 0, or CLI_FAILED after a message. */
static int join(const char *subcommand, char **to, const char *separator,
		const char *text)
{
	char *all;

	if (!text || !*text)
		return 0;
	if (asprintf(&all, "%s%s%s", *to ?: "", *to ? separator : "", text) < 0) {
		cli_complain(subcommand, "%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	free(*to);
	*to = all;
	return 0;
}

static int add_metrics(const char *subcommand, const struct cli_named_wish *wish,
		       struct cli_named *named)
{
	struct cli_metrics metrics = {NULL, NULL};
	int status;

	if (wish->exact) {
		cli_complain(subcommand,
			     "-M needs the counters of a CPU: --exact has no events of "
			     "perf's metrics; -g FLOPS or MEM counts exactly");
		return CLI_USAGE;
	}
	status = cli_metrics_find(subcommand, wish->metrics, wish->cpus, &metrics);
	status = status ?: join(subcommand, &named->events, ",", metrics.events);
	status = status ?: join(subcommand, &named->formulas, "; ", metrics.text);
	cli_metrics_free(&metrics);
	return status;
}

struct noted {
	const char *subcommand;
};

static void note(void *argument, const char *sentence)
{
	const struct noted *noted = argument;

	cli_complain(noted->subcommand, "%s", sentence);
}

/* Says which group cannot be counted, and what answers its question without counters. */
static int refused(const struct noted *noted, const struct cli_named_wish *wish, int err,
		   const struct pm_diag *diag)
{
	const struct pm_named_request request = {.names = wish->groups, .exact = true};
	struct pm_named_groups *groups;
	struct pm_diag ignored = {0};

	if (err != -ENOENT || wish->exact || pm_named_find(&request, &groups, &ignored)) {
		cli_complain(noted->subcommand, "%s", diag->text);
		return err == -EINVAL ? CLI_USAGE : CLI_FAILED;
	}
	pm_named_free(groups);
	cli_complain(noted->subcommand,
		     "%s. Without counters '--exact -g %s' counts exactly, and 'perfmon "
		     "roofline' adds the times of the machine",
		     diag->text, wish->groups);
	return CLI_FAILED;
}

static int add_groups(const char *subcommand, const struct cli_named_wish *wish,
		      struct cli_named *named)
{
	struct noted noted = {.subcommand = subcommand};
	const struct pm_named_request request = {.names = wish->groups,
						 .exact = wish->exact};
	struct pm_named_groups *groups = NULL;
	char *events = NULL, *metrics = NULL;
	struct pm_diag diag = {0};
	int status, err = pm_named_find(&request, &groups, &diag);

	err = err ?: pm_named_join(groups, &events, &metrics, note, &noted, &diag);
	pm_named_free(groups);
	if (err)
		return refused(&noted, wish, err, &diag);
	status = join(subcommand, &named->events, ",", events);
	status = status ?: join(subcommand, &named->formulas, "; ", metrics);
	free(events);
	free(metrics);
	return status;
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
		status = join(subcommand, &named->events, ",", wish->events);
	if (!status && wish->groups)
		status = add_groups(subcommand, wish, named);
	if (!status && wish->metrics)
		status = add_metrics(subcommand, wish, named);
	return status;
}

void cli_named_free(struct cli_named *named)
{
	free(named->events);
	free(named->formulas);
}
