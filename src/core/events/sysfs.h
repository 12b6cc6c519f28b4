/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PMUs of the machine, as the kernel describes them below
 * /sys/bus/event_source/devices: their type numbers, the bits of each term of an event
 * (format/), the named events (events/, with unit and scale), and their CPUs. Everything
 * is read through pm_file_read(), so that a test can replace the machine by a recorded
 * tree.
 *
 * A struct pm_sysfs belongs to one thread. Parts of it are read at their first use.
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

/* A term of the PMU's events and the place of its value. */
struct pm_sysfs_term {
	char *name;
	unsigned int
		/* 0..3; PM_SYSFS_CONFIGS: a word that this version does not know */
		config;
	uint64_t mask; /* the value's bits fill these, from the lowest upwards */
};

struct pm_sysfs_pmu {
	char *name;
	uint32_t type;
	bool core;   /* counts the work of a CPU */
	bool uncore; /* has a cpumask: counts for a package, die or node */
	char *cpus;  /* its cpus or cpumask file, "" if it has neither */
	bool loaded; /* the fields below are valid */
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
	bool complete; /* else only the names of PMUs that are not core PMUs are known */
};

/* The content of one events/ entry. */
struct pm_sysfs_alias {
	char *terms; /* "event=0x11,umask=1", malloc'ed */
	char unit[PM_SYSFS_UNIT];
	double scale;
};

/*
 * pm_sysfs_load() - lists the PMUs of the machine, in natural order of their names, with
 * the core PMUs sorted by their CPUs. A machine without the directory has no PMUs, which
 * is not an error. A PMU whose type cannot be read is omitted. A machine may have a
 * hundred PMUs, and most callers need a core PMU: pm_sysfs_complete() reads the others.
 * Returns 0, -ENOMEM, or the error of reading the directory.
 */
int pm_sysfs_load(struct pm_sysfs **out);

/* Reads the rest of the PMUs that are not core PMUs, before a caller visits all PMUs.
 * Pointers to PMUs become invalid. Returns 0 or -ENOMEM. */
int pm_sysfs_complete(struct pm_sysfs *sysfs);
void pm_sysfs_free(struct pm_sysfs *sysfs);

/* Reads the terms and the event names of PMU, once. Returns 0 or -ENOMEM. */
int pm_sysfs_pmu_load(struct pm_sysfs_pmu *pmu);

/* Return the I-th core PMU in the order of their CPUs, or NULL. A search by type, or for
 * a name that is not a core PMU's, completes SYSFS; without memory it finds nothing. */
struct pm_sysfs_pmu *pm_sysfs_core(struct pm_sysfs *sysfs, size_t i);
struct pm_sysfs_pmu *pm_sysfs_by_name(struct pm_sysfs *sysfs, const char *name);
struct pm_sysfs_pmu *pm_sysfs_by_type(struct pm_sysfs *sysfs, uint32_t type);

/* Finds a term or an event of a loaded PMU, without regard to case, or returns NULL. */
const struct pm_sysfs_term *pm_sysfs_term_find(const struct pm_sysfs_pmu *pmu,
					       struct pm_slice name);
const char *pm_sysfs_alias_find(const struct pm_sysfs_pmu *pmu, struct pm_slice name);

/* Reads the event NAME (from pm_sysfs_alias_find()) with its unit and scale. The caller
 * frees alias->terms. Returns 0, -ENOMEM, -EINVAL (the scale is not a number), or an
 * error of the read. */
int pm_sysfs_alias_read(const struct pm_sysfs_pmu *pmu, const char *name,
			struct pm_sysfs_alias *alias, struct pm_diag *diag);

/* Distributes VALUE over the bits of MASK. *LEFT gets the bits that did not fit. */
uint64_t pm_sysfs_spread(uint64_t value, uint64_t mask, uint64_t *left);

#endif
