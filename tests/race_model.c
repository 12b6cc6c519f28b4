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
 * session takes two at most, also while it opens its events anew.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfmon/session.h"
#include "perfmon/set.h"

#define THREADS	 3
#define STEPS	 100000
#define SLOTS	 2 /* breakpoints of a session */
#define COUNTERS 6
#define SETS	 4
#define LAST_ID	 6 /* of sets that are tried */

enum { D = PERFMON_DETACHED, S = PERFMON_STOPPED, R = PERFMON_RUNNING };

struct model {
	struct perfmon_session *session;
	int state;
	int target; /* number of the thread */
	int count;
	struct {
		bool watches; /* else it counts nothing */
		uint16_t set;
		uint64_t value;
	} counter[COUNTERS];
	int sets;
	struct {
		uint16_t id;
		uint64_t runs;
	} set[SETS];
	uint16_t active;
};

struct walker {
	pthread_t thread;
	int number;
	pid_t tid;
	uint64_t random;
	unsigned int step;
	const char *call;
	struct model own;
	uint64_t last[2]; /* values of the loose session */
};

static struct walker walkers[THREADS];
static struct model shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static struct perfmon_session *loose;
static pthread_barrier_t barrier;
static unsigned int steps_each, seed = 1;
static uint64_t watched __attribute__((aligned(64)));
static char watch_text[64];

/* --- failing ---------------------------------------------------------------------------
 */

static void fail(const struct walker *w, const char *what, long long got,
		 long long wanted)
{
	printf("not ok - %s: %s: %lld, not %lld (seed %u, thread %d, step %u)\n", w->call,
	       what, got, wanted, seed, w->number, w->step);
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
		printf("# %s\n", perfmon_session_message(m->session));
	IS("result", got, wanted);
}

/* --- chance ----------------------------------------------------------------------------
 */

