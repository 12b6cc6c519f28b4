/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events on the CPUs of a placement: which CPU opens which event, and what adds up to what. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "breakpoints.h"
#include "core/cpuwide/cpuwide.h"
#include "core/kernel/kernel.h"
#include "machine.h"
#include "perfmon/placement.h"
#include "perfmon/session.h"
#include "perfmon/cpuwide.h"
#include "messages.h"

static struct perfmon_placement *placement;
static struct pm_event_list *list;
static struct pm_cpuwide *cpuwide;

static void clean(void)
{
	pm_cpuwide_close(cpuwide);
	pm_events_free(list);
	pm_placement_free(placement);
	pm_kernel_fault = NULL;
	machine_remove();
}

TestSuite(cpuwide, .fini = clean);

static int open_events(const char *place, const char *events, unsigned int flags,
		       struct pm_diag *diag)
{
	pm_cpuwide_close(cpuwide);
	pm_events_free(list);
	pm_placement_free(placement);
	cpuwide = NULL;
	list = NULL;
	placement = NULL;
	cr_assert_eq(pm_placement_parse(place, &placement, diag), 0, "%s", diag->text);
	cr_assert_eq(pm_events_parse(events, 0, &list, diag), 0, "%s", diag->text);
	return pm_cpuwide_open(&cpuwide, placement, list, flags, diag);
}

/* --- simulated ---------------------------------------------------------------------- */

static int no_events(enum pm_kernel_call call)
{
	return call == PM_CALL_PERF_EVENT_OPEN ? -ENOENT : 0;
}

/* "CPU: event event; ..." of what is asked of the kernel. */
static void asks(const char *place, const char *events, const char *expected)
{
	struct pm_diag diag = {0};
	char text[1024] = "";
	size_t used = 0;
	int refused;

	pm_kernel_fault = no_events;
	refused = open_events(place, events, PM_OPEN_PARTIAL, &diag);
	pm_kernel_fault = NULL;
	cr_assert_geq(refused, 0, "%s", diag.text);
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		const struct pm_cpuwide_cpu *cpu = &cpuwide->cpus[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%u:", i ? "; " : "", cpu->cpu);
		for (uint32_t k = 0; k < cpu->instance->count; k++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s",
						 cpu->events[k].name);
		refused -= (int)cpu->instance->count;
	}
	cr_expect_eq(refused, 0);
	cr_expect_str_eq(text, expected, "%s on %s asks\n  %s\nnot\n  %s", events, place,
			 text, expected);
}

/* Row: PC-03 */
Test(cpuwide, each_cpu_opens_what_counts_there)
{
	machine_unpack("hybrid");
	asks("6-9", "cycles,cs",
	     "6: cpu_core/cycles/ context-switches; 7: cpu_core/cycles/ "
	     "context-switches; "
	     "8: cpu_atom/cycles/ context-switches; 9: cpu_atom/cycles/ "
	     "context-switches");
	asks("10", "slots,cs", "10: context-switches");
	/* the agent is asked, and for its event alone */
	asks("9", "power/energy-pkg/,cs", "0: power/energy-pkg/; 9: context-switches");
	machine_remove();

	machine_unpack("server");
	asks("package:1.core:0 + 3", "uncore_upi_0/event=1/,cs",
	     "0: uncore_upi_0/event=1/; 3: context-switches; "
	     "28: uncore_upi_0/event=1/ context-switches");
}

Test(cpuwide, what_no_cpu_can_count_is_an_error)
{
	struct pm_diag diag = {0};

	machine_unpack("hybrid");
	pm_kernel_fault = no_events;
	cr_expect_eq(open_events("8-9", "cs,cpu_core/slots/", 0, &diag), -ENODEV);
	cr_expect_null(cpuwide);
	cr_expect(strstr(diag.text, "'cpu_core' has CPUs 0-7, the place has 8-9"), "%s",
		  diag.text);
	cr_expect_eq(open_events("8-9", "cpu_core/slots/", PM_OPEN_PARTIAL, &diag),
		     -ENODEV);
	cr_expect_eq(open_events("8-9", "cpu_core/cycles/,cs", PM_OPEN_PARTIAL, &diag),
		     2);
	/* a refusal that is not taken closes all */
	cr_expect_eq(open_events("8-9", "cs", 0, &diag), -ENOENT);
	cr_expect(strstr(diag.text, "on CPU 8"), "%s", diag.text);
	cr_expect_null(cpuwide);
}

