/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/variables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/text/text.h"

#define PREFIX "PERFMON_"

/* All that the library reads, without the prefix: perfmon-environment(7). */
static const char *const names[] = {
	"ARGUMENTS", "ARM",	   "BIAS",   "CALL_DEPTH", "DEBUG",	   "DEPTH",
	"EVENTS",    "FENCE",	   "FORMAT", "GROUP",	   "LEVEL",	   "METRICS",
	"MIN_MEAN",  "MIN_PERIOD", "NOTE",   "ONLY",	   "OUTPUT",	   "PROFILE",
	"SKIP",	     "STEPS",	   "STRIDE", "THREADS",	   "SAMPLE_PAGES", "TOP",
};

/* Those of module systems and CMake, which say where the library is, those of
 * `perfmon run --exact`, and that of libperfmon-mpi. */
static const char *const foreign[] = {"DIR",	       "HOME",	  "PREFIX",
				      "ROOT",	       "VERSION", "EXACT_DIR",
				      "EXACT_PADDING", "MPI_WAIT"};

char *(*pm_options_getenv)(const char *name) = secure_getenv;

/* A value that the program has set. Later ones stand before earlier ones, which stay: a
 * reader may hold them. */
struct setting {
	const struct setting *earlier;
	const char *name; /* without the prefix */
	char value[];
};
static const struct setting
	*settings; /* read with acquire, pairs with the release in pm_setting_set() */

/* While this thread tries a value nothing else is set. */
static __thread struct {
	const char *name, *value;
} trial;

static const char *set_by_program(const char *name)
{
	const struct setting *at = __atomic_load_n(&settings, __ATOMIC_ACQUIRE);

	while (at && strcmp(at->name, name) != 0)
		at = at->earlier;
	return at && *at->value ? at->value : NULL;
}

const char *pm_variable(const char *name)
{
	const size_t skip = sizeof(PREFIX) - 1;
	bool own = !strncmp(name, PREFIX, skip);
	const char *value;

	if (trial.name)
		return own && *trial.value && !strcmp(name + skip, trial.name)
			       ? trial.value
			       : NULL;
	value = pm_options_getenv(name);
	if (value && *value)
		return value;
	return own ? set_by_program(name + skip) : NULL;
}

char *pm_variable_copy(const char *name, int *err)
{
	const char *value = pm_variable(name);
	char *copy = value ? strdup(value) : NULL;

	if (value && !copy)
		*err = -ENOMEM;
	return copy;
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

int pm_variable_choice(struct pm_options *options, const char *name,
		       const char *const *choices, int fallback)
{
	const char *value = pm_variable(name);
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
	pm_options_note(options, "%s=\"%.*s\" is not one of %s: using %s", name,
			PM_QUOTED(value), known, choices[fallback]);
	return fallback;
}

bool pm_variable_truth(struct pm_options *options, const char *name, bool fallback)
{
	static const char *const words[] = {"0", "1", ""};

	return pm_variable_choice(options, name, words, fallback);
}

/* Parses TEXT, which has decimal digits alone. */
static int decimal(const char *text, uint64_t *value)
{
	return text[strspn(text, "0123456789")]
		       ? -EINVAL
		       : pm_slice_number(pm_slice_of(text), value);
}

uint64_t pm_variable_bounded(struct pm_options *options, const char *name, uint64_t min,
			     uint64_t max, uint64_t fallback)
{
	const char *text = pm_variable(name);
	uint64_t value, bound;
	int err;

	if (!text)
		return fallback;
	err = decimal(text, &value);
	if (err == -EINVAL) {
		pm_options_note(options, "%s=\"%.*s\" is not a number: using %" PRIu64,
				name, PM_QUOTED(text), fallback);
		return fallback;
	}
	if (!err && value >= min && value <= max)
		return value;
	bound = !err && value < min ? min : max;
	pm_options_note(options, "%s=\"%.*s\" is %s the bound: using %" PRIu64, name,
			PM_QUOTED(text), bound == min ? "below" : "above", bound);
	return bound;
}

int pm_setting_find(const char *name, int (*compare)(const char *a, const char *b),
		    struct pm_suggestion *like)
{
	*like = (struct pm_suggestion){.wanted = pm_slice_of(name)};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!compare(name, names[i]))
			return (int)i;
		pm_suggestion_offer(like, names[i], NULL);
	}
	return -EINVAL;
}

static bool is_foreign(const char *name)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (!strcmp(name, foreign[i]))
			return true;
	/* The library's own tests have these. */
	return !strncmp(name, "TEST_", 5);
}

void pm_setting_try(int number, const char *value)
{
	trial.value = value;
	trial.name = value ? names[number] : NULL;
}

int pm_setting_set(int number, const char *value)
{
	size_t size = strlen(value) + 1;
	struct setting *made = malloc(sizeof(*made) + size);

	if (!made)
		return -ENOMEM;
	made->name = names[number];
	made->earlier = settings;
	memcpy(made->value, value, size);
	/* Pairs with the acquire in set_by_program(). */
	__atomic_store_n(&settings, made, __ATOMIC_RELEASE);
	return 0;
}

void pm_variables_check(struct pm_options *options)
{
	const size_t skip = sizeof(PREFIX) - 1;

	for (char **at = environ; at && *at; at++) {
		struct pm_suggestion like;
		char name[128];
		size_t length = strcspn(*at, "=");

		if (strncmp(*at, PREFIX, skip) != 0 || length >= sizeof(name))
			continue;
		memcpy(name, *at, length);
		name[length] = '\0';
		if (is_foreign(name + skip) || !pm_variable(name) ||
		    pm_setting_find(name + skip, strcmp, &like) >= 0)
			continue;
		pm_options_note(options, "%s is not a variable of libperfmon: %s%s%s",
				pm_slice_quote(pm_slice_of(name)).text,
				*like.best ? "did you mean " PREFIX : "see ",
				*like.best ? like.best : "perfmon-environment(7)",
				*like.best ? "?" : "");
	}
	options->unknown_count = options->note_count;
}

bool pm_variable_number(const char *name, int *value)
{
	const char *text = pm_variable(name);
	uint64_t number;

	if (!text || decimal(text, &number) || number > INT32_MAX)
		return false;
	*value = (int)number;
	return true;
}
