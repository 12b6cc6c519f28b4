/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of a named PMU: pmu/term=value,.../, the names in the events/ folder of the
 * core's PMU, and raw codes. See the kernel's
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events.
 */
#include "core/events/internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Encodes TEXT on PMU and adds it. *LABEL (NULL at the first) gets the user's spelling,
 * or the label of name=. */
static int add_on(struct pm_resolve *r, struct pm_sysfs_pmu *pmu, struct pm_slice text,
		  struct pm_slice pmu_name, char **label)
{
	struct pm_encoding encoding = {0};
	struct pm_terms terms = {0};
	int err = pm_terms_encode(r, pmu, text, &encoding, &terms);

	if (err)
		return err;
	err = pm_resolve_add(r, &encoding,
			     pm_text_print("%s/%s/", pmu->name, terms.text));
	if (err || *label)
		goto out;
	r->renamed = terms.label.length;
	if (pm_slice_is(pmu_name, pmu->name))
		pmu_name = pm_slice_of(pmu->name);
	*label = terms.label.length ? pm_slice_copy(terms.label)
				    : pm_text_print("%.*s/%s/", (int)pmu_name.length,
						    pmu_name.at, terms.text);
	if (!*label)
		err = -ENOMEM;
out:
	free(terms.text);
	return err;
}

