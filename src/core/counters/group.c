/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/counters/group.h"

#include <errno.h>
#include <sys/resource.h>

#include "core/counters/user_mode.h"
#include "core/kernel/kernel.h"
#include "core/text/hash.h"

/* --- asking for user reads ---------------------------------------------------------- */

/* Elsewhere no event has to ask. */
#if defined(__aarch64__)
#define USER_READ      2u /* attr.config1: the thread may read the counter */
#define USER_READ_LONG 3u /* ... and the counter is 64 bits wide */
#else
#define USER_READ      0u
#define USER_READ_LONG 0u
#endif

/*
 * 1: this machine's PMU has 64 bits for every event; -1: it has not; 0: not known. It
 * spares later threads a call that fails. A wrong value does no harm, since views extend
 * 32 bits and the kernel counts their overflows.
 */
static int long_counters;

static bool is_cycles(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE ? attr->config == PERF_COUNT_HW_CPU_CYCLES
						: (attr->config & 0xffff) == 0x11;
}

/* On a PMU without long counters only the cycle counter has 64 bits of cycles. Two such
 * events, of any program, would be multiplexed, so ask for 32 bits. */
static unsigned int user_read_bits(const struct perf_event_attr *attr)
{
	int known = __atomic_load_n(&long_counters, __ATOMIC_RELAXED);

	return known > 0 || (!known && !is_cycles(attr)) ? USER_READ_LONG : USER_READ;
}

/* Learns from the kernel's answer to BITS for later events. */
static void user_read_learn(const struct perf_event_attr *attr, unsigned int bits, int fd)
{
	if (bits && bits == USER_READ_LONG && !is_cycles(attr) &&
	    (fd >= 0 || fd == -EOPNOTSUPP))
		__atomic_store_n(&long_counters, fd >= 0 ? 1 : -1, __ATOMIC_RELAXED);
}

static unsigned int user_read_weaker(unsigned int bits)
{
	return bits == USER_READ_LONG ? USER_READ : 0;
}
/* --- groups ------------------------------------------------------------------------- */

/* Returns the PMU that an event needs, or 0 if the kernel chooses the core's. */
static uint32_t pmu_type(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return (uint32_t)(attr->config >> 32);
	case PERF_TYPE_RAW:
		return 0;
	default:
		return attr->type;
	}
}

static bool is_on_pmu(const struct pm_event *event)
{
	return event->hardware || event->uncore;
}

static bool is_loner(const struct pm_event *event)
{
	return event->attr.pinned || event->attr.exclusive;
}

static bool same_pmu(const struct pm_event *a, const struct pm_event *b)
{
	uint32_t pmu_a = pmu_type(&a->attr), pmu_b = pmu_type(&b->attr);

	/* If the kernel chooses, it also accepts or refuses the group. */
	return pmu_a == pmu_b || ((!pmu_a || !pmu_b) && !a->uncore && !b->uncore);
}

/* Returns whether the list, or the rules above, put two events in one group. */
static bool belong_together(const struct pm_event *a, const struct pm_event *b)
{
	if (a->in_explicit_group || b->in_explicit_group)
		return a->in_explicit_group && b->in_explicit_group &&
		       a->group == b->group;
	return a->hardware == b->hardware && a->uncore == b->uncore && !is_loner(a) &&
	       !is_loner(b);
}

/* Returns whether the group accepts EVENT: it has one PMU, and software events join
 * any. */
static bool group_takes(const struct pm_instance *instance, uint32_t leader,
			const struct pm_event *event)
{
	for (uint32_t j = 0; j < instance->count; j++) {
		const struct pm_counter *member = &instance->counters[j];

		if (pm_group_has(leader, member) && is_on_pmu(event) &&
		    is_on_pmu(member->event) && !same_pmu(event, member->event))
			return false;
	}
	return true;
}

/* Returns the leader of the group that counter I should join, or PM_NO_GROUP. */
static uint32_t group_for(const struct pm_instance *instance, uint32_t i)
{
	const struct pm_counter *counters = instance->counters;
	const struct pm_event *event = counters[i].event;

	/* A metric counts only with its slots. */
	if (instance->flags & PM_OPEN_SPLIT && event->topdown != PM_TOPDOWN_METRIC)
		return PM_NO_GROUP;
	/* Only the latest group is tried: the events before it did not fit an earlier
	 * group either. Open counters also stand behind I, because slots are opened
	 * first. */
	for (uint32_t step = 1; step < instance->count; step++) {
		uint32_t j = (i + instance->count - step) % instance->count;
		uint32_t leader = counters[j].leader;

		if (counters[j].fd < 0 || !belong_together(counters[j].event, event) ||
		    !group_takes(instance, leader, event))
			continue;
		/* Slots choose the modes of all metrics in their group. */
		if (event->topdown == PM_TOPDOWN_METRIC &&
		    (counters[leader].event->topdown != PM_TOPDOWN_SLOTS ||
		     !pm_events_same_modes(counters[leader].event, event)))
			continue;
		return counters[leader].members < PM_GROUP_MAX ? leader : PM_NO_GROUP;
	}
	return PM_NO_GROUP;
}