/* Values as if they had been read: CPU n counts n + 1, an agent 1000. */
static void pretend(void)
{
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		struct pm_cpuwide_cpu *cpu = &cpuwide->cpus[i];

		for (uint32_t k = 0; k < cpu->instance->count; k++) {
			cpu->instance->counters[k].fd = 1000000;
			cpu->readings[k] = (struct pm_reading){
				cpu->events[k].uncore ? 1000 : cpu->cpu + 1, 10, 5};
		}
	}
}

static void stop_pretending(void)
{
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++)
		for (uint32_t k = 0; k < cpuwide->cpus[i].instance->count; k++)
			cpuwide->cpus[i].instance->counters[k].fd = -1;
}

static void sums(uint32_t logical, enum pm_level level, uint32_t group, int result,
		 uint64_t value, uint32_t counted, uint32_t missing)
{
	struct pm_cpuwide_sum sum = {0};
	int got = pm_cpuwide_sum(cpuwide, logical, level, group, &sum);

	cr_expect(got == result && sum.reading.value == value && sum.counted == counted &&
			  sum.missing == missing,
		  "event %u in %s:%u: %d, %lu of %u, %u missing", logical,
		  pm_level_name(level), group, got, (unsigned long)sum.reading.value,
		  sum.counted, sum.missing);
	cr_expect_eq(sum.reading.running_ns, 5 * counted);
}

Test(cpuwide, sums_by_level_say_what_is_missing)
{
	struct pm_cpus groups = {0};
	struct pm_cpuwide_sum sum;
	char text[64];

	machine_unpack("hybrid");
	asks("0-1,8-10", "cycles,cpu_core/slots/,power/energy-pkg/",
	     "0: cpu_core/cycles/ cpu_core/slots/ power/energy-pkg/; 1: cpu_core/cycles/ "
	     "cpu_core/slots/; "
	     "8: cpu_atom/cycles/; 9: cpu_atom/cycles/; 10: cpu_atom/cycles/");
	pretend();
	/* one event of two kinds of cores */
	sums(0, PM_LEVEL_MACHINE, 0, 0, 1 + 2 + 9 + 10 + 11, 5, 0);
	sums(0, PM_LEVEL_CORE, 0, 0, 1 + 2, 2, 0);
	sums(0, PM_LEVEL_L2, 4, 0, 9 + 10 + 11, 3, 0);
	sums(0, PM_LEVEL_L2, 5, -ENODATA, 0, 0, 0);
	/* what the small cores do not count is missing, not zero */
	sums(1, PM_LEVEL_MACHINE, 0, 0, 1 + 2, 2, 3);
	sums(1, PM_LEVEL_L2, 4, -ENODATA, 0, 0, 3);
	sums(1, PM_LEVEL_PU, 8, -ENODATA, 0, 0, 1);
	/* the package's energy is no core's */
	sums(2, PM_LEVEL_PACKAGE, 0, 0, 1000, 1, 0);
	sums(2, PM_LEVEL_NUMA, 0, 0, 1000, 1, 0);
	sums(2, PM_LEVEL_CORE, 0, -ERANGE, 0, 0, 2);
	cr_assert_eq(pm_cpuwide_groups(cpuwide, PM_LEVEL_L2, &groups), 0);
	cr_expect_str_eq(pm_cpus_print(&groups, text, sizeof(text)), "0,4");
	pm_cpus_free(&groups);
	/* a CPU that cannot be read any more, or never could */
	cpuwide->cpus[1].error = -EBADF;
	cr_expect_eq(pm_cpuwide_sum(cpuwide, 0, PM_LEVEL_CORE, 0, &sum), 0);
	cr_expect(sum.reading.value == 1 + 2 && sum.refused == 1 && sum.missing == 0);
	cpuwide->cpus[1].readings[0] = (struct pm_reading){0};
	cr_expect_eq(pm_cpuwide_sum(cpuwide, 0, PM_LEVEL_CORE, 0, &sum), 0);
	cr_expect(sum.reading.value == 1 && sum.refused == 1 && sum.missing == 1);
	stop_pretending();
}

