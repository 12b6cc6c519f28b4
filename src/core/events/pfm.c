/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpfm4's events: [pmu::]EVENT[:UMASK][:modifier...]. Only this file uses libpfm4.
 *
 * The kernel's header comes first. libpfm4 has a copy of its own, which is then not used.
 */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>

#include "config.h"
#include "core/events/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/library.h"
#include "core/kernel/locks.h"

#define TEXT_MAX 512

#define FUNCTIONS(X)                                                                     \
	X(pfm_initialize)                                                                \
	X(pfm_strerror)                                                                  \
	X(pfm_get_pmu_info)                                                              \
	X(pfm_find_event)                                                                \
	X(pfm_get_event_next)                                                            \
	X(pfm_get_event_info)                                                            \
	X(pfm_get_event_attr_info)                                                       \
	X(pfm_get_os_event_encoding)

#if defined(PIC) && defined(PFM_SONAME)
PM_LIBRARY_LOADED(lib, FUNCTIONS, PM_LOCK_EVENTS, PFM_SONAME,
		  "libpfm (Debian's package is libpfm4)");
PM_LIBRARY_NOTE(note, PFM_SONAME, "events", "Event names of CPUs and unit masks");
#else
PM_LIBRARY_LINKED(lib, FUNCTIONS);
#endif

const char *pm_pfm_prepare(void)
{
	return pm_library_need(&lib_library) ? lib_library.refused.text : NULL;
}

/* Initialises libpfm4 at its first use, because it looks for the machine's PMUs in cpuid
 * or /proc/cpuinfo. */
static bool pfm_ready(void)
{
	static bool tried, ready;
	bool result;

	if (pm_library_need(&lib_library))
		return false;
	pm_locks_take(PM_LOCK_EVENTS);
	if (!tried)
		ready = lib.pfm_initialize() == PFM_SUCCESS;
	tried = true;
	result = ready;
	pm_locks_release(PM_LOCK_EVENTS);
	return result;
}

/* The parts of an item: libpfm4's text and our modifiers. */
struct request {
	char text[TEXT_MAX]; /* without our modifiers */
	struct pm_modifiers own;
	bool pmu_named; /* has pmu:: */
	bool tracepoint;
	bool modes, guests; /* the text has libpfm4's own u=1, mg=1 and the like */
	bool hv;	    /* the text has its own h or h=1 */
};

static bool pmu_info(int pmu, pfm_pmu_info_t *info)
{
	*info = (pfm_pmu_info_t){.size = sizeof(*info)};
	return lib.pfm_get_pmu_info((pfm_pmu_t)pmu, info) == PFM_SUCCESS;
}

static bool event_info(int index, pfm_event_info_t *info)
{
	*info = (pfm_event_info_t){.size = sizeof(*info)};
	return lib.pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, info) == PFM_SUCCESS;
}

static bool attribute_info(int event, int attribute, pfm_event_attr_info_t *info)
{
	*info = (pfm_event_attr_info_t){.size = sizeof(*info)};
	return lib.pfm_get_event_attr_info(event, attribute, PFM_OS_PERF_EVENT_EXT,
					   info) == PFM_SUCCESS;
}

/* libpfm4 lists the tracepoints of the machine's own tracefs as events of its perf PMU,
 * as they were at its initialisation. Our own source finds them, below a root that tests
 * change. */
static bool is_tracepoint(const pfm_event_info_t *event)
{
	return event->pmu == PFM_PMU_PERF_EVENT && !event->equiv &&
	       strncmp(event->name, "PERF_COUNT_", strlen("PERF_COUNT_"));
}

/* Returns whether event INDEX (-1: none) has a unit mask or hardware modifier SEGMENT. */
static bool has_attribute(int index, struct pm_slice segment)
{
	pfm_event_info_t event;

	if (index < 0 || !event_info(index, &event))
		return false;
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t info;

		if (attribute_info(index, i, &info) &&
		    info.ctrl != PFM_ATTR_CTRL_PERF_EVENT &&
		    pm_slice_is(segment, info.name))
			return true;
	}
	return false;
}

