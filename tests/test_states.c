/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of states: every public call of sessions and sets, in every state, however
 * the session got there, on every kind of target. What a call gives and where it leads
 * stands in one table; what always holds is checked after each of them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "core/session/core/core.h"
#include "perfmon/control.h"
#include "perfmon/inline.h"
#include "perfmon/overflow.h"
#include "core/text/diag.h"
#include "helpers.h"
#include "session_targets.h"
#include "messages.h"

enum state { D, S, R, M, STATES };

/* How a session gets into a state. */
enum way { FRESH, DETACHED, LOST, ATTACHED, STOPPED, STARTED, SWITCHED, MASKED, WAYS };

static const struct {
	const char *name;
	enum state state;
} ways[WAYS] = {
	[FRESH] = {"never attached", D},  [DETACHED] = {"detached", D},
	[LOST] = {"target lost", D},	  [ATTACHED] = {"attached", S},
	[STOPPED] = {"stopped", S},	  [STARTED] = {"started", R},
	[SWITCHED] = {"set switched", R}, [MASKED] = {"masked", M},
};

/* A session, what it is about, and another target of the same kind. */
struct scene {
	struct perfmon_session *session;
	struct perfmon_target target, other;
};

/* --- the calls ---------------------------------------------------------------------- */

#define CALL(name) static int name(struct scene *s)

CALL(add)
{
	return perfmon_session_add_events(s->session, "dummy");
}
CALL(add_set)
{
	return perfmon_session_add_events(s->session, "dummy;dummy;dummy");
}
CALL(add_nonsense)
{
	return perfmon_session_add_events(s->session, "no-such-event");
}
CALL(add_nothing)
{
	return perfmon_session_add_events(s->session, NULL);
}
CALL(set_add)
{
	return perfmon_set_add_events(s->session, 1, "dummy");
}
CALL(set_add_none)
{
	return perfmon_set_add_events(s->session, 9, "dummy");
}
CALL(program)
{
	return perfmon_session_program(s->session, 1, "alignment-faults");
}
CALL(program_again)
{
	return perfmon_session_program(s->session, 1, "dummy");
}
CALL(program_none)
{
	return perfmon_session_program(s->session, 77, "dummy");
}
CALL(program_nothing)
{
	return perfmon_session_program(s->session, 1, NULL);
}
CALL(write_values)
{
	struct perfmon_write writes[] = {{.index = 0, .value = 5},
					 {.index = 2, .value = UINT64_C(1) << 63}};

	return perfmon_session_write(s->session, writes,
				     sizeof(writes) / sizeof(writes[0]),
				     sizeof(writes[0]), 0);
}
CALL(write_time)
{
	struct perfmon_write write = {.index = PERFMON_COUNTER_VIRTUAL_TIME, .value = 7};

	return perfmon_session_write(s->session, &write, 1, sizeof(write), 0);
}
CALL(write_bad)
{
	struct perfmon_write writes[] = {{.index = 0, .value = 5}, {.index = 77}};

	return perfmon_session_write(s->session, writes,
				     sizeof(writes) / sizeof(writes[0]),
				     sizeof(writes[0]), 0);
}
CALL(write_nothing)
{
	return perfmon_session_write(s->session, NULL, 1, sizeof(struct perfmon_write),
				     0);
}

