/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU-wide counting: events counted on each CPU of a placement, whatever runs there, and
 * added up by any level of the machine.
 *
 *	struct perfmon_placement *place;
 *	struct perfmon_cpuwide *cpuwide;
 *
 *	perfmon_placement_parse(&place, "package:0", NULL, 0);
 *	perfmon_cpuwide_open(&cpuwide, place, "instructions,uncore_imc/clockticks/", 0,
 *			    NULL, 0);
 *	perfmon_cpuwide_start(cpuwide);
 *	sleep(1);
 *	perfmon_cpuwide_stop(cpuwide);
 *	perfmon_cpuwide_read(cpuwide, "core", 0, print, NULL);
 *	perfmon_cpuwide_close(cpuwide);
 *
 * Each event is opened on the CPUs where it counts and on no others: an uncore event on
 * the agents of the packages, dies or nodes that are covered (perfmon_placement_get_event()
 * tells which), a core event where its PMU is. Whole CPUs are counted by a process that
 * has CAP_PERFMON, or with kernel.perf_event_paranoid at 0 or below.
 *
 * Why this is not a session (perfmon/session.h) with CPU targets. Every counter of a
 * session counts on every target, and has one value: their sum. It can be written, it
 * overflows, and it is in an event set that is switched. Here an event has a value for
 * each CPU, and other CPUs than its neighbour: an uncore event counts on one CPU of a
 * package, an event of one kind of cores on those cores. A value is read by level and
 * says what is missing in it, a CPU that goes offline ends none of the others, and
 * nothing can be written. A session of CPU scope is the right thing for one CPU or a few
 * that count the same, with periods, samples or sets.
 *
 * Functions return 0 or a count, or a negative errno; perfmon_cpuwide_message() has the
 * sentence. A CPU-wide session belongs to one thread at a time; none of this is for signal
 * handlers.
 */
#ifndef PERFMON_CPUWIDE_H
#define PERFMON_CPUWIDE_H

#include <perfmon/placement.h>
#include <perfmon/value.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_cpuwide;

/* Flags; the same bits mean the same as those of a session. */
#define PERFMON_CPUWIDE_PARTIAL 1u /* go on without what is refused */
#define PERFMON_CPUWIDE_SPLIT	2u /* every event on its own: a group may never run */
/* Events without u, k, h count the kernel, too. */
#define PERFMON_CPUWIDE_ALL_MODES 4u

/**
 * perfmon_cpuwide_open() - opens events on the CPUs of a placement, stopped.
 * @cpuwide: gets a CPU-wide session, the caller's, which perfmon_cpuwide_close() ends
 * @placement: must live as long as the session
 * @events: see perfmon/event.h; one event set
 * @flags: PERFMON_CPUWIDE_ flags
 * @message: gets one sentence about what is wrong, or with PERFMON_CPUWIDE_PARTIAL about
 *	what is missing, else ""; may be NULL with @message_size 0
 * @message_size: its size in bytes; a longer sentence is cut
 *
 * One system call for each event and CPU, and one or two for each group. Allocates.
 *
 * Return: how many kernel events were refused (0 without PERFMON_CPUWIDE_PARTIAL), or
 * -ENODEV: no CPU of the placement counts an event (with PERFMON_CPUWIDE_PARTIAL:
 *	any), or a CPU has gone offline
 * -EINVAL: an unknown flag, a NULL, several event sets, or a mistake in @events
 * - what perfmon_event_expand() and perf_event_open(2) give, among it -EACCES and
 *	-EPERM: not permitted
 * -EMFILE: out of descriptors
 * -ENOMEM
 */
int perfmon_cpuwide_open(struct perfmon_cpuwide **cpuwide,
			 const struct perfmon_placement *placement, const char *events,
			 uint32_t flags, char *message, size_t message_size);

/**
 * perfmon_cpuwide_message() - copies the sentence about the last call on CPUWIDE that
 * failed, or that went on with less, into BUFFER of SIZE bytes; "" if the last call did
 * neither. BUFFER may be NULL with SIZE 0. No system call, no allocation.
 *
 * Return: the length of the whole sentence, as snprintf(3) returns it; -EINVAL: NULL.
 */
int perfmon_cpuwide_message(const struct perfmon_cpuwide *cpuwide, char *buffer,
			    size_t size);

/* Closes its events and frees it; NULL is accepted. */
void perfmon_cpuwide_close(struct perfmon_cpuwide *cpuwide);

/**
 * perfmon_cpuwide_start(), perfmon_cpuwide_stop() - one system call for each group of each
 * CPU, one after the other: CPUs begin and end some microseconds apart.
 *
 * Return: 0, or
 * -EINVAL: NULL
 * - what ioctl(2) gives first: all CPUs are asked
 */
int perfmon_cpuwide_start(struct perfmon_cpuwide *cpuwide);
int perfmon_cpuwide_stop(struct perfmon_cpuwide *cpuwide);

/* perfmon_cpuwide_value.group of an event that the level cannot tell apart. */
#define PERFMON_CPUWIDE_WHOLE UINT32_MAX

/* The value of an event in an object of a level. The struct grows at its end; the strings
 * last as long as the session. */
struct perfmon_cpuwide_value {
	size_t size;
	const char *event; /* as the user wrote it */
	const char *unit;  /* "" for a plain count; value * scale is in this unit */
	double scale;
	uint32_t index; /* of the event in the list, from 0 */
	uint32_t group; /* logical number in its level, or PERFMON_CPUWIDE_WHOLE */
	uint64_t value;
	uint64_t enabled_ns; /* summed over the kernel events, as the value is: */
	uint64_t running_ns; /* less than enabled: the counters were shared */
	uint32_t counted; /* kernel events in the value; 0: there is none, not a zero */
	/* Kernel events that were refused or cannot be read. The value holds what was last
	 * read of them, if anything. */
	uint32_t refused;
	uint32_t gone;	  /* those in it that ended when their CPU went offline */
	uint32_t missing; /* CPUs of the placement here for which nothing counts */
	uint32_t status;  /* PERFMON_VALUE_ bits (perfmon/value.h) */
	uint32_t reserved;
};

/**
 * perfmon_cpuwide_read() - reads all counters and shows what was counted, by event and
 * then by object of a level.
 * @level: a name of a level, see perfmon/placement.h
 * @flags: must be 0
 * @visit: called for each event and each object that has a CPU of the placement; anything
 *	but 0 ends the walk
 * @argument: handed to @visit
 *
 * An event that cannot be told apart at the level, as an uncore event by cores, is shown
 * once, for PERFMON_CPUWIDE_WHOLE: the sum over the placement. Values count on from the
 * first start. One read(2) for each group of each CPU, and a file that says which CPUs
 * are online. Allocates.
 *
 * Return: 0, or
 * - what @visit returned
 * -EINVAL: no such word, a NULL, or flags that are not 0
 * -ENOENT: this machine lacks the level
 * -ENOMEM
 *
 * A CPU that cannot be read is no error: it shows in `refused`, and values do not
 * fall.
 */
int perfmon_cpuwide_read(struct perfmon_cpuwide *cpuwide, const char *level,
			 uint32_t flags,
			 int (*visit)(const struct perfmon_cpuwide_value *value,
				      void *argument),
			 void *argument);

#ifdef __cplusplus
}
#endif
#endif
