/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the command line that counts a command, and its environment. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "core/text/bytes.h"
#include "core/text/text.h"
#include "core/valgrind/exact.h"

#if defined(__x86_64__)
#define CPU	"x86-64"
#define MACHINE EM_X86_64
#define TOOL	"perfmon-amd64-linux"
#elif defined(__aarch64__)
#define CPU	"arm64"
#define MACHINE EM_AARCH64
#define TOOL	"perfmon-arm64-linux"
#else
#define CPU	""
#define MACHINE EM_NONE
#define TOOL	"perfmon-none"
#endif

/* --- programs and the tool ----------------------------------------------------------- */

/* Makes DIR/NAME; an empty DIR is the current one. */
static bool join(char path[PATH_MAX], struct pm_slice dir, const char *name)
{
	return snprintf(path, PATH_MAX, "%.*s%s%s", (int)dir.length, dir.at,
			dir.length ? "/" : "", name) < PATH_MAX;
}

/* Returns 0, or the reason why PATH cannot be executed. */
static int try_program(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

/* Finds the file that execvp(3) executes for NAME. Returns 0 or a negative errno. */
static int find_program(const char *name, char path[PATH_MAX])
{
	const char *search = getenv("PATH");
	struct pm_slice rest = pm_slice_of(search ? search : "/bin:/usr/bin");
	int found = -ENOENT;

	if (strchr(name, '/'))
		return join(path, (struct pm_slice){"", 0}, name) ? try_program(path)
								  : -ENAMETOOLONG;
	while (*name && rest.at) {
		struct pm_slice dir = pm_slice_cut(rest, ':', &rest);
		int err = join(path, dir, name) ? try_program(path) : -ENAMETOOLONG;

		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
	}
	return found;
}

/* Finds the folder with the tool for this CPU: PERFMON_EXACT_DIR if it is set, else where it was built
 * or installed. */
static bool find_tool(char path[PATH_MAX])
{
	const char *chosen = cli_variable("PERFMON_EXACT_DIR");
	char tool[PATH_MAX];

	if (!chosen)
		return cli_folder_find("exact/valgrind", EXACTDIR, TOOL, X_OK, path);
	return join(path, pm_slice_of(""), chosen) &&
	       join(tool, pm_slice_of(path), TOOL) && !access(tool, X_OK);
}

bool cli_exact_is_there(void)
{
	char path[PATH_MAX];

	return find_tool(path) && !find_program("valgrind", path);
}

/*
 * --- programs that Valgrind would refuse ---------------------------------------------
 */

/* Returns whether the file at PATH is a program for another CPU or another size of
 * pointers. */
static bool is_foreign(const char *path)
{
	Elf64_Ehdr header = {.e_machine = EM_NONE};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, &header, sizeof(header));
	close(fd);
	if (n < (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	return header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE;
}

static bool has_rights_of_its_own(const char *path)
{
	struct stat status;

	return (!stat(path, &status) &&
		(status.st_mode & S_ISUID ||
		 (status.st_mode & S_ISGID && status.st_mode & S_IXGRP))) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

static int check_command(const char *subcommand, const char *name, const char *path)
{
	if (has_rights_of_its_own(path))
		return cli_fail(126, subcommand,
				"cannot run '%s': it is a set-user-ID program, or has "
				"capabilities, and Valgrind runs no such program: count "
				"a copy without them",
				name);
	if (is_foreign(path))
		return cli_fail(
			126, subcommand,
			"cannot run '%s': --exact counts 64-bit programs of %s alone",
			name, CPU);
	return 0;
}

/* --- environment --------------------------------------------------------------------- */

/* Returns a word's size on the stack of a program. */
static size_t on_stack(const char *word)
{
	return strlen(word) + 1 + sizeof(word);
}

/*
 * The stack begins below the arguments and the environment. Its address decides which
 * code functions such as memcpy() use. So arguments and environment are both padded to
 * whole pages, and a longer file name changes no count.
 */
#define PADDING	    "PERFMON_EXACT_PADDING"
#define PADDED_SIZE 4096

static int pad(char **command, const char *path)
{
	size_t size = strlen(path) + 1;
	char padding[PADDED_SIZE];

	if (setenv(PADDING, "", 1))
		return -1;
	for (char **word = environ; *word; word++)
		size += on_stack(*word);
	for (char **word = command; *word; word++)
		size += on_stack(*word);
	size = (PADDED_SIZE - size % PADDED_SIZE) % PADDED_SIZE;
	memset(padding, '.', size);
	padding[size] = '\0';
	return setenv(PADDING, padding, 1);
}

/* Returns 0, or CLI_FAILED after a message. */
static int set_environment(const char *subcommand, const char *tool, char **command,
			   const char *path)
{
	const char *components = cli_variable("HWLOC_COMPONENTS");
	char here[PATH_MAX];

	/* hwloc's detection of the CPU does not work under Valgrind, and would print messages. */
	if (!(components && strstr(components, "x86")) &&
	    cli_variable_add(subcommand, "HWLOC_COMPONENTS", ",", "-x86"))
		return CLI_FAILED;
	/* If "valgrind" is a script, its shell would set it. */
	if ((!getenv("PWD") && getcwd(here, sizeof(here)) &&
	     cli_variable_set(subcommand, "PWD", here)) ||
	    cli_variable_set(subcommand, "VALGRIND_LIB", tool))
		return CLI_FAILED;
	return pad(command, path) ? cli_no_memory(subcommand) : 0;
}

/* --- command line -------------------------------------------------------------------- */

static const char *const fixed[] = {"valgrind", "-q", "--tool=perfmon",
				    /* Neither VALGRIND_OPTS nor .valgrindrc. */
				    "--command-line-only=yes", "--trace-children=yes",
				    /*
				     * Includes the main thread; each takes some memory.
				     */
				    "--max-threads=4001",
				    /* No files in /tmp for a debugger. */
				    "--vgdb=no"};
#define FIXED (sizeof(fixed) / sizeof(fixed[0]))

/* Appends PREFIX and TEXT as a word. */
static void append(struct pm_bytes *words, const char *prefix, const char *text)
{
	pm_bytes_add(words, prefix, strlen(prefix));
	pm_bytes_add(words, text, strlen(text) + 1);
}

/* Returns the options that are not the same for all commands, each with a NUL behind it. */
static struct pm_bytes make_options(const struct cli_exact_events *events,
				    const struct cli_exact_files *files)
{
	char *names = cli_exact_list(events, cli_exact_name);
	struct pm_bytes options = {.failed = !names};

	append(&options, "--events=", names ?: "");
	if (files->totals)
		append(&options, "--totals=", files->totals);
	if (files->trees)
		append(&options, "--tree=", files->trees);
	for (uint32_t i = 0; i < files->function_count; i++)
		append(&options, "--function=", files->functions[i]);
	if (files->all_functions)
		append(&options, "--functions=yes", "");
	append(&options, "--", "");
	free(names);
	return options;
}

static char **make_line(const struct cli_exact_events *events,
			const struct cli_exact_files *files, char **command)
{
	struct pm_bytes options = make_options(events, files);
	size_t words = FIXED + 6 + files->function_count, n = 0;
	char **line = NULL, *at;

	for (char **word = command; *word; word++)
		words++;
	if (!options.failed)
		line = calloc(1, words * sizeof(line[0]) + options.used);
	if (!line)
		goto out;
	at = memcpy(line + words, options.data, options.used);
	for (size_t i = 0; i < FIXED; i++)
		line[n++] = (char *)(uintptr_t)fixed[i];
	for (const char *end = at + options.used; at < end; at += strlen(at) + 1)
		line[n++] = at;
	while (*command)
		line[n++] = *command++;
out:
	pm_bytes_free(&options);
	return line;
}

bool cli_exact_is_running(void)
{
	return pm_exact() != NULL;
}

int cli_exact_start(const char *subcommand, const struct cli_exact_events *events,
		    const struct cli_exact_files *files, char **command, char ***line)
{
	char path[PATH_MAX], tool[PATH_MAX], valgrind[PATH_MAX];
	const char *chosen = cli_variable("PERFMON_EXACT_DIR");
	int status, err = find_program(command[0], path);

	*line = NULL;
	/* As below `perfmon run --exact mpirun`: all programs are counted already. */
	if (pm_exact() && !files->totals)
		return 0;
	if (pm_is_translated())
		return cli_fail(CLI_FAILED, subcommand,
				"--exact cannot start Valgrind below Valgrind");
	if (err)
		return cli_child_cannot_run(subcommand, command[0], err);
	if (!*CPU)
		return cli_fail(CLI_FAILED, subcommand,
				"--exact counts on x86-64 and arm64 alone");
	if (find_program("valgrind", valgrind))
		return cli_fail(CLI_FAILED, subcommand,
				"--exact needs Valgrind: install the package valgrind");
	if (!find_tool(tool) && chosen)
		return cli_fail(CLI_FAILED, subcommand,
				"--exact needs its Valgrind tool, which is not in "
				"PERFMON_EXACT_DIR '%s'",
				chosen);
	if (!find_tool(tool))
		return cli_fail(
			CLI_FAILED, subcommand,
			"perfmon was built without the tool that --exact needs: install "
			"the package valgrind, then configure and build perfmon again");
	status = check_command(subcommand, command[0], path)
			 ?: set_environment(subcommand, tool, command, path);
	if (status)
		return status;
	*line = make_line(events, files, command);
	return *line ? 0 : cli_no_memory(subcommand);
}