/* Reads VALUES[0..2) with FLAGS; on failure they must be as they were. */
static int read_two(struct scene *s, uint32_t flags, uint32_t first, uint32_t second)
{
	struct perfmon_value values[2] = {{.index = first, .value = 77},
					  {.index = second, .value = 78}};
	int n = perfmon_session_read(s->session, values, 2, sizeof(values[0]), flags);

	if (n < 0)
		cr_assert(values[0].value == 77 && values[1].value == 78 &&
				  values[0].index == first && values[1].index == second,
			  "untouched on failure");
	return n;
}
CALL(read_values)
{
	return read_two(s, 0, 2, 0);
}
CALL(read_time)
{
	return read_two(s, 0, PERFMON_COUNTER_VIRTUAL_TIME, 0);
}
CALL(read_bad)
{
	return read_two(s, 0, 0, 77);
}
CALL(read_own)
{
	return read_two(s, PERFMON_READ_OWN, 0, 1);
}
CALL(read_own_bad)
{
	return read_two(s, PERFMON_READ_OWN, 0, PERFMON_COUNTER_VIRTUAL_TIME);
}
CALL(read_all_small)
{
	return read_two(s, PERFMON_READ_ALL, 0, 1);
}
CALL(read_all)
{
	struct perfmon_value values[8];

	return perfmon_session_read(s->session, values,
				    sizeof(values) / sizeof(values[0]), sizeof(values[0]),
				    PERFMON_READ_ALL);
}
CALL(info)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	return perfmon_session_get_counter(s->session, 0, &info);
}
CALL(info_bad)
{
	struct perfmon_counter_info info = {.size = sizeof(info), .config = 77};
	int n = perfmon_session_get_counter(s->session, 77, &info);

	cr_assert_eq(info.config, 77);
	return n;
}
CALL(attach)
{
	return perfmon_session_attach_targets(s->session, &s->target, 1,
					      sizeof(s->target), 0);
}
CALL(attach_short)
{
	return s->target.kind == PERFMON_TARGET_KIND_CPU
		       ? perfmon_session_attach(s->session, PERFMON_TARGET_KIND_CPU,
						s->target.id)
		       : perfmon_session_attach(s->session, PERFMON_TARGET_KIND_THREAD,
						s->target.id);
}
CALL(attach_wrong)
{
	return s->target.kind == PERFMON_TARGET_KIND_CPU
		       ? perfmon_session_attach(s->session, PERFMON_TARGET_KIND_THREAD, 0)
		       : perfmon_session_attach(s->session, PERFMON_TARGET_KIND_CPU, 0);
}
CALL(attach_twice)
{
	struct perfmon_target targets[] = {s->target, s->target};

	return perfmon_session_attach_targets(s->session, targets,
					      sizeof(targets) / sizeof(targets[0]),
					      sizeof(targets[0]), 0);
}
/* The last of three is not there. */
CALL(attach_missing)
{
	struct perfmon_target targets[] = {s->target, s->other, s->target};
	int n;

	targets[2].id = 0x3ffffffe;
	n = perfmon_session_attach_targets(s->session, targets,
					   sizeof(targets) / sizeof(targets[0]),
					   sizeof(targets[0]), 0);
	/* No such CPU has another number. */
	if (s->target.kind == PERFMON_TARGET_KIND_CPU && (n == -EINVAL || n == -ENODEV))
		n = -ESRCH;
	return n;
}
CALL(attach_nothing)
{
	return perfmon_session_attach_targets(s->session, &s->target, 0,
					      sizeof(s->target), 0);
}
CALL(more)
{
	return perfmon_session_attach_targets(s->session, &s->other, 1, sizeof(s->other),
					      PERFMON_ATTACH_ADD);
}
CALL(more_same)
{
	return perfmon_session_attach_targets(s->session, &s->target, 1,
					      sizeof(s->target), PERFMON_ATTACH_ADD);
}
CALL(leave)
{
	return perfmon_session_detach_target(s->session, s->target.kind, s->target.id);
}
CALL(leave_other)
{
	return perfmon_session_detach_target(s->session, s->other.kind, s->other.id);
}
CALL(leave_nothing)
{
	return perfmon_session_detach_target(s->session, 7, 0);
}
CALL(start)
{
	return perfmon_session_start(s->session);
}
CALL(start_set_0)
{
	return perfmon_set_start(s->session, 0);
}
CALL(start_set_1)
{
	return perfmon_set_start(s->session, 1);
}
CALL(start_set_none)
{
	return perfmon_set_start(s->session, 9);
}
CALL(stop)
{
	return perfmon_session_stop(s->session);
}
CALL(detach)
{
	return perfmon_session_detach(s->session);
}
CALL(set_create)
{
	struct perfmon_set set = {.id = 400};

	return perfmon_set_create(s->session, &set, 1, sizeof(set));
}
CALL(set_change)
{
	struct perfmon_set set = {.id = 1};

	return perfmon_set_create(s->session, &set, 1, sizeof(set));
}
CALL(set_bad)
{
	struct perfmon_set sets[] = {{.id = 400}, {.id = 401, .flags = 0x40000000}};

	return perfmon_set_create(s->session, sets, sizeof(sets) / sizeof(sets[0]),
				  sizeof(sets[0]));
}
CALL(set_delete)
{
	struct perfmon_set set = {.id = 1};

	return perfmon_set_delete(s->session, &set, 1, sizeof(set));
}
CALL(set_delete_none)
{
	struct perfmon_set sets[] = {{.id = 1}, {.id = 9}};

	return perfmon_set_delete(s->session, sets, sizeof(sets) / sizeof(sets[0]),
				  sizeof(sets[0]));
}
CALL(set_info)
{
	struct perfmon_set_info info = {.id = 1};

	return perfmon_set_get_info(s->session, &info, 1, sizeof(info));
}
CALL(set_info_bad)
{
	struct perfmon_set_info infos[] = {{.id = 1, .runs = 77}, {.id = 9}};
	int n = perfmon_set_get_info(s->session, infos, sizeof(infos) / sizeof(infos[0]),
				     sizeof(infos[0]));

	cr_assert_eq(infos[0].runs, 77);
	return n;
}
CALL(set_list)
{
	return perfmon_set_list(s->session, NULL, 0);
}
CALL(state)
{
	return perfmon_session_state(s->session);
}
CALL(counters)
{
	return perfmon_session_counters(s->session);
}
CALL(reader)
{
	const struct perfmon_reader *found;

	return perfmon_session_reader(s->session, &found);
}

