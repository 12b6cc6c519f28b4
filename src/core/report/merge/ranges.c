/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How each quantity of each path differs between processes. What a process contributes is
 * taken from a report of it alone, so that it is scaled and marked as there. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/report/model/value.h"
#include "core/text/grow.h"

/* Gives each path room for WIDTH quantities, and there is room for ROOM paths (not 0). */
static int resize(struct pm_merge_ranges *ranges, uint32_t room, uint32_t width)
{
	size_t size = (size_t)room * width * sizeof(struct pm_merge_cell) + 1;
	struct pm_merge_cell *cells = size <= PM_MERGE_BYTES ? malloc(size) : NULL;
	struct pm_merge_path *path = realloc(ranges->path, room * sizeof(*path));

	if (path)
		ranges->path = path;
	if (!cells || !path) {
		free(cells);
		return -ENOMEM;
	}
	for (size_t i = 0; i < (size_t)room * width; i++) {
		size_t number = i / width, quantity = i % width;

		if (number < ranges->count && quantity < ranges->width)
			cells[i] = ranges->cells[number * ranges->width + quantity];
		else
			cells[i] = (struct pm_merge_cell){.absent = PM_MERGE_NONE};
	}
	free(ranges->cells);
	ranges->cells = cells;
	ranges->room = room;
	ranges->width = width;
	return 0;
}

int pm_merge_number(struct pm_merge *merge, struct pm_merge_ranges *ranges,
		    uint32_t parent, uint32_t region, uint32_t *number)
{
	int err;

	if (ranges->count == ranges->room) {
		err = resize(ranges, ranges->room ? 2 * ranges->room : 64,
			     PM_RANGE_EVENTS + merge->event_count);
		if (err)
			return err;
		/* The root, which is above all of them. */
		if (!ranges->count)
			ranges->path[ranges->count++] = (struct pm_merge_path){0};
	}
	err = pm_pairs_get(&ranges->numbers, parent, region, ranges->count, number);
	if (!err && *number == ranges->count)
		ranges->path[ranges->count++] = (struct pm_merge_path){parent, region};
	return err;
}

static uint32_t quantity_of(const struct pm_merge *merge, const char *name,
			    const char *unit, double scale)
{
	uint32_t e;

	for (e = 0; e < merge->event_count; e++) {
		const struct pm_merge_event *known = &merge->events[e];

		if (!strcmp(known->name, name) && !strcmp(known->unit, unit) &&
		    known->scale == scale)
			break;
	}
	return PM_RANGE_EVENTS + e;
}

uint32_t pm_merge_quantity(const struct pm_merge *merge, bool flat,
			   const struct pm_report_event *event)
{
	if (!event)
		return flat ? PM_RANGE_EXCLUSIVE : PM_RANGE_TIME;
	return quantity_of(merge, event->name, event->first->unit, event->first->scale);
}

/* The quantity of the event NAME in SCALE of UNIT. */
static int event_get(struct pm_merge *merge, const char *name, const char *unit,
		     double scale, uint32_t *quantity)
{
	struct pm_merge_event *own;

	*quantity = quantity_of(merge, name, unit, scale);
	if (*quantity < PM_RANGE_EVENTS + merge->event_count)
		return 0;
	if (!PM_GROW(merge->events, merge->event_count))
		return -ENOMEM;
	own = &merge->events[merge->event_count++];
	memset(own, 0, sizeof(*own));
	snprintf(own->name, sizeof(own->name), "%s", name);
	snprintf(own->unit, sizeof(own->unit), "%s", unit);
	own->scale = scale;
	return 0;
}

const struct pm_merge_list *pm_merge_list_of(const struct pm_merge *merge,
					     uint32_t quantity)
{
	return quantity < PM_RANGE_EVENTS
		       ? &merge->everyone
		       : &merge->events[quantity - PM_RANGE_EVENTS].open;
}

uint32_t pm_merge_open_count(const struct pm_merge *merge, uint32_t quantity)
{
	return quantity < PM_RANGE_EVENTS + merge->event_count
		       ? pm_merge_list_of(merge, quantity)->count
		       : 0;
}

/* Returns the first process of LIST, renumbered by SHIFT, that does not have the path of CELL, or
 * PM_MERGE_NONE. */
static uint32_t absent_of(const struct pm_merge_cell *cell,
			  const struct pm_merge_list *list, uint32_t shift)
{
	uint32_t seen = cell->counted + cell->unknown;

	if (cell->absent != PM_MERGE_NONE)
		return cell->absent + shift;
	return seen < list->count ? pm_merge_list_at(list, seen) + shift : PM_MERGE_NONE;
}

