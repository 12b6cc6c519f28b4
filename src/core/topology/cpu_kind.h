/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which CPUs a machine has, as their makers number them, and what is known of these: how
 * many instructions they can issue at once, and which of their events are said by their
 * makers to count wrong. What is not in the tables is not known, and not checked.
 */
#ifndef PM_TOPOLOGY_CPU_KIND_H
#define PM_TOPOLOGY_CPU_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"

/* As profiles have them. */
enum pm_cpu_maker {
	PM_CPU_UNKNOWN = PERFMON_PROFILE_MAKER_UNKNOWN,
	PM_CPU_INTEL = PERFMON_PROFILE_MAKER_INTEL,
	PM_CPU_AMD = PERFMON_PROFILE_MAKER_AMD,
	PM_CPU_ARM = PERFMON_PROFILE_MAKER_ARM
};

struct pm_cpu_kind {
	enum pm_cpu_maker maker;
	uint32_t family; /* or implementer */
	uint32_t model;	 /* or part */
};

/* Kinds of CPU in one machine; what is beyond is not looked at. */
#define PM_CPU_KINDS 8

struct pm_cpu_kinds {
	uint32_t count; /* 0: not known */
	struct pm_cpu_kind kind[PM_CPU_KINDS];
	uint32_t slots; /* most that any of its PMUs tells of, 0 if one does not */
};

struct pm_erratum {
	const char *number;   /* as its maker has it */
	const char *document; /* that lists it */
	const char *effect;   /* on the event: "may count ..." */
};

/* Those of TEXT, which is that of /proc/cpuinfo; slots are not in it. */
void pm_cpu_kinds_read(struct pm_cpu_kinds *kinds, const char *text);

/*
 * pm_cpu_kinds_here() - those of this machine. On x86-64 the CPU says it; elsewhere files
 * of /proc and /sys do, few of them: for set-up. Allocates for the moment of the call.
 */
void pm_cpu_kinds_here(struct pm_cpu_kinds *kinds);
void pm_cpu_slots_here(struct pm_cpu_kinds *kinds); /* their slots alone */

/* TO gets those of FROM besides its own; of more than there is room for, or where FROM is
 * not known, nothing is known of either. */
void pm_cpu_kinds_join(struct pm_cpu_kinds *to, const struct pm_cpu_kinds *from);

/* How many instructions a cycle can take at most, over KINDS; 0: not known of all. */
uint32_t pm_cpu_issue_width(const struct pm_cpu_kinds *kinds);

/*
 * The erratum that concerns an event on one of KINDS, or NULL. NAME, of LENGTH bytes, is
 * the event's without PMU and modifiers; INSTRUCTIONS and BRANCHES say that it is the
 * retired ones, under whatever name.
 */
const struct pm_erratum *pm_cpu_erratum(const struct pm_cpu_kinds *kinds,
					const char *name, size_t length,
					bool instructions, bool branches);

#endif
