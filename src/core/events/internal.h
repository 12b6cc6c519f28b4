/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files of the events room, from the lowest:
 *
 *	sysfs.c, modifiers.c	what the kernel says of PMUs; the letters after an event
 *	resolve.c		what every source uses
 *	generic.c, pmu.c (with terms.c), pfm.c, trace.c, exact.c
 *				the sources: each knows events of one kind
 *	sources.c		asks one source after the other
 *	events.c		the grammar of lists: cuts a text into events
 *	auto.c, api.c		what is counted by default; the public functions
 *
 * A new source is a file of its own and a line in PM_EVENT_SOURCES.
 */
#ifndef PM_EVENTS_INTERNAL_H
#define PM_EVENTS_INTERNAL_H

#include "core/events/events.h"
#include "core/events/sysfs.h"

/* What a source answers, besides 0 and a negative errno: try the next one. */
#define PM_RESOLVE_NOT_MINE 1

struct pm_modifiers {
	bool user, kernel, hv; /* none: see pm_modes_default() */
	bool modes_in_name;    /* the event's name says them: libpfm4's u=1 */
	bool guest, host;
	bool exclude_idle, pinned, exclusive;
	bool precise_max;
	unsigned int precise;
};

/* 0, or -EINVAL with *BAD pointing at the letter (at the end if there is none). */
int pm_modifiers_parse(struct pm_slice text, struct pm_modifiers *out, const char **bad);
void pm_modifiers_add(struct pm_modifiers *to, const struct pm_modifiers *more);
/* Writes them in their one order, with the NUL at most PM_MODIFIERS_TEXT bytes. */
#define PM_MODIFIERS_TEXT 16
void pm_modifiers_print(const struct pm_modifiers *modifiers, char *text);
/* The bits of ATTR that they stand for. */
void pm_modifiers_apply(const struct pm_modifiers *modifiers, unsigned int max_precise,
			struct perf_event_attr *attr);

/* What modifiers without one of privilege mean for EVENT with these FLAGS: sets the
 * exclude bits where user mode alone is to be counted, and adds the `u` that says so. */
void pm_modes_default(unsigned int flags, struct pm_event *event,
		      struct pm_modifiers *modifiers);

/* One text being resolved. */
struct pm_resolve {
	struct pm_slice text;
	unsigned int flags;
	struct pm_diag *diag;
	struct pm_sysfs *sysfs;
	struct pm_event_list *list;

	/* the place of the event in work */
	struct pm_slice item;
	unsigned int set;
	bool grouped, leads;
	struct pm_modifiers inherited; /* of its group */
	size_t first;		       /* where its entries begin in the list */
	bool renamed;		       /* name=LABEL: its label doesn't parse back */
};

/* What a source knows of one event; copied by pm_resolve_add(). */
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

void pm_event_clear(struct pm_event *event); /* frees what it holds */

/* Takes over NAME, the event's name without modifiers on this one PMU (malloc'ed; NULL is
 * taken for want of memory). */
int pm_resolve_add(struct pm_resolve *r, const struct pm_encoding *encoding, char *name);
/* The same, the PMU's part taken from PMU. */
void pm_encoding_for(struct pm_encoding *encoding, const struct pm_sysfs_pmu *pmu);

/*
 * Settles what was added since r->first: applies MODIFIERS (the text after the event's
 * ':' or '/', at == NULL if there is none) and gives the entries their label. LABEL is
 * what the user wrote without modifiers (malloc'ed, taken over).
 */
int pm_resolve_finish(struct pm_resolve *r, char *label, struct pm_slice modifiers);
int pm_resolve_settle(struct pm_resolve *r, char *label, const struct pm_modifiers *own);
/* Adds and settles the one event that ENCODING is, under LABEL (malloc'ed, taken over; NULL
 * is taken for want of memory). */
int pm_resolve_single(struct pm_resolve *r, const struct pm_encoding *encoding,
		      char *label, struct pm_slice modifiers);
/* Checks MODIFIERS, writing the sentence if they are wrong. */
int pm_resolve_modifiers(struct pm_resolve *r, struct pm_slice modifiers,
			 struct pm_modifiers *out);

/* " at character 8 of 'cycles,instrctions'", or "" where PART is the whole text. */
struct pm_where {
	char text[128];
};
struct pm_where pm_resolve_where(const struct pm_resolve *r, struct pm_slice part);

/* The event in work, and where PART of it is: for "'%s'%s". */
#define PM_ITEM(r, part) pm_slice_quote((r)->item).text, pm_resolve_where(r, part).text

/* malloc'ed sprintf; NULL for want of memory. */
__attribute__((format(printf, 1, 2))) char *pm_text_print(const char *format, ...);

/* What pm_terms_encode() found besides the encoding. */
struct pm_terms {
	char *text; /* the terms as sysfs spells them; malloc'ed, the caller's */
	char unit[PM_SYSFS_UNIT]; /* encoding->unit may point here */
	struct pm_slice label;	  /* name=LABEL; length 0 if there was none */
};
/* Encodes the terms TEXT on PMU; nothing to free on failure. */
int pm_terms_encode(struct pm_resolve *r, struct pm_sysfs_pmu *pmu, struct pm_slice text,
		    struct pm_encoding *encoding, struct pm_terms *out);

/* perf's hardware and cache names: also known inside core/.../. */
bool pm_generic_find(struct pm_slice name, uint32_t *type, uint64_t *config,
		     char *canonical, size_t size);

/* Adds r->item on each kind of core as perf's event CANONICAL, of which ENCODING has the
 * type and config of a machine with one kind. */
int pm_generic_add(struct pm_resolve *r, const struct pm_encoding *encoding,
		   const char *canonical);

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
	/* Adds and settles r->item. 0, PM_RESOLVE_NOT_MINE, or a negative errno with a
	 * sentence. */
	int (*resolve)(struct pm_resolve *r);
	/* Offers the names that it knows, until one is answered by other than 0; NULL: it
	 * knows none. */
	int (*list)(const struct pm_listing *listing);
	/* NULL, or the source has so many names that it lists them only for this pattern,
	 * which stands for all of them, or for one with a ':' as its names have. */
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

/* Loads libpfm4 unless that is done: 0, or a negative errno. With no lock held. */
int pm_pfm_load(void);
/* The sentence why libpfm4 is not here, or NULL. */
const char *pm_pfm_refused(void);

/* The exact events that this run counts, as a malloc'ed list; NULL for want of memory. */
char *pm_exact_names(void);

/* Adds to DIAG, which says that NAME is unknown, how it is counted if the tool would. */
void pm_exact_offer(struct pm_diag *diag, struct pm_slice name);

/* Whether NAME, without modifiers, is perf's for a portable event. */
bool pm_generic_knows(struct pm_slice name);

/* Resolves r->item, asking one source after the other. */
int pm_resolve(struct pm_resolve *r);

#endif