/* Returns the event's name and, in *REST, its ":segments". */
static struct pm_slice event_name(struct pm_slice item, struct pm_slice *rest,
				  bool *pmu_named)
{
	const char *colons = memmem(item.at, item.length, "::", 2);
	struct pm_slice name = item;

	*pmu_named = colons != NULL;
	if (colons) {
		name.at = colons + 2;
		name.length = item.length - (size_t)(name.at - item.at);
	}
	name = pm_slice_cut(name, ':', rest);
	return (struct pm_slice){item.at, (size_t)(name.at - item.at) + name.length};
}

static bool append(struct request *request, struct pm_slice part)
{
	size_t used = strlen(request->text);

	if (used + part.length + 1 >= sizeof(request->text))
		return false;
	memcpy(request->text + used, part.at, part.length);
	request->text[used + part.length] = '\0';
	return true;
}

/* Separates our modifiers from the item. Returns false if it is too long to be an
 * event. */
static bool prepare(struct pm_slice item, struct request *request)
{
	struct pm_slice rest, name;
	pfm_event_info_t info;
	int index;

	memset(request, 0, sizeof(*request));
	name = event_name(item, &rest, &request->pmu_named);
	if (!append(request, name))
		return false;
	index = lib.pfm_find_event(request->text);
	if (index >= 0 && !event_info(index, &info))
		index = -1;
	request->tracepoint = index >= 0 && is_tracepoint(&info);
	/* libpfm4 accepts only one spelling of its names */
	if (index >= 0 && strlen(info.name) <= name.length &&
	    pm_slice_is((struct pm_slice){name.at + name.length - strlen(info.name),
					  strlen(info.name)},
			info.name))
		memcpy(request->text + name.length - strlen(info.name), info.name,
		       strlen(info.name));
	while (rest.at) {
		struct pm_slice value, word, segment = pm_slice_cut(rest, ':', &rest);
		struct pm_modifiers own;
		const char *bad;

		if (!pm_modifiers_parse(segment, &own, &bad) &&
		    !has_attribute(index, segment)) {
			pm_modifiers_add(&request->own, &own);
			continue;
		}
		word = pm_slice_cut(segment, '=', &value);
		request->modes |= pm_slice_is(word, "u") || pm_slice_is(word, "k") ||
				  pm_slice_is(word, "h");
		request->hv |= pm_slice_is(word, "h") && !pm_slice_is(value, "0");
		request->guests |= pm_slice_is(word, "mg") || pm_slice_is(word, "mh");
		if (!append(request, pm_slice_of(":")) || !append(request, segment))
			return false;
	}
	return true;
}

static int encode(const char *text, struct perf_event_attr *attr, int *cpu)
{
	pfm_perf_encode_arg_t argument = {
		.attr = attr, .size = sizeof(argument), .cpu = -1};
	int result;

	memset(attr, 0, sizeof(*attr));
	result = lib.pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3,
					       PFM_OS_PERF_EVENT_EXT, &argument);
	*cpu = argument.cpu;
	return result;
}

static int find_pmu(struct pm_slice name, pfm_pmu_info_t *info)
{
	int pmu;

	pfm_for_all_pmus(pmu) if (pmu_info(pmu, info) &&
				  pm_slice_is(name, info->name)) return 0;
	return -ENOENT;
}

/* Finds the first absent PMU whose table has an event NAME. */
static bool find_absent(struct pm_slice name, pfm_pmu_info_t *pmu)
{
	pfm_event_info_t event;
	int i;

	pfm_for_all_pmus(i)
	{
		if (!pmu_info(i, pmu) || pmu->is_present)
			continue;
		for (int e = pmu->first_event; e != -1; e = lib.pfm_get_event_next(e))
			if (event_info(e, &event) && pm_slice_is(name, event.name))
				return true;
	}
	return false;
}

