/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads JSON that this command wrote, from its begin to its end. After an error `bad` is set, and
 * all functions return at once, so that a caller looks at it once, at the end.
 */
#ifndef PM_CLI_COMMON_JSON_READ_H
#define PM_CLI_COMMON_JSON_READ_H

#include <stdbool.h>

/* The rest of a text that ends with NUL. */
struct cli_json {
	const char *at;
	unsigned int depth;
	bool first; /* no part of the array or object has been taken */
	bool bad;   /* not JSON, or not what the caller expects: reading stops */
	bool no_memory;
	char name[32]; /* the last member's; "" if it is longer */
};

/* Reads the whole file PATH, with a NUL behind it. Returns 0 or a negative errno. free(3) *TEXT in
 * both cases. */
int cli_json_file(const char *path, char **text);

/* Set `bad`, and `no_memory`. Return false. */
bool cli_json_fail(struct cli_json *j);
bool cli_json_no_memory(struct cli_json *j);
void cli_json_blanks(struct cli_json *j);

/* Return the next character behind blanks, and whether there is one. */
char cli_json_peek(struct cli_json *j);
bool cli_json_more(struct cli_json *j);

/* Take C, or the characters of WORD, if they are next. */
bool cli_json_take(struct cli_json *j, char c);
bool cli_json_word(struct cli_json *j, const char *word);

/* Take a value: a string (free(3) it; NULL after an error), a number (NAN for null), a truth
 * value, or any. */
char *cli_json_string(struct cli_json *j);
double cli_json_number(struct cli_json *j);
bool cli_json_bool(struct cli_json *j);
void cli_json_skip(struct cli_json *j);

/*
 * An array or an object: begin at BRACKET, then take its parts. cli_json_next() returns false behind END.
 * cli_json_member() returns the name of the next member, which is there until the next one is taken, or
 * NULL at the end of the object.
 */
bool cli_json_begin(struct cli_json *j, char bracket);
bool cli_json_next(struct cli_json *j, char end);
const char *cli_json_member(struct cli_json *j);

#endif
