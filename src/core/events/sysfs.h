/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PMUs of the machine as the kernel describes them below
 * /sys/bus/event_source/devices: their type numbers, the bits that each term of an event
 * occupies (format/), the events that have names (events/, with unit and scale), and
 * the CPUs they stand for. Everything is read through pm_file_read(), so that a
 * test can put a recorded tree in the machine's place.
 *
 * A struct pm_sysfs belongs to the thread that uses it: what it did not need yet is read
 * when it is asked for.
 */
#ifndef PM_EVENTS_SYSFS_H
#define PM_EVENTS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "core/text/text.h"

#define PM_SYSFS_CONFIGS 4 /* config, config1, config2, config3 */
#define PM_SYSFS_UNIT	 32

/* A term of the PMU's events and where its value goes. */
struct pm_sysfs_term {
	char *name;
	unsigned int
		config; /* 0..3; PM_SYSFS_CONFIGS: a word this version doesn't know */
	uint64_t mask;	/* the value's bits fill these, from the lowest upwards */
};

struct pm_sysfs_pmu {
	char *name;
	uint32_t type;
	bool core;   /* counts what a CPU executes */
	bool uncore; /* has a cpumask: counts for a package, die or node */
	char *cpus;  /* its cpus or cpumask file, "" if it has neither */
	bool loaded; /* the rest is valid */
	unsigned int max_precise;
	size_t term_count;
	struct pm_sysfs_term *terms;
	size_t alias_count;
	char **aliases; /* names of its events */
	char **alias_block;
};

struct pm_sysfs {
	size_t count;
	struct pm_sysfs_pmu *pmus;
	size_t core_count;
	bool complete; /* else of PMUs that are not core ones the name alone is known */
};

/* What one events/ entry says. */
struct pm_sysfs_alias {
	char *terms; /* "event=0x11,umask=1", malloc'ed */
	char unit[PM_SYSFS_UNIT];
	double scale;
};

/*
 * pm_sysfs_load() - the PMUs of the machine, in natural order of their names, the core
 * PMUs among themselves in the order of their CPUs. A machine
 * without the directory has no PMUs: that is no error. A PMU whose type cannot be read is
 * left out. Returns 0, -ENOMEM, or what reading the directory gave. A machine may have a
 * hundred PMUs, and most who ask want a core PMU: the others are left to
 * pm_sysfs_complete().
 */
int pm_sysfs_load(struct pm_sysfs **out);

/* Reads what is missing of PMUs that are not core ones, before anyone walks over all of
 * them: 0 or -ENOMEM. What pointed to a PMU does so no more. */
int pm_sysfs_complete(struct pm_sysfs *sysfs);
void pm_sysfs_free(struct pm_sysfs *sysfs);

/* Reads the terms and the event names of PMU unless that is done; 0 or -ENOMEM. */
int pm_sysfs_pmu_load(struct pm_sysfs_pmu *pmu);

/* The I-th core PMU in the order of their CPUs, or NULL. Asking by name for one that is not a
 * core PMU, or by type, completes SYSFS; without memory for that, there is none. */
struct pm_sysfs_pmu *pm_sysfs_core(struct pm_sysfs *sysfs, size_t i);
struct pm_sysfs_pmu *pm_sysfs_by_name(struct pm_sysfs *sysfs, const char *name);
struct pm_sysfs_pmu *pm_sysfs_by_type(struct pm_sysfs *sysfs, uint32_t type);

/*
 * Does NAME, as a user writes it, stand for this PMU? "uncore_imc" and "imc" stand for
 * uncore_imc_0, uncore_imc_1 and so on; "uncore_*" for all that match. *EXACT tells that
 * it is the PMU's own name, which keeps the others out.
 */
bool pm_sysfs_pmu_is(const struct pm_sysfs_pmu *pmu, struct pm_slice name, bool *exact);

/* Of a PMU that is loaded, without regard to case; NULL if there is none. */
const struct pm_sysfs_term *pm_sysfs_term_find(const struct pm_sysfs_pmu *pmu,
					       struct pm_slice name);
const char *pm_sysfs_alias_find(const struct pm_sysfs_pmu *pmu, struct pm_slice name);

/* Reads the event NAME (from pm_sysfs_alias_find()) with its unit and scale; the caller
 * frees alias->terms. 0, -ENOMEM, -EINVAL (a scale that is no number), or what read gave.
 */
int pm_sysfs_alias_read(const struct pm_sysfs_pmu *pmu, const char *name,
			struct pm_sysfs_alias *alias, struct pm_diag *diag);

/* Spreads VALUE over MASK; *LEFT gets the bits that found no place. */
uint64_t pm_sysfs_spread(uint64_t value, uint64_t mask, uint64_t *left);

#endif
