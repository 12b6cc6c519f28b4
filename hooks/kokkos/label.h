/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labels that Kokkos has for kernels. */
#ifndef PERFMON_HOOKS_KOKKOS_LABEL_H
#define PERFMON_HOOKS_KOKKOS_LABEL_H

/* Where the program gives a kernel no label, Kokkos has the type of its function as a linker name.
 * Returns the type as it is written in C++, for free(), or NULL if LABEL is no such name. */
char *label_type(const char *label);

#endif
