/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of ceilings, finding the highest, and the file that keeps them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ceilings/ceilings.h"
#include "cli/common/common.h"
#include "core/text/grow.h"
#include "core/text/text.h"

#define FORMAT "perfmon ceilings 1"

static const char *const names[CLI_CEILINGS] = {
	[CLI_CEILING_L1] = "L1",
	[CLI_CEILING_L2] = "L2",
	[CLI_CEILING_L3] = "L3",
	[CLI_CEILING_MEMORY] = "memory",
	[CLI_CEILING_DP] = "double precision",
	[CLI_CEILING_SP] = "single precision",
};
static const char *const ways[CLI_CEILING_WAYS] = {
	[CLI_BY_LOAD] = "load",
	[CLI_BY_COPY] = "copy",
	[CLI_BY_TRIAD] = "triad",
	[CLI_BY_FMA] = "FMA",
	[CLI_BY_ADD_MUL] = "add and multiply",
};

const char *cli_ceiling_name(enum cli_ceiling_of of)
{
	return names[of];
}

/* --- finding ---------------------------------------------------------------------------- */

const struct cli_ceiling *cli_ceiling_find(const struct cli_ceilings *ceilings,
					   enum cli_ceiling_of of, enum cli_ceiling_by by,
					   uint32_t threads, uint32_t bits)
{
	const struct cli_ceiling *best = NULL;

	if (by == CLI_CEILING_WAYS && of == CLI_CEILING_MEMORY)
		by = CLI_BY_TRIAD;
	for (uint32_t i = 0; i < ceilings->count; i++) {
		const struct cli_ceiling *c = &ceilings->at[i];

		if (c->of == of && c->threads == threads && (!bits || c->bits == bits) &&
		    (by == CLI_CEILING_WAYS || c->by == by) &&
		    (!best || c->rate > best->rate))
			best = c;
	}
	return best;
}

double cli_ceiling_rate(const struct cli_ceilings *ceilings, enum cli_ceiling_of of,
			uint32_t threads)
{
	const struct cli_ceiling *c =
		cli_ceiling_find(ceilings, of, CLI_CEILING_WAYS, threads, 0);

	return c ? c->rate : 0;
}

/* --- writing ---------------------------------------------------------------------------- */

