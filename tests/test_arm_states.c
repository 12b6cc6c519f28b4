/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The states of sessions and of armed counters: what session/core/state.h and arm_state.h draw
 * is what happens. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "session_probe.h"
#include "core/session/overflow/overflow.h"
#include "perfmon/overflow.h"

/* --- the drawn tables --------------------------------------------------------------- */

#define MOST 8

/* A machine, with the names of its states and events in the order of their numbers. */
struct machine {
	unsigned int states, events;
	const char *state_names[MOST], *event_names[MOST];
	unsigned int (*after)(unsigned int state, unsigned int event);
	const char *header; /* with its table; NULL: that of the one before, behind it */
};

static unsigned int session_after(unsigned int state, unsigned int event)
{
	return pm_session_after(state, (enum pm_session_event)event);
}

static unsigned int period_after(unsigned int state, unsigned int event)
{
	return pm_period_after((enum pm_period_state)state, (enum pm_period_event)event);
}

static unsigned int limit_after(unsigned int state, unsigned int event)
{
	return pm_limit_after((enum pm_limit_state)state, (enum pm_limit_event)event);
}

static const struct machine machines[] = {
	{PM_SESSION_STATES,
	 PM_SESSION_EVENTS,
	 {"DETACHED", "STOPPED", "RUNNING", "MASKED"},
	 {"ATTACH", "START", "OVERFLOW", "RESTART", "STOP", "DETACH"},
	 session_after,
	 "state.h"},
	{PM_PERIOD_STATES,
	 PM_PERIOD_EVENTS,
	 {"FITS", "STALE", "MOVED", "DUE", "DUE_MOVED"},
	 {"OPENED_DUE", "WRITTEN", "SET_BACK", "MET", "NOTIFIED", "RESET_FITS",
	  "RESET_STALE", "SETTLED"},
	 period_after,
	 "arm_state.h"},
	{PM_LIMIT_STATES,
	 PM_LIMIT_EVENTS,
	 {"FREE", "STARTED", "LIMITED", "RESUMED", "STOPPED", "RESTARTED"},
	 {"LIMIT", "ENABLED", "RESUME", "OVERFLOW"},
	 limit_after,
	 NULL},
};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))

/* The number of the state NAME, that of none for a dash. */
static unsigned int state_named(const struct machine *machine, const char *name)
{
	unsigned int s;

	for (s = 0; s < machine->states; s++) {
		if (!strcmp(name, machine->state_names[s]))
			return s;
	}
	cr_assert_str_eq(name, "-");
	return s;
}

static void check_row(const struct machine *machine, unsigned int event, char *row)
{
	unsigned int s = 0;
	char *save, *name;

	for (name = strtok_r(row, " \t\n", &save); name;
	     name = strtok_r(NULL, " \t\n", &save), s++)
		cr_assert_eq(machine->after(s, event), state_named(machine, name),
			     "%s of %s", machine->event_names[event],
			     machine->state_names[s]);
	cr_assert_eq(s, machine->states, "%s has %u columns", machine->event_names[event],
		     s);
}

/* Checks the rows of the next table in FILE: one of each event, in their order. */
static void check_table(const struct machine *machine, FILE *file)
{
	char line[256], name[32];
	unsigned int event = 0;
	int end;

	while (fgets(line, sizeof(line), file) && strncmp(line, " *\tevent\t", 9))
		;
	while (event < machine->events && fgets(line, sizeof(line), file)) {
		cr_assert_eq(sscanf(line, " *%31s%n", name, &end), 1, "%s", line);
		cr_assert_str_eq(name, machine->event_names[event]);
		check_row(machine, event++, line + end);
	}
	cr_assert_eq(event, machine->events);
}

static FILE *open_header(const char *header)
{
	const char *source = getenv("srcdir");
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/src/core/session/core/%s", source ? source : ".",
		 header);
	file = fopen(path, "r");
	if (!file && access("config.h", F_OK))
		cr_skip_test("the sources are not on this machine");
	cr_assert_not_null(file, "cannot open %s (is srcdir set?)", path);
	return file;
}

Test(arm_states, are_as_drawn)
{
	NEEDS_BREAKPOINTS();
	FILE *file = NULL;

	for (size_t m = 0; m < MACHINES; m++) {
		if (machines[m].header && file)
			fclose(file);
		if (machines[m].header)
			file = open_header(machines[m].header);
		check_table(&machines[m], file);
	}
	fclose(file);
}

/* Marks what can be reached from FROM. */
static void reach(const struct machine *machine, unsigned int from, bool *reached)
{
	unsigned int event;

	if (from == machine->states || reached[from])
		return;
	reached[from] = true;
	for (event = 0; event < machine->events; event++)
		reach(machine, machine->after(from, event), reached);
}

/* The first state is that of zeroed memory. No state is a dead end, or never reached. */
Test(arm_states, are_all_reached_and_left)
{
	for (size_t m = 0; m < MACHINES; m++) {
		bool from_first[MOST] = {false};

		reach(&machines[m], 0, from_first);
		for (unsigned int s = 0; s < machines[m].states; s++) {
			unsigned int event = 0, after = s;

			cr_assert(from_first[s], "%s", machines[m].state_names[s]);
			while (event < machines[m].events &&
			       (after == s || after == machines[m].states))
				after = machines[m].after(s, event++);
			cr_assert_neq(after, s, "%s", machines[m].state_names[s]);
		}
	}
}

