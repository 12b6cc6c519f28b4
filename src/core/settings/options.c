/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/kernel/files.h"
#include "core/text/grow.h"
#include "core/text/text.h"
#include "core/settings/run_note.h"
#include "core/settings/variables.h"

static void sampling_read(struct pm_options *options)
{
	uint64_t most = PM_CALL_DEPTH_DEFAULT, pages, power = PM_SAMPLE_PAGES_MAX;
	int64_t limit;

	pages = pm_variable_bounded(options, "PERFMON_SAMPLE_PAGES", PM_SAMPLE_PAGES_MIN,
				    PM_SAMPLE_PAGES_MAX, PM_SAMPLE_PAGES_DEFAULT);
	while (power > pages)
		power /= 2;
	if (power != pages)
		pm_options_note(options,
				"PERFMON_SAMPLE_PAGES=\"%" PRIu64
				"\" is not a power of two: using %" PRIu64,
				pages, power);
	options->sample_pages = (uint32_t)power;
	/* Not for nothing: this is on the way to the first region. */
	if (pm_variable("PERFMON_CALL_DEPTH") &&
	    !pm_file_number("/proc/sys/kernel/perf_event_max_stack", &limit) &&
	    limit >= PM_CALL_DEPTH_MIN)
		most = limit < PM_CALL_DEPTH_MAX ? (uint64_t)limit : PM_CALL_DEPTH_MAX;
	options->call_depth = (uint32_t)pm_variable_bounded(
		options, "PERFMON_CALL_DEPTH", PM_CALL_DEPTH_MIN, most,
		most < PM_CALL_DEPTH_DEFAULT ? most : PM_CALL_DEPTH_DEFAULT);
	options->min_period =
		pm_variable_bounded(options, "PERFMON_MIN_PERIOD", PM_MIN_PERIOD_MIN,
				    PM_MIN_PERIOD_MAX, PM_MIN_PERIOD_DEFAULT);
}