void cli_ceilings_put(const struct cli_ceilings *ceilings, struct pm_json *j)
{
	pm_json_begin(j, "ceilings", "[");
	for (uint32_t i = 0; i < ceilings->count; i++) {
		const struct cli_ceiling *c = &ceilings->at[i];

		pm_json_begin_line(j);
		pm_json_string(j, "of", names[c->of]);
		pm_json_string(j, "by", ways[c->by]);
		pm_json_number(j, "threads", c->threads);
		pm_json_number(j, "bits", c->bits);
		pm_json_real(j,
			     c->of < CLI_CEILING_LEVELS ? "bytes_per_s" : "flops_per_s",
			     c->rate, true);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

int cli_ceilings_write(const struct cli_ceilings *ceilings,
		       int (*sink)(void *argument, const char *text, size_t size),
		       void *argument)
{
	struct pm_out out = {.sink = sink, .argument = argument};
	struct pm_json j = {&out, true};

	pm_json_begin(&j, NULL, "{");
	pm_json_string(&j, "format", FORMAT);
	pm_json_string(&j, "host", ceilings->host);
	pm_json_string(&j, "cpu", ceilings->cpu);
	pm_json_string(&j, "architecture", ceilings->architecture);
	pm_json_string(&j, "cpus", ceilings->cpus);
	pm_json_bool(&j, "quick", ceilings->quick);
	pm_json_real(&j, "others_percent", 100 * ceilings->taken, true);
	cli_ceilings_put(ceilings, &j);
	pm_json_close(&j, "}");
	pm_out_text(&out, "\n");
	return pm_out_end(&out);
}

/* --- reading ---------------------------------------------------------------------------- */

/* A file names its machine by these. */
enum { FORM, HOST, CPU, ARCHITECTURE, CPUS, TEXTS };

static const char *const texts[TEXTS] = {"format", "host", "cpu", "architecture", "cpus"};

/* Returns which of COUNT WORDS is next, or fails. */
static int take_one_of(struct cli_json *j, const char *const *words, int count)
{
	char *text = cli_json_string(j);
	int found = -1;

	for (int i = 0; text && i < count; i++)
		if (!strcmp(text, words[i]))
			found = i;
	free(text);
	if (found < 0)
		cli_json_fail(j);
	return found < 0 ? 0 : found;
}

/* Takes a whole number of 1 to a million, or fails. */
static uint32_t take_count(struct cli_json *j)
{
	double number = cli_json_number(j);

	if (number >= 1 && number <= 1e6)
		return (uint32_t)number;
	cli_json_fail(j);
	return 0;
}

static void take_ceiling(struct cli_json *j, struct cli_ceilings *ceilings)
{
	struct cli_ceiling c = {CLI_CEILINGS, CLI_CEILING_WAYS, .rate = NAN};
	const char *name;

	cli_json_begin(j, '{');
	while ((name = cli_json_member(j))) {
		if (!strcmp(name, "of"))
			c.of = (enum cli_ceiling_of)take_one_of(j, names, CLI_CEILINGS);
		else if (!strcmp(name, "by"))
			c.by = (enum cli_ceiling_by)take_one_of(j, ways,
								CLI_CEILING_WAYS);
		else if (!strcmp(name, "threads"))
			c.threads = take_count(j);
		else if (!strcmp(name, "bits"))
			c.bits = take_count(j);
		else
			c.rate = cli_json_number(j);
	}
	if (c.of == CLI_CEILINGS || c.by == CLI_CEILING_WAYS || !c.threads || !c.bits ||
	    !(c.rate > 0) || isinf(c.rate))
		cli_json_fail(j);
	else if (!j->bad && PM_GROW(ceilings->at, ceilings->count))
		ceilings->at[ceilings->count++] = c;
	else if (!j->bad)
		cli_json_no_memory(j);
}

/* *ENTRY becomes the text of the one that cannot be taken, as far as it was read. */
static void take_ceilings(struct cli_json *j, struct cli_ceilings *ceilings,
			  struct pm_slice *entry)
{
	cli_json_begin(j, '[');
	while (cli_json_next(j, ']')) {
		const char *begin = j->at;

		take_ceiling(j, ceilings);
		if (j->bad)
			*entry = (struct pm_slice){begin, (size_t)(j->at - begin)};
	}
}

static void take_member(struct cli_json *j, struct cli_ceilings *ceilings,
			char *of[TEXTS], const char *name, struct pm_slice *entry)
{
	if (cli_json_text(j, name, texts, TEXTS, of))
		return;
	if (!strcmp(name, "quick")) {
		ceilings->quick = cli_json_bool(j);
	} else if (!strcmp(name, "others_percent")) {
		ceilings->taken = cli_json_number(j) / 100;
		if (!(ceilings->taken >= 0 && ceilings->taken <= 1))
			cli_json_fail(j);
	} else if (!strcmp(name, "ceilings")) {
		take_ceilings(j, ceilings, entry);
	} else {
		cli_json_skip(j);
	}
}

static bool differs(const char *a, const char *b)
{
	return !a || strcmp(a, b) != 0;
}

/* Compares what the file at PATH is OF with this machine. */
static int check_identity(const struct cli_ceilings *here, char *of[TEXTS],
			  const char *path, struct pm_diag *diag)
{
	if (differs(of[HOST], here->host) || differs(of[CPU], here->cpu) ||
	    differs(of[ARCHITECTURE], here->architecture))
		return pm_diag_set(diag, -EXDEV,
				   "'%s' has the ceilings of another machine ('%s', %s), "
				   "not of '%s', %s: name another file, or remove it",
				   path, of[HOST] ?: "", of[CPU] ?: "", here->host,
				   here->cpu);
	if (differs(of[CPUS], here->cpus))
		return pm_diag_set(diag, -EXDEV,
				   "'%s' has the ceilings of CPUs %s, and this process "
				   "may use CPUs %s: name another file, or remove it",
				   path, of[CPUS] ?: "", here->cpus);
	return 0;
}

int cli_ceilings_read(struct cli_ceilings *ceilings, const char *path,
		      struct pm_diag *diag)
{
	char *of[TEXTS] = {NULL};
	struct cli_json j = {.bad = false};
	struct pm_slice entry = {NULL, 0};
	const char *name;
	char *text;
	int err = cli_json_file(path, &text);

	if (err == -ENOENT)
		return err;
	if (err) {
		free(text);
		return pm_diag_set(diag, err, "'%s': %s", path, strerror(-err));
	}
	j.at = text;
	cli_json_begin(&j, '{');
	while ((name = cli_json_member(&j)))
		take_member(&j, ceilings, of, name, &entry);
	if (j.no_memory)
		err = pm_diag_set(diag, -ENOMEM, "'%s': %s", path, strerror(ENOMEM));
	else if (j.bad || differs(of[FORM], FORMAT))
		err = pm_diag_set(diag, -EINVAL,
				  "'%s' is not a file of ceilings of this version%s%s: "
				  "name another file, or remove it",
				  path, entry.at ? ", by the entry " : "",
				  pm_slice_quote(pm_slice_trim(entry)).text);
	else
		err = check_identity(ceilings, of, path, diag);
	if (err)
		cli_ceilings_free(ceilings);
	for (int i = 0; i < TEXTS; i++)
		free(of[i]);
	free(text);
	return err;
}
