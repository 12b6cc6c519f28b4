/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the files of the tool. A process of the command may have changed them, so that
 * everything in them is checked. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/functions/trees.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* Takes the number before the next blank of REST. */
static bool take(struct pm_slice *rest, uint64_t *value)
{
	return rest->at && !pm_slice_number(pm_slice_cut(*rest, ' ', rest), value);
}

static bool take_u32(struct pm_slice *rest, uint32_t *value)
{
	uint64_t number;

	if (!take(rest, &number) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* The tool writes counts in the order of its own events. */
static bool take_counts(struct pm_slice *rest, const struct cli_exact_events *events,
			uint64_t *counts)
{
	uint64_t value[PM_EXACT_EVENT_COUNT];
	uint32_t chosen = 0;

	for (uint32_t i = 0; i < events->count; i++)
		chosen |= UINT32_C(1) << events->event[i];
	for (uint32_t event = 0; event < PM_EXACT_EVENT_COUNT; event++)
		if (chosen >> event & 1 && !take(rest, &value[event]))
			return false;
	for (uint32_t i = 0; i < events->count; i++)
		counts[i] = value[events->event[i]];
	return !rest->at;
}

static int read_process(struct tree *tree, struct pm_slice rest)
{
	uint32_t pid, parent;
	struct pm_slice why;

	if (!take_u32(&rest, &pid) || !take_u32(&rest, &parent) || !rest.at)
		return -EINVAL;
	why = pm_slice_cut(rest, ' ', &rest);
	tree->pid = (pid_t)pid;
	tree->parent = (pid_t)parent;
	tree->execs = pm_slice_is(why, "exec");
	if (tree->program || !rest.at)
		return -EINVAL;
	tree->program = pm_slice_copy(rest);
	return tree->program ? 0 : -ENOMEM;
}

static int read_function(struct tree *tree, struct pm_slice rest)
{
	struct tree_function function = {0};
	uint32_t number, wanted;

	if (!take_u32(&rest, &number) || !take_u32(&rest, &wanted) || !rest.at ||
	    number != tree->function_count + 1)
		return -EINVAL;
	if (!PM_GROW(tree->functions, tree->function_count))
		return -ENOMEM;
	function.wanted = wanted != 0;
	function.name = pm_slice_copy(rest);
	if (!function.name)
		return -ENOMEM;
	tree->functions[tree->function_count++] = function;
	return 0;
}

static int read_thread(struct tree *tree, struct pm_slice rest)
{
	struct tree_thread thread = {0};
	uint32_t gone;

	if (!take_u32(&rest, &thread.root) || !take_u32(&rest, &thread.lwp) ||
	    !take_u32(&rest, &gone) || !thread.root)
		return -EINVAL;
	if (gone)
		return 0;
	if (!PM_GROW(tree->threads, tree->thread_count))
		return -ENOMEM;
	snprintf(thread.name, sizeof(thread.name), "%.*s", rest.at ? (int)rest.length : 0,
		 rest.at ? rest.at : "");
	tree->threads[tree->thread_count++] = thread;
	return 0;
}

static int read_node(struct tree *tree, const struct cli_exact_events *events,
		     struct pm_slice rest)
{
	struct tree_node node = {0};

	if (!take_u32(&rest, &node.parent) || !take_u32(&rest, &node.function) ||
	    !take(&rest, &node.visits) || !take_counts(&rest, events, node.count) ||
	    node.parent > tree->node_count || node.function > tree->function_count ||
	    !node.parent != !node.function)
		return -EINVAL;
	if (!PM_GROW(tree->nodes, tree->node_count))
		return -ENOMEM;
	tree->nodes[tree->node_count++] = node;
	return 0;
}

static int read_pattern(struct tree *tree, struct pm_slice rest)
{
	uint32_t found;

	if (!take_u32(&rest, &found))
		return -EINVAL;
	if (!PM_GROW(tree->found, tree->pattern_count))
		return -ENOMEM;
	tree->found[tree->pattern_count++] = found;
	return 0;
}

/* Returns whether PATH is the program, and no library. */
static bool is_program(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *so = strstr(name, ".so");

	return !(so && (!so[3] || so[3] == '.'));
}

static int read_object(struct tree *tree, struct pm_slice rest)
{
	uint32_t named;
	char *path;

	if (!take_u32(&rest, &named) || !rest.at)
		return -EINVAL;
	if (!PM_GROW(tree->objects, tree->object_count))
		return -ENOMEM;
	path = tree->objects[tree->object_count] = pm_slice_copy(rest);
	if (!path)
		return -ENOMEM;
	if (is_program(path)) {
		tree->has_symbols = named != 0;
		tree->main = tree->object_count;
	}
	tree->object_count++;
	return 0;
}

static int read_flag(bool *flag, struct pm_slice rest)
{
	uint32_t value;

	if (!take_u32(&rest, &value))
		return -EINVAL;
	*flag = value != 0;
	return 0;
}

static int read_line(struct tree *tree, const struct cli_exact_events *events,
		     struct pm_slice rest)
{
	struct pm_slice kind = pm_slice_cut(rest, ' ', &rest);

	if (!rest.at)
		return -EINVAL;
	if (pm_slice_is(kind, "node"))
		return read_node(tree, events, rest);
	if (pm_slice_is(kind, "function"))
		return read_function(tree, rest);
	if (pm_slice_is(kind, "thread"))
		return read_thread(tree, rest);
	if (pm_slice_is(kind, "process"))
		return read_process(tree, rest);
	if (pm_slice_is(kind, "pattern"))
		return read_pattern(tree, rest);
	if (pm_slice_is(kind, "object"))
		return read_object(tree, rest);
	if (pm_slice_is(kind, "regions"))
		return read_flag(&tree->has_regions, rest);
	if (pm_slice_is(kind, "stacks"))
		return read_flag(&tree->has_stacks, rest);
	if (pm_slice_is(kind, "lost"))
		return take(&rest, &tree->lost) ? 0 : -EINVAL;
	if (pm_slice_is(kind, "total"))
		return take_counts(&rest, events, tree->total) ? 0 : -EINVAL;
	return 0;
}

static int check(const struct tree *tree, bool complete)
{
	if (!complete || !tree->program)
		return -EINVAL;
	for (uint32_t i = 0; i < tree->thread_count; i++) {
		uint32_t root = tree->threads[i].root;

		if (root > tree->node_count || tree->nodes[root - 1].parent)
			return -EINVAL;
	}
	return 0;
}

static int read_tree(FILE *file, const struct cli_exact_events *events, struct tree *tree)
{
	char *text = NULL;
	size_t room = 0;
	bool complete = false;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&text, &room, file)) > 0) {
		struct pm_slice line = {text, (size_t)n - 1};

		complete = pm_slice_is(line, "complete") && text[n - 1] == '\n';
		err = complete ? 0 : read_line(tree, events, line);
	}
	free(text);
	return err ? err : check(tree, complete);
}

