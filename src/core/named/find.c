/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the table of a family, and makes groups of it whose events have been tried. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counters/counters.h"
#include "core/events/events.h"
#include "core/named/named.h"
#include "core/text/bytes.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* An event that has been tried. */
struct tried {
	struct pm_slice word; /* as formulas have it */
	char *text;	      /* for PERFMON_EVENTS */
	char *name;	      /* as reports have it; NULL: it is not here */
	char *why;	      /* ... and why */
};

struct finder {
	bool exact;
	struct pm_slice family, lines; /* of its table, from behind its "family" */
	struct pm_named_groups *groups;
	struct tried *tried;
	size_t tried_count;
};

bool pm_named_has_event(const char *list, const char *event)
{
	size_t length = strlen(event);
	bool inside = false, begins = true;

	for (const char *c = list; c && *c; c++) {
		if (begins && !strncmp(c, event, length) &&
		    (!c[length] || c[length] == ','))
			return true;
		inside ^= *c == '/';
		begins = *c == ',' && !inside;
	}
	return false;
}

/* --- tables ------------------------------------------------------------------------- */

/* All files of tables/, the one for all CPUs last. "=OFFSET" is the line at that offset. */
static const char tables[] =
#include "core/named/tables_text.h"
	;

/* Cuts the next line off *LINES: its first WORD, and the REST behind it. Returns false at the
 * end of a family, which is the end of all or the "family" of the next one. */
static bool line_cut(struct pm_slice *lines, struct pm_slice *word, struct pm_slice *rest)
{
	while (lines->at) {
		struct pm_slice line = pm_slice_trim(pm_slice_cut(*lines, '\n', lines));
		uint64_t offset;

		if (!line.length)
			continue;
		if (line.at[0] == '=') {
			line.at++;
			line.length--;
			if (pm_slice_number(line, &offset) || offset >= sizeof(tables))
				continue;
			line.at = tables + offset;
			line.length = strcspn(line.at, "\n");
		}
		*word = pm_slice_cut(line, ' ', rest);
		*rest = rest->at ? pm_slice_trim(*rest) : (struct pm_slice){"", 0};
		return !pm_slice_is(*word, "family");
	}
	return false;
}

/* Takes "0x55" or "0x8e-0x9e". */
static bool has_model(struct pm_slice range, uint32_t model)
{
	struct pm_slice end, begin = pm_slice_cut(range, '-', &end);
	uint64_t first, last;

	if (pm_slice_number(begin, &first))
		return false;
	last = first;
	return (!end.at || !pm_slice_number(end, &last)) && model >= first &&
	       model <= last;
}

/* Returns whether TEXT, "MAKER FAMILY MODEL...", names KIND. */
static bool is_kind(struct pm_slice text, const struct pm_cpu_kind *kind)
{
	static const char *const makers[] = {[PM_CPU_UNKNOWN] = "",
					     [PM_CPU_INTEL] = "intel",
					     [PM_CPU_AMD] = "amd",
					     [PM_CPU_ARM] = "arm"};
	struct pm_slice maker = pm_slice_cut(text, ' ', &text);
	struct pm_slice family = pm_slice_cut(text, ' ', &text);

	if (!pm_slice_is(maker, makers[kind->maker]) || !has_model(family, kind->family))
		return false;
	while (text.at)
		if (has_model(pm_slice_cut(text, ' ', &text), kind->model))
			return true;
	return false;
}

/* Returns whether the family at LINES is that of KINDS. A machine of several kinds has the
 * events of none of them on all CPUs. */
static bool is_family(struct pm_slice lines, const struct pm_cpu_kinds *kinds, bool exact)
{
	struct pm_slice word, rest;
	bool found = false;

	while (line_cut(&lines, &word, &rest)) {
		if (!pm_slice_is(word, "cpu"))
			continue;
		if (pm_slice_is(rest, "exact") || pm_slice_is(rest, "any"))
			return exact == pm_slice_is(rest, "exact");
		found |= !exact && kinds->count == 1 && is_kind(rest, &kinds->kind[0]);
	}
	return found;
}

