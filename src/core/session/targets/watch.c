/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads as targets: whether they live, and who is told when they end. */

#include <errno.h>
#include <poll.h>

#include "core/session/overflow/overflow.h"
#include "core/session/targets/targets.h"

/* The last counter of TARGET that is open and has no mapping, or one that has: NULL if
 * there is none. (The first may have had one, when its clock was asked for.) */
static const struct pm_counter *any_counter(const struct pm_session_plan *plan,
					    const struct pm_target *target)
{
	const struct pm_counter *mapped = NULL;

	for (uint32_t s = plan->part_count; s-- > 0;) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (uint32_t c = instance->count; c-- > 0;) {
			const struct pm_counter *counter = &instance->counters[c];

			if (counter->fd < 0)
				continue;
			if (!counter->page)
				return counter;
			mapped = counter;
		}
	}
	return mapped;
}

/* Maps an event of TARGET, once: the kernel may take a grace period (20 ms) to map again
 * what was unmapped. */
static bool has_probe(const struct pm_session_plan *plan, struct pm_target *target)
{
	const struct pm_counter *counter;

	if (target->probe)
		return true;
	counter = any_counter(plan, target);
	if (!counter ||
	    (!counter->page && pm_kernel_mmap(&target->probe_page, pm_kernel_page_size(),
					      PROT_READ, MAP_SHARED, counter->fd, 0)))
		return false;
	target->probe = counter;
	return true;
}

/* A mapped event says so to poll(2), and an event without a mapping says so always
 * (perf_poll()). */
bool pm_target_has_ended(const struct perfmon_session *session, struct pm_target *target)
{
	short events = 0;
	uint64_t id;

	/* A poll(2) takes an event's readiness away from whoever waits for it. */
	if (target->records->ring.page && session->helper)
		return false;
	if (target->records->ring.page)
		return pm_kernel_poll(target->records->ring_fd, &events) >= 0 &&
		       events & POLLHUP;
	if (!has_probe(session->plan, target))
		return pm_kernel_kill(target->tid, 0) == -ESRCH;
	if (pm_kernel_poll(target->probe->fd, &events) < 0 || !(events & POLLHUP))
		return false;
	/* Not some pipe, in the place of a descriptor that the program closed. */
	return !pm_kernel_ioctl_ptr(target->probe->fd, PERF_EVENT_IOC_ID, &id) &&
	       id == target->probe->id;
}

int pm_target_watch(struct perfmon_session *session, const struct pm_session_plan *plan,
		    struct pm_target *target, struct pm_helper *helper)
{
	int err;

	if (!helper || target->records->ring.page || target->tid < 0 ||
	    !has_probe(plan, target))
		return 0;
	err = pm_helper_watch(helper, target->probe->fd, session->watch_keys + 1);
	if (!err)
		target->watch_key = ++session->watch_keys;
	return err;
}

void pm_target_unwatch(struct perfmon_session *session, struct pm_target *target)
{
	if (session->helper && target->probe && target->watch_key)
		pm_helper_unwatch(session->helper, target->probe->fd);
	if (target->probe_page)
		pm_kernel_munmap(target->probe_page, pm_kernel_page_size());
	target->probe_page = NULL;
	target->probe = NULL;
}
