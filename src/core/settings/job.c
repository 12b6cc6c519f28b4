/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/job.h"

#include <stdio.h>
#include <string.h>

#include "core/settings/variables.h"

/* Launchers come before batch systems: a job of a batch system may run several programs. */
static const struct {
	const char *name, *variable;
} ids[] = {
	{"pmix", "PMIX_NAMESPACE"}, {"ompi", "OMPI_MCA_ess_base_jobid"},
	{"pals", "PALS_APID"},	    {"alps", "ALPS_APP_ID"},
	{"flux", "FLUX_JOB_ID"},    {"slurm", "SLURM_JOB_ID"},
	{"lsf", "LSB_JOBID"},	    {"pbs", "PBS_JOBID"},
	{"cobalt", "COBALT_JOBID"},
};

/* The step of a Slurm job, if srun started the process itself: under the daemons of other
 * launchers the variable is that of the daemon, and differs between nodes. */
static const char *slurm_step(void)
{
	static const char *const others[] = {"PMI_RANK", "MV2_COMM_WORLD_RANK",
					     "OMPI_COMM_WORLD_RANK"};
	const char *task = pm_variable("SLURM_PROCID");

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *rank = pm_variable(others[i]);

		if (rank && (!task || strcmp(rank, task) != 0))
			return NULL;
	}
	return task ? pm_variable("SLURM_STEP_ID") : NULL;
}

void pm_job_id(char *buffer, size_t size)
{
	buffer[0] = '\0';
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const char *id = pm_variable(ids[i].variable), *step = NULL;

		if (!id)
			continue;
		if (!strcmp(ids[i].name, "slurm"))
			step = slurm_step();
		snprintf(buffer, size, "%s:%s%s%s", ids[i].name, id, step ? "." : "",
			 step ? step : "");
		return;
	}
}
