/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/by.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/grow.h"
#include "core/text/text.h"

void by_free(struct by *by)
{
	cli_texts_free(&by->regions);
	for (uint32_t i = 0; i < by->value_count; i++)
		free(by->values[i].cells);
	free(by->values);
}

/* Returns the number of the value TEXT, which is added if need be, or UINT32_MAX without memory. */
static uint32_t value_number(struct by *by, const char *text)
{
	for (uint32_t i = 0; i < by->value_count; i++)
		if (!strcmp(by->values[i].text, text))
			return i;
	if (!PM_GROW(by->values, by->value_count))
		return UINT32_MAX;
	by->values[by->value_count] = (struct by_value){.processes = 0};
	strcpy(by->values[by->value_count].text, text);
	return by->value_count++;
}

static struct by_cell *cell_of(struct by_value *value, uint32_t region)
{
	uint32_t room = value->room ? value->room : 16;
	struct by_cell *cells;

	while (room <= region)
		room *= 2;
	if (room == value->room)
		return &value->cells[region];
	cells = reallocarray(value->cells, room, sizeof(*cells));
	if (!cells)
		return NULL;
	memset(cells + value->room, 0, (room - value->room) * sizeof(*cells));
	value->cells = cells;
	value->room = room;
	return &cells[region];
}

/* Returns the value of region N of the flat TREE. Of visits that are open it has what is inside. */
static struct pm_value value_of(const struct by *by, const struct pm_report_tree *tree,
				uint32_t n)
{
	const struct pm_path_times *times = &pm_path(tree, n)->times;
	const struct pm_snapshot *s = tree->model->snapshot;
	struct pm_value value;

	if (by->exact) {
		value = pm_report_count(tree, n, 0, false);
		value.value *= tree->model->events[0].first->scale;
		value.error *= tree->model->events[0].first->scale;
		return value;
	}
	value = pm_report_time(tree, n, false);
	if (times->least && pm_path_is_open(tree, n)) {
		value.value = (double)times->least;
		value.state = PM_COUNTED;
	}
	value.value = pm_snapshot_ns(s, value.value);
	value.error = pm_snapshot_ns(s, value.error);
	return value;
}

static int tree_add(struct by *by, struct by_value *to, const struct pm_report_tree *tree)
{
	for (uint32_t n = 1; n < tree->node_count; n++) {
		struct pm_value value = value_of(by, tree, n);
		const struct cli_text *region =
			cli_texts_add(&by->regions, 0, pm_path_name(tree, n));
		struct by_cell *cell = region ? cell_of(to, region->number + 1) : NULL;

		if (!cell)
			return -ENOMEM;
		if (value.state != PM_COUNTED) {
			cell->unknown++;
			continue;
		}
		cell->sum += value.value;
		cell->error += value.error * value.error;
		cell->marks |= value.marks;
	}
	to->processes++;
	return 0;
}

/* Checks that the values of MODEL can stand beside those before. */
static int check(struct by *by, const struct pm_report_model *model, struct pm_diag *diag)
{
	const char *event = model->exact ? model->events[0].name : "";

	if (!model->exact && model->snapshot->tick_ns <= 0)
		return pm_diag_set(diag, -EINVAL, "the profile has no tick rate");
	if (!by->any) {
		by->any = true;
		by->exact = model->exact;
		strcpy(by->event, event);
		if (by->exact)
			strcpy(by->unit, model->events[0].first->unit);
	}
	if (by->exact != model->exact)
		return pm_diag_set(
			diag, -EINVAL,
			"counted %s, and the profiles before it %s: they are not "
			"compared",
			model->exact ? "exactly by translation" : "by the machine",
			model->exact ? "by the machine" : "exactly by translation");
	if (strcmp(by->event, event) != 0)
		return pm_diag_set(diag, -EINVAL,
				   "its first event is %s, and that of the profiles "
				   "before it %s: they are not compared",
				   event, by->event);
	return 0;
}

static int model_add(struct by *by, const struct pm_report_model *model,
		     const char *value)
{
	struct pm_report_tree tree, flat = {.node_count = 0};
	int err = pm_report_tree_make(&tree, model, NULL, 0)
			  ?: pm_report_tree_flatten(&flat, &tree);
	uint32_t number = err ? 0 : value_number(by, value);

	if (!err)
		err = number == UINT32_MAX ? -ENOMEM
					   : tree_add(by, &by->values[number], &flat);
	pm_report_tree_free(&flat);
	pm_report_tree_free(&tree);
	return err;
}

int by_add(struct by *by, const struct pm_snapshot *snapshot, struct pm_diag *diag)
{
	const struct pm_run_note *note =
		pm_run_note_find(snapshot->run_notes, pm_slice_of(by->key));
	struct pm_report_model model;
	int err;

	if (!note)
		return -ENODATA;
	err = pm_report_model_make(&model, snapshot, by->subtract_bias, NULL);
	if (err)
		return pm_diag_set(diag, err, "out of memory");
	err = check(by, &model, diag);
	if (!err && model_add(by, &model, note->value))
		err = pm_diag_set(diag, -ENOMEM, "out of memory");
	pm_report_model_free(&model);
	return err;
}

static int as_numbers(const void *a, const void *b)
{
	const struct by_value *x = a, *y = b;

	return x->number < y->number   ? -1
	       : x->number > y->number ? 1
				       : strcmp(x->text, y->text);
}

static int as_texts(const void *a, const void *b)
{
	return strcmp(((const struct by_value *)a)->text,
		      ((const struct by_value *)b)->text);
}

void by_end(struct by *by)
{
	bool numbers = true;

	for (uint32_t i = 0; numbers && i < by->value_count; i++)
		numbers = !pm_text_double(by->values[i].text, &by->values[i].number);
	if (by->value_count)
		qsort(by->values, by->value_count, sizeof(*by->values),
		      numbers ? as_numbers : as_texts);
}

struct pm_value by_mean(const struct by_value *value, uint32_t region)
{
	static const struct by_cell none;
	const struct by_cell *cell = region < value->room ? &value->cells[region] : &none;
	double known = (double)(value->processes - cell->unknown);

	if (known <= 0)
		return (struct pm_value){.state = PM_NOT_COUNTED};
	return (struct pm_value){
		.state = PM_COUNTED,
		.value = cell->sum / known,
		.error = sqrt(cell->error) / known,
		.coverage = 1,
		/* As of a process whose visits have not ended. */
		.marks = cell->marks | (cell->unknown ? PM_MARK_IN_FLIGHT : 0),
	};
}
