/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_get FILE PATH: what stands at PATH ("events.0.count") in each line of FILE, which
 * have to be JSON. Without jansson it ends with status 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>

static void print(const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (json_is_string(value))
		puts(json_string_value(value));
	else
		puts(text ? text : "?");
	free(text);
}

static int look_up(const char *line, char *path)
{
	json_error_t error;
	json_t *top = json_loads(line, JSON_REJECT_DUPLICATES, &error), *at = top;

	if (!top) {
		fprintf(stderr, "%s in: %s", error.text, line);
		return 1;
	}
	for (char *word = strtok(path, "."); word && at; word = strtok(NULL, "."))
		at = json_is_array(at) ? json_array_get(at, strtoul(word, NULL, 10))
				       : json_object_get(at, word);
	if (at)
		print(at);
	else
		puts("(none)");
	json_decref(top);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	char *line = NULL, path[256];
	size_t room = 0;

	if (!file)
		return 2;
	while (getline(&line, &room, file) > 0) {
		snprintf(path, sizeof(path), "%s", argv[2]);
		if (look_up(line, path))
			return 1;
	}
	free(line);
	fclose(file);
	return 0;
}
#else
int main(void)
{
	puts("no jansson");
	return 77;
}
#endif
