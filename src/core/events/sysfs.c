/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/events/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"

#define DEVICES "/sys/bus/event_source/devices"

/* The path of FILE, or DIRECTORY/FILE, of a PMU. Both names are the kernel's, of at most NAME_MAX
 * bytes. */
struct path {
	char text[1024];
};

static struct path path_of(const struct pm_sysfs_pmu *pmu, const char *file)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), DEVICES "/%s/%s", pmu->name, file);
	return path;
}

/* Finds whether PMU, whose name is known, counts the work of a CPU. perf's rule: a core
 * PMU is called cpu, or is one of several and lists its CPUs. */
static int pmu_is_core(struct pm_sysfs_pmu *pmu)
{
	ssize_t n = pm_file_read(path_of(pmu, "cpus").text, &pmu->cpus);

	pmu->core = n >= 0 || !strcmp(pmu->name, "cpu");
	return n == -ENOMEM ? -ENOMEM : 0;
}

/* Reads the other fields of PMU. */
static int pmu_open(struct pm_sysfs_pmu *pmu)
{
	int64_t type;
	int err = pm_file_number(path_of(pmu, "type").text, &type);
	ssize_t n;

	if (err)
		return err;
	if (type < 0 || type > UINT32_MAX)
		return -EINVAL;
	pmu->type = (uint32_t)type;
	if (!pmu->cpus) {
		n = pm_file_read(path_of(pmu, "cpumask").text, &pmu->cpus);
		pmu->uncore = n >= 0;
		if (n < 0 && n != -ENOMEM)
			pmu->cpus = strdup("");
	}
	return pmu->cpus ? 0 : -ENOMEM;
}

static void pmu_close(struct pm_sysfs_pmu *pmu)
{
	for (size_t i = 0; i < pmu->term_count; i++)
		free(pmu->terms[i].name);
	free(pmu->terms);
	free(pmu->alias_block);
	free(pmu->cpus);
	free(pmu->name);
}

void pm_sysfs_free(struct pm_sysfs *sysfs)
{
	if (!sysfs)
		return;
	for (size_t i = 0; i < sysfs->count; i++)
		pmu_close(&sysfs->pmus[i]);
	free(sysfs->pmus);
	free(sysfs);
}

/* Returns the lowest of its CPUs. */
static uint64_t first_cpu(const struct pm_sysfs_pmu *pmu)
{
	struct pm_slice number = {pmu->cpus, strspn(pmu->cpus, "0123456789")};
	uint64_t cpu;

	return pm_slice_number(number, &cpu) ? UINT64_MAX : cpu;
}

/* Sorts the core PMUs by their CPUs, because their names do not show the order. */
static void order_cores(struct pm_sysfs *sysfs)
{
	for (size_t i = 1; i < sysfs->core_count; i++)
		for (size_t k = i; k; k--) {
			struct pm_sysfs_pmu *a = pm_sysfs_core(sysfs, k - 1);
			struct pm_sysfs_pmu *b = pm_sysfs_core(sysfs, k);
			struct pm_sysfs_pmu later = *a;

			if (first_cpu(a) <= first_cpu(b))
				break;
			*a = *b;
			*b = later;
		}
}

/* Opens the core PMUs, or the others. Omits PMUs that cannot be opened. */
static int open_pmus(struct pm_sysfs *sysfs, bool core)
{
	size_t kept = 0, i;
	int err = 0;

	for (i = 0; i < sysfs->count; i++) {
		struct pm_sysfs_pmu *pmu = &sysfs->pmus[i];

		if (!err && pmu->core == core)
			err = pmu_open(pmu);
		if (err && err != -ENOMEM) {
			pmu_close(pmu);
			err = 0;
			continue;
		}
		if (kept != i)
			sysfs->pmus[kept] = *pmu;
		kept++;
	}
	sysfs->count = kept;
	return err;
}