/* Reports why libpfm4 has not found the event. */
static int not_found(struct pm_resolve *r, const struct request *request)
{
	struct pm_slice rest, name, whole = pm_slice_of(request->text);
	struct pm_suggestion suggestion;
	struct pm_quote quote;
	struct pm_where where = pm_resolve_where(r, r->item);
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;
	bool named;

	name = event_name(whole, &rest, &named);
	if (!named) {
		if (!find_absent(name, &pmu))
			return PM_RESOLVE_NOT_MINE;
		return pm_diag_set(r->diag, -ENOENT,
				   "event '%s'%s belongs to PMUs such as %s (%s); this "
				   "machine has none of them",
				   pm_slice_quote(name).text, where.text, pmu.desc,
				   pmu.name);
	}
	whole = pm_slice_cut(name, ':', NULL);
	name.at += whole.length + 2;
	name.length -= whole.length + 2;
	quote = pm_slice_quote(whole);
	if (find_pmu(whole, &pmu))
		return pm_diag_set(
			r->diag, -ENOENT,
			"libpfm4 has no PMU '%s' for this kind of CPU, as in '%s'%s",
			quote.text, pm_slice_quote(r->item).text, where.text);
	if (!pmu.is_present)
		return pm_diag_set(r->diag, -ENOENT,
				   "PMU '%s' (%s), as in '%s'%s, is not in this machine",
				   pmu.name, pmu.desc, pm_slice_quote(r->item).text,
				   where.text);
	suggestion = (struct pm_suggestion){.wanted = name};
	for (int e = pmu.first_event; e != -1; e = lib.pfm_get_event_next(e))
		if (event_info(e, &event))
			pm_suggestion_offer(&suggestion, event.name, NULL);
	pm_diag_set(r->diag, -EINVAL, "PMU '%s' has no event '%s'%s", pmu.name,
		    pm_slice_quote(name).text, where.text);
	if (suggestion.best[0])
		pm_diag_add(r->diag, ": did you mean '%s'?", suggestion.best);
	return -EINVAL;
}

/* Reports a known event with wrong unit masks, and lists the right ones. */
static int refused(struct pm_resolve *r, const struct request *request, int result)
{
	struct pm_slice rest,
		name = event_name(pm_slice_of(request->text), &rest, &(bool){0});
	char *text = pm_slice_copy(name);
	int index = text ? lib.pfm_find_event(text) : -1, shown = 0;
	pfm_event_info_t event;

	free(text);
	if (result == PFM_ERR_NOMEM)
		return -ENOMEM;
	pm_diag_set(r->diag, -EINVAL, "'%s'%s: libpfm4 says: %s", PM_ITEM(r, r->item),
		    lib.pfm_strerror(result));
	if (index < 0 || !event_info(index, &event))
		return -EINVAL;
	for (int i = 0; i < event.nattrs && shown < 16; i++) {
		pfm_event_attr_info_t info;

		if (attribute_info(index, i, &info) && info.type == PFM_ATTR_UMASK)
			pm_diag_add(r->diag, "%s %s",
				    shown++ ? "," : "; the unit masks are", info.name);
	}
	if (!shown)
		pm_diag_add(r->diag, "; the event has no unit masks");
	return -EINVAL;
}

/* Matches names of PMUs: arm_ac72 is sysfs's armv8_cortex_a72, arm_n1 its
 * armv8_neoverse_n1. */
static bool is_same_arm(const char *pfm, const char *sysfs)
{
	const char *model = strrchr(sysfs, '_');

	if (strncmp(pfm, "arm_", 4) || !model)
		return false;
	pfm += 4;
	return !strcmp(pfm, model + 1) || (*pfm == 'c' && !strcmp(pfm + 1, model + 1));
}

