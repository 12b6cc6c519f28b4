/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"

static int pick(const char *name, struct pm_event_list **list, struct pm_diag *diag)
{
	struct truth_counter counter;
	int err = pm_events_parse(name, PM_EVENTS_USER_ONLY, list, diag);

	if (err)
		return err;
	if ((*list)->count > 1)
		err = pm_diag_set(diag, -ENOTUNIQ,
				  "'%s' stands for several events on this machine, one "
				  "for each kind of core: bind the command to one kind "
				  "(taskset), and name its PMU",
				  name);
	else if (pm_event_mode_is_ignored(&(*list)->events[0]))
		(*list)->events[0].attr.exclude_kernel =
			(*list)->events[0].attr.exclude_hv = 0;
	if (!err)
		err = truth_counter_open(&counter, (*list)->events, 1, 0, diag);
	if (err)
		pm_events_free(*list);
	else
		truth_counter_close(&counter);
	return err;
}

int truth_pick(const char *name, struct pm_event_list **list, struct pm_diag *diag)
{
	static const char *const names[] = {"cycles", "branches", "instructions"};
	int err = -ENOENT;

	if (name)
		return pick(name, list, diag);
	/* The message is that of the event that is wanted most. */
	for (size_t i = sizeof(names) / sizeof(names[0]); i-- && err;)
		err = pick(names[i], list, i == 2 ? diag : NULL);
	return err;
}
