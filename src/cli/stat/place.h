/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs that are counted, and their groups. */
#ifndef PM_CLI_STAT_PLACE_H
#define PM_CLI_STAT_PLACE_H

#include "cli/stat/cell.h"
#include "core/topology/topology.h"

/* The CPUs of a placement, in groups of a level of the machine. */
struct stat_place {
	struct pm_placement *placement;
	bool grouped;
	enum pm_level level;
	uint32_t group_count; /* 1 if not grouped */
	uint32_t *groups;     /* their logical numbers */
	struct pm_cpuwide *cpuwide;
	struct pm_reading *before; /* of each cell, at the last reading */
};

/* Opens TEXT, a placement (perfmon/placement.h). LEVEL may be NULL. Returns 0, or a
 * negative errno with a message. */
int stat_place_open(struct stat_place *place, const char *text, const char *level,
		    struct pm_diag *diag);
int stat_place_plan(struct stat_place *place, const struct pm_event_list *list,
		    struct pm_diag *diag);
void stat_place_close(struct stat_place *place);

/* Opens the events that the kernel allows, and starts them; with SPLIT in groups as small
 * as possible. */
int stat_place_start(struct stat_place *place, const struct pm_event_list *list,
		     bool split, struct pm_diag *diag);
void stat_place_stop(struct stat_place *place);
void stat_place_end(struct stat_place *place);

/* Returns the error of event EVENT of the user's text, on *CPU (-1: no CPU counts it).
 * *OPEN says whether the event is open on another CPU. */
int stat_place_error(const struct stat_place *place, const struct pm_event_list *list,
		     uint32_t event, int *cpu, bool *open);

int stat_place_read(struct stat_place *place, const struct stat_events *events,
		    struct stat_cell *cells, bool since_start, struct pm_diag *diag);

/*
 * Makes the name of a group: "package:0", "" for the sum, "all" if it cannot be divided.
 */
#define STAT_GROUP_NAME 32
void stat_place_group_name(const struct stat_place *place, uint32_t group,
			   char name[STAT_GROUP_NAME]);

#endif
