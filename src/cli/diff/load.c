/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads profiles for the comparison: for each file and region a sum and its visits, and
 * the run to which each file belongs. */
#include "cli/diff/data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "core/profile/profile.h"
#include "core/text/bytes.h"
#include "core/text/grow.h"

static int region_number(struct diff_data *data, const char *name, uint32_t *number)
{
	const struct cli_text *region = cli_texts_add(&data->regions, 0, name);

	if (!region)
		return -ENOMEM;
	*number = region->number;
	return 0;
}

static bool same_counter(const struct perfmon_profile_counter *a,
			 const struct perfmon_profile_counter *b)
{
	return !strcmp(a->pmu, b->pmu) && !strcmp(a->unit, b->unit) &&
	       a->scale == b->scale && a->type == b->type &&
	       !memcmp(a->config, b->config, sizeof(a->config));
}

/* Returns whether a program that does the same twice has the same count twice. */
static bool repeats(const struct pm_report_event *event)
{
	return (event->generic == PM_GENERIC_INSTRUCTIONS ||
		event->generic == PM_GENERIC_BRANCHES) &&
	       !strpbrk(event->suffix, "khGH");
}

/* Events are the same if they have the same name and count the same. */
static int event_number(struct diff_data *data, const struct pm_report_event *event,
			uint32_t side, uint32_t *number)
{
	struct diff_event *new;
	uint32_t e;

	for (e = 0; e < data->event_count; e++)
		if (!strcmp(data->events[e].name, event->name) &&
		    data->events[e].twin == event->twin &&
		    same_counter(&data->events[e].counter, event->first))
			break;
	if (e == data->event_count) {
		if (!PM_GROW(data->events, data->event_count))
			return -ENOMEM;
		new = &data->events[e];
		memset(new, 0, sizeof(*new));
		new->name = strdup(event->name);
		if (!new->name)
			return -ENOMEM;
		new->counter = *event->first;
		new->twin = event->twin;
		new->exact = event->first->flags &PERFMON_PROFILE_COUNTER_EXACT;
		new->repeats = new->exact || repeats(event);
		data->event_count++;
	}
	data->events[e].there[side] = true;
	*number = e;
	return 0;
}

static int entry_add(struct diff_data *data, const struct diff_entry *entry)
{
	if (!PM_GROW(data->entries, data->entry_count))
		return -ENOMEM;
	data->entries[data->entry_count++] = *entry;
	return 0;
}

/* How to read a file's values. */
struct taking {
	const uint32_t *events, *regions; /* their numbers in the comparison; by node */
	bool inclusive;
	const bool *
		outer; /* by region: another region is nested in it; NULL with inclusive */
};

/* Returns whether a part of VALUE, of REGION, is missing. The values of an open visit
 * lack those of its nested visits that have ended, so the rest is less than its own. */
static bool lacks(const struct taking *how, const struct pm_value *value, uint32_t region)
{
	return value->marks & PM_MARK_PART ||
	       (value->marks & PM_MARK_IN_FLIGHT && how->outer && how->outer[region]);
}

/* Returns how many counts of EVENT in NODE may be due to another way of reading than in
 * the other run. Reading pages that have changed costs about as much as read(2). */
static double slack(const struct pm_report_event *event,
		    const struct pm_path_visits *visits)
{
	uint64_t bias = event->cost.known & PERFMON_PROFILE_COST_CALL
				? event->cost.call_bias
				: event->cost.bias;
	uint64_t other = visits->retries;

	/* If all reads are system calls, no visit differs by that. */
	if (event->cost.known & PERFMON_PROFILE_COST_USER)
		other += visits->fallback_reads;
	return (double)other * (double)bias;
}

/* Returns what measuring adds to EVENT in NODE, number N of TREE. */
static double cost_of(const struct pm_report_tree *tree, uint32_t n, uint32_t event,
		      bool exclusive, double visits)
{
	const struct pm_report_event *of = &tree->model->events[event];
	struct pm_short against;

	pm_report_is_short(tree, n, event, exclusive, &against);
	return against.bias * visits * of->first->scale;
}

