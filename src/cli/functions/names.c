/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/functions/names.h"

#include <stdlib.h>
#include <string.h>

#include "cli/functions/code.h"
#include "core/text/grow.h"
#include "core/text/text.h"

static bool was_found(const struct trees *trees, uint32_t pattern)
{
	for (uint32_t t = 0; t < trees->count; t++)
		if (pattern < trees->at[t].pattern_count && trees->at[t].found[pattern])
			return true;
	return false;
}

/* Returns the tree that is looked at for names: of the program, and not of the shell that
 * has started it. */
static const struct tree *last_program(const struct trees *trees)
{
	for (uint32_t t = trees->count; t--;)
		if (trees->at[t].pid == trees->at[0].pid && !trees->at[t].execs)
			return &trees->at[t];
	return &trees->at[0];
}

/* The files of all processes, each once. */
struct files {
	char **paths;
	uint32_t count;
};

static void add_files(const struct tree *tree, struct files *files)
{
	for (uint32_t i = 0; i < tree->object_count; i++) {
		uint32_t f = 0;

		while (f < files->count && strcmp(files->paths[f], tree->objects[i]) != 0)
			f++;
		if (f == files->count && PM_GROW(files->paths, files->count))
			files->paths[files->count++] = tree->objects[i];
	}
}

static bool look(const struct cli_functions *functions, const struct trees *trees,
		 struct code_name *names)
{
	const struct tree *last = last_program(trees);
	struct files files = {NULL, 0};
	bool known;

	for (uint32_t i = 0; i < functions->name_count; i++) {
		names[i].pattern = functions->names[i];
		names[i].near.wanted = pm_slice_of(functions->names[i]);
	}
	/* The last file is looked at first. */
	for (uint32_t t = trees->count; t--;)
		if (&trees->at[t] != last)
			add_files(&trees->at[t], &files);
	add_files(last, &files);
	known = code_look(files.paths, files.count, names, functions->name_count);
	free(files.paths);
	return known;
}

/* Says why no function was counted by the pattern. Returns the exit status. */
static int complain(const struct code_name *name, bool known, const struct tree *tree)
{
	struct pm_quote quote = pm_slice_quote(pm_slice_of(name->pattern));
	const char *near = name->near.best;

	if (name->has_code && !name->has_variants) {
		cli_complain("run", "--function: '%s' was not called", quote.text);
		return 0;
	}
	if (name->has_variants)
		cli_complain("run",
			     "--function: '%s' stands for variants, one of which is "
			     "chosen when the program starts (an ifunc): count that one "
			     "by its own name, which --functions=0 shows",
			     quote.text);
	else if (name->inlined)
		cli_complain(
			"run",
			"--function: '%s' has no code of its own: the compiler inlined "
			"'%s'%s in %u place%s, and its callers have its counts. Compile "
			"it with __attribute__((noinline)), or all with -fno-inline",
			quote.text, name->inline_name,
			name->inlines_others ? " and others" : "", name->inlined,
			name->inlined == 1 ? "" : "s");
	else if (!tree->has_symbols)
		cli_complain("run",
			     "--function: no function matches '%s': '%s' has no symbols "
			     "(it is stripped). Count one that is not, or install its "
			     "debug symbols",
			     quote.text, tree->program);
	else
		cli_complain("run", "--function: no function %s '%s'%s%s%s",
			     known ? "matches" : "was called that matches", quote.text,
			     *near ? ": did you mean '" : "", near, *near ? "'?" : "");
	return CLI_FAILED;
}

static void note_inlined(struct names *names, const struct code_name *name)
{
	if (name->inlines_others)
		PM_NOTE(names,
			"functions that '%s' matches, such as '%s', are inlined in %u "
			"places, too: there they count in their callers",
			name->pattern, name->inline_name, name->inlined);
	else
		PM_NOTE(names,
			"'%s' is inlined in %u place%s, too: there it counts in its "
			"caller",
			name->inline_name, name->inlined, name->inlined == 1 ? "" : "s");
}

/* A pattern may have its variants, too. */
static void note_variants(struct names *names, const struct code_name *name)
{
	if (!strpbrk(name->pattern, "*?"))
		PM_NOTE(names,
			"'%s' also stands for variants, one of which is chosen when the "
			"program starts (an ifunc): that one has a name of its own, and "
			"is not counted by this one",
			name->pattern);
}

int names_look(const struct cli_functions *functions, const struct trees *trees,
	       struct names *names)
{
	struct code_name *looked;
	int status = 0;
	bool known;

	*names = (struct names){0};
	if (!functions->name_count)
		return 0;
	looked = calloc(functions->name_count, sizeof(looked[0]));
	if (!looked)
		return cli_no_memory("run");
	known = look(functions, trees, looked);
	for (uint32_t i = 0; i < functions->name_count; i++) {
		if (!was_found(trees, i)) {
			int one = complain(&looked[i], known, last_program(trees));

			status = status ? status : one;
			continue;
		}
		if (looked[i].inlined)
			note_inlined(names, &looked[i]);
		if (looked[i].has_variants)
			note_variants(names, &looked[i]);
	}
	free(looked);
	return status;
}

void names_free(struct names *names)
{
	for (uint32_t i = 0; i < names->note_count; i++)
		free(names->notes[i]);
	free(names->notes);
}