CALL(swap)
{
	struct perfmon_value values[] = {{.index = 0, .value = 5}, {.index = 2}};

	return perfmon_session_swap(s->session, values,
				    sizeof(values) / sizeof(values[0]), sizeof(values[0]),
				    0);
}
CALL(swap_stopped)
{
	struct perfmon_value values[] = {{.index = 0, .value = 5}, {.index = 2}};

	return perfmon_session_swap(s->session, values,
				    sizeof(values) / sizeof(values[0]), sizeof(values[0]),
				    PERFMON_WRITE_STOPPED);
}
/* It has two sets. */
CALL(control_sets)
{
	return perfmon_session_control(s->session, "dummy", NULL, 0);
}
CALL(control_empty)
{
	return perfmon_session_control(s->session, NULL, NULL, 0);
}
CALL(overflow)
{
	struct perfmon_overflow how = {.size = sizeof(how),
				       .flags = PERFMON_OVERFLOW_ONCE};

	return perfmon_overflow_program(s->session, 1, &how);
}
CALL(overflow_bad)
{
	struct perfmon_overflow how = {.size = sizeof(how), .flags = 0x40000000};

	return perfmon_overflow_program(s->session, 1, &how);
}
CALL(restart)
{
	return perfmon_overflow_restart(s->session);
}
CALL(messages)
{
	struct perfmon_message message = {.type = 77};
	int n = perfmon_overflow_read(s->session, &message, 1, sizeof(message));

	cr_assert(n > 0 || message.type == 77);
	/* That the target has ended is not what this row is about. */
	return n == 1 && message.type == PERFMON_MESSAGE_TYPE_END ? -EAGAIN : n;
}
CALL(last_reset)
{
	return perfmon_overflow_last_reset(s->session, 0, NULL, NULL);
}

/* --- the table ---------------------------------------------------------------------- */

/* What a row does beside what the table says. */
#define WRITES 1u /* sets values */
#define MOVES  2u /* attaches to something else what was detached */
#define CUTS   4u /* takes counters away */
#define RINGS  8u /* needs what children cannot inherit */

#define SAME                                                                             \
	{                                                                                \
		D, S, R, M                                                               \
	}

