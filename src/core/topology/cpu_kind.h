/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of CPUs of a machine, by their makers' numbers, and two facts about each: how
 * many instructions it can issue at once, and which of its events count wrong according
 * to the maker. For kinds that are not in the tables nothing is known or checked.
 */
#ifndef PM_TOPOLOGY_CPU_KIND_H
#define PM_TOPOLOGY_CPU_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"

/* The makers, as profiles number them. */
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

/* The limit of kinds in one machine. Further kinds are ignored. */
#define PM_CPU_KINDS 8

struct pm_cpu_kinds {
	uint32_t count; /* 0: not known */
	struct pm_cpu_kind kind[PM_CPU_KINDS];
	uint32_t slots; /* most that any of its PMUs reports, 0 if one does not */
};

struct pm_erratum {
	const char *number;   /* the maker's number */
	const char *document; /* the document with the erratum */
	const char *effect;   /* on the event: "may count ..." */
};

/* Returns the value of LINE of /proc/cpuinfo if its key is KEY, or NULL. */
const char *pm_cpuinfo_value(const char *line, const char *key);

/* Adds the kinds in TEXT, the content of /proc/cpuinfo, which has no slots. */
void pm_cpu_kinds_read(struct pm_cpu_kinds *kinds, const char *text);

/*
 * pm_cpu_kinds_here() - finds the kinds of this machine, from the CPU on x86-64,
 * elsewhere from a few files of /proc and /sys. For set-up. Allocates during the call.
 */
void pm_cpu_kinds_here(struct pm_cpu_kinds *kinds);
void pm_cpu_slots_here(struct pm_cpu_kinds *kinds); /* their slots alone */

/* Adds the kinds of FROM to TO. If there is no room, or FROM is not known, TO becomes not
 * known. */
void pm_cpu_kinds_join(struct pm_cpu_kinds *to, const struct pm_cpu_kinds *from);

/* Returns the most instructions that a cycle can issue, over KINDS; 0: not known of
 * all. */
uint32_t pm_cpu_issue_width(const struct pm_cpu_kinds *kinds);

/*
 * Returns the erratum of an event on one of KINDS, or NULL. NAME, of LENGTH bytes, is the
 * event's name without PMU and modifiers. INSTRUCTIONS and BRANCHES mean that it counts
 * retired instructions or branches, under any name.
 */
const struct pm_erratum *pm_cpu_erratum(const struct pm_cpu_kinds *kinds,
					const char *name, size_t length,
					bool instructions, bool branches);

#endif
