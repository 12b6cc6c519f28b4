/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events are cycles, instructions and so on, by the names of perf, sysfs and
 * libpfm4, so that their ratios can be shown. An unknown name has none: a ratio is
 * absent then, not wrong. */
#include "core/report/model/event_name.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <string.h>
#include <strings.h>

/* The names of each generic event, in small letters, with blanks between. */
static const char *const known[PM_GENERICS] = {
	[PM_GENERIC_CYCLES] =
		"cycles cpu-cycles cpu_cycles cpu_clk_unhalted cpu_clk_unhalted.thread "
		"cpu_clk_unhalted:thread cpu_clk_unhalted:thread_p cycles_not_in_halt "
		"unhalted_core_cycles perf_count_hw_cpu_cycles",
	[PM_GENERIC_INSTRUCTIONS] =
		"instructions inst_retired inst_retired.any inst_retired:any "
		"inst_retired:any_p instruction_retired instructions_retired "
		"retired_instructions perf_count_hw_instructions",
	[PM_GENERIC_BRANCHES] =
		"branches branch-instructions branch_instructions br_retired "
		"br_inst_retired.all_branches br_inst_retired:all_branches "
		"branch_instructions_retired retired_branch_instructions "
		"perf_count_hw_branch_instructions",
	[PM_GENERIC_BRANCH_MISSES] =
		"branch-misses branch_misses br_mis_pred_retired "
		"br_misp_retired.all_branches br_misp_retired:all_branches "
		"mispredicted_branch_retired retired_mispredicted_branch_instructions "
		"perf_count_hw_branch_misses",
	[PM_GENERIC_CACHE_REFERENCES] = "cache-references cache_references "
					"llc_references perf_count_hw_cache_references",
	[PM_GENERIC_CACHE_MISSES] =
		"cache-misses cache_misses llc_misses perf_count_hw_cache_misses",
};

static bool is_listed(const char *names, const char *name, size_t length)
{
	for (; names; names = strchr(names, ' ')) {
		names += *names == ' ';
		/* Most differ in the first letter. */
		if (*names == tolower((unsigned char)*name) &&
		    !strncasecmp(names, name, length) && strchr(" ", names[length]))
			return true;
	}
	return false;
}

/* The event's own name inside NAME: without "pmu::" and "pmu/.../", and where the
 * modifiers begin. */
static const char *bare(const char *name, size_t *length, const char **suffix)
{
	const char *slash = strchr(name, '/'), *end, *colon;

	if (slash && (end = strrchr(slash + 1, '/'))) {
		*length = (size_t)(end - slash - 1);
		*suffix = end + 1;
		if (**suffix == ':')
			++*suffix;
		return slash + 1;
	}
	colon = strstr(name, "::");
	if (colon)
		name = colon + 2;
	end = name + strlen(name);
	*suffix = end;
	colon = strrchr(name, ':');
	if (colon && colon[1] && strspn(colon + 1, "ukhGHpPDWeI") == strlen(colon + 1)) {
		*suffix = colon + 1;
		end = colon;
	}
	*length = (size_t)(end - name);
	return name;
}

struct pm_event_name pm_event_name_of(const char *text)
{
	struct pm_event_name name = {.generic = PM_GENERIC_NONE};

	name.bare = bare(text, &name.length, &name.suffix);
	name.pmu = name.bare != text;
	name.stem = (size_t)(name.bare - text) + name.length +
		    (name.pmu && name.bare[name.length] == '/');
	for (enum pm_generic generic = PM_GENERIC_NONE; generic < PM_GENERICS; generic++)
		if (is_listed(known[generic], name.bare, name.length))
			name.generic = generic;
	return name;
}

const char *pm_event_short_name(const char *name)
{
	static const char exact[] = "exact::";

	return strncmp(name, exact, strlen(exact)) ? name : name + strlen(exact);
}

bool pm_event_is_called(const char *name, const char *text)
{
	size_t stem = pm_event_name_of(name).stem;

	/* As it may be asked for where it is counted. */
	if (!strcasecmp(pm_event_short_name(name), text))
		return true;
	return !strcasecmp(name, text) ||
	       (strlen(text) == stem && !strncasecmp(name, text, stem));
}

enum pm_generic pm_generic_of(const struct perfmon_profile_counter *counter,
			      const char **suffix)
{
	static const enum pm_generic generic[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = PM_GENERIC_CYCLES,
		[PERF_COUNT_HW_INSTRUCTIONS] = PM_GENERIC_INSTRUCTIONS,
		[PERF_COUNT_HW_CACHE_REFERENCES] = PM_GENERIC_CACHE_REFERENCES,
		[PERF_COUNT_HW_CACHE_MISSES] = PM_GENERIC_CACHE_MISSES,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = PM_GENERIC_BRANCHES,
		[PERF_COUNT_HW_BRANCH_MISSES] = PM_GENERIC_BRANCH_MISSES,
	};
	struct pm_event_name name = pm_event_name_of(counter->name);

	*suffix = name.suffix;
	/* The high half of the word names a core PMU on hybrid CPUs. */
	if (counter->type == PERF_TYPE_HARDWARE &&
	    (uint32_t)counter->config[0] < sizeof(generic) / sizeof(generic[0]))
		return generic[(uint32_t)counter->config[0]];
	return name.generic;
}