/* Results and next states, in state D, S, R, M. */
static const struct row {
	const char *name;
	int (*call)(struct scene *scene);
	int result[STATES];
	enum state next[STATES];
	unsigned int does;
} table[] = {
	{"add_events", add, {3, 3, -EBUSY, -EBUSY}, SAME, 0},
	{"add_events, new set", add_set, {3, -EBUSY, -EBUSY, -EBUSY}, SAME, 0},
	{"add_events, nonsense",
	 add_nonsense,
	 {-EINVAL, -EINVAL, -EBUSY, -EBUSY},
	 SAME,
	 0},
	{"add_events, NULL", add_nothing, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"set_add_events", set_add, {3, 3, -EBUSY, -EBUSY}, SAME, 0},
	{"set_add_events, no set",
	 set_add_none,
	 {-EINVAL, -EINVAL, -EBUSY, -EBUSY},
	 SAME,
	 0},
	{"program", program, {0, 0, -EBUSY, -EBUSY}, SAME, 0},
	{"program, the same", program_again, {0, 0, -EBUSY, -EBUSY}, SAME, 0},
	{"program, no counter",
	 program_none,
	 {-EINVAL, -EINVAL, -EBUSY, -EBUSY},
	 SAME,
	 0},
	{"program, NULL", program_nothing, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"write", write_values, {2, 2, 2, 2}, SAME, WRITES},
	{"write time", write_time, {1, 1, 1, 1}, SAME, 0},
	{"write, one bad", write_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"write, NULL", write_nothing, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"read", read_values, {2, 2, 2, 2}, SAME, 0},
	{"read time", read_time, {2, 2, 2, 2}, SAME, 0},
	{"read, one bad", read_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"read_own", read_own, {2, 2, 2, 2}, SAME, 0},
	{"read_own, time", read_own_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"read_all", read_all, {3, 3, 3, 3}, SAME, 0},
	{"read_all, no room",
	 read_all_small,
	 {-ENOSPC, -ENOSPC, -ENOSPC, -ENOSPC},
	 SAME,
	 0},
	{"counter_info", info, {0, 0, 0, 0}, SAME, 0},
	{"counter_info, none", info_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"attach", attach, {0, -EBUSY, -EBUSY, -EBUSY}, {S, S, R, M}, 0},
	{"attach_thread or _cpu",
	 attach_short,
	 {0, -EBUSY, -EBUSY, -EBUSY},
	 {S, S, R, M},
	 MOVES},
	{"attach, wrong scope",
	 attach_wrong,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"attach twice", attach_twice, {-EEXIST, -EBUSY, -EBUSY, -EBUSY}, SAME, 0},
	{"attach, one missing",
	 attach_missing,
	 {-ESRCH, -EBUSY, -EBUSY, -EBUSY},
	 SAME,
	 0},
	{"attach, nothing",
	 attach_nothing,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"attach_more", more, {0, 0, -EBUSY, -EBUSY}, {S, S, R, M}, MOVES},
	{"attach_more, the same",
	 more_same,
	 {0, -EEXIST, -EBUSY, -EBUSY},
	 {S, S, R, M},
	 0},
	{"detach_target", leave, {-EINVAL, 0, 0, 0}, {D, D, D, D}, 0},
	{"detach_target, other",
	 leave_other,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"detach_target, NULL",
	 leave_nothing,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"start", start, {-EINVAL, 0, 0, 0}, {D, R, R, M}, 0},
	{"set_start, set 0", start_set_0, {-EINVAL, 0, 0, 0}, {D, R, R, M}, 0},
	{"set_start, set 1", start_set_1, {-EINVAL, 0, 0, 0}, {D, R, R, M}, 0},
	{"set_start, no set",
	 start_set_none,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"stop", stop, {-EINVAL, 0, 0, 0}, {D, S, S, S}, 0},
	{"detach", detach, {0, 0, 0, 0}, {D, D, D, D}, 0},
	{"set_create", set_create, {1, -EBUSY, -EBUSY, -EBUSY}, SAME, 0},
	{"set_create, there already", set_change, {1, -EBUSY, -EBUSY, -EBUSY}, SAME, 0},
	{"set_create, bad flags", set_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"set_delete", set_delete, {1, -EBUSY, -EBUSY, -EBUSY}, SAME, CUTS},
	{"set_delete, no set",
	 set_delete_none,
	 {-EINVAL, -EBUSY, -EBUSY, -EBUSY},
	 SAME,
	 0},
	{"set_info", set_info, {1, 1, 1, 1}, SAME, 0},
	{"set_info, no set", set_info_bad, {-EINVAL, -EINVAL, -EINVAL, -EINVAL}, SAME, 0},
	{"set_list", set_list, {2, 2, 2, 2}, SAME, 0},
	{"swap", swap, {2, 2, 2, 2}, SAME, WRITES},
	{"swap, stopped", swap_stopped, {2, 2, -EBUSY, -EBUSY}, SAME, WRITES},
	{"control, two sets",
	 control_sets,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"control, empty", control_empty, {-EINVAL, 0, 0, 0}, {D, S, S, S}, 0},
	{"overflow_program", overflow, {0, 0, -EBUSY, -EBUSY}, SAME, RINGS},
	{"overflow_program, bad",
	 overflow_bad,
	 {-EINVAL, -EINVAL, -EINVAL, -EINVAL},
	 SAME,
	 0},
	{"restart", restart, {-EBUSY, -EBUSY, -EBUSY, 0}, {D, S, R, R}, 0},
	{"messages", messages, {-EAGAIN, -EAGAIN, -EAGAIN, 1}, SAME, 0},
	{"last_reset", last_reset, {0, 0, 0, 0}, SAME, 0},
	{"state", state, {D, S, R, M}, SAME, 0},
	{"counters", counters, {3, 3, 3, 3}, SAME, 0},
	{"reader", reader, {0, 0, 0, 0}, SAME, 0},
};

