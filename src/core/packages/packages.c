/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/packages/packages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/topology/topology.h"

/* A CPU on which events are open, with those that count there. */
struct agent {
	struct pm_instance *instance;
	struct pm_event *events; /* they share their strings with the list */
	uint32_t original[PM_PACKAGES_MAX];
};

struct pm_packages {
	const struct pm_event *events;
	uint32_t count;
	uint32_t agent_count;
	struct agent *agents;
	struct pm_cpus opens[PM_PACKAGES_MAX]; /* the CPUs of each event */
	struct pm_cpus packages[PM_PACKAGES_MAX];
	struct pm_cpus ids;	/* these packages; empty: not known */
	struct pm_cpus covered; /* all their CPUs */
	struct pm_packages_use begin;
};

bool pm_packages_is_machine(const char *event)
{
	return strstr(event, "psys") != NULL;
}

bool pm_packages_is_energy(const char *unit)
{
	return !strcmp(unit, "Joules") || !strcmp(unit, "J");
}

/* --- where an event is opened ----------------------------------------------------------- */

static int package_of(unsigned int cpu)
{
	int64_t id;
	char path[96];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	return pm_file_number(path, &id) || id < 0 || id > (int64_t)PM_CPUS_MAX ? -1
										: (int)id;
}

/* Adds the packages of the CPUs of SET. Returns false if one of them is not known, or
 * without memory. */
static bool packages_of(const struct pm_cpus *set, struct pm_cpus *packages)
{
	pm_cpus_each (cpu, set) {
		int id = package_of(cpu);

		if (id < 0 || pm_cpus_add(packages, (unsigned int)id))
			return false;
	}
	return true;
}

/*
 * Finds the CPUs for event I: those of its PMU that are online, in packages of HOME, the CPUs of
 * this process. Where no package is known it takes all. What counts the machine is opened once: each
 * of its CPUs would count the same.
 */
static int find_cpus(struct pm_packages *packages, uint32_t i,
		     const struct pm_cpus *online, const struct pm_cpus *home)
{
	const struct pm_event *event = &packages->events[i];
	struct pm_cpus *opens = &packages->opens[i];
	struct pm_cpus all = {0};
	int err = pm_cpus_parse_list(&all, pm_slice_of(event->cpus), NULL);

	if (!err && pm_cpus_count(online))
		pm_cpus_and(&all, online);
	pm_cpus_each (cpu, &all) {
		int id = package_of(cpu);

		if (err || (pm_packages_is_machine(event->name) && pm_cpus_count(opens)))
			break;
		if (id < 0 || !pm_cpus_count(home) || pm_cpus_has(home, (unsigned int)id))
			err = pm_cpus_add(opens, cpu);
	}
	pm_cpus_free(&all);
	if (!err && !packages_of(opens, &packages->packages[i]))
		pm_cpus_clear(&packages->packages[i]);
	return err;
}

/* Fills the set of CPUs whose time is compared. */
static int find_covered(struct pm_packages *packages, const struct pm_cpus *online)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < packages->count; i++)
		if (!pm_packages_is_machine(packages->events[i].name))
			err = pm_cpus_or(&packages->ids, &packages->packages[i]);
	pm_cpus_each (cpu, online) {
		int id = err ? -1 : package_of(cpu);

		if (id >= 0 && pm_cpus_has(&packages->ids, (unsigned int)id))
			err = pm_cpus_add(&packages->covered, cpu);
	}
	return err;
}

static int find_places(struct pm_packages *packages)
{
	struct pm_cpus online = {0}, allowed = {0}, home = {0};
	int err;

	pm_cpus_online(&online);
	/* These stay empty if they are not known. */
	err = pm_cpus_own(&allowed) == -ENOMEM ? -ENOMEM : 0;
	if (!err && !packages_of(&allowed, &home))
		pm_cpus_clear(&home);
	for (uint32_t i = 0; !err && i < packages->count; i++)
		err = find_cpus(packages, i, &online, &home);
	if (!err)
		err = find_covered(packages, &online);
	pm_cpus_free(&home);
	pm_cpus_free(&allowed);
	pm_cpus_free(&online);
	return err;
}

/* --- open and close --------------------------------------------------------------------- */

/* Opens on CPU the events that count there. */
static int open_agent(struct pm_packages *packages, unsigned int cpu, int *errors,
		      struct pm_diag *diag)
{
	struct agent *agent = &packages->agents[packages->agent_count];
	struct pm_diag why = {0};
	uint32_t n = 0;
	int err;

