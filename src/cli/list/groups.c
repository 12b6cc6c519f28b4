/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The groups of events: a text for people, lines for programs. */
#include "cli/list/list.h"

#include <stdio.h>

#include "cli/common/common.h"
#include "core/named/named.h"
#include "core/report/output/escape.h"
#include "core/report/output/out.h"
#include "core/report/output/row.h"

/* Why a group has no metric. */
#define NO_EVENT "no event of this CPU is known to answer it"

/* "FLOPS  metric  events  yes", with tabs between. */
static void put_line(struct pm_out *out, const struct pm_named_group *group,
		     const struct pm_named_metric *metric, bool exact)
{
	pm_out_plain(out, group->name, 0);
	pm_out_text(out, "\t");
	pm_out_plain(out, metric->name, 0);
	pm_out_text(out, "\t");
	pm_out_plain(out, metric->events ?: "", 0);
	pm_out_text(out, metric->missing ? "\tno\t" : exact ? "\texact\t" : "\tyes\t");
	pm_out_plain(out, metric->why ?: "", 0);
	pm_out_text(out, "\n");
}

static void put_metric(struct pm_out *out, const struct pm_named_metric *metric)
{
	struct pm_diag why;
	struct pm_row row = {.out = out, .blanks = 2};

	pm_row_left(&row, metric->missing ? "-" : "+", 0, 2);
	pm_row_left(&row, metric->name, 0, 24);
	pm_row_left(&row, metric->events ?: "", 0, 0);
	pm_row_end(&row);
	if (!metric->missing)
		return;
	pm_diag_set(&why, 0, "without %s: %s", metric->missing, metric->why);
	pm_out_repeat(out, ' ', 6);
	cli_put_wrapped(out, 6, CLI_FAINT, why.text);
}

static void put_group(struct pm_out *out, const struct pm_named_group *group)
{
	pm_out_text(out, cli_style(CLI_STRONG));
	pm_out_plain(out, group->name, 0);
	pm_out_text(out, cli_style(CLI_PLAIN));
	pm_out_text(out, "  ");
	pm_out_plain(out, group->question, 0);
	pm_out_text(out, "\n");
	if (!group->count)
		pm_out_text(out, "  - " NO_EVENT "\n");
	for (uint32_t m = 0; m < group->count; m++)
		put_metric(out, &group->metrics[m]);
	pm_out_text(out, "\n");
}

static void put_lines(struct pm_out *out, const struct pm_named_group *group, bool exact)
{
	for (uint32_t m = 0; m < group->count; m++)
		put_line(out, group, &group->metrics[m], exact);
	if (group->count)
		return;
	pm_out_plain(out, group->name, 0);
	pm_out_text(out, "\t\t\tno\t" NO_EVENT "\n");
}

static int put_groups(struct pm_out *out, bool exact)
{
	const struct pm_named_request request = {.exact = exact};
	struct pm_named_groups *groups;
	struct pm_diag diag = {0};
	bool people = cli_is_terminal();

	if (pm_named_find(&request, &groups, &diag))
		return cli_fail(CLI_FAILED, "list", "%s", diag.text);
	if (people) {
		pm_out_plain(out, groups->family, 0);
		pm_out_text(out,
			    exact ? ":\n\n" : " (+ can be counted here, - cannot):\n\n");
	}
	for (uint32_t g = 0; g < groups->count; g++) {
		if (people)
			put_group(out, &groups->groups[g]);
		else
			put_lines(out, &groups->groups[g], exact);
	}
	pm_named_free(groups);
	return 0;
}

int cli_list_groups(void)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	int status;

	if (cli_is_terminal())
		cli_pager_begin();
	status = put_groups(&out, false);
	status = status ?: put_groups(&out, true);
	pm_out_end(&out);
	return cli_finish("list", status);
}
