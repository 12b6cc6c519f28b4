/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/cpu_kind.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* --- which
 * ------------------------------------------------------------------------------
 */

/* The value of the line at LINE if its key is KEY, or NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return NULL;
	line += length;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	line++;
	return line + strspn(line, " \t");
}

static void add(struct pm_cpu_kinds *kinds, const struct pm_cpu_kind *kind)
{
	for (uint32_t i = 0; i < kinds->count; i++)
		if (kinds->kind[i].maker == kind->maker &&
		    kinds->kind[i].family == kind->family &&
		    kinds->kind[i].model == kind->model)
			return;
	if (kinds->count < PM_CPU_KINDS)
		kinds->kind[kinds->count++] = *kind;
}

/* A CPU's lines come in a fixed order, and its model or part is the last of the three. */
void pm_cpu_kinds_read(struct pm_cpu_kinds *kinds, const char *text)
{
	struct pm_cpu_kind kind = {.maker = PM_CPU_UNKNOWN};

	memset(kinds, 0, sizeof(*kinds));
	for (const char *line = text; *line;
	     line += strcspn(line, "\n"), line += !!*line) {
		const char *value;

		value = value_of(line, "processor");
		if (value)
			kind = (struct pm_cpu_kind){.maker = PM_CPU_UNKNOWN};
		value = value_of(line, "vendor_id");
		if (value)
			kind.maker = !strncmp(value, "GenuineIntel", 12) ? PM_CPU_INTEL
				     : !strncmp(value, "AuthenticAMD", 12)
					     ? PM_CPU_AMD
					     : PM_CPU_UNKNOWN;
		value = value_of(line, "CPU implementer");
		if (value) {
			kind.maker = PM_CPU_ARM;
			kind.family = (uint32_t)strtoul(value, NULL, 0);
		}
		value = value_of(line, "cpu family");
		if (value)
			kind.family = (uint32_t)strtoul(value, NULL, 0);
		value = value_of(line, kind.maker == PM_CPU_ARM ? "CPU part" : "model");
		if (value) {
			kind.model = (uint32_t)strtoul(value, NULL, 0);
			add(kinds, &kind);
		}
	}
}

/* --- what is known
 * ----------------------------------------------------------------------
 */

struct models {
	enum pm_cpu_maker maker;
	uint32_t family;
	uint32_t first, last; /* model or part */
};

static bool is_of(const struct pm_cpu_kind *kind, const struct models *models)
{
	return kind->maker == models->maker && kind->family == models->family &&
	       kind->model >= models->first && kind->model <= models->last;
}

/*
 * Slots that the narrowest stage before execution (decode, rename or dispatch) has in a
 * cycle. Of the makers' optimisation guides, and of public measurements that agree.
 */
static const struct {
	struct models models;
	uint32_t width;
} widths[] = {
	{{PM_CPU_INTEL, 6, 0x4e, 0x4e}, 4}, /* Skylake and what kept its core */
	{{PM_CPU_INTEL, 6, 0x5e, 0x5e}, 4},    {{PM_CPU_INTEL, 6, 0x55, 0x55}, 4},
	{{PM_CPU_INTEL, 6, 0x8e, 0x8e}, 4},    {{PM_CPU_INTEL, 6, 0x9e, 0x9e}, 4},
	{{PM_CPU_INTEL, 6, 0x7d, 0x7e}, 5}, /* Ice Lake: Sunny Cove */
	{{PM_CPU_INTEL, 6, 0x6a, 0x6a}, 5},    {{PM_CPU_INTEL, 6, 0x6c, 0x6c}, 5},
	{{PM_CPU_INTEL, 6, 0x8f, 0x8f}, 6},  /* Sapphire Rapids: Golden Cove */
	{{PM_CPU_AMD, 0x17, 0x00, 0xff}, 5}, /* Zen 1 and 2 */
	{{PM_CPU_AMD, 0x19, 0x00, 0x0f}, 6}, /* Zen 3 */
	{{PM_CPU_AMD, 0x19, 0x20, 0x2f}, 6},   {{PM_CPU_AMD, 0x19, 0x50, 0x5f}, 6},
	{{PM_CPU_ARM, 0x41, 0xd08, 0xd08}, 3}, /* Cortex-A72 */
	{{PM_CPU_ARM, 0x41, 0xd44, 0xd44}, 8}, /* Cortex-X1 */
	{{PM_CPU_ARM, 0x51, 0x001, 0x001}, 8}, /* Oryon */
};