/* Returns what measuring adds to the time of NODE, in ticks. */
static double time_cost_of(const struct pm_path_times *times, bool exclusive)
{
	return fmax(0, times->added - (exclusive ? times->children_added : 0));
}

/* Adds what is known of the single visits of NODE, and leaves its number in SEEN, or 0 if
 * nothing is. */
static int visits_add(struct diff_data *data, const struct pm_report_tree *tree,
		      uint32_t n, uint32_t *seen)
{
	const struct pm_path_times *times = &pm_path(tree, n)->times;
	double tick_ns = pm_snapshot_ns(tree->model->snapshot, 1);
	struct diff_visits *visits;

	*seen = 0;
	if (times->min > times->max || !(tick_ns > 0))
		return 0;
	if (!PM_GROW(data->visits, data->visits_count))
		return -ENOMEM;
	visits = &data->visits[data->visits_count];
	visits->fastest = (double)times->min;
	visits->slowest = (double)times->max;
	visits->tick_ns = tick_ns;
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		visits->bins[i] = (double)pm_path(tree, n)->visits.histogram[i];
	*seen = ++data->visits_count;
	return 0;
}

/* Adds region N of a file's flat TREE. */
static int region_add(struct diff_data *data, const struct pm_report_tree *tree,
		      uint32_t n, const struct taking *how)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
	struct pm_value value = pm_report_time(tree, n, !how->inclusive);
	struct diff_entry entry = {.region = how->regions[n],
				   .quantity = DIFF_VISITS,
				   .file = data->file_count - 1,
				   .sum = (double)visits->ended,
				   .visits = 1,
				   .coverage = 1,
				   .threads = (double)pm_path(tree, n)->threads.count};
	int err = entry_add(data, &entry);

	if (err || value.state != PM_COUNTED)
		return err;
	entry.quantity = DIFF_TIME;
	entry.visits = (double)visits->ended;
	/* Under the Valgrind tool, time is an event that is compared; here it only
	 * orders. */
	entry.sum =
		model->exact ? value.value : pm_snapshot_ns(model->snapshot, value.value);
	entry.error = pm_snapshot_ns(model->snapshot, value.error);
	entry.marks = value.marks;
	entry.lacks = lacks(how, &value, pm_path(tree, n)->region);
	entry.cost = pm_snapshot_ns(
		model->snapshot, time_cost_of(&pm_path(tree, n)->times, !how->inclusive));
	entry.nested = how->outer && how->outer[pm_path(tree, n)->region];
	err = visits_add(data, tree, n, &entry.seen) ?: entry_add(data, &entry);
	entry.seen = 0;
	for (uint32_t e = 0; !err && e < model->event_count; e++) {
		const struct pm_report_event *event = &model->events[e];

		value = pm_report_count(tree, n, e, !how->inclusive);
		/* The largest of values is no amount that a visit takes. */
		if (value.state != PM_COUNTED || pm_report_is_largest(event))
			continue;
		entry.quantity = DIFF_EVENT + how->events[e];
		entry.visits = (double)pm_report_sums(tree, n, e, false).measured;
		entry.sum = value.value * event->first->scale;
		entry.error = value.error * event->first->scale;
		entry.coverage = value.coverage;
		entry.marks = value.marks;
		entry.lacks = lacks(how, &value, pm_path(tree, n)->region);
		entry.slack = slack(event, &pm_path(tree, n)->visits);
		entry.cost = cost_of(tree, n, e, !how->inclusive, entry.visits);
		err = entry_add(data, &entry);
	}
	return err;
}

