/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/code/code.h"
#include "cli/code/dw.h"
#include "core/text/grow.h"

#define NAME_LENGTH 512

/* Where Debian's packages and others have debug information. */
static const char system_dir[] = "/usr/lib/debug";

static struct {
	const char **at;
	size_t count;
} debug_dirs;

int cli_take_debug_dir(const char *command, const struct cli_option *option,
		       const char *text)
{
	(void)command;
	(void)option;
	if (PM_GROW(debug_dirs.at, debug_dirs.count))
		debug_dirs.at[debug_dirs.count++] = text;
	return 0;
}

/* --- files ---------------------------------------------------------------------------- */

#define FILES_MAX 8

/* A file of code that a profile names, and the files of this machine that have its build id. */
struct module {
	const struct pm_snapshot_code *code;
	struct pm_code_file *files[FILES_MAX];
	uint32_t file_count;
	bool is_changed;  /* what has its name has another build id */
	uint32_t unnamed; /* regions of it whose names stay */
};

__attribute__((format(printf, 2, 3))) static void try_file(struct module *module,
							   const char *format, ...)
{
	char path[PATH_MAX], build_id[PM_CODE_BUILD_ID];
	struct pm_code_file *file;
	struct stat st;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(path) ||
	    module->file_count == FILES_MAX || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	file = pm_code_open(path, 0);
	if (!file)
		return;
	pm_code_build_id(file, build_id);
	if (!strcmp(build_id, module->code->build_id)) {
		module->files[module->file_count++] = file;
		return;
	}
	module->is_changed = true;
	pm_code_close(file);
}

/* Tries the places below DIR where tools put debug information. */
static void try_dir(struct module *module, const char *dir)
{
	const char *id = module->code->build_id, *path = module->code->path;
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	try_file(module, "%s/.build-id/%.2s/%s.debug", dir, id, id + 2);
	try_file(module, "%s/%s.debug", dir, path);
	/* Those of the user's folders alone. */
	if (dir == system_dir)
		return;
	try_file(module, "%s/%.2s/%s.debug", dir, id, id + 2);
	try_file(module, "%s/%s/debuginfo", dir, id);
	try_file(module, "%s/%s.debug", dir, file);
	try_file(module, "%s/%s", dir, file);
}

static void module_open(struct module *module, const struct pm_snapshot_code *code)
{
	*module = (struct module){.code = code};
	/* Without a build id nobody knows whether it is the same file. */
	if (strlen(code->build_id) < 3)
		return;
	try_file(module, "%s", code->path);
	for (size_t i = 0; i < debug_dirs.count; i++)
		try_dir(module, debug_dirs.at[i]);
	try_dir(module, system_dir);
}

static void module_close(struct module *module)
{
	for (uint32_t i = 0; i < module->file_count; i++)
		pm_code_close(module->files[i]);
}

/* Returns what the files of MODULE say of OFFSET: the first that has a line, else the first that has a
 * symbol. The caller frees the symbol. */
static struct pm_code look_up(const struct module *module, uint64_t offset)
{
	struct pm_code best = {.symbol = NULL};

	for (uint32_t i = 0; i < module->file_count && !best.line; i++) {
		struct pm_code code = {.symbol = NULL};

		pm_code_look_up(module->files[i], offset, &code);
		if (code.symbol && (!best.symbol || code.line)) {
			free(best.symbol);
			best = code;
		} else {
			free(code.symbol);
		}
	}
	return best;
}

/* --- names ---------------------------------------------------------------------------- */

struct resolving {
	struct pm_snapshot *snapshot;
	struct module *modules;
	size_t module_count;
};

static struct module *module_of(struct resolving *r, const struct pm_snapshot_code *code)
{
	for (size_t i = 0; i < r->module_count; i++)
		if (!strcmp(r->modules[i].code->path, code->path) &&
		    !strcmp(r->modules[i].code->build_id, code->build_id))
			return &r->modules[i];
	if (!PM_GROW(r->modules, r->module_count))
		return NULL;
	module_open(&r->modules[r->module_count], code);
	return &r->modules[r->module_count++];
}

/* Writes the kind that NAME has in its last brackets: "parallel" of "solve (parallel 0)". */
static bool kind_of(const char *name, char kind[32])
{
	const char *open = strrchr(name, '(');
	size_t length = open ? strcspn(open + 1, " )") : 0;

	if (!length || length >= 32)
		return false;
	memcpy(kind, open + 1, length);
	kind[length] = '\0';
	return true;
}

