/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places: the CPUs on which a CPU-scoped session counts, in the words of hwloc, and how the
 * counts of each CPU add up to cores, caches, packages and the machine.
 *
 * A place is a text: parts with `+` or blanks between them. The CPUs of all parts are
 * joined, and one that is named twice counts once. Case does not matter. A part is
 *
 *   all              all CPUs
 *   LEVEL[:NUMBERS]  objects of a level by their logical number, counted from 0 in the
 *                    order in which hwloc (lstopo --disallowed) shows them; without
 *                    NUMBERS, or with `all` for them: each. Levels are pu, core, l1, l2,
 *                    l3, l4, group, numa, die, package, machine (also socket, numanode,
 *                    node, cluster). A machine lacks some of them. pu:5 is the sixth CPU
 *                    in the tree's order
 *   cpu:NUMBERS      CPUs by the kernel's numbers, as in /proc/cpuinfo; the only number
 *                    here that is not logical
 *   PART.PART        the second within each object of the first, counted from 0 inside
 *                    it: numa:1.core:0-3, package:0-1.core:0 (the first core of each)
 *   NUMBERS          the same as cpu:NUMBERS, as the kernel and taskset -c write CPU lists
 *   MASK             the kernel's CPUs as hwloc and taskset print masks: 0x0000000f, or
 *                    words of 32 bits, the highest first, 0x1,,0x3. 0x is never left out
 *
 * and NUMBERS are 3, 0-3 or 0-3,8 without blanks.
 *
 * Objects are numbered whether or not the process may use them, so that package:1 is the
 * same one in every container. CPUs that are offline, or that the process is kept off (by
 * its cgroup's cpuset; a thread's own affinity doesn't matter here), are then left out. A
 * part that leaves none is an error that quotes it.
 *
 * Functions return 0 or a count, or a negative errno; out-parameters are untouched on
 * failure, but for the sizes of masks. Structures that are filled in begin with
 * their size, which the caller sets; what a newer program knows and this library does not
 * must be zero (-E2BIG), and stays so. A placement never changes: any thread may ask it
 * at any time; none of this is for signal handlers.
 */
#ifndef PERFMON_PLACEMENT_H
#define PERFMON_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_placement;

/**
 * perfmon_placement_parse() - what a text names on this machine, now.
 * @placement: gets a placement, the caller's, which perfmon_placement_free() frees
 * @text: see above; at most 4,096 characters
 * @message: gets one sentence that says what is wrong and where, or "" on success; may be
 *	NULL with @message_size 0
 * @message_size: its size in bytes; a longer sentence is cut
 *
 * The machine is looked at once for the whole process (some milliseconds), and again when
 * its online CPUs have changed. Allocates, reads files below /sys and /proc, binds no
 * thread.
 *
 * Return: 0, or
 * -EINVAL: a mistake in @text, or a NULL
 * -ERANGE: a number beyond all CPUs
 * -E2BIG: @text is too long
 * -ENODEV: a part of it selects no CPU that is online and allowed
 * -ENOMEM
 * - what reading /sys gave, if nothing tells this machine's CPUs
 */
int perfmon_placement_parse(struct perfmon_placement **placement, const char *text,
			    char *message, size_t message_size);

/* Frees it; NULL is accepted. */
void perfmon_placement_free(struct perfmon_placement *placement);

/**
 * perfmon_placement_refresh() - looks at the machine anew, for placements made from now
 * on; those there are stay as they are. Online CPUs are noticed without this call;
 * what a cgroup allows is not.
 *
 * Return: 1 if the online or allowed CPUs are others than before, 0 if not; or
 * -ENOMEM
 * - what reading /sys gives
 */
int perfmon_placement_refresh(void);

enum perfmon_placement_set {
	PERFMON_PLACEMENT_SET_COVERED, /* what the placement covers; at least one CPU */
	PERFMON_PLACEMENT_SET_DROPPED, /* what it names besides: offline, absent, not allowed
				    */
	PERFMON_PLACEMENT_SET_ONLINE,  /* of the machine, as the placement knows it */
	PERFMON_PLACEMENT_SET_ALLOWED, /* of those, what the process may use */
};

/**
 * perfmon_placement_get_cpus() - a set of CPUs, as a mask of a size not known beforehand.
 * @set: enum perfmon_placement_set
 * @mask: gets bit N for the kernel's CPU N, in the layout of cpu_set_t (words of unsigned
 *	long, the lowest first); the rest of it gets zeros. May be NULL with *@size 0
 * @size: in: bytes at @mask. Out, also with -EOVERFLOW: the bytes that are needed
 *
 * No system call, no allocation.
 *
 * Return: how many CPUs, or
 * -EOVERFLOW: @mask is too small and is untouched (ask again with what *@size says)
 * -EINVAL: an unknown @set, or a NULL
 *
 * Source: perfctr, vperfctr_info_cpus and its struct perfctr_cpu_mask.
 */
int perfmon_placement_get_cpus(const struct perfmon_placement *placement, uint32_t set,
			       void *mask, size_t *size);

/**
 * perfmon_placement_get_event() - where an event is opened for a placement, and for which of
 * its CPUs it cannot count.
 * @event: one event, see perfmon/event.h; one that stands for several (on several kinds
 *	of cores, on several boxes of an uncore PMU) is all of these
 * @mask: gets the CPUs to open it on: those of the placement that its PMU has; for an
 *	uncore event the agents (sysfs: cpumask) of the packages, dies or nodes of which
 * the placement has a CPU
 * @forbidden: gets the CPUs that the placement names and for which it is not counted:
 *	those whose PMU doesn't have the event, and those of PERFMON_PLACEMENT_SET_DROPPED. A
 *	value for them does not exist: it is not zero
 *
 * Masks and their sizes as in perfmon_placement_get_cpus(), each with its own; both sizes are
 * reported before either mask is written. Allocates and reads files below /sys.
 *
 * Return: how many CPUs are in @mask, or
 * -ENODEV: none can count it, and @message says why
 * -EOVERFLOW, -EINVAL
 * - what perfmon_event_expand() gives
 *
 * Source: perfctr's forbidden CPUs (gperfctr_info_cpus, cpus_forbidden).
 */
int perfmon_placement_get_event(const struct perfmon_placement *placement,
				const char *event, void *mask, size_t *size,
				void *forbidden, size_t *forbidden_size, char *message,
				size_t message_size);

/* One level of the machine. New fields come at the end; `size` is set by the caller. */
struct perfmon_placement_level_info {
	size_t size;
	const char *name; /* "core": what a text may say; lasts for ever */
	const char *noun; /* "core", "NUMA node": what one is called */
	uint32_t groups;  /* how many of them this machine has */
	uint32_t reserved;
};

/**
 * perfmon_placement_get_level() - the levels that this machine has, from the CPU upwards.
 * @index: from 0
 *
 * No system call, no allocation.
 *
 * Return: 0, or
 * -ENOENT: there are fewer
 * -EINVAL: a NULL, or a @level->size that is too small
 * -E2BIG
 */
int perfmon_placement_get_level(const struct perfmon_placement *placement, uint32_t index,
				struct perfmon_placement_level_info *level);

/* One object of a level. */
struct perfmon_placement_group_info {
	size_t size;
	uint32_t index;	   /* logical: LEVEL:index is a place */
	uint32_t os_index; /* the kernel's or the hardware's own number; UINT32_MAX: none
			    */
	uint32_t cpus;	   /* how many online CPUs are in it */
	uint32_t reserved;
};

/**
 * perfmon_placement_get_group() - the object of a level that a CPU is in. Values counted per
 * CPU add up to a level's by it.
 * @cpu: the kernel's number
 * @level: a name of a level
 *
 * No system call, no allocation.
 *
 * Return: 0, or
 * -EINVAL: no such word, a NULL, or a @group->size that is too small
 * -E2BIG
 * -ENOENT: this machine lacks the level, or CPU @cpu is not online or in none of its
 *	objects
 */
int perfmon_placement_get_group(const struct perfmon_placement *placement, uint32_t cpu,
				const char *level,
				struct perfmon_placement_group_info *group);

#ifdef __cplusplus
}
#endif
#endif
