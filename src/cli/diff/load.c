/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From profiles to what is compared: of each file and region a sum and the visits that it
 * is of, and which files are of the same run. */
#include "cli/diff/data.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "profile/profile.h"
#include "report/report.h"

/* Room for one more element of ARRAY. */
#define GROW(array, count, room)                                                         \
	((count) < (room) || grow((void **)&(array), &(room), sizeof(*(array))))

static bool grow(void **array, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 16;
	void *moved = more > *room ? realloc(*array, more * size) : NULL;

	if (!moved)
		return false;
	*array = moved;
	*room = more;
	return true;
}

struct name {
	char *text;
	uint32_t number;
};

static int name_compare(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int region_number(struct diff_data *data, const char *text, uint32_t *number)
{
	struct name key = {(char *)(uintptr_t)text, 0}, *name, **found;

	found = tfind(&key, &data->region_tree, name_compare);
	if (found) {
		*number = (*found)->number;
		return 0;
	}
	if (!GROW(data->regions, data->region_count, data->region_room))
		return -ENOMEM;
	name = malloc(sizeof(*name));
	if (!name)
		return -ENOMEM;
	name->text = strdup(text);
	name->number = data->region_count;
	if (!name->text || !tsearch(name, &data->region_tree, name_compare)) {
		free(name->text);
		free(name);
		return -ENOMEM;
	}
	data->regions[data->region_count++] = name->text;
	*number = name->number;
	return 0;
}

static bool same_counter(const struct perfmon_profile_counter *a,
			 const struct perfmon_profile_counter *b)
{
	return !strcmp(a->pmu, b->pmu) && !strcmp(a->unit, b->unit) &&
	       a->scale == b->scale && a->type == b->type &&
	       !memcmp(a->config, b->config, sizeof(a->config));
}

/* Whether a program that does the same twice makes this count twice the same. */
static bool repeats(const struct pm_report_event *event)
{
	return (event->role == PM_ROLE_INSTRUCTIONS || event->role == PM_ROLE_BRANCHES) &&
	       !strpbrk(event->suffix, "khGH");
}

/* An event is the same if it is called the same and counts the same. */
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
		if (!GROW(data->events, data->event_count, data->event_room))
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
	if (!GROW(data->entries, data->entry_count, data->entry_room))
		return -ENOMEM;
	data->entries[data->entry_count++] = *entry;
	return 0;
}

/* How a file's values are taken. */
struct taking {
	const uint32_t *events; /* their numbers here */
	bool inclusive;
	const bool *outer; /* by region: something is nested in it; NULL with inclusive */
};

/* Whether a part of VALUE, of REGION, is missing. Nested visits that have ended are taken
 * from the values of a visit that has not: what remains of it is less than its own. */
static bool lacks(const struct taking *how, const struct pm_value *value, uint32_t region)
{
	return value->marks & PM_MARK_PART ||
	       (value->marks & PM_MARK_IN_FLIGHT && how->outer && how->outer[region]);
}

/* What another way of reading than in the other run may have counted of EVENT in NODE: a
 * read of pages that had moved costs about what one by read(2) does. */
static double slack(const struct pm_report_event *event,
		    const struct pm_report_node *node)
{
	uint64_t bias = event->cost.known & PERFMON_PROFILE_COST_CALL
				? event->cost.call_bias
				: event->cost.bias;
	uint64_t other = node->retries;

	/* Where all is read by calls no visit stands out by that. */
	if (event->cost.known & PERFMON_PROFILE_COST_USER)
		other += node->fallback_reads;
	return (double)other * (double)bias;
}

