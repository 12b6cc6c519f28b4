/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/text.h"
#include "os/files.h"
#include "os/grow.h"
#include "os/kernel.h"

char *(*pm_options_getenv)(const char *name) = secure_getenv;

static const char *variable(const char *name)
{
	const char *value = pm_options_getenv(name);

	return value && *value ? value : NULL;
}

void pm_options_note(struct pm_options *options, const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	if (options->note_count == PM_OPTIONS_NOTES)
		return;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n >= 0)
		options->notes[options->note_count++] = text;
}

/* How much of a bad value a sentence quotes. */
#define QUOTED 200

/* The index of NAME's value in CHOICES ("" ends them), or FALLBACK with a note. */
static int choice(struct pm_options *options, const char *name,
		  const char *const *choices, int fallback)
{
	const char *value = variable(name);
	char known[128] = "";
	size_t used = 0;
	int i;

	if (!value)
		return fallback;
	for (i = 0; *choices[i]; i++) {
		if (!strcasecmp(value, choices[i]))
			return i;
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 i ? ", " : "", choices[i]);
	}
	pm_options_note(options, "%s=\"%.*s\" is not one of %s: using %s", name, QUOTED,
			value, known, choices[fallback]);
	return fallback;
}

static bool truth(struct pm_options *options, const char *name, bool fallback)
{
	static const char *const words[] = {"0", "1", ""};

	return choice(options, name, words, fallback);
}

/* NAME's value between MIN and MAX, or FALLBACK. Only decimal digits are a number. */
static uint64_t bounded(struct pm_options *options, const char *name, uint64_t min,
			uint64_t max, uint64_t fallback)
{
	const char *text = variable(name);
	uint64_t value, bound;
	int err;

	if (!text)
		return fallback;
	err = strspn(text, "0123456789") == strlen(text)
		      ? pm_slice_number(pm_slice_of(text), &value)
		      : -EINVAL;
	if (err == -EINVAL) {
		pm_options_note(options, "%s=\"%.*s\" is not a number: using %" PRIu64,
				name, QUOTED, text, fallback);
		return fallback;
	}
	if (!err && value >= min && value <= max)
		return value;
	bound = !err && value < min ? min : max;
	pm_options_note(options, "%s=\"%.*s\" is %s the bound: using %" PRIu64, name,
			QUOTED, text, bound == min ? "below" : "above", bound);
	return bound;
}

static void sampling_read(struct pm_options *options)
{
	uint64_t most = PM_CALL_DEPTH_DEFAULT, pages, power = PM_SAMPLE_PAGES_MAX;
	int64_t limit;

	pages = bounded(options, "PERFMON_SAMPLE_PAGES", PM_SAMPLE_PAGES_MIN,
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
	if (variable("PERFMON_CALL_DEPTH") &&
	    !pm_file_number("/proc/sys/kernel/perf_event_max_stack", &limit) &&
	    limit >= PM_CALL_DEPTH_MIN)
		most = limit < PM_CALL_DEPTH_MAX ? (uint64_t)limit : PM_CALL_DEPTH_MAX;
	options->call_depth = (uint32_t)bounded(
		options, "PERFMON_CALL_DEPTH", PM_CALL_DEPTH_MIN, most,
		most < PM_CALL_DEPTH_DEFAULT ? most : PM_CALL_DEPTH_DEFAULT);
	options->min_period = bounded(options, "PERFMON_MIN_PERIOD", PM_MIN_PERIOD_MIN,
				      PM_MIN_PERIOD_MAX, PM_MIN_PERIOD_DEFAULT);
}

static bool number(const char *name, int *value)
{
	const char *text = variable(name);
	char *end;
	long n;
	int saved = errno;

	if (!text)
		return false;
	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < 0 || n > INT32_MAX) {
		errno = saved;
		return false;
	}
	errno = saved;
	*value = (int)n;
	return true;
}

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
		if (!number(launchers[i].rank, &options->rank))
			continue;
		if (!number(launchers[i].size, &options->ranks))
			options->ranks = 0;
		return;
	}
}

/* A copy of PATH that a chdir() does not move. Without a working directory it stays
 * relative. NULL: no memory. */
