/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics in the form in which vendors publish them, and perf's source has them: JSON
 * objects, in an array or deeper. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/metrics/definition.h"
#include "core/text/text.h"

enum member { NAME, STANDARD, EXPRESSION, SCALE_UNIT, MEMBERS };

static const char *const members[MEMBERS] = {
	[NAME] = "MetricName",
	[STANDARD] = "ArchStdEvent", /* Arm's: the name, where the other is missing */
	[EXPRESSION] = "MetricExpr",
	[SCALE_UNIT] = "ScaleUnit",
};

static int take_value(struct metric_definitions *all, struct cli_json *j);

/* Takes the value of the member KEY into TEXTS, or looks for metrics in it. */
static int take_member(struct metric_definitions *all, struct cli_json *j,
		       const char *key, char *texts[MEMBERS])
{
	return cli_json_text(j, key, members, MEMBERS, texts) ? 0 : take_value(all, j);
}

static int take_object(struct metric_definitions *all, struct cli_json *j)
{
	char *texts[MEMBERS] = {NULL};
	const char *key;
	int err = 0;

	cli_json_begin(j, '{');
	while (!err && (key = cli_json_member(j)))
		err = take_member(all, j, key, texts);
	if (!err && !j->bad && (texts[NAME] || texts[STANDARD]) && texts[EXPRESSION])
		err = metric_definition_add(all, texts[NAME] ?: texts[STANDARD],
					    pm_slice_of(texts[EXPRESSION]),
					    texts[SCALE_UNIT]);
	for (int m = 0; m < MEMBERS; m++)
		free(texts[m]);
	return err;
}

static int take_value(struct metric_definitions *all, struct cli_json *j)
{
	int err = 0;

	if (cli_json_peek(j) == '{')
		return take_object(all, j);
	if (cli_json_peek(j) != '[') {
		cli_json_skip(j);
		return 0;
	}
	cli_json_begin(j, '[');
	while (!err && cli_json_next(j, ']'))
		err = take_value(all, j);
	return err;
}

int metric_file_read(struct metric_definitions *all, const char *path,
		     struct pm_diag *diag)
{
	struct cli_json j = {.bad = false};
	size_t before = all->count;
	char *text;
	int err = cli_json_file(path, &text);

	if (err) {
		free(text);
		return pm_diag_set(diag, err, "cannot read the file '%s' (%s)",
				   pm_slice_quote(pm_slice_of(path)).text,
				   err == -ENOTSUP ? "not a regular file"
						   : strerror(-err));
	}
	j.at = text;
	err = take_value(all, &j);
	if (cli_json_more(&j))
		cli_json_fail(&j);
	if (err || j.no_memory)
		err = pm_diag_set(diag, -ENOMEM, "no memory for metrics");
	else if (j.bad)
		err = pm_diag_set(diag, -EINVAL, "'%s' is not JSON from character %zu on",
				  pm_slice_quote(pm_slice_of(path)).text,
				  (size_t)(j.at - text) + 1);
	else if (all->count == before)
		err = pm_diag_set(diag, -EINVAL,
				  "'%s' has no metrics: expects objects with MetricName "
				  "and MetricExpr",
				  pm_slice_quote(pm_slice_of(path)).text);
	free(text);
	return err;
}