/* Region N of a file's flat TREE. */
static int region_add(struct diff_data *data, const struct pm_report_tree *tree,
		      uint32_t n, const struct taking *how)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_report_node *node = &tree->nodes[n];
	struct pm_value value = pm_report_time(tree, n, !how->inclusive);
	struct diff_entry entry = {.file = data->file_count - 1,
				   .coverage = 1,
				   .threads = (double)node->threads};
	int err = region_number(data, pm_report_name(tree, n), &entry.region);

	if (err)
		return err;
	entry.quantity = DIFF_VISITS;
	entry.sum = (double)node->visits;
	entry.visits = 1;
	err = entry_add(data, &entry);
	if (err || value.state != PM_COUNTED)
		return err;
	entry.quantity = DIFF_TIME;
	entry.visits = (double)node->visits;
	/* Of an exact profile it is compared as an event; here it only weighs. */
	entry.sum =
		model->exact ? value.value : pm_snapshot_ns(model->snapshot, value.value);
	entry.error = pm_snapshot_ns(model->snapshot, value.error);
	entry.marks = value.marks;
	entry.lacks = lacks(how, &value, node->region);
	err = entry_add(data, &entry);
	for (uint32_t e = 0; !err && e < model->event_count; e++) {
		const struct pm_report_event *event = &model->events[e];

		value = pm_report_count(tree, n, e, !how->inclusive);
		if (value.state != PM_COUNTED)
			continue;
		entry.quantity = DIFF_EVENT + how->events[e];
		entry.visits = (double)tree->counts[(size_t)n * model->column_count + e]
				       .measured;
		entry.sum = value.value * event->first->scale;
		entry.error = value.error * event->first->scale;
		entry.coverage = value.coverage;
		entry.marks = value.marks;
		entry.lacks = lacks(how, &value, node->region);
		entry.slack = slack(event, node);
		err = entry_add(data, &entry);
	}
	return err;
}

/* What all regions of a file's flat TREE have together, each without nested regions. */
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

		for (uint32_t n = 1; n < tree->node_count; n++) {
			const struct pm_report_node *node = &tree->nodes[n];
			struct pm_value value =
				event ? pm_report_count(tree, n, q - 1, true)
				      : pm_report_time(tree, n, true);

			/* A run's sum is without the visits that had not ended. */
			entry.lacks |= node->entered > node->visits;
			if (value.state != PM_COUNTED) {
				entry.lacks |= node->visits > 0;
				continue;
			}
			any = true;
			entry.sum += value.value;
			squares += value.error * value.error;
			entry.coverage = fmin(entry.coverage, value.coverage);
			/* A region that is too short need not be much of all. */
			entry.marks |= value.marks & ~PM_MARK_SHORT;
			entry.lacks |= lacks(&how, &value, node->region);
			entry.slack += event ? slack(event, node) : 0;
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
	int err = outer ? pm_report_tree_make(&tree, model, -1) : -ENOMEM;

	if (err)
		goto out;
	for (uint32_t n = 1; n < tree.node_count; n++)
		outer[tree.nodes[tree.nodes[n].parent].region] = true;
	if (!inclusive)
		how.outer = outer;
	err = pm_report_tree_flatten(&flat, &tree);
	pm_report_tree_free(&tree);
	if (err)
		goto out;
	for (uint32_t n = 1; !err && n < flat.node_count; n++)
		err = region_add(data, &flat, n, &how);
	if (!err)
		err = total_add(data, &flat, outer, events);
	regions = calloc(flat.node_count, sizeof(*regions));
	if (!err && !regions)
		err = -ENOMEM;
	for (uint32_t n = 1; !err && n < flat.node_count; n++)
		err = region_number(data, pm_report_name(&flat, n), &regions[n]);
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

int diff_load(struct diff_data *data, uint32_t side, const char *path, bool inclusive,
	      struct pm_diag *diag)
{
	struct pm_profile_file *opened;
	struct pm_snapshot *snapshot;
	struct diff_file *file;
	int err = pm_profile_file_open(path, &opened, diag);

	if (err)
		return err;
	err = pm_profile_file_snapshot(opened, &snapshot, diag);
	pm_profile_file_close(opened);
	if (err)
		return err;
	if (!GROW(data->files, data->file_count, data->file_room)) {
		err = -ENOMEM;
		goto out;
	}
	file = &data->files[data->file_count];
	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (!file->path) {
		err = -ENOMEM;
		goto out;
	}
	data->file_count++;
	file->side = side;
	file->header = snapshot->header;
	file->ended = snapshot->header.state == PERFMON_PROFILE_STATE_ENDED;
	file->partial = snapshot->partial;
	file->ticks = !(snapshot->tick_ns > 0);
	file->exact = pm_report_is_exact(snapshot);
	file->empty = !snapshot->thread_count;
	err = snapshot_add(data, side, snapshot, inclusive);
out:
	pm_snapshot_free(snapshot);
	return err == -ENOMEM ? pm_diag_set(diag, err, "%s: no memory", path) : err;
}

/* The file of the process that FILE's was forked from, or FILE itself. */
static const struct diff_file *ancestor(const struct diff_data *data,
					const struct diff_file *file)
{
	for (uint32_t i = 0; file->header.parent_pid && i < data->file_count; i++) {
		const struct diff_file *other = &data->files[i];

		/* Older ones only, so that there is an end to it. */
		if (other->side == file->side &&
		    other->header.pid == file->header.parent_pid &&
		    other->header.start_time == file->header.parent_start_time &&
		    other->header.begin_realtime_ns < file->header.begin_realtime_ns &&
		    !strcmp(other->header.boot_id, file->header.boot_id))
			return ancestor(data, other);
	}
	return file;
}

/* How many processes of FILE's side and rank began before it. */
static uint32_t place(const struct diff_data *data, const struct diff_file *file,
		      bool ranks)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < data->file_count; i++) {
		const struct diff_file *other = &data->files[i];

		if (other->side != file->side || ancestor(data, other) != other ||
		    (ranks && other->header.rank != file->header.rank))
			continue;
		before += other->header.begin_realtime_ns <
				  file->header.begin_realtime_ns ||
			  (other->header.begin_realtime_ns ==
				   file->header.begin_realtime_ns &&
			   other < file);
	}
	return before;
}

