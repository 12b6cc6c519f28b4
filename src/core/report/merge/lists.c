/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of processes. Few of them have more than one stretch, however many processes there are. */
#include <errno.h>

#include "core/report/merge/parts.h"
#include "core/text/grow.h"

int pm_merge_list_add(struct pm_merge_list *list, uint32_t first, uint32_t last)
{
	struct pm_merge_stretch *end =
		list->stretches ? &list->at[list->stretches - 1] : NULL;

	if (end && first == end->last + 1) {
		end->last = last;
	} else {
		if (!PM_GROW(list->at, list->stretches))
			return -ENOMEM;
		list->at[list->stretches++] =
			(struct pm_merge_stretch){first, last, list->count};
	}
	list->count += last - first + 1;
	return 0;
}

int pm_merge_list_join(struct pm_merge_list *list, const struct pm_merge_list *other,
		       uint32_t shift)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < other->stretches; i++)
		err = pm_merge_list_add(list, other->at[i].first + shift,
					other->at[i].last + shift);
	return err;
}

/* Returns the last stretch of LIST, which is not empty, that begins at NUMBER or before it: a process,
 * or with INDEX a place in the list. */
static const struct pm_merge_stretch *stretch_of(const struct pm_merge_list *list,
						 uint32_t number, bool index)
{
	uint32_t low = 0, high = list->stretches;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if ((index ? list->at[middle].before : list->at[middle].first) <= number)
			low = middle;
		else
			high = middle;
	}
	return &list->at[low];
}

uint32_t pm_merge_list_at(const struct pm_merge_list *list, uint32_t index)
{
	const struct pm_merge_stretch *stretch = stretch_of(list, index, true);

	return stretch->first + (index - stretch->before);
}

bool pm_merge_list_has(const struct pm_merge_list *list, uint32_t process)
{
	const struct pm_merge_stretch *stretch;

	if (!list->stretches)
		return false;
	stretch = stretch_of(list, process, false);
	return process >= stretch->first && process <= stretch->last;
}
