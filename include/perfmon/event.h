/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events: what can be counted, from its name to its encoding.
 *
 * An event list is a text. `,` stands between events, `{a,b}` is a group that counts
 * together or not at all, `;` stands between event sets, of which one counts at a time. Names don't
 * care about case. An event is, in the order in which a text is tried:
 *
 *   exact::NAME           counted by translation, where 'perfmon run --exact' runs the
 *                         program: instructions, loads, stores... There NAME alone stands
 *                         for it, and no other event can be counted
 *   pmu/term=value,.../   terms of the PMU's format/ folder in sysfs, config=, config1=,
 *   pmu/alias/            config2=, config3=, name=LABEL, rHEX, or the name of an event
 *                         in its events/ folder, with terms added. PMUs that differ by a
 *                         number go by their common name: uncore_imc (or imc) stands for
 *                         uncore_imc_0, uncore_imc_1..., summed; `*` and `?` work too
 *   rHEX                  a raw code for the core PMU, as the vendor's manual has it
 *   mem:ADDRESS[/LENGTH][:rwx]  a breakpoint on 1 to 8 bytes; rw and 4 if not said
 *   cycles, instructions, branch-misses, L1-dcache-load-misses, task-clock...
 *                         perf's generic, cache and software events and their short forms
 *   alias                 an event in the events/ folder of the core PMU
 *   [pmu::]EVENT[:UMASK]...     libpfm4's names, unit masks and modifiers
 *   system:event          a tracepoint
 *
 * The library's own sources come first: where it has a source NAME, `NAME::` is that
 * source, and not a PMU of libpfm4. `exact` is one. A later version does not give a source
 * the name of a PMU that libpfm4 has.
 *
 * An event may be followed, after a `:` (or the closing `/`), by modifiers: u user, k kernel, h
 * hypervisor (none of them: all modes, see PERFMON_EVENT_USER_ONLY), G guest, H host, I
 * not when idle, p pp ppp precise, P as precise as can be, D pinned, e exclusive.
 * Modifiers after a group's `}` are added to those of its events.
 *
 * On a machine with several kinds of cores an event that doesn't name its PMU becomes
 * several, one per kind of core, to be summed.
 */
#ifndef PERFMON_EVENT_H
#define PERFMON_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel's structure, in linux/perf_event.h or libpfm4's perfmon/perf_event.h. A program
 * that looks into an attr includes one of them. */
struct perf_event_attr;

/*
 * Flag: a core PMU's event without u, k or h counts user mode only; so does a software
 * event or breakpoint where the caller may not count the kernel, which is tried once.
 * An event that happens in the kernel alone keeps all modes. A mode that is left out this
 * way shows in the name and the label, as `:u`, except for the clocks: they count all of
 * the time.
 */
#define PERFMON_EVENT_USER_ONLY 0x1u
/* Flags of perfmon_event_list(): events of PMUs this machine hasn't; an entry for each
 * unit mask. */
#define PERFMON_EVENT_ALL_PMUS 0x2u
#define PERFMON_EVENT_UMASKS   0x4u

/* Bits of perfmon_event_encoding.properties. */
#define PERFMON_EVENT_PROPERTY_HARDWARE	   0x1u /* counts on a core PMU */
#define PERFMON_EVENT_PROPERTY_UNCORE	   0x2u /* counts for a package or node, on `cpus` */
#define PERFMON_EVENT_PROPERTY_KERNEL_ONLY 0x4u /* happens in kernel mode alone */
#define PERFMON_EVENT_PROPERTY_GROUPED	   0x8u /* was written inside {} */
/* Counted by translation (perfmon run --exact): not an event of the kernel. */
#define PERFMON_EVENT_PROPERTY_EXACT 0x10u

/* One encoded event. New fields come at the end: `size` says how much there is. The
 * strings and the attr last as long as the call that the visitor is in. */
struct perfmon_event_encoding {
	size_t size;
	const char *name;  /* normalised; gives this very encoding with the same flags */
	const char *label; /* as the user wrote it: the same for all of one `logical` */
	const char *pmu;   /* the PMU's name in sysfs */
	const char *cpus;  /* its cpus or cpumask list, "" if it has none */
	const char *unit;  /* "" for a plain count, else the unit of count * scale */
	double scale;
	/* attr->size bytes for perf_event_open(2). NULL: the event is not the kernel's, as
	 * those of exact::. A later version may have more sources of such events. */
	const struct perf_event_attr *attr;
	uint32_t set, group, logical; /* each counted from 0 over the whole list */
	uint32_t properties;
};