/* Moves the marks of a group to its leader, where the kernel expects them. Users may
 * write them on any member. */
static void mark_group(const struct pm_instance *instance, uint32_t i, uint32_t leader,
		       struct perf_event_attr *attr)
{
	const struct pm_event *event = instance->counters[i].event;

	if (leader != PM_NO_GROUP) {
		attr->pinned = attr->exclusive = 0;
		return;
	}
	for (uint32_t j = 0; j < instance->count && event->in_explicit_group; j++) {
		const struct pm_event *other = instance->counters[j].event;

		if (belong_together(event, other) && !(instance->flags & PM_OPEN_SPLIT)) {
			attr->pinned |= other->attr.pinned;
			attr->exclusive |= other->attr.exclusive;
		}
	}
}

static struct perf_event_attr attr_of(const struct pm_instance *instance, uint32_t i,
				      uint32_t leader)
{
	struct perf_event_attr attr = instance->counters[i].event->attr;

	attr.size = sizeof(attr);
	attr.disabled = leader == PM_NO_GROUP;
	attr.enable_on_exec = attr.disabled && instance->flags & PM_OPEN_ON_EXEC;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* The kernel refuses group reads of inherited events. */
	if (instance->flags & PM_OPEN_INHERIT)
		attr.inherit = 1;
	else
		attr.read_format |= PERF_FORMAT_GROUP;
	attr.inherit_stat &= attr.inherit;
	attr.inherit_thread = attr.inherit && instance->flags & PM_OPEN_THREADS;
	mark_group(instance, i, leader, &attr);
	return attr;
}

/* Returns whether FD is in the last quarter of descriptors. A new descriptor is the
 * lowest free one, so all below are in use. Few programs have a limit below the first
 * number here. */
static bool is_of_reserve(int fd)
{
	uint64_t soft, hard;

	return fd >= 24 && !pm_kernel_getrlimit(RLIMIT_NOFILE, &soft, &hard) &&
	       (uint64_t)fd >= soft - soft / 4;
}

static int open_attr(const struct pm_instance *instance, struct perf_event_attr *attr,
		     uint32_t leader)
{
	int fd;

	do
		fd = pm_kernel_perf_event_open(
			attr, instance->tid, instance->cpu,
			leader == PM_NO_GROUP ? -1 : instance->counters[leader].fd,
			PERF_FLAG_FD_CLOEXEC);
	while (fd == -EINTR);
	if (instance->flags & PM_OPEN_SPARING && is_of_reserve(fd)) {
		pm_kernel_close(fd);
		return -EMFILE;
	}
	return fd;
}

static int open_event(struct pm_instance *instance, uint32_t i, uint32_t leader)
{
	struct pm_counter *counter = &instance->counters[i];
	const struct pm_event *event = counter->event;
	struct perf_event_attr attr = attr_of(instance, i, leader);
	unsigned int bits = 0;
	int fd;

	if (instance->flags & PM_OPEN_USER_READ && event->hardware && !event->uncore)
		bits = user_read_bits(&attr);
	for (;;) {
		attr.config1 = event->attr.config1 | bits;
		fd = open_attr(instance, &attr, leader);
		user_read_learn(&attr, bits, fd);
		if (fd != -EINVAL && fd != -EOPNOTSUPP)
			break;
		if (event->precise_max && attr.precise_ip) {
			attr.precise_ip--;
			continue;
		}
		/* A full group also gives EINVAL. A new group is better than losing reads
		 * in user space. */
		if (!bits ||
		    (leader != PM_NO_GROUP && fd == -EINVAL && !user_read_weaker(bits)))
			break;
		bits = user_read_weaker(bits);
	}
	if (fd >= 0 && pm_event_mode_is_ignored(event)) {
		pm_kernel_close(fd);
		return -EOPNOTSUPP;
	}
	counter->config1_bits = bits;
	return fd;
}

/*
 * --- does it fit? ---------------------------------------------------------------------
 *
 * Linux's arm_pmu and similar drivers check whether a group fits by its enabled events. A
 * leader waits disabled for its start. So they accept a group that is too large by its
 * leader, and then never run it (drivers/perf/arm_pmu.c, validate_event()). A second copy
 * of the leader, which joins for a moment as a sibling, corrects their count. x86 always
 * counts the leader.
 */

#if defined(__x86_64__)
#define LEADER_COUNTS true
#else
#define LEADER_COUNTS false
#endif

/* The groups that are known to fit, by their members. If many threads open the same
 * events, only the first one checks. */
#define KNOWN_GROUPS 16
static uint64_t known_groups[KNOWN_GROUPS];

