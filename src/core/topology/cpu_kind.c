/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/topology/cpu_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/kernel/files.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* --- the kinds of a machine ---------------------------------------------------------- */

const char *pm_cpuinfo_value(const char *line, const char *key)
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

/* Adds a kind unless it is there. Returns false if there is no room for it. */
static bool add(struct pm_cpu_kinds *kinds, const struct pm_cpu_kind *kind)
{
	for (uint32_t i = 0; i < kinds->count; i++)
		if (!memcmp(&kinds->kind[i], kind, sizeof(*kind)))
			return true;
	if (kinds->count == PM_CPU_KINDS)
		return false;
	kinds->kind[kinds->count++] = *kind;
	return true;
}

static enum pm_cpu_maker maker_of(const char *name)
{
	return !strncmp(name, "GenuineIntel", 12)   ? PM_CPU_INTEL
	       : !strncmp(name, "AuthenticAMD", 12) ? PM_CPU_AMD
						    : PM_CPU_UNKNOWN;
}

/* A CPU's lines come in a fixed order, and its model or part is the last of the three. */
void pm_cpu_kinds_read(struct pm_cpu_kinds *kinds, const char *text)
{
	struct pm_cpu_kind kind = {.maker = PM_CPU_UNKNOWN};

	memset(kinds, 0, sizeof(*kinds));
	for (const char *line = text; *line;
	     line += strcspn(line, "\n"), line += !!*line) {
		const char *value;

		value = pm_cpuinfo_value(line, "processor");
		if (value)
			kind = (struct pm_cpu_kind){.maker = PM_CPU_UNKNOWN};
		value = pm_cpuinfo_value(line, "vendor_id");
		if (value)
			kind.maker = maker_of(value);
		value = pm_cpuinfo_value(line, "CPU implementer");
		if (value) {
			kind.maker = PM_CPU_ARM;
			kind.family = (uint32_t)strtoul(value, NULL, 0);
		}
		value = pm_cpuinfo_value(line, "cpu family");
		if (value)
			kind.family = (uint32_t)strtoul(value, NULL, 0);
		value = pm_cpuinfo_value(line,
					 kind.maker == PM_CPU_ARM ? "CPU part" : "model");
		if (value) {
			kind.model = (uint32_t)strtoul(value, NULL, 0);
			add(kinds, &kind);
		}
	}
}

/* Reads MIDR_EL1 and similar registers from the files of /proc. */
static void read_cpuinfo(struct pm_cpu_kinds *kinds)
{
	char *text;

	if (pm_file_read("/proc/cpuinfo", &text) < 0)
		return;
	pm_cpu_kinds_read(kinds, text);
	free(text);
}

/* Linux 5.11: armv8pmu's caps/slots is PMMIR_EL1.SLOTS, 0 where the CPU has none
 * (drivers/perf/arm_pmuv3.c, slots_show). */