int pm_sysfs_load(struct pm_sysfs **out)
{
	struct pm_sysfs *sysfs = calloc(1, sizeof(*sysfs));
	char **names = NULL;
	size_t count = 0;
	int err;

	if (!sysfs)
		return -ENOMEM;
	err = pm_dir_list(DEVICES, &names, &count);
	if (err && err != -ENOENT && err != -ENOTDIR)
		goto fail;
	err = -ENOMEM;
	sysfs->pmus = calloc(count + 1, sizeof(*sysfs->pmus));
	if (!sysfs->pmus)
		goto fail;
	while (sysfs->count < count) {
		struct pm_sysfs_pmu *pmu = &sysfs->pmus[sysfs->count];

		pmu->name = strdup(names[sysfs->count++]);
		if (!pmu->name || pmu_is_core(pmu))
			goto fail;
	}
	err = open_pmus(sysfs, true);
	if (err)
		goto fail;
	for (size_t i = 0; i < sysfs->count; i++)
		sysfs->core_count += sysfs->pmus[i].core;
	free(names);
	order_cores(sysfs);
	*out = sysfs;
	return 0;
fail:
	free(names);
	pm_sysfs_free(sysfs);
	return err;
}

int pm_sysfs_complete(struct pm_sysfs *sysfs)
{
	int err = sysfs->complete ? 0 : open_pmus(sysfs, false);

	sysfs->complete = !err;
	return err;
}

/* Parses "config1:0-7,32-35" into the word and the mask of the bits. */
static int parse_format(const char *text, unsigned int *config, uint64_t *mask)
{
	struct pm_slice bits, word = pm_slice_cut(pm_slice_of(text), ':', &bits);
	uint64_t index = 0;

	if (!pm_slice_starts(word, "config") || !bits.at)
		return -EINVAL;
	word.at += strlen("config");
	word.length -= strlen("config");
	if (word.length && pm_slice_number(word, &index))
		return -EINVAL;
	*config = index < PM_SYSFS_CONFIGS ? (unsigned int)index : PM_SYSFS_CONFIGS;
	for (*mask = 0; bits.at;) {
		struct pm_slice to, from = pm_slice_cut(bits, ',', &bits);
		uint64_t low, high;

		from = pm_slice_cut(pm_slice_trim(from), '-', &to);
		if (pm_slice_number(from, &low))
			return -EINVAL;
		high = low;
		if (to.at && pm_slice_number(to, &high))
			return -EINVAL;
		if (low > high || high > 63)
			return -EINVAL;
		*mask |= (UINT64_MAX >> (63 - (high - low))) << low;
	}
	return 0;
}

static int load_terms(struct pm_sysfs_pmu *pmu)
{
	char file[512], **names;
	size_t count;
	int err = pm_dir_list(path_of(pmu, "format").text, &names, &count);

	if (err)
		return err == -ENOMEM ? err : 0;
	pmu->terms = calloc(count + 1, sizeof(*pmu->terms));
	for (size_t i = 0; pmu->terms && i < count; i++) {
		struct pm_sysfs_term *term = &pmu->terms[pmu->term_count];
		char *text;

		snprintf(file, sizeof(file), "format/%s", names[i]);
		if (pm_file_read(path_of(pmu, file).text, &text) < 0)
			continue;
		/* A format that cannot be read counts as absent: its term is unknown. */
		err = parse_format(text, &term->config, &term->mask);
		free(text);
		if (err)
			continue;
		term->name = strdup(names[i]);
		if (!term->name) {
			free(names);
			return -ENOMEM;
		}
		pmu->term_count++;
	}
	free(names);
	return pmu->terms ? 0 : -ENOMEM;
}

