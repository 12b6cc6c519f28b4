/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files of the events room, from the lowest:
 *
 *	sysfs.c, modifiers.c	the kernel's description of PMUs; an event's modifiers
 *	resolve.c		functions that every source uses
 *	generic.c, pmu.c (with terms.c), pfm.c, trace.c, exact.c
 *				the sources: each knows events of one kind
 *	sources.c		asks one source after the other
 *	events.c		the grammar of lists: splits a text into events; the
 *				default events
 *	api.c			the public functions
 *
 * A new source is a file of its own and a line in PM_EVENT_SOURCES.
 */
#ifndef PM_EVENTS_INTERNAL_H
#define PM_EVENTS_INTERNAL_H

#include "core/events/events.h"
#include "core/events/sysfs.h"

/* A source returns this, 0 or a negative errno. This means: ask the next source. */
#define PM_RESOLVE_NOT_MINE 1

struct pm_modifiers {
	bool user, kernel, hv; /* none: see pm_modes_default() */
	bool modes_in_name;    /* the event's name holds them: libpfm4's u=1 */
	bool guest, host;
	bool exclude_idle, pinned, exclusive;
	bool precise_max;
	unsigned int precise;
};

/* Returns 0, or -EINVAL with *BAD at the wrong letter (at the end if there is none). */
int pm_modifiers_parse(struct pm_slice text, struct pm_modifiers *out, const char **bad);
void pm_modifiers_add(struct pm_modifiers *to, const struct pm_modifiers *more);
/* Prints them in a fixed order, in at most PM_MODIFIERS_TEXT bytes with the NUL. */
#define PM_MODIFIERS_TEXT 16
void pm_modifiers_print(const struct pm_modifiers *modifiers, char *text);
/* Sets their bits in ATTR. */
void pm_modifiers_apply(const struct pm_modifiers *modifiers, unsigned int max_precise,
			struct perf_event_attr *attr);

/* Applies the default modes to EVENT if MODIFIERS has no privilege: sets the exclude bits
 * if only user mode is to be counted, and adds the `u` for the name. */
void pm_modes_default(unsigned int flags, struct pm_event *event,
		      struct pm_modifiers *modifiers);

/* The state of resolving one text. */
struct pm_resolve {
	struct pm_slice text;
	unsigned int flags;
	struct pm_diag *diag;
	struct pm_sysfs *sysfs;
	struct pm_event_list *list;

	/* the event that is being resolved, and its place */
	struct pm_slice item;
	unsigned int set;
	bool grouped, leads;
	struct pm_modifiers inherited; /* of its group */
	size_t first;		       /* where its entries begin in the list */
	bool renamed;		       /* name=LABEL: its label doesn't parse back */
};

/* A source's description of one event. pm_resolve_add() copies it. */
struct pm_encoding {
	uint32_t type;
	uint64_t config[PM_SYSFS_CONFIGS];
	uint32_t bp_type;
	const char *pmu;
	const char *cpus; /* NULL: none */
	const char *unit; /* NULL: none */
	double scale;
	bool hardware, uncore, exact;
};

/* Adds an event. It takes over NAME, the event's name without modifiers on this PMU
 * (malloc'ed; NULL means out of memory). */
int pm_resolve_add(struct pm_resolve *r, const struct pm_encoding *encoding, char *name);
/* Adds one on each kind of core, or one. ENCODING has the type and config of a machine with
 * one kind of core, and TEXT is the event's name between the slashes of pmu/TEXT/. */
int pm_resolve_add_cores(struct pm_resolve *r, const struct pm_encoding *encoding,
			 const char *text);
/* Sets the parts of ENCODING that depend on PMU. */
void pm_encoding_for(struct pm_encoding *encoding, const struct pm_sysfs_pmu *pmu);

/*
 * Finishes the entries since r->first: applies MODIFIERS (the text after the event's ':'
 * or '/', at == NULL if there is none) and sets their label. LABEL is the user's text
 * without modifiers.
 */
int pm_resolve_finish(struct pm_resolve *r, const char *label, struct pm_slice modifiers);
int pm_resolve_finish_with(struct pm_resolve *r, const char *label,
			   const struct pm_modifiers *own);