static void tree_free(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->function_count; i++)
		free(tree->functions[i].name);
	for (uint32_t i = 0; i < tree->object_count; i++)
		free(tree->objects[i]);
	free(tree->functions);
	free(tree->nodes);
	free(tree->threads);
	free(tree->found);
	free(tree->objects);
	free(tree->program);
}

void trees_free(struct trees *trees)
{
	for (uint32_t i = 0; i < trees->count; i++)
		tree_free(&trees->at[i]);
	free(trees->at);
	*trees = (struct trees){0};
}

static int add_file(int folder, const char *name, const struct cli_exact_events *events,
		    struct trees *trees)
{
	struct tree tree = {.has_symbols = true, .main = UINT32_MAX};
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
	    err;
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = read_tree(file, events, &tree);
	fclose(file);
	if (!err && !PM_GROW(trees->at, trees->count))
		err = -ENOMEM;
	if (err)
		tree_free(&tree);
	else
		trees->at[trees->count++] = tree;
	return err;
}

/* The process that the user has started comes first, as the program that it became last. */
static pid_t first;

static int order(const void *a, const void *b)
{
	const struct tree *x = a, *y = b;
	bool xf = x->pid == first, yf = y->pid == first;

	if (xf != yf)
		return yf - xf;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->execs - y->execs;
}

/* Returns whether the file NAME says that a process has begun and not ended. */
static bool is_mark(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".begun");
}

int trees_read(const char *path, pid_t pid, const struct cli_exact_events *events,
	       struct trees *trees)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int err = 0;

	*trees = (struct trees){0};
	if (!folder)
		return -errno;
	while (!err && (entry = readdir(folder)))
		if (is_mark(entry->d_name))
			trees->missing++;
		else if (*entry->d_name != '.')
			err = add_file(dirfd(folder), entry->d_name, events, trees);
	closedir(folder);
	first = pid;
	if (trees->count)
		qsort(trees->at, trees->count, sizeof(trees->at[0]), order);
	if (trees->count)
		trees->at[0].is_command = trees->at[0].pid == pid &&
					  (trees->count == 1 || trees->at[1].pid != pid);
	return err;
}
