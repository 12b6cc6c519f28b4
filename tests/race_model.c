/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random calls from several threads, on sessions of their own and on shared ones, beside
 * a model of what they should do: every result, every state, every count. A plain
 * program, so that it runs under ThreadSanitizer.
 *
 *	own	each thread has a session on itself, which the model knows exactly
 *	shared	one session for all, attached to any of them; its model has a lock that is
 *		held over a call, so that the model is as exact
 *	loose	one session for all without such a lock: results must be possible, and
 *		values never fall
 *
 * Breakpoints on a variable count the work exactly. A thread has room for four: each
 * session takes two at most, also while it opens its events anew. They overflow exactly,
 * too: a counter that notifies masks its session at the very store.
 *
 * A difference is printed with the calls that led to it.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfmon/overflow.h"
#include "perfmon/session.h"
#include "perfmon/set.h"
#include "breakpoints.h"
#include "helpers.h"
#include "messages.h"

#define THREADS	 3
#define STEPS	 100000
#define SLOTS	 2 /* breakpoints of a session */
#define COUNTERS 6
#define SETS	 3
#define LAST_ID	 3 /* of sets that are tried */
#define HISTORY	 300
#define WAITING	 64 /* messages that wait at most */

/* Of ten calls those on a thread's own session. In a machine that qemu emulates a
 * breakpoint now and then counts a write too many after another thread's call on its
 * thread, and threads do not run at the same time: there all are. */
static bool is_emulated(void)
{
#if defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	if (!(ecx >> 31)) /* no hypervisor */
		return false;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	return ebx == 0x54474354; /* "TCGT" */
#else
	return true;
#endif
}
static unsigned int own_calls = 7;

enum {
	D = PERFMON_STATE_DETACHED,
	S = PERFMON_STATE_STOPPED,
	R = PERFMON_STATE_RUNNING,
	M = PERFMON_STATE_MASKED
};

struct model {
	struct perfmon_session *session;
	int state;
	int target; /* number of the thread */
	int count;
	struct counter {
		bool watches; /* else it counts nothing */
		uint16_t set;
		uint64_t value;
		bool overflows, notifies;
		bool written; /* its value, by the program */
		bool due;     /* its long reset */
		uint64_t short_reset, long_reset;
		unsigned int resets; /* mask of other counters */
		uint64_t last_reset, overflowed;
	} counter[COUNTERS];
	int sets;
	struct {
		uint16_t id;
		uint64_t runs;
	} set[SETS];
	uint16_t active;
	bool turned; /* another set has been chosen since counting stood still */
	bool has_stopped_itself; /* a counter, since it was opened */
	bool helped;		 /* by its helper thread */
	int waiting;
	struct {
		uint32_t index;
		uint16_t set;
		bool overrun;
	} message[WAITING];
	unsigned int calls;
	char history[HISTORY][80];
};

struct walker {
	pthread_t thread;
	int number;
	pid_t tid;
	uint64_t random;
	unsigned int step;
	const char *call;
	const struct model *at; /* the model of the call, NULL for none */
	struct model own;
	uint64_t last[2]; /* values of the loose session */
};

static struct walker walkers[THREADS];
static struct model shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static struct perfmon_session *loose;
static pthread_barrier_t barrier;
static unsigned int steps_each, seed = 1, masked; /* atomic: how often a session was */
static uint64_t watched __attribute__((aligned(64)));
static char watch_text[64];

/* --- failing ------------------------------------------------------------------------ */

static void fail(const struct walker *w, const char *what, long long got,
		 long long wanted)
{
	const struct model *m = w->at;

	printf("not ok - %s: %s: %lld, not %lld (seed %u, thread %d, step %u)\n", w->call,
	       what, got, wanted, seed, w->number, w->step);
	for (unsigned int i = m && m->calls > HISTORY ? m->calls - HISTORY : 0;
	     m && i < m->calls; i++)
		printf("# call %u of the session: %s\n", i, m->history[i % HISTORY]);
	for (int i = 0; m && i < m->count; i++)
		printf("# counter %d: %s, set %u, %" PRId64 ", overflow %d%s%s %" PRId64
		       " %" PRId64 " with %x\n",
		       i, m->counter[i].watches ? "watch" : "dummy", m->counter[i].set,
		       (int64_t)m->counter[i].value, m->counter[i].overflows,
		       m->counter[i].notifies ? " notifies" : "",
		       m->counter[i].due ? " due" : "",
		       (int64_t)m->counter[i].short_reset,
		       (int64_t)m->counter[i].long_reset, m->counter[i].resets);
	fflush(stdout);
	_exit(1);
}

