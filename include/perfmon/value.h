/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: how a count came about. These bits stand in the `status` of every value of the
 * library: of sessions (struct perfmon_value), of regions (struct perfmon_region_count), of
 * profiles (struct perfmon_profile_value) and of whole CPUs (struct perfmon_cpuwide_value).
 *
 * At most one of COUNTED, MULTIPLEXED, NOT_COUNTED and NEVER_OPENED is set. None of them is
 * set where the event was open and never enabled. The other bits may stand beside each.
 * Later versions may have further bits: ignore those that you do not know.
 */
#ifndef PERFMON_VALUE_H
#define PERFMON_VALUE_H

#include <stdint.h>

/* The event was on the hardware for all of the enabled time. */
#define PERFMON_VALUE_COUNTED 1u
/* The event was on the hardware for a part of it: value * enabled / running estimates the
 * count. */
#define PERFMON_VALUE_MULTIPLEXED 2u
/* The event was on the hardware for none of it: the value says nothing. */
#define PERFMON_VALUE_NOT_COUNTED 4u
/* The event was never opened: nothing was attached, or the kernel refused it everywhere. */
#define PERFMON_VALUE_NEVER_OPENED 8u
/* Readings took a system call: of a session this reading, elsewhere some of them. */
#define PERFMON_VALUE_SYSCALL 16u
/* Threads of a process that was attached to may be missing, or count twice, and
 * perfmon_session_message() said why: see PERFMON_TARGET_KIND_PROCESS. It stays with a
 * value until that is written. */
#define PERFMON_VALUE_UNCERTAIN 32u
/* The sum lacks a part. Of a session: some targets that it has been attached to refused the
 * event (PERFMON_SESSION_PARTIAL; perfmon_counter_info's error). It stays with a value until
 * that is written. Of a region or a profile's node: some visits have no count. Of whole CPUs:
 * some CPUs. */
#define PERFMON_VALUE_PARTIAL 64u
/* The kernel has held the event, or another of its group, back for parts of ticks, since
 * it overflowed too often (kernel.perf_event_max_sample_rate): what happened then is not
 * counted. Also where records of a hardware event's overflows were lost, since they may have said
 * so. It stays with a value until that is written. */
#define PERFMON_VALUE_THROTTLED 128u

#endif