/* The rank is the first that is a number. */
static void rank_read(struct pm_options *options)
{
	static const struct {
		const char *rank, *size;
	} launchers[] = {
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
		{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
		{"PMI_RANK", "PMI_SIZE"},
		{"PMIX_RANK", "PMIX_SIZE"},
		{"SLURM_PROCID", "SLURM_NTASKS"},
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		if (!pm_variable_number(launchers[i].rank, &options->rank))
			continue;
		if (!pm_variable_number(launchers[i].size, &options->ranks))
			options->ranks = 0;
		return;
	}
}

const char *pm_options_events(void)
{
	const char *value = pm_variable("PERFMON_EVENTS");

	return value && strcasecmp(value, "auto") != 0 && strcasecmp(value, "none") != 0
		       ? value
		       : NULL;
}

const char *pm_options_groups(void)
{
	return pm_variable("PERFMON_GROUP");
}

static void events_read(struct pm_options *options, int *err)
{
	const char *value = pm_variable("PERFMON_EVENTS");

	options->events_none = value && !strcasecmp(value, "none");
	if (pm_options_events())
		options->events = pm_variable_copy("PERFMON_EVENTS", err);
	options->events_auto = !options->events_none && !options->events;
}

static int stride_add(struct pm_options *options, struct pm_slice item)
{
	const char *equals = memrchr(item.at, '=', item.length);
	struct pm_slice name = {NULL, 0}, number = item;
	struct pm_option_stride *more;
	uint64_t stride;

	if (equals) { /* the last: a name may have one, too */
		size_t length = (size_t)(equals - item.at);

		name = pm_slice_trim((struct pm_slice){item.at, length});
		number = pm_slice_trim(
			(struct pm_slice){equals + 1, item.length - length - 1});
	}
	if ((name.at && !name.length) || pm_slice_number(number, &stride) || !stride ||
	    stride > PM_STRIDE_MAX)
		return -EINVAL;
	if (!PM_GROW(options->strides, options->stride_count))
		return -ENOMEM;
	more = &options->strides[options->stride_count];
	more->stride = (uint32_t)stride;
	more->name = name.at ? pm_slice_copy(name) : NULL;
	if (name.at && !more->name)
		return -ENOMEM;
	options->stride_count++;
	return 0;
}

/* The share of the time that auto lets measuring take. */
#define AUTO_SHARE 0.05

/* "auto", or "auto:2%": -EINVAL if it is neither. */
static int stride_auto(struct pm_options *options, struct pm_slice item)
{
	struct pm_slice share, word = pm_slice_trim(pm_slice_cut(item, ':', &share));
	uint64_t number;

	if (!pm_slice_is(word, "auto"))
		return -EINVAL;
	if (!share.at) {
		options->stride_auto = AUTO_SHARE;
		return 0;
	}
	share = pm_slice_trim(share);
	if (share.length < 2 || share.at[share.length - 1] != '%')
		return -EINVAL;
	share.length--;
	if (pm_slice_number(share, &number) || !number || number > 50)
		return -EINVAL;
	options->stride_auto = (double)number / 100;
	return 0;
}

static void strides_free(struct pm_options *options)
{
	for (uint32_t i = 0; i < options->stride_count; i++)
		free(options->strides[i].name);
	free(options->strides);
	options->strides = NULL;
	options->stride_count = 0;
}

/* Every visit of every region is measured: then there is no stride, which would cost its part of each
 * visit. */
static bool strides_are_one(const struct pm_options *options)
{
	for (uint32_t i = 0; i < options->stride_count; i++)
		if (options->strides[i].stride != 1)
			return false;
	return options->stride_auto <= 0;
}

static void stride_read(struct pm_options *options, int *err)
{
	const char *value = pm_variable("PERFMON_STRIDE");
	struct pm_slice rest = {value, value ? strlen(value) : 0};

	while (rest.at) {
		struct pm_slice item = pm_slice_trim(pm_slice_cut(rest, ',', &rest));
		int bad = stride_auto(options, item);

		if (bad)
			bad = stride_add(options, item);
		if (bad == -ENOMEM)
			*err = bad;
		else if (bad)
			pm_options_note(options,
					"PERFMON_STRIDE: \"%s\" is ignored: expects a "
					"number from 1 to %u, NAME=NUMBER, auto, or a "
					"share of the time from auto:1%% to auto:50%%",
					pm_slice_quote(item).text, PM_STRIDE_MAX);
	}
	if (strides_are_one(options))
		strides_free(options);
}

static void run_notes_read(struct pm_options *options, int *err)
{
	struct pm_slice rest, item, key, value;
	uint32_t count = 0;

	options->run_notes = pm_variable_copy("PERFMON_NOTE", err);
	rest = pm_slice_of(options->run_notes ?: "");
	while (pm_run_note_next(&rest, &item, &key, &value)) {
		if (!pm_run_note_is_good(key, value))
			pm_options_note(
				options,
				"PERFMON_NOTE: \"%s\" is ignored: " PM_RUN_NOTE_RULE,
				pm_slice_quote(item).text);
		else if (count++ == PM_RUN_NOTES)
			pm_options_note(options,
					"PERFMON_NOTE: \"%s\" and what follows is "
					"ignored: a run has %d notes at most",
					pm_slice_quote(item).text, PM_RUN_NOTES);
	}
}

/* The last that names the region, or else the last for all. */
uint32_t pm_options_stride(const struct pm_options *options, const char *name)
{
	uint32_t stride = options->stride_auto > 0 ? 0 : 1;

	for (uint32_t i = 0; i < options->stride_count; i++)
		if (!options->strides[i].name)
			stride = options->strides[i].stride;
	for (uint32_t i = 0; i < options->stride_count; i++)
		if (options->strides[i].name && !strcmp(options->strides[i].name, name))
			stride = options->strides[i].stride;
	return stride;
}

static uint32_t hash_byte(uint32_t hash, unsigned int byte)
{
	return (hash ^ (byte & 255)) * 16777619u;
}

uint32_t pm_options_stride_hash(const struct pm_options *options)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < options->stride_count; i++) {
		const struct pm_option_stride *stride = &options->strides[i];

		for (const char *c = stride->name ? stride->name : ""; *c; c++)
			hash = hash_byte(hash, (unsigned char)*c);
		hash = hash_byte(hash, stride->name != NULL);
		for (int shift = 0; shift < 32; shift += 8)
			hash = hash_byte(hash, stride->stride >> shift);
	}
	return hash_byte(hash, (unsigned int)(options->stride_auto * 100 + 0.5));
}