/* One slot takes one instruction, or two where they are fused into one operation, as
 * x86-64 does with a comparison and the jump behind it. */
#define FUSED 2

uint32_t pm_cpu_issue_width(const struct pm_cpu_kinds *kinds)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < kinds->count; k++) {
		uint32_t width = 0;

		for (size_t i = 0; i < LENGTH(widths); i++)
			if (is_of(&kinds->kind[k], &widths[i].models))
				width = FUSED * widths[i].width;
		if (!width)
			return 0;
		if (width > most)
			most = width;
	}
	return most;
}

/* Which events an erratum concerns. */
#define INSTRUCTIONS "\1"
#define BRANCHES     "\2"

/*
 * Each entry was looked up: in the maker's own text, or where the maker's event lists or
 * the kernel's sources name it.
 */
static const struct {
	struct models models;
	const char *event; /* the beginning of its name, or a word above */
	struct pm_erratum erratum;
} errata[] = {
	/* Also in Intel's Stratix 10 device errata (683470), which quote it in full. */
	{{PM_CPU_ARM, 0x41, 0xd03, 0xd03},
	 INSTRUCTIONS,
	 {"855827", "Arm Cortex-A53 MPCore Software Developers Errata Notice",
	  "may count more instructions than were executed"}},
	/* Linux, "x86/cpu/amd: Enable the fixed Instructions Retired counter IRPERF". */
	{{PM_CPU_AMD, 0x17, 0x00, 0x1f},
	 "irperf",
	 {"1054", "Revision Guide for AMD Family 17h Models 00h-0Fh Processors",
	  "may be inaccurate"}},
	/* Linux, intel_ivb_event_constraints: it does not count them for this reason. */
	{{PM_CPU_INTEL, 6, 0x3a, 0x3a},
	 "mem_load_uops_",
	 {"BV98", "3rd Generation Intel Core Specification Update",
	  "may hold counts of the sibling thread of its core"}},
	{{PM_CPU_INTEL, 6, 0x3a, 0x3a},
	 "mem_uops_retired",
	 {"BV98", "3rd Generation Intel Core Specification Update",
	  "may hold counts of the sibling thread of its core"}},
	/* Intel's event lists name these at the events, without what goes wrong. */
	{{PM_CPU_INTEL, 6, 0x3c, 0x3c},
	 INSTRUCTIONS,
	 {"HSD140", "4th Generation Intel Core Specification Update",
	  "may be inaccurate"}},
	{{PM_CPU_INTEL, 6, 0x4e, 0x4e},
	 BRANCHES,
	 {"SKL091", "6th Generation Intel Processor Family Specification Update",
	  "may be inaccurate"}},
	{{PM_CPU_INTEL, 6, 0x5e, 0x5e},
	 BRANCHES,
	 {"SKL091", "6th Generation Intel Processor Family Specification Update",
	  "may be inaccurate"}},
};

const struct pm_erratum *pm_cpu_erratum(const struct pm_cpu_kinds *kinds,
					const char *name, size_t length,
					bool instructions, bool branches)
{
	for (size_t i = 0; i < LENGTH(errata); i++) {
		const char *event = errata[i].event;
		size_t prefix = strlen(event);
		bool concerned =
			!strcmp(event, INSTRUCTIONS) ? instructions
			: !strcmp(event, BRANCHES)
				? branches
				: length >= prefix && !strncasecmp(name, event, prefix);

		for (uint32_t k = 0; concerned && k < kinds->count; k++)
			if (is_of(&kinds->kind[k], &errata[i].models))
				return &errata[i].erratum;
	}
	return NULL;
}
