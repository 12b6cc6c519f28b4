/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares two runs by path: the visits and, if there is one, a reference event. Then the sentences of
 * the joined profile: which events are of another run, and what was not alike. */
#include "core/report/merge/alike.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/value.h"

static int paths_number(struct pm_pairs *pairs, const struct pm_report_tree *tree)
{
	uint32_t number;
	int err = 0;

	for (uint32_t n = 1; !err && n < tree->node_count; n++)
		err = pm_pairs_get(pairs, pm_path(tree, n)->parent,
				   pm_path(tree, n)->region, n, &number);
	return err;
}

static uint32_t event_named(const struct pm_report_model *model, const char *name)
{
	for (uint32_t e = 0; name && e < model->event_count; e++)
		if (!model->events[e].quantity && !strcmp(model->events[e].name, name))
			return e;
	return PM_NO_EVENT;
}

/* Compares the reference event in node N with that of its partner. */
static void reference_compare(struct pm_alike *alike, uint32_t n,
			      const uint32_t references[2])
{
	struct pm_alike_path *path = &alike->paths[n];
	struct pm_value a, b;
	double apart, windows;

	if (references[0] == PM_NO_EVENT || references[1] == PM_NO_EVENT)
		return;
	a = pm_report_count(&alike->first, path->partner, references[0], false);
	b = pm_report_count(&alike->tree, n, references[1], false);
	if (a.state != PM_COUNTED || b.state != PM_COUNTED)
		return;
	apart = fabs(a.value - b.value);
	/* The counts of measuring itself depend on what else is read. */
	windows =
		(double)pm_report_sums(&alike->first, path->partner, references[0], false)
			.windows;
	path->change = a.value > 0 ? (b.value - a.value) / a.value : 0;
	path->reference = apart > alike->run->tolerance * fmax(a.value, b.value) &&
			  apart > alike->run->allowance * fmax(windows, 1);
}

static void threads_compare(struct pm_alike *alike, uint32_t n)
{
	for (uint32_t e = 0; e < alike->model.event_count; e++) {
		struct pm_value value = pm_report_count(&alike->tree, n, e, false);

		alike->paths[n].fewer_threads |=
			value.state == PM_COUNTED && value.marks & PM_MARK_THREADS;
	}
}

/* Returns true if the first run has visited the path of node N of the other one. */
static bool is_in_both(const struct pm_alike *alike, uint32_t n)
{
	uint32_t partner = alike->paths[n].partner;

	/* Another run may have added a path that the first has not visited. */
	return partner && pm_path(&alike->first, partner)->threads.count;
}

static void paths_compare(struct pm_alike *alike, uint32_t base)
{
	const uint32_t references[2] = {
		event_named(&alike->first_model, alike->run->reference),
		event_named(&alike->model, alike->run->reference),
	};

	/* Parents have lower numbers. */
	for (uint32_t n = 1; n < alike->tree.node_count; n++) {
		const struct pm_path *in_tree = pm_path(&alike->tree, n);
		struct pm_alike_path *path = &alike->paths[n];
		uint32_t parent = alike->paths[in_tree->parent].partner;
		uint32_t region = alike->first_model.region_of[base + in_tree->region];

		if (!in_tree->parent || parent)
			path->partner =
				pm_pairs_find(&alike->first_paths, parent, region, 0);
		threads_compare(alike, n);
		if (!is_in_both(alike, n))
			continue;
		alike->visited[path->partner] = true;
		path->visits = in_tree->visits.ended !=
			       pm_path(&alike->first, path->partner)->visits.ended;
		reference_compare(alike, n, references);
	}
}