/* Finds the table of KINDS, or the one for all CPUs, or with EXACT the one of what is
 * counted by translation. */
static void table_find(struct finder *finder, const struct pm_cpu_kinds *kinds)
{
	struct pm_slice lines = pm_slice_of(tables), word;

	do {
		while (line_cut(&lines, &word, &finder->family))
			;
		finder->lines = lines;
	} while (lines.at && !is_family(lines, kinds, finder->exact));
}

/* --- events ------------------------------------------------------------------------- */

int pm_named_try(const struct pm_event *event, struct pm_diag *diag)
{
	union {
		struct pm_instance instance;
		char room[sizeof(struct pm_instance) + sizeof(struct pm_counter)];
	} one;
	int err;

	if (event->uncore || event->exact || event->topdown == PM_TOPDOWN_METRIC)
		return 0;
	err = pm_instance_open(&one.instance, event, 1, 0, -1, 0, diag);
	if (err >= 0)
		pm_instance_close(&one.instance);
	return err < 0 ? err : 0;
}

/* The name of the event of reports, without the modes in which it happens to be counted. */
static char *plain_name(const struct pm_event *event)
{
	char *name = strdup(event->name), *end;

	if (!name)
		return NULL;
	end = strrchr(name, '/');
	if (end)
		end[1] = '\0';
	else if ((end = strrchr(name, ':')) && !strcmp(end, ":u"))
		*end = '\0';
	return name;
}

/* Tries the event TEXT. Returns 0 or -ENOMEM, also if it is not here. */
static int try_text(struct tried *tried, struct pm_slice text)
{
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	char *copy = pm_slice_copy(text);
	int err;

	if (!copy)
		return -ENOMEM;
	free(tried->text);
	tried->text = copy;
	err = pm_events_parse(copy, PM_EVENTS_USER_ONLY, &list, &diag);
	if (!err) {
		for (size_t i = 0; !err && i < list->count; i++)
			err = pm_named_try(&list->events[i], &diag);
		/* The name of a sum over several PMUs is the text. */
		if (!err)
			tried->name = list->count > 1 ? strdup(copy)
						      : plain_name(&list->events[0]);
		pm_events_free(list);
		if (!err)
			return tried->name ? 0 : -ENOMEM;
	}
	free(tried->why);
	tried->why = strdup(diag.text);
	return tried->why ? 0 : -ENOMEM;
}

/* Finds the texts that the table has for the event WORD: WORD itself if it has none. */
static struct pm_slice texts_of(const struct finder *finder, struct pm_slice word)
{
	struct pm_slice lines = finder->lines, kind, rest, name, texts;

	while (line_cut(&lines, &kind, &rest)) {
		if (!pm_slice_is(kind, "event"))
			continue;
		name = pm_slice_cut(rest, ' ', &texts);
		if (name.length == word.length &&
		    !memcmp(name.at, word.at, word.length) && texts.at)
			return texts;
	}
	return word;
}

/* Tries an event once, by each of its texts. Returns NULL without memory. */
static const struct tried *event_of(struct finder *finder, struct pm_slice word)
{
	struct pm_slice texts = texts_of(finder, word);
	struct tried *tried;

	for (size_t i = 0; i < finder->tried_count; i++)
		if (finder->tried[i].word.length == word.length &&
		    !memcmp(finder->tried[i].word.at, word.at, word.length))
			return &finder->tried[i];
	if (!PM_GROW(finder->tried, finder->tried_count))
		return NULL;
	tried = &finder->tried[finder->tried_count++];
	*tried = (struct tried){.word = word};
	/* Outside of the tool its events cannot be tried; the run has all of them. */
	if (finder->exact) {
		tried->text = pm_slice_copy(texts);
		tried->name = pm_slice_copy(texts);
		return tried->text && tried->name ? tried : NULL;
	}
	while (texts.at && !tried->name)
		if (try_text(tried, pm_slice_cut(texts, ' ', &texts)))
			return NULL;
	return tried;
}

/* --- metrics ------------------------------------------------------------------------ */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pm_char_is_digit(c) ||
	       c == '_';
}