void pm_cpu_slots_here(struct pm_cpu_kinds *kinds)
{
	static const char devices[] = "/sys/bus/event_source/devices";
	int64_t most = 0;
	char **names;
	size_t count;

	kinds->slots = 0;
	if (pm_dir_list(devices, &names, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		char path[512];
		int64_t slots;

		if (strncmp(names[i], "armv8_", 6) != 0 &&
		    strncmp(names[i], "armv9_", 6) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%.255s/caps/slots", devices, names[i]);
		if (pm_file_number(path, &slots) || slots <= 0 || slots > 255) {
			most = 0;
			break;
		}
		if (slots > most)
			most = slots;
	}
	free(names);
	kinds->slots = (uint32_t)most;
}

#if defined(__x86_64__)
/* Decodes the signature as the kernel does for /proc/cpuinfo, because opening that file
 * may wait for all CPUs to report their frequency. All CPUs of one machine have one
 * signature, also in hybrid machines. */
static void ask_cpu(struct pm_cpu_kinds *kinds)
{
	struct pm_cpu_kind kind = {.maker = PM_CPU_UNKNOWN};
	unsigned int a, b, c, d;
	char name[13] = "";

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(name, &b, 4);
	memcpy(name + 4, &d, 4);
	memcpy(name + 8, &c, 4);
	kind.maker = maker_of(name);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	kind.family = a >> 8 & 0xf;
	kind.model = a >> 4 & 0xf;
	if (kind.family == 0xf)
		kind.family += a >> 20 & 0xff;
	if (kind.family >= 6)
		kind.model |= a >> 12 & 0xf0;
	add(kinds, &kind);
}
#endif

void pm_cpu_kinds_here(struct pm_cpu_kinds *kinds)
{
	memset(kinds, 0, sizeof(*kinds));
#if defined(__x86_64__)
	/* A test replaces the machine by a recorded one. */
	if (!*pm_file_root) {
		ask_cpu(kinds);
		return;
	}
#endif
	read_cpuinfo(kinds);
	pm_cpu_slots_here(kinds);
}

void pm_cpu_kinds_join(struct pm_cpu_kinds *to, const struct pm_cpu_kinds *from)
{
	bool known = to->count && from->count;

	for (uint32_t i = 0; known && i < from->count; i++)
		known = add(to, &from->kind[i]);
	if (!known) {
		memset(to, 0, sizeof(*to));
		return;
	}
	if (!to->slots || !from->slots)
		to->slots = 0;
	else if (from->slots > to->slots)
		to->slots = from->slots;
}

/* --- the tables ---------------------------------------------------------------------- */

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
 * cycle: of the makers' optimisation guides, with which Linux's metrics agree where it has
 * any. Which core a model has is in Linux's intel-family.h, its cpu/amd.c and its
 * cputype.h.
 *
 * Intel: Optimization Reference Manual (248966), the chapters on each core; perf's
 * tma_info_thread_slots is 4 cycles' up to Skylake. AMD: Software Optimization Guides of
 * each family; perf's total_dispatch_slots for Zen 4 and Zen 5. Arm: Software Optimization
 * Guides, "the dispatch stage can process up to N MOPs per cycle"; the decoders of the
 * cores before the Cortex-A76, of their Technical Reference Manuals.
 */
static const struct {
	struct models models;
	uint32_t width;
} widths[] = {
	{{PM_CPU_INTEL, 6, 0x2a, 0x2a}, 4}, /* Sandy Bridge */
	{{PM_CPU_INTEL, 6, 0x2d, 0x2d}, 4},
	{{PM_CPU_INTEL, 6, 0x3a, 0x3a}, 4}, /* Ivy Bridge */
	{{PM_CPU_INTEL, 6, 0x3e, 0x3e}, 4},
	{{PM_CPU_INTEL, 6, 0x3c, 0x3c}, 4}, /* Haswell */
	{{PM_CPU_INTEL, 6, 0x3f, 0x3f}, 4},
	{{PM_CPU_INTEL, 6, 0x45, 0x46}, 4},
	{{PM_CPU_INTEL, 6, 0x3d, 0x3d}, 4}, /* Broadwell */
	{{PM_CPU_INTEL, 6, 0x47, 0x47}, 4},
	{{PM_CPU_INTEL, 6, 0x4f, 0x4f}, 4},
	{{PM_CPU_INTEL, 6, 0x56, 0x56}, 4},
	{{PM_CPU_INTEL, 6, 0x4e, 0x4e}, 4}, /* Skylake and what kept its core */
	{{PM_CPU_INTEL, 6, 0x5e, 0x5e}, 4},
	{{PM_CPU_INTEL, 6, 0x55, 0x55}, 4},
	{{PM_CPU_INTEL, 6, 0x8e, 0x8e}, 4},
	{{PM_CPU_INTEL, 6, 0x9e, 0x9e}, 4},
	{{PM_CPU_INTEL, 6, 0xa5, 0xa6}, 4},
	{{PM_CPU_INTEL, 6, 0x7d, 0x7e}, 5}, /* Ice Lake: Sunny Cove */
	{{PM_CPU_INTEL, 6, 0x6a, 0x6a}, 5},
	{{PM_CPU_INTEL, 6, 0x6c, 0x6c}, 5},
	{{PM_CPU_INTEL, 6, 0x8c, 0x8d}, 5}, /* Tiger Lake: Willow Cove */
	{{PM_CPU_INTEL, 6, 0x8f, 0x8f}, 6}, /* Sapphire, Emerald Rapids: Golden Cove */
	{{PM_CPU_INTEL, 6, 0xcf, 0xcf}, 6},
	{{PM_CPU_INTEL, 6, 0x97, 0x97}, 6}, /* Alder, Raptor Lake: with narrower cores */
	{{PM_CPU_INTEL, 6, 0x9a, 0x9a}, 6},
	{{PM_CPU_INTEL, 6, 0xb7, 0xb7}, 6},
	{{PM_CPU_INTEL, 6, 0xba, 0xba}, 6},
	{{PM_CPU_INTEL, 6, 0xbf, 0xbf}, 6},
	{{PM_CPU_INTEL, 6, 0xaa, 0xaa}, 6}, /* Meteor Lake: Redwood Cove */
	{{PM_CPU_INTEL, 6, 0xac, 0xae}, 6}, /* ... and Granite Rapids */
	{{PM_CPU_INTEL, 6, 0xbd, 0xbd}, 8}, /* Lunar, Arrow Lake: Lion Cove */
	{{PM_CPU_INTEL, 6, 0xc5, 0xc6}, 8},
	{{PM_CPU_AMD, 0x17, 0x00, 0xff}, 5}, /* Zen 1 and 2 */
	{{PM_CPU_AMD, 0x19, 0x00, 0xaf}, 6}, /* Zen 3 and 4 */
	{{PM_CPU_AMD, 0x1a, 0x00, 0x2f}, 8}, /* Zen 5 */
	{{PM_CPU_AMD, 0x1a, 0x40, 0x4f}, 8},
	{{PM_CPU_AMD, 0x1a, 0x60, 0x7f}, 8},
	{{PM_CPU_ARM, 0x41, 0xd03, 0xd03}, 2},	/* Cortex-A53 */
	{{PM_CPU_ARM, 0x41, 0xd05, 0xd05}, 2},	/* Cortex-A55 */
	{{PM_CPU_ARM, 0x41, 0xd07, 0xd07}, 3},	/* Cortex-A57 */
	{{PM_CPU_ARM, 0x41, 0xd08, 0xd08}, 3},	/* Cortex-A72 */
	{{PM_CPU_ARM, 0x41, 0xd09, 0xd09}, 2},	/* Cortex-A73 */
	{{PM_CPU_ARM, 0x41, 0xd0a, 0xd0a}, 3},	/* Cortex-A75 */
	{{PM_CPU_ARM, 0x41, 0xd0b, 0xd0c}, 4},	/* Cortex-A76, Neoverse N1 */
	{{PM_CPU_ARM, 0x41, 0xd0d, 0xd0d}, 6},	/* Cortex-A77 */
	{{PM_CPU_ARM, 0x41, 0xd41, 0xd41}, 6},	/* Cortex-A78 */
	{{PM_CPU_ARM, 0x41, 0xd40, 0xd40}, 8},	/* Neoverse V1 */
	{{PM_CPU_ARM, 0x41, 0xd44, 0xd44}, 8},	/* Cortex-X1 */
	{{PM_CPU_ARM, 0x41, 0xd48, 0xd48}, 8},	/* Cortex-X2 */
	{{PM_CPU_ARM, 0x41, 0xd49, 0xd49}, 5},	/* Neoverse N2 */
	{{PM_CPU_ARM, 0x41, 0xd4e, 0xd4f}, 8},	/* Cortex-X3, Neoverse V2 */
	{{PM_CPU_ARM, 0x41, 0xd82, 0xd82}, 10}, /* Cortex-X4 */
	{{PM_CPU_ARM, 0x51, 0x001, 0x001}, 8},	/* Oryon */
};

/* One slot takes one instruction, or two if they are fused into one operation. x86-64
 * fuses a comparison with the jump behind it. */
#define FUSED 2

uint32_t pm_cpu_issue_width(const struct pm_cpu_kinds *kinds)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < kinds->count; k++) {
		uint32_t width = 0;

		for (size_t i = 0; i < LENGTH(widths); i++)
			if (is_of(&kinds->kind[k], &widths[i].models))
				width = FUSED * widths[i].width;
		/* The PMUs may report kinds that the table does not have. */
		if (!width)
			width = FUSED * kinds->slots;
		if (!width)
			return 0;
		if (width > most)
			most = width;
	}
	return most;
}

