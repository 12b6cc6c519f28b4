/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The information for programs: the members are those of perfmon/info.h. */
#include "cli/info/info.h"
#include "core/report/output/json.h"

#include <stdio.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "core/topology/topology.h"

/* An unknown value is null. */
static void truth(struct pm_json *j, const char *name, uint32_t bits, uint32_t bits_known,
		  uint32_t bit)
{
	if (bits_known & bit)
		pm_json_bool(j, name, bits & bit);
	else
		pm_json_null(j, name);
}

static void limit(struct pm_json *j, const char *name, uint64_t value)
{
	if (value == PERFMON_INFO_UNLIMITED)
		pm_json_string(j, name, "unlimited");
	else
		pm_json_number(j, name, value);
}

static int print_pmu(const struct perfmon_pmu_info *pmu, void *argument)
{
	static const char *const kinds[] = {"other", "core", "uncore"};
	struct pm_json *j = argument;

	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "name", pmu->name);
	pm_json_string(j, "kind", kinds[pmu->kind]);
	pm_json_string(j, "cpus", pmu->cpus);
	pm_json_signed(j, "type", pmu->type);
	pm_json_signed(j, "max_precise", pmu->max_precise);
	pm_json_known(j, "programmable", (uint64_t)pmu->programmable,
		      pmu->programmable >= 0);
	pm_json_known(j, "fixed", (uint64_t)pmu->fixed, pmu->fixed >= 0);
	pm_json_known(j, "width_bits", (uint64_t)pmu->width_bits, pmu->width_bits > 0);
	pm_json_known(j, "fixed_width_bits", (uint64_t)pmu->fixed_width_bits,
		      pmu->fixed_width_bits > 0);
	truth(j, "opens", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_OPENS);
	truth(j, "user_read", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_USER_READ);
	truth(j, "overflow", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_OVERFLOW);
	pm_json_number(j, "named_events", pmu->named_events);
	pm_json_close(j, "}");
	return 0;
}

static void allows(struct pm_json *j, const char *name, uint32_t bits)
{
	pm_json_begin(j, name, "{");
	truth(j, "user", bits, ~0u, PERFMON_INFO_ALLOWS_USER);
	truth(j, "kernel", bits, ~0u, PERFMON_INFO_ALLOWS_KERNEL);
	truth(j, "cpu", bits, ~0u, PERFMON_INFO_ALLOWS_CPU);
	truth(j, "raw", bits, ~0u, PERFMON_INFO_ALLOWS_RAW);
	pm_json_close(j, "}");
}

static void cpus(struct pm_json *j, const char *name, const struct pm_cpus *set)
{
	char text[4096];

	pm_json_string(j, name,
		       pm_cpus_next(set, 0) < 0 ? ""
						: pm_cpus_print(set, text, sizeof(text)));
}

static int print_sentence(const char *sentence, void *argument)
{
	pm_json_string(argument, NULL, sentence);
	return 0;
}

int cli_info_json(const struct perfmon_info *info)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	struct pm_json json = {.out = &out, .first = true}, *j = &json;
	uint32_t has = info->features, known_bits = info->features_known;
	struct pm_topology *topology;
	int err = pm_topology_get(&topology, NULL);

	if (err)
		return err;
	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "cpu_model", info->cpu_model);
	pm_json_string(j, "architecture", info->architecture);
	pm_json_string(j, "kernel", info->kernel);
	pm_json_known(j, "packages", info->packages, info->packages);
	pm_json_known(j, "cores", info->cores, info->cores);
	pm_json_known(j, "cpus", info->cpus, info->cpus);
	cpus(j, "cpus_present", &topology->present);
	cpus(j, "cpus_online", &topology->online);
	cpus(j, "cpus_allowed", &topology->allowed);
	pm_topology_put(topology);
	truth(j, "hardware", has, known_bits, PERFMON_INFO_FEATURE_HARDWARE);
	truth(j, "user_read", has, known_bits, PERFMON_INFO_FEATURE_USER_READ);
	truth(j, "overflow", has, known_bits, PERFMON_INFO_FEATURE_OVERFLOW);
	truth(j, "timestamp", has, known_bits, PERFMON_INFO_FEATURE_TIMESTAMP);
	truth(j, "thread_time", has, known_bits, PERFMON_INFO_FEATURE_THREAD_TIME);
	truth(j, "privileged", has, known_bits, PERFMON_INFO_FEATURE_PRIVILEGED);
	truth(j, "seccomp", has, known_bits, PERFMON_INFO_FEATURE_SECCOMP);
	pm_json_bool(j, "exact",
		     cli_exact_is_there() || has & PERFMON_INFO_FEATURE_EXACT);
	truth(j, "translated", has, known_bits, PERFMON_INFO_FEATURE_EXACT);
	pm_json_known(j, "timestamp_hz", info->timestamp_hz, info->timestamp_hz);
	allows(j, "allows", info->allows);
	allows(j, "user_allows", info->user_allows);
	pm_json_signed(j, "paranoid", info->paranoid);
	pm_json_known(j, "max_stack", (uint64_t)info->max_stack, info->max_stack >= 0);
	pm_json_known(j, "max_sample_rate", (uint64_t)info->max_sample_rate,
		      info->max_sample_rate >= 0);
	pm_json_known(j, "mlock_kb", (uint64_t)info->mlock_kb, info->mlock_kb >= 0);
	limit(j, "memlock_soft", info->memlock_soft);
	limit(j, "memlock_hard", info->memlock_hard);
	limit(j, "files_soft", info->files_soft);
	limit(j, "files_hard", info->files_hard);
	pm_json_begin(j, "environment", "[");
	perfmon_info_environment(print_sentence, j);
	pm_json_close(j, "]");
	pm_json_begin(j, "pmus", "[");
	err = perfmon_info_pmus(print_pmu, j);
	pm_json_close(j, "]");
	pm_json_close(j, "}");
	pm_out_text(&out, "\n");
	return err ?: pm_out_end(&out);
}
