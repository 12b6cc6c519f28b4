/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Translates a user's text to the attributes of perf_event_open(2). One text names events
 * of every source: perf's generic and software names, the events of a PMU's sysfs folder,
 * libpfm4's tables, raw codes, tracepoints and breakpoints. perfmon/event.h has the
 * grammar. Only opening an event shows whether the machine counts it.
 */
#ifndef PM_EVENTS_EVENTS_H
#define PM_EVENTS_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/events/sysfs.h"
#include "perfmon/event.h"

/* The largest number of events in a text, and its largest length. */
#define PM_EVENTS_MAX	   4096
#define PM_EVENTS_TEXT_MAX 65536

/*
 * Flag: events without a privilege modifier (u, k, h) count these modes. Without the flag
 * they count all modes. A mode that is left out shows in the event's name and label, as
 * `:u`:
 *
 *   events of a core PMU                 user mode
 *   events of the kernel alone           all modes: an error where that is not permitted
 *   other software events, breakpoints   all modes where permitted, else user mode; the
 *                                        clocks without a `:u`: they count all the same
 *   PMUs without modes (uncore, msr)     all modes: their drivers reject the bits
 *
 * An attempt to open an event shows whether kernel mode is permitted, once for a user.
 */
#define PM_EVENTS_USER_ONLY PERFMON_EVENT_USER_ONLY

/* The type of exact events in a perf_event_attr. No PMU of the kernel has it. */
#define PM_EVENT_TYPE_EXACT UINT32_C(0x504d0000)

/* Intel's topdown metrics are shares of slots. Slots must lead their group. Where the
 * metrics count, slots cannot be read from user space either (perf's topdown.txt). */
enum pm_topdown { PM_TOPDOWN_NO, PM_TOPDOWN_SLOTS, PM_TOPDOWN_METRIC };

struct pm_event {
	char *name;  /* what reports show; parses back to this very attr with the same
			flags */
	char *label; /* what the user wrote, normalised; shared by all with one `logical`
		      */
	char *pmu;   /* sysfs name: "cpu", "cpu_core", "armv8_pmuv3_0", "software" */
	struct perf_event_attr attr; /* type, size, config*, bp_*, exclude_*, precise_ip,
				      * pinned, exclusive; all else 0 for the opener */
	char unit[32];		     /* "" for a plain count, "ns" for clocks */
	double scale;		     /* count * scale is in that unit */
	unsigned int set;	     /* from 0 */
	unsigned int group; /* from 0 over the whole list: all events inside {} share one;
			     * so do the several events of one logical event. A kernel
			     * group can't span PMUs: open one per group and PMU */
	unsigned int logical; /* from 0 over the list: the event as the user wrote it */
	bool hardware;	      /* counts on a core PMU: may be readable from user space */
	bool uncore;	      /* counts for a package or node: open it on `cpus` */
	bool exact; /* is counted by translation (os/exact.h): attr.config is the event's
		     * number, and the kernel never sees attr */
	bool in_explicit_group; /* was written inside {} */
	bool kernel_only; /* happens in kernel mode alone: with exclude_kernel it would
			   * count nothing, so instances refuse it */
	bool user_only; /* counts user mode alone, since the caller may not count more */
	enum pm_topdown topdown;
	bool precise_max; /* modifier P: precise_ip holds what the PMU's caps say; lower
			   * it until it opens */
	char *cpus;	  /* the PMU's cpus or cpumask list, "" if it has neither */
};

/* Returns whether the event would be open and count 0 forever. */
static inline bool pm_event_is_blind(const struct pm_event *event)
{
	return event->kernel_only && event->attr.exclude_kernel;
}

/* Returns whether ATTR is one of the kernel's clocks. They count all of the time, whatever their
 * exclude bits say, and their periods are a timer's. */
static inline bool pm_attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

struct pm_event_list {
	size_t count;
	struct pm_event *events;
	size_t logical_count;
	size_t group_count;
	size_t set_count;
};

/*
 * pm_events_prepare() - loads libpfm4 if TEXT may name one of its events.
 * pm_events_parse() does so otherwise. A caller that parses with a lock held calls this
 * first: see pm_library_need(). NULL is accepted.
 */
void pm_events_prepare(const char *text);

/*
 * pm_events_parse() - parses TEXT into a list of events, in its order. On success the
 * caller owns *OUT (pm_events_free()). Allocates and reads sysfs and tracefs. The first
 * name that is not the kernel's loads and initialises libpfm4. Any thread. On failure
 * *OUT is untouched and DIAG (may be NULL) holds the message.
 *
 *  - -EINVAL: a mistake in TEXT, or an unknown event
 *  - -ENOENT: the event is known, but its PMU is not on this machine
 *  - -EACCES: this user may not read tracefs
 *  - -ERANGE: a value does not fit
 *  - -E2BIG: TEXT is too long, or names too many events
 *  - -EOPNOTSUPP: the term lies in a word that this build does not have
 *  - -ENOMEM
 */
int pm_events_parse(const char *text, unsigned int flags, struct pm_event_list **out,
		    struct pm_diag *diag);
void pm_events_free(struct pm_event_list *list); /* NULL is accepted */

/* Returns the slots among EVENTS[0..COUNT) that can lead the group of METRIC, or NULL. */
const struct pm_event *pm_event_slots(const struct pm_event *events, size_t count,
				      const struct pm_event *metric);

/* Adds slots to LIST before each topdown metric whose group has none, with the metric's modifiers.
 * They get logical numbers behind all others. Returns 0, or a negative errno with a message. */
int pm_events_add_slots(struct pm_event_list *list, struct pm_diag *diag);

/* Returns whether two events count in the same modes. */
bool pm_events_same_modes(const struct pm_event *a, const struct pm_event *b);

/*
 * pm_events_auto() - makes the list of events that are counted by default: instructions
 * and cycles. Under the tool of exact/ it is all events that the run counts. WANTED is
 * called for each candidate and returns 0 to keep it. A logical event is kept if one of
 * its events is. The list may be empty. Flags and errors are those of pm_events_parse().
 */
int pm_events_auto(unsigned int flags,
		   int (*wanted)(const struct pm_event *event, void *argument),
		   void *argument, struct pm_event_list **out, struct pm_diag *diag);

/* Stores perf's name of the kernel's hardware, software or cache event. Returns false if
 * there is none. */
bool pm_generic_name(uint32_t type, uint64_t config, char *name, size_t size);

/* Lists events as perfmon_event_list() does, and stores a message in DIAG. 0 with a
 * message: the list lacks the events that the message names. */
int pm_events_list(const char *pattern, unsigned int flags,
		   int (*visit)(const struct perfmon_event_info *info, void *argument),
		   void *argument, struct pm_diag *diag);

#endif