/* Adds the totals of all regions of a file's flat TREE, each without nested regions. */
static int total_add(struct diff_data *data, const struct pm_report_tree *tree,
		     const bool *outer, const uint32_t *events)
{
	const struct pm_report_model *model = tree->model;
	const struct taking how = {.events = events, .outer = outer};
	int err = 0;

	/* Time, and then each event. */
	for (uint32_t q = 0; !err && q <= model->event_count; q++) {
		const struct pm_report_event *event = q ? &model->events[q - 1] : NULL;
		struct diff_entry entry = {.region = DIFF_TOTAL,
					   .quantity = q ? DIFF_EVENT + events[q - 1]
							 : DIFF_TIME,
					   .file = data->file_count - 1,
					   .visits = 1,
					   .coverage = 1,
					   .threads = (double)tree->threads};
		double squares = 0;
		bool any = false;
		/* A package's count is not the sum of its regions': the root has it. */
		bool whole = event && event->package;

		for (uint32_t n = !whole; n < (whole ? 1 : tree->node_count); n++) {
			const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
			struct pm_value value =
				event ? pm_report_count(tree, n, q - 1, true)
				      : pm_report_time(tree, n, true);

			/* A run's sum lacks the visits that had not ended. */
			entry.lacks |= visits->entered > visits->ended;
			if (value.state != PM_COUNTED) {
				entry.lacks |=
					visits->ended > 0 && value.state != PM_NOT_SAID;
				continue;
			}
			if (event && pm_report_is_largest(event))
				continue;
			any = true;
			entry.sum += value.value;
			squares += value.error * value.error;
			entry.coverage = fmin(entry.coverage, value.coverage);
			/* A short region may be only a small part of the total. */
			entry.marks |= value.marks & ~PM_MARK_SHORT;
			entry.lacks |= lacks(&how, &value, pm_path(tree, n)->region);
			entry.slack +=
				event ? slack(event, &pm_path(tree, n)->visits) : 0;
		}
		entry.error = sqrt(squares);
		if (event) {
			entry.sum *= event->first->scale;
			entry.error *= event->first->scale;
		} else {
			entry.sum = pm_snapshot_ns(model->snapshot, entry.sum);
			entry.error = pm_snapshot_ns(model->snapshot, entry.error);
		}
		if (any)
			err = entry_add(data, &entry);
	}
	return err;
}

static int tree_add(struct diff_data *data, const struct pm_report_model *model,
		    const uint32_t *events, bool inclusive)
{
	struct taking how = {.events = events, .inclusive = inclusive};
	struct pm_report_tree tree, flat;
	uint32_t *regions = NULL;
	bool *outer = calloc((size_t)model->snapshot->region_count + 1, sizeof(*outer));
	int err = outer ? pm_report_tree_make(&tree, model, NULL, 0) : -ENOMEM;

	if (err)
		goto out;
	for (uint32_t n = 1; n < tree.node_count; n++)
		outer[pm_path(&tree, pm_path(&tree, n)->parent)->region] = true;
	if (!inclusive)
		how.outer = outer;
	err = pm_report_tree_flatten(&flat, &tree);
	pm_report_tree_free(&tree);
	if (err)
		goto out;
	how.regions = regions = calloc(flat.node_count, sizeof(*regions));
	if (!regions)
		err = -ENOMEM;
	for (uint32_t n = 1; !err && n < flat.node_count; n++)
		err = region_number(data, pm_path_name(&flat, n), &regions[n])
			      ?: region_add(data, &flat, n, &how);
	if (!err)
		err = total_add(data, &flat, outer, events);
	if (!err)
		err = diff_metrics_load(data, &flat, regions, inclusive);
	pm_report_tree_free(&flat);
out:
	free(regions);
	free(outer);
	return err;
}

