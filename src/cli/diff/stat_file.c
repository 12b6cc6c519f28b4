/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/stat_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/grow.h"
#include "core/text/text.h"

/* --- JSON ----------------------------------------------------------------------------- */

/* The depth of objects and arrays. */
#define DEPTH_MOST 16
/* Reports have a few kilobytes for each run. */
#define BYTES_MOST (256L << 20)

/* The rest of a text that ends with NUL. */
struct json {
	const char *at;
	unsigned int depth;
	bool bad; /* not JSON, or not a report: reading stops */
	bool no_memory;
};

static bool fail(struct json *j)
{
	j->bad = true;
	return false;
}

static void skip_blanks(struct json *j)
{
	j->at += strspn(j->at, " \t\r\n");
}

/* Takes C if it is next. */
static bool take(struct json *j, char c)
{
	skip_blanks(j);
	if (j->bad || *j->at != c)
		return false;
	j->at++;
	return true;
}

/* Writes the character of an escape as UTF-8. The halves of a surrogate pair are not
 * combined: names have none. */
static size_t put_utf8(char *to, unsigned int c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | c >> 12);
	to[1] = (char)(0x80 | (c >> 6 & 0x3f));
	to[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

/* Takes an escape behind its backslash, and moves *AT behind it. */
static size_t take_escape(const char **at, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = **at ? strchr(letters, **at) : NULL;
	char digits[5] = "";
	uint64_t c;

	if (letter) {
		++*at;
		*to = meant[letter - letters];
		return 1;
	}
	if (**at != 'u')
		return 0;
	for (int i = 0; i < 4 && pm_char_is_hex((*at)[1 + i]); i++)
		digits[i] = (*at)[1 + i];
	/* No text of a report has a NUL. */
	if (!digits[3] || pm_slice_hex(pm_slice_of(digits), &c) || !c)
		return 0;
	*at += 5;
	return put_utf8(to, (unsigned int)c);
}

/* Takes the next string, malloc'ed. */
static char *take_string(struct json *j)
{
	const char *end;
	char *text, *to;

	if (!take(j, '"')) {
		fail(j);
		return NULL;
	}
	for (end = j->at; *end && *end != '"'; end++)
		end += *end == '\\' && end[1];
	/* An escape is never shorter than its character. */
	to = text = malloc((size_t)(end - j->at) + 1);
	j->no_memory |= !text;
	while (text && j->at < end) {
		size_t length = 1;

		if (*j->at != '\\') {
			*to = *j->at++;
		} else {
			j->at++;
			length = take_escape(&j->at, to);
		}
		to += length;
		if (!length)
			break;
	}
	if (!text || j->at != end || *end != '"') {
		free(text);
		fail(j);
		return NULL;
	}
	j->at++;
	*to = '\0';
	return text;
}

/* Takes the next number; NAN for null. */
static double take_number(struct json *j)
{
	char digits[40];
	size_t length;
	double value;

	skip_blanks(j);
	if (!strncmp(j->at, "null", 4)) {
		j->at += 4;
		return NAN;
	}
	length = strspn(j->at, "+-.0123456789eE");
	if (length && length < sizeof(digits)) {
		memcpy(digits, j->at, length);
		digits[length] = '\0';
		j->at += length;
		if (!pm_text_double(digits, &value))
			return value;
	}
	fail(j);
	return NAN;
}

static bool take_word(struct json *j, const char *word)
{
	skip_blanks(j);
	if (strncmp(j->at, word, strlen(word)) != 0)
		return false;
	j->at += strlen(word);
	return true;
}

static bool take_bool(struct json *j)
{
	return take_word(j, "true") || (!take_word(j, "false") && fail(j));
}

/* Moves to the next element of the present array, or member of the present object.
 * Returns false behind its END. FIRST says that none has been taken. */
static bool next(struct json *j, char end, bool *first)
{
	if (take(j, end)) {
		j->depth--;
		return false;
	}
	if (!*first && !take(j, ','))
		return fail(j);
	*first = false;
	return !j->bad;
}

static bool begin(struct json *j, char bracket)
{
	if (!take(j, bracket) || ++j->depth > DEPTH_MOST)
		return fail(j);
	return true;
}

/* Takes the name of the next member, malloc'ed. Returns NULL at the end of the object. */
static char *next_member(struct json *j, bool *first)
{
	char *name = next(j, '}', first) ? take_string(j) : NULL;

	if (name && !take(j, ':')) {
		fail(j);
		free(name);
		return NULL;
	}
	return name;
}

static void skip_value(struct json *j)
{
	bool first = true;

	skip_blanks(j);
	if (*j->at == '"') {
		free(take_string(j));
	} else if (*j->at == '[') {
		begin(j, '[');
		while (!j->bad && next(j, ']', &first))
			skip_value(j);
	} else if (*j->at == '{') {
		char *name;

		begin(j, '{');
		while (!j->bad && (name = next_member(j, &first))) {
			free(name);
			skip_value(j);
		}
	} else if (!take_word(j, "true") && !take_word(j, "false")) {
		take_number(j);
	}
}

/* --- reports -------------------------------------------------------------------------- */

static void take_text(struct json *j, char **to)
{
	free(*to);
	*to = take_word(j, "null") ? NULL : take_string(j);
}

static void take_samples(struct json *j, double **samples, uint32_t *count)
{
	bool first = true;

	*count = 0;
	begin(j, '[');
	while (!j->bad && next(j, ']', &first)) {
		if (!PM_GROW(*samples, *count)) {
			j->no_memory = true;
			fail(j);
			return;
		}
		(*samples)[*count] = take_number(j);
		if ((*samples)[(*count)++] < 0)
			fail(j);
	}
}

static void take_event(struct json *j, struct diff_stat *stat)
{
	struct diff_stat_event *event;
	bool first = true;
	char *name;

	if (!PM_GROW(stat->events, stat->event_count)) {
		j->no_memory = true;
		fail(j);
		return;
	}
	event = &stat->events[stat->event_count++];
	memset(event, 0, sizeof(*event));
	begin(j, '{');
	while (!j->bad && (name = next_member(j, &first))) {
		if (!strcmp(name, "event"))
			take_text(j, &event->name);
		else if (!strcmp(name, "place"))
			take_text(j, &event->place);
		else if (!strcmp(name, "unit"))
			take_text(j, &event->unit);
		else if (!strcmp(name, "status"))
			take_text(j, &event->status);
		else if (!strcmp(name, "coverage"))
			event->coverage = take_number(j);
		else if (!strcmp(name, "samples"))
			take_samples(j, &event->samples, &event->sample_count);
		else
			skip_value(j);
		free(name);
	}
	if (!event->name || !event->unit || !event->status)
		fail(j);
}

static void take_elapsed(struct json *j, struct diff_stat *stat)
{
	bool first = true;
	char *name;

	begin(j, '{');
	while (!j->bad && (name = next_member(j, &first))) {
		if (!strcmp(name, "samples"))
			take_samples(j, &stat->times, &stat->run_count);
		else
			skip_value(j);
		free(name);
	}
}

/* Takes the words of the command, with spaces between. */
static void take_command(struct json *j, struct diff_stat *stat)
{
	bool first = true;

	begin(j, '[');
	while (!j->bad && next(j, ']', &first)) {
		char *word = take_string(j), *all = NULL;

		if (word && asprintf(&all, "%s%s%s", stat->command ? stat->command : "",
				     stat->command ? " " : "", word) < 0) {
			all = NULL;
			j->no_memory = true;
			fail(j);
		}
		free(word);
		free(stat->command);
		stat->command = all;
	}
}

static void take_member(struct json *j, struct diff_stat *stat, const char *name,
			bool *interval)
{
	bool first = true;

	if (!strcmp(name, "command")) {
		take_command(j, stat);
	} else if (!strcmp(name, "modes")) {
		take_text(j, &stat->modes);
	} else if (!strcmp(name, "exact")) {
		stat->exact = take_bool(j);
	} else if (!strcmp(name, "exit_status") || !strcmp(name, "signal")) {
		double number = take_number(j);

		stat->failed |= number != 0 && !isnan(number);
	} else if (!strcmp(name, "began_realtime_ns")) {
		double number = take_number(j);

		if (number >= 0 && number < 1e19)
			stat->began_realtime_ns = (uint64_t)number;
	} else if (!strcmp(name, "elapsed_ns")) {
		take_elapsed(j, stat);
	} else if (!strcmp(name, "events")) {
		begin(j, '[');
		while (!j->bad && next(j, ']', &first))
			take_event(j, stat);
	} else {
		*interval |= !strcmp(name, "time_s");
		skip_value(j);
	}
}

static void free_stat(struct diff_stat *stat)
{
	for (uint32_t i = 0; i < stat->event_count; i++) {
		free(stat->events[i].name);
		free(stat->events[i].place);
		free(stat->events[i].unit);
		free(stat->events[i].status);
		free(stat->events[i].samples);
	}
	free(stat->events);
	free(stat->times);
	free(stat->command);
	free(stat->modes);
}

void diff_stats_free(struct diff_stat *stats, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free_stat(&stats[i]);
	free(stats);
}

/* Returns whether all parts of STAT have the same runs. */
static bool is_whole(const struct diff_stat *stat)
{
	for (uint32_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].sample_count &&
		    stat->events[i].sample_count != stat->run_count)
			return false;
	return stat->run_count && stat->modes;
}

