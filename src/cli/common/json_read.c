/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/text/text.h"

/* The depth of objects and arrays. */
#define DEPTH_MOST 16
/* Reports have a few kilobytes for each run. */
#define BYTES_MOST (256L << 20)

bool cli_json_fail(struct cli_json *j)
{
	j->bad = true;
	return false;
}

bool cli_json_no_memory(struct cli_json *j)
{
	j->no_memory = true;
	return cli_json_fail(j);
}

static void blanks(struct cli_json *j)
{
	j->at += strspn(j->at, " \t\r\n");
}

char cli_json_peek(struct cli_json *j)
{
	blanks(j);
	return *j->at;
}

bool cli_json_more(struct cli_json *j)
{
	return cli_json_peek(j) && !j->bad;
}

bool cli_json_take(struct cli_json *j, char c)
{
	blanks(j);
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

char *cli_json_string(struct cli_json *j)
{
	const char *end;
	char *text, *to;

	if (!cli_json_take(j, '"')) {
		cli_json_fail(j);
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
		cli_json_fail(j);
		return NULL;
	}
	j->at++;
	*to = '\0';
	return text;
}

bool cli_json_text(struct cli_json *j, const char *name, const char *const *names,
		   size_t count, char **texts)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		free(texts[i]);
		texts[i] = cli_json_string(j);
		return true;
	}
	return false;
}

double cli_json_number(struct cli_json *j)
{
	char digits[40];
	size_t length;
	double value;

	blanks(j);
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
	cli_json_fail(j);
	return NAN;
}

bool cli_json_word(struct cli_json *j, const char *word)
{
	blanks(j);
	if (strncmp(j->at, word, strlen(word)) != 0)
		return false;
	j->at += strlen(word);
	return true;
}

bool cli_json_bool(struct cli_json *j)
{
	return cli_json_word(j, "true") ||
	       (!cli_json_word(j, "false") && cli_json_fail(j));
}

bool cli_json_next(struct cli_json *j, char end)
{
	bool first = j->first;

	j->first = false;
	if (cli_json_take(j, end)) {
		j->depth--;
		return false;
	}
	if (!first && !cli_json_take(j, ','))
		return cli_json_fail(j);
	return !j->bad;
}

bool cli_json_begin(struct cli_json *j, char bracket)
{
	j->first = true;
	if (!cli_json_take(j, bracket) || ++j->depth > DEPTH_MOST)
		return cli_json_fail(j);
	return true;
}

const char *cli_json_member(struct cli_json *j)
{
	char *name = cli_json_next(j, '}') ? cli_json_string(j) : NULL;

	if (!name)
		return NULL;
	snprintf(j->name, sizeof(j->name), "%s",
		 strlen(name) < sizeof(j->name) ? name : "");
	free(name);
	return cli_json_take(j, ':') || cli_json_fail(j) ? j->name : NULL;
}

void cli_json_skip(struct cli_json *j)
{
	blanks(j);
	if (*j->at == '"') {
		free(cli_json_string(j));
	} else if (*j->at == '[') {
		cli_json_begin(j, '[');
		while (cli_json_next(j, ']'))
			cli_json_skip(j);
	} else if (*j->at == '{') {
		cli_json_begin(j, '{');
		while (cli_json_member(j))
			cli_json_skip(j);
	} else if (!cli_json_word(j, "true") && !cli_json_word(j, "false")) {
		cli_json_number(j);
	}
}

int cli_json_file(const char *path, char **text)
{
	/* This does not wait for the writer of a FIFO. */
	int fd = pm_kernel_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0), err;
	struct stat st;
	ssize_t size;

	*text = NULL;
	if (fd < 0)
		return fd;
	err = pm_kernel_fstat(fd, &st);
	if (!err && !S_ISREG(st.st_mode))
		err = -ENOTSUP;
	else if (!err && st.st_size > BYTES_MOST)
		err = -EFBIG;
	else if (!err && !(*text = malloc((size_t)st.st_size + 1)))
		err = -ENOMEM;
	if (!err) {
		size = pm_file_read_at(fd, *text, (size_t)st.st_size, 0);
		(*text)[size < 0 ? 0 : size] = '\0';
		err = size < 0 ? (int)size : 0;
	}
	pm_kernel_close(fd);
	return err;
}