/**
 * perfmon_event_expand() - encodes an event list and shows each event to a visitor.
 * @text: the list; at most 64 KiB and 4,096 encoded events
 * @flags: PERFMON_EVENT_USER_ONLY or 0
 * @visit: called for each event in order; anything but 0 ends the walk
 * @argument: handed to @visit
 * @message: gets one sentence that says what is wrong and where, or "" on success; may be
 *	NULL with @message_size 0
 * @message_size: its size in bytes; a longer sentence is cut
 *
 * Does not try to count the event: only opening it shows whether this machine can.
 * Allocates and reads files below /sys, opens no event; any thread, not in a signal handler.
 *
 * Return: 0, what @visit returned, or
 * -EINVAL: a mistake in @text, an unknown event, an unknown flag, @text or @visit NULL
 * -ENOENT: a good name whose PMU is not here
 * -EACCES: tracefs is not for this user
 * -ERANGE: a value too large for its term
 * -E2BIG: too much
 * -EOPNOTSUPP: a term in a word that this library doesn't have
 * -ENOMEM
 *
 * Nothing is visited if there is an error anywhere in @text.
 *
 * Source: perf_event_open(2) and perf-list(1) for the words; perfmon2, section 10 (the
 * library, not the kernel, knows events).
 */
int perfmon_event_expand(const char *text, uint32_t flags,
			 int (*visit)(const struct perfmon_event_encoding *event,
				      void *argument),
			 void *argument, char *message, size_t message_size);

/**
 * perfmon_event_encode() - encodes the name of exactly one event.
 * @attr: attr->size must hold the size of the caller's struct (PERF_ATTR_SIZE_VER0 or
 *	more); overwritten on success, untouched otherwise. Ready for perf_event_open(2)
 *	once read_format, disabled and so on are set as wished.
 *
 * The rest as perfmon_event_expand().
 *
 * Return: 0, or
 * -ENOTUNIQ: @text stands for more than one event here: several kinds of cores, several
 *	boxes of an uncore PMU, a list
 * -E2BIG: the encoding does not fit into @attr
 * -EOPNOTSUPP: the event is not the kernel's (exact::)
 * - an error of perfmon_event_expand()
 */
int perfmon_event_encode(const char *text, uint32_t flags, struct perf_event_attr *attr,
			 char *message, size_t message_size);

enum perfmon_event_source {
	PERFMON_EVENT_SOURCE_GENERIC,	 /* perf's portable hardware and cache names */
	PERFMON_EVENT_SOURCE_SOFTWARE,	 /* counted by the kernel itself */
	PERFMON_EVENT_SOURCE_SYSFS,	 /* named by the PMU's driver */
	PERFMON_EVENT_SOURCE_LIBPFM,	 /* named by libpfm4 */
	PERFMON_EVENT_SOURCE_TRACEPOINT, /* a tracepoint */
	PERFMON_EVENT_SOURCE_EXACT,	 /* counted by translation: perfmon run --exact */
};

/* An entry of the list. Grows at its end; the strings last as long as the visit. */
struct perfmon_event_info {
	size_t size;
	const char *name;	 /* a text that perfmon_event_expand() takes */
	const char *alias;	 /* a shorter or older name of the same, or "" */
	const char *pmu;	 /* its PMU: sysfs name, or libpfm4's for its events */
	const char *description; /* a phrase, or "" */
	const char *unit;	 /* as in perfmon_event_encoding */
	uint32_t source;	 /* enum perfmon_event_source */
	uint32_t is_present;	 /* 0: its PMU is not in this machine */
	uint32_t is_umask;	 /* 1: one unit mask of the event visited before */
};

/**
 * perfmon_event_list() - shows the events whose names match a pattern.
 * @pattern: with `*`, `?` or `[`: a glob over the whole name; else a part of the name;
 *	NULL or "": everything but tracepoints, which are listed only for a pattern that
 *	has a `:` or is "tracepoint". Case doesn't matter.
 * @flags: PERFMON_EVENT_ALL_PMUS, PERFMON_EVENT_UMASKS
 *
 * The rest as perfmon_event_expand(). Listed are the generic names whether or not this
 * machine has a PMU for them, what sysfs names, and libpfm4's tables for the PMUs of the
 * machine.
 *
 * Return: 0, what @visit returned, or
 * -EINVAL: an unknown flag, @visit NULL
 * -E2BIG: a pattern above 255 characters
 * -ENOMEM, or what the kernel said to reading tracefs, if tracepoints were asked for
 */
int perfmon_event_list(const char *pattern, uint32_t flags,
		       int (*visit)(const struct perfmon_event_info *info,
				    void *argument),
		       void *argument, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