/* A path's values include those of the paths inside of it. */
static void inside_spread(struct pm_alike *alike)
{
	/* Parents have lower numbers. */
	for (uint32_t n = alike->tree.node_count - 1; n > 0; n--) {
		const struct pm_alike_path *path = &alike->paths[n];

		if (!is_in_both(alike, n) || path->visits || path->reference ||
		    path->inside)
			alike->paths[pm_path(&alike->tree, n)->parent].inside = true;
		if (path->partner && path->inside)
			alike->inside[path->partner] = true;
	}
	for (uint32_t n = alike->first.node_count - 1; n > 0; n--) {
		bool here =
			pm_path(&alike->first, n)->threads.count && !alike->visited[n];

		if (here || alike->inside[n])
			alike->inside[pm_path(&alike->first, n)->parent] = true;
	}
	/* Both have the root. */
	for (uint32_t n = 0; n < alike->tree.node_count; n++)
		alike->paths[n].inside |= alike->inside[alike->paths[n].partner] &&
					  (!n || alike->paths[n].partner);
}

int pm_alike_begin(struct pm_alike *alike, const struct pm_snapshot *timed,
		   const struct pm_snapshot *counts, uint32_t base)
{
	int err;

	alike->before = *timed;
	err = pm_report_model_make(&alike->first_model, &alike->before, true, NULL)
		      ?: pm_report_model_make(&alike->model, counts, true, NULL)
		      ?: pm_report_tree_make(&alike->first, &alike->first_model, NULL, 0)
		      ?: pm_report_tree_make(&alike->tree, &alike->model, NULL, 0)
		      ?: paths_number(&alike->first_paths, &alike->first)
		      ?: paths_number(&alike->numbers, &alike->tree);
	if (err)
		return err;
	alike->paths = calloc(alike->tree.node_count, sizeof(*alike->paths));
	alike->visited = calloc(alike->first.node_count, sizeof(*alike->visited));
	alike->inside = calloc(alike->first.node_count, sizeof(*alike->inside));
	if (!alike->paths || !alike->visited || !alike->inside)
		return -ENOMEM;
	paths_compare(alike, base);
	inside_spread(alike);
	return 0;
}

int pm_alike_mark(const struct pm_alike *alike, const struct pm_snapshot_thread *from,
		  struct pm_snapshot_thread *to)
{
	uint32_t *number = calloc((size_t)from->node_count + 1, sizeof(*number));

	if (!number)
		return -ENOMEM;
	if (from->node_count && alike->paths[0].inside)
		pm_snapshot_node(to, 1)->flags |= PERFMON_PROFILE_NODE_UNALIKE;
	for (uint32_t n = 2; n <= from->node_count; n++) {
		const struct perfmon_profile_node *node = pm_snapshot_node(from, n);
		const struct pm_alike_path *path;

		if (pm_node_is_quantity(node))
			continue;
		number[n] = pm_pairs_find(&alike->numbers, number[node->parent],
					  alike->model.region_of[node->region], 0);
		path = &alike->paths[number[n]];
		if (path->visits || path->reference || path->inside)
			pm_snapshot_node(to, n)->flags |= PERFMON_PROFILE_NODE_UNALIKE;
		if (path->fewer_threads)
			pm_snapshot_node(to, n)->flags |=
				PERFMON_PROFILE_NODE_FEWER_THREADS;
	}
	free(number);
	return 0;
}

void pm_alike_end(struct pm_alike *alike)
{
	free(alike->paths);
	free(alike->visited);
	free(alike->inside);
	pm_pairs_free(&alike->first_paths);
	pm_pairs_free(&alike->numbers);
	pm_report_tree_free(&alike->first);
	pm_report_tree_free(&alike->tree);
	pm_report_model_free(&alike->first_model);
	pm_report_model_free(&alike->model);
}

/* --- sentences ---------------------------------------------------------------------- */

/* So much of a list stands in a sentence, and so much of a path in a list. */
#define LIST_MOST 400
#define PATH_MOST 120
/* So many notes of the other run are taken. */
#define NOTES_MOST 16

struct listing {
	char text[LIST_MOST + 40];
	size_t used;
	uint32_t count, left_out;
};

__attribute__((format(printf, 2, 3))) static void list(struct listing *l,
						       const char *format, ...)
{
	char part[LIST_MOST];
	va_list args;
	size_t length;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	length = strlen(part);
	l->count++;
	if (l->left_out || l->used + length + 2 > LIST_MOST) {
		l->left_out++;
		return;
	}
	l->used += (size_t)snprintf(l->text + l->used, sizeof(l->text) - l->used, "%s%s",
				    l->used ? ", " : "", part);
}