/* --- for real ----------------------------------------------------------------------- */

static volatile int watched __attribute__((aligned(8)));

struct work {
	int cpu, writes;
};

static void *write_there(void *argument)
{
	const struct work *work = argument;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(work->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		return argument;
	for (int i = 0; i < work->writes; i++)
		watched = i;
	return NULL;
}

static void write_on(int cpu, int writes)
{
	struct work work = {cpu, writes};
	pthread_t thread;
	void *failed;

	cr_assert_eq(pthread_create(&thread, NULL, write_there, &work), 0);
	pthread_join(thread, &failed);
	if (failed)
		cr_skip_test("this process may not run on one of the CPUs");
}

static int fail_reads(enum pm_kernel_call call)
{
	return call == PM_CALL_READ ? -EIO : 0;
}

/* Row: DC-05, HW-03 */
Test(cpuwide, counts_on_each_cpu_are_exact_and_add_up)
{
	NEEDS_BREAKPOINTS();
	struct pm_diag diag = {0};
	struct pm_cpuwide_sum all;
	char event[64];
	int first, second, err;

	snprintf(event, sizeof(event), "mem:0x%lx/4:w:u", (unsigned long)&watched);
	err = open_events("all", event, 0, &diag);
	if (err < 0)
		cr_skip_test("%s", diag.text);
	first = pm_cpus_next(&placement->cpus, 0);
	second = pm_cpus_next(&placement->cpus, (unsigned int)first + 1);
	write_on(first, 7); /* before the start: not counted */
	cr_assert_eq(pm_cpuwide_start(cpuwide), 0);
	write_on(first, 100);
	if (second >= 0)
		write_on(second, 50);
	cr_assert_eq(pm_cpuwide_stop(cpuwide), 0);
	write_on(first, 9);
	cr_assert_eq(pm_cpuwide_read(cpuwide), 0);
	/* What is not read again stays as it was, and is told. */
	pm_kernel_fault = fail_reads;
	cr_assert_eq(pm_cpuwide_read(cpuwide), -EIO);
	pm_kernel_fault = NULL;
	cr_assert_eq(pm_cpuwide_sum(cpuwide, 0, PM_LEVEL_MACHINE, 0, &all), 0);
	cr_expect_eq(all.reading.value, second >= 0 ? 150 : 100);
	cr_expect_eq(all.refused, cpuwide->cpu_count);
	cr_assert_eq(pm_cpuwide_read(cpuwide), 0);
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		struct pm_cpuwide_sum sum;
		int cpu = (int)cpuwide->cpus[i].cpu;

		cr_assert_eq(pm_cpuwide_sum(cpuwide, 0, PM_LEVEL_PU,
					    pm_topology_group_of(placement->topology,
								 (unsigned int)cpu,
								 PM_LEVEL_PU),
					    &sum),
			     0);
		cr_expect_eq(sum.reading.value, cpu == first	? 100
						: cpu == second ? 50
								: 0);
		cr_expect_gt(sum.reading.enabled_ns, 0);
	}
	for (int level = 0; level < PM_LEVELS; level++) {
		struct pm_cpus groups = {0};
		uint64_t total = 0;

		if (!placement->topology->levels[level].count)
			continue;
		cr_assert_eq(pm_cpuwide_groups(cpuwide, level, &groups), 0);
		pm_cpus_each (group, &groups) {
			struct pm_cpuwide_sum sum;

			cr_assert_eq(pm_cpuwide_sum(cpuwide, 0, level, group, &sum), 0);
			cr_expect_eq(sum.missing, 0);
			total += sum.reading.value;
		}
		pm_cpus_free(&groups);
		cr_expect_eq(total, second >= 0 ? 150 : 100, "%s", pm_level_name(level));
	}
}