/* Finds the sysfs PMU that counts the event that libpfm4 encoded in ATTR for its PMU. */
static void place(struct pm_resolve *r, const struct perf_event_attr *attr,
		  const pfm_pmu_info_t *pmu, struct pm_encoding *encoding)
{
	size_t cores = r->sysfs->core_count;
	struct pm_sysfs_pmu *found = NULL;

	encoding->type = attr->type;
	encoding->config[0] = attr->config;
	encoding->config[1] = attr->config1;
	encoding->config[2] = attr->config2;
	if (attr->type == PERF_TYPE_SOFTWARE) {
		encoding->pmu = "software";
		if (pm_attr_is_clock(attr))
			encoding->unit = "ns";
		return;
	}
	if (attr->type == PERF_TYPE_RAW && cores > 1)
		for (size_t i = 0; i < cores; i++)
			if (is_same_arm(pmu->name, pm_sysfs_core(r->sysfs, i)->name)) {
				found = pm_sysfs_core(r->sysfs, i);
				encoding->type = found->type;
			}
	if (!found && attr->type < PERF_TYPE_MAX)
		found = pm_sysfs_core(r->sysfs, 0);
	if (!found && attr->type >= PERF_TYPE_MAX)
		found = pm_sysfs_by_type(r->sysfs, attr->type);
	if (found)
		pm_encoding_for(encoding, found);
	else
		encoding->pmu = attr->type < PERF_TYPE_MAX ? "cpu" : pmu->name;
	encoding->hardware |= attr->type < PERF_TYPE_MAX;
}

/* Adds a portable event on each kind of core. */
static int add_generic(struct pm_resolve *r, const struct perf_event_attr *attr)
{
	const struct pm_encoding encoding = {.type = attr->type,
					     .config = {attr->config}};
	char name[64];

	if (!pm_generic_name(attr->type, attr->config, name, sizeof(name)))
		return pm_diag_set(r->diag, -EINVAL,
				   "perf_event_open does not know '%s'%s",
				   PM_ITEM(r, r->item));
	return pm_resolve_add_cores(r, &encoding, name);
}

static bool is_added(const struct pm_resolve *r, const struct pm_encoding *encoding)
{
	for (size_t i = r->first; i < r->list->count; i++)
		if (r->list->events[i].attr.type == encoding->type)
			return true;
	return false;
}

