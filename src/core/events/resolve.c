/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that every source uses: adding an event, its modifiers and names, listing
 * names. */
#include "config.h"
#include "core/events/internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/grow.h"

char *pm_text_print(const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

struct pm_where pm_resolve_where(const struct pm_resolve *r, struct pm_slice part)
{
	struct pm_where where = {""};
	int n;

	if (part.length == r->text.length)
		return where;
	n = snprintf(where.text, sizeof(where.text), " at character %zu",
		     (size_t)(part.at - r->text.at) + 1);
	/* If the message quotes the only event, its place is enough. */
	if (r->item.length != r->text.length)
		snprintf(where.text + n, sizeof(where.text) - (size_t)n, " of '%s'",
			 pm_slice_quote(r->text).text);
	return where;
}

void pm_encoding_for(struct pm_encoding *encoding, const struct pm_sysfs_pmu *pmu)
{
	encoding->pmu = pmu->name;
	encoding->cpus = pmu->cpus;
	encoding->hardware = pmu->core;
	encoding->uncore = pmu->uncore;
}

static void attr_set_config(struct perf_event_attr *attr, const uint64_t *config)
{
	attr->config = config[0];
	attr->config1 = config[1];
	attr->config2 = config[2];
#ifdef HAVE_STRUCT_PERF_EVENT_ATTR_CONFIG3
	attr->config3 = config[3];
#endif
}

int pm_resolve_add(struct pm_resolve *r, const struct pm_encoding *encoding, char *name)
{
	struct pm_event_list *list = r->list;
	struct pm_event *event;
	int err = -ENOMEM;

	if (!name)
		goto fail;
	if (list->count == PM_EVENTS_MAX) {
		err = pm_diag_set(r->diag, -E2BIG,
				  "more than %d events: '%s'%s is one too many",
				  PM_EVENTS_MAX, PM_ITEM(r, r->item));
		goto fail;
	}
	if (!PM_GROW(list->events, list->count))
		goto fail;
	event = &list->events[list->count];
	memset(event, 0, sizeof(*event));
	event->name = name;
	event->pmu = strdup(encoding->pmu);
	event->cpus = strdup(encoding->cpus ? encoding->cpus : "");
	event->attr.type = encoding->type;
	event->attr.size = sizeof(event->attr);
	event->attr.bp_type = encoding->bp_type;
	attr_set_config(&event->attr, encoding->config);
	snprintf(event->unit, sizeof(event->unit), "%s",
		 encoding->unit ? encoding->unit : "");
	event->scale = encoding->scale ? encoding->scale : 1.0;
	event->set = r->set;
	event->hardware = encoding->hardware;
	event->uncore = encoding->uncore;
	event->exact = encoding->exact;
	event->in_explicit_group = r->grouped;
	list->count++;
	return event->pmu && event->cpus ? 0 : -ENOMEM;
fail:
	free(name);
	return err;
}

int pm_resolve_modifiers(struct pm_resolve *r, struct pm_slice modifiers,
			 struct pm_modifiers *out)
{
	const char *bad;
	struct pm_slice letter;

	memset(out, 0, sizeof(*out));
	if (!modifiers.at || !pm_modifiers_parse(modifiers, out, &bad))
		return 0;
	if (!modifiers.length)
		return pm_diag_set(r->diag, -EINVAL,
				   "no modifier after '%s'%s: the modifiers are u k h G "
				   "H I p pp ppp P D e",
				   PM_ITEM(r, modifiers));
	letter = (struct pm_slice){bad, 1};
	if (*bad == 'p')
		return pm_diag_set(
			r->diag, -EINVAL,
			"more than three p in '%s'%s: precision goes from p to ppp",
			PM_ITEM(r, letter));
	return pm_diag_set(r->diag, -EINVAL,
			   "unknown modifier '%s' in '%s'%s: the modifiers are u (user), "
			   "k (kernel), h (hypervisor), G (guest), H (host), I (not "
			   "idle), p pp ppp P (precise), D (pinned), e (exclusive)",
			   pm_slice_quote(letter).text, PM_ITEM(r, letter));
}

/* Returns whether NAME is a tracepoint made of a probe in a program, as the kernel and
 * perf-probe(1) name them. */
static bool is_user_probe(const char *name)
{
	return !strncmp(name, "uprobes:", 8) || !strncmp(name, "probe_", 6) ||
	       !strncmp(name, "sdt_", 4);
}

/* Returns whether the event occurs in kernel mode only. By the kernel's sources, such
 * events are counted with the registers of the kernel function in which they occur. */
static bool kernel_only(const struct pm_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_TRACEPOINT)
		return !is_user_probe(event->name);
	if (attr->type != PERF_TYPE_SOFTWARE)
		return false;
	return attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	       attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT ||
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT + 1; /* cgroup-switches, 5.13 */
}

static const struct pm_sysfs_pmu *pmu_of(struct pm_resolve *r,
					 const struct pm_event *event)
{
	struct pm_sysfs_pmu *pmu = pm_sysfs_by_name(r->sysfs, event->pmu);

	return pmu && !pm_sysfs_pmu_load(pmu) ? pmu : NULL;
}

