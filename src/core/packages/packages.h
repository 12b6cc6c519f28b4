/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that the kernel counts for a package, a die or a memory controller, and for no
 * thread: energy (RAPL), traffic of the memory. Each is open once in the process, on the
 * CPUs that its PMU names in sysfs (cpumask), and every reader reads that.
 *
 * It takes the CPUs of packages on which this process may run. What a value
 * means for the process depends on who else ran there: pm_packages_who() says it.
 */
#ifndef PM_PACKAGES_PACKAGES_H
#define PM_PACKAGES_PACKAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/counters/counters.h"
#include "core/events/events.h"
#include "core/text/diag.h"

#define PM_PACKAGES_MAX 32 /* events */

/* A counter of energy moves about once in this time; a shorter difference is 0, or of more than was
 * meant. */
#define PM_PACKAGES_ENERGY_NS 1000000u

struct pm_packages; /* the open events; never changes until it is closed */

/* One reading of all events. */
struct pm_packages_reading {
	uint64_t ns;	/* CLOCK_MONOTONIC */
	uint32_t valid; /* bit i: event i could be read on all of its CPUs */
	struct {
		uint64_t value;	  /* the sum over its CPUs */
		uint64_t lost_ns; /* not on the hardware, their mean */
	} event[PM_PACKAGES_MAX];
};

/*
 * pm_packages_open() - opens and starts EVENTS[0..COUNT), which must outlive *OUT. ERRORS
 * gets 0 or the errno of each, DIAG a sentence about the first. Returns how many are open,
 * -ENOMEM, or -EINVAL if there are more than PM_PACKAGES_MAX. The caller frees *OUT by
 * pm_packages_close(). Reads sysfs and allocates.
 */
int pm_packages_open(struct pm_packages **out, const struct pm_event *events,
		     uint32_t count, int *errors, struct pm_diag *diag);

/* Both accept NULL. The second is for a forked child: the events are its parent's. */
void pm_packages_close(struct pm_packages *packages);
void pm_packages_forget(struct pm_packages *packages);

/* Reads all events: two system calls for each group of each CPU, which interrupt that CPU.
 * Any thread; async-signal-safe; no lock. */
void pm_packages_read(const struct pm_packages *packages,
		      struct pm_packages_reading *reading);

/* Writes the packages of the events as "package 0" or "packages 0-1" to TEXT, "" if the kernel does
 * not tell them. */
void pm_packages_place(const struct pm_packages *packages, char *text, size_t size);

/* Returns whether event I counts the whole machine, or for packages that the kernel does not
 * tell. */
bool pm_packages_covers_machine(const struct pm_packages *packages, uint32_t i);

/* CPU time on the packages since they were opened: of this process, and of all. */
struct pm_packages_use {
	uint64_t own_ns, busy_ns; /* busy_ns is 0 if the kernel does not tell it */
};
/* Reads /proc/stat. Allocates. */
void pm_packages_use(const struct pm_packages *packages, struct pm_packages_use *use);

/* Whom a value of a package belongs to. */
enum pm_packages_who {
	PM_PACKAGES_UNKNOWN, /* too little CPU time to tell, or the kernel does not tell */
	PM_PACKAGES_ALONE,   /* hardly anything else ran on its CPUs */
	PM_PACKAGES_SHARED,
	PM_PACKAGES_MACHINE, /* it counts more than packages */
};
enum pm_packages_who pm_packages_who(bool machine, uint64_t own_ns, uint64_t busy_ns);
const char *pm_packages_who_name(enum pm_packages_who who); /* in JSON */

/* Writes a clause about WHO: "alone on it (98 % of its CPU time)". */
void pm_packages_who_text(enum pm_packages_who who, uint64_t own_ns, uint64_t busy_ns,
			  char *text, size_t size);

/* Returns whether EVENT counts the whole machine, whichever CPU it is opened on. */
bool pm_packages_is_machine(const char *event);

/* Returns whether UNIT is one of energy. */
bool pm_packages_is_energy(const char *unit);

#endif