static char *path_copy(const char *path)
{
	char directory[4096], *copy, *out;
	size_t used = 0;

	if (*path == '/' || pm_kernel_getcwd(directory, sizeof(directory)) < 0)
		return strdup(path);
	/* The directory becomes part of a template. */
	copy = malloc(2 * strlen(directory) + strlen(path) + 2);
	if (!copy)
		return NULL;
	for (out = directory; *out; out++) {
		if (*out == '%')
			copy[used++] = '%';
		copy[used++] = *out;
	}
	copy[used++] = '/';
	strcpy(copy + used, path);
	return copy;
}

/* The template in variable NAME, or NULL with a note why not. */
static char *path_read(struct pm_options *options, const char *name, const char *instead,
		       int *err)
{
	const char *value = variable(name);
	char expanded[4096], *copy;

	if (!value)
		return NULL;
	copy = path_copy(value);
	if (!copy) {
		*err = -ENOMEM;
		return NULL;
	}
	/* The longest pid, rank and host that may come. */
	switch (pm_options_expand(
		copy, INT32_MAX, INT32_MAX,
		"0123456789012345678901234567890123456789012345678901234567890123",
		expanded, sizeof(expanded))) {
	case -EINVAL:
		pm_options_note(
			options,
			"%s=\"%.*s\" has a %% other than %%p, %%r, %%h and %%%%: %s",
			name, QUOTED, value, instead);
		break;
	case -ENAMETOOLONG:
		pm_options_note(options, "%s=\"%.*s...\" is too long for a path: %s",
				name, QUOTED, value, instead);
		break;
	default:
		return copy;
	}
	free(copy);
	return NULL;
}

/* A folder gets a file for each rank, or process; and ranks do not share a file. */
static void profile_read(struct pm_options *options, int *err)
{
	char *path =
		path_read(options, "PERFMON_PROFILE", "the profile stays in memory", err);
	const char *name = "";
	bool apart = false;

	if (!path)
		return;
	for (const char *c = path; *c; c++)
		if (*c == '%' && *++c != '%')
			apart |= *c == 'r' || *c == 'p';
	if (path[strlen(path) - 1] == '/')
		name = options->rank >= 0 ? "perfmon.%r.profile" : "perfmon.%p.profile";
	else if (options->rank >= 0 && !apart)
		name = ".%r";
	if (asprintf(&options->profile_path, "%s%s", path, name) < 0) {
		options->profile_path = NULL;
		*err = -ENOMEM;
	}
	free(path);
}

static void output_read(struct pm_options *options, int *err)
{
	static const struct {
		const char *word;
		enum pm_output output;
	} words[] = {
		/* The paths are links into /proc, which an output file may not be. */
		{"stderr", PM_OUTPUT_STDERR}, {"/dev/stderr", PM_OUTPUT_STDERR},
		{"stdout", PM_OUTPUT_STDOUT}, {"/dev/stdout", PM_OUTPUT_STDOUT},
		{"none", PM_OUTPUT_NONE},     {"/dev/null", PM_OUTPUT_NONE},
	};
	static const char *const suffix[] = {
		[PM_FORMAT_TEXT] = "txt",
		[PM_FORMAT_FLAT] = "txt",
		[PM_FORMAT_JSON] = "json",
		[PM_FORMAT_CSV] = "csv",
	};
	const char *value = variable("PERFMON_OUTPUT");

	options->output_asked = value != NULL;
	if (value && strcasecmp(value, "auto") != 0) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (!strcmp(value, words[i].word)) {
				options->output = words[i].output;
				return;
			}
		}
		options->output_path = path_read(options, "PERFMON_OUTPUT",
						 "the report goes to stderr", err);
	} else if (options->rank >= 0) {
		char name[32];

		options->output_by_rank = true;
		snprintf(name, sizeof(name), "perfmon.%%r.%s", suffix[options->format]);
		options->output_path = path_copy(name);
		if (!options->output_path)
			*err = -ENOMEM;
	}
	if (options->output_path)
		options->output = PM_OUTPUT_PATH;
}

/* A copy of NAME's value; NULL: there is none, or no memory. */
static char *text_read(const char *name, int *err)
{
	const char *value = variable(name);
	char *copy = value ? strdup(value) : NULL;

	if (value && !copy)
		*err = -ENOMEM;
	return copy;
}

static void events_read(struct pm_options *options, int *err)
{
	const char *value = variable("PERFMON_EVENTS");

	if (!value || !strcasecmp(value, "auto"))
		return;
	options->events_none = !strcasecmp(value, "none");
	if (!options->events_none) {
		options->events = text_read("PERFMON_EVENTS", err);
		if (!options->events)
			return;
	}
	options->events_auto = false;
}