static int snapshot_add(struct diff_data *data, uint32_t side,
			const struct pm_snapshot *snapshot, bool inclusive)
{
	struct pm_report_model model;
	uint32_t *events;
	int err = pm_report_model_make(&model, snapshot, false, data->metrics);

	if (err)
		return err;
	pm_report_check_sanity(&model, cli_machine_of(snapshot));
	events = calloc((size_t)model.event_count + 1, sizeof(*events));
	if (!events)
		err = -ENOMEM;
	for (uint32_t e = 0; !err && e < model.event_count; e++)
		err = event_number(data, &model.events[e], side, &events[e]);
	if (!err)
		err = tree_add(data, &model, events, inclusive);
	free(events);
	pm_report_model_free(&model);
	return err;
}

/* Adds the file PATH to SIDE. Returns NULL without memory. */
static struct diff_file *file_add(struct diff_data *data, uint32_t side, const char *path)
{
	struct diff_file *file;

	if (!PM_GROW(data->files, data->file_count))
		return NULL;
	file = &data->files[data->file_count];
	memset(file, 0, sizeof(*file));
	file->side = side;
	file->path = strdup(path);
	data->file_count += file->path != NULL;
	return file->path ? file : NULL;
}

/* Sums the visits that threads left out on request. */
static void take_left_out(struct diff_file *file, const struct pm_snapshot *snapshot)
{
	for (uint32_t t = 0; t < snapshot->thread_count; t++)
		for (uint32_t why = 0; why < PERFMON_PROFILE_LEFT_OUT_KINDS; why++)
			file->left_out[why] =
				pm_plus(file->left_out[why],
					snapshot->threads[t].record.left_out[why]);
}

static int load_profile(struct diff_data *data, uint32_t side, const char *path,
			bool inclusive, struct pm_diag *diag)
{
	const struct cli_source source = {.name = (char *)(uintptr_t)path};
	struct pm_snapshot *snapshot;
	struct diff_file *file;
	int err = cli_source_read(&source, &snapshot, diag);

	if (err)
		return err;
	file = file_add(data, side, path);
	if (file) {
		file->header = snapshot->header;
		file->ended = snapshot->header.state == PERFMON_PROFILE_STATE_ENDED;
		file->partial = snapshot->partial;
		take_left_out(file, snapshot);
		file->ticks = !(snapshot->tick_ns > 0);
		file->exact = pm_report_is_exact(snapshot);
		file->empty = !snapshot->thread_count;
	}
	err = file ? snapshot_add(data, side, snapshot, inclusive) : -ENOMEM;
	pm_snapshot_free(snapshot);
	return err;
}

/* --- files of perfmon stat ---------------------------------------------------------- */

static bool has_sample(const struct diff_stat_event *event)
{
	for (uint32_t r = 0; r < event->sample_count; r++)
		if (!isnan(event->samples[r]))
			return true;
	return false;
}

/* Finds the number of EVENT of STAT, of which only the name and the unit are known. */
static int stat_event_number(struct diff_data *data, const struct diff_stat *stat,
			     const struct diff_stat_event *event, uint32_t side,
			     uint32_t *number)
{
	struct perfmon_profile_counter counter = {.scale = 1};
	struct pm_report_event named = {.first = &counter};
	bool user = !strcmp(stat->modes, "user");

	snprintf(named.name, sizeof(named.name), "%s", event->name);
	snprintf(counter.unit, sizeof(counter.unit), "%s", event->unit);
	named.parsed = pm_event_name_of(named.name);
	named.suffix = named.parsed.suffix;
	/* The kernel's counts do not repeat. */
	if (user || strchr(named.suffix, 'u'))
		named.generic = named.parsed.generic;
	counter.flags = stat->exact ? PERFMON_PROFILE_COUNTER_EXACT : 0;
	/* The same name in another mode is another event. */
	counter.config[0] = user;
	return event_number(data, &named, side, number);
}

