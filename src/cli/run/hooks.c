/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/run/inside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "core/text/text.h"

/* Returns whether FILE is in the list PRELOADED, in any folder. */
static bool is_preloaded(const char *preloaded, const char *file)
{
	size_t length = strlen(file);

	for (const char *at = preloaded; (at = strstr(at, file)); at += length)
		if ((at == preloaded || strchr("/: ", at[-1])) &&
		    (!at[length] || strchr(": ", at[length])))
			return true;
	return false;
}

static int preload(const char *file, const char *path)
{
	const char *before = cli_variable("LD_PRELOAD");

	if (before && is_preloaded(before, file))
		return 0;
	/* Behind what is there: the runtime of a sanitizer must be first. */
	return cli_variable_add("run", "LD_PRELOAD", ":", path);
}

/* Kokkos loads the tool itself: recent versions by the first variable, older ones by the second. It
 * ends a program in which they differ. */
static int load_tool(const char *file, const char *path)
{
	static const char *const variables[] = {"KOKKOS_TOOLS_LIBS",
						"KOKKOS_PROFILE_LIBRARY"};
	int status = 0;

	for (size_t i = 0; i < 2; i++) {
		const char *before = cli_variable(variables[i]);

		if (!before || is_preloaded(before, file))
			continue;
		return cli_fail(CLI_FAILED, "run",
				"%s is set to '%s', and Kokkos takes one tool: unset it "
				"for --hooks=kokkos",
				variables[i], before);
	}
	for (size_t i = 0; i < 2 && !status; i++)
		status = cli_variable_set("run", variables[i], path);
	return status;
}

/* X(name, file, how it is loaded, what it does) */
#define HOOKS(X)                                                                         \
	X("kokkos", "kokkos", load_tool,                                                 \
	  "kernels, regions, sections, fences and copies of Kokkos are regions")         \
	X("likwid", "likwid", preload, "the marker calls of LIKWID are regions")         \
	X("mpi", "mpi-regions", preload,                                                 \
	  "waits and collectives of MPI are regions, and all ranks have one report")     \
	X("openmp", "openmp", preload,                                                   \
	  "parallel constructs, tasks and waits of OpenMP programs are regions, in all " \
	  "threads of the team")                                                         \
	X("papi-hl", "papi-hl", preload, "the high-level calls of PAPI are regions")     \
	X("threads", "threads", preload,                                                 \
	  "threads are below the regions of the thread that creates them "               \
	  "(pthread_create, std::thread)")

static const struct {
	const char *name, *text, *file;
	int (*load)(const char *file, const char *path);
} hooks[] = {
#define HOOK(name, file, load, text) {name, text, "libperfmon-" file ".so.0", load},
	HOOKS(HOOK)
#undef HOOK
};
#define HOOK_COUNT (sizeof(hooks) / sizeof(hooks[0]))

static const char names[] =
#define NAME(name, file, load, text) ", " name
	HOOKS(NAME)
#undef NAME
	;

int hooks_list(void)
{
	for (size_t i = 0; i < HOOK_COUNT; i++)
		printf("%-8s %s\n", hooks[i].name, hooks[i].text);
	return cli_finish("run", 0);
}

static int load(size_t hook)
{
	const char *file = hooks[hook].file;
	char path[2 * PATH_MAX];

	if (!cli_folder_find(".libs", LIBDIR, file, R_OK, path))
		return cli_fail(
			CLI_FAILED, "run",
			"%s is not installed: build perfmon with shared libraries", file);
	strcat(strcat(path, "/"), file);
	if (strpbrk(path, ":; \t\n"))
		return cli_fail(CLI_FAILED, "run",
				"cannot load '%s' into programs: install perfmon into a "
				"folder whose path has no colon, semicolon or blank",
				path);
	return hooks[hook].load(file, path);
}

int hooks_load(const char *list)
{
	struct pm_slice rest = {list, list ? strlen(list) : 0};
	bool chosen[HOOK_COUNT] = {false};
	int status = 0;

	while (rest.at) {
		struct pm_slice name = pm_slice_trim(pm_slice_cut(rest, ',', &rest));
		size_t i;

		for (i = 0; i < HOOK_COUNT && !pm_slice_is(name, hooks[i].name); i++)
			;
		if (i == HOOK_COUNT)
			return cli_fail(CLI_USAGE, "run",
					"'%s' is not a hook: expects one of %s",
					pm_slice_quote(name).text, names + 2);
		chosen[i] = true;
	}
	for (size_t i = 0; i < HOOK_COUNT && !status; i++)
		if (chosen[i])
			status = load(i);
	return status;
}
