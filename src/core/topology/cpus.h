/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of CPUs by the kernel's numbers, of any size: it grows with what is put in.
 * `struct pm_cpus set = {0}` is the empty set; pm_cpus_free() makes it that again. Sets
 * that are equal may differ in `words`: what lies beyond is 0.
 */
#ifndef PM_TOPOLOGY_CPUS_H
#define PM_TOPOLOGY_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/text.h"

/* No CPU has a higher number: what a text may make us allocate is bounded by it. */
#define PM_CPUS_MAX 1048575u

struct pm_cpus {
	size_t words;
	unsigned long *bits;
};

void pm_cpus_free(struct pm_cpus *set);
void pm_cpus_clear(struct pm_cpus *set); /* keeps the memory */

/* Each of these returns 0, or -ENOMEM with the set unchanged; -ERANGE: CPU is above
 * PM_CPUS_MAX. */
int pm_cpus_add(struct pm_cpus *set, unsigned int cpu);
int pm_cpus_add_range(struct pm_cpus *set, unsigned int first, unsigned int last);
int pm_cpus_copy(struct pm_cpus *to, const struct pm_cpus *from);
int pm_cpus_or(struct pm_cpus *set, const struct pm_cpus *other);

void pm_cpus_remove(struct pm_cpus *set, unsigned int cpu);
void pm_cpus_and(struct pm_cpus *set, const struct pm_cpus *other);
void pm_cpus_and_not(struct pm_cpus *set, const struct pm_cpus *other);

bool pm_cpus_has(const struct pm_cpus *set, unsigned int cpu);
bool pm_cpus_equal(const struct pm_cpus *a, const struct pm_cpus *b);
bool pm_cpus_intersect(const struct pm_cpus *a, const struct pm_cpus *b);
bool pm_cpus_within(const struct pm_cpus *set, const struct pm_cpus *whole);
unsigned int pm_cpus_count(const struct pm_cpus *set);

/* The first CPU of the set from FROM on, or -1. */
int pm_cpus_next(const struct pm_cpus *set, unsigned int from);
#define pm_cpus_each(cpu, set)                                                           \
	for (int cpu = pm_cpus_next(set, 0); cpu >= 0;                                   \
	     cpu = pm_cpus_next(set, (unsigned int)cpu + 1))

/*
 * pm_cpus_parse_list() - adds "0-3,8" to SET, as the kernel writes lists, blanks around
 * it allowed; an empty text adds nothing. -EINVAL with *BAD (may be NULL) the part that
 * is wrong, -ERANGE the same for a number above PM_CPUS_MAX, -ENOMEM; what stood before
 * the bad part has been added then.
 */
int pm_cpus_parse_list(struct pm_cpus *set, struct pm_slice text, struct pm_slice *bad);

/* "0-3,8" in BUFFER, NUL-terminated, ending in "..." if SIZE bytes are too few. Returns
 * BUFFER; "none" for the empty set. */
char *pm_cpus_print(const struct pm_cpus *set, char *buffer, size_t size);

/* The CPUs that the kernel says are online, into the empty SET: one file of sysfs. 0,
 * -ENOMEM, -EINVAL, or what open(2) and read(2) give. */
int pm_cpus_online(struct pm_cpus *set);

/*
 * pm_cpus_export() - the set as a program's mask: bit N % 64 of word N / 64 (on a 64-bit
 * machine; the layout of cpu_set_t). *SIZE is how many bytes MASK has; it always becomes
 * how many are needed, a multiple of a word's. Returns how many CPUs there are, with the
 * rest of MASK zero; -EOVERFLOW if MASK is too small, which then is untouched.
 */
int pm_cpus_export(const struct pm_cpus *set, void *mask, size_t *size);

#endif