/* Adds FROM, of processes that come behind those of CELL. */
static void cell_join(struct pm_merge_cell *cell, const struct pm_merge_list *list,
		      const struct pm_merge_cell *from,
		      const struct pm_merge_list *others, uint32_t shift)
{
	uint32_t absent = absent_of(cell, list, 0);

	cell->absent = absent != PM_MERGE_NONE ? absent : absent_of(from, others, shift);
	if (from->counted && (!cell->counted || from->min < cell->min)) {
		cell->min = from->min;
		cell->min_process = from->min_process + shift;
	}
	if (from->counted && (!cell->counted || from->max > cell->max)) {
		cell->max = from->max;
		cell->max_process = from->max_process + shift;
	}
	if (from->counted && (!cell->counted || from->coverage < cell->coverage))
		cell->coverage = from->coverage;
	cell->sum += from->sum;
	cell->error = fmaxf(cell->error, from->error);
	cell->marks |= from->marks;
	cell->counted += from->counted;
	cell->unknown += from->unknown;
}

/* Adds V of PROCESS, which comes next in LIST, in a unit of SCALE. */
static void cell_add(struct pm_merge_cell *cell, const struct pm_merge_list *list,
		     uint32_t process, const struct pm_value *v, double scale)
{
	static const struct pm_merge_list alone = {.count = 1};
	double value = v->value * scale;
	struct pm_merge_cell own = {.absent = PM_MERGE_NONE, .unknown = 1};

	if (v->state == PM_COUNTED)
		own = (struct pm_merge_cell){
			.absent = PM_MERGE_NONE,
			.counted = 1,
			.sum = value,
			.min = value,
			.max = value,
			.min_process = process,
			.max_process = process,
			.marks = v->marks,
			.coverage = (float)v->coverage,
			.error = v->error > 0 ? (float)(v->error / fabs(v->value)) : 0,
		};
	cell_join(cell, list, &own, &alone, 0);
}

/* A process, while its values are added. */
struct process {
	uint32_t number;
	double tick_ns;
	const uint32_t *region_map;
	const uint32_t *quantities; /* of its events */
};

static void node_add(struct pm_merge *merge, struct pm_merge_ranges *ranges,
		     uint32_t number, const struct process *process,
		     const struct pm_report_tree *tree, uint32_t n)
{
	struct pm_merge_cell *cells = &ranges->cells[(size_t)number * ranges->width];
	const struct pm_report_model *model = tree->model;

	for (uint32_t q = PM_RANGE_TIME; q < PM_RANGE_EVENTS; q++) {
		struct pm_value v = pm_report_time(tree, n, q == PM_RANGE_EXCLUSIVE);

		cell_add(&cells[q], &merge->everyone, process->number, &v,
			 process->tick_ns);
	}
	for (uint32_t e = 0; e < model->event_count; e++) {
		uint32_t q = process->quantities[e];
		struct pm_value v = pm_report_count(tree, n, e, tree->flat);

		if (model->events[e].user_read || model->events[e].syscall_read)
			cell_add(&cells[q], pm_merge_list_of(merge, q), process->number,
				 &v, 1);
	}
}