/* Gives region ID the name that its code has. Returns whether it has another name now. */
static bool rename_region(struct resolving *r, uint32_t id)
{
	char **name = &r->snapshot->regions[id], kind[32], made[NAME_LENGTH];
	const struct pm_snapshot_code *code = r->snapshot->codes[id];
	struct module *module =
		code && *code->path && kind_of(*name, kind) ? module_of(r, code) : NULL;
	struct pm_code found =
		module ? look_up(module, code->offset) : (struct pm_code){.symbol = NULL};
	char *copy = NULL;

	if (found.symbol) {
		pm_code_name(&found, kind, made, sizeof(made));
		copy = strcmp(made, *name) != 0 ? strdup(made) : NULL;
	} else if (module) {
		module->unnamed++;
	}
	free(found.symbol);
	if (!copy)
		return false;
	free(*name);
	*name = copy;
	return true;
}

static int by_name(const void *a, const void *b, void *snapshot)
{
	char *const *names = ((const struct pm_snapshot *)snapshot)->regions;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return strcmp(names[x], names[y]) ?: (x > y) - (x < y);
}

static void nodes_renumber(struct pm_snapshot_thread *threads, uint32_t count,
			   const uint32_t *map)
{
	for (uint32_t t = 0; t < count; t++) {
		for (uint32_t n = 1; n <= threads[t].node_count; n++) {
			uint32_t *region = &pm_snapshot_node(&threads[t], n)->region;

			*region = map[*region];
		}
	}
}

/* Makes regions of one name one region, the first. */
static void join_names(struct pm_snapshot *s)
{
	uint32_t *order = malloc(((size_t)s->region_count + 1) * sizeof(*order));
	uint32_t *map = malloc(((size_t)s->region_count + 1) * sizeof(*map));
	bool joins = false;

	for (uint32_t id = 0; order && map && id <= s->region_count; id++)
		order[id] = map[id] = id;
	if (order && map)
		qsort_r(order + 1, s->region_count, sizeof(*order), by_name, s);
	for (uint32_t i = 2; order && map && i <= s->region_count; i++) {
		if (strcmp(s->regions[order[i]], s->regions[order[i - 1]]) != 0)
			continue;
		map[order[i]] = map[order[i - 1]];
		joins = true;
	}
	if (joins) {
		nodes_renumber(s->threads, s->thread_count, map);
		nodes_renumber(s->joined, s->joined_count, map);
	}
	for (uint32_t i = 0; joins && i < s->steps_count; i++)
		for (uint32_t d = 0; d < s->steps[i].depth; d++)
			s->steps[i].path[d] = map[s->steps[i].path[d]];
	free(order);
	free(map);
}

static void tell_module(struct pm_snapshot *s, const struct module *module)
{
	const char *path = module->code->path;
	char regions[80];

	if (!module->unnamed || module->file_count)
		return;
	snprintf(regions, sizeof(regions), "%u region%s of it keep%s the name of the run",
		 module->unnamed, module->unnamed == 1 ? "" : "s",
		 module->unnamed == 1 ? "s" : "");
	if (module->is_changed)
		PM_NOTE(s,
			"%s is another file than when the program ran (its build id "
			"differs): %s; perfmon report --debug-dir finds the old one in "
			"another folder",
			path, regions);
	else if (!*module->code->build_id)
		PM_NOTE(s,
			"%s has no build id, so nothing tells whether it is still the "
			"same: %s; link with -Wl,--build-id",
			path, regions);
	else if (access(path, F_OK))
		PM_NOTE(s,
			"%s is not here: %s; perfmon report --debug-dir finds it in "
			"another folder",
			path, regions);
}

void cli_resolve(struct pm_snapshot *s)
{
	struct resolving r = {.snapshot = s};
	bool renamed = false;

	if (!s->codes)
		return;
	pm_dw_load_cxx();
	for (uint32_t id = 1; id <= s->region_count; id++)
		renamed |= rename_region(&r, id);
	if (renamed)
		join_names(s);
	for (size_t i = 0; i < r.module_count; i++) {
		tell_module(s, &r.modules[i]);
		module_close(&r.modules[i]);
	}
	free(r.modules);
}
