/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every kernel call of every operation of a session made to fail, with every errno that
 * its manual page has: once, and from there on. Afterwards the state is as documented,
 * nothing has leaked, no count is lost that need not be, a sentence says what failed, and
 * the session works once the fault is gone.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "bounds.h"
#include "core/session/core/core.h"
#include "core/text/diag.h"
#include "faults.h"
#include "perfmon/control.h"
#include "perfmon/overflow.h"
#include "perfmon/sampling.h"
#include "session_targets.h"
#include "messages.h"

#define CALLS_MAX 512

static struct {
	bool armed;
	bool for_good; /* from then on */
	unsigned int count, fail_at;
	int error;
	unsigned char call[CALLS_MAX];
} fault = {.fail_at = CALLS_MAX};

static __thread bool is_tester;

static int fault_hook(enum pm_kernel_call call)
{
	unsigned int k;

	/* A session's helper thread calls the kernel when it likes. */
	if (!is_tester || !fault.armed)
		return 0;
	k = fault.count;
	if (k < CALLS_MAX && fault.fail_at == CALLS_MAX)
		fault.call[k] = (unsigned char)call;
	fault.count++;
	if (k == fault.fail_at ||
	    (fault.for_good && k > fault.fail_at && call == fault.call[fault.fail_at]))
		return -fault.error;
	return 0;
}

/* --- the operations ----------------------------------------------------------------- */

struct scene {
	struct perfmon_session *session;
	struct victim *victim;
	struct perfmon_target other;
};

#define OPERATION(name) static int name(struct scene *s)

OPERATION(create)
{
	int err;

	perfmon_session_close(s->session);
	s->session = NULL;
	err = perfmon_session_create(&s->session, NULL, NULL, 0);
	cr_assert_eq(err == 0, s->session != NULL, "untouched on failure");
	return err;
}
OPERATION(add)
{
	return perfmon_session_add_events(s->session, "dummy");
}
OPERATION(program)
{
	return perfmon_session_program(s->session, 1, "alignment-faults");
}
OPERATION(attach)
{
	return perfmon_session_attach_targets(s->session, &s->victim->target, 1,
					      sizeof(s->victim->target), 0);
}
OPERATION(attach_several)
{
	struct perfmon_target targets[] = {s->victim->target, s->other};

	return perfmon_session_attach_targets(s->session, targets,
					      sizeof(targets) / sizeof(targets[0]),
					      sizeof(targets[0]), 0);
}
OPERATION(attach_more)
{
	return perfmon_session_attach_targets(s->session, &s->other, 1, sizeof(s->other),
					      PERFMON_ATTACH_ADD);
}
OPERATION(start)
{
	return perfmon_session_start(s->session);
}
OPERATION(switch_set)
{
	return perfmon_set_start(s->session, 1);
}
OPERATION(stop)
{
	return perfmon_session_stop(s->session);
}
OPERATION(read_all)
{
	struct perfmon_value values[4] = {{.value = 77}};
	int n = perfmon_session_read(s->session, values,
				     sizeof(values) / sizeof(values[0]),
				     sizeof(values[0]), PERFMON_READ_ALL);

	cr_assert(n > 0 || values[0].value == 77, "untouched on failure");
	return n;
}
OPERATION(read_time)
{
	struct perfmon_value value = {.index = PERFMON_COUNTER_VIRTUAL_TIME, .value = 77};
	int n = perfmon_session_read(s->session, &value, 1, sizeof(value), 0);

	cr_assert(n > 0 || value.value == 77, "untouched on failure");
	return n;
}
/* The values that are there already. */
OPERATION(write_values)
{
	struct perfmon_write writes[] = {{.index = 1, .value = 0},
					 {.index = 2, .value = 0}};

	return perfmon_session_write(s->session, writes,
				     sizeof(writes) / sizeof(writes[0]),
				     sizeof(writes[0]), 0);
}
OPERATION(set_info)
{
	struct perfmon_set_info info = {.id = 1, .runs = 77};
	int n = perfmon_set_get_info(s->session, &info, 1, sizeof(info));

	cr_assert(n > 0 || info.runs == 77, "untouched on failure");
	return n;
}
OPERATION(detach)
{
	return perfmon_session_detach(s->session);
}
OPERATION(leave)
{
	return perfmon_session_detach_target(s->session, s->other.kind, s->other.id);
}

