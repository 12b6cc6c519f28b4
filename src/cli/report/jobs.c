/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/jobs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/profile.h"
#include "core/report/model/times.h"
#include "core/text/grow.h"

#define NO_JOB "none"

/* A job, and the number of its profiles. */
struct job {
	char id[sizeof(((struct perfmon_profile_header *)0)->job)];
	size_t profiles;
	uint64_t began_ns;
};

struct jobs {
	struct job *at;
	size_t count;
	size_t *of; /* the job of each profile; SIZE_MAX: it cannot be opened */
};

static int jobs_add(struct jobs *jobs, const struct perfmon_profile_header *header,
		    size_t *number)
{
	const char *id = header->job[0] ? header->job : NO_JOB;

	for (*number = 0; *number < jobs->count; (*number)++)
		if (!strcmp(jobs->at[*number].id, id))
			break;
	if (*number == jobs->count) {
		if (!PM_GROW(jobs->at, jobs->count))
			return -ENOMEM;
		jobs->at[jobs->count] = (struct job){.began_ns = UINT64_MAX};
		strcpy(jobs->at[jobs->count++].id, id);
	}
	jobs->at[*number].profiles++;
	if (header->begin_realtime_ns < jobs->at[*number].began_ns)
		jobs->at[*number].began_ns = header->begin_realtime_ns;
	return 0;
}

static int jobs_find(struct jobs *jobs, const struct cli_sources *sources)
{
	int err = 0;

	jobs->of = calloc(sources->count + 1, sizeof(*jobs->of));
	if (!jobs->of)
		return -ENOMEM;
	for (size_t i = 0; !err && i < sources->count; i++) {
		const struct cli_source *source = &sources->at[i];
		struct pm_profile_file *file;

		jobs->of[i] = SIZE_MAX;
		if (source->pid ? pm_profile_file_open_pid(source->pid, &file, NULL)
				: pm_profile_file_open(source->name, &file, NULL))
			continue;
		err = jobs_add(jobs, pm_profile_file_header(file), &jobs->of[i]);
		pm_profile_file_close(file);
	}
	return err;
}

static bool is_wanted(const struct job *job, const char *wanted)
{
	const char *colon = strchr(job->id, ':');

	return !strcmp(job->id, wanted) || (colon && !strcmp(colon + 1, wanted));
}

static void tell(const struct jobs *jobs)
{
	for (size_t j = 0; j < jobs->count; j++) {
		const struct job *job = &jobs->at[j];
		char date[40];

		pm_report_date(date, sizeof(date), job->began_ns, false);
		cli_complain("report", "--job=%s: %zu profile%s%s%s", job->id,
			     job->profiles, job->profiles == 1 ? "" : "s",
			     date[0] ? ", from " : "", date);
	}
}

/* Keeps the profiles of job number KEPT. */
static void keep(struct cli_sources *sources, const struct jobs *jobs, size_t kept)
{
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		if (jobs->of[i] == kept || jobs->of[i] == SIZE_MAX)
			sources->at[count++] = sources->at[i];
		else
			free(sources->at[i].name);
	}
	sources->count = count;
}

int cli_jobs_choose(struct cli_sources *sources, const char *wanted)
{
	struct jobs jobs = {0};
	size_t kept = 0;
	int status = 0;

	if (sources->count < 2 && !wanted)
		return 0;
	if (jobs_find(&jobs, sources))
		status = cli_no_memory("report");
	while (wanted && kept < jobs.count && !is_wanted(&jobs.at[kept], wanted))
		kept++;
	if (!status && !wanted && jobs.count > 1)
		status = cli_fail(
			CLI_USAGE, "report",
			"the profiles are of %zu jobs, which are not summed: choose one",
			jobs.count);
	else if (!status && wanted && kept == jobs.count)
		status = cli_fail(CLI_USAGE, "report", "no profile is of the job '%s'",
				  wanted);
	else if (!status && wanted)
		keep(sources, &jobs, kept);
	if (status == CLI_USAGE)
		tell(&jobs);
	free(jobs.at);
	free(jobs.of);
	return status;
}
