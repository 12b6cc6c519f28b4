/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which modes are counted, and that labels say so: one rule for regions, sessions, CPUs
 * and perfmon2's calls, as root and as a user. */
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "perfmon/perfmon2.h"
#include "perfmon/session.h"
#include "perfmon/cpuwide.h"
#include "messages.h"

#define PAGES 512

static bool denied;

/* Opens a software event that does not leave the kernel out, as the rule means it. */
static void ask_kernel(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	denied = fd < 0 && (errno == EACCES || errno == EPERM);
	if (fd >= 0)
		close(fd);
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		cr_skip_test("perf_event_open: %s", strerror(errno));
	close(fd);
	probe_quiet();
}

TestSuite(modes, .init = ask_kernel, .timeout = 60);

static char *fresh;

static void fresh_memory(void)
{
	fresh = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(fresh, MAP_FAILED);
	madvise(fresh, PAGES * 4096, MADV_NOHUGEPAGE);
}

/* Faults that the kernel itself meets. */
/* By system calls of its own: a sanitizer's read() has faults in user mode, too. */
static void fault_in_the_kernel(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < PAGES; i++)
		cr_assert_eq(syscall(SYS_read, fd, fresh + i * 4096L, 64), 64);
	close(fd);
}

static const char *label(const char *with_the_kernel, const char *without)
{
	return denied ? without : with_the_kernel;
}

static bool noted(const struct pm_snapshot *s, const char *part)
{
	for (uint32_t i = 0; i < s->note_count; i++)
		if (strstr(s->notes[i], part))
			return true;
	return false;
}

Test(modes, regions_count_faults_of_the_kernel_where_that_is_allowed)
{
	const struct perfmon_profile_node *node;
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	fresh_memory();
	PERFMON_REGION_BEGIN("read");
	fault_in_the_kernel();
	PERFMON_REGION_END("read");
	s = probe_take();
	node = probe_node(s, &s->threads[0], "read");
	cr_expect_str_eq(s->plans[0].counters[0].name,
			 label("page-faults", "page-faults:u"));
	if (denied)
		cr_expect_lt(node->count[0].sum, PAGES);
	else
		cr_expect_geq(node->count[0].sum, PAGES);
	cr_expect_eq(noted(s, "'page-faults:u' counts only user mode"), denied);
	pm_snapshot_free(s);
}

Test(modes, regions_count_what_the_kernel_does_or_say_why_not)
{
	const struct perfmon_profile_node *node;
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "context-switches", 1);
	PERFMON_REGION_BEGIN("wait");
	for (int i = 0; i < 5; i++)
		let_time_pass_ms(1);
	PERFMON_REGION_END("wait");
	s = probe_take();
	node = probe_node(s, &s->threads[0], "wait");
	cr_expect_str_eq(s->plans[0].counters[0].name, "context-switches");
	if (denied) {
		cr_expect_lt(s->threads[0].record.status[0], 0);
		cr_expect(noted(s, "kernel.perf_event_paranoid") || noted(s, "seccomp"));
	} else {
		cr_expect_geq(node->count[0].sum, 5);
	}
	pm_snapshot_free(s);
}

Test(modes, regions_refuse_what_user_mode_has_nothing_of)
{
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "task-clock,context-switches:u", 1);
	PERFMON_REGION_BEGIN("wait");
	let_time_pass_ms(1);
	PERFMON_REGION_END("wait");
	s = probe_take();
	cr_expect_geq(s->threads[0].record.status[0], 0);
	cr_expect_eq(s->threads[0].record.status[1], -EINVAL);
	cr_expect(noted(s, "'context-switches:u'"));
	cr_expect(noted(s, "happens in the kernel alone"));
	cr_expect(noted(s, "remove 'u'"));
	pm_snapshot_free(s);
}

static struct perfmon_session *make(const char *events, uint32_t flags)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .flags = flags};
	struct perfmon_session *session;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	cr_assert_geq(perfmon_session_add_events(session, events), 0, "%s",
		      session_message_of(session));
	return session;
}

static const char *name_of(struct perfmon_session *session, uint32_t index)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	cr_assert_eq(perfmon_session_get_counter(session, index, &info), 0);
	return info.name;
}

Test(modes, sessions_count_faults_of_the_kernel_where_that_is_allowed)
{
	struct perfmon_session *session = make("page-faults,page-faults:u,task-clock", 0);
	struct perfmon_value values[3] = {{.index = 0}, {.index = 1}, {.index = 2}};

	cr_expect_str_eq(name_of(session, 0), label("page-faults", "page-faults:u"));
	cr_expect_str_eq(name_of(session, 1), "page-faults:u");
	cr_expect_str_eq(name_of(session, 2), "task-clock");
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0,
		     "%s", session_message_of(session));
	fresh_memory();
	cr_assert_eq(perfmon_session_start(session), 0);
	fault_in_the_kernel();
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     3);
	cr_expect_lt(values[1].value, PAGES);
	if (denied)
		cr_expect_eq(values[0].value, values[1].value);
	else
		cr_expect_geq(values[0].value, values[1].value + PAGES);
	/* Whatever the modes, the clock counts all of the time. */
	cr_expect_gt(values[2].value, 0);
	perfmon_session_close(session);
}