/* Takes the next report, behind those of its intervals. */
static void take_report(struct json *j, struct diff_stat **stats, uint32_t *count)
{
	struct diff_stat stat = {.command = NULL};
	bool first = true, interval = false;
	char *name;

	begin(j, '{');
	while (!j->bad && (name = next_member(j, &first))) {
		take_member(j, &stat, name, &interval);
		free(name);
	}
	if (!j->bad && !interval && !is_whole(&stat))
		fail(j);
	if (j->bad || interval) {
		free_stat(&stat);
	} else if (PM_GROW(*stats, *count)) {
		(*stats)[(*count)++] = stat;
	} else {
		free_stat(&stat);
		j->no_memory = true;
		fail(j);
	}
}

bool diff_stat_is_json(const char *text, size_t length)
{
	while (length && strchr(" \t\r\n", *text) && *text) {
		text++;
		length--;
	}
	return length && *text == '{';
}

/* Reads the whole file PATH, with a NUL behind it. */
static int read_text(const char *path, char **text)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	size_t size;
	int err = 0;

	*text = NULL;
	if (!file)
		return -errno;
	if (fstat(fileno(file), &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOTSUP;
	else if (st.st_size > BYTES_MOST)
		err = -EFBIG;
	else if (!(*text = malloc((size_t)st.st_size + 1)))
		err = -ENOMEM;
	if (!err) {
		size = fread(*text, 1, (size_t)st.st_size, file);
		(*text)[size] = '\0';
		err = ferror(file) ? -EIO : 0;
	}
	fclose(file);
	return err;
}

int diff_stats_read(const char *path, struct diff_stat **stats, uint32_t *count,
		    struct pm_diag *diag)
{
	struct json j = {.bad = false};
	char *text;
	int err = read_text(path, &text);

	*stats = NULL;
	*count = 0;
	if (err) {
		free(text);
		return pm_diag_set(diag, err, "'%s': %s", path, strerror(-err));
	}
	j.at = text;
	do {
		take_report(&j, stats, count);
		skip_blanks(&j);
	} while (!j.bad && *j.at);
	free(text);
	if (j.no_memory)
		return pm_diag_set(diag, -ENOMEM, "%s: no memory", path);
	if (j.bad || !*count)
		return pm_diag_set(diag, -EINVAL,
				   "'%s' is JSON, but not what perfmon stat -f json of "
				   "this version writes of a command: count it anew",
				   path);
	return 0;
}
