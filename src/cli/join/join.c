/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/join/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/grow.h"

int cli_take_counts(const char *command, const struct cli_option *option,
		    const char *text)
{
	struct cli_counts *counts = option->to;

	if (!PM_GROW(counts->paths, counts->count))
		return cli_no_memory(command);
	counts->paths[counts->count++] = text;
	return 0;
}

void cli_counts_free(struct cli_counts *counts)
{
	free(counts->paths);
}

/* Adds the profile of SOURCE. Returns 0, 1 if it may be added after others, or a negative errno after a
 * message. */
static int merge_one(const char *command, struct pm_merge *merge,
		     const struct cli_source *source, bool is_last_try)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err = cli_source_read(source, &snapshot, &diag);

	if (err) {
		cli_complain(command, "%s", diag.text);
		return err;
	}
	err = pm_merge_add(merge, snapshot, &diag);
	pm_snapshot_free(snapshot);
	if (err == -EINVAL && !is_last_try)
		return 1;
	if (err)
		cli_complain(command, "'%s': %s", source->name, diag.text);
	return err;
}

/* Returns 0, or CLI_FAILED after a message. */
static int merge_all(struct pm_merge *merge, const struct cli_sources *sources)
{
	bool *wait = calloc(sources->count, sizeof(*wait));
	int err = 0;

	if (!wait)
		return cli_no_memory(sources->command);
	/* A profile with an unknown clock waits for one that has a clock. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; err >= 0 && i < sources->count; i++) {
			if (pass && !wait[i])
				continue;
			err = merge_one(sources->command, merge, &sources->at[i], pass);
			wait[i] = err == 1;
		}
	}
	free(wait);
	return err < 0 ? CLI_FAILED : 0;
}

int cli_join_read(const char *command, const char *path, struct pm_merge **out)
{
	struct cli_sources sources = {.command = command};
	struct pm_merge *merge = NULL;
	int status = cli_sources_add_path(&sources, path), err = 0;

	if (!status)
		err = pm_merge_create(&merge, false);
	if (!status && !err)
		status = merge_all(merge, &sources);
	if (!status && !err)
		err = pm_merge_end(merge);
	if (err)
		status = cli_fail(CLI_FAILED, command, "%s", strerror(-err));
	cli_sources_free(&sources);
	if (status)
		pm_merge_free(merge);
	else
		*out = merge;
	return status;
}

int cli_join_add(const char *command, const char *path, const struct pm_join_run *run,
		 struct pm_snapshot *timed)
{
	struct pm_merge *other;
	struct pm_diag diag = {0};
	int status = cli_join_read(command, path, &other);

	if (status)
		return status;
	if (pm_join_add(timed, other, run, &diag))
		status = cli_fail(CLI_FAILED, command, "%s", diag.text);
	pm_merge_free(other);
	return status;
}

int cli_counts_join(const struct cli_counts *counts, struct pm_snapshot *timed)
{
	int status = 0;

	for (size_t i = 0; !status && i < counts->count; i++) {
		const struct pm_join_run run = {.name = counts->paths[i]};

		status = cli_join_add(counts->command, counts->paths[i], &run, timed);
	}
	return status;
}

int cli_join_write(const char *command, const struct pm_snapshot *snapshot,
		   const char *path)
{
	struct pm_snapshot ended = *snapshot;
	struct cli_output output;
	void *bytes = NULL;
	size_t size = 0;
	int err;

	/* A sum has no process that a reader could look for. */
	if (snapshot->writer == PM_WRITER_ENDED)
		ended.header.state = PERFMON_PROFILE_STATE_ENDED;
	err = pm_snapshot_pack(&ended, &bytes, &size);
	if (err)
		return cli_fail(CLI_FAILED, command, "%s", strerror(-err));
	if (cli_output_begin(&output, command, path, "profile")) {
		free(bytes);
		return CLI_FAILED;
	}
	err = cli_output_print(&output, bytes, size);
	free(bytes);
	err = cli_output_end(&output, err);
	if (!err && snapshot->steps_count)
		cli_complain(command,
			     "'%s' does not have the steps of %u path%s: the profile of "
			     "the first run has them",
			     path, snapshot->steps_count,
			     snapshot->steps_count == 1 ? "" : "s");
	return err;
}