/* The events of an erratum. */
#define INSTRUCTIONS "\1"
#define BRANCHES     "\2"

/*
 * Each entry was checked: in the maker's own text, or where the maker's event lists or
 * the kernel's sources name it.
 */
static const struct {
	struct models models;
	const char *event; /* the beginning of its name, or a word above */
	struct pm_erratum erratum;
} errata[] = {
	/* It is also in Intel's Stratix 10 device errata (683470), which quote it in
	 * full. */
	{{PM_CPU_ARM, 0x41, 0xd03, 0xd03},
	 INSTRUCTIONS,
	 {"855827", "Arm Cortex-A53 MPCore Software Developers Errata Notice",
	  "may count more instructions than were executed"}},
	/* Linux, "x86/cpu/amd: Enable the fixed Instructions Retired counter IRPERF". */
	{{PM_CPU_AMD, 0x17, 0x00, 0x1f},
	 "irperf",
	 {"1054", "Revision Guide for AMD Family 17h Models 00h-0Fh Processors",
	  "may be inaccurate"}},
	/* Linux, intel_ivb_event_constraints: the kernel does not count them for this
	 * reason. */
	{{PM_CPU_INTEL, 6, 0x3a, 0x3a},
	 "mem_load_uops_",
	 {"BV98", "3rd Generation Intel Core Specification Update",
	  "may hold counts of the sibling thread of its core"}},
	{{PM_CPU_INTEL, 6, 0x3a, 0x3a},
	 "mem_uops_retired",
	 {"BV98", "3rd Generation Intel Core Specification Update",
	  "may hold counts of the sibling thread of its core"}},
	/* Intel's event lists name these errata, without their effect. */
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