	agent->events = calloc(packages->count, sizeof(agent->events[0]));
	if (!agent->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < packages->count; i++) {
		if (!pm_cpus_has(&packages->opens[i], cpu))
			continue;
		agent->events[n] = packages->events[i];
		agent->original[n++] = i;
	}
	err = pm_instance_new(&agent->instance, agent->events, n, -1, (int)cpu,
			      PM_OPEN_PARTIAL | PM_OPEN_SPARING, &why);
	if (why.error && diag && !diag->error)
		*diag = why;
	if (err < 0) {
		free(agent->events);
		return err;
	}
	packages->agent_count++;
	for (uint32_t k = 0; k < n; k++)
		if (!pm_counter_is_open(&agent->instance->counters[k]))
			errors[agent->original[k]] =
				agent->instance->counters[k].error ?: -EBADF;
	return 0;
}

static int open_agents(struct pm_packages *packages, int *errors, struct pm_diag *diag)
{
	struct pm_cpus all = {0};
	int err = 0;

	for (uint32_t i = 0; !err && i < packages->count; i++)
		err = pm_cpus_or(&all, &packages->opens[i]);
	packages->agents = calloc(pm_cpus_count(&all) + 1, sizeof(packages->agents[0]));
	if (!packages->agents)
		err = -ENOMEM;
	pm_cpus_each (cpu, &all)
		if (!err)
			err = open_agent(packages, cpu, errors, diag);
	pm_cpus_free(&all);
	return err;
}

int pm_packages_open(struct pm_packages **out, const struct pm_event *events,
		     uint32_t count, int *errors, struct pm_diag *diag)
{
	struct pm_packages *packages;
	int err, open = 0;

	if (count > PM_PACKAGES_MAX)
		return -EINVAL;
	packages = calloc(1, sizeof(*packages));
	if (!packages)
		return -ENOMEM;
	packages->events = events;
	packages->count = count;
	memset(errors, 0, count * sizeof(*errors));
	err = find_places(packages) ?: open_agents(packages, errors, diag);
	for (uint32_t i = 0; !err && i < count; i++) {
		if (pm_cpus_count(&packages->opens[i]))
			continue;
		errors[i] = -ENODEV;
		if (diag && !diag->error)
			pm_diag_set(diag, -ENODEV,
				    "event '%s': PMU '%s' counts on CPUs %s, and none of "
				    "them is online in a package on which this process "
				    "may run",
				    events[i].name, events[i].pmu,
				    *events[i].cpus ? events[i].cpus : "none");
	}
	if (err) {
		pm_packages_close(packages);
		return err;
	}
	for (uint32_t i = 0; i < count; i++)
		open += !errors[i];
	for (uint32_t a = 0; a < packages->agent_count; a++)
		pm_instance_enable(packages->agents[a].instance);
	pm_packages_use(packages, &packages->begin);
	*out = packages;
	return open;
}

static void free_all(struct pm_packages *packages, void (*end)(struct pm_instance *))
{
	if (!packages)
		return;
	for (uint32_t a = 0; a < packages->agent_count; a++) {
		end(packages->agents[a].instance);
		free(packages->agents[a].instance);
		free(packages->agents[a].events);
	}
	for (uint32_t i = 0; i < packages->count; i++) {
		pm_cpus_free(&packages->opens[i]);
		pm_cpus_free(&packages->packages[i]);
	}
	pm_cpus_free(&packages->ids);
	pm_cpus_free(&packages->covered);
	free(packages->agents);
	free(packages);
}

void pm_packages_close(struct pm_packages *packages)
{
	free_all(packages, pm_instance_close);
}

void pm_packages_forget(struct pm_packages *packages)
{
	free_all(packages, pm_instance_forget);
}

/* --- reading ---------------------------------------------------------------------------- */

/* Adds what AGENT has counted; an event that cannot be read there is not valid. */
static void read_agent(const struct agent *agent, struct pm_packages_reading *reading)
{
	struct pm_reading values[PM_PACKAGES_MAX];
	const struct pm_instance *instance = agent->instance;

	for (uint32_t k = 0; k < instance->count; k++)
		values[k].enabled_ns = UINT64_MAX; /* a group that fails leaves it */
	pm_instance_read(instance, values);
	for (uint32_t k = 0; k < instance->count; k++) {
		uint32_t i = agent->original[k];

		if (!pm_counter_is_open(&instance->counters[k]) ||
		    values[k].enabled_ns == UINT64_MAX) {
			reading->valid &= ~(UINT32_C(1) << i);
			continue;
		}
		reading->event[i].value += values[k].value;
		reading->event[i].lost_ns += values[k].enabled_ns - values[k].running_ns;
	}
}