/* Returns whether WORD of a formula is no event. */
static bool is_reserved(struct pm_slice word)
{
	static const char *const words[] = {"time_ns", "on_cpu_ns", "visits",
					    "threads", "min",	    "max",
					    "d_ratio", "if",	    "else"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (pm_slice_is(word, words[i]))
			return true;
	return pm_char_is_digit(word.at[0]);
}

/* The word at TEXT: a '-' or '.' between two characters of a word belongs to it. */
static struct pm_slice word_at(struct pm_slice text)
{
	size_t n = 1;

	while (n < text.length &&
	       (is_word(text.at[n]) || text.at[n] == '.' ||
		(text.at[n] == '-' && n + 1 < text.length && is_word(text.at[n + 1]))))
		n++;
	return (struct pm_slice){text.at, n};
}

/* Writes FORMULA with the names of its events, which it tries. */
static int resolve(struct finder *finder, struct pm_slice formula,
		   struct pm_named_metric *metric, struct pm_bytes *to)
{
	while (formula.length) {
		struct pm_slice word = {formula.at, 1};
		const struct tried *tried;
		const char *name;

		if (is_word(formula.at[0]))
			word = word_at(formula);
		formula.at += word.length;
		formula.length -= word.length;
		if (!is_word(word.at[0]) || is_reserved(word)) {
			pm_bytes_add(to, word.at, word.length);
			continue;
		}
		tried = event_of(finder, word);
		if (!tried)
			return -ENOMEM;
		if (!tried->name && !metric->missing) {
			metric->missing = pm_slice_copy(word);
			metric->why = strdup(tried->why ?: "");
			if (!metric->missing || !metric->why)
				return -ENOMEM;
		}
		name = tried->name ?: tried->text;
		pm_bytes_add(to, "'", 1);
		pm_bytes_add(to, name, strlen(name));
		pm_bytes_add(to, "'", 1);
		if (!pm_named_has_event(metric->events, tried->text) &&
		    pm_text_add(&metric->events, ",", tried->text))
			return -ENOMEM;
	}
	pm_bytes_add(to, "", 1);
	return to->failed ? -ENOMEM : 0;
}

static void metric_clear(struct pm_named_metric *metric)
{
	free(metric->name);
	free(metric->formula);
	free(metric->events);
	free(metric->missing);
	free(metric->why);
}

/* Adds the metric of LINE, "NAME [UNIT] = FORMULA", unless GROUP has one of that name that
 * can be counted, or this one cannot be either. */
static int metric_add(struct finder *finder, struct pm_named_group *group,
		      struct pm_slice line)
{
	struct pm_slice formula, name = pm_slice_trim(pm_slice_cut(line, '=', &formula));
	struct pm_named_metric metric = {.name = pm_slice_copy(name)}, *same = NULL;
	struct pm_bytes text = {.data = NULL};
	int err;

	for (uint32_t i = 0; i < group->count; i++)
		if (pm_slice_is(name, group->metrics[i].name))
			same = &group->metrics[i];
	if (!metric.name)
		return -ENOMEM;
	if (same && !same->missing) {
		free(metric.name);
		return 0;
	}
	err = resolve(finder, pm_slice_trim(formula), &metric, &text);
	metric.formula = (char *)text.data;
	if (!err && !same && !PM_GROW(group->metrics, group->count))
		err = -ENOMEM;
	if (err || (same && metric.missing)) {
		metric_clear(&metric);
		return err;
	}
	if (same)
		metric_clear(same);
	else
		same = &group->metrics[group->count++];
	*same = metric;
	return 0;
}

/* --- groups ------------------------------------------------------------------------- */

/* Returns whether NAMES, with commas between, has NAME. */
static bool is_named(const char *names, struct pm_slice name)
{
	struct pm_slice rest = pm_slice_of(names);

	while (rest.at) {
		struct pm_slice item = pm_slice_trim(pm_slice_cut(rest, ',', &rest));

		if (item.length == name.length &&
		    !strncasecmp(item.at, name.at, name.length))
			return true;
	}
	return false;
}

/* Adds a group without metrics. LINE is "NAME QUESTION". */
static struct pm_named_group *group_add(struct finder *finder, struct pm_slice line)
{
	struct pm_slice question, name = pm_slice_cut(line, ' ', &question);
	struct pm_named_groups *groups = finder->groups;
	struct pm_named_group *group;

	if (!PM_GROW(groups->groups, groups->count))
		return NULL;
	group = &groups->groups[groups->count++];
	*group = (struct pm_named_group){.name = pm_slice_copy(name),
					 .question = pm_slice_copy(question)};
	return group->name && group->question ? group : NULL;
}

/* Reads the groups of the table that NAMES has; NULL: all. */
static int groups_read(struct finder *finder, const char *names)
{
	struct pm_slice lines = finder->lines, word, rest;
	struct pm_named_group *group = NULL;
	int err = 0;

	while (!err && line_cut(&lines, &word, &rest)) {
		if (pm_slice_is(word, "group")) {
			group = NULL;
			if (names && !is_named(names, pm_slice_cut(rest, ' ', NULL)))
				continue;
			group = group_add(finder, rest);
			err = group ? 0 : -ENOMEM;
		} else if (group && pm_slice_is(word, "metric")) {
			err = metric_add(finder, group, rest);
		}
	}
	return err;
}

/* Checks that each of NAMES is a group. */
static int names_check(const struct finder *finder, const char *names,
		       struct pm_diag *diag)
{
	struct pm_slice rest = pm_slice_of(names);

	while (rest.at) {
		struct pm_slice item = pm_slice_trim(pm_slice_cut(rest, ',', &rest));
		struct pm_slice lines = finder->lines, word, line;
		struct pm_suggestion like = {.wanted = item};
		bool found = false;

		while (!found && line_cut(&lines, &word, &line)) {
			char name[32];
			struct pm_slice group = pm_slice_cut(line, ' ', NULL);

			if (!pm_slice_is(word, "group"))
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)group.length, group.at);
			found = pm_slice_is(item, name);
			pm_suggestion_offer(&like, name, NULL);
		}
		if (found)
			continue;
		pm_diag_set(diag, -EINVAL, "'%s' is not a group%s",
			    pm_slice_quote(item).text,
			    finder->exact ? " of what --exact counts" : "");
		if (*like.best)
			pm_diag_add(diag, ": did you mean '%s'?", like.best);
		else
			pm_diag_add(diag, ": 'perfmon list groups' shows them");
		return -EINVAL;
	}
	return 0;
}