/* Adds and finishes the only event of ENCODING. */
int pm_resolve_single(struct pm_resolve *r, const struct pm_encoding *encoding,
		      const char *label, struct pm_slice modifiers);
/* Parses MODIFIERS into OUT, and writes the message if they are wrong. */
int pm_resolve_modifiers(struct pm_resolve *r, struct pm_slice modifiers,
			 struct pm_modifiers *out);

/* Holds " at character 8 of 'cycles,instrctions'", or "" if PART is the whole text. */
struct pm_where {
	char text[128];
};
struct pm_where pm_resolve_where(const struct pm_resolve *r, struct pm_slice part);

/* Two arguments for "'%s'%s": the current event, and the place of PART in it. */
#define PM_ITEM(r, part) pm_slice_quote((r)->item).text, pm_resolve_where(r, part).text

/* Prints into a malloc'ed string. Returns NULL without memory. */
__attribute__((format(printf, 1, 2))) char *pm_text_print(const char *format, ...);

/* The results of pm_terms_encode() besides the encoding. */
struct pm_terms {
	char *text; /* the terms as sysfs spells them; malloc'ed, the caller's */
	char unit[PM_SYSFS_UNIT]; /* encoding->unit may point here */
	struct pm_slice label;	  /* name=LABEL; length 0 if there was none */
};
/* Encodes the terms TEXT on PMU. On failure there is nothing to free. */
int pm_terms_encode(struct pm_resolve *r, struct pm_sysfs_pmu *pmu, struct pm_slice text,
		    struct pm_encoding *encoding, struct pm_terms *out);

/* Finds perf's hardware and cache names, which core/.../ also accepts. */
bool pm_generic_find(struct pm_slice name, uint32_t *type, uint64_t *config,
		     char *canonical, size_t size);

/* One source's part of pm_events_list(). */
struct pm_listing {
	unsigned int flags;
	const char *pattern;
	struct pm_sysfs *sysfs;
	int (*visit)(const struct perfmon_event_info *info, void *argument);
	void *argument;
	struct pm_diag *diag;
};
/* Visits INFO if its name or alias matches. */
int pm_listing_offer(const struct pm_listing *listing, struct perfmon_event_info *info);

struct pm_event_source {
	/* Adds and finishes r->item. Returns 0, PM_RESOLVE_NOT_MINE, or a negative errno
	 * with a message. */
	int (*resolve)(struct pm_resolve *r);
	/* Offers its names until an offer returns non-zero. NULL: it has no list of
	 * names. */
	int (*list)(const struct pm_listing *listing);
	/* NULL, or the pattern for a source with very many names. Only this pattern,
	 * which stands for all of them, or one with a ':' as its names have, lists
	 * them. */
	const char *keyword;
};

/* The sources, in the order in which they are asked. */
#define PM_EVENT_SOURCES(SOURCE)                                                         \
	SOURCE(exact)	   /* exact::NAME; by translation, where it is all there is */   \
	SOURCE(pmu)	   /* pmu/terms/ */                                              \
	SOURCE(raw)	   /* rHEX */                                                    \
	SOURCE(breakpoint) /* mem:... */                                                 \
	SOURCE(generic)	   /* cycles, L1-dcache-loads, cs */                             \
	SOURCE(alias)	   /* a core PMU's events/ */                                    \
	SOURCE(pfm)	   /* libpfm4 */                                                 \
	SOURCE(tracepoint) /* system:event */

#define PM_EVENT_SOURCE_DECLARE(name)                                                    \
	extern const struct pm_event_source pm_source_##name;
PM_EVENT_SOURCES(PM_EVENT_SOURCE_DECLARE)

/* Loads libpfm4, once, with no lock held. Returns NULL, or the message why it is not available. */
const char *pm_pfm_prepare(void);

/* Returns the names of the exact events of this run, malloc'ed, or NULL without
 * memory. */
char *pm_exact_names(void);

/* Adds a remedy to DIAG, which reports NAME as unknown, if the tool of exact/ counts
 * it. */
void pm_exact_offer(struct pm_diag *diag, struct pm_slice name);

/* Returns whether NAME, without modifiers, is perf's name of a portable event. */
bool pm_generic_knows(struct pm_slice name);

/* Resolves r->item: asks one source after the other. */
int pm_resolve(struct pm_resolve *r);

#endif
