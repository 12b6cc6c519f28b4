/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/variables.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/text.h"

/* A copy of the list NAME; NULL: there is none, or it is bad, or no memory. */
static char *list_read(struct pm_options *options, const char *name, int *err)
{
	const char *value = pm_variable(name);
	struct pm_slice rest = {value, value ? strlen(value) : 0};

	while (rest.at) {
		if (pm_slice_trim(pm_slice_cut(rest, ',', &rest)).length)
			continue;
		pm_options_note(options,
				"%s=\"%.*s\" has an empty item: expects names of "
				"regions, or patterns with * and ?, with ',' between",
				name, PM_QUOTED(value));
		return NULL;
	}
	return pm_variable_copy(name, err);
}

/* Reads "500ns", "1.5 us", ...; returns 0 for what is no such time. */
static double time_read(const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char number[40];
	size_t length = strspn(text, "0123456789.");
	struct pm_slice unit = pm_slice_trim(pm_slice_of(text + length));
	double value;

	if (!length || length >= sizeof(number))
		return 0;
	memcpy(number, text, length);
	number[length] = '\0';
	if (pm_text_double(number, &value))
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (pm_slice_is(unit, units[i].name))
			return value * units[i].ns;
	return 0;
}

static void min_mean_read(struct pm_options *options)
{
	const char *value = pm_variable("PERFMON_MIN_MEAN");

	if (!value)
		return;
	options->min_mean_ns = time_read(value);
	if (options->min_mean_ns > 0)
		return;
	pm_options_note(options,
			"PERFMON_MIN_MEAN=\"%.*s\" is not a time, such as 500ns or 2us: "
			"all visits are measured",
			PM_QUOTED(value));
}

/* Between two marks of a step all visits have to be measured. */
static void steps_read(struct pm_options *options, int *err)
{
	options->steps = list_read(options, "PERFMON_STEPS", err);
	if (!options->steps || (!options->stride_count && options->stride_auto <= 0))
		return;
	pm_options_note(options,
			"PERFMON_STEPS cannot be combined with PERFMON_STRIDE, "
			"which does not measure every visit: steps are not kept");
	free(options->steps);
	options->steps = NULL;
}

void pm_options_read_filters(struct pm_options *options, int *err)
{
	options->only = list_read(options, "PERFMON_ONLY", err);
	options->skip = list_read(options, "PERFMON_SKIP", err);
	options->depth = (uint32_t)pm_variable_bounded(options, "PERFMON_DEPTH", 1,
						       PM_DEPTH_MAX, PM_DEPTH_MAX);
	min_mean_read(options);
	steps_read(options, err);
}

static bool is_in(const char *list, const char *name)
{
	struct pm_slice rest = pm_slice_of(list);

	while (rest.at)
		if (pm_slice_glob(pm_slice_trim(pm_slice_cut(rest, ',', &rest)), name))
			return true;
	return false;
}

bool pm_options_leave_out(const struct pm_options *options, const char *name)
{
	return (options->only && !is_in(options->only, name)) ||
	       (options->skip && is_in(options->skip, name));
}

bool pm_options_has_steps(const struct pm_options *options, const char *name)
{
	return options->steps && is_in(options->steps, name);
}

bool pm_options_filter(const struct pm_options *options)
{
	return options->only || options->skip || options->depth < PM_DEPTH_MAX ||
	       options->min_mean_ns > 0;
}