/* Row: DC-05 */
Test(cpuwide, a_session_counts_on_the_cpus_of_a_place)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	struct perfmon_target targets[64] = {0};
	struct perfmon_value value = {.index = 0};
	struct perfmon_placement *place;
	struct perfmon_session *session;
	unsigned long mask[16] = {0};
	size_t size = sizeof(mask), count = 0;
	char event[64];
	int n;

	cr_assert_eq(perfmon_placement_parse(&place, "package:0", NULL, 0), 0);
	n = perfmon_placement_get_cpus(place, PERFMON_PLACEMENT_SET_COVERED, mask, &size);
	cr_assert_gt(n, 0);
	for (int cpu = 0; cpu < 64; cpu++)
		if (mask[0] >> cpu & 1)
			targets[count++] = (struct perfmon_target){
				.kind = PERFMON_TARGET_KIND_CPU, .id = cpu};
	snprintf(event, sizeof(event), "mem:0x%lx/4:w:u", (unsigned long)&watched);
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	cr_assert_eq(perfmon_session_add_events(session, event), 0);
	n = perfmon_session_attach_targets(session, targets, count, sizeof(targets[0]),
					   0);
	if (n < 0)
		cr_skip_test("%s", session_message_of(session));
	cr_assert_eq(perfmon_session_start(session), 0);
	write_on(targets[0].id, 30);
	if (count > 1)
		write_on(targets[1].id, 12);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_expect_eq(value.value, count > 1 ? 42 : 30);
	perfmon_session_close(session);
	perfmon_placement_free(place);
}

/* --- the public face ---------------------------------------------------------------- */

static int note(const struct perfmon_cpuwide_value *value, void *argument)
{
	char *text = argument;

	cr_expect_eq(value->size, sizeof(*value));
	/* A machine that is busy may share the counters. */
	cr_expect(value->counted ? value->status & (PERFMON_VALUE_COUNTED |
						    PERFMON_VALUE_MULTIPLEXED)
				 : value->status == PERFMON_VALUE_NEVER_OPENED,
		  "status 0x%x", value->status);
	snprintf(text + strlen(text), 500 - strlen(text), "%u:%d=%s%lu/%u-%u ",
		 value->index, (int)value->group,
		 strcmp(value->event, "task-clock") ? "" : "t",
		 strcmp(value->event, "task-clock") ? (unsigned long)value->value : 0,
		 value->counted, value->refused);
	return 0;
}

static int enough(const struct perfmon_cpuwide_value *value, void *argument)
{
	(void)value;
	return ++*(int *)argument == 2 ? 7 : 0;
}

/* Row: DC-05 */
Test(cpuwide, a_program_reads_by_level)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_placement *place;
	struct perfmon_cpuwide *made = NULL;
	char events[96], message[300], text[500] = "", expected[100];
	int cpu, err, visits = 0;

	snprintf(events, sizeof(events), "mem:0x%lx/4:w:u,task-clock",
		 (unsigned long)&watched);
	cr_assert_eq(perfmon_placement_parse(&place, "pu:0", NULL, 0), 0);
	cpu = pm_cpus_next(&place->cpus, 0);
	err = perfmon_cpuwide_open(&made, place, events, 0, message, sizeof(message));
	if (err < 0) {
		cr_expect_null(made);
		perfmon_placement_free(place);
		cr_skip_test("%s", message);
	}
	cr_expect_str_empty(message);
	cr_assert_eq(perfmon_cpuwide_start(made), 0);
	write_on(cpu, 21);
	cr_assert_eq(perfmon_cpuwide_stop(made), 0);
	cr_assert_eq(perfmon_cpuwide_read(made, "pu", 0, note, text), 0);
	snprintf(expected, sizeof(expected), "0:0=21/1-0 1:0=t0/1-0 ");
	cr_expect_str_eq(text, expected, "%s", text);
	/* values count on */
	cr_assert_eq(perfmon_cpuwide_start(made), 0);
	write_on(cpu, 4);
	cr_assert_eq(perfmon_cpuwide_stop(made), 0);
	text[0] = '\0';
	cr_assert_eq(perfmon_cpuwide_read(made, "machine", 0, note, text), 0);
	cr_expect_str_eq(text, "0:0=25/1-0 1:0=t0/1-0 ", "%s", text);
	cr_expect_eq(perfmon_cpuwide_read(made, "pu", 0, enough, &visits), 7);
	cr_expect_eq(visits, 2);
	cr_expect_eq(perfmon_cpuwide_read(made, "pew", 0, note, text), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_read(made, "l4", 0, note, text), -ENOENT);
	cr_expect_eq(perfmon_cpuwide_read(made, "pu", 0, NULL, text), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_read(made, "pu", 1, note, text), -EINVAL);
	perfmon_cpuwide_message(made, message, sizeof(message));
	cr_expect_str_eq(message, "unknown flags 0x1");
	perfmon_cpuwide_close(made);
	perfmon_placement_free(place);
}