void pm_packages_read(const struct pm_packages *packages,
		      struct pm_packages_reading *reading)
{
	memset(reading->event, 0, packages->count * sizeof(reading->event[0]));
	reading->valid = UINT32_MAX;
	if (pm_kernel_clock_ns(CLOCK_MONOTONIC, &reading->ns))
		reading->ns = 0;
	for (uint32_t a = 0; a < packages->agent_count; a++)
		read_agent(&packages->agents[a], reading);
	for (uint32_t i = 0; i < packages->count; i++) {
		unsigned int cpus = pm_cpus_count(&packages->opens[i]);

		reading->event[i].lost_ns /= cpus ? cpus : 1;
	}
}

/* --- whose it is ------------------------------------------------------------------------ */

void pm_packages_place(const struct pm_packages *packages, char *text, size_t size)
{
	const struct pm_cpus *ids = &packages->ids;
	char list[32];

	*text = '\0';
	if (pm_cpus_count(ids))
		snprintf(text, size, "package%s %s", pm_cpus_count(ids) > 1 ? "s" : "",
			 pm_cpus_print(ids, list, sizeof(list)));
}

bool pm_packages_covers_machine(const struct pm_packages *packages, uint32_t i)
{
	return pm_packages_is_machine(packages->events[i].name) ||
	       !pm_cpus_count(&packages->packages[i]);
}

/* Returns the ticks in which the CPU of LINE, behind its name, was not idle. */
static uint64_t busy_ticks(const char *line)
{
	/* user nice system idle iowait irq softirq; the rest is in these, or another machine's */
	static const bool busy[] = {true, true, true, false, false, true, true};
	uint64_t sum = 0;
	char *end;

	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++, line = end) {
		uint64_t ticks = strtoull(line, &end, 10);

		sum += busy[i] ? ticks : 0;
	}
	return sum;
}

static uint64_t busy_ns(const struct pm_cpus *cpus)
{
	uint64_t ticks = 0;
	char *text, *end;

	if (!pm_cpus_count(cpus) || pm_file_read("/proc/stat", &text) < 0)
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long cpu;

		line += *line == '\n';
		if (strncmp(line, "cpu", 3) != 0)
			break;
		if (line[3] == ' ')
			continue;
		cpu = strtoul(line + 3, &end, 10);
		if (cpu <= PM_CPUS_MAX && pm_cpus_has(cpus, (unsigned int)cpu))
			ticks += busy_ticks(end);
	}
	free(text);
	return ticks * 10000000; /* USER_HZ is 100 on all CPUs of this library */
}

void pm_packages_use(const struct pm_packages *packages, struct pm_packages_use *use)
{
	struct pm_packages_use now = {0};

	pm_kernel_clock_ns(CLOCK_PROCESS_CPUTIME_ID, &now.own_ns);
	now.busy_ns = busy_ns(&packages->covered);
	use->own_ns = now.own_ns - packages->begin.own_ns;
	use->busy_ns = now.busy_ns > packages->begin.busy_ns
			       ? now.busy_ns - packages->begin.busy_ns
			       : 0;
}

/* Less CPU time than that tells nothing: the kernel counts it in ticks of 10 ms. */
#define LEAST_NS UINT64_C(200000000)
/* The part of the CPU time of others that still is called alone. */
#define OTHERS 0.05

enum pm_packages_who pm_packages_who(bool machine, uint64_t own_ns, uint64_t busy_ns)
{
	uint64_t others = busy_ns > own_ns ? busy_ns - own_ns : 0;

	if (machine)
		return PM_PACKAGES_MACHINE;
	if (busy_ns < LEAST_NS)
		return PM_PACKAGES_UNKNOWN;
	return (double)others > OTHERS * (double)busy_ns ? PM_PACKAGES_SHARED
							 : PM_PACKAGES_ALONE;
}

const char *pm_packages_who_name(enum pm_packages_who who)
{
	static const char *const names[] = {"unknown", "alone", "shared", "machine"};

	return names[who];
}

void pm_packages_who_text(enum pm_packages_who who, uint64_t own_ns, uint64_t busy_ns,
			  char *text, size_t size)
{
	double share = busy_ns ? 100 * (double)own_ns / (double)busy_ns : 0;

	share = share < 100 ? share : 100;
	switch (who) {
	case PM_PACKAGES_ALONE:
		snprintf(text, size, "alone there (%.0f %% of the CPU time)", share);
		break;
	case PM_PACKAGES_SHARED:
		snprintf(text, size,
			 "shared with others (%.0f %% of the CPU time was its own)",
			 share);
		break;
	case PM_PACKAGES_MACHINE:
		snprintf(text, size, "the whole machine's");
		break;
	case PM_PACKAGES_UNKNOWN:
		snprintf(text, size, "whether others ran there is not known");
		break;
	}
}
