/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terms between the slashes of pmu/term=value,.../: the bits of each term come from
 * the PMU's format/ folder, and its named events from events/.
 */
#include "config.h"
#include "core/events/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_STRUCT_PERF_EVENT_ATTR_CONFIG3
#define HAS_CONFIG3 true
#else
#define HAS_CONFIG3 false
#endif

static const char *const config_words[] = {"config", "config1", "config2", "config3"};

/* The terms of one event on one PMU, during their encoding. */
struct terms {
	struct pm_resolve *r;
	struct pm_sysfs_pmu *pmu;
	struct pm_encoding *encoding;
	uint64_t given[PM_SYSFS_CONFIGS]; /* bits that the user gave explicitly */
	struct pm_terms *out;
	struct pm_sysfs_alias alias;
	const char *alias_name; /* NULL: none yet */
	size_t used;		/* of out->text */
};

static void write_text(struct terms *t, struct pm_slice part)
{
	memcpy(t->out->text + t->used, part.at, part.length);
	t->used += part.length;
	t->out->text[t->used] = '\0';
}

static int too_large(struct terms *t, const char *term, struct pm_slice value,
		     uint64_t most)
{
	return pm_diag_set(t->r->diag, -ERANGE,
			   "value %s of term '%s' in '%s'%s is too large: PMU '%s' has "
			   "bits for 0 to 0x%llx",
			   pm_slice_quote(value).text, term, PM_ITEM(t->r, value),
			   t->pmu->name, (unsigned long long)most);
}

static int no_word(struct terms *t, const char *term, const char *word)
{
	return pm_diag_set(t->r->diag, -EOPNOTSUPP,
			   "term '%s' of PMU '%s' uses %s, which this build of the "
			   "library does not support",
			   term, t->pmu->name, word);
}

static int number_error(struct terms *t, int err, struct pm_slice term,
			struct pm_slice value)
{
	if (err == -ERANGE)
		return pm_diag_set(
			t->r->diag, err,
			"value %s of term '%s' in '%s'%s has more than 64 bits",
			pm_slice_quote(value).text, pm_slice_quote(term).text,
			PM_ITEM(t->r, value));
	return pm_diag_set(t->r->diag, err,
			   "'%s' for term '%s' in '%s'%s is not a number (decimal, or "
			   "hexadecimal with 0x)",
			   pm_slice_quote(value).text, pm_slice_quote(term).text,
			   PM_ITEM(t->r, value));
}

/* Stores VALUE (1 if value.at is NULL) in the bits of TERM. */
static int set_term(struct terms *t, const struct pm_sysfs_term *term,
		    struct pm_slice value, uint64_t *mask_out)
{
	uint64_t number = 1, left, placed;
	int err = value.at ? pm_slice_number(value, &number) : 0;