/* Says what would add the PMU called NAME, if that is one of a package. */
static void add_module(struct pm_diag *diag, struct pm_slice name)
{
	static const struct {
		const char *pmu, *module;
	} known[] = {
		{"power", "rapl"},	  {"uncore_", "intel-uncore"},
		{"amd_df", "amd-uncore"}, {"amd_umc", "amd-uncore"},
		{"arm_cmn", "arm-cmn"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (pm_slice_starts(name, known[i].pmu))
			pm_diag_add(
				diag,
				". Virtual machines have no such PMU; on other machines "
				"an administrator may add it by 'modprobe %s'",
				known[i].module);
}

static int no_pmu(struct pm_resolve *r, struct pm_slice name)
{
	struct pm_suggestion suggestion = {.wanted = name};
	struct pm_sysfs *sysfs = r->sysfs;
	size_t i;

	for (i = 0; i < sysfs->count; i++)
		pm_suggestion_offer(&suggestion, sysfs->pmus[i].name, NULL);
	pm_diag_set(r->diag, -ENOENT, "this machine has no PMU '%s', as in '%s'%s",
		    pm_slice_quote(name).text, PM_ITEM(r, r->item));
	if (suggestion.best[0]) {
		pm_diag_add(r->diag, ": did you mean '%s'?", suggestion.best);
		return -ENOENT;
	}
	for (i = 0; i < sysfs->count && i < 24; i++)
		pm_diag_add(r->diag, "%s%s", i ? ", " : ": it has ", sysfs->pmus[i].name);
	pm_diag_add(r->diag, "%s", i < sysfs->count ? ", ..." : "");
	add_module(r->diag, name);
	return -ENOENT;
}

/* Returns whether NAME, as a user writes it, stands for PMU. "uncore_imc" and "imc" stand for
 * uncore_imc_0, uncore_imc_1 and so on; "uncore_*" for all matches. */
static bool stands_for(struct pm_slice name, const struct pm_sysfs_pmu *pmu)
{
	static const char uncore[] = "uncore_";
	struct pm_slice own = pm_slice_of(pmu->name);
	char pattern[256];

	if (!name.length || name.length >= sizeof(pattern))
		return false;
	memcpy(pattern, name.at, name.length);
	pattern[name.length] = '\0';
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, pmu->name, FNM_CASEFOLD) == 0;
	if (!pm_slice_starts(own, pattern)) {
		if (!pm_slice_starts(own, uncore))
			return false;
		own.at += strlen(uncore);
		own.length -= strlen(uncore);
		if (!pm_slice_starts(own, pattern))
			return false;
	}
	own.at += name.length;
	/* Nothing, or a number: "_12". */
	return !*own.at || (*own.at == '_' && own.at[1] &&
			    !own.at[1 + strspn(own.at + 1, "0123456789")]);
}

static int resolve_pmu(struct pm_resolve *r)
{
	struct pm_slice terms, modifiers, name = pm_slice_cut(r->item, '/', &terms);
	struct pm_diag first_error = {0}, *diag = r->diag;
	bool is_own_name = false, found = false;
	char *label = NULL;
	int err = 0;

	if (!terms.at || pm_slice_starts(r->item, "mem:"))
		return PM_RESOLVE_NOT_MINE;
	err = pm_sysfs_complete(r->sysfs);
	if (err)
		return err;
	terms = pm_slice_cut(terms, '/', &modifiers);
	if (!modifiers.length)
		modifiers.at = NULL;
	else if (*modifiers.at == ':')
		modifiers = (struct pm_slice){modifiers.at + 1, modifiers.length - 1};
	for (size_t i = 0; i < r->sysfs->count; i++)
		is_own_name |= pm_slice_is(name, r->sysfs->pmus[i].name);
	for (size_t i = 0; i < r->sysfs->count; i++) {
		struct pm_sysfs_pmu *pmu = &r->sysfs->pmus[i];
		int this_err;

		/* A PMU's own name stands for no other. */
		if (is_own_name ? !pm_slice_is(name, pmu->name) : !stands_for(name, pmu))
			continue;
		if (!terms.length)
			return pm_diag_set(diag, -EINVAL,
					   "'%s'%s is not an event of the PMU",
					   PM_ITEM(r, r->item));
		found = true;
		/* If a name stands for several boxes, those that have the event count it.
		 * If none has it, the error of the first box is reported. */
		r->diag = &(struct pm_diag){0};
		this_err = add_on(r, pmu, terms, name, &label);
		if (this_err && !err) {
			first_error = *r->diag;
			err = this_err;
		}
		r->diag = diag;
		if (this_err == -ENOMEM || this_err == -E2BIG)
			break;
	}
	if (!found)
		return no_pmu(r, name);
	if (label && err != -ENOMEM && err != -E2BIG) {
		err = pm_resolve_finish(r, label, modifiers);
		first_error.error = 0;
	}
	free(label);
	return first_error.error ? pm_diag_set(diag, err, "%s", first_error.text) : err;
}

static int resolve_alias(struct pm_resolve *r)
{
	struct pm_slice modifiers, name = pm_slice_cut(r->item, ':', &modifiers);
	struct pm_modifiers ignored;
	const char *bad, *alias = NULL;
	int err = 0;

	/* More than modifiers after the ':' are libpfm4's unit masks. */
	if (modifiers.at && pm_modifiers_parse(modifiers, &ignored, &bad))
		return PM_RESOLVE_NOT_MINE;
	for (size_t i = 0; !err && i < r->sysfs->core_count; i++) {
		struct pm_sysfs_pmu *pmu = pm_sysfs_core(r->sysfs, i);
		const char *its;
		char *label = NULL;

		err = pm_sysfs_pmu_load(pmu);
		its = err ? NULL : pm_sysfs_alias_find(pmu, name);
		if (!its)
			continue;
		alias = its;
		err = add_on(r, pmu, name, pm_slice_of(pmu->name), &label);
		free(label);
	}
	if (err)
		return err;
	return alias ? pm_resolve_finish(r, alias, modifiers) : PM_RESOLVE_NOT_MINE;
}

static int resolve_raw(struct pm_resolve *r)
{
	struct pm_slice modifiers, name = pm_slice_cut(r->item, ':', &modifiers);
	struct pm_slice hex = {name.at + 1, name.length - 1};
	struct pm_encoding encoding = {
		.type = PERF_TYPE_RAW, .pmu = "cpu", .hardware = true};
	char label[24];
	int err;

	if (name.length < 2 || pm_char_lower(name.at[0]) != 'r' ||
	    (modifiers.length && modifiers.at[0] == ':'))
		return PM_RESOLVE_NOT_MINE;
	err = pm_slice_hex(hex, &encoding.config[0]);
	if (err == -ERANGE)
		return pm_diag_set(r->diag, err, "raw code '%s'%s has more than 64 bits",
				   pm_slice_quote(name).text,
				   pm_resolve_where(r, name).text);
	if (err)
		return PM_RESOLVE_NOT_MINE;
	snprintf(label, sizeof(label), "r%llx", (unsigned long long)encoding.config[0]);
	err = pm_resolve_add_cores(r, &encoding, label);
	return err ?: pm_resolve_finish(r, label, modifiers);
}

static int list_pmu(const struct pm_listing *listing, struct pm_sysfs_pmu *pmu)
{
	int stop = pm_sysfs_pmu_load(pmu);

	for (size_t i = 0; !stop && i < pmu->alias_count; i++) {
		struct perfmon_event_info info = {
			/* the bare name is enough on the core PMU */
			.alias = pmu->core ? pmu->aliases[i] : "",
			.pmu = pmu->name,
			.source = PERFMON_EVENT_SOURCE_SYSFS,
			.is_present = 1,
		};
		struct pm_sysfs_alias alias;
		char *name;

		if (pm_sysfs_alias_read(pmu, pmu->aliases[i], &alias, NULL))
			continue;
		name = pm_text_print("%s/%s/", pmu->name, pmu->aliases[i]);
		info.name = name;
		info.description = alias.terms;
		info.unit = alias.unit;
		stop = name ? pm_listing_offer(listing, &info) : -ENOMEM;
		free(name);
		free(alias.terms);
	}
	return stop;
}

static int list(const struct pm_listing *listing)
{
	int stop = pm_sysfs_complete(listing->sysfs);

	for (size_t i = 0; !stop && i < listing->sysfs->count; i++)
		stop = list_pmu(listing, &listing->sysfs->pmus[i]);
	return stop;
}

const struct pm_event_source pm_source_pmu = {.resolve = resolve_pmu};
const struct pm_event_source pm_source_raw = {.resolve = resolve_raw};
const struct pm_event_source pm_source_alias = {.resolve = resolve_alias, .list = list};