static int tree_add(struct pm_merge *merge, struct pm_merge_ranges *ranges,
		    const struct process *process, const struct pm_report_tree *tree)
{
	uint32_t *numbers = calloc(tree->node_count, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (uint32_t n = 1; !err && n < tree->node_count; n++) {
		err = pm_merge_number(merge, ranges, numbers[pm_path(tree, n)->parent],
				      process->region_map[pm_path(tree, n)->region],
				      &numbers[n]);
		if (!err)
			node_add(merge, ranges, numbers[n], process, tree, n);
	}
	free(numbers);
	return err;
}

/* Makes room for the events that are new. */
static int widen(struct pm_merge *merge)
{
	uint32_t width = PM_RANGE_EVENTS + merge->event_count;
	int err = 0;

	/* Where there is no path yet the first one brings the room. */
	if (merge->paths.room && merge->paths.width < width)
		err = resize(&merge->paths, merge->paths.room, width);
	if (!err && merge->regions.room && merge->regions.width < width)
		err = resize(&merge->regions, merge->regions.room, width);
	return err;
}

/* The quantities of MODEL's events, and room for them. */
static int quantities_get(struct pm_merge *merge, const struct pm_report_model *model,
			  uint32_t *quantities)
{
	int err = 0;

	for (uint32_t e = 0; !err && e < model->event_count; e++)
		err = event_get(merge, model->events[e].name,
				model->events[e].first->unit,
				model->events[e].first->scale, &quantities[e]);
	return err ?: widen(merge);
}

int pm_merge_values(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		    const uint32_t *region_map, uint32_t process, double tick_ns)
{
	struct process of = {
		.number = process, .tick_ns = tick_ns, .region_map = region_map};
	struct pm_report_tree tree = {.node_count = 0}, flat = {.node_count = 0};
	struct pm_report_model model;
	uint32_t *quantities;
	int err;

	err = pm_report_model_make(&model, snapshot, merge->subtract_bias, NULL);
	if (err)
		return err;
	quantities = malloc((model.event_count + 1) * sizeof(*quantities));
	err = quantities ? quantities_get(merge, &model, quantities) : -ENOMEM;
	of.quantities = quantities;
	err = err ?: pm_report_tree_make(&tree, &model, NULL, 0)
		  ?: tree_add(merge, &merge->paths, &of, &tree)
		  ?: pm_report_tree_flatten(&flat, &tree)
		  ?: tree_add(merge, &merge->regions, &of, &flat);
	pm_report_tree_free(&flat);
	pm_report_tree_free(&tree);
	/* From now on it is one of those that could have had a path. */
	for (uint32_t e = 0; !err && e < model.event_count; e++)
		if (model.events[e].user_read || model.events[e].syscall_read)
			err = pm_merge_list_add(
				&merge->events[quantities[e] - PM_RANGE_EVENTS].open,
				process, process);
	if (!err)
		err = pm_merge_list_add(&merge->everyone, process, process);
	free(quantities);
	pm_report_model_free(&model);
	return err;
}

/* Adds the ranges FROM, whose quantity Q is TO's quantity quantities[Q]. */
static int ranges_join(struct pm_merge *merge, struct pm_merge_ranges *to,
		       const struct pm_merge *other, const struct pm_merge_ranges *from,
		       const uint32_t *region_map, const uint32_t *quantities)
{
	uint32_t *numbers = calloc((size_t)from->count + 1, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (uint32_t n = 1; !err && n < from->count; n++) {
		uint32_t region = from->path[n].region;

		region = region_map[region & PM_NODE_REGION] | (region & ~PM_NODE_REGION);
		err = pm_merge_number(merge, to, numbers[from->path[n].parent], region,
				      &numbers[n]);
		for (uint32_t q = 0; !err && q < from->width; q++) {
			size_t at = (size_t)numbers[n] * to->width + quantities[q];

			cell_join(&to->cells[at], pm_merge_list_of(merge, quantities[q]),
				  &from->cells[(size_t)n * from->width + q],
				  pm_merge_list_of(other, q), merge->process_count);
		}
	}
	free(numbers);
	return err;
}

int pm_merge_values_join(struct pm_merge *merge, const struct pm_merge *other,
			 const uint32_t *region_map)
{
	uint32_t *quantities =
		malloc((PM_RANGE_EVENTS + other->event_count) * sizeof(*quantities));
	int err = quantities ? 0 : -ENOMEM;

	for (uint32_t q = 0; !err && q < PM_RANGE_EVENTS; q++)
		quantities[q] = q;
	for (uint32_t e = 0; !err && e < other->event_count; e++) {
		const struct pm_merge_event *event = &other->events[e];

		err = event_get(merge, event->name, event->unit, event->scale,
				&quantities[PM_RANGE_EVENTS + e]);
	}
	err = err
		      ?: widen(merge)
		      ?: ranges_join(merge, &merge->paths, other, &other->paths,
				     region_map, quantities)
		      ?: ranges_join(merge, &merge->regions, other, &other->regions,
				     region_map, quantities);
	for (uint32_t e = 0; !err && e < other->event_count; e++) {
		uint32_t own = quantities[PM_RANGE_EVENTS + e] - PM_RANGE_EVENTS;

		err = pm_merge_list_join(&merge->events[own].open, &other->events[e].open,
					 merge->process_count);
	}
	if (!err)
		err = pm_merge_list_join(&merge->everyone, &other->everyone,
					 merge->process_count);
	free(quantities);
	return err;
}

uint32_t *pm_merge_paths(const struct pm_merge *merge, const struct pm_report_tree *tree)
{
	uint32_t *paths = calloc(tree->node_count, sizeof(*paths));
	const struct pm_merge_ranges *ranges =
		tree->flat ? &merge->regions : &merge->paths;

	for (uint32_t n = 1; paths && n < tree->node_count; n++)
		paths[n] =
			pm_pairs_find(&ranges->numbers, paths[pm_path(tree, n)->parent],
				      pm_path(tree, n)->region, 0);
	return paths;
}

struct pm_range pm_merge_range(const struct pm_merge *merge, bool flat, uint32_t path,
			       uint32_t quantity)
{
	const struct pm_merge_ranges *ranges = flat ? &merge->regions : &merge->paths;
	struct pm_range range = {.imbalance = -1};
	const struct pm_merge_list *list;
	const struct pm_merge_cell *cell;
	uint32_t absent;

	if (!path || path >= ranges->count ||
	    quantity >= PM_RANGE_EVENTS + merge->event_count)
		return range;
	list = pm_merge_list_of(merge, quantity);
	cell = &ranges->cells[(size_t)path * ranges->width + quantity];
	range.of = list->count;
	range.present = cell->counted + cell->unknown;
	absent = range.of > range.present ? range.of - range.present : 0;
	range.counted = cell->counted;
	if (!range.counted)
		return range;
	range.marks = cell->marks;
	range.coverage = cell->coverage;
	range.error = cell->error;
	range.sum = cell->sum;
	range.mean = cell->sum / (range.counted + absent);
	range.min = cell->min;
	range.max = cell->max;
	range.min_process = cell->min_process;
	range.max_process = cell->max_process;
	if (absent) {
		uint32_t first = absent_of(cell, list, 0);

		if (cell->min > 0 || first < cell->min_process)
			range.min_process = first;
		range.min = 0;
	}
	if (range.mean > 0)
		range.imbalance = 100 * (range.max / range.mean - 1);
	return range;
}