Test(cpuwide, what_cannot_be_told_apart_is_shown_as_a_whole)
{
	struct perfmon_placement *place;
	struct perfmon_cpuwide *made;
	char text[500] = "", message[300];

	machine_unpack("server");
	cr_assert_eq(perfmon_placement_parse(&place, "core:0-1+core:28", NULL, 0), 0);
	pm_kernel_fault = no_events;
	cr_assert_eq(perfmon_cpuwide_open(&made, place, "uncore_imc_0/clockticks/,cs",
					  PERFMON_CPUWIDE_PARTIAL, message,
					  sizeof(message)),
		     5);
	cr_expect(strstr(message, "uncore_imc_0"), "%s", message);
	pm_kernel_fault = NULL;
	message[0] = '\0';
	cr_expect_gt(perfmon_cpuwide_message(made, message, sizeof(message)), 20);
	cr_expect(strstr(message, "uncore_imc_0"), "%s", message);
	cr_expect_eq(perfmon_cpuwide_read(made, "cor", 0, note, text), -EINVAL);
	perfmon_cpuwide_message(made, message, sizeof(message));
	cr_expect_str_eq(message, "'cor' is not a level");
	cr_expect_eq(perfmon_cpuwide_read(made, "package", 0, note, text), 0);
	cr_expect_str_eq(text, "0:0=0/0-1 0:1=0/0-1 1:0=0/0-2 1:1=0/0-1 ", "%s", text);
	text[0] = '\0';
	cr_expect_eq(perfmon_cpuwide_read(made, "core", 0, note, text), 0);
	cr_expect_str_eq(text, "0:-1=0/0-2 1:0=0/0-1 1:1=0/0-1 1:28=0/0-1 ", "%s", text);
	perfmon_cpuwide_close(made);
	perfmon_placement_free(place);
}

Test(cpuwide, arguments_are_checked)
{
	struct perfmon_placement *place;
	struct perfmon_cpuwide *made = NULL;
	char message[200];

	cr_assert_eq(perfmon_placement_parse(&place, "all", NULL, 0), 0);
	cr_expect_eq(perfmon_cpuwide_open(NULL, place, "cs", 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_open(&made, NULL, "cs", 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_open(&made, place, NULL, 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_open(&made, place, "cs", 8, NULL, 0), -EINVAL);
	cr_expect_eq(
		perfmon_cpuwide_open(&made, place, "cs;cs", 0, message, sizeof(message)),
		-EINVAL);
	cr_expect(strstr(message, "2 event sets"), "%s", message);
	cr_expect_eq(
		perfmon_cpuwide_open(&made, place, "cz", 0, message, sizeof(message)),
		-EINVAL);
	cr_expect(strstr(message, "'cz'"), "%s", message);
	cr_expect_null(made);
	cr_expect_eq(perfmon_cpuwide_start(NULL), -EINVAL);
	cr_expect_eq(perfmon_cpuwide_stop(NULL), -EINVAL);
	perfmon_cpuwide_close(NULL);
	perfmon_placement_free(place);
}