static unsigned int max_precise(struct pm_resolve *r, const struct pm_event *event)
{
	const struct pm_sysfs_pmu *pmu = pmu_of(r, event);

	return pmu ? pmu->max_precise : 0;
}

/* Recognises event 0 with these unit masks, on a PMU whose driver names slots
 * (arch/x86/events). */
static enum pm_topdown topdown(struct pm_resolve *r, const struct pm_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct pm_sysfs_pmu *pmu;
	bool metric = attr->config >= 0x8000 && attr->config <= 0x8700 &&
		      !(attr->config & 0xff);

	if (!event->hardware || (!metric && attr->config != 0x400) ||
	    attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return PM_TOPDOWN_NO;
	pmu = pmu_of(r, event);
	if (!pmu || !pm_sysfs_alias_find(pmu, pm_slice_of("slots")))
		return PM_TOPDOWN_NO;
	return metric ? PM_TOPDOWN_METRIC : PM_TOPDOWN_SLOTS;
}

static int name_with(char **name, const char *modifiers)
{
	size_t length = strlen(*name);
	char *whole;

	if (!*modifiers)
		return 0;
	whole = pm_text_print("%s%s%s", *name,
			      length && (*name)[length - 1] == '/' ? "" : ":", modifiers);
	if (!whole)
		return -ENOMEM;
	free(*name);
	*name = whole;
	return 0;
}

int pm_resolve_finish_with(struct pm_resolve *r, const char *label,
			   const struct pm_modifiers *own)
{
	struct pm_event_list *list = r->list;
	bool single = list->count - r->first == 1;
	struct pm_modifiers all = *own;
	char text[PM_MODIFIERS_TEXT];

	if (!r->leads && (own->pinned || own->exclusive))
		return pm_diag_set(
			r->diag, -EINVAL,
			"'%s'%s has modifier %c, but only the first event of a group can "
			"have this modifier: write the modifier after the '}'",
			PM_ITEM(r, r->item), own->pinned ? 'D' : 'e');
	pm_modifiers_add(&all, &r->inherited);
	all.pinned &= r->leads;
	all.exclusive &= r->leads;
	for (size_t i = r->first; i < list->count; i++) {
		struct pm_event *event = &list->events[i];
		struct pm_modifiers its = all;

		event->kernel_only = kernel_only(event);
		event->topdown = topdown(r, event);
		pm_modes_default(r->flags, event, &its);
		pm_modifiers_print(&its, text);
		pm_modifiers_apply(&its, all.precise_max ? max_precise(r, event) : 0,
				   &event->attr);
		event->precise_max = all.precise_max;
		event->logical = (unsigned int)list->logical_count;
		event->group = (unsigned int)list->group_count;
		event->label = strdup(label);
		if (single && !r->renamed) {
			free(event->name);
			event->name = strdup(label);
		}
		if (!event->label || !event->name || name_with(&event->name, text) ||
		    name_with(&event->label, text))
			return -ENOMEM;
	}
	list->logical_count++;
	return 0;
}

int pm_resolve_finish(struct pm_resolve *r, const char *label, struct pm_slice modifiers)
{
	struct pm_modifiers own;
	int err = pm_resolve_modifiers(r, modifiers, &own);

	return err ?: pm_resolve_finish_with(r, label, &own);
}

int pm_resolve_single(struct pm_resolve *r, const struct pm_encoding *encoding,
		      const char *label, struct pm_slice modifiers)
{
	int err = pm_resolve_add(r, encoding, strdup(label));

	return err ?: pm_resolve_finish(r, label, modifiers);
}

int pm_resolve_add_cores(struct pm_resolve *r, const struct pm_encoding *encoding,
			 const char *text)
{
	size_t cores = r->sysfs->core_count;
	struct pm_encoding one = *encoding;
	int err = 0;

	for (size_t i = 0; !err && i < (cores ?: 1); i++) {
		const struct pm_sysfs_pmu *pmu = pm_sysfs_core(r->sysfs, i);

		if (pmu)
			pm_encoding_for(&one, pmu);
		if (cores > 1 && encoding->type == PERF_TYPE_RAW)
			one.type = pmu->type;
		else if (cores > 1)
			one.config[0] = encoding->config[0] |
					(uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
		err = pm_resolve_add(r, &one, pm_text_print("%s/%s/", one.pmu, text));
	}
	return err;
}

static bool contains(const char *name, const char *part)
{
	struct pm_slice rest = pm_slice_of(name);

	for (;; rest.at++, rest.length--) {
		if (pm_slice_starts(rest, part))
			return true;
		if (!rest.length)
			return false;
	}
}

static bool matches(const char *name, const char *pattern)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return contains(name, pattern);
}

int pm_listing_offer(const struct pm_listing *listing, struct perfmon_event_info *info)
{
	info->size = sizeof(*info);
	info->alias = info->alias ? info->alias : "";
	info->description = info->description ? info->description : "";
	info->unit = info->unit ? info->unit : "";
	if (!matches(info->name, listing->pattern) &&
	    (!*info->alias || !matches(info->alias, listing->pattern)))
		return 0;
	return listing->visit(info, listing->argument);
}