Test(arm_states, what_cannot_happen_is_counted_and_changes_nothing)
{
	enum pm_period_state period = PM_PERIOD_DUE;
	enum pm_limit_state limit = PM_LIMIT_LIMITED;

	pm_period_move(&period, PM_PERIOD_SETTLED);
	pm_limit_move(&limit, PM_LIMIT_LIMIT);
	cr_assert_eq(period, PM_PERIOD_DUE);
	cr_assert_eq(limit, PM_LIMIT_LIMITED);
	cr_assert_eq(pm_session_impossible, 2);
	pm_period_move(&period, PM_PERIOD_RESET_STALE);
	pm_limit_move(&limit, PM_LIMIT_OVERFLOW);
	cr_assert_eq(period, PM_PERIOD_STALE);
	cr_assert_eq(limit, PM_LIMIT_STOPPED);
	cr_assert_eq(pm_session_impossible, 2);
}

Test(arm_states, what_cannot_happen_to_a_session_is_counted)
{
	struct perfmon_session *session = session_with(watch_event(0), 0);

	pm_session_move(session, PM_SESSION_RESTART);
	cr_assert_eq(session->state, PERFMON_STATE_DETACHED);
	cr_assert_eq(pm_session_impossible, 1);
	perfmon_session_close(session);
}

/* --- a reset that is due ------------------------------------------------------------ */

/* A session that has overflowed and waits for its long reset: 20 before 2^64. */
static struct perfmon_session *overflowed(void)
{
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(20)};
	struct perfmon_write first = {.value = -UINT64_C(10)};

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	return session;
}

static bool has_message(struct perfmon_session *session)
{
	struct perfmon_message message;
	int n = perfmon_overflow_read(session, &message, 1, sizeof(message));

	cr_assert(n == 1 || n == -EAGAIN, "%d", n);
	return n == 1;
}

/* Whether SESSION, which is started, overflows after PERIOD, not before. */
static void overflows_after(struct perfmon_session *session, unsigned int period)
{
	cr_assert(!has_message(session));
	touch(0, period - 1);
	cr_assert(!has_message(session));
	touch(0, 1);
	cr_assert(has_message(session));
	cr_assert_eq(pm_session_impossible, 0);
	cr_assert_eq(pm_session_impossible, 0);
}

Test(arm_states, a_due_reset_outlives_its_target)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = overflowed();

	cr_assert(has_message(session));
	OK(session, perfmon_session_detach(session));
	/* From target to target, on none of which it comes. */
	for (int round = 0; round < 3; round++) {
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		OK(session, perfmon_session_detach(session));
	}
	cr_assert_eq(count_of(session, 0), 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(20));
	overflows_after(session, 20);
	perfmon_session_close(session);
}

Test(arm_states, a_due_reset_outlives_another_plan)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = overflowed();

	cr_assert(has_message(session));
	OK(session, perfmon_session_stop(session));
	/* All events are opened anew. */
	OK(session, perfmon_session_add_events(session, "dummy"));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(20));
	overflows_after(session, 20);
	OK(session, perfmon_overflow_restart(session));
	overflows_after(session, 20);
	perfmon_session_close(session);
}

Test(arm_states, a_due_reset_goes_with_a_write)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = overflowed();
	struct perfmon_write write = {.value = -UINT64_C(5)};

	cr_assert(has_message(session));
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	OK(session, perfmon_session_start(session));
	overflows_after(session, 5);
	perfmon_session_close(session);
}

Test(arm_states, a_due_reset_goes_with_another_overflow)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(7)};
	struct perfmon_session *session = overflowed();

	cr_assert(has_message(session));
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(count_of(session, 0), 0, "it goes on from its overflow");
	touch(0, 100);
	cr_assert(!has_message(session));
	cr_assert_eq(pm_session_impossible, 0);
	perfmon_session_close(session);
}

/* --- limits ------------------------------------------------------------------------- */

/* Its own exec enables the events of a thread, without a limit: a mask has to stop them. */
Test(arm_states, a_mask_stops_what_an_exec_has_started)
{
	struct perfmon_target target = {.flags = PERFMON_TARGET_ON_EXEC};
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(1000000)};
	struct perfmon_session *session = session_with("task-clock", 0);
	struct pollfd poll_for = {.events = POLLIN};
	uint64_t before;
	int go[2];
	char byte = 0;

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	cr_assert(!pipe(go));
	target.id = fork();
	if (!target.id) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/sh", "sh", "-c", "while :; do :; done", NULL);
		_exit(1);
	}
	poll_for.fd = perfmon_overflow_descriptor(session);
	OK(session,
	   perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(write(go[1], &byte, 1), 1);
	cr_assert_eq(poll(&poll_for, 1, 10000), 1);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	before = count_of(session, 0);
	while (has_message(session))
		;
	let_time_pass_ms(20);
	cr_assert_eq(count_of(session, 0), before);
	cr_assert(!has_message(session), "it stands still");

	/* From the restart on it has its limit. */
	OK(session, perfmon_overflow_restart(session));
	cr_assert_eq(poll(&poll_for, 1, 10000), 1);
	cr_assert(has_message(session));
	let_time_pass_ms(20);
	cr_assert(!has_message(session), "it stands still");
	cr_assert_eq(pm_session_impossible, 0);
	kill(target.id, SIGKILL);
	waitpid(target.id, NULL, 0);
	perfmon_session_close(session);
}
