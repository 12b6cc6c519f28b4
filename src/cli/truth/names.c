/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/truth/names.h"

#include <string.h>

#include "core/text/text.h"

/*
 * The table has what the events count by the manuals of their makers: Intel's Software Developer's
 * Manual, volume 3, chapter on performance events; AMD's Processor Programming References;
 * the Arm Architecture Reference Manual, section D (PMUv3 events), and the manuals of its
 * cores. Names that the machine does not know are left out.
 */
const struct truth_name truth_names[] = {
	{"instructions", TRUTH_INSTRUCTIONS, true},
	{"cycles", TRUTH_CYCLES, true},
	{"branches", TRUTH_BRANCHES, true},
	{"branch-misses", TRUTH_MISPREDICTED, true},
	{"L1-dcache-loads", TRUTH_LOADS, true},
	{"L1-dcache-stores", TRUTH_STORES, true},
#if defined(__x86_64__)
	{"BR_INST_RETIRED:NEAR_TAKEN", TRUTH_TAKEN, false},
	{"BR_INST_RETIRED:NOT_TAKEN", TRUTH_NOT_TAKEN, false},
	{"MEM_INST_RETIRED:ALL_LOADS", TRUTH_LOADS, false},
	{"MEM_INST_RETIRED:ALL_STORES", TRUTH_STORES, false},
	{"MEM_UOPS_RETIRED:ALL_LOADS", TRUTH_LOADS, false},
	{"MEM_UOPS_RETIRED:ALL_STORES", TRUTH_STORES, false},
	{"FP_ARITH_INST_RETIRED:SCALAR_SINGLE", TRUTH_SCALAR_SP, false},
	{"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", TRUTH_SCALAR_DP, false},
	{"FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", TRUTH_128_SP, false},
	{"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", TRUTH_128_DP, false},
	{"FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", TRUTH_256_SP, false},
	{"FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", TRUTH_256_DP, false},
	{"RETIRED_INSTRUCTIONS", TRUTH_INSTRUCTIONS, false},
	{"RETIRED_BRANCH_INSTRUCTIONS", TRUTH_BRANCHES, false},
	{"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", TRUTH_TAKEN, false},
	{"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", TRUTH_MISPREDICTED, false},
	{"LS_DISPATCH:LD_DISPATCH", TRUTH_LOADS, false},
	{"LS_DISPATCH:STORE_DISPATCH", TRUTH_STORES, false},
	{"RETIRED_SSE_AVX_FLOPS:ANY", TRUTH_FLOPS, false},
#elif defined(__aarch64__)
	{"INST_RETIRED", TRUTH_INSTRUCTIONS, false},
	{"CPU_CYCLES", TRUTH_CYCLES, false},
	{"BR_RETIRED", TRUTH_BRANCHES, false},
	{"BR_MIS_PRED_RETIRED", TRUTH_MISPREDICTED, false},
	{"LD_RETIRED", TRUTH_LOADS, false},
	{"ST_RETIRED", TRUTH_STORES, false},
	{"MEM_ACCESS", TRUTH_LOADS_STORES, false},
	{"INST_SPEC", TRUTH_INSTRUCTIONS, false},
	{"LD_SPEC", TRUTH_LOADS, false},
	{"ST_SPEC", TRUTH_STORES, false},
	{"VFP_SPEC", TRUTH_FP_SCALAR, false},
	{"ASE_SPEC", TRUTH_FP_VECTOR, false},
	/* The same, of the first 64-bit cores. */
	{"INST_SPEC_EXEC_LOAD", TRUTH_LOADS, false},
	{"INST_SPEC_EXEC_STORE", TRUTH_STORES, false},
	{"INST_SPEC_EXEC_VFP", TRUTH_FP_SCALAR, false},
	{"INST_SPEC_EXEC_SIMD", TRUTH_FP_VECTOR, false},
	{"FP_FIXED_OPS_SPEC", TRUTH_FLOPS, false},
#endif
	/* Counted by translation: perfmon run --exact. */
	{"exact::instructions", TRUTH_INSTRUCTIONS, false},
	{"exact::loads", TRUTH_LOADS, false},
	{"exact::stores", TRUTH_STORES, false},
	{"exact::cond-branches", TRUTH_CONDITIONAL, false},
	{"exact::sp-flops", TRUTH_SP_FLOPS, false},
	{"exact::dp-flops", TRUTH_DP_FLOPS, false},
};
const size_t truth_name_count = sizeof(truth_names) / sizeof(truth_names[0]);

/* Returns the name in TEXT without its PMU and its modes: "skl::INST_RETIRED:u",
 * "cpu/instructions/u". */
static struct pm_slice bare(const char *text)
{
	const char *pmu = strstr(text, "::"), *slash = strchr(text, '/'), *modes;
	struct pm_slice name = pm_slice_of(pmu ? pmu + 2 : text);

	if (slash)
		return pm_slice_cut(pm_slice_of(slash + 1), '/', NULL);
	modes = strrchr(name.at, ':');
	if (modes && modes[1] && !modes[1 + strspn(modes + 1, "ukhIGHpP")])
		name.length = (size_t)(modes - name.at);
	return name;
}

/* Returns whether two types of a perf_event_attr stand for a core PMU's own codes. */
static bool same_type(uint32_t a, uint32_t b)
{
	return a == b || (a == PERF_TYPE_RAW && b >= PERF_TYPE_MAX) ||
	       (b == PERF_TYPE_RAW && a >= PERF_TYPE_MAX);
}

static bool is_encoded_as(const struct pm_event *event, const char *name)
{
	struct pm_event_list *list;
	bool same;

	if (pm_events_parse(name, PM_EVENTS_USER_ONLY, &list, NULL))
		return false;
	same = same_type(list->events[0].attr.type, event->attr.type) &&
	       list->events[0].attr.config == event->attr.config &&
	       list->events[0].attr.config1 == event->attr.config1;
	pm_events_free(list);
	return same;
}

enum truth_work truth_work_of(const struct pm_event *event)
{
	struct pm_slice name = bare(event->label);

	for (size_t i = 0; i < truth_name_count; i++)
		if (pm_slice_is(name, truth_names[i].name))
			return truth_names[i].work;
	for (size_t i = 0; i < truth_name_count; i++)
		if (is_encoded_as(event, truth_names[i].name))
			return truth_names[i].work;
	return TRUTH_UNKNOWN_WORK;
}