static bool is_attribute(const char *name)
{
	static const char *const suffixes[] = {".scale", ".unit", ".per-pkg",
					       ".snapshot"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (dot && dot > name && !strcmp(dot, suffixes[i]))
			return true;
	return false;
}

int pm_sysfs_pmu_load(struct pm_sysfs_pmu *pmu)
{
	int64_t precise;
	size_t count = 0;
	int err;

	if (pmu->loaded)
		return 0;
	for (size_t i = 0; i < pmu->term_count; i++)
		free(pmu->terms[i].name);
	free(pmu->terms);
	pmu->terms = NULL;
	pmu->term_count = 0;
	err = load_terms(pmu);
	if (err)
		return err;
	err = pm_dir_list(path_of(pmu, "events").text, &pmu->alias_block, &count);
	if (err == -ENOMEM)
		return err;
	pmu->aliases = pmu->alias_block;
	for (size_t i = 0; i < count; i++)
		if (!is_attribute(pmu->aliases[i]))
			pmu->aliases[pmu->alias_count++] = pmu->aliases[i];
	if (!pm_file_number(path_of(pmu, "caps/max_precise").text, &precise) &&
	    precise >= 0 && precise <= 3)
		pmu->max_precise = (unsigned int)precise;
	pmu->loaded = true;
	return 0;
}

struct pm_sysfs_pmu *pm_sysfs_core(struct pm_sysfs *sysfs, size_t i)
{
	for (size_t p = 0; p < sysfs->count; p++)
		if (sysfs->pmus[p].core && !i--)
			return &sysfs->pmus[p];
	return NULL;
}

struct pm_sysfs_pmu *pm_sysfs_by_name(struct pm_sysfs *sysfs, const char *name)
{
	for (size_t p = 0; p < sysfs->count; p++) {
		if (strcmp(sysfs->pmus[p].name, name) != 0)
			continue;
		if (sysfs->pmus[p].core || sysfs->complete)
			return &sysfs->pmus[p];
		return pm_sysfs_complete(sysfs) ? NULL : pm_sysfs_by_name(sysfs, name);
	}
	return NULL;
}

struct pm_sysfs_pmu *pm_sysfs_by_type(struct pm_sysfs *sysfs, uint32_t type)
{
	if (pm_sysfs_complete(sysfs))
		return NULL;
	for (size_t p = 0; p < sysfs->count; p++)
		if (sysfs->pmus[p].type == type)
			return &sysfs->pmus[p];
	return NULL;
}

const struct pm_sysfs_term *pm_sysfs_term_find(const struct pm_sysfs_pmu *pmu,
					       struct pm_slice name)
{
	for (size_t i = 0; i < pmu->term_count; i++)
		if (pm_slice_is(name, pmu->terms[i].name))
			return &pmu->terms[i];
	return NULL;
}

const char *pm_sysfs_alias_find(const struct pm_sysfs_pmu *pmu, struct pm_slice name)
{
	for (size_t i = 0; i < pmu->alias_count; i++)
		if (pm_slice_is(name, pmu->aliases[i]))
			return pmu->aliases[i];
	return NULL;
}

int pm_sysfs_alias_read(const struct pm_sysfs_pmu *pmu, const char *name,
			struct pm_sysfs_alias *alias, struct pm_diag *diag)
{
	char file[512], reason[64], *text;
	ssize_t n;
	int err;

	memset(alias, 0, sizeof(*alias));
	alias->scale = 1.0;
	snprintf(file, sizeof(file), "events/%s", name);
	n = pm_file_read(path_of(pmu, file).text, &alias->terms);
	if (n < 0)
		return pm_diag_set(diag, (int)n, "cannot read " DEVICES "/%s/%s: %s",
				   pmu->name, file,
				   strerror_r((int)-n, reason, sizeof(reason)));
	snprintf(file, sizeof(file), "events/%s.unit", name);
	if (pm_file_read(path_of(pmu, file).text, &text) >= 0) {
		snprintf(alias->unit, sizeof(alias->unit), "%s", text);
		free(text);
	}
	snprintf(file, sizeof(file), "events/%s.scale", name);
	if (pm_file_read(path_of(pmu, file).text, &text) < 0)
		return 0;
	err = pm_text_double(text, &alias->scale);
	if (!err && alias->scale == 0.0)
		err = -EINVAL;
	if (err) {
		pm_diag_set(diag, err, DEVICES "/%s/%s holds '%s', which is not a scale",
			    pmu->name, file, pm_slice_quote(pm_slice_of(text)).text);
		free(alias->terms);
		alias->terms = NULL;
	}
	free(text);
	return err;
}

uint64_t pm_sysfs_spread(uint64_t value, uint64_t mask, uint64_t *left)
{
	uint64_t placed = 0;

	for (uint64_t bit; mask; mask &= mask - 1, value >>= 1) {
		bit = mask & -mask;
		if (value & 1)
			placed |= bit;
	}
	*left = value;
	return placed;
}
