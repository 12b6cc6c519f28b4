/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The information for programs: the members are those of perfmon/info.h. */
#include "cli/info/info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "topology/topology.h"

static void string(const char *name, const char *text)
{
	printf("\"%s\":\"", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		/* What is not ASCII may not be UTF-8 either. */
		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	printf("\",");
}

static void number(const char *name, int64_t value)
{
	printf("\"%s\":%" PRId64 ",", name, value);
}

/* What is not known is null. */
static void known(const char *name, int64_t value, bool is_known)
{
	if (is_known)
		number(name, value);
	else
		printf("\"%s\":null,", name);
}

static void truth(const char *name, uint32_t bits, uint32_t bits_known, uint32_t bit)
{
	printf("\"%s\":%s,", name,
	       !(bits_known & bit) ? "null"
	       : bits & bit	   ? "true"
				   : "false");
}

static void limit(const char *name, uint64_t value)
{
	if (value == PERFMON_INFO_UNLIMITED)
		printf("\"%s\":\"unlimited\",", name);
	else
		printf("\"%s\":%" PRIu64 ",", name, value);
}

static int print_pmu(const struct perfmon_pmu_info *pmu, void *argument)
{
	static const char *const kinds[] = {"other", "core", "uncore"};
	bool *further = argument;

	printf("%s{", *further ? "," : "");
	*further = true;
	string("name", pmu->name);
	string("kind", kinds[pmu->kind]);
	string("cpus", pmu->cpus);
	number("type", pmu->type);
	number("max_precise", pmu->max_precise);
	known("programmable", pmu->programmable, pmu->programmable >= 0);
	known("fixed", pmu->fixed, pmu->fixed >= 0);
	known("width_bits", pmu->width_bits, pmu->width_bits > 0);
	known("fixed_width_bits", pmu->fixed_width_bits, pmu->fixed_width_bits > 0);
	truth("opens", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_OPENS);
	truth("user_read", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_USER_READ);
	truth("overflow", pmu->capabilities, pmu->capabilities_known,
	      PERFMON_PMU_CAPABILITY_OVERFLOW);
	printf("\"named_events\":%" PRIu32 "}", pmu->named_events);
	return 0;
}

static void allows(const char *name, uint32_t bits)
{
	printf("\"%s\":{", name);
	truth("user", bits, ~0u, PERFMON_INFO_ALLOWS_USER);
	truth("kernel", bits, ~0u, PERFMON_INFO_ALLOWS_KERNEL);
	truth("cpu", bits, ~0u, PERFMON_INFO_ALLOWS_CPU);
	printf("\"raw\":%s},", bits & PERFMON_INFO_ALLOWS_RAW ? "true" : "false");
}

static void cpus(const char *name, const struct pm_cpus *set)
{
	char text[4096];

	string(name,
	       pm_cpus_next(set, 0) < 0 ? "" : pm_cpus_print(set, text, sizeof(text)));
}

int cli_info_json(const struct perfmon_info *info)
{
	uint32_t has = info->features, known_bits = info->features_known;
	struct pm_topology *topology;
	bool further = false;
	int err = pm_topology_get(&topology, NULL);

	if (err)
		return err;
	putchar('{');
	string("cpu_model", info->cpu_model);
	string("architecture", info->architecture);
	string("kernel", info->kernel);
	known("packages", info->packages, info->packages);
	known("cores", info->cores, info->cores);
	known("cpus", info->cpus, info->cpus);
	cpus("cpus_present", &topology->present);
	cpus("cpus_online", &topology->online);
	cpus("cpus_allowed", &topology->allowed);
	pm_topology_put(topology);
	truth("hardware", has, known_bits, PERFMON_INFO_FEATURE_HARDWARE);
	truth("user_read", has, known_bits, PERFMON_INFO_FEATURE_USER_READ);
	truth("overflow", has, known_bits, PERFMON_INFO_FEATURE_OVERFLOW);
	truth("timestamp", has, known_bits, PERFMON_INFO_FEATURE_TIMESTAMP);
	truth("thread_time", has, known_bits, PERFMON_INFO_FEATURE_THREAD_TIME);
	truth("privileged", has, known_bits, PERFMON_INFO_FEATURE_PRIVILEGED);
	truth("seccomp", has, known_bits, PERFMON_INFO_FEATURE_SECCOMP);
	known("timestamp_hz", (int64_t)info->timestamp_hz, info->timestamp_hz);
	allows("allows", info->allows);
	allows("user_allows", info->user_allows);
	number("paranoid", info->paranoid);
	known("max_stack", info->max_stack, info->max_stack >= 0);
	known("max_sample_rate", info->max_sample_rate, info->max_sample_rate >= 0);
	known("mlock_kb", info->mlock_kb, info->mlock_kb >= 0);
	limit("memlock_soft", info->memlock_soft);
	limit("memlock_hard", info->memlock_hard);
	limit("files_soft", info->files_soft);
	limit("files_hard", info->files_hard);
	printf("\"pmus\":[");
	err = perfmon_info_pmus(print_pmu, &further);
	puts("]}");
	return err;
}
