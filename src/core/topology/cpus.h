/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of CPUs by the kernel's numbers, of any size. It grows on demand. `struct pm_cpus
 * set = {0}` is the empty set; pm_cpus_free() makes it empty again. Equal sets may differ
 * in `words`: words beyond the last are 0.
 */
#ifndef PM_TOPOLOGY_CPUS_H
#define PM_TOPOLOGY_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/text.h"

/* No CPU has a higher number. This bounds the memory for a user's text. */
#define PM_CPUS_MAX 1048575u

struct pm_cpus {
	size_t words;
	unsigned long *bits;
};

void pm_cpus_free(struct pm_cpus *set);
void pm_cpus_clear(struct pm_cpus *set); /* keeps the memory */

/* These return 0, or -ENOMEM with the set unchanged, or -ERANGE if a CPU is above
 * PM_CPUS_MAX. */
int pm_cpus_add(struct pm_cpus *set, unsigned int cpu);
int pm_cpus_add_range(struct pm_cpus *set, unsigned int first, unsigned int last);
int pm_cpus_copy(struct pm_cpus *to, const struct pm_cpus *from);
int pm_cpus_or(struct pm_cpus *set, const struct pm_cpus *other);

/* Fills the empty SET with the CPUs on which the calling thread may run. Returns 0, -ENOMEM, or the error
 * of sched_getaffinity(2). */
int pm_cpus_own(struct pm_cpus *set);

void pm_cpus_remove(struct pm_cpus *set, unsigned int cpu);
void pm_cpus_and(struct pm_cpus *set, const struct pm_cpus *other);
void pm_cpus_and_not(struct pm_cpus *set, const struct pm_cpus *other);

bool pm_cpus_has(const struct pm_cpus *set, unsigned int cpu);
bool pm_cpus_equal(const struct pm_cpus *a, const struct pm_cpus *b);
bool pm_cpus_intersect(const struct pm_cpus *a, const struct pm_cpus *b);
bool pm_cpus_within(const struct pm_cpus *set, const struct pm_cpus *whole);
unsigned int pm_cpus_count(const struct pm_cpus *set);

/* Returns the first CPU of the set from FROM on, or -1. */
int pm_cpus_next(const struct pm_cpus *set, unsigned int from);
#define pm_cpus_each(cpu, set)                                                           \
	for (unsigned int cpu = (unsigned int)pm_cpus_next(set, 0); (int)cpu >= 0;       \
	     cpu = (unsigned int)pm_cpus_next(set, cpu + 1))

/*
 * pm_cpus_parse_list() - adds "0-3,8" to SET, as the kernel writes lists. Blanks around
 * it are allowed; an empty text adds nothing. After an error the part before it was added,
 * and *BAD (may be NULL) has the wrong part. Returns 0, or
 * -EINVAL: a mistake
 * -ERANGE: a number above PM_CPUS_MAX
 * -ENOMEM
 */
int pm_cpus_parse_list(struct pm_cpus *set, struct pm_slice text, struct pm_slice *bad);

/* Prints "0-3,8" into BUFFER, NUL-terminated, ending in "..." if SIZE bytes are too few.
 * Returns BUFFER. The empty set is "none". */
char *pm_cpus_print(const struct pm_cpus *set, char *buffer, size_t size);

/* Adds the CPUs that the file PATH lists, or the online ones. Return 0, -ENOMEM, -EINVAL,
 * or an error of pm_file_read(). */
int pm_cpus_read(struct pm_cpus *set, const char *path);
int pm_cpus_online(struct pm_cpus *set);

/*
 * pm_cpus_export() - stores the set in a program's mask: bit N % 64 of word N / 64 (on a
 * 64-bit machine; the layout of cpu_set_t). *SIZE is the size of MASK in bytes. It always
 * becomes the needed size, a multiple of a word's. Returns the number of CPUs, with the
 * rest of MASK zero, or -EOVERFLOW if MASK is too small and untouched.
 */
int pm_cpus_export(const struct pm_cpus *set, void *mask, size_t *size);

#endif