static int stat_event_add(struct diff_data *data, const struct diff_stat *stat,
			  const struct diff_stat_event *event, uint32_t side,
			  uint32_t first_file)
{
	const char *place = event->place ? event->place : DIFF_PROGRAM;
	struct diff_entry entry = {.visits = 1, .threads = 1};
	uint32_t number;
	int err;

	if (!has_sample(event))
		return 0;
	err = region_number(data, place, &entry.region)
		      ?: stat_event_number(data, stat, event, side, &number);
	if (err)
		return err;
	entry.quantity = DIFF_EVENT + number;
	entry.coverage = isnan(event->coverage) ? 1 : event->coverage;
	entry.marks = !strcmp(event->status, "multiplexed") ? PM_MARK_MULTIPLEXED : 0;
	entry.lacks = !strcmp(event->status, "partial");
	for (uint32_t r = 0; !err && r < event->sample_count; r++) {
		entry.file = first_file + r;
		entry.sum = event->samples[r];
		if (!isnan(entry.sum))
			err = entry_add(data, &entry);
	}
	return err;
}

/* Adds each run of STAT, in the file PATH, as a file of its own. */
static int stat_add(struct diff_data *data, uint32_t side, const char *path,
		    const struct diff_stat *stat)
{
	struct diff_entry entry = {
		.quantity = DIFF_TIME, .visits = 1, .coverage = 1, .threads = 1};
	uint32_t first = data->file_count;
	int err = region_number(data, DIFF_PROGRAM, &entry.region);

	for (uint32_t r = 0; !err && r < stat->run_count; r++) {
		struct diff_file *file = file_add(data, side, path);

		if (!file)
			return -ENOMEM;
		snprintf(file->header.program, sizeof(file->header.program), "%s",
			 stat->command ? stat->command : "");
		/* The runs came one after the other. */
		file->header.begin_realtime_ns = stat->began_realtime_ns + r;
		file->header.rank = -1;
		file->ended = !stat->failed;
		file->exact = stat->exact;
		file->whole = true;
		entry.file = first + r;
		entry.sum = stat->times[r];
		if (!isnan(entry.sum))
			err = entry_add(data, &entry);
	}
	for (uint32_t e = 0; !err && e < stat->event_count; e++)
		err = stat_event_add(data, stat, &stat->events[e], side, first);
	return err;
}

static int load_stat(struct diff_data *data, uint32_t side, const char *path,
		     struct pm_diag *diag)
{
	struct diff_stat *stats;
	uint32_t count;
	int err = diff_stats_read(path, &stats, &count, diag);

	for (uint32_t i = 0; !err && i < count; i++)
		err = stat_add(data, side, path, &stats[i]);
	diff_stats_free(stats, count);
	return err;
}

int diff_load(struct diff_data *data, uint32_t side, const char *path, bool inclusive,
	      struct pm_diag *diag)
{
	int err = diff_stat_is_json(path)
			  ? load_stat(data, side, path, diag)
			  : load_profile(data, side, path, inclusive, diag);

	return err == -ENOMEM ? pm_diag_set(diag, err, "%s: no memory", path) : err;
}

/* --- runs --------------------------------------------------------------------------- */

/* Compares by side and process. */
static int process_compare(const struct diff_file *a, const struct diff_file *b,
			   uint32_t pid, uint64_t start_time)
{
	return DIFF_ORDER(a->side, b->side)
		       ?: DIFF_ORDER(a->header.pid, pid)
		       ?: DIFF_ORDER(a->header.start_time, start_time)
		       ?: strcmp(a->header.boot_id, b->header.boot_id);
}

static int by_process(const void *a, const void *b, void *argument)
{
	const struct diff_file *files = argument;
	const uint32_t *i = a, *j = b;

	return process_compare(&files[*i], &files[*j], files[*j].header.pid,
			       files[*j].header.start_time)
		       ?: DIFF_ORDER(*i, *j);
}

static int by_begin(const void *a, const void *b, void *argument)
{
	const struct diff_file *files = argument;
	const uint32_t *i = a, *j = b;

	return DIFF_ORDER(files[*i].header.begin_realtime_ns,
			  files[*j].header.begin_realtime_ns)
		       ?: DIFF_ORDER(*i, *j);
}

