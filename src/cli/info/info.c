/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon info tries what this machine and this user's rights allow, and says for each
 * "no" what would help. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "arch/arch.h"
#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "cli/info/info.h"
#include "core/counters/counters.h"
#include "core/info/info.h"
#include "core/packages/packages.h"
#include "core/kernel/clock.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/text/diag.h"
#include "core/valgrind/exact.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon info [OPTION]...\n\n"
	"Shows what this machine can count: the CPU and its PMUs, which events open for this user\n"
	"and whether reads need a system call, the kernel's settings and this user's limits. For\n"
	"refused events: the reason, and what to change.\n\n"
	"  -f, --format FORMAT   text (default), json\n"
	"      --json            the same as -f json\n"
	"  -h, --help            this text\n";
/* clang-format on */

/* The columns of a finding's value, and of advice below it. */
#define VALUE_AT 31
#define HELPS_AT 33

/* Begins a part, below a blank line unless it is the first. */
static void heading(const char *text)
{
	static const char *between = "";

	printf("%s%s%s%s\n", between, cli_style(CLI_STRONG), text, cli_style(CLI_PLAIN));
	between = "\n";
}

/* Prints a finding and, if any, advice below it. */
static void finding(const char *what, const char *value, const char *helps)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	enum cli_style style = CLI_PLAIN;

	if (!strncmp(value, "yes", 3))
		style = CLI_GOOD;
	else if (!strcmp(value, "no"))
		style = CLI_BAD;
	pm_out_format(&out, "  %-*s ", VALUE_AT - 3, what);
	cli_put_wrapped(&out, VALUE_AT, style, value);
	if (helps) {
		pm_out_repeat(&out, ' ', HELPS_AT);
		cli_put_wrapped(&out, HELPS_AT, CLI_FAINT, helps);
	}
	pm_out_end(&out);
}

static void show_machine(const struct perfmon_info *info)
{
	char text[80];

	heading("machine");
	finding("CPU", info->cpu_model[0] ? info->cpu_model : "unknown", NULL);
	snprintf(text, sizeof(text), "packages %u, cores %u, CPUs %u", info->packages,
		 info->cores, info->cpus);
	finding("online", text, NULL);
	finding("kernel", info->kernel[0] ? info->kernel : "unknown", NULL);
	finding("counters are read with",
		!strcmp(PERFMON_ARCH_NAME, "generic") ? "read(2): unknown CPU family"
						      : PERFMON_ARCH_NAME,
		NULL);
}

/* Makes "6 counters of 32 bits and 1 fixed of 64 bits, read in user space". */
static void counters_text(const struct perfmon_pmu_info *pmu, struct pm_diag *text)
{
	bool known = pmu->programmable > 0;

	pm_diag_clear(text);
	if (!(pmu->capabilities & PERFMON_PMU_CAPABILITY_OPENS)) {
		pm_diag_add(text,
			    "unknown number of counters: no event of the PMU opens");
		return;
	}
	if (known)
		pm_diag_add(text, "%d ", pmu->programmable);
	pm_diag_add(text, "counters");
	if (pmu->width_bits > 0)
		pm_diag_add(text, " of %d bits", pmu->width_bits);
	if (known && pmu->fixed > 0)
		pm_diag_add(text, " and %d fixed", pmu->fixed);
	if (known && pmu->fixed > 0 && pmu->fixed_width_bits > 0)
		pm_diag_add(text, " of %d bits", pmu->fixed_width_bits);
	pm_diag_add(text, "%s%s%s%s", known ? "" : ", number unknown",
		    pmu->capabilities & PERFMON_PMU_CAPABILITY_USER_READ
			    ? ", read in user space"
			    : "",
		    pmu->capabilities & PERFMON_PMU_CAPABILITY_OVERFLOW
			    ? ", interrupt on overflow"
		    : pmu->capabilities_known & PERFMON_PMU_CAPABILITY_OVERFLOW
			    ? ", no interrupt on overflow"
			    : "",
		    ~pmu->capabilities & pmu->capabilities_known &
				    PERFMON_PMU_CAPABILITY_MODES
			    ? ", none of user mode alone"
			    : "");
}

/* For "7 free" or "6 free; held by somebody else: cycles". */
struct places {
	uint32_t free, held, disabled;
	char names[80]; /* of the fixed counters that are held */
};

