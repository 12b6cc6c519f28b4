/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers what perf's expressions ask about the machine by words that begin with '#'. */
#include "cli/metrics/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/kernel/files.h"
#include "core/text/text.h"
#include "core/topology/topology.h"

/* --- questions; 0: this machine does not say ------------------------------------------ */

static double count_of(const struct pm_topology *machine, enum pm_level level)
{
	return machine->levels[level].count;
}

/* Issue slots of a cycle, which arm64's kernel says. */
static double slots(void)
{
	struct pm_cpu_kinds kinds = {0};

	pm_cpu_slots_here(&kinds);
	return kinds.slots;
}

/* The frequency in the name of the model: "... CPU @ 3.00GHz". */
static double model_hz(void)
{
	double value = 0;
	const char *at;
	char *text, digits[16];

	if (pm_file_read("/proc/cpuinfo", &text) < 0)
		return 0;
	at = strstr(text, "GHz");
	if (at) {
		const char *from = at;

		while (from > text && (pm_char_is_digit(from[-1]) || from[-1] == '.'))
			from--;
		if (at - from < (ptrdiff_t)sizeof(digits)) {
			memcpy(digits, from, (size_t)(at - from));
			digits[at - from] = '\0';
			if (pm_text_double(digits, &value))
				value = 0;
		}
	}
	free(text);
	return value * 1e9;
}

/* Returns the rate of x86's time stamp counter, from CPUID leaf 15H (Intel's manual, volume 2) or
 * else the model's name. */
static double tsc_hz(void)
{
#if defined(__x86_64__)
	{
		unsigned int a, b, c, d;

		if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
			return (double)c * b / a;
	}
#endif
	return model_hz();
}

/* --- the words ---------------------------------------------------------------------- */

static bool smt_is_on(const struct pm_topology *machine)
{
	int64_t active;

	if (!pm_file_number("/sys/devices/system/cpu/smt/active", &active))
		return active != 0;
	return count_of(machine, PM_LEVEL_PU) > count_of(machine, PM_LEVEL_CORE) &&
	       count_of(machine, PM_LEVEL_CORE) > 0;
}

/* Returns what the word NAME is on MACHINE. 0: it does not say; NAN: an unknown word. */
static double number_of(const struct pm_topology *machine, const char *name)
{
	if (!strcasecmp(name, "#num_packages"))
		return count_of(machine, PM_LEVEL_PACKAGE);
	/* A machine whose packages have one die each has no level of dies. */
	if (!strcasecmp(name, "#num_dies"))
		return count_of(machine, count_of(machine, PM_LEVEL_DIE) > 0
						 ? PM_LEVEL_DIE
						 : PM_LEVEL_PACKAGE);
	if (!strcasecmp(name, "#num_cores"))
		return count_of(machine, PM_LEVEL_CORE);
	if (!strcasecmp(name, "#num_cpus"))
		return machine->cpu_end;
	if (!strcasecmp(name, "#num_cpus_online"))
		return count_of(machine, PM_LEVEL_PU);
	if (!strcasecmp(name, "#slots"))
		return slots();
	if (!strcasecmp(name, "#system_tsc_freq"))
		return tsc_hz();
	return NAN;
}

static int value_of(const struct pm_topology *machine, const char *name, bool cpus,
		    double *value, struct pm_diag *diag)
{
	if (!strcasecmp(name, "#smt_on")) {
		*value = smt_is_on(machine);
		return 0;
	}
	/* All that runs on a core is only counted for sure if it has one thread. */
	if (!strcasecmp(name, "#core_wide")) {
		*value = cpus && !smt_is_on(machine);
		return 0;
	}
	*value = number_of(machine, name);
	if (isnan(*value))
		return pm_diag_set(diag, -EINVAL, "'%s' is not a known literal of perf",
				   pm_slice_quote(pm_slice_of(name)).text);
	return *value > 0 ? 0
			  : pm_diag_set(diag, -ENODATA,
					"this machine does not say its %s", name);
}

int metric_literal(const char *name, bool cpus, double *value, struct pm_diag *diag)
{
	struct pm_topology *machine;
	int err = pm_topology_get(&machine, diag);

	if (err)
		return err;
	err = value_of(machine, name, cpus, value, diag);
	pm_topology_put(machine);
	return err;
}

/* The register that names an arm64 CPU: its implementer, variant, part and revision. */
#define MIDR "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"

bool metric_cpu_is(const char *id)
{
	const uint64_t variant = 0xf << 20, revision = 0xf;
	uint64_t wanted, is;
	char *text;
	bool found;

	if (pm_file_read(MIDR, &text) < 0)
		return false;
	found = !pm_slice_number(pm_slice_trim(pm_slice_of(text)), &is) &&
		!pm_slice_number(pm_slice_of(id), &wanted) &&
		!((is ^ wanted) & ~(variant | revision)) &&
		(is & (variant | revision)) >= (wanted & (variant | revision));
	free(text);
	return found;
}
