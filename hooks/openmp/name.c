/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/name.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <perfmon/region.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/code/elf.h"

/* Returns the file at PATH, which is loaded at BASE, or NULL if the loader knows all that it tells. It is kept:
 * many constructs have one file. The caller has the lock. */
static const struct pm_code_file *file_of(const char *path, uintptr_t base)
{
	static struct pm_code_file *kept;
	static uintptr_t kept_base;
	static char *kept_path;

	if (kept_path && kept_base == base && !strcmp(kept_path, path))
		return kept;
	pm_code_close(kept);
	free(kept_path);
	kept = pm_elf_tells_more(path) ? pm_code_open(path, base) : NULL;
	kept_base = base;
	kept_path = strdup(path);
	return kept;
}

static void look_up(const char *path, uintptr_t base, uintptr_t address,
		    struct pm_code *code)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct pm_code_file *file;

	pthread_mutex_lock(&lock);
	file = file_of(path, base);
	if (file)
		pm_code_look_up(file, address, code);
	pthread_mutex_unlock(&lock);
}

void code_name(const void *address, const char *kind, char *name, size_t size,
	       struct code_origin *origin)
{
	const char *path, *file;
	struct link_map *module = NULL;
	struct pm_code code = {.line = 0};
	Dl_info info;

	origin->module = NULL;
	if (!dladdr1(address, &info, (void **)&module, RTLD_DL_LINKMAP) || !module) {
		snprintf(name, size, "%p (%s)", address, kind);
		return;
	}
	/* The name of the program itself may be that of another file by now. */
	path = *module->l_name ? module->l_name : "/proc/self/exe";
	look_up(path, module->l_addr, (uintptr_t)address, &code);
	if (!code.symbol && info.dli_sname) {
		code.symbol = strdup(info.dli_sname);
		code.inside = (uintptr_t)address - (uintptr_t)info.dli_saddr;
	}
	if (code.symbol) {
		pm_code_name(&code, kind, name, size);
	} else {
		path = *module->l_name ? module->l_name : program_invocation_name;
		file = strrchr(path, '/');
		snprintf(name, size, "%.*s+0x%llx (%s)", (int)size - 64,
			 file ? file + 1 : path,
			 (unsigned long long)((uintptr_t)address - module->l_addr), kind);
	}
	if (!code.symbol || !code.line)
		*origin =
			(struct code_origin){module, (uintptr_t)address - module->l_addr};
	free(code.symbol);
	dlerror();
}

/* --- what a name is made of later ------------------------------------------------------ */

/* A module that is loaded, and its build id. */
struct wanted {
	const struct link_map *module;
	char build_id[PM_CODE_BUILD_ID];
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct wanted *wanted = argument;

	(void)size;
	if (info->dlpi_addr != wanted->module->l_addr ||
	    strcmp(info->dlpi_name ? info->dlpi_name : "", wanted->module->l_name) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE &&
		    pm_elf_build_id((const char *)(info->dlpi_addr + part->p_vaddr),
				    part->p_memsz, wanted->build_id))
			break;
	}
	return 1;
}

void code_tell_origin(struct perfmon_region *region, const struct code_origin *origin)
{
	struct wanted wanted = {.module = origin->module};
	char path[PATH_MAX];
	ssize_t length;

	if (!origin->module)
		return;
	dl_iterate_phdr(look_at_module, &wanted);
	if (*origin->module->l_name) {
		if (!realpath(origin->module->l_name, path))
			return;
	} else {
		length = readlink("/proc/self/exe", path, sizeof(path) - 1);
		if (length <= 0)
			return;
		path[length] = '\0';
	}
	perfmon_region_code(region, path, wanted.build_id, origin->offset);
}