#define ROWS (sizeof(table) / sizeof(table[0]))

/* --- the walk ----------------------------------------------------------------------- */

static const char *const state_names[] = {"detached", "stopped", "running", "masked"};

/* The counter's second event notifies. */
static void mask(struct scene *scene, struct victim *victim)
{
	struct perfmon_overflow how = {.size = sizeof(how),
				       .flags = PERFMON_OVERFLOW_NOTIFY |
						PERFMON_OVERFLOW_ONCE};
	struct perfmon_write write = {.index = 0, .value = -(uint64_t)2};
	struct perfmon_session *session = scene->session;

	OK(session, perfmon_overflow_program(session, 0, &how));
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	OK(session, attach(scene));
	OK(session, perfmon_session_start(session));
	victim_work(victim, 2);
}

static void go(struct scene *scene, enum way way, struct victim *victim)
{
	struct perfmon_session *session = scene->session;

	if (way == MASKED)
		mask(scene, victim);
	if (way == FRESH || way == MASKED)
		return;
	OK(session, attach(scene));
	if (way == ATTACHED)
		return;
	OK(session, perfmon_session_start(session));
	victim_work(victim, 2);
	switch (way) {
	case STOPPED:
		OK(session, perfmon_session_stop(session));
		break;
	case DETACHED:
		OK(session, perfmon_session_detach(session));
		break;
	case SWITCHED:
		OK(session, perfmon_set_start(session, 1));
		break;
	case LOST:
		victim_end(victim);
		wait_for_loss(session);
		break;
	default:
		break;
	}
}

/* That what VICTIM does is counted as it is due: all of it, or nothing. */
static void check_counting(struct scene *scene, struct victim *victim, bool counts,
			   const char *where)
{
	uint64_t before = total_of(scene->session), after;

	victim_work(victim, 3);
	after = total_of(scene->session);
	if (counts && victim->kind == VICTIM_CPU)
		cr_assert_gt(after, before, "%s: it counts", where);
	else
		cr_assert_eq(after - before, counts ? 3u : 0u, "%s: %" PRIu64 " counted",
			     where, after - before);
}

static struct victim other;