	if (err)
		return number_error(t, err, pm_slice_of(term->name), value);
	if (term->config >= PM_SYSFS_CONFIGS)
		return no_word(t, term->name, "a later word than config3");
	if (term->config == 3 && !HAS_CONFIG3)
		return no_word(t, term->name, "config3");
	placed = pm_sysfs_spread(number, term->mask, &left);
	if (left) {
		uint64_t most = pm_sysfs_spread(UINT64_MAX, term->mask, &left);
		int bits = __builtin_popcountll(most);

		return too_large(t, term->name, value,
				 bits > 63 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
	}
	t->encoding->config[term->config] &= ~term->mask;
	t->encoding->config[term->config] |= placed;
	*mask_out = term->mask;
	return 0;
}

static int unknown_term(struct terms *t, struct pm_slice name)
{
	struct pm_suggestion suggestion = {.wanted = name};
	struct pm_diag *diag = t->r->diag;
	size_t i;

	for (i = 0; i < t->pmu->term_count; i++)
		pm_suggestion_offer(&suggestion, t->pmu->terms[i].name, NULL);
	for (i = 0; i < t->pmu->alias_count; i++)
		pm_suggestion_offer(&suggestion, t->pmu->aliases[i], NULL);
	pm_diag_set(diag, -EINVAL, "PMU '%s' has no term or event '%s', as in '%s'%s",
		    t->pmu->name, pm_slice_quote(name).text, PM_ITEM(t->r, name));
	if (suggestion.best[0])
		pm_diag_add(diag, ": did you mean '%s'?", suggestion.best);
	pm_diag_add(diag, "%s its terms are", suggestion.best[0] ? "" : ":");
	for (i = 0; i < t->pmu->term_count && i < 16; i++)
		pm_diag_add(diag, "%s %s", i ? "," : "", t->pmu->terms[i].name);
	pm_diag_add(diag, "%s%s config, config1, config2%s",
		    i < t->pmu->term_count ? ", ..." : "", i ? "," : "",
		    HAS_CONFIG3 ? ", config3" : "");
	for (i = 0; i < t->pmu->alias_count && i < 16; i++)
		pm_diag_add(diag, "%s %s", i ? "," : "; its events are",
			    t->pmu->aliases[i]);
	if (i < t->pmu->alias_count)
		pm_diag_add(diag, ", ...");
	return -EINVAL;
}

/* Returns 1 for "config1", or -1 if it is no such word. */
static int config_word(struct pm_slice name)
{
	for (int i = 0; i < PM_SYSFS_CONFIGS; i++)
		if (pm_slice_is(name, config_words[i]))
			return i;
	return -1;
}

/* Returns whether NAME is one of perf's terms for sampling or reporting. These do not
 * select an event. */
static bool is_sampling_term(struct pm_slice name)
{
	static const char *const words[] = {
		"period",	 "freq",       "branch_type", "time",
		"call-graph",	 "stack-size", "max-stack",   "nr",
		"inherit",	 "no-inherit", "overwrite",   "no-overwrite",
		"driver-config", "percore",    "aux-output",  "aux-sample-size",
		"metric-id",	 "raw",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (pm_slice_is(name, words[i]))
			return true;
	return false;
}

/* Applies the terms of the named event ALIAS: "event=0x11,umask=?". The user's own terms
 * come later and override them. The user must give each term with '?'. */
static int apply_alias(struct terms *t, uint64_t *wanted)
{
	struct pm_slice rest = pm_slice_of(t->alias.terms);

	while (rest.at) {
		struct pm_slice value, name = pm_slice_cut(rest, ',', &rest);
		const struct pm_sysfs_term *term;
		uint64_t mask = 0, number = 1;
		int word, err = 0;

		name = pm_slice_trim(pm_slice_cut(pm_slice_trim(name), '=', &value));
		value = pm_slice_trim(value);
		term = pm_sysfs_term_find(t->pmu, name);
		word = config_word(name);
		if (term && value.length == 1 && *value.at == '?') {
			if (term->config < PM_SYSFS_CONFIGS)
				wanted[term->config] |= term->mask;
			continue;
		}
		if (term) {
			err = set_term(t, term, value, &mask);
		} else if (word >= 0) {
			err = value.at ? pm_slice_number(value, &number) : 0;
			if (!err)
				t->encoding->config[word] |= number;
			if (word == 3 && !HAS_CONFIG3)
				err = -EOPNOTSUPP;
		}
		if (err || (!term && word < 0))
			return pm_diag_set(
				t->r->diag, err ? err : -EINVAL,
				"sysfs describes event '%s' of PMU '%s' as '%s', but "
				"'%s' does not match the PMU's format",
				t->alias_name, t->pmu->name,
				pm_slice_quote(pm_slice_of(t->alias.terms)).text,
				pm_slice_quote(name).text);
	}
	return 0;
}

/* Encodes perf's generic event CANONICAL, which has TYPE and CONFIG on a machine with one kind of
 * core. */
static int generic_event(struct terms *t, const char *canonical, uint32_t type,
			 uint64_t config)
{
	t->encoding->type = type;
	t->encoding->config[0] = config;
	if (t->r->sysfs->core_count > 1)
		t->encoding->config[0] |= (uint64_t)t->pmu->type << PERF_PMU_TYPE_SHIFT;
	/* perf's canonical word can be longer than the user's short form */
	free(t->out->text);
	t->out->text = strdup(canonical);
	t->used = strlen(canonical);
	return t->out->text ? 0 : -ENOMEM;
}

/* Encodes a term without a value if it is an event: a name in events/, rHEX, a generic
 * name. */
static int event_term(struct terms *t, struct pm_slice name, bool alone)
{
	struct pm_slice hex = {name.at + 1, name.length - 1};
	bool several = t->r->sysfs->core_count > 1, generic;
	const char *alias = NULL;
	char canonical[64], code[32];
	uint64_t config;
	uint32_t type;

	generic = t->pmu->core && alone &&
		  pm_generic_find(name, &type, &config, canonical, sizeof(canonical));
	/* With several kinds of cores pmu/cycles/ is the spelling of a generic event's
	 * part. There the kernel's meaning precedes the folder's. */
	if (!generic || !several)
		alias = pm_sysfs_alias_find(t->pmu, name);
	if (alias && t->alias_name)
		return pm_diag_set(
			t->r->diag, -EINVAL,
			"'%s' and '%s' are both events: '%s'%s takes only one event",
			t->alias_name, alias, PM_ITEM(t->r, name));
	if (alias) {
		t->alias_name = alias;
		write_text(t, pm_slice_of(alias));
	} else if (generic && (several || !pm_sysfs_term_find(t->pmu, name))) {
		return generic_event(t, canonical, type, config);
	} else if (alone && pm_char_lower(name.at[0]) == 'r' &&
		   !pm_sysfs_term_find(t->pmu, name) &&
		   !pm_slice_hex(hex, &t->encoding->config[0])) {
		/* r and the shortest hexadecimal number are never longer than the user's
		 * text */
		snprintf(code, sizeof(code), "r%llx",
			 (unsigned long long)t->encoding->config[0]);
		write_text(t, pm_slice_of(code));
	}
	return 0;
}

/* Encodes one term of the user: NAME or NAME=VALUE. */
static int user_term(struct terms *t, struct pm_slice name, struct pm_slice value)
{
	const struct pm_sysfs_term *term = pm_sysfs_term_find(t->pmu, name);
	int word = config_word(name), err;
	uint64_t mask = 0, number = 1;

	if (term) {
		err = set_term(t, term, value, &mask);
		if (err)
			return err;
		word = (int)term->config;
		write_text(t, pm_slice_of(term->name));
	} else if (word >= 0) {
		err = value.at ? pm_slice_number(value, &number) : 0;
		if (err)
			return number_error(t, err, name, value);
		if (word == 3 && !HAS_CONFIG3)
			return no_word(t, "config3", "config3");
		t->encoding->config[word] = number;
		mask = UINT64_MAX;
		write_text(t, pm_slice_of(config_words[word]));
	} else if (pm_slice_is(name, "name") && value.length) {
		if (t->out->label.length)
			goto twice;
		t->out->label = value;
		write_text(t, pm_slice_of("name"));
	} else if (is_sampling_term(name)) {
		return pm_diag_set(t->r->diag, -EINVAL,
				   "'%s' in '%s'%s is an option of sampling, not part of "
				   "an event's name",
				   pm_slice_quote(name).text, PM_ITEM(t->r, name));
	} else {
		return unknown_term(t, name);
	}
	if (mask && t->given[word] & mask)
		goto twice;
	if (mask)
		t->given[word] |= mask;
	if (value.at) {
		write_text(t, pm_slice_of("="));
		write_text(t, value);
	}
	return 0;
twice:
	return pm_diag_set(t->r->diag, -EINVAL, "term '%s' is given twice in '%s'%s",
			   pm_slice_quote(name).text, PM_ITEM(t->r, name));
}

/* Iterates over the terms of TEXT. Returns true while there is one in *NAME and
 * *VALUE. */
static bool next_term(struct pm_slice *text, struct pm_slice *name,
		      struct pm_slice *value)
{
	if (!text->at)
		return false;
	*name = pm_slice_cut(pm_slice_cut(*text, ',', text), '=', value);
	return true;
}

/* First encodes the term that names a whole event, if there is one. */
static int find_event(struct terms *t, struct pm_slice text)
{
	bool alone = !memchr(text.at, ',', text.length);
	struct pm_slice name, value, rest = text;
	int err = 0;

	while (!err && next_term(&rest, &name, &value)) {
		if (!name.length || (value.at && !value.length))
			return pm_diag_set(t->r->diag, -EINVAL, "an empty term in '%s'%s",
					   PM_ITEM(t->r, text));
		if (!value.at)
			err = event_term(t, name, alone);
	}
	return err;
}

/* Then encodes the user's other terms, which override those of the event. */
static int add_terms(struct terms *t, struct pm_slice text)
{
	struct pm_slice name, value, rest = text;
	int err = 0;

	while (!err && next_term(&rest, &name, &value)) {
		if (!value.at && pm_sysfs_alias_find(t->pmu, name))
			continue;
		if (t->used)
			write_text(t, pm_slice_of(","));
		err = user_term(t, name, value);
	}
	return err;
}

/* Checks for a term that both the event ("domain=?") and the user left open. */
static int check_wanted(struct terms *t, const uint64_t *wanted)
{
	for (size_t i = 0; i < t->pmu->term_count; i++) {
		const struct pm_sysfs_term *term = &t->pmu->terms[i];

		if (term->config < PM_SYSFS_CONFIGS &&
		    wanted[term->config] & term->mask & ~t->given[term->config])
			return pm_diag_set(t->r->diag, -EINVAL,
					   "event '%s' of PMU '%s' needs a value for "
					   "term '%s': %s/%s,%s=.../",
					   t->alias_name, t->pmu->name, term->name,
					   t->pmu->name, t->alias_name, term->name);
	}
	return 0;
}

static int encode(struct terms *t, struct pm_slice text)
{
	uint64_t wanted[PM_SYSFS_CONFIGS] = {0};
	int err = pm_sysfs_pmu_load(t->pmu);

	t->encoding->type = t->pmu->type;
	if (!err)
		err = find_event(t, text);
	if (!err && t->alias_name) {
		err = pm_sysfs_alias_read(t->pmu, t->alias_name, &t->alias, t->r->diag);
		if (!err)
			err = apply_alias(t, wanted);
	}
	/* a generic name or a raw code stands alone */
	if (!err && (t->alias_name || !t->used))
		err = add_terms(t, text);
	return err ? err : check_wanted(t, wanted);
}

int pm_terms_encode(struct pm_resolve *r, struct pm_sysfs_pmu *pmu, struct pm_slice text,
		    struct pm_encoding *encoding, struct pm_terms *out)
{
	struct terms t = {.r = r, .pmu = pmu, .encoding = encoding, .out = out};
	int err;

	/* The sysfs spelling of a term changes only its case. */
	out->text = malloc(text.length + 2);
	if (!out->text)
		return -ENOMEM;
	*out->text = '\0';
	err = encode(&t, text);
	free(t.alias.terms);
	if (err) {
		free(out->text);
		return err;
	}
	pm_encoding_for(encoding, pmu);
	encoding->scale = 1.0;
	if (t.alias_name) {
		encoding->scale = t.alias.scale;
		memcpy(out->unit, t.alias.unit, sizeof(out->unit));
		encoding->unit = out->unit;
	}
	return 0;
}