/* Whether the files of SIDE are of several ranks; -EINVAL if some have none. */
static int side_ranks(const struct diff_data *data, uint32_t side, struct pm_diag *diag)
{
	bool several = false;
	int32_t first = INT32_MIN;

	for (uint32_t i = 0; i < data->file_count; i++) {
		const struct diff_file *file = &data->files[i];

		if (file->side != side || ancestor(data, file) != file)
			continue;
		if (first == INT32_MIN)
			first = file->header.rank;
		several |= file->header.rank != first;
		if (several && (first < 0 || file->header.rank < 0))
			return pm_diag_set(diag, -EINVAL,
					   "%s: some profiles have an MPI rank and some "
					   "have none: these are not repeated runs",
					   side ? "B" : "A");
	}
	return several;
}

/* A run is a process and those that it forked, and of a parallel program the processes of
 * all ranks: the n-th that each rank began. */
static int side_runs(struct diff_data *data, uint32_t side, struct pm_diag *diag)
{
	int ranks = side_ranks(data, side, diag);

	if (ranks < 0)
		return ranks;
	data->runs[side] = 0;
	for (uint32_t i = 0; i < data->file_count; i++) {
		struct diff_file *file = &data->files[i];

		if (file->side != side)
			continue;
		file->run = place(data, ancestor(data, file), ranks);
		if (file->run >= data->runs[side])
			data->runs[side] = file->run + 1;
	}
	for (uint32_t i = 0; ranks && i < data->file_count; i++) {
		const struct diff_file *file = &data->files[i];
		uint32_t runs = 0;

		for (uint32_t o = 0; o < data->file_count; o++)
			runs += data->files[o].side == side &&
				data->files[o].header.rank == file->header.rank &&
				ancestor(data, &data->files[o]) == &data->files[o];
		if (file->side == side && runs != data->runs[side])
			return pm_diag_set(diag, -EINVAL,
					   "%s: rank %d has %u profiles, another has %u: "
					   "a run needs one profile of each rank",
					   side ? "B" : "A", file->header.rank, runs,
					   data->runs[side]);
	}
	return 0;
}

/* Exact counts and those of a machine are never compared, nor are they runs of one side. */
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

int diff_load_end(struct diff_data *data, struct pm_diag *diag)
{
	int err = check_exact(data, diag) ?: side_runs(data, 0, diag);

	return err ? err : side_runs(data, 1, diag);
}

static void name_free(void *name)
{
	free(((struct name *)name)->text);
	free(name);
}

void diff_data_free(struct diff_data *data)
{
	for (uint32_t i = 0; i < data->file_count; i++)
		free(data->files[i].path);
	for (uint32_t e = 0; e < data->event_count; e++)
		free(data->events[e].name);
	for (uint32_t i = 0; i < data->input_count; i++)
		free(data->inputs[i].values);
	tdestroy(data->region_tree, name_free);
	free(data->inputs);
	free(data->files);
	free(data->regions);
	free(data->events);
	free(data->entries);
	memset(data, 0, sizeof(*data));
}

const char *diff_region(const struct diff_data *data, uint32_t region)
{
	return region == DIFF_TOTAL ? "(total)" : data->regions[region];
}

const char *diff_quantity(const struct diff_data *data, uint32_t quantity)
{
	return quantity == DIFF_TIME	 ? "time"
	       : quantity == DIFF_VISITS ? "visits"
					 : data->events[quantity - DIFF_EVENT].name;
}