/* ALIVE is there for all that do not end it. */
static void check(const struct row *row, enum way way, struct victim *alive, int none)
{
	enum state now = ways[way].state, next = row->next[now];
	struct victim victim = *alive;
	struct scene scene = {NULL, {0}, other.target};
	uint64_t before, after;
	int result, open;
	char where[100];

	if (way == LOST)
		victim_start(&victim, alive->kind);
	scene.target = victim.target;
	scene.session = victim_session(&victim);
	go(&scene, way, &victim);
	snprintf(where, sizeof(where), "%s, %s", row->name, ways[way].name);
	cr_assert_eq(perfmon_session_state(scene.session), (int)now, "%s", where);
	if (way == LOST) {
		/* It can be attached elsewhere. */
		victim = *alive;
		scene.target = victim.target;
	}
	before = total_of(scene.session);
	open = open_descriptors();
	pm_diag_clear(&scene.session->diag);

	result = row->call(&scene);
	/* Breakpoints of another test on the CPU leave a thread fewer, for a moment. */
	for (int tries = 0; result == -ENOSPC && row->result[now] >= 0 && tries < 1000;
	     tries++) {
		work_for_ns(CLOCK_MONOTONIC, 5000000);
		pm_diag_clear(&scene.session->diag);
		result = row->call(&scene);
	}

	cr_assert_eq(result, row->result[now], "%s: %d: %s", where, result,
		     session_message_of(scene.session));
	if (result < 0) {
		/* That there is no message needs none. */
		cr_assert(result == -EAGAIN || session_message_of(scene.session)[0],
			  "%s: no message", where);
		cr_assert_eq(open_descriptors(), open, "%s: descriptors", where);
		cr_assert_eq(perfmon_session_counters(scene.session), 3, "%s", where);
		cr_assert_eq(perfmon_set_list(scene.session, NULL, 0), 2, "%s", where);
	}
	cr_assert_eq(perfmon_session_state(scene.session), (int)next, "%s: now %s", where,
		     state_names[perfmon_session_state(scene.session)]);
	after = total_of(scene.session);
	if (!(row->does & (WRITES | CUTS)) || result < 0)
		cr_assert_geq(after, before, "%s: values never fall", where);

	check_counting(&scene, &victim, next == R, where);
	if (row->does & MOVES && now == D)
		OK(scene.session, perfmon_session_detach(scene.session));
	/* And it works on. */
	if (next == M)
		OK(scene.session, perfmon_overflow_restart(scene.session));
	if (perfmon_session_state(scene.session) == PERFMON_STATE_DETACHED)
		OK(scene.session, attach(&scene));
	OK(scene.session, perfmon_session_start(scene.session));
	check_counting(&scene, &victim, true, where);
	before = total_of(scene.session);
	OK(scene.session, perfmon_session_detach(scene.session));
	cr_assert_geq(total_of(scene.session), before, "%s: values survive", where);
	cr_assert_eq(open_descriptors(), none, "%s: descriptors are left", where);
	perfmon_session_close(scene.session);
}