void pm_options_default(struct pm_options *options)
{
	*options = (struct pm_options){
		.events_auto = true,
		.output = PM_OUTPUT_STDERR,
		.format = PM_FORMAT_TEXT,
		.arm = true,
		.arguments = true,
		.depth = PM_DEPTH_MAX,
		.sample_pages = PM_SAMPLE_PAGES_DEFAULT,
		.call_depth = PM_CALL_DEPTH_DEFAULT,
		.min_period = PM_MIN_PERIOD_DEFAULT,
		.rank = -1,
	};
}

int pm_options_read(struct pm_options *options, struct pm_diag *diag)
{
#define NAME(constant, name, suffix, writer, text) name,
	static const char *const formats[] = {PM_FORMATS_ALL(NAME) ""};
#undef NAME
	static const char *const threads[] = {"fold", "keep", ""};
	static const char *const bias[] = {"keep", "subtract", ""};
	int err = 0;

	pm_options_default(options);
	pm_variables_check(options);
	rank_read(options);
	events_read(options, &err);
	options->format = (enum pm_format)pm_variable_choice(options, "PERFMON_FORMAT",
							     formats, PM_FORMAT_TEXT);
	pm_options_read_output(options, &err);
	pm_options_read_profile(options, &err);
	options->level = pm_variable_copy("PERFMON_LEVEL", &err);
	options->keep_threads =
		pm_variable_choice(options, "PERFMON_THREADS", threads, 0);
	options->subtract_bias = pm_variable_choice(options, "PERFMON_BIAS", bias, 0);
	options->top =
		(uint32_t)pm_variable_bounded(options, "PERFMON_TOP", 0, UINT32_MAX, 0);
	options->metrics = pm_variable_copy("PERFMON_METRICS", &err);
	options->groups = pm_variable_copy("PERFMON_GROUP", &err);
	stride_read(options, &err);
	pm_options_read_filters(options, &err);
	run_notes_read(options, &err);
	options->arm = pm_variable_truth(options, "PERFMON_ARM", true);
	options->fence = pm_variable_truth(options, "PERFMON_FENCE", false);
	options->arguments = pm_variable_truth(options, "PERFMON_ARGUMENTS", true);
	options->debug = pm_variable_truth(options, "PERFMON_DEBUG", false);
	sampling_read(options);
	if (err)
		pm_diag_set(diag, err, "no memory for an environment variable");
	return err;
}

void pm_options_free(struct pm_options *options)
{
	if (!options)
		return;
	free(options->events);
	free(options->metrics);
	free(options->groups);
	free(options->run_notes);
	strides_free(options);
	free(options->only);
	free(options->skip);
	free(options->steps);
	free(options->output_path);
	free(options->output_whole);
	free(options->profile_path);
	free(options->level);
	for (uint32_t i = 0; i < options->note_count; i++)
		free(options->notes[i]);
	pm_options_default(options);
}

/* Takes the note about the value on trial, without the part that says what is used instead. */
static int refused(const struct pm_options *tried, struct pm_diag *diag)
{
	const char *note = tried->notes[0], *instead = strstr(note, ": using ");
	int length = (int)(instead ? (size_t)(instead - note) : strlen(note));

	return pm_diag_set(diag, -EINVAL, "%.*s", length, note);
}

int pm_setting_check(const char *name, const char *value, struct pm_diag *diag)
{
	struct pm_suggestion like;
	struct pm_options tried;
	int number = pm_setting_find(name, strcasecmp, &like), err;

	if (number < 0)
		return pm_diag_set(diag, number,
				   "'%s' is not a setting of libperfmon%s%s%s",
				   pm_slice_quote(pm_slice_of(name)).text,
				   *like.best ? ": did you mean " : "", like.best,
				   *like.best ? "?" : "");
	pm_setting_try(number, value);
	err = pm_options_read(&tried, diag);
	pm_setting_try(number, NULL);
	if (!err && tried.note_count)
		err = refused(&tried, diag);
	pm_options_free(&tried);
	return err ?: number;
}