static int add_place(const struct perfmon_info_counter *counter, void *argument)
{
	struct places *places = argument;
	size_t used = strlen(places->names);

	places->free += counter->state == PERFMON_INFO_COUNTER_STATE_FREE;
	places->disabled += counter->state == PERFMON_INFO_COUNTER_STATE_DISABLED;
	if (counter->state != PERFMON_INFO_COUNTER_STATE_HELD)
		return 0;
	if (counter->event[0])
		snprintf(places->names + used, sizeof(places->names) - used, ", %s",
			 counter->event);
	else
		places->held++;
	return 0;
}

static void show_places(const struct perfmon_pmu_info *pmu)
{
	struct places places = {0};
	struct pm_diag text;

	if (perfmon_info_counters(pmu->name, add_place, &places))
		return;
	pm_diag_set(&text, 0, "%u free", places.free);
	if (places.held)
		pm_diag_add(&text, ", held by another monitor: %u%s", places.held,
			    places.names);
	else if (places.names[0])
		pm_diag_add(&text, ", held by another monitor: %s", places.names + 2);
	if (places.disabled)
		pm_diag_set(&text, 0, "%u disabled: nothing counts on them",
			    places.disabled);
	finding("counters of this CPU", text.text, NULL);
}

static int show_pmu(const struct perfmon_pmu_info *pmu, void *argument)
{
	bool core = pmu->kind == PERFMON_PMU_KIND_CORE;
	struct pm_diag counters;
	char text[512];

	(void)argument;
	snprintf(text, sizeof(text), "type %" PRIu32 ", %" PRIu32 " named events%s%s%s",
		 pmu->type, pmu->named_events,
		 core					? ", core"
		 : pmu->kind == PERFMON_PMU_KIND_UNCORE ? ", uncore"
							: "",
		 pmu->cpus[0] ? ", CPUs " : "", pmu->cpus);
	if (core)
		counters_text(pmu, &counters);
	finding(pmu->name, text, core ? counters.text : NULL);
	if (core)
		show_places(pmu);
	return 0;
}

static void show_pmus(const struct perfmon_info *info)
{
	int err;

	heading("PMUs");
	err = perfmon_info_pmus(show_pmu, NULL);
	if (err)
		finding("/sys/bus/event_source", strerror(-err), NULL);
	else if (!info->core_pmus)
		finding("no core PMU",
			"hardware events cannot be counted: cycles, instructions, cache "
			"misses",
			"a virtual machine has a core PMU only if the host exposes one "
			"(KVM: -cpu host,pmu=on)");
}

/* Opens the event TEXT as regions do. Returns whether it counts. */
static bool try_event(const char *text, bool *user_read)
{
	const char *name = text;
	struct pm_event_list *list;
	struct pm_instance *instance;
	struct pm_diag diag = {0};
	uint32_t open = 0;
	int err;

	err = pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, &diag);
	if (err) {
		finding(name, "no", diag.text);
		return false;
	}
	/* With the mode that is counted. */
	name = list->events[0].label;
	err = pm_instance_new(&instance, list->events, (uint32_t)list->count, 0, -1,
			      PM_OPEN_USER_READ | PM_OPEN_PARTIAL, &diag);
	for (uint32_t i = 0; err >= 0 && i < instance->count; i++) {
		open += pm_counter_is_open(&instance->counters[i]);
		*user_read |= instance->counters[i].user_read;
	}
	if (open)
		finding(name,
			*user_read ? "yes, read in user space" : "yes, read by read(2)",
			*user_read || !diag.text[0] ? NULL : diag.text);
	else
		finding(name, "no", diag.text[0] ? diag.text : strerror(-err));
	pm_instance_free(instance);
	pm_events_free(list);
	return open;
}

/* Shows that the program itself runs under the Valgrind tool. */
static void show_exact(void)
{
	heading("events of the calling thread, counted by translation");
	for (uint32_t i = 0; i < PM_EXACT_EVENT_COUNT; i++)
		if (pm_exact_counts(i))
			finding(cli_exact_label((enum pm_exact_event)i), "yes", NULL);
	finding("", "counted exactly by translation, 3 to 20 times slower", NULL);
	finding("", "times are not those of the machine", NULL);
}

