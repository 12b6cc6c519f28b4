/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of regions: the present content of the process's own profile. */
#ifndef PM_TESTS_REGION_PROBE_H
#define PM_TESTS_REGION_PROBE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/regions/threads/state.h"
#include "perfmon/region.h"
#include "core/text/diag.h"
#include "helpers.h"

/* The result of perfmon_region_read(): the values, and the sum of each counter. Bit i of
 * `counted` is set if it counted all of the time. */
struct probe_values {
	uint32_t counters, counted;
	uint64_t visits, entered;
	double time_ns;
	uint64_t sum[32];
};

static inline int probe_read(const char *name, struct probe_values *to)
{
	struct perfmon_region_summary values = {.size = sizeof(values)};
	struct perfmon_region_count counts[32];
	int err = perfmon_region_read(name, &values, counts, 32, sizeof(counts[0]), 0);

	if (err)
		return err;
	*to = (struct probe_values){.counters = values.counters,
				    .visits = values.visits,
				    .entered = values.entered,
				    .time_ns = (double)values.time_ns};
	for (uint32_t i = 0; i < values.counters; i++) {
		to->sum[i] = counts[i].value;
		to->counted |= (counts[i].status &
				(PERFMON_VALUE_COUNTED | PERFMON_VALUE_PARTIAL)) ==
					       PERFMON_VALUE_COUNTED
				       ? 1u << i
				       : 0;
	}
	return 0;
}

static inline struct pm_snapshot *probe_take(void)
{
	struct pm_snapshot *snapshot = NULL;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_regions_snapshot(&snapshot, &diag), 0, "%s", diag.text);
	cr_assert(!snapshot->partial, "%s", snapshot->problem);
	return snapshot;
}

/* Returns whether NODE's path is PATH, the names of its regions with "/" between. */
static inline bool probe_is(const struct pm_snapshot *snapshot,
			    const struct pm_snapshot_thread *thread,
			    const struct perfmon_profile_node *node, const char *path)
{
	const char *end = path + strlen(path);

	while (node->parent) {
		const char *name = snapshot->regions[node->region];
		size_t length = strlen(name);

		if ((size_t)(end - path) < length ||
		    strncmp(end - length, name, length) != 0)
			return false;
		end -= length;
		if (end == path)
			return node->parent == 1;
		if (*--end != '/')
			return false;
		node = pm_snapshot_node(thread, node->parent);
	}
	return false;
}

/* Returns the node of PATH in THREAD, or NULL. */
static inline struct perfmon_profile_node *
probe_node(const struct pm_snapshot *snapshot, const struct pm_snapshot_thread *thread,
	   const char *path)
{
	for (uint32_t i = 2; i <= thread->node_count; i++) {
		struct perfmon_profile_node *node = pm_snapshot_node(thread, i);

		if (probe_is(snapshot, thread, node, path))
			return node;
	}
	return NULL;
}

/* Count the visits of PATH in all threads that have ended, and those that have begun. */
static inline uint64_t probe_visits(const struct pm_snapshot *snapshot, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		const struct perfmon_profile_node *node =
			probe_node(snapshot, &snapshot->threads[i], path);

		sum += node ? pm_node_visits(node) : 0;
	}
	return sum;
}

static inline uint64_t probe_entered(const struct pm_snapshot *snapshot, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		const struct perfmon_profile_node *node =
			probe_node(snapshot, &snapshot->threads[i], path);

		sum += node ? node->entered : 0;
	}
	return sum;
}

/* Asserts how many visits of some paths have ended: {"a", 3}, {"a/b", 3}. */
struct probe_ended {
	const char *path;
	uint64_t visits;
};
#define probe_expect(snapshot, ...)                                                      \
	do {                                                                             \
		const struct probe_ended expected_[] = {__VA_ARGS__};                    \
                                                                                         \
		for (size_t e_ = 0; e_ < sizeof(expected_) / sizeof(*expected_); e_++)   \
			cr_assert_eq(probe_visits(snapshot, expected_[e_].path),         \
				     expected_[e_].visits, "%s", expected_[e_].path);    \
	} while (0)

/* The sum of a field over all threads. */
#define probe_sum(snapshot, field)                                                       \
	({                                                                               \
		uint64_t sum_ = 0;                                                       \
		for (uint32_t i_ = 0; i_ < (snapshot)->thread_count; i_++)               \
			sum_ += (snapshot)->threads[i_].record.field;                    \
		sum_;                                                                    \
	})

/* Counts all visits of a snapshot that have ended or were lost. */
static inline uint64_t probe_all_visits(const struct pm_snapshot *snapshot)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot->thread_count; i++)
		for (uint32_t n = 2; n <= snapshot->threads[i].node_count; n++)
			sum += pm_node_visits(pm_snapshot_node(&snapshot->threads[i], n));
	return sum;
}

static inline uint64_t probe_all_lost(const struct pm_snapshot *snapshot)
{
	return probe_sum(snapshot, lost_in_handler) + probe_sum(snapshot, lost_too_deep) +
	       probe_sum(snapshot, lost_no_memory) + probe_sum(snapshot, lost_unnamed) +
	       probe_sum(snapshot, lost_other) + snapshot->header.lost_first_in_handler;
}

/* Returns the first note that contains TEXT, or NULL. */
static inline const char *probe_note(const struct pm_snapshot *snapshot, const char *text)
{
	for (uint32_t i = 0; i < snapshot->note_count; i++)
		if (strstr(snapshot->notes[i], text))
			return snapshot->notes[i];
	return NULL;
}

/* Returns the present visits of PATH. */
static inline uint64_t probe_now(const char *path)
{
	struct pm_snapshot *snapshot = probe_take();
	uint64_t visits = probe_visits(snapshot, path);

	pm_snapshot_free(snapshot);
	return visits;
}

/* Runs BODY in a child made by fork(2). Returns its exit status, or 1000 + the signal. */
static inline int probe_child(int (*body)(void))
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(body());
	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* For a child, where Criterion cannot report: exits with a line's number. */
#define CHILD_CHECK(condition)                                                           \
	do {                                                                             \
		if (!(condition)) {                                                      \
			dprintf(2, "%s:%d: in the child: %s\n", __FILE__, __LINE__,      \
				#condition);                                             \
			return 1;                                                        \
		}                                                                        \
	} while (0)

static inline void probe_quiet(void)
{
	setenv("PERFMON_OUTPUT", "none", 1);
	unsetenv("PERFMON_PROFILE");
	unsetenv("PERFMON_THREADS");
	unsetenv("PERFMON_ARM");
	unsetenv("PERFMON_FENCE");
	unsetenv("PERFMON_STRIDE");
}

#endif