/* Adds an event without a named PMU on the other kinds of cores whose tables have it. */
static int add_others(struct pm_resolve *r, const struct request *request)
{
	int pmu, err = 0, cpu;

	pfm_for_all_pmus(pmu)
	{
		struct pm_encoding encoding = {0};
		struct perf_event_attr attr;
		pfm_pmu_info_t info;
		char *text;

		if (err || !pmu_info(pmu, &info) || !info.is_present ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		text = pm_text_print("%s::%s", info.name, request->text);
		if (!text)
			return -ENOMEM;
		if (encode(text, &attr, &cpu) == PFM_SUCCESS) {
			place(r, &attr, &info, &encoding);
			if (!is_added(r, &encoding)) {
				err = pm_resolve_add(r, &encoding, text);
				continue;
			}
		}
		free(text);
	}
	return err;
}

static int add(struct pm_resolve *r, const struct request *request,
	       const struct perf_event_attr *attr)
{
	bool several = r->sysfs->core_count > 1;
	struct pm_encoding encoding = {0};
	pfm_event_info_t event;
	pfm_pmu_info_t pmu = {.name = "cpu"};
	int err, index = lib.pfm_find_event(request->text);

	if (several &&
	    (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE))
		return add_generic(r, attr);
	if (index >= 0 && event_info(index, &event))
		pmu_info((int)event.pmu, &pmu);
	place(r, attr, &pmu, &encoding);
	err = pm_resolve_add(r, &encoding,
			     request->pmu_named
				     ? strdup(request->text)
				     : pm_text_print("%s::%s", pmu.name, request->text));
	if (!err && several && !request->pmu_named && encoding.hardware)
		err = add_others(r, request);
	return err;
}

/* Takes the modes of libpfm4's own modifiers (u=1, precise=2), unless ours set them. */
static void keep_modifiers(struct pm_resolve *r, const struct request *request,
			   const struct perf_event_attr *attr)
{
	const struct pm_modifiers *own = &request->own, *group = &r->inherited;
	bool modes = own->user || own->kernel || own->hv || group->user ||
		     group->kernel || group->hv;

	for (size_t i = r->first; i < r->list->count; i++) {
		struct perf_event_attr *to = &r->list->events[i].attr;

		if (request->modes && !modes) {
			to->exclude_user = attr->exclude_user;
			to->exclude_kernel = attr->exclude_kernel;
			/* On CPUs whose table has no such mode libpfm4 includes the
			 * hypervisor. The same modifiers would have two meanings. */
			to->exclude_hv = !request->hv;
		}
		if (request->guests) {
			to->exclude_guest = attr->exclude_guest;
			to->exclude_host = attr->exclude_host;
		}
		if (!to->precise_ip)
			to->precise_ip = attr->precise_ip;
		to->pinned |= attr->pinned && r->leads;
		to->exclusive |= attr->exclusive && r->leads;
	}
}

static int resolve(struct pm_resolve *r)
{
	struct perf_event_attr attr;
	struct request request;
	int cpu, err;

	if (!pfm_ready() || !prepare(r->item, &request) || request.tracepoint)
		return PM_RESOLVE_NOT_MINE;
	err = encode(request.text, &attr, &cpu);
	if (err == PFM_ERR_NOTFOUND || err == PFM_ERR_NOINIT)
		return not_found(r, &request);
	if (err != PFM_SUCCESS)
		return refused(r, &request, err);
	if (attr.sample_period || cpu != -1)
		return pm_diag_set(r->diag, -EINVAL,
				   "'%s'%s is an option of sampling or placement, not "
				   "part of an event's name",
				   PM_ITEM(r, r->item));
	if (request.modes && attr.exclude_user && attr.exclude_kernel && !request.hv)
		return pm_diag_set(r->diag, -EINVAL,
				   "'%s'%s excludes every mode; add 'u' or 'k'",
				   PM_ITEM(r, r->item));
	request.own.modes_in_name = request.modes;
	err = add(r, &request, &attr);
	if (!err)
		err = pm_resolve_finish_with(r, request.text, &request.own);
	if (!err)
		keep_modifiers(r, &request, &attr);
	return err;
}

static int list_umasks(const struct pm_listing *listing, int index, int count,
		       const struct perfmon_event_info *event)
{
	int stop = 0;

	for (int i = 0; !stop && i < count; i++) {
		struct perfmon_event_info info = *event;
		pfm_event_attr_info_t attribute;
		char *name;

		if (!attribute_info(index, i, &attribute) ||
		    attribute.type != PFM_ATTR_UMASK)
			continue;
		name = pm_text_print("%s:%s", event->name, attribute.name);
		info.name = name;
		info.alias = "";
		info.description = attribute.desc;
		info.is_umask = 1;
		stop = name ? pm_listing_offer(listing, &info) : -ENOMEM;
		free(name);
	}
	return stop;
}

static int list_pmu(const struct pm_listing *listing, const pfm_pmu_info_t *pmu)
{
	int stop = 0;

	for (int e = pmu->first_event; !stop && e != -1; e = lib.pfm_get_event_next(e)) {
		struct perfmon_event_info info = {.pmu = pmu->name,
						  .source = PERFMON_EVENT_SOURCE_LIBPFM,
						  .is_present = pmu->is_present};
		pfm_event_info_t event;
		char *name;

		if (!event_info(e, &event) || is_tracepoint(&event))
			continue;
		name = pm_text_print("%s::%s", pmu->name, event.name);
		if (!name)
			return -ENOMEM;
		info.name = name;
		info.alias = event.equiv;
		info.description = event.desc;
		stop = pm_listing_offer(listing, &info);
		if (!stop && listing->flags & PERFMON_EVENT_UMASKS)
			stop = list_umasks(listing, e, event.nattrs, &info);
		free(name);
	}
	return stop;
}

static int list(const struct pm_listing *listing)
{
	bool all = listing->flags & PERFMON_EVENT_ALL_PMUS;
	pfm_pmu_info_t info;
	int pmu, stop = 0;

	if (!pfm_ready())
		return 0;
	pfm_for_all_pmus(pmu)
	{
		/* perf and perf_raw repeat the kernel's own names */
		if (!stop && pmu_info(pmu, &info) &&
		    (all || (info.is_present && info.type != PFM_PMU_TYPE_OS_GENERIC)))
			stop = list_pmu(listing, &info);
	}
	return stop;
}

const struct pm_event_source pm_source_pfm = {.resolve = resolve, .list = list};