/* Compares by side and rank first. */
static int by_rank(const void *a, const void *b, void *argument)
{
	const struct diff_file *files = argument;
	const struct diff_file *x = &files[*(const uint32_t *)a],
			       *y = &files[*(const uint32_t *)b];

	return DIFF_ORDER(x->side, y->side)
		       ?: DIFF_ORDER(x->header.rank, y->header.rank)
		       ?: by_begin(a, b, argument);
}

/* Returns the file of the process that forked FILE's, or NULL. PROCESSES are all files by
 * process. Only older files count, so that the search ends. */
static const struct diff_file *parent_of(const struct diff_data *data,
					 const struct diff_file *file,
					 const uint32_t *processes)
{
	uint32_t low = 0, high = data->file_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (process_compare(&data->files[processes[middle]], file,
				    file->header.parent_pid,
				    file->header.parent_start_time) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; file->header.parent_pid && low < data->file_count; low++) {
		const struct diff_file *other = &data->files[processes[low]];

		if (process_compare(other, file, file->header.parent_pid,
				    file->header.parent_start_time))
			break;
		if (other->header.begin_realtime_ns < file->header.begin_realtime_ns)
			return other;
	}
	return NULL;
}

/* Finds each file's first ancestor, in the memory of ORDER and PROCESSES. */
static void find_roots(struct diff_data *data, uint32_t *order, uint32_t *processes)
{
	for (uint32_t i = 0; i < data->file_count; i++)
		order[i] = processes[i] = i;
	qsort_r(processes, data->file_count, sizeof(*processes), by_process, data->files);
	/* Parents come before their children. */
	qsort_r(order, data->file_count, sizeof(*order), by_begin, data->files);
	for (uint32_t i = 0; i < data->file_count; i++) {
		struct diff_file *file = &data->files[order[i]];
		const struct diff_file *parent = parent_of(data, file, processes);

		file->root = parent ? parent->root : order[i];
	}
}

/* Returns 1 if the COUNT files ROOTS of SIDE are of several ranks, 0 if they are not, or
 * -EINVAL if only some of them have a rank. */
static int side_ranks(const struct diff_data *data, uint32_t side, const uint32_t *roots,
		      uint32_t count, struct pm_diag *diag)
{
	int32_t first = count ? data->files[roots[0]].header.rank : 0;
	int32_t last = count ? data->files[roots[count - 1]].header.rank : 0;

	/* They are in the order of ranks. */
	if (first != last && first < 0)
		return pm_diag_set(diag, -EINVAL,
				   "%s: some profiles have an MPI rank and some have "
				   "none: these are not repeated runs",
				   side ? "B" : "A");
	return first != last;
}

/* Numbers the runs of SIDE, whose first processes are the COUNT files ROOTS. The n-th
 * process of each rank belongs to run n. */
static int side_runs(struct diff_data *data, uint32_t side, const uint32_t *roots,
		     uint32_t count, struct pm_diag *diag)
{
	int ranks = side_ranks(data, side, roots, count, diag);
	uint32_t next;

	if (ranks < 0)
		return ranks;
	data->runs[side] = 0;
	for (uint32_t i = 0; i < count; i = next) {
		int32_t rank = data->files[roots[i]].header.rank;

		for (next = i;
		     next < count && data->files[roots[next]].header.rank == rank; next++)
			data->files[roots[next]].run = next - i;
		if (i && next - i != data->runs[side])
			return pm_diag_set(diag, -EINVAL,
					   "%s: rank %d has %u profiles, another has %u: "
					   "a run needs one profile of each rank",
					   side ? "B" : "A", rank, next - i,
					   data->runs[side]);
		data->runs[side] = next - i;
	}
	return 0;
}

/* A run is a process with its forked children; for a parallel program, those of all
 * ranks. */