static const char *list_end(struct listing *l)
{
	if (l->left_out)
		snprintf(l->text + l->used, sizeof(l->text) - l->used, " and %u more",
			 l->left_out);
	l->left_out = 0;
	return l->text;
}

/* Writes the names of the path of N, at least the last one, to TEXT, and returns it. */
static const char *path_text(const struct pm_report_tree *tree, uint32_t n,
			     char text[PATH_MOST])
{
	static const char between[] = " > ", left_out[] = "...";
	size_t used = (size_t)snprintf(text, PATH_MOST / 2, "%s", pm_path_name(tree, n));

	used = used < PATH_MOST / 2 ? used : PATH_MOST / 2 - 1;
	while ((n = pm_path(tree, n)->parent)) {
		const char *name = pm_path_name(tree, n);
		bool fits = used + strlen(name) + sizeof(between) + sizeof(left_out) +
				    strlen(between) <
			    PATH_MOST;
		size_t more;

		name = fits ? name : left_out;
		more = strlen(name) + strlen(between);
		memmove(text + more, text, used + 1);
		memcpy(text, name, strlen(name));
		memcpy(text + strlen(name), between, strlen(between));
		used += more;
		if (!fits)
			break;
	}
	return text;
}

static int tell_differences(const struct pm_alike *alike, struct pm_snapshot *timed)
{
	struct listing visits = {.used = 0}, reference = {.used = 0};
	char text[PATH_MOST];
	int err = 0;

	for (uint32_t n = 1; n < alike->tree.node_count; n++) {
		const struct pm_alike_path *path = &alike->paths[n];

		if (path->visits)
			list(&visits, "'%s' %llu instead of %llu",
			     path_text(&alike->tree, n, text),
			     (unsigned long long)pm_path(&alike->tree, n)->visits.ended,
			     (unsigned long long)pm_path(&alike->first, path->partner)
				     ->visits.ended);
		if (path->reference)
			list(&reference, "'%s' %+.3g %%",
			     path_text(&alike->tree, n, text), 100 * path->change);
	}
	if (visits.count)
		err = PM_NOTE(timed,
			      "the runs were not alike: %s visited %u path%s more or "
			      "less often, and counts of it are marked there: %s",
			      alike->run->name, visits.count,
			      visits.count == 1 ? "" : "s", list_end(&visits));
	if (!err && reference.count)
		err = PM_NOTE(timed,
			      "the runs were not alike: in %s, %s differs by more than "
			      "%g %% in %u path%s, and counts of it are marked there: %s",
			      alike->run->name, alike->run->reference,
			      100 * alike->run->tolerance, reference.count,
			      reference.count == 1 ? "" : "s", list_end(&reference));
	return err;
}

static int tell_absent(const struct pm_alike *alike, struct pm_snapshot *timed)
{
	struct listing here = {.used = 0}, there = {.used = 0};
	char text[PATH_MOST];
	int err = 0;

	for (uint32_t n = 1; n < alike->first.node_count; n++)
		if (pm_path(&alike->first, n)->threads.count && !alike->visited[n])
			list(&here, "'%s'", path_text(&alike->first, n, text));
	for (uint32_t n = 1; n < alike->tree.node_count; n++)
		if (!is_in_both(alike, n))
			list(&there, "'%s'", path_text(&alike->tree, n, text));
	if (here.count)
		err = PM_NOTE(timed,
			      "%s did not visit %u path%s of this run, which %s no "
			      "counts of it: %s",
			      alike->run->name, here.count, here.count == 1 ? "" : "s",
			      here.count == 1 ? "has" : "have", list_end(&here));
	if (!err && there.count)
		err = PM_NOTE(timed,
			      "%s alone visited %u path%s, which %s no visits and times "
			      "here: %s",
			      alike->run->name, there.count, there.count == 1 ? "" : "s",
			      there.count == 1 ? "has" : "have", list_end(&there));
	return err;
}