Test(modes, sessions_count_what_the_kernel_does_or_say_why_not)
{
	struct perfmon_session *session = make("context-switches", 0);
	struct perfmon_value value = {.index = 0};
	int err = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);

	if (denied) {
		cr_expect(err == -EACCES || err == -EPERM, "%d", err);
		cr_expect(strstr(session_message_of(session),
				 "kernel.perf_event_paranoid") ||
				  strstr(session_message_of(session), "seccomp"),
			  "%s", session_message_of(session));
	} else {
		cr_assert_eq(err, 0);
		cr_assert_eq(perfmon_session_start(session), 0);
		let_time_pass_ms(1);
		cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0),
			     1);
		cr_expect_geq(value.value, 1);
		cr_expect_eq(value.status, PERFMON_VALUE_COUNTED | PERFMON_VALUE_SYSCALL);
	}
	perfmon_session_close(session);
}

Test(modes, sessions_refuse_what_user_mode_has_nothing_of)
{
	static const char *const events[] = {"context-switches:u", "cpu-migrations:u",
					     "cs:uG", "software/config=3/u"};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct perfmon_session *session = make(events[i], 0);

		cr_expect_eq(
			perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
			-EINVAL, "%s", events[i]);
		cr_expect(strstr(session_message_of(session),
				 "happens in the kernel alone"),
			  "%s", session_message_of(session));
		perfmon_session_close(session);
	}
	/* With the others, it is one that was never opened. */
	for (uint32_t i = 0; i < 1; i++) {
		struct perfmon_session *session =
			make("task-clock,cs:u", PERFMON_SESSION_PARTIAL);
		struct perfmon_value value = {.index = 1};

		cr_assert_eq(
			perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
			1);
		cr_assert_eq(perfmon_session_start(session), 0);
		cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0),
			     1);
		cr_expect_eq(value.status & PERFMON_VALUE_NEVER_OPENED,
			     PERFMON_VALUE_NEVER_OPENED);
		perfmon_session_close(session);
	}
}

static int sum(const struct perfmon_cpuwide_value *value, void *argument)
{
	*(struct perfmon_cpuwide_value *)argument = *value;
	return 0;
}

Test(modes, cpus_count_what_the_kernel_does_or_say_why_not)
{
	struct perfmon_cpuwide_value value = {.value = 0};
	struct perfmon_placement *place;
	struct perfmon_cpuwide *cpuwide;
	char message[400];
	int err;

	cr_assert_eq(perfmon_placement_parse(&place, "all", NULL, 0), 0);
	err = perfmon_cpuwide_open(&cpuwide, place, "cs:u", 0, message, sizeof(message));
	cr_expect_eq(err, -EINVAL);
	cr_expect(strstr(message, "happens in the kernel alone"), "%s", message);
	err = perfmon_cpuwide_open(&cpuwide, place, "cs", 0, message, sizeof(message));
	if (err == -EACCES || err == -EPERM) {
		cr_expect(strstr(message, "kernel.perf_event_paranoid") ||
				  strstr(message, "seccomp"),
			  "%s", message);
		perfmon_placement_free(place);
		return;
	}
	cr_assert_eq(err, 0, "%s", message);
	cr_assert_eq(perfmon_cpuwide_start(cpuwide), 0);
	for (int i = 0; i < 5; i++)
		let_time_pass_ms(1);
	cr_assert_eq(perfmon_cpuwide_read(cpuwide, "machine", 0, sum, &value), 0);
	cr_expect_str_eq(value.event, "context-switches");
	cr_expect_geq(value.value, 5);
	perfmon_cpuwide_close(cpuwide);
	perfmon_placement_free(place);
}

Test(modes, perfmon2_counts_what_the_kernel_does_or_refuses_it)
{
	struct pfarg_pmc pmc = {.reg_num = 0,
				.reg_flags = PFM_PMCFL_SOFTWARE,
				.reg_value = PERF_COUNT_SW_CONTEXT_SWITCHES};
	struct pfarg_pmd pmd = {.reg_num = 0};
	int fd = pfm_create_context(0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(pfm_write_pmcs(fd, &pmc, sizeof(pmc)), 0);
	errno = 0;
	if (pfm_load_context(fd, 0, own_tid())) {
		cr_assert(denied);
		cr_expect(errno == EACCES || errno == EPERM, "%s", strerror(errno));
	} else {
		cr_assert(!denied);
		cr_assert_eq(pfm_start(fd, 0), 0);
		let_time_pass_ms(1);
		cr_assert_eq(pfm_stop(fd, 0), 0);
		cr_assert_eq(pfm_read_pmds(fd, &pmd, sizeof(pmd)), 0);
		cr_expect_geq(pmd.reg_value, 1);
	}
	close(fd);
}