static void walk(enum victim_kind kind)
{
	bool may_end = kind == VICTIM_THREAD || kind == VICTIM_PROCESS;
	/* The kernel maps no ring for what children inherit, and on Linux 6.17 and
	 * later a restart may open a breakpoint of another thread anew. */
	bool may_mask = kind == VICTIM_OWN;
	struct victim first;
	struct perfmon_session *keeper;
	int none;

	victim_start(&first, kind);
	victim_start(&other, kind == VICTIM_CPU ? kind : VICTIM_THREAD);
	other.target.id += kind == VICTIM_CPU;
	if (kind == VICTIM_CPU && sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip_test("one CPU only");
	keeper = victim_keeper(&first);
	none = open_descriptors();
	for (size_t i = 0; i < ROWS; i++) {
		for (enum way way = 0; way < WAYS; way++) {
			if ((way != LOST || may_end) && (way != MASKED || may_mask) &&
			    (!(table[i].does & RINGS) || kind != VICTIM_CHILDREN))
				check(&table[i], way, &first, none);
		}
	}
	perfmon_session_close(keeper);
	victim_end(&first);
	victim_end(&other);
}

/*
 * Row: PM-02 the wrong attach call gives EINVAL
 * Row: PM-03 programming and values before or after attach
 * Row: PM-04 one bad element changes nothing
 * Row: PM-06 attach to a thread; the result is stopped; ESRCH, EBUSY
 * Row: PM-07 detach at any time: stops, keeps values, harmless when repeated; re-attach
 * Row: PM-09 start and stop any number of times; nothing between is counted
 */
Test(states, of_the_own_thread)
{
	NEEDS_BREAKPOINTS();
	walk(VICTIM_OWN);
}

Test(states, with_what_it_creates)
{
	NEEDS_BREAKPOINTS();
	walk(VICTIM_CHILDREN);
}

/* Row: PM-12 the monitored thread exits: detached, readable, attached elsewhere */
Test(states, of_another_thread)
{
	NEEDS_BREAKPOINTS();
	walk(VICTIM_THREAD);
}

/* Row: PM-12 the same, by a signal */
Test(states, of_another_process)
{
	NEEDS_BREAKPOINTS();
	walk(VICTIM_PROCESS);
}

/* Row: HW-03 a CPU each */
Test(states, of_cpus)
{
	walk(VICTIM_CPU);
}

/* --- the order of checks, and whose calls they are
 * --------------------------------------
 */

/* Row: PM-04, PM-15: handle, size, flags and reserved fields, state, elements */
Test(states, arguments_are_checked_in_order)
{
	struct scene scene = {.session = session_with("dummy;dummy", 0)};
	struct perfmon_session *session = scene.session;
	static struct perfmon_target targets[PERFMON_SESSION_TARGETS_MAX + 1];
	static struct perfmon_set sets[PERFMON_SESSION_VECTOR_MAX + 1];
	static struct perfmon_write writes[PERFMON_SESSION_VECTOR_MAX + 1];
	struct perfmon_target one = {.id = 0}, strange = {.flags = 0x100, .id = -5};
	struct perfmon_set set = {.id = 1}, flags = {.id = 9, .flags = 0x40000000},
			   reserved = {.id = 9, .reserved2 = {0, 1}}, none = {.id = 9};
	struct perfmon_write write = {.index = 77, .reserved = 0x40000000};

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	/* Running, so that state refuses: what comes before it, comes first. */
	cr_assert_eq(perfmon_session_attach_targets(session, &one, 1, sizeof(one), 0),
		     -EBUSY);
	cr_assert_eq(perfmon_session_attach_targets(session, &one, 1, sizeof(one) - 1, 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, targets,
						    sizeof(targets) / sizeof(targets[0]),
						    sizeof(targets[0]), 0),
		     -E2BIG);
	cr_assert_eq(perfmon_session_attach_targets(session, &strange, 1, sizeof(one), 0),
		     -EINVAL);
	cr_assert(strstr(session_message_of(session), "0x100"));
	cr_assert_eq(perfmon_session_attach_targets(session, &strange, 1, sizeof(one),
						    PERFMON_ATTACH_ADD),
		     -EINVAL);
	cr_assert_eq(perfmon_set_create(session, &set, 1, sizeof(set)), -EBUSY);
	cr_assert_eq(perfmon_set_create(session, &set, 1, sizeof(set) + 1), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, sets, sizeof(sets) / sizeof(sets[0]),
					sizeof(sets[0])),
		     -E2BIG);
	cr_assert_eq(perfmon_set_create(session, &flags, 1, sizeof(set)), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, &reserved, 1, sizeof(set)), -EINVAL);
	cr_assert_eq(perfmon_set_delete(session, &none, 1, sizeof(set)), -EBUSY);
	cr_assert_eq(perfmon_set_delete(session, sets, sizeof(sets) / sizeof(sets[0]),
					sizeof(sets[0])),
		     -E2BIG);
	cr_assert_eq(perfmon_session_add_events(session, "no-such-event"), -EBUSY);
	cr_assert_eq(perfmon_session_program(session, 77, "no-such-event"), -EBUSY);
	cr_assert_eq(perfmon_session_write(session, writes,
					   sizeof(writes) / sizeof(writes[0]),
					   sizeof(writes[0]), 0),
		     -E2BIG);
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0),
		     -EINVAL);
	cr_assert(strstr(session_message_of(session), "element 0"));
	perfmon_session_close(session);
}

static int call_all(struct scene *scene, int wanted)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (table[i].call(scene) != wanted)
			return (int)i + 1;
	}
	return 0;
}