#define IS(what, got, wanted)                                                            \
	do {                                                                             \
		long long got_ = (long long)(got), wanted_ = (long long)(wanted);        \
		if (got_ != wanted_)                                                     \
			fail(w, what, got_, wanted_);                                    \
	} while (0)

static void result_is(struct walker *w, const struct model *m, int got, int wanted)
{
	if (got != wanted)
		printf("# %s\n", session_message_of(m->session));
	IS("result", got, wanted);
}

/* Notes a call for the history of M. */
__attribute__((format(printf, 3, 4))) static void note(struct walker *w, struct model *m,
						       const char *format, ...)
{
	char *line = m->history[m->calls++ % HISTORY];
	int n = snprintf(line, sizeof(m->history[0]), "thread %d, state %d: ", w->number,
			 m->state);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + n, sizeof(m->history[0]) - (size_t)n, format, arguments);
	va_end(arguments);
}

/* --- chance ------------------------------------------------------------------------- */

static unsigned int below(struct walker *w, unsigned int n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (unsigned int)((w->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

/* --- the model ---------------------------------------------------------------------- */

static int watches(const struct model *m)
{
	int n = 0;

	for (int i = 0; i < m->count; i++)
		n += m->counter[i].watches;
	return n;
}

static int find_set(const struct model *m, uint16_t id)
{
	for (int i = 0; i < m->sets; i++) {
		if (m->set[i].id == id)
			return i;
	}
	return -1;
}

/* The set of the next start: the last that was active, at first the lowest. */
static void choose_set(struct model *m)
{
	int s = find_set(m, m->active);

	if (s < 0 || !m->set[s].runs)
		m->active = m->set[0].id;
}

static bool is_on(const struct model *m)
{
	return m->state == R || m->state == M;
}

static void set_back(struct counter *counter, bool long_reset)
{
	if (!counter->overflows) {
		counter->value = 0;
		return;
	}
	counter->value = long_reset ? counter->long_reset : counter->short_reset;
	counter->last_reset = counter->value;
}

static void set_back_with(struct model *m, int i, bool long_reset)
{
	set_back(&m->counter[i], long_reset);
	for (int j = 0; j < m->count; j++) {
		if (j != i && m->counter[i].resets >> j & 1)
			set_back(&m->counter[j], long_reset);
	}
}

/* The long resets that are due, with a start or a restart. */
static void set_back_due(struct model *m)
{
	for (int i = 0; i < m->count; i++) {
		if (!m->counter[i].due)
			continue;
		set_back_with(m, i, true);
	}
	for (int i = 0; i < m->count; i++)
		m->counter[i].due = false;
}

/* The counter that leads the kernel group of the active set, if it may notify. */
static int leader(const struct model *m)
{
	for (int i = 0; i < m->count; i++) {
		if (m->counter[i].set == m->active && m->counter[i].notifies)
			return i;
	}
	return -1;
}

static void overflow(struct model *m, int i)
{
	m->counter[i].overflowed++;
	if (!m->counter[i].notifies) {
		set_back_with(m, i, false);
		return;
	}
	m->counter[i].due = m->has_stopped_itself = true;
	m->message[m->waiting].index = (uint32_t)i;
	m->message[m->waiting].set = m->active;
	m->message[m->waiting++].overrun = m->state == M;
	__atomic_fetch_add(&masked, m->state != M, __ATOMIC_RELAXED);
	m->state = M;
	m->turned = false;
}

/* One store, by THREAD. What came of it: an overflow, and one that the kernel's group
 * does not stop for by itself, so that it has to be handled. */
enum { NOTHING, OVERFLOW, TO_HANDLE };
static int count_store(struct model *m, int thread)
{
	int first, k, i, result = NOTHING;
	bool over[COUNTERS];

	if (m->state != R || m->target != thread)
		return NOTHING;
	/* The kernel counts it for the leader, then for the others: what an overflow sets
	 * back behind itself counts it from there. It has overflowed nevertheless if it
	 * was about to: the kernel knows nothing of resets. */
	for (i = 0; i < m->count; i++)
		over[i] = m->counter[i].overflows && m->counter[i].value == UINT64_MAX;
	first = leader(m);
	for (k = -1; k < m->count; k++) {
		struct counter *counter;

		i = k < 0 ? first : k;
		if (i < 0 || (k >= 0 && k == first))
			continue;
		counter = &m->counter[i];
		if (!counter->watches || counter->set != m->active)
			continue;
		if ((++counter->value || !counter->overflows) && !over[i])
			continue;
		result = result == TO_HANDLE || i != first ? TO_HANDLE : OVERFLOW;
		overflow(m, i);
	}
	return result;
}

static void make_session(struct model *m)
{
	*m = (struct model){.sets = 1, .target = -1};
	if (perfmon_session_create(&m->session, NULL, NULL, 0)) {
		printf("not ok - no session\n");
		exit(1);
	}
}

static void begin(struct model *m)
{
	set_back_due(m);
	m->state = R;
	m->set[find_set(m, m->active)].runs++;
}

/* --- calls -------------------------------------------------------------------------- */

/* After a store: the kernel stops a group on its way back to the program, at the latest
 * with the next system call; what else an overflow leads to, the session does when it is
 * called. */
static void settle(struct walker *w, struct model *m, int store)
{
	if (store != NOTHING)
		syscall(SYS_getppid);
	if (store == TO_HANDLE)
		result_is(w, m, perfmon_session_state(m->session), m->state);
}

static void try_work(struct walker *w, struct model *m)
{
	unsigned int n = 1 + below(w, 20);

	if (m != &shared)
		pthread_mutex_lock(&shared_lock);
	note(w, &w->own, "%u stores", n);
	note(w, &shared, "%u stores", n);
	/* Single stores: each is one event on every machine. */
	for (unsigned int i = 0; i < n; i++) {
		__atomic_store_n(&watched, i, __ATOMIC_RELAXED);
		w->at = &w->own;
		settle(w, &w->own, count_store(&w->own, w->number));
		w->at = &shared;
		settle(w, &shared, count_store(&shared, w->number));
	}
	if (m != &shared)
		pthread_mutex_unlock(&shared_lock);
}

/* Whether this thread may have M's counters enabled: a breakpoint that has stopped itself
 * starts again in its own thread only (Linux 6.17 and later), while others sleep. */
static bool may_enable(const struct walker *w, const struct model *m)
{
	return !m->has_stopped_itself || m->target == w->number;
}

static void open_on(struct model *m, int thread)
{
	m->state = S;
	m->target = thread;
	m->has_stopped_itself = false;
}

static void try_attach(struct walker *w, struct model *m)
{
	int thread = m == &shared ? (int)below(w, THREADS) : w->number;
	pid_t tid = thread == w->number && below(w, 2) ? 0 : walkers[thread].tid;
	struct perfmon_target target = {.id = tid};
	int n = below(w, 2) ? perfmon_session_attach(m->session,
						     PERFMON_TARGET_KIND_THREAD, tid)
			    : perfmon_session_attach_targets(m->session, &target, 1,
							     sizeof(target), 0);

	note(w, m, "attach thread %d: %d", thread, n);
	result_is(w, m, n, m->state == D ? 0 : -EBUSY);
	if (m->state == D)
		open_on(m, thread);
}

static void try_attach_more(struct walker *w, struct model *m)
{
	int thread = m->state == D ? w->number : m->target;
	struct perfmon_target target = {.id = walkers[thread].tid};
	int n = perfmon_session_attach_targets(m->session, &target, 1, sizeof(target),
					       PERFMON_ATTACH_ADD);

	note(w, m, "attach_more thread %d: %d", thread, n);
	result_is(w, m, n, m->state == D ? 0 : m->state == S ? -EEXIST : -EBUSY);
	if (m->state == D)
		open_on(m, thread);
}

static void try_leave(struct walker *w, struct model *m)
{
	int thread = m == &shared ? (int)below(w, THREADS) : w->number;
	struct perfmon_target target = {.id = walkers[thread].tid};
	int n = perfmon_session_detach_target(m->session, target.kind, target.id);
	bool is_there = m->state != D && m->target == thread;

	note(w, m, "detach_target thread %d: %d", thread, n);
	result_is(w, m, n, is_there ? 0 : -EINVAL);
	if (is_there)
		m->state = D;
}

static void try_start(struct walker *w, struct model *m)
{
	if (!may_enable(w, m))
		return;
	note(w, m, "start");
	result_is(w, m, perfmon_session_start(m->session), m->state == D ? -EINVAL : 0);
	if (m->state == S)
		begin(m);
}

static void try_restart(struct walker *w, struct model *m)
{
	if (!may_enable(w, m))
		return;
	note(w, m, "restart");
	result_is(w, m, perfmon_overflow_restart(m->session), m->state == M ? 0 : -EBUSY);
	if (m->state != M)
		return;
	set_back_due(m);
	m->state = R;
	m->set[find_set(m, m->active)].runs += m->turned;
}

static void try_stop(struct walker *w, struct model *m)
{
	note(w, m, "stop");
	result_is(w, m, perfmon_session_stop(m->session), m->state == D ? -EINVAL : 0);
	if (is_on(m))
		m->state = S;
}

static void try_detach(struct walker *w, struct model *m)
{
	note(w, m, "detach");
	result_is(w, m, perfmon_session_detach(m->session), 0);
	m->state = D;
}

static void try_set_start(struct walker *w, struct model *m)
{
	uint16_t id = (uint16_t)below(w, LAST_ID + 1);
	bool can = m->state != D && find_set(m, id) >= 0;

	if (!may_enable(w, m))
		return;
	note(w, m, "set_start %u", id);
	result_is(w, m, perfmon_set_start(m->session, id), can ? 0 : -EINVAL);
	if (!can || (m->state != S && id == m->active))
		return;
	m->active = id;
	if (m->state == S)
		begin(m);
	else if (m->state == R)
		m->set[find_set(m, id)].runs++;
	else
		m->turned = true; /* the restart begins there */
}

/* Whether there is room for a change that opens BEFORE and AFTER at the same time. */
static bool fits(const struct model *m, int before, int after)
{
	return (m->state == S ? before + after : after) <= SLOTS &&
	       (m != &shared || after <= 1);
}

static void try_add(struct walker *w, struct model *m)
{
	bool watch = below(w, 2);
	uint16_t id = (uint16_t)below(w, LAST_ID + 1);
	int wanted = m->count, before = watches(m), n;

	if (m->count == COUNTERS || !fits(m, before, before + watch))
		return;
	if (is_on(m))
		wanted = -EBUSY;
	else if (find_set(m, id) < 0)
		wanted = -EINVAL;
	n = perfmon_set_add_events(m->session, id, watch ? watch_text : "dummy");
	note(w, m, "add %s to set %u: %d", watch ? "watch" : "dummy", id, n);
	result_is(w, m, n, wanted);
	if (n < 0)
		return;
	m->counter[m->count++] = (struct counter){.watches = watch, .set = id};
	m->has_stopped_itself = false;
}

static void try_program(struct walker *w, struct model *m)
{
	bool watch = below(w, 2);
	int i = (int)below(w, COUNTERS), before = watches(m), after = before, n;

	if (i < m->count)
		after += watch - m->counter[i].watches;
	if (!fits(m, before, after))
		return;
	n = perfmon_session_program(m->session, (uint32_t)i,
				    watch ? watch_text : "dummy");
	note(w, m, "program %d %s: %d", i, watch ? "watch" : "dummy", n);
	result_is(w, m, n, is_on(m) ? -EBUSY : i >= m->count ? -EINVAL : 0);
	if (!n)
		m->counter[i].watches = watch;
}

static uint64_t near_overflow(struct walker *w)
{
	return -(uint64_t)(1 + below(w, 30));
}

/* Left out, since it is not settled: where the helper thread sets something back while the
 * session's thread counts, a value now and then differs from the model's, why is not
 * known. With its help only what stops itself, and sets back nothing else, is held
 * against the model. */
static bool goes_with_help(uint32_t flags, uint64_t resets)
{
	return flags & PERFMON_OVERFLOW_NOTIFY && !resets;
}

static void try_overflow(struct walker *w, struct model *m)
{
	struct perfmon_overflow how = {.size = sizeof(how),
				       .flags = below(w, 3) ? PERFMON_OVERFLOW_NOTIFY : 0,
				       .short_reset = near_overflow(w),
				       .long_reset = near_overflow(w)};
	unsigned int resets = below(w, 4);
	uint32_t reset[2];
	int i = (int)below(w, COUNTERS), before = watches(m), n;
	bool off = !below(w, 8), good;
	struct counter *counter;

	if (!fits(m, before, before))
		return;
	/* Of counters that there are, mostly. */
	if (i >= m->count && m->count && below(w, 4))
		i %= m->count;
	counter = &m->counter[i];
	good = i < m->count;
	if (below(w, 2))
		how.long_reset = how.short_reset;
	if (m->helped && !goes_with_help(how.flags, resets))
		return;
	good &= off || !(resets >> m->count);
	how.reset_counters = reset;
	for (uint32_t c = 0; c < 2; c++) {
		if (resets >> c & 1)
			reset[how.reset_count++] = c;
	}
	n = perfmon_overflow_program(m->session, (uint32_t)i, off ? NULL : &how);
	note(w, m, "overflow %d: flags %x short %" PRId64 " long %" PRId64 " with %x: %d",
	     i, off ? 0xffu : how.flags, (int64_t)how.short_reset,
	     (int64_t)how.long_reset, resets, n);
	result_is(w, m, n, is_on(m) ? -EBUSY : good ? 0 : -EINVAL);
	if (n)
		return;
	counter->overflows = !off;
	counter->notifies = !off && how.flags & PERFMON_OVERFLOW_NOTIFY;
	counter->due = false;
	counter->short_reset = how.short_reset;
	counter->long_reset = how.long_reset;
	counter->resets = off ? 0 : resets;
	m->has_stopped_itself = false;
	if (off)
		return;
	/* What has not counted begins as after an overflow. */
	if (!counter->written && counter->value == counter->last_reset &&
	    !counter->overflowed)
		counter->value = counter->notifies ? how.long_reset : how.short_reset;
	counter->last_reset = counter->value;
}

static void try_last_reset(struct walker *w, struct model *m)
{
	uint64_t value, overflowed;
	uint32_t i = below(w, COUNTERS);
	bool good = (int)i < m->count;

	note(w, m, "last_reset %u", i);
	result_is(w, m, perfmon_overflow_last_reset(m->session, i, &value, &overflowed),
		  good ? 0 : -EINVAL);
	if (!good)
		return;
	IS("last reset", value, m->counter[i].last_reset);
	IS("overflows", overflowed, m->counter[i].overflowed);
}

/* Of two that overflowed at one store either may be the first. */
static void take_message(struct walker *w, struct model *m, int i,
			 const struct perfmon_message *message)
{
	if (message->index != m->message[i].index && i + 1 < m->waiting &&
	    m->message[i + 1].overrun) {
		uint32_t other = m->message[i].index;

		m->message[i].index = m->message[i + 1].index;
		m->message[i + 1].index = other;
	}
	IS("counter of the message", message->index, m->message[i].index);
	IS("set of the message", message->set, m->message[i].set);
	IS("flags of the message", message->flags,
	   m->message[i].overrun ? PERFMON_MESSAGE_OVERRUN : 0);
}

static void try_messages(struct walker *w, struct model *m)
{
	struct perfmon_message message[WAITING];
	int room = 1 + (int)below(w, WAITING);
	int wanted = room < m->waiting ? room : m->waiting;

	note(w, m, "read messages: %d wait", m->waiting);
	result_is(w, m,
		  perfmon_overflow_read(m->session, message, (size_t)room,
					sizeof(message[0])),
		  wanted ?: -EAGAIN);
	for (int i = 0; i < wanted; i++)
		take_message(w, m, i, &message[i]);
	m->waiting -= wanted;
	memmove(m->message, m->message + wanted,
		(size_t)m->waiting * sizeof(m->message[0]));
}

/* From then on the session's helper thread handles overflows, too. */
static void try_descriptor(struct walker *w, struct model *m)
{
	struct pollfd ready = {.events = POLLIN};

	for (int i = 0; i < m->count; i++) {
		const struct counter *counter = &m->counter[i];

		if (counter->overflows &&
		    !goes_with_help(counter->notifies ? PERFMON_OVERFLOW_NOTIFY : 0,
				    counter->resets))
			return;
	}
	m->helped = true;
	note(w, m, "descriptor: %d wait", m->waiting);
	ready.fd = perfmon_overflow_descriptor(m->session);
	if (ready.fd < 0)
		result_is(w, m, ready.fd, 0);
	IS("readable", poll(&ready, 1, 0), m->waiting > 0);
}

static void try_write(struct walker *w, struct model *m)
{
	struct perfmon_write writes[2] = {
		{.index = below(w, COUNTERS), .value = near_overflow(w)},
		{.index = below(w, COUNTERS), .value = near_overflow(w)}};
	bool good = (int)writes[0].index < m->count && (int)writes[1].index < m->count;

	if (!below(w, 4))
		writes[1].value = UINT64_C(1) << below(w, 64);
	note(w, m, "write %u: %" PRId64 ", %u: %" PRId64, writes[0].index,
	     (int64_t)writes[0].value, writes[1].index, (int64_t)writes[1].value);
	result_is(w, m,
		  perfmon_session_write(m->session, writes,
					sizeof(writes) / sizeof(writes[0]),
					sizeof(writes[0]), 0),
		  good ? 2 : -EINVAL);
	for (int i = 0; i < 2 && good; i++) {
		struct counter *counter = &m->counter[writes[i].index];

		counter->value = writes[i].value;
		counter->written = true;
		counter->due = false;
		if (counter->overflows)
			counter->last_reset = counter->value;
	}
}

static void try_read(struct walker *w, struct model *m)
{
	struct perfmon_value values[2] = {{.index = below(w, COUNTERS)},
					  {.index = below(w, COUNTERS)}};
	bool good = (int)values[0].index < m->count && (int)values[1].index < m->count;

	note(w, m, "read %u, %u", values[0].index, values[1].index);
	result_is(w, m,
		  perfmon_session_read(m->session, values,
				       sizeof(values) / sizeof(values[0]),
				       sizeof(values[0]), 0),
		  good ? 2 : -EINVAL);
	for (int i = 0; i < 2 && good; i++)
		IS("value", values[i].value, m->counter[values[i].index].value);
}

static void try_read_all(struct walker *w, struct model *m)
{
	struct perfmon_value values[COUNTERS];

	note(w, m, "read_all");
	result_is(w, m,
		  perfmon_session_read(m->session, values,
				       sizeof(values) / sizeof(values[0]),
				       sizeof(values[0]), PERFMON_READ_ALL),
		  m->count);
	for (int i = 0; i < m->count; i++)
		IS("value", values[i].value, m->counter[i].value);
}

static void try_create_set(struct walker *w, struct model *m)
{
	struct perfmon_set set = {.id = (uint16_t)below(w, LAST_ID + 1)};
	int s = 0;

	if (m->sets == SETS)
		return;
	note(w, m, "set_create %u", set.id);
	result_is(w, m, perfmon_set_create(m->session, &set, 1, sizeof(set)),
		  m->state == D ? 1 : -EBUSY);
	if (m->state != D)
		return;
	if (find_set(m, set.id) >= 0) {
		choose_set(m); /* one that was chosen and has never run yet is not it */
		return;
	}
	while (s < m->sets && m->set[s].id < set.id)
		s++;
	memmove(&m->set[s + 1], &m->set[s], (size_t)(m->sets - s) * sizeof(m->set[0]));
	m->set[s].id = set.id;
	m->set[s].runs = 0;
	m->sets++;
	choose_set(m);
}

/* MASK of counters of which each has gone to its PLACE, or nowhere (-1). */
static unsigned int moved(unsigned int mask, const int *place, int count)
{
	unsigned int result = 0;

	for (int i = 0; i < count; i++) {
		if (mask >> i & 1 && place[i] >= 0)
			result |= 1u << place[i];
	}
	return result;
}

static void try_delete_set(struct walker *w, struct model *m)
{
	struct perfmon_set set = {.id = (uint16_t)below(w, LAST_ID + 1)};
	int s = find_set(m, set.id), n = 0, place[COUNTERS];

	note(w, m, "set_delete %u", set.id);
	result_is(w, m, perfmon_set_delete(m->session, &set, 1, sizeof(set)),
		  m->state != D		  ? -EBUSY
		  : s < 0 || m->sets == 1 ? -EINVAL
					  : 1);
	if (m->state != D || s < 0 || m->sets == 1)
		return;
	m->sets--;
	memmove(&m->set[s], &m->set[s + 1], (size_t)(m->sets - s) * sizeof(m->set[0]));
	for (int i = 0; i < m->count; i++) {
		place[i] = m->counter[i].set == set.id ? -1 : n;
		if (place[i] >= 0)
			m->counter[n++] = m->counter[i];
	}
	for (int i = 0; i < n; i++)
		m->counter[i].resets = moved(m->counter[i].resets, place, m->count);
	m->count = n;
	choose_set(m);
}

static void try_set_info(struct walker *w, struct model *m)
{
	struct perfmon_set_info info = {.id = (uint16_t)below(w, LAST_ID + 1)};
	int s = find_set(m, info.id), n = 0;

	note(w, m, "set_info %u", info.id);
	result_is(w, m, perfmon_set_get_info(m->session, &info, 1, sizeof(info)),
		  s < 0 ? -EINVAL : 1);
	if (s < 0)
		return;
	for (int i = 0; i < m->count; i++)
		n += m->counter[i].set == info.id;
	IS("runs", info.runs, m->set[s].runs);
	IS("counters", info.counters, n);
	IS("is_active", info.is_active, is_on(m) && m->active == info.id);
}

static void try_state(struct walker *w, struct model *m)
{
	note(w, m, "state");
	result_is(w, m, perfmon_session_state(m->session), m->state);
	result_is(w, m, perfmon_session_counters(m->session), m->count);
	result_is(w, m, perfmon_set_list(m->session, NULL, 0), m->sets);
}

static void try_close(struct walker *w, struct model *m)
{
	if (below(w, 8))
		return;
	perfmon_session_close(m->session);
	make_session(m);
}

static const struct {
	const char *name;
	void (*run)(struct walker *w, struct model *m);
	unsigned int weight;
} calls[] = {
	{"work", try_work, 16},
	{"attach", try_attach, 6},
	{"attach_more", try_attach_more, 1},
	{"detach_target", try_leave, 1},
	{"start", try_start, 6},
	{"stop", try_stop, 3},
	{"detach", try_detach, 1},
	{"restart", try_restart, 8},
	{"set_start", try_set_start, 2},
	{"add", try_add, 2},
	{"program", try_program, 2},
	{"overflow", try_overflow, 8},
	{"last_reset", try_last_reset, 2},
	{"messages", try_messages, 2},
	{"descriptor", try_descriptor, 1},
	{"write", try_write, 3},
	{"read", try_read, 4},
	{"read_all", try_read_all, 4},
	{"set_create", try_create_set, 1},
	{"set_delete", try_delete_set, 1},
	{"set_info", try_set_info, 2},
	{"state", try_state, 2},
	{"close", try_close, 1},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static size_t any_call(struct walker *w)
{
	unsigned int total = 0, chosen;
	size_t i;

	for (i = 0; i < CALLS; i++)
		total += calls[i].weight;
	chosen = below(w, total);
	for (i = 0; chosen >= calls[i].weight; i++)
		chosen -= calls[i].weight;
	return i;
}

/* Without a model: what a call may give at all, and values that never fall. */
static void step_loose(struct walker *w)
{
	struct perfmon_value values[2] = {{.index = 1},
					  {.index = PERFMON_COUNTER_VIRTUAL_TIME}};
	struct perfmon_set set = {.id = 5};
	int n = 0;

	w->call = "loose";
	w->at = NULL;
	switch (below(w, 9)) {
	case 0:
		n = perfmon_session_attach(loose, PERFMON_TARGET_KIND_THREAD,
					   walkers[below(w, THREADS)].tid);
		break;
	case 1:
		n = perfmon_session_detach(loose);
		break;
	case 2:
		n = perfmon_session_start(loose);
		break;
	case 3:
		n = perfmon_session_stop(loose);
		break;
	case 4:
		n = perfmon_set_start(loose, 5);
		break;
	case 5:
		n = below(w, 2) ? perfmon_set_create(loose, &set, 1, sizeof(set))
				: perfmon_set_delete(loose, &set, 1, sizeof(set));
		break;
	case 6:
		n = perfmon_session_program(loose, 0, below(w, 2) ? "dummy" : "faults");
		break;
	default:
		n = perfmon_session_read(loose, values,
					 sizeof(values) / sizeof(values[0]),
					 sizeof(values[0]), 0);
		IS("result", n, 2);
		for (int i = 0; i < 2; i++) {
			if (values[i].value < w->last[i])
				fail(w, "value", (long long)values[i].value,
				     (long long)w->last[i]);
			w->last[i] = values[i].value;
		}
	}
	if (n < 0 && n != -EINVAL && n != -EBUSY)
		fail(w, "result", n, -EBUSY);
}

static void *walk(void *argument)
{
	struct walker *w = argument;

	w->tid = own_tid();
	make_session(&w->own);
	pthread_barrier_wait(&barrier);
	for (w->step = 0; w->step < steps_each; w->step++) {
		unsigned int which = below(w, 10);
		struct model *m = which < own_calls ? &w->own : &shared;
		size_t call = any_call(w);

		if (which == 9 && own_calls < 9) {
			step_loose(w);
			continue;
		}
		w->call = calls[call].name;
		if (m == &shared)
			pthread_mutex_lock(&shared_lock);
		w->at = m;
		/* The queue has an end that the model does not have. */
		if (m->waiting > WAITING / 2)
			try_messages(w, m);
		calls[call].run(w, m);
		if (m == &shared)
			pthread_mutex_unlock(&shared_lock);
	}
	w->call = "the last reading";
	w->at = &w->own;
	try_read_all(w, &w->own);
	try_state(w, &w->own);
	/* Others may be attached to this thread until here. */
	pthread_barrier_wait(&barrier);
	perfmon_session_close(w->own.session);
	return NULL;
}

/* Breakpoints may not be there, not be allowed, or not fire. The session that this leaves
 * open keeps the kernel from patching itself for each first and last event. */
static void check_machine(struct perfmon_session **kept)
{
	struct perfmon_session *session;
	int n;

	perfmon_session_create(&session, NULL, NULL, 0);
	perfmon_session_add_events(session, watch_text);
	n = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	if (n < 0) {
		printf("1..0\nok - model # SKIP %s\n", session_message_of(session));
		exit(77);
	}
	if (!breakpoints_fire()) {
		printf("1..0\nok - model # SKIP %s\n", BREAKPOINTS_SILENT);
		exit(77);
	}
	perfmon_session_close(session);
	perfmon_session_create(kept, NULL, NULL, 0);
	perfmon_session_add_events(*kept, "dummy,task-clock,faults");
	perfmon_session_attach(*kept, PERFMON_TARGET_KIND_THREAD, 0);
}

int main(void)
{
	const char *given = getenv("PERFMON_TEST_SEED");
	struct perfmon_session *kept;

	snprintf(watch_text, sizeof(watch_text), "mem:0x%" PRIxPTR "/8:w",
		 (uintptr_t)&watched);
	seed = given ? (unsigned int)atoi(given) : 1;
	steps_each = STEPS / THREADS * (getenv("PERFMON_TEST_LONG") ? 10 : 1);
	if (is_emulated())
		own_calls = 10;
	check_machine(&kept);
	make_session(&shared);
	perfmon_session_create(&loose, NULL, NULL, 0);
	perfmon_session_add_events(loose, "dummy,task-clock");
	pthread_barrier_init(&barrier, NULL, THREADS);
	printf("1..1\n");
	for (int i = 0; i < THREADS; i++) {
		walkers[i].number = i;
		walkers[i].random = seed * UINT64_C(0x9e3779b97f4a7c15) + (unsigned)i + 1;
		if (pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(walkers[i].thread, NULL);
	perfmon_session_close(shared.session);
	perfmon_session_close(loose);
	perfmon_session_close(kept);
	if (!masked)
		printf("not ok - no session was ever masked\n");
	else
		printf("ok - sessions do as their model, %u random calls, %u times "
		       "masked\n",
		       steps_each * THREADS, masked);
	return !masked;
}