OPERATION(swap)
{
	struct perfmon_value values[] = {{.index = 1}, {.index = 2, .value = 0}};
	int n = perfmon_session_swap(s->session, values,
				     sizeof(values) / sizeof(values[0]),
				     sizeof(values[0]), 0);

	cr_assert(n > 0 || !values[0].status, "untouched on failure");
	return n;
}
OPERATION(program_overflow)
{
	struct perfmon_overflow how = {.size = sizeof(how),
				       .flags = PERFMON_OVERFLOW_NOTIFY |
						PERFMON_OVERFLOW_ONCE};

	return perfmon_overflow_program(s->session, 0, &how);
}
OPERATION(restart)
{
	return perfmon_overflow_restart(s->session);
}
OPERATION(overflow_descriptor)
{
	return perfmon_overflow_descriptor(s->session);
}
OPERATION(overflow_signal)
{
	return perfmon_overflow_signal(s->session, SIGURG); /* which is ignored */
}
OPERATION(overflow_block)
{
	return perfmon_overflow_block(s->session, SIGUSR2);
}
OPERATION(set_up_sampling)
{
	struct perfmon_sampling sampling = {.size = sizeof(sampling),
					    .format = PERFMON_FORMAT_DEFAULT};

	return perfmon_sampling_set_up(s->session, &sampling);
}
OPERATION(tear_down_sampling)
{
	return perfmon_sampling_tear_down(s->session);
}
enum state { D, S, R, M };