/* Returns whether hardware events open at all. */
static bool show_events(bool *user_read)
{
	static const char *const software[] = {"task-clock", "page-faults",
					       "context-switches"};
	bool any, unused = false;

	heading("events of the calling thread, in user mode");
	any = try_event("instructions", user_read);
	any |= try_event("cycles", user_read);
	for (size_t i = 0; i < sizeof(software) / sizeof(software[0]); i++)
		try_event(software[i], &unused);
	finding("perfmon run --exact",
		cli_exact_is_there() ? "yes, counts any command by translation" : "no",
		cli_exact_is_there() ? NULL : "install Valgrind and the tool of perfmon");
	return any;
}

/* Takes the first name of a list, to ARGUMENT with room for 128 bytes. */
static int take_name(const struct perfmon_event_info *event, void *argument)
{
	snprintf(argument, 128, "%s", event->name);
	return 1;
}

/* Tries the first event that PMU names, if that counts for packages. *ARGUMENT counts them. */
static int try_packages(const struct perfmon_pmu_info *pmu, void *argument)
{
	struct pm_packages *packages = NULL;
	struct pm_event_list *list = NULL;
	struct pm_diag diag = {0};
	int errors[PM_PACKAGES_MAX], err;
	unsigned int *tried = argument;
	char name[128], place[64];

	if (pmu->kind != PERFMON_PMU_KIND_UNCORE || !pmu->named_events)
		return 0;
	snprintf(name, sizeof(name), "%s/", pmu->name);
	err = pm_events_list(name, 0, take_name, name, NULL);
	if (err <= 0 || strncmp(name, pmu->name, strlen(pmu->name)) != 0)
		return 0;
	++*tried;
	err = pm_events_parse(name, PM_EVENTS_USER_ONLY, &list, &diag);
	if (!err)
		err = pm_packages_open(&packages, list->events, (uint32_t)list->count,
				       errors, &diag);
	if (err > 0) {
		pm_packages_place(packages, place, sizeof(place));
		finding(pmu->name, "yes, once for all threads", place[0] ? place : NULL);
	} else {
		finding(pmu->name, "no", diag.text[0] ? diag.text : strerror(-err));
	}
	pm_packages_close(packages);
	pm_events_free(list);
	return 0;
}

/* Shows which PMUs of packages this user may count on. */
static void show_packages(void)
{
	unsigned int tried = 0;

	heading("events of packages: energy, traffic of the memory");
	perfmon_info_pmus(try_packages, &tried);
	if (!tried)
		finding("no such PMU", "neither energy (RAPL) nor traffic can be counted",
			"virtual machines have none; on other machines an administrator "
			"may add it by 'modprobe rapl', 'intel-uncore' or 'amd-uncore'");
}

static void number_file(const char *label, const char *path, const char *helps)
{
	char text[32];
	int64_t value;
	int err = pm_file_number(path, &value);

	if (err == -ENOENT)
		return;
	if (err)
		snprintf(text, sizeof(text), "%s", strerror(-err));
	else
		snprintf(text, sizeof(text), "%" PRId64, value);
	finding(label, text, helps);
}

static const char *unprivileged(int paranoid)
{
	uint32_t allows = pm_info_paranoid_allows(paranoid);

	return allows & PERFMON_INFO_ALLOWS_RAW
		       ? "count all, and take raw samples of tracepoints"
	       : allows & PERFMON_INFO_ALLOWS_CPU
		       ? "count own threads and whole CPUs, in all modes"
	       : allows & PERFMON_INFO_ALLOWS_KERNEL ? "count own threads, in all modes"
	       : allows & PERFMON_INFO_ALLOWS_USER   ? "count own threads, in user mode"
						     : "open no event at all";
}