static unsigned int below(struct walker *w, unsigned int n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (unsigned int)((w->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

/* --- the model -------------------------------------------------------------------------
 */

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

static void count_work(struct model *m, int thread, unsigned int n)
{
	if (m->state != R || m->target != thread)
		return;
	for (int i = 0; i < m->count; i++) {
		if (m->counter[i].watches && m->counter[i].set == m->active)
			m->counter[i].value += n;
	}
}

static void make_session(struct model *m)
{
	*m = (struct model){.sets = 1, .target = -1};
	if (perfmon_session_create(&m->session, NULL)) {
		printf("not ok - no session\n");
		exit(1);
	}
}

static void begin(struct model *m)
{
	m->state = R;
	m->set[find_set(m, m->active)].runs++;
}

/* --- calls -----------------------------------------------------------------------------
 */

static void try_work(struct walker *w, struct model *m)
{
	unsigned int n = 1 + below(w, 20);

	(void)m;
	if (m != &shared)
		pthread_mutex_lock(&shared_lock);
	count_work(&w->own, w->number, n);
	count_work(&shared, w->number, n);
	/* Single stores: each is one event on every machine. */
	for (unsigned int i = 0; i < n; i++)
		__atomic_store_n(&watched, i, __ATOMIC_RELAXED);
	if (m != &shared)
		pthread_mutex_unlock(&shared_lock);
}

static void try_attach(struct walker *w, struct model *m)
{
	int thread = m == &shared ? (int)below(w, THREADS) : w->number;
	pid_t tid = thread == w->number && below(w, 2) ? 0 : walkers[thread].tid;
	struct perfmon_target target = {.id = tid};
	int n = below(w, 2) ? perfmon_session_attach_thread(m->session, tid)
			    : perfmon_session_attach(m->session, &target, sizeof(target));

	result_is(w, m, n, m->state == D ? 0 : -EBUSY);
	if (m->state == D) {
		m->state = S;
		m->target = thread;
	}
}

static void try_attach_more(struct walker *w, struct model *m)
{
	int thread = m->state == D ? w->number : m->target;
	struct perfmon_target target = {.id = walkers[thread].tid};
	int n = perfmon_session_attach_more(m->session, &target, sizeof(target));

	result_is(w, m, n, m->state == D ? 0 : m->state == S ? -EEXIST : -EBUSY);
	if (m->state == D) {
		m->state = S;
		m->target = thread;
	}
}

static void try_leave(struct walker *w, struct model *m)
{
	int thread = m == &shared ? (int)below(w, THREADS) : w->number;
	struct perfmon_target target = {.id = walkers[thread].tid};
	int n = perfmon_session_detach_target(m->session, &target);
	bool is_there = m->state != D && m->target == thread;

	result_is(w, m, n, is_there ? 0 : -EINVAL);
	if (is_there)
		m->state = D;
}

static void try_start(struct walker *w, struct model *m)
{
	result_is(w, m, perfmon_session_start(m->session), m->state == D ? -EINVAL : 0);
	if (m->state == S)
		begin(m);
}

static void try_stop(struct walker *w, struct model *m)
{
	result_is(w, m, perfmon_session_stop(m->session), m->state == D ? -EINVAL : 0);
	if (m->state == R)
		m->state = S;
}

static void try_detach(struct walker *w, struct model *m)
{
	result_is(w, m, perfmon_session_detach(m->session), 0);
	m->state = D;
}

static void try_set_start(struct walker *w, struct model *m)
{
	uint16_t id = (uint16_t)below(w, LAST_ID + 1);
	bool can = m->state != D && find_set(m, id) >= 0;

	result_is(w, m, perfmon_set_start(m->session, id), can ? 0 : -EINVAL);
	if (can && (m->state == S || id != m->active)) {
		m->active = id;
		begin(m);
	}
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
	if (m->state == R)
		wanted = -EBUSY;
	else if (find_set(m, id) < 0)
		wanted = -EINVAL;
	n = perfmon_set_add_events(m->session, id, watch ? watch_text : "dummy");
	result_is(w, m, n, wanted);
	if (n < 0)
		return;
	m->counter[m->count].watches = watch;
	m->counter[m->count].set = id;
	m->counter[m->count++].value = 0;
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
	result_is(w, m, n, m->state == R ? -EBUSY : i >= m->count ? -EINVAL : 0);
	if (!n)
		m->counter[i].watches = watch;
}

static void try_write(struct walker *w, struct model *m)
{
	struct perfmon_write writes[2] = {
		{.index = below(w, COUNTERS), .value = below(w, 1000)},
		{.index = below(w, COUNTERS), .value = UINT64_C(1) << below(w, 64)}};
	bool good = (int)writes[0].index < m->count && (int)writes[1].index < m->count;

	result_is(w, m, perfmon_session_write(m->session, writes, sizeof(writes)),
		  good ? 2 : -EINVAL);
	for (int i = 0; i < 2 && good; i++)
		m->counter[writes[i].index].value = writes[i].value;
}

static void try_read(struct walker *w, struct model *m)
{
	struct perfmon_value values[2] = {{.index = below(w, COUNTERS)},
					  {.index = below(w, COUNTERS)}};
	bool good = (int)values[0].index < m->count && (int)values[1].index < m->count;

	result_is(w, m, perfmon_session_read(m->session, values, sizeof(values)),
		  good ? 2 : -EINVAL);
	for (int i = 0; i < 2 && good; i++)
		IS("value", values[i].value, m->counter[values[i].index].value);
}

static void try_read_all(struct walker *w, struct model *m)
{
	struct perfmon_value values[COUNTERS];

	result_is(w, m, perfmon_session_read_all(m->session, values, sizeof(values)),
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
	result_is(w, m, perfmon_set_create(m->session, &set, sizeof(set)),
		  m->state == D ? 1 : -EBUSY);
	if (m->state != D || find_set(m, set.id) >= 0)
		return;
	while (s < m->sets && m->set[s].id < set.id)
		s++;
	memmove(&m->set[s + 1], &m->set[s], (size_t)(m->sets - s) * sizeof(m->set[0]));
	m->set[s].id = set.id;
	m->set[s].runs = 0;
	m->sets++;
	choose_set(m);
}

static void try_delete_set(struct walker *w, struct model *m)
{
	struct perfmon_set set = {.id = (uint16_t)below(w, LAST_ID + 1)};
	int s = find_set(m, set.id), n = 0;

	result_is(w, m, perfmon_set_delete(m->session, &set, sizeof(set)),
		  m->state != D		  ? -EBUSY
		  : s < 0 || m->sets == 1 ? -EINVAL
					  : 1);
	if (m->state != D || s < 0 || m->sets == 1)
		return;
	m->sets--;
	memmove(&m->set[s], &m->set[s + 1], (size_t)(m->sets - s) * sizeof(m->set[0]));
	for (int i = 0; i < m->count; i++) {
		if (m->counter[i].set != set.id)
			m->counter[n++] = m->counter[i];
	}
	m->count = n;
	choose_set(m);
}

static void try_set_info(struct walker *w, struct model *m)
{
	struct perfmon_set_info info = {.id = (uint16_t)below(w, LAST_ID + 1)};
	int s = find_set(m, info.id), n = 0;

	result_is(w, m, perfmon_set_get_info(m->session, &info, sizeof(info)),
		  s < 0 ? -EINVAL : 1);
	if (s < 0)
		return;
	for (int i = 0; i < m->count; i++)
		n += m->counter[i].set == info.id;
	IS("runs", info.runs, m->set[s].runs);
	IS("counters", info.counters, n);
	IS("is_active", info.is_active, m->state == R && m->active == info.id);
}

static void try_state(struct walker *w, struct model *m)
{
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
	{"work", try_work, 8},
	{"attach", try_attach, 4},
	{"attach_more", try_attach_more, 1},
	{"detach_target", try_leave, 1},
	{"start", try_start, 6},
	{"stop", try_stop, 4},
	{"detach", try_detach, 2},
	{"set_start", try_set_start, 4},
	{"add", try_add, 2},
	{"program", try_program, 2},
	{"write", try_write, 2},
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
	struct perfmon_value values[2] = {{.index = 1}, {.index = PERFMON_VIRTUAL_TIME}};
	struct perfmon_set set = {.id = 5};
	int n = 0;

	w->call = "loose";
	switch (below(w, 9)) {
	case 0:
		n = perfmon_session_attach_thread(loose, walkers[below(w, THREADS)].tid);
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
		n = below(w, 2) ? perfmon_set_create(loose, &set, sizeof(set))
				: perfmon_set_delete(loose, &set, sizeof(set));
		break;
	case 6:
		n = perfmon_session_program(loose, 0, below(w, 2) ? "dummy" : "faults");
		break;
	default:
		n = perfmon_session_read(loose, values, sizeof(values));
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

	w->tid = (pid_t)syscall(SYS_gettid);
	make_session(&w->own);
	pthread_barrier_wait(&barrier);
	for (w->step = 0; w->step < steps_each; w->step++) {
		unsigned int which = below(w, 10);
		struct model *m = which < 7 ? &w->own : &shared;
		size_t call = any_call(w);

		if (which == 9) {
			step_loose(w);
			continue;
		}
		w->call = calls[call].name;
		if (m == &shared)
			pthread_mutex_lock(&shared_lock);
		calls[call].run(w, m);
		if (m == &shared)
			pthread_mutex_unlock(&shared_lock);
	}
	w->call = "the last reading";
	try_read_all(w, &w->own);
	try_state(w, &w->own);
	/* Others may be attached to this thread until here. */
	pthread_barrier_wait(&barrier);
	perfmon_session_close(w->own.session);
	return NULL;
}

/* Breakpoints may not be there, or not be allowed. The session that this leaves open
 * keeps the kernel from patching itself for each first and last event. */
static void check_machine(struct perfmon_session **kept)
{
	struct perfmon_session *session;
	int n;

	perfmon_session_create(&session, NULL);
	perfmon_session_add_events(session, watch_text);
	n = perfmon_session_attach_thread(session, 0);
	if (n < 0) {
		printf("1..0\nok - model # SKIP %s\n", perfmon_session_message(session));
		exit(77);
	}
	perfmon_session_close(session);
	perfmon_session_create(kept, NULL);
	perfmon_session_add_events(*kept, "dummy,task-clock,faults");
	perfmon_session_attach_thread(*kept, 0);
}

int main(void)
{
	const char *given = getenv("PERFMON_TEST_SEED");
	struct perfmon_session *kept;

	snprintf(watch_text, sizeof(watch_text), "mem:0x%" PRIxPTR "/8:w",
		 (uintptr_t)&watched);
	seed = given ? (unsigned int)atoi(given) : 1;
	steps_each = STEPS / THREADS * (getenv("PERFMON_TEST_LONG") ? 10 : 1);
	check_machine(&kept);
	make_session(&shared);
	perfmon_session_create(&loose, NULL);
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
	printf("ok - sessions do as their model, %u random calls\n",
	       steps_each * THREADS);
	return 0;
}