bool pm_alike_any_counted(const struct pm_snapshot_thread *threads, uint32_t count,
			  const struct perfmon_profile_counter *counter)
{
	for (uint32_t t = 0; t < count; t++) {
		const struct pm_snapshot_plan *plan = threads[t].plan;

		for (uint32_t c = 0; plan && c < plan->counter_count; c++)
			if (threads[t].record.status[c] > 0 &&
			    pm_report_same_event(&plan->counters[c], counter))
				return true;
	}
	return false;
}

/* Names the events that the other run counted, each once: those that the joined threads of TIMED from
 * FIRST on have, and those that an earlier run had counted. */
static void events_list(const struct pm_alike *alike, const struct pm_snapshot *timed,
			uint32_t first, struct listing *taken, struct listing *dropped)
{
	for (uint32_t e = 0; e < alike->model.event_count; e++) {
		const struct pm_report_event *event = &alike->model.events[e];
		bool kept =
			timed->joined_count > first &&
			pm_alike_any_counted(&timed->joined[first],
					     timed->joined_count - first, event->first);

		/* The reference event is in every run. */
		if ((event->user_read || event->syscall_read) &&
		    (kept || !alike->run->reference ||
		     strcmp(event->name, alike->run->reference) != 0))
			list(kept ? taken : dropped, "%s", event->name);
	}
}

static int tell_events(const struct pm_alike *alike, struct pm_snapshot *timed,
		       uint32_t first)
{
	struct listing taken = {.used = 0}, dropped = {.used = 0};
	int err = 0;

	events_list(alike, timed, first, &taken, &dropped);
	if (taken.count && !alike->run->is_told)
		err = PM_NOTE(
			timed,
			"%s %s of another run, %s%s: visits and times are of this run",
			list_end(&taken), taken.count == 1 ? "is" : "are",
			alike->run->name,
			alike->model.exact ? ", which was counted exactly by translation"
					   : "");
	if (!err && dropped.count)
		err = PM_NOTE(timed,
			      "an earlier run counted %s, so that of %s is left out",
			      list_end(&dropped), alike->run->name);
	return err;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool arguments_differ(const struct pm_snapshot *a, const struct pm_snapshot *b)
{
	return a->arguments && b->arguments &&
	       (a->arguments_length != b->arguments_length ||
		memcmp(a->arguments, b->arguments, a->arguments_length) != 0);
}

static int tell_programs(const struct pm_alike *alike, struct pm_snapshot *timed,
			 const struct pm_snapshot *counts)
{
	if (strcmp(base_of(timed->header.program), base_of(counts->header.program)) != 0)
		return PM_NOTE(timed, "%s is of another program: %s", alike->run->name,
			       counts->header.program);
	if (arguments_differ(timed, counts))
		return PM_NOTE(timed, "%s is of a run with other arguments",
			       alike->run->name);
	return 0;
}

/* Takes the notes of the other run that are not here. */
static int tell_others(const struct pm_alike *alike, struct pm_snapshot *timed,
		       const struct pm_snapshot *counts)
{
	uint32_t own = timed->note_count, taken = 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < counts->note_count && taken < NOTES_MOST; i++) {
		bool known = false;

		for (uint32_t n = 0; n < own; n++)
			known |= !strcmp(timed->notes[n], counts->notes[i]);
		if (known)
			continue;
		taken++;
		err = PM_NOTE(timed, "%s: %s", alike->run->name, counts->notes[i]);
	}
	if (!err && counts->partial)
		err = PM_NOTE(timed, "%s: %s", alike->run->name, counts->problem);
	return err;
}

int pm_alike_tell(const struct pm_alike *alike, struct pm_snapshot *timed, uint32_t first)
{
	const struct pm_snapshot *counts = alike->model.snapshot;

	return tell_others(alike, timed, counts) ?: tell_programs(alike, timed, counts)
	       ?: tell_events(alike, timed, first) ?: tell_differences(alike, timed)
	       ?: tell_absent(alike, timed);
}