static int find_runs(struct diff_data *data, struct pm_diag *diag)
{
	uint32_t *room = calloc((size_t)data->file_count + 1, 2 * sizeof(*room));
	uint32_t count = 0, of_a = 0;
	int err;

	if (!room)
		return pm_diag_set(diag, -ENOMEM, "no memory");
	find_roots(data, room, room + data->file_count);
	for (uint32_t i = 0; i < data->file_count; i++) {
		if (data->files[i].root != i)
			continue;
		room[count++] = i;
		of_a += !data->files[i].side;
	}
	qsort_r(room, count, sizeof(*room), by_rank, data->files);
	err = side_runs(data, 0, room, of_a, diag)
		      ?: side_runs(data, 1, room + of_a, count - of_a, diag);
	for (uint32_t i = 0; i < data->file_count; i++)
		data->files[i].run = data->files[data->files[i].root].run;
	free(room);
	return err;
}

/* Counts of the Valgrind tool and of the machine are never compared, and never of one
 * side. */
static int check_exact(struct diff_data *data, struct pm_diag *diag)
{
	uint32_t exact[2] = {0}, files[2] = {0};

	for (uint32_t i = 0; i < data->file_count; i++) {
		if (data->files[i].empty)
			continue;
		files[data->files[i].side]++;
		exact[data->files[i].side] += data->files[i].exact;
	}
	for (uint32_t side = 0; side < 2; side++)
		if (exact[side] && exact[side] < files[side])
			return pm_diag_set(diag, -EINVAL,
					   "%s: some profiles were counted exactly by "
					   "translation, others by the machine's "
					   "counters: these are not repeated runs",
					   side ? "B" : "A");
	if (files[0] && files[1] && !exact[0] != !exact[1])
		return pm_diag_set(diag, -EINVAL,
				   "%s was counted exactly by translation, %s by the "
				   "machine's counters: their counts are not compared",
				   exact[0] ? "A" : "B", exact[0] ? "B" : "A");
	data->exact = exact[0];
	return 0;
}

/* Whole programs are only compared with whole programs. */
static int check_whole(struct diff_data *data, struct pm_diag *diag)
{
	const struct diff_file *whole = NULL, *regions = NULL;

	for (uint32_t i = 0; i < data->file_count; i++) {
		if (data->files[i].whole)
			whole = &data->files[i];
		else
			regions = &data->files[i];
	}
	data->whole = whole;
	if (whole && regions)
		return pm_diag_set(diag, -EINVAL,
				   "'%s' was counted by perfmon stat, '%s' in regions: "
				   "these cannot be compared",
				   whole->path, regions->path);
	return 0;
}

int diff_load_end(struct diff_data *data, struct pm_diag *diag)
{
	int err = check_whole(data, diag)
			  ?: check_exact(data, diag) ?: find_runs(data, diag);

	if (!err && diff_order_find(data))
		err = pm_diag_set(diag, -ENOMEM, "no memory");
	return err;
}

void diff_data_free(struct diff_data *data)
{
	for (uint32_t i = 0; i < data->file_count; i++)
		free(data->files[i].path);
	for (uint32_t e = 0; e < data->event_count; e++)
		free(data->events[e].name);
	for (uint32_t i = 0; i < data->input_count; i++)
		free(data->inputs[i].values);
	cli_texts_free(&data->regions);
	free(data->visits);
	free(data->inputs);
	free(data->files);
	free(data->events);
	free(data->entries);
	memset(data, 0, sizeof(*data));
}

const struct diff_file *diff_first_file(const struct diff_data *data, uint32_t side)
{
	const struct diff_file *file = data->files;

	while (file->side != side)
		file++;
	return file;
}

const char *diff_region(const struct diff_data *data, uint32_t region)
{
	return region == DIFF_TOTAL ? "(total)" : data->regions.entries[region]->text;
}

const char *diff_quantity(const struct diff_data *data, uint32_t quantity)
{
	return quantity == DIFF_TIME	 ? "time"
	       : quantity == DIFF_VISITS ? "visits"
					 : data->events[quantity - DIFF_EVENT].name;
}
