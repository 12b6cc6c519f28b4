/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where reports and profiles go: templates of paths, folders, and ranks. */
#include "core/settings/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/kernel/kernel.h"
#include "core/kernel/machine_id.h"

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
	const char *value = pm_variable(name);
	char expanded[4096], *copy;
	int length;

	if (!value)
		return NULL;
	copy = path_copy(value);
	if (!copy) {
		*err = -ENOMEM;
		return NULL;
	}
	/* The longest pid, rank and host that may come. */
	length = pm_options_expand(
		copy, INT32_MAX, INT32_MAX,
		"0123456789012345678901234567890123456789012345678901234567890123",
		expanded, sizeof(expanded));
	if (length >= 0)
		return copy;
	free(copy);
	pm_options_note(options,
			length == -EINVAL ? "%s=\"%.*s\" has a %% other than %%p, %%r, "
					    "%%h and %%%%: %s"
					  : "%s=\"%.*s...\" is too long for a path: %s",
			name, PM_QUOTED(value), instead);
	return NULL;
}

/* The kind of file that stands at PATH, of S_IFMT; 0: none is known. */
static mode_t kind_of(const char *path)
{
	int fd = pm_kernel_open(path, O_PATH, 0);
	struct stat st = {.st_mode = 0};

	if (fd < 0)
		return 0;
	if (pm_kernel_fstat(fd, &st))
		st.st_mode = 0;
	pm_kernel_close(fd);
	return st.st_mode & S_IFMT;
}

/* Returns true if TEMPLATE names a folder: by a slash at its end, or because it exists. */
static bool is_folder(const struct pm_options *options, const char *template)
{
	char path[4096], host[65] = "";

	if (!*template || template[strlen(template) - 1] == '/')
		return true;
	if (strstr(template, "%h"))
		pm_machine_host(host, sizeof(host));
	return pm_options_expand(template, (int)pm_kernel_getpid(), options->rank, host,
				 path, sizeof(path)) >= 0 &&
	       kind_of(path) == S_IFDIR;
}

/* Returns true if TEMPLATE gives each rank, or process, a path of its own. */
static bool keeps_apart(const char *template)
{
	for (const char *c = template; *c; c++)
		if (*c == '%' && *++c != '%' && (*c == 'r' || *c == 'p'))
			return true;
	return false;
}

/* A path, by the template that a variable has given. */
struct place {
	char *each;  /* of each process: a template */
	char *whole; /* of all ranks together; NULL: the same */
	bool folder;
};

/* Completes GIVEN, which it takes: in a folder there is a file for each rank, or process,
 * which ends in SUFFIX; and ranks do not share a file. */
static int place_make(struct place *place, const struct pm_options *options, char *given,
		      const char *suffix)
{
	bool ranked = options->rank >= 0;
	mode_t kind = ranked ? kind_of(given) : 0;
	int n = 0, whole = 0;

	*place = (struct place){.folder = is_folder(options, given)};
	if (place->folder) {
		size_t length = strlen(given);
		const char *slash = !length || given[length - 1] == '/' ? "" : "/";

		n = asprintf(&place->each, "%s%sperfmon.%%%c.%s", given, slash,
			     ranked ? 'r' : 'p', suffix);
		whole = asprintf(&place->whole, "%s%sperfmon.%s", given, slash, suffix);
	} else if (ranked && !keeps_apart(given) && (!kind || kind == S_IFREG)) {
		n = asprintf(&place->each, "%s.%%r", given);
		place->whole = given;
	} else {
		place->each = given;
	}
	if (place->folder)
		free(given);
	if (n < 0)
		place->each = NULL;
	if (whole < 0)
		place->whole = NULL;
	return n < 0 || whole < 0 ? -ENOMEM : 0;
}

void pm_options_read_profile(struct pm_options *options, int *err)
{
	char *given =
		path_read(options, "PERFMON_PROFILE", "the profile stays in memory", err);
	struct place place;

	if (given && (kind_of(given) == S_IFCHR || kind_of(given) == S_IFBLK)) {
		pm_options_note(options,
				"PERFMON_PROFILE=\"%.*s\" is a device: the profile stays "
				"in memory",
				PM_QUOTED(given));
		free(given);
		given = NULL;
	}
	if (!given)
		return;
	if (place_make(&place, options, given, "profile"))
		*err = -ENOMEM;
	free(place.whole);
	options->profile_path = place.each;
	options->profile_folder = place.folder;
}

const char *pm_format_suffix(enum pm_format format)
{
#define SUFFIX(constant, name, suffix, writer, text) suffix,
	static const char *const suffixes[] = {PM_FORMATS_ALL(SUFFIX)};
#undef SUFFIX

	return suffixes[format];
}

void pm_options_read_output(struct pm_options *options, int *err)
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
	const char *value = pm_variable("PERFMON_OUTPUT");
	struct place place = {NULL, NULL, false};
	char *given = NULL;
	bool is_path = false;

	options->output_asked = value != NULL;
	if (value && strcasecmp(value, "auto") != 0) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (!strcmp(value, words[i].word)) {
				options->output = words[i].output;
				return;
			}
		}
		given = path_read(options, "PERFMON_OUTPUT", "the report goes to stderr",
				  err);
		is_path = true;
	} else if (options->rank >= 0) {
		/* The working directory is the folder, and not made anew. */
		given = path_copy("");
		if (!given)
			*err = -ENOMEM;
	}
	if (!given)
		return;
	if (place_make(&place, options, given, pm_format_suffix(options->format)))
		*err = -ENOMEM;
	options->output_path = place.each;
	options->output_whole = place.whole;
	options->output_folder = place.folder && is_path;
	options->output_unasked = place.whole && (!is_path || !place.folder);
	if (place.each)
		options->output = PM_OUTPUT_PATH;
}

int pm_options_make_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int err;

	if (!slash)
		return -ENOENT;
	folder = strndup(path, (size_t)(slash - path));
	if (!folder)
		return -ENOMEM;
	err = pm_kernel_mkdir(folder, 0777);
	free(folder);
	return err == -EEXIST ? 0 : err;
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