static uint64_t composition(const struct pm_instance *instance, uint32_t leader)
{
	uint64_t hash = 1;
	for (uint32_t j = 0; j < instance->count; j++) {
		const struct pm_counter *member = &instance->counters[j];

		if (!pm_group_has(leader, member))
			continue;
		hash = pm_hash_mix(hash, member->event->attr.type);
		hash = pm_hash_mix(hash, member->event->attr.config);
		hash = pm_hash_mix(hash,
				   member->event->attr.config1 | member->config1_bits);
		hash = pm_hash_mix(hash, member->event->attr.config2);
	}
	return hash;
}

static bool group_fits(const struct pm_instance *instance, uint32_t leader)
{
	const struct pm_counter *counter = &instance->counters[leader];
	struct perf_event_attr attr;
	uint64_t hash, *known;
	int fd;

	if (LEADER_COUNTS || counter->members < 2 || !is_on_pmu(counter->event))
		return true;
	hash = composition(instance, leader);
	known = &known_groups[hash % KNOWN_GROUPS];
	if (__atomic_load_n(known, __ATOMIC_RELAXED) == hash)
		return true;
	attr = attr_of(instance, leader, leader);
	attr.config1 |= counter->config1_bits;
	fd = open_attr(instance, &attr, leader);
	if (fd == -EINVAL)
		return false;
	if (fd >= 0) {
		pm_kernel_close(fd);
		__atomic_store_n(known, hash, __ATOMIC_RELAXED);
	}
	return true; /* another error does not concern the group */
}

static void take(struct pm_instance *instance, uint32_t i, uint32_t leader, int fd)
{
	struct pm_counter *counter = &instance->counters[i];

	counter->fd = fd;
	counter->leader = leader == PM_NO_GROUP ? i : leader;
	counter->position = instance->counters[counter->leader].members++;
	instance->open++;
}

static uint32_t last_member(const struct pm_instance *instance, uint32_t leader)
{
	uint32_t last = leader;

	for (uint32_t j = 0; j < instance->count; j++) {
		const struct pm_counter *member = &instance->counters[j];

		if (pm_group_has(leader, member) &&
		    member->position > instance->counters[last].position)
			last = j;
	}
	return last;
}

/* Closes the last member of LEADER's group and returns its index. */
static uint32_t evict(struct pm_instance *instance, uint32_t leader)
{
	uint32_t last = last_member(instance, leader);
	struct pm_counter *counter = &instance->counters[last];

	pm_kernel_close(counter->fd);
	counter->fd = -1;
	counter->leader = last;
	instance->counters[leader].members--;
	instance->open--;
	return last;
}

/*
 * Removes members from LEADER's group until it fits. They make the next group. *NEXT gets
 * its leader, or PM_NO_GROUP if nothing was removed. Returns 0, or the errno of counter
 * *FAILED, which is closed.
 */
static int fit_group(struct pm_instance *instance, uint32_t leader, uint32_t *next,
		     uint32_t *failed)
{
	*next = PM_NO_GROUP;
	while (!group_fits(instance, leader)) {
		uint32_t last = evict(instance, leader);
		int fd = -EINVAL;

		if (!instance->counters[last].event->in_explicit_group)
			fd = open_event(instance, last, PM_NO_GROUP);
		if (fd < 0) {
			*failed = last;
			return fd;
		}
		take(instance, last, PM_NO_GROUP, fd);
		if (*next == PM_NO_GROUP)
			*next = last;
	}
	return 0;
}

int pm_group_open(struct pm_instance *instance, uint32_t i)
{
	uint32_t leader = group_for(instance, i), next, failed;
	int fd;

	/* The kernel would open it and count 0 forever. */
	if (pm_event_is_blind(instance->counters[i].event))
		return -EINVAL;
	fd = open_event(instance, i, leader);
	if (fd == -EINVAL && leader != PM_NO_GROUP &&
	    !instance->counters[i].event->in_explicit_group) {
		/* It is full, perhaps by more than one member. */
		if (fit_group(instance, leader, &next, &failed))
			return fd;
		leader = next;
		fd = open_event(instance, i, leader);
		if (fd == -EINVAL && leader != PM_NO_GROUP) {
			leader = PM_NO_GROUP;
			fd = open_event(instance, i, leader);
		}
	}
	if (fd >= 0)
		take(instance, i, leader, fd);
	return fd < 0 ? fd : 0;
}

uint32_t pm_groups_fit(struct pm_instance *instance, int *err)
{
	uint32_t next, failed = PM_NO_GROUP;

	for (uint32_t i = 0; i < instance->count; i++) {
		if (instance->counters[i].fd < 0 || instance->counters[i].leader != i)
			continue;
		*err = fit_group(instance, i, &next, &failed);
		if (*err)
			return failed;
	}
	return PM_NO_GROUP;
}
