/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf's names of the kernel's portable events: hardware, cache, software. See
 * perf-list(1), and perf_event_open(2) under PERF_TYPE_HARDWARE, _HW_CACHE, _SOFTWARE.
 *
 * libpfm4's perf PMU has most of these names, too. It lacks dummy, bpf-output,
 * alignment-faults, emulation-faults and perf's other spellings of cache events. It knows
 * no PMU types for several kinds of cores. These names must not wait for its
 * initialisation.
 */
#include "core/events/internal.h"

#include <stdio.h>
#include <string.h>

/* The kernel has it since 5.13. Older headers lack the name. */
#define SW_CGROUP_SWITCHES 11

struct generic {
	const char *name;
	const char *alias;
	uint32_t type;
	uint32_t config;
	const char *unit;
	const char *description;
};

#define HW(name, alias, config, description)                                             \
	{                                                                                \
		name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, "", description \
	}
#define SW(name, alias, config, unit, description)                                       \
	{                                                                                \
		name, alias, PERF_TYPE_SOFTWARE, config, unit, description               \
	}

static const struct generic generics[] = {
	HW("cycles", "cpu-cycles", CPU_CYCLES,
	   "core clock cycles, at the clock's actual rate"),
	HW("instructions", "", INSTRUCTIONS, "retired instructions"),
	HW("cache-references", "", CACHE_REFERENCES, "accesses to the last-level cache"),
	HW("cache-misses", "", CACHE_MISSES, "misses of the last-level cache"),
	HW("branches", "branch-instructions", BRANCH_INSTRUCTIONS, "retired branches"),
	HW("branch-misses", "", BRANCH_MISSES, "mispredicted branches"),
	HW("bus-cycles", "", BUS_CYCLES, "bus cycles"),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
	   "cycles in which no instruction could be issued"),
	HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
	   "cycles in which no instruction could retire"),
	HW("ref-cycles", "", REF_CPU_CYCLES, "core clock cycles at the reference rate"),
	SW("cpu-clock", "", PERF_COUNT_SW_CPU_CLOCK, "ns", "CPU time by the CPU's clock"),
	SW("task-clock", "", PERF_COUNT_SW_TASK_CLOCK, "ns", "CPU time of the task"),
	SW("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, "", "page faults"),
	SW("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "",
	   "switches to another task"),
	SW("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "",
	   "moves to another CPU"),
	SW("minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, "",
	   "page faults without I/O"),
	SW("major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "", "page faults with I/O"),
	SW("alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS, "",
	   "unaligned accesses fixed up by the kernel"),
	SW("emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS, "",
	   "instructions emulated by the kernel"),
	SW("dummy", "", PERF_COUNT_SW_DUMMY, "", "counts nothing"),
	SW("bpf-output", "", PERF_COUNT_SW_BPF_OUTPUT, "",
	   "records written by BPF programs"),
	SW("cgroup-switches", "", SW_CGROUP_SWITCHES, "",
	   "context switches to another control group"),
};

#define GENERICS (sizeof(generics) / sizeof(generics[0]))

/* Cache events: CACHE[-OPERATION][-RESULT]. The first word of each row is perf's name. */
#define WORDS 6
static const char *const caches[][WORDS] = {
	[PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
	[PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
	[PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
	[PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
	[PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
	[PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
	[PERF_COUNT_HW_CACHE_NODE] = {"node"},
};
static const char *const operations[][WORDS] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
	[PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read",
					     "speculative-load"},
};
static const char *const results[][WORDS] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops", "access",
					       "references"},
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};
static const char *const plural[] = {"loads", "stores", "prefetches"};

#define ROWS(table) (sizeof(table) / sizeof(table[0]))

/* Returns whether the hardware can do OPERATION: instructions are not written, and TLBs
 * of instructions and branch predictors are only looked up. */
static bool cache_can(unsigned int cache, unsigned int operation)
{
	if (cache == PERF_COUNT_HW_CACHE_L1I)
		return operation != PERF_COUNT_HW_CACHE_OP_WRITE;
	if (cache == PERF_COUNT_HW_CACHE_ITLB || cache == PERF_COUNT_HW_CACHE_BPU)
		return operation == PERF_COUNT_HW_CACHE_OP_READ;
	return true;
}

/* Takes a word of TABLE and the '-' after it from the front of NAME. Returns its row, or
 * -1. */
static int take_word(const char *const (*table)[WORDS], size_t rows,
		     struct pm_slice *name)
{
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < WORDS && table[row][i]; i++) {
			size_t n = strlen(table[row][i]);

			if (!pm_slice_starts(*name, table[row][i]))
				continue;
			if (n < name->length &&
			    (name->at[n] != '-' || n + 1 == name->length))
				continue;
			n += n < name->length;
			name->at += n;
			name->length -= n;
			return (int)row;
		}
	return -1;
}

static void cache_name(unsigned int cache, unsigned int operation, unsigned int result,
		       char *name, size_t size)
{
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(name, size, "%s-%s-misses", caches[cache][0],
			 operations[operation][0]);
	else
		snprintf(name, size, "%s-%s", caches[cache][0], plural[operation]);
}

static bool cache_find(struct pm_slice name, uint64_t *config, char *canonical,
		       size_t size)
{
	int cache = take_word(caches, ROWS(caches), &name);
	int operation = -1, result = -1;

	while (cache >= 0 && name.length) {
		if (operation < 0) {
			operation = take_word(operations, ROWS(operations), &name);
			if (operation >= 0)
				continue;
		}
		if (result >= 0)
			return false;
		result = take_word(results, ROWS(results), &name);
		if (result < 0)
			return false;
	}
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (cache < 0 || !cache_can((unsigned int)cache, (unsigned int)operation))
		return false;
	*config = (unsigned int)(cache | operation << 8 | result << 16);
	return pm_generic_name(PERF_TYPE_HW_CACHE, *config, canonical, size);
}

static const struct generic *generic_find(struct pm_slice name)
{
	for (size_t i = 0; i < GENERICS; i++)
		if (pm_slice_is(name, generics[i].name) ||
		    (generics[i].alias[0] && pm_slice_is(name, generics[i].alias)))
			return &generics[i];
	return NULL;
}

bool pm_generic_find(struct pm_slice name, uint32_t *type, uint64_t *config,
		     char *canonical, size_t size)
{
	const struct generic *generic = generic_find(name);

	if (generic && generic->type == PERF_TYPE_HARDWARE) {
		*type = generic->type;
		*config = generic->config;
		snprintf(canonical, size, "%s", generic->name);
		return true;
	}
	*type = PERF_TYPE_HW_CACHE;
	return !generic && cache_find(name, config, canonical, size);
}

bool pm_generic_knows(struct pm_slice name)
{
	char canonical[64];
	uint64_t config;
	uint32_t type;

	return generic_find(name) ||
	       pm_generic_find(name, &type, &config, canonical, sizeof(canonical));
}

bool pm_generic_name(uint32_t type, uint64_t config, char *name, size_t size)
{
	unsigned int cache = config & 0xff, operation = config >> 8 & 0xff;
	unsigned int result = config >> 16 & 0xff;

	for (size_t i = 0; i < GENERICS; i++)
		if (generics[i].type == type && generics[i].config == config) {
			snprintf(name, size, "%s", generics[i].name);
			return true;
		}
	if (type != PERF_TYPE_HW_CACHE || config >> 24 || cache >= ROWS(caches) ||
	    operation >= ROWS(operations) || result >= ROWS(results))
		return false;
	cache_name(cache, operation, result, name, size);
	return true;
}

static int resolve(struct pm_resolve *r)
{
	struct pm_slice modifiers, name = pm_slice_cut(r->item, ':', &modifiers);
	const struct generic *generic = generic_find(name);
	struct pm_encoding encoding = {.pmu = "cpu", .hardware = true};
	char canonical[64];
	int err;

	if (generic && generic->type == PERF_TYPE_SOFTWARE) {
		encoding = (struct pm_encoding){.type = generic->type,
						.config = {generic->config},
						.pmu = "software",
						.unit = generic->unit};
		return pm_resolve_single(r, &encoding, generic->name, modifiers);
	}
	/* '::' belongs to libpfm4 */
	if ((modifiers.length && modifiers.at[0] == ':') ||
	    !pm_generic_find(name, &encoding.type, &encoding.config[0], canonical,
			     sizeof(canonical)))
		return PM_RESOLVE_NOT_MINE;
	err = pm_resolve_add_cores(r, &encoding, canonical);
	return err ?: pm_resolve_finish(r, canonical, modifiers);
}

static int list_caches(const struct pm_listing *listing, const char *pmu)
{
	for (unsigned int cache = 0; cache < ROWS(caches); cache++)
		for (unsigned int operation = 0; operation < ROWS(operations);
		     operation++)
			for (unsigned int result = 0; result < ROWS(results); result++) {
				char name[64];
				struct perfmon_event_info info = {
					.name = name,
					.pmu = pmu,
					.source = PERFMON_EVENT_SOURCE_GENERIC,
					.is_present = listing->sysfs->core_count > 0,
				};
				int stop;

				if (!cache_can(cache, operation))
					continue;
				cache_name(cache, operation, result, name, sizeof(name));
				stop = pm_listing_offer(listing, &info);
				if (stop)
					return stop;
			}
	return 0;
}

static int list(const struct pm_listing *listing)
{
	struct pm_sysfs_pmu *core = pm_sysfs_core(listing->sysfs, 0);
	const char *pmu = core ? core->name : "cpu";

	for (size_t i = 0; i < GENERICS; i++) {
		bool software = generics[i].type == PERF_TYPE_SOFTWARE;
		struct perfmon_event_info info = {
			.name = generics[i].name,
			.alias = generics[i].alias,
			.pmu = software ? "software" : pmu,
			.description = generics[i].description,
			.unit = generics[i].unit,
			.source = software ? PERFMON_EVENT_SOURCE_SOFTWARE
					   : PERFMON_EVENT_SOURCE_GENERIC,
			.is_present = software || core,
		};
		int stop = pm_listing_offer(listing, &info);

		if (stop)
			return stop;
	}
	return list_caches(listing, pmu);
}

const struct pm_event_source pm_source_generic = {.resolve = resolve, .list = list};
