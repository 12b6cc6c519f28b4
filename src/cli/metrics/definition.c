/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/metrics/definition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/text/grow.h"

int metric_definition_add(struct metric_definitions *all, const char *name,
			  struct pm_slice expression, const char *scale_unit)
{
	struct metric_definition *metric;

	if (!PM_GROW(all->metrics, all->count))
		return -ENOMEM;
	metric = &all->metrics[all->count++];
	metric->name = strdup(name);
	metric->expression = pm_slice_copy(expression);
	metric->scale_unit = scale_unit ? strdup(scale_unit) : NULL;
	metric->is = METRIC_UNREAD;
	return metric->name && metric->expression && (!scale_unit || metric->scale_unit)
		       ? 0
		       : -ENOMEM;
}

int metric_encoding_add(struct metric_definitions *all, const char *name,
			struct pm_slice event)
{
	struct metric_encoding *encoding;

	if (!PM_GROW(all->encodings, all->encoding_count))
		return -ENOMEM;
	encoding = &all->encodings[all->encoding_count++];
	encoding->name = strdup(name);
	encoding->event = pm_slice_copy(event);
	return encoding->name && encoding->event ? 0 : -ENOMEM;
}

struct metric_definition *metric_definition_find(const struct metric_definitions *all,
						 const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcasecmp(all->metrics[i].name, name))
			return &all->metrics[i];
	return NULL;
}

const char *metric_encoding_find(const struct metric_definitions *all, const char *name,
				 size_t length)
{
	for (size_t i = 0; i < all->encoding_count; i++)
		if (!strncasecmp(all->encodings[i].name, name, length) &&
		    !all->encodings[i].name[length])
			return all->encodings[i].event;
	return NULL;
}

void metric_definitions_free(struct metric_definitions *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->metrics[i].name);
		free(all->metrics[i].expression);
		free(all->metrics[i].scale_unit);
	}
	for (size_t i = 0; i < all->encoding_count; i++) {
		free(all->encodings[i].name);
		free(all->encodings[i].event);
	}
	free(all->metrics);
	free(all->encodings);
}