/* Which state it starts in, what it leads to, and where it is when it failed. */
static const struct operation {
	const char *name;
	int (*run)(struct scene *scene);
	enum state from, to, failed;
	bool two;      /* with both targets */
	bool loses;    /* its failure may cost what was counted since the attach */
	bool notifies; /* its counter does, at ten: own thread only */
} operations[] = {
	{"create", create, D, D, D, false, true, false},
	{"add_events", add, D, D, D, false, false, false},
	{"add_events, attached", add, S, S, S, false, false, false},
	{"program, attached", program, S, S, S, false, false, false},
	{"add_events, two targets", add, S, S, S, true, false, false},
	{"attach", attach, D, S, D, false, false, false},
	{"attach to two", attach_several, D, S, D, false, false, false},
	{"attach_more", attach_more, S, S, S, false, false, false},
	{"start", start, S, R, S, false, false, false},
	{"start, two targets", start, S, R, S, true, false, false},
	{"set_start", switch_set, S, R, S, false, false, false},
	{"set_start, running", switch_set, R, R, S, false, false, false},
	{"set_start, running, two targets", switch_set, R, R, S, true, false, false},
	{"stop", stop, R, S, S, false, false, false},
	{"stop, two targets", stop, R, S, S, true, false, false},
	{"read", read_all, R, R, R, false, false, false},
	{"read, two targets", read_all, R, R, R, true, false, false},
	{"read, stopped", read_all, S, S, S, false, false, false},
	{"read time", read_time, R, R, R, false, false, false},
	{"write", write_values, R, R, R, false, false, false},
	{"set_info", set_info, R, R, R, false, false, false},
	{"detach", detach, S, D, D, false, true, false},
	{"detach, running", detach, R, D, D, false, true, false},
	{"detach, two targets", detach, R, D, D, true, true, false},
	{"detach_target", leave, R, R, R, true, true, false},
	{"swap", swap, R, R, R, false, false, false},
	{"overflow_program, attached", program_overflow, S, S, S, false, false, false},
	{"attach, overflow", attach, D, S, D, false, false, true},
	{"start, overflow", start, S, R, S, false, false, true},
	{"restart", restart, M, R, S, false, false, true},
	{"stop, masked", stop, M, S, S, false, false, true},
	{"detach, masked", detach, M, D, D, false, true, true},
	{"overflow_descriptor", overflow_descriptor, S, S, S, false, false, true},
	{"overflow_descriptor, detached", overflow_descriptor, D, D, D, false, false,
	 true},
	{"overflow_signal", overflow_signal, S, S, S, false, false, true},
	{"overflow_block", overflow_block, D, D, D, false, false, true},
	{"sampling_set_up", set_up_sampling, S, S, S, false, false, true},
	{"sampling_set_up, detached", set_up_sampling, D, D, D, false, false, true},
	{"sampling_tear_down", tear_down_sampling, S, S, S, false, false, true},
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* --- one fault ---------------------------------------------------------------------- */

static struct victim bystander;
static bool thorough; /* every errno for good as well */

static void prepare(struct scene *scene, const struct operation *op,
		    struct victim *victim)
{
	struct perfmon_write ten = {.index = 0, .value = -(uint64_t)10};
	char events[128];

	*scene = (struct scene){NULL, victim, bystander.target};
	/* One breakpoint, since a thread has four and some open their events anew. */
	snprintf(events, sizeof(events), "%s,dummy;dummy", watch_event(0));
	scene->session = session_with(events, 0);
	if (op->notifies)
		OK(scene->session, program_overflow(scene));
	if (op->run == tear_down_sampling)
		OK(scene->session, set_up_sampling(scene));
	if (op->from == M)
		OK(scene->session,
		   perfmon_session_write(scene->session, &ten, 1, sizeof(ten), 0));
	if (op->from == D)
		return;
	OK(scene->session, attach(scene));
	if (op->two)
		OK(scene->session, attach_more(scene));
	OK(scene->session, start(scene));
	victim_work(victim, 10);
	if (op->from == S)
		OK(scene->session, stop(scene));
}

/* One count of the work for each target that does it. */
static void check_works(struct scene *scene, const char *where)
{
	uint64_t before;

	if (perfmon_session_state(scene->session) == PERFMON_STATE_DETACHED)
		OK(scene->session, attach(scene));
	if (perfmon_session_state(scene->session) == PERFMON_STATE_MASKED)
		OK(scene->session, perfmon_overflow_restart(scene->session));
	OK(scene->session, perfmon_set_start(scene->session, 0));
	before = total_of(scene->session);
	victim_work(scene->victim, 3);
	cr_assert_eq(total_of(scene->session) - before, 3, "%s: works no more: %" PRIu64,
		     where, total_of(scene->session) - before);
	OK(scene->session, perfmon_session_detach(scene->session));
	cr_assert_eq(total_of(scene->session) - before, 3, "%s", where);
}

static void check_fault(const struct operation *op, struct victim *victim, unsigned int k,
			int error, bool for_good, int open_after)
{
	enum pm_kernel_call call = fault.call[k];
	/* A descriptor that is said not to be an event is not ours to close. */
	bool disowned = call == PM_CALL_IOCTL;
	struct scene scene;
	char where[160];
	struct mappings before, left;
	int result, open, state;

	snprintf(where, sizeof(where), "%s: %s (call %u) fails%s with %s", op->name,
		 kinds[call].name, k, for_good ? " from then on" : "", strerror(error));
	learn_descriptors();
	before = mappings_beside(NULL);
	prepare(&scene, op, victim);
	open = new_descriptors(false);
	pm_diag_clear(&scene.session->diag);

	fault.count = 0;
	fault.fail_at = k;
	fault.error = error;
	fault.for_good = for_good;
	fault.armed = true;
	result = op->run(&scene);
	fault.armed = false;
	cr_assert_gt(fault.count, k, "%s: not called: %d: %s", where, result,
		     scene.session ? session_message_of(scene.session) : "");

	if (!scene.session) {
		cr_assert_eq(new_descriptors(false), 0, "%s", where);
		return;
	}
	if (result < 0)
		cr_assert_neq(session_message_of(scene.session)[0], '\0',
			      "%s: %d without a message", where, result);
	if (result < 0 && call == PM_CALL_PERF_EVENT_OPEN)
		cr_assert(strstr(session_message_of(scene.session), "mem:") ||
				  strstr(session_message_of(scene.session), "dummy") ||
				  strstr(session_message_of(scene.session),
					 "alignment-faults") ||
				  strstr(session_message_of(scene.session), "clock"),
			  "%s: %s", where, session_message_of(scene.session));
	state = perfmon_session_state(scene.session);
	cr_assert_eq(state, (int)(result < 0 ? op->failed : op->to), "%s: %d: state %d",
		     where, result, state);
	if (!disowned) {
		int wanted = state == D && op->to != op->from  ? 0
			     : result >= 0 || op->run == leave ? open_after
							       : open;

		/* A set that cannot be told from the program's is left open. */
		if (call == PM_CALL_EPOLL_CTL && new_descriptors(false) == wanted + 1)
			wanted++;
		cr_assert_eq(new_descriptors(false), wanted, "%s: %d descriptors, not %d",
			     where, new_descriptors(false), wanted);
	}
	if (op->run == add && result < 0)
		cr_assert_eq(perfmon_session_counters(scene.session), 3, "%s", where);
	if (op->from != D && !(op->loses && result < 0))
		cr_assert_eq(total_of(scene.session), op->from == M ? 0u : 10u,
			     "%s: %d: counted %" PRIu64, where, result,
			     total_of(scene.session));
	/* What could not be disabled is on, until it is closed. */
	if (disowned && for_good)
		OK(scene.session, perfmon_session_detach(scene.session));
	if (op->run != create)
		check_works(&scene, where);
	perfmon_session_close(scene.session);
	cr_assert(disowned || new_descriptors(false) <= (call == PM_CALL_EPOLL_CTL),
		  "%s: descriptors are left", where);
	new_descriptors(true);
	left = mappings_beside(&before);
	cr_assert(call == PM_CALL_MUNMAP || !left.count, "%s: mappings are left", where);
	while (left.count--)
		munmap((void *)left.at[left.count],
		       left.end[left.count] - left.at[left.count]);
}

/* Records the calls of OP in fault.call[]; how many they are. */
static unsigned int record(const struct operation *op, struct victim *victim, int *open)
{
	struct scene scene;

	learn_descriptors();
	prepare(&scene, op, victim);
	fault.count = 0;
	fault.fail_at = CALLS_MAX;
	fault.armed = true;
	OK(scene.session, op->run(&scene));
	fault.armed = false;
	*open = new_descriptors(false);
	perfmon_session_close(scene.session);
	cr_assert_lt(fault.count, CALLS_MAX);
	return fault.count;
}

/* In a short test errors take turns where many calls are alike: the files that a parser
 * reads, what maps rings (which takes the kernel's time), and all but one kind of
 * target. */
static bool is_due(const struct operation *op, const struct victim *victim,
		   unsigned int k, size_t e)
{
	bool alike = op->run == set_up_sampling || op->run == tear_down_sampling ||
		     op->run == add || op->run == program ||
		     op->run == program_overflow || op->notifies ||
		     victim->kind != VICTIM_OWN;

	return thorough || (k + e) % (alike ? ALIKE_IN : ONE_IN) == 0;
}

static void check_operation(const struct operation *op, struct victim *victim)
{
	unsigned int k, n;
	int open;

	record(op, victim, &open); /* what is learnt once is known then */
	n = record(op, victim, &open);
	if (getenv("SHOW"))
		fprintf(stderr, "%s: %u\n", op->name, n);
	for (k = 0; k < n; k++) {
		enum pm_kernel_call call = fault.call[k];

		cr_assert_not_null(kinds[call].name, "%s: call %d", op->name, call);
		for (size_t e = 0; kinds[call].errors[e]; e++) {
			int error = kinds[call].errors[e];

			if (is_due(op, victim, k, e))
				check_fault(op, victim, k, error, false, open);
			/* What is repeated when it is interrupted cannot be interrupted
			 * for good. */
			if (error != EINTR && (thorough || (e == 0 && k % ONE_IN == 0)))
				check_fault(op, victim, k, error, true, open);
		}
	}
}

static void check_all(enum victim_kind kind)
{
	struct victim victim;
	struct perfmon_session *keeper;

	thorough = getenv("PERFMON_TEST_LONG");
	victim_start(&victim, kind);
	victim_start(&bystander, VICTIM_THREAD);
	keeper = victim_keeper(&victim);
	is_tester = true;
	pm_kernel_fault = fault_hook;
	for (size_t i = 0; i < OPERATIONS; i++) {
		/* Children inherit no ring; see also the table of states. */
		if ((operations[i].notifies && kind != VICTIM_OWN) ||
		    (operations[i].run == program_overflow && kind == VICTIM_CHILDREN))
			continue;
		check_operation(&operations[i], &victim);
	}
	pm_kernel_fault = NULL;
	perfmon_session_close(keeper);
	victim_end(&victim);
	victim_end(&bystander);
}

Test(faults, of_the_own_thread)
{
	NEEDS_BREAKPOINTS();
	check_all(VICTIM_OWN);
}

Test(faults, of_another_thread)
{
	NEEDS_BREAKPOINTS();
	check_all(VICTIM_THREAD);
}

Test(faults, of_another_process)
{
	NEEDS_BREAKPOINTS();
	check_all(VICTIM_PROCESS);
}

Test(faults, with_what_it_creates)
{
	NEEDS_BREAKPOINTS();
	check_all(VICTIM_CHILDREN);
}