static void show_rights(bool hardware, bool user_read)
{
	struct pm_permissions have;
	char text[64];

	pm_permissions_get(&have);
	heading("rights");
	snprintf(text, sizeof(text), "%d%s", have.paranoid,
		 have.paranoid_known ? "" : " (assumed: the file cannot be read)");
	finding("kernel.perf_event_paranoid", text,
		have.perfmon ? "does not restrict this user: CAP_PERFMON or CAP_SYS_ADMIN"
		: have.paranoid > 2 ? "no event is allowed: ask for sysctl "
				      "kernel.perf_event_paranoid=2 or for CAP_PERFMON"
		: have.paranoid > 1 ? "user mode of own threads; for kernel mode ask for "
				      "1, for whole CPUs for 0"
		: have.paranoid > 0
			? "own threads, kernel mode too; for whole CPUs ask for 0"
			: NULL);
	finding("an unprivileged user may", unprivileged(have.paranoid), NULL);
	finding("CAP_PERFMON", have.perfmon ? "yes" : "no", NULL);
	finding("system call filter (seccomp)", have.seccomp ? "on" : "off",
		have.seccomp && !hardware
			? "if perf_event_open is refused: run the container with a "
			  "profile that allows the call"
			: NULL);
	number_file("kernel.perf_user_access", "/proc/sys/kernel/perf_user_access",
		    user_read || !hardware ? NULL
					   : "for reads without a system call ask for "
					     "sysctl kernel.perf_user_access=1");
	number_file("rdpmc", "/sys/bus/event_source/devices/cpu/rdpmc",
		    user_read || !hardware
			    ? NULL
			    : "for reads without a system call ask for 1 in "
			      "/sys/bus/event_source/devices/cpu/rdpmc");
	if (hardware && !user_read)
		finding("reads in user space", "no",
			"a region costs two read(2) per group");
}

static void limit(const char *label, int resource, uint64_t unit, const char *unit_name)
{
	uint64_t soft, hard;
	char text[80];

	if (pm_kernel_getrlimit(resource, &soft, &hard))
		return;
	if (soft == RLIM_INFINITY)
		snprintf(text, sizeof(text), "unlimited");
	else if (hard <= soft)
		snprintf(text, sizeof(text), "%" PRIu64 "%s", soft / unit, unit_name);
	else if (hard == RLIM_INFINITY)
		snprintf(text, sizeof(text), "%" PRIu64 "%s, may be raised", soft / unit,
			 unit_name);
	else
		snprintf(text, sizeof(text),
			 "%" PRIu64 "%s, may be raised to %" PRIu64 "%s", soft / unit,
			 unit_name, hard / unit, unit_name);
	finding(label, text, NULL);
}

static int show_sentence(const char *sentence, void *is_first)
{
	if (*(bool *)is_first)
		heading("environment");
	*(bool *)is_first = false;
	finding("", sentence, NULL);
	return 0;
}

static void show_limits(void)
{
	heading("limits");
	limit("descriptors (RLIMIT_NOFILE)", RLIMIT_NOFILE, 1, "");
	finding("", "each thread that uses regions needs one per counter", NULL);
	number_file("kernel.perf_event_mlock_kb", "/proc/sys/kernel/perf_event_mlock_kb",
		    NULL);
	limit("locked memory (MEMLOCK)", RLIMIT_MEMLOCK, 1024, " kB");
	finding("", "each counter read in user space needs one page", NULL);
}

static void show_clock(void)
{
	pm_clock_init();
	heading("clock");
	finding("time is taken from",
		pm_clock.monotonic ? "CLOCK_MONOTONIC" : "the timestamp counter",
		pm_clock.monotonic && pm_clock.why[0] ? pm_clock.why : NULL);
}

int cli_info(int argc, char **argv)
{
	bool hardware, user_read = false, first = true;
	unsigned int json = 0;
	const struct cli_option options[] = {
		{"format", .choice = &json, .choices = "text, json"},
		{"json", "json", .choice = &json, .choices = "text, json"},
		{.name = NULL},
	};
	const struct cli_command command = {"info", help, false, options};
	struct perfmon_info info = {.size = sizeof(info)};
	int err = cli_options_read(&command, argc, argv);

	if (err >= 0)
		return err;
	if (optind < argc)
		return cli_fail(CLI_USAGE, "info", "'%s': perfmon info takes no argument",
				argv[optind]);
	err = perfmon_info_get(&info);
	if (!err && json)
		err = cli_info_json(&info);
	if (err)
		return cli_fail(CLI_FAILED, "info", "%s", strerror(-err));
	if (json)
		return cli_finish("info", 0);
	cli_pager_begin();
	show_machine(&info);
	show_pmus(&info);
	if (pm_exact())
		show_exact();
	hardware = !pm_exact() && show_events(&user_read);
	if (!pm_exact())
		show_packages();
	show_rights(hardware, user_read);
	show_limits();
	show_clock();
	perfmon_info_environment(show_sentence, &first);
	return cli_finish("info", 0);
}