int pm_named_find(const struct pm_named_request *request, struct pm_named_groups **out,
		  struct pm_diag *diag)
{
	struct finder finder = {.exact = request->exact};
	struct pm_cpu_kinds here;
	int err;

	if (!request->kinds)
		pm_cpu_kinds_here(&here);
	table_find(&finder, request->kinds ?: &here);
	err = request->names ? names_check(&finder, request->names, diag) : 0;
	if (err)
		return err;
	finder.groups = calloc(1, sizeof(*finder.groups));
	if (finder.groups)
		finder.groups->family = pm_slice_copy(finder.family);
	err = finder.groups && finder.groups->family
		      ? groups_read(&finder, request->names)
		      : -ENOMEM;
	for (size_t i = 0; i < finder.tried_count; i++) {
		free(finder.tried[i].text);
		free(finder.tried[i].name);
		free(finder.tried[i].why);
	}
	free(finder.tried);
	if (err) {
		pm_named_free(finder.groups);
		return pm_diag_set(diag, err, "no memory for groups of events");
	}
	*out = finder.groups;
	return 0;
}

void pm_named_free(struct pm_named_groups *groups)
{
	if (!groups)
		return;
	for (uint32_t g = 0; g < groups->count; g++) {
		struct pm_named_group *group = &groups->groups[g];

		for (uint32_t m = 0; m < group->count; m++)
			metric_clear(&group->metrics[m]);
		free(group->metrics);
		free(group->name);
		free(group->question);
	}
	free(groups->groups);
	free(groups->family);
	free(groups);
}