/* Without a session, and in a child of the process, no call does anything. */
Test(states, without_a_session_and_in_a_child)
{
	NEEDS_BREAKPOINTS();
	struct scene scene = {0};
	struct perfmon_session *session;
	struct victim own;
	int status;
	pid_t child;

	status = call_all(&scene, -EINVAL);
	cr_assert_eq(status, 0, "%s", table[status - 1].name);
	cr_assert_str_eq(session_message_of(NULL), "");
	perfmon_session_close(NULL);

	victim_start(&own, VICTIM_OWN);
	session = scene.session = victim_session(&own);
	perfmon_session_close(victim_keeper(&own));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 3);
	child = fork();
	if (!child) {
		int row = call_all(&scene, -ECHILD);

		touch(0, 100);
		perfmon_session_close(session);
		_exit(row);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%s", table[WEXITSTATUS(status) - 1].name);
	touch(0, 4);
	cr_assert_eq(total_of(session), 7, "the parent's session is its own");
	OK(session, perfmon_session_stop(session));
	perfmon_session_close(session);
}

static void *change_elsewhere(void *argument)
{
	struct perfmon_session *session = argument;
	struct perfmon_target me = {.id = 0}, first = {.id = getpid()};

	/* Opens its events anew, on the thread that it is attached to and not on this. */
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_session_add_events(session, "dummy"));
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	cr_assert_eq(perfmon_session_detach_target(session, me.kind, me.id), -EINVAL);
	cr_assert_eq(total_of(session), 5);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(perfmon_session_attach_targets(session, &first, 1, sizeof(first),
						    PERFMON_ATTACH_ADD),
		     -EEXIST);
	OK(session, perfmon_session_attach_targets(session, &me, 1, sizeof(me),
						   PERFMON_ATTACH_ADD));
	OK(session, perfmon_session_start(session));
	touch(0, 20);
	return NULL;
}

/* A thread that attached a session to itself stays its target, whoever changes it. */
Test(states, the_calling_thread_is_meant_at_the_attach)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_target me = {.id = 0};
	struct perfmon_session *session;
	struct victim own;
	pthread_t thread;

	victim_start(&own, VICTIM_OWN);
	perfmon_session_close(victim_keeper(&own));
	session = victim_session(&own);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 5);
	cr_assert_eq(pthread_create(&thread, NULL, change_elsewhere, session), 0);
	pthread_join(thread, NULL);
	touch(0, 3);
	cr_assert_eq(total_of(session), 28);
	OK(session, perfmon_session_detach_target(session, me.kind, me.id));
	touch(0, 3);
	cr_assert_eq(total_of(session), 28);
	perfmon_session_close(session);
}

/* Row: PM-11: a monitor that is killed leaves its target running, and unharmed. */
Test(states, a_killed_monitor_harms_nobody)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session;
	struct victim own, victim;
	int ready[2], status;
	pid_t monitor;
	char byte = 0;

	victim_start(&own, VICTIM_OWN);
	perfmon_session_close(victim_keeper(&own));
	victim_start(&victim, VICTIM_PROCESS);
	cr_assert_eq(pipe(ready), 0);
	monitor = fork();
	if (!monitor) {
		session = victim_session(&victim);
		if (perfmon_session_attach_targets(session, &victim.target, 1,
						   sizeof(victim.target), 0) ||
		    perfmon_session_start(session) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	victim_work(&victim, 10);
	kill(monitor, SIGKILL);
	cr_assert_eq(waitpid(monitor, &status, 0), monitor);
	cr_assert(WIFSIGNALED(status));
	/* It runs, and can be monitored by others: its breakpoints are free again. */
	session = victim_session(&victim);
	OK(session, perfmon_session_attach_targets(session, &victim.target, 1,
						   sizeof(victim.target), 0));
	OK(session, perfmon_session_start(session));
	victim_work(&victim, 10);
	cr_assert_eq(total_of(session), 10);
	perfmon_session_close(session);
	victim_end(&victim);
}

/* Row: PM-06: a process that is not ours is refused, with the reason. */
Test(states, a_target_of_somebody_else)
{
	struct perfmon_session *session = session_with("dummy", 0);
	pid_t target = getppid();
	int n;

	if (geteuid() == 0) {
		cr_assert_eq(setresgid(65534, 65534, 65534), 0);
		cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	} else {
		target = 1;
	}
	n = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, target);
	cr_assert(n == -EACCES || n == -EPERM, "%d", n);
	cr_assert_neq(session_message_of(session)[0], '\0');
	cr_assert(strstr(session_message_of(session), "dummy"), "%s",
		  session_message_of(session));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	perfmon_session_close(session);
}
