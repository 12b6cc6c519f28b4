/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of a merge, the hosts that they ran on, and lists of processes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/report/model/times.h"
#include "core/text/grow.h"

/* --- lists: few of them have more than one stretch, however many processes there are --- */

int pm_merge_list_add(struct pm_merge_list *list, uint32_t first, uint32_t last)
{
	struct pm_merge_stretch *end =
		list->stretches ? &list->at[list->stretches - 1] : NULL;

	if (end && first == end->last + 1) {
		end->last = last;
	} else {
		if (!PM_GROW(list->at, list->stretches))
			return -ENOMEM;
		list->at[list->stretches++] =
			(struct pm_merge_stretch){first, last, list->count};
	}
	list->count += last - first + 1;
	return 0;
}

int pm_merge_list_join(struct pm_merge_list *list, const struct pm_merge_list *other,
		       uint32_t shift)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < other->stretches; i++)
		err = pm_merge_list_add(list, other->at[i].first + shift,
					other->at[i].last + shift);
	return err;
}

/* Returns the last stretch of LIST, which is not empty, that begins at NUMBER or before it: a process,
 * or with INDEX a place in the list. */
static const struct pm_merge_stretch *stretch_of(const struct pm_merge_list *list,
						 uint32_t number, bool index)
{
	uint32_t low = 0, high = list->stretches;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if ((index ? list->at[middle].before : list->at[middle].first) <= number)
			low = middle;
		else
			high = middle;
	}
	return &list->at[low];
}

uint32_t pm_merge_list_at(const struct pm_merge_list *list, uint32_t index)
{
	const struct pm_merge_stretch *stretch = stretch_of(list, index, true);

	return stretch->first + (index - stretch->before);
}

bool pm_merge_list_has(const struct pm_merge_list *list, uint32_t process)
{
	const struct pm_merge_stretch *stretch;

	if (!list->stretches)
		return false;
	stretch = stretch_of(list, process, false);
	return process >= stretch->first && process <= stretch->last;
}

/* --- processes and hosts ------------------------------------------------------------ */

static int host_get(struct pm_merge *merge, const char *name, uint32_t *host)
{
	/* Neighbours often have the same one. */
	for (uint32_t h = merge->host_count; h-- > 0;) {
		if (strcmp(merge->hosts[h], name) != 0)
			continue;
		*host = h;
		return 0;
	}
	if (!PM_GROW(merge->hosts, merge->host_count))
		return -ENOMEM;
	merge->hosts[merge->host_count] = strdup(name);
	if (!merge->hosts[merge->host_count])
		return -ENOMEM;
	*host = merge->host_count++;
	return 0;
}

/* Returns true if a visit of NODE has begun and not ended. */
static bool is_open(const struct pm_snapshot_thread *thread,
		    const struct perfmon_profile_node *node)
{
	const struct perfmon_profile_stride *stride = pm_snapshot_stride(thread, node);
	uint64_t ended = pm_plus(pm_node_visits(node), node->mismatched_ends);

	return node->entered > pm_plus(ended, stride ? stride->skipped : 0);
}

static bool any_open(const struct pm_snapshot_thread *thread)
{
	/* Behind the root. */
	for (uint32_t n = 2; n <= thread->node_count; n++)
		if (is_open(thread, pm_snapshot_node(thread, n)))
			return true;
	return false;
}

/* Enters PROCESS, which ran on HOST. */
static int process_enter(struct pm_merge *merge, struct pm_merge_process process,
			 const char *host)
{
	int err = host_get(merge, host, &process.host);

	if (err || !PM_GROW(merge->processes, merge->process_count))
		return -ENOMEM;
	merge->processes[merge->process_count++] = process;
	merge->some_unranked |= process.rank < 0;
	return 0;
}

int pm_merge_process_add(struct pm_merge *merge, const struct pm_snapshot *s)
{
	struct pm_merge_process process = {
		.rank = s->header.rank,
		.pid = s->header.pid,
		.writer = s->writer,
		.partial = s->partial,
		.duration_ns = pm_report_duration(s),
	};
	for (uint32_t t = 0; t < s->thread_count; t++) {
		process.threads += pm_snapshot_threads(&s->threads[t]);
		process.open |= any_open(&s->threads[t]);
	}
	return process_enter(merge, process, s->header.host);
}

int pm_merge_processes_join(struct pm_merge *merge, const struct pm_merge *other)
{
	int err = 0;

	for (uint32_t p = 0; !err && p < other->process_count; p++)
		err = process_enter(merge, other->processes[p],
				    other->hosts[other->processes[p].host]);
	return err;
}

uint32_t pm_merge_process_count(const struct pm_merge *merge)
{
	return merge->process_count;
}

const struct pm_merge_process *pm_merge_process(const struct pm_merge *merge,
						uint32_t number)
{
	return &merge->processes[number];
}

uint32_t pm_merge_host_count(const struct pm_merge *merge)
{
	return merge->host_count;
}

const char *pm_merge_host(const struct pm_merge *merge, uint32_t host)
{
	return merge->hosts[host];
}

bool pm_merge_has_ranks(const struct pm_merge *merge)
{
	return merge->process_count > 0 && !merge->some_unranked;
}

const char *pm_merge_label(const struct pm_merge *merge, uint32_t process,
			   char buffer[PM_MERGE_LABEL])
{
	const struct pm_merge_process *p = &merge->processes[process];

	if (pm_merge_has_ranks(merge))
		snprintf(buffer, PM_MERGE_LABEL, "%d", p->rank);
	else if (merge->host_count > 1)
		snprintf(buffer, PM_MERGE_LABEL, "%u@%s", p->pid, merge->hosts[p->host]);
	else
		snprintf(buffer, PM_MERGE_LABEL, "%u", p->pid);
	return buffer;
}