static int stride_add(struct pm_options *options, struct pm_slice item)
{
	struct pm_slice name = {NULL, 0}, number = item;
	struct pm_option_stride *more;
	uint64_t stride;

	/* A name may have a '=', too. */
	for (size_t i = 0; i < item.length; i++) {
		if (item.at[i] != '=')
			continue;
		name = pm_slice_trim((struct pm_slice){item.at, i});
		number = pm_slice_trim(
			(struct pm_slice){item.at + i + 1, item.length - i - 1});
	}
	if ((name.at && !name.length) || !number.length ||
	    !pm_char_is_digit(number.at[0]) || pm_slice_number(number, &stride) ||
	    !stride || stride > PM_STRIDE_MAX)
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

static void stride_read(struct pm_options *options, int *err)
{
	const char *value = variable("PERFMON_STRIDE");
	struct pm_slice rest = {value, value ? strlen(value) : 0};

	while (rest.at) {
		struct pm_slice item = pm_slice_trim(pm_slice_cut(rest, ',', &rest));
		int bad = stride_add(options, item);

		if (bad == -ENOMEM)
			*err = bad;
		else if (bad)
			pm_options_note(options,
					"PERFMON_STRIDE: \"%s\" is neither a number from "
					"1 to %u nor NAME=NUMBER: ignored",
					pm_slice_quote(item).text, PM_STRIDE_MAX);
	}
}

/* The last that names the region, or else the last for all. */
uint32_t pm_options_stride(const struct pm_options *options, const char *name)
{
	uint32_t stride = 1;

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
	return hash;
}

void pm_options_default(struct pm_options *options)
{
	*options = (struct pm_options){
		.events_auto = true,
		.output = PM_OUTPUT_STDERR,
		.format = PM_FORMAT_TEXT,
		.arm = true,
		.sample_pages = PM_SAMPLE_PAGES_DEFAULT,
		.call_depth = PM_CALL_DEPTH_DEFAULT,
		.min_period = PM_MIN_PERIOD_DEFAULT,
		.rank = -1,
	};
}

int pm_options_read(struct pm_options *options, struct pm_diag *diag)
{
	static const char *const formats[] = {"text", "flat", "json", "csv", ""};
	static const char *const threads[] = {"fold", "keep", ""};
	static const char *const bias[] = {"keep", "subtract", ""};
	int err = 0;

	pm_options_default(options);
	rank_read(options);
	events_read(options, &err);
	options->format = (enum pm_format)choice(options, "PERFMON_FORMAT", formats,
						 PM_FORMAT_TEXT);
	output_read(options, &err);
	profile_read(options, &err);
	options->level = text_read("PERFMON_LEVEL", &err);
	options->keep_threads = choice(options, "PERFMON_THREADS", threads, 0);
	options->subtract_bias = choice(options, "PERFMON_BIAS", bias, 0);
	options->metrics = text_read("PERFMON_METRICS", &err);
	stride_read(options, &err);
	options->arm = truth(options, "PERFMON_ARM", true);
	options->fence = truth(options, "PERFMON_FENCE", false);
	options->debug = truth(options, "PERFMON_DEBUG", false);
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
	for (uint32_t i = 0; i < options->stride_count; i++)
		free(options->strides[i].name);
	free(options->strides);
	free(options->output_path);
	free(options->profile_path);
	free(options->level);
	for (uint32_t i = 0; i < options->note_count; i++)
		free(options->notes[i]);
	pm_options_default(options);
}

int pm_options_expand(const char *template, int pid, int rank, const char *host,
		      char *buffer, size_t size)
{
	size_t used = 0;

	for (; *template; template ++) {
		char number_text[16], one[2] = {*template, '\0'};
		const char *part = one;
		bool is_host = false;

		if (*template == '%') {
			switch (*++template) {
			case 'p':
			case 'r':
				snprintf(number_text, sizeof(number_text), "%d",
					 *template == 'p' ? pid
					 : rank < 0	  ? 0
							  : rank);
				part = number_text;
				break;
			case 'h':
				part = host;
				is_host = true;
				break;
			case '%':
				break;
			default:
				return -EINVAL;
			}
		}
		for (; *part; part++) {
			if (used + 1 >= size)
				return -ENAMETOOLONG;
			buffer[used++] = (char)(is_host && *part == '/' ? '_' : *part);
		}
	}
	if (used >= size)
		return -ENAMETOOLONG;
	buffer[used] = '\0';
	return (int)used;
}
