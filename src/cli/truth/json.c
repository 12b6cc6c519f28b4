/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report for programs and bug reports. It has no name of a user, a host or a file of
 * theirs. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/truth/data.h"
#include "core/kernel/files.h"
#include "core/report/output/json.h"

/* --- machine -------------------------------------------------------------------------- */

/* Adds the value of the first line of /proc/cpuinfo that begins with FIELD, or null. */
static void print_cpuinfo(struct pm_json *j, const char *name, const char *cpuinfo,
			  const char *field)
{
	const char *at = cpuinfo ? strstr(cpuinfo, field) : NULL;
	char value[64] = "";

	if (at)
		at = strchr(at, ':');
	if (at)
		at += 1 + strspn(at + 1, " \t");
	for (size_t i = 0; at && i + 1 < sizeof(value) && at[i] && at[i] != '\n'; i++)
		value[i] = at[i];
	pm_json_text(j, name, value, value[0]);
}

/* Adds a small file of sysfs, or null. */
static void print_file(struct pm_json *j, const char *name, const char *path)
{
	char text[64] = "";
	bool known = pm_file_text(path, text, sizeof(text)) > 0;

	text[strcspn(text, "\n")] = '\0';
	pm_json_text(j, name, text, known);
}

#define CPU0 "/sys/devices/system/cpu/cpu0/"

static void print_machine(struct pm_json *j, const struct perfmon_info *machine)
{
	char *cpuinfo = NULL;

	if (pm_file_read("/proc/cpuinfo", &cpuinfo) < 0)
		cpuinfo = NULL;
	pm_json_begin(j, "machine", "{");
	pm_json_string(j, "cpu_model", machine->cpu_model);
	pm_json_string(j, "architecture", machine->architecture);
	pm_json_string(j, "kernel", machine->kernel);
	pm_json_number(j, "cpus", machine->cpus);
	print_cpuinfo(j, "family", cpuinfo, "cpu family");
	print_cpuinfo(j, "model", cpuinfo, "model\t");
	print_cpuinfo(j, "stepping", cpuinfo, "stepping");
	print_cpuinfo(j, "microcode", cpuinfo, "microcode");
	print_file(j, "midr_el1", CPU0 "regs/identification/midr_el1");
	print_file(j, "revidr_el1", CPU0 "regs/identification/revidr_el1");
	if (cpuinfo && strstr(cpuinfo, "\nflags"))
		pm_json_bool(j, "hypervisor", strstr(cpuinfo, " hypervisor") != NULL);
	else
		pm_json_null(j, "hypervisor");
	pm_json_signed(j, "paranoid", machine->paranoid);
	pm_json_close(j, "}");
	free(cpuinfo);
}

static int print_pmu(const struct perfmon_pmu_info *pmu, void *argument)
{
	struct pm_json *j = argument;

	if (pmu->kind != PERFMON_PMU_KIND_CORE)
		return 0;
	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "name", pmu->name);
	pm_json_string(j, "cpus", pmu->cpus);
	pm_json_number(j, "max_precise", pmu->max_precise);
	pm_json_known(j, "programmable", (uint64_t)pmu->programmable,
		      pmu->programmable >= 0);
	pm_json_known(j, "fixed", (uint64_t)pmu->fixed, pmu->fixed >= 0);
	pm_json_known(j, "width_bits", (uint64_t)pmu->width_bits, pmu->width_bits > 0);
	pm_json_known(j, "fixed_width_bits", (uint64_t)pmu->fixed_width_bits,
		      pmu->fixed_width_bits > 0);
	pm_json_close(j, "}");
	return 0;
}

/* --- findings ------------------------------------------------------------------------- */

static void print_figure(struct pm_json *j, const struct truth_figure *figure)
{
	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "name", figure->name);
	pm_json_string(j, "unit", figure->unit);
	pm_json_real(j, "value", figure->value, true);
	if (!isnan(figure->least)) {
		pm_json_real(j, "least", figure->least, true);
		pm_json_real(j, "most", figure->most, true);
	}
	if (!isnan(figure->lower)) {
		pm_json_real(j, "lower", figure->lower, true);
		pm_json_real(j, "upper", figure->upper, true);
	}
	pm_json_close(j, "}");
}

static void print_finding(struct pm_json *j, const struct truth_finding *finding)
{
	static const char *const kinds[] = {[TRUTH_EVENT] = "event",
					    [TRUTH_SOFTWARE] = "other event",
					    [TRUTH_CHECK] = "check",
					    [TRUTH_COST] = "cost"};

	pm_json_begin_line(j);
	pm_json_string(j, "kind", kinds[finding->kind]);
	pm_json_string(j, "name", finding->name);
	if (finding->kind != TRUTH_COST) {
		pm_json_string(j, "verdict", truth_verdict_name(finding->verdict));
		pm_json_bool(j, "wrong", truth_is_bad(finding->verdict));
		pm_json_real(j, "error", finding->error, finding->verdict == TRUTH_OFF);
	}
	pm_json_string(j, "why", finding->why);
	pm_json_begin(j, "figures", "[");
	for (size_t i = 0; i < finding->figure_count; i++)
		print_figure(j, &finding->figures[i]);
	pm_json_close(j, "]");
	pm_json_close(j, "}");
}

int truth_print_json(const struct truth_report *report, struct pm_out *out)
{
	struct pm_json json = {.out = out, .first = true}, *j = &json;
	int err;

	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "perfmon", PACKAGE_VERSION);
	pm_json_number(j, "format", 1);
	pm_json_bool(j, "wrong", truth_report_is_bad(report));
	print_machine(j, &report->machine);
	pm_json_begin(j, "pmus", "[");
	err = perfmon_info_pmus(print_pmu, j);
	pm_json_close(j, "]");
	pm_json_begin(j, "findings", "[");
	for (size_t i = 0; i < report->count; i++)
		print_finding(j, &report->findings[i]);
	pm_json_close(j, "]");
	pm_json_close(j, "}");
	pm_out_text(out, "\n");
	return err;
}
