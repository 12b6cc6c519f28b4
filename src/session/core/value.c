/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of a session's counters, and the times that belong to them. */
#include <errno.h>

#include "os/os.h"
#include "session/core/core.h"

/* --- what the targets have counted ----------------------------------------------------
 */

/*
 * The time of a thread that is open on several CPUs at once, as what it creates is
 * sampled: its enabled time on one of them stands for all as far as the kernel keeps it
 * up, but it cannot be less than what its events ran on all of them.
 */
struct span {
	uint64_t sum; /* of the threads that are done */
	uint64_t enabled_ns, running_ns;
};

static uint64_t span_end(struct span *span)
{
	span->sum +=
		span->enabled_ns > span->running_ns ? span->enabled_ns : span->running_ns;
	span->enabled_ns = span->running_ns = 0;
	return span->sum;
}

static void span_add(struct span *span, const struct pm_target *target,
		     uint64_t enabled_ns, uint64_t running_ns)
{
	if (!target->follows)
		span_end(span);
	if (enabled_ns > span->enabled_ns)
		span->enabled_ns = enabled_ns;
	span->running_ns += running_ns;
}

struct pm_reading pm_register_sum(const struct perfmon_session *session,
				  const struct pm_register *reg, unsigned int role)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_reading sum = {0};
	struct span span = {0};
	uint32_t t, e;

	for (t = 0; t < plan->target_count; t++) {
		const struct pm_target *target = &plan->targets[t];
		const struct pm_reading *readings = target->parts[reg->set].readings;
		uint64_t enabled_ns = 0, running_ns = 0;

		if (!(target->role & role))
			continue;
		/* On hybrid CPUs the events of a counter take turns: their running times
		 * add up, over one enabled time. */
		for (e = 0; e < reg->count; e++) {
			const struct pm_reading *reading = &readings[reg->planned + e];

			sum.value += reading->value;
			running_ns += reading->running_ns;
			if (reading->enabled_ns > enabled_ns)
				enabled_ns = reading->enabled_ns;
		}
		if (pm_takes_turns(plan))
			enabled_ns = pm_whole_ns(plan, target);
		span_add(&span, target, enabled_ns, running_ns);
		sum.running_ns += running_ns;
	}
	sum.enabled_ns = span_end(&span);
	return sum;
}

bool pm_target_lacks(const struct pm_target *target, const struct pm_register *reg)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	uint32_t e, open = 0;

	for (e = 0; e < reg->count; e++)
		open += instance->counters[reg->planned + e].fd >= 0;
	/* Of several core PMUs a CPU has one, a thread visits them all. */
	return target->cpu < 0 ? open < reg->count : !open;
}

static bool is_partial(const struct perfmon_session *session,
		       const struct pm_register *reg)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		if (pm_target_lacks(&plan->targets[t], reg))
			return true;
	}
	return false;
}

bool pm_session_is_uncertain(const struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		if (plan->targets[t].uncertain)
			return true;
	}
	return false;
}

/* Makes the reading of counter C in set S of TARGET as good as now: one read(2) for its
 * group answers for all its members. */
static int refresh(struct perfmon_session *session, struct pm_target *target, uint32_t s,
		   uint32_t c, bool *syscall)
{
	struct pm_part *part = &target->parts[s];
	const struct pm_instance *instance = part->instance;
	uint32_t j;
	int err;

	if (part->settled || instance->counters[c].fd < 0 ||
	    part->stamps[c] == session->stamp)
		return 0;
	*syscall = true;
	err = pm_instance_read_group(instance, c, part->readings);
	if (err)
		return err;
	for (j = 0; j < instance->count; j++) {
		if (instance->counters[j].fd >= 0 &&
		    (j == c ||
		     (instance->counters[j].leader == instance->counters[c].leader &&
		      !(instance->flags & PM_OPEN_INHERIT))))
			part->stamps[j] = session->stamp;
	}
	return 0;
}

/*
 * From the page, if this is the thread and the page says it all. There are no other
 * targets then, nor turns of sets or events: the sum over all is the page's reading.
 */
static inline bool read_page(struct perfmon_session *session, uint32_t i)
{
	struct pm_register *reg = &session->registers[i];
	const struct pm_session_plan *plan = session->plan;
	struct pm_reading reading;
	const struct pm_part *part;

	if (session->state != PERFMON_RUNNING || reg->count != 1 ||
	    plan->set_count != 1 || !pm_session_is_own(session))
		return false;
	part = &plan->targets[0].parts[0];
	if (!part->instance->counters[reg->planned].user_read ||
	    pm_view_read_times(&session->reader->views[i], &reading.value,
			       &reading.enabled_ns, &reading.running_ns))
		return false;
	reading.value -= reg->base.value;
	part->readings[reg->planned] = reading;
	reg->now = reading;
	return true;
}

/* By read(2), where the last readings are not good. Apart from the page's way, which it
 * would cost registers. */
__attribute__((noinline)) static int read_targets(struct perfmon_session *session,
						  struct pm_register *reg, bool *syscall)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, e;
	int result = 0;

	for (t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];
		int err = 0;

		for (e = 0; e < reg->count; e++) {
			err = refresh(session, target, reg->set, reg->planned + e,
				      syscall);
			if (err && err != -ENODATA)
				return err;
			result = result ?: err;
		}
		if (pm_takes_turns(plan))
			err = refresh(session, target, plan->set_count, 0, syscall);
		if (err && err != -ENODATA)
			return err;
	}
	reg->now = pm_register_sum(session, reg, PM_ROLE_ALL);
	return result;
}

static inline int collect(struct perfmon_session *session, uint32_t i, bool *syscall)
{
	*syscall = false;
	return read_page(session, i)
		       ? 0
		       : read_targets(session, &session->registers[i], syscall);
}

int pm_session_collect(struct perfmon_session *session, uint32_t i, bool *syscall)
{
	return collect(session, i, syscall);
}

/* The counter of TARGET's part *S whose enabled time is the session's. */
static uint32_t clock_of(const struct pm_session_plan *plan,
			 const struct pm_target *target, uint32_t *s)
{
	const struct pm_instance *instance;
	uint32_t i, found = PM_NO_CLOCK;

	*s = pm_takes_turns(plan) ? plan->set_count : 0;
	instance = target->parts[*s].instance;
	for (i = 0; i < instance->count; i++) {
		if (instance->counters[i].fd < 0)
			continue;
		/* The best: its clock may spare the system call. */
		if (instance->counters[i].page)
			return i;
		if (found == PM_NO_CLOCK)
			found = i;
	}
	return found;
}

int pm_session_read_clocks(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, s;
	bool syscall;
	int err = 0;

	if (session->state == PERFMON_RUNNING)
		session->stamp++;
	for (t = 0; t < plan->target_count && !err; t++) {
		uint32_t clock = clock_of(plan, &plan->targets[t], &s);

		if (clock != PM_NO_CLOCK)
			err = refresh(session, &plan->targets[t], s, clock, &syscall);
	}
	return err && err != -ENODATA ? err : 0;
}

uint64_t pm_session_active_ns(const struct perfmon_session *session, uint32_t place)
{
	const struct pm_session_plan *plan = session->plan;
	struct span span = {0};
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		const struct pm_target *target = &plan->targets[t];
		uint32_t clock = clock_of(plan, target, &s);
		const struct pm_reading *reading = &target->parts[s].readings[clock];
		uint64_t active_ns;

		if (!(target->role & PM_ROLE_ALL) || clock == PM_NO_CLOCK)
			continue;
		if (!pm_takes_turns(plan)) {
			span_add(&span, target, reading->enabled_ns, reading->running_ns);
			continue;
		}
		active_ns = target->parts[place].active_ns;
		if (target->active == place)
			active_ns += pm_whole_ns(plan, target) - target->since_ns;
		span_add(&span, target, active_ns, 0);
	}
	return span_end(&span);
}

uint64_t pm_set_used_ns(const struct perfmon_session *session, uint32_t place)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_set *set = &session->sets[place];
	uint32_t clock = plan->sets[place].clock;

	if (!set->timeout_ns)
		return 0;
	if (!plan->target_count)
		return set->used_ns;
	/* The clock's count is its set's time, and it ticks at multiples of the time-out:
	 * the kernel keeps what is left of a period while an event is off. */
	return clock == PM_NO_CLOCK
		       ? 0
		       : plan->targets[0].parts[place].readings[clock].value %
				 set->timeout_ns;
}

/* --- virtual time ----------------------------------------------------------------------
 */

/* The CPU time clock of a thread of this process (glibc's pthread_getcpuclockid() makes
 * the same number). */
static clockid_t thread_clock(pid_t tid)
{
	return (clockid_t)((~(unsigned int)tid << 3) | 6);
}

void pm_session_time_attach(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];
	uint32_t s;

	session->time.source = PM_TIME_NONE;
	session->time.counted = 0;
	if (clock_of(plan, target, &s) != PM_NO_CLOCK) {
		session->time.source = PM_TIME_EVENT;
	} else if (plan->target_count == 1 && session->scope == PERFMON_SCOPE_THREAD) {
		session->time.clock = thread_clock(target->tid ?: pm_kernel_gettid());
		if (!pm_kernel_clock_ns(session->time.clock, &session->time.started))
			session->time.source = PM_TIME_CLOCK;
	}
}

void pm_session_time_start(struct perfmon_session *session)
{
	if (session->time.source == PM_TIME_CLOCK &&
	    pm_kernel_clock_ns(session->time.clock, &session->time.started))
		session->time.source = PM_TIME_NONE; /* the thread has ended */
}

void pm_session_time_stop(struct perfmon_session *session)
{
	uint64_t now;

	if (session->time.source == PM_TIME_CLOCK &&
	    !pm_kernel_clock_ns(session->time.clock, &now))
		session->time.counted += now - session->time.started;
}

/* How long all that is on of TARGET was so. */
static int time_of_events(struct perfmon_session *session, struct pm_target *target,
			  struct span *span, bool *syscall)
{
	uint32_t s, c = clock_of(session->plan, target, &s);
	const struct pm_reading *reading;
	int err;

	if (c == PM_NO_CLOCK)
		return 0;
	err = refresh(session, target, s, c, syscall);
	reading = &target->parts[s].readings[c];
	if (!err)
		span_add(span, target, reading->enabled_ns, reading->running_ns);
	return err;
}

/* The same from the page of the calling thread's own session. */
static bool time_of_page(const struct perfmon_session *session, uint64_t *ns)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_counter *counter;
	uint32_t c, s;

	if (session->state != PERFMON_RUNNING || plan->set_count != 1 ||
	    !pm_session_is_own(session))
		return false;
	c = clock_of(plan, &plan->targets[0], &s);
	if (c == PM_NO_CLOCK)
		return false;
	counter = &plan->targets[0].parts[0].instance->counters[c];
	return counter->page && !pm_view_page_enabled(counter->page, ns);
}

void pm_session_time_target(struct perfmon_session *session, struct pm_target *target)
{
	struct span span = {0};
	bool syscall;

	/* The first of several CPUs brings what its enabled time has, the others nothing:
	 * they leave together. */
	if (session->time.source == PM_TIME_EVENT && target->role & PM_ROLE_ALL &&
	    !target->follows && !time_of_events(session, target, &span, &syscall))
		session->time.base += span_end(&span);
}

/* What the targets ran for since the attach. */
static int time_of_target(struct perfmon_session *session, uint64_t *ns, bool *syscall)
{
	struct pm_session_plan *plan = session->plan;
	struct span span = {0};
	uint64_t now;
	uint32_t t;
	int err = 0;

	*syscall = false;
	*ns = 0;
	if (session->state == PERFMON_DETACHED)
		return 0;
	switch (session->time.source) {
	case PM_TIME_EVENT:
		if (time_of_page(session, ns))
			return 0;
		for (t = 0; t < plan->target_count; t++) {
			if (!(plan->targets[t].role & PM_ROLE_ALL))
				continue;
			err = time_of_events(session, &plan->targets[t], &span, syscall);
			if (err)
				return err;
		}
		*ns = span_end(&span);
		return 0;
	case PM_TIME_CLOCK:
		*ns = session->time.counted;
		if (session->state != PERFMON_RUNNING)
			return 0;
		*syscall = true;
		err = pm_kernel_clock_ns(session->time.clock, &now);
		if (!err)
			*ns += now - session->time.started;
		return err;
	default:
		return -ENODATA;
	}
}

int pm_session_time_now(struct perfmon_session *session, uint64_t *ns, bool *syscall)
{
	uint64_t target;
	int err = time_of_target(session, &target, syscall);

	if (err)
		return err;
	target += session->time.base;
	/* The page's clock and the kernel's round differently. */
	if ((int64_t)(target - session->time.floor) < 0)
		target = session->time.floor;
	session->time.floor = target;
	*ns = target;
	return 0;
}

void pm_session_time_detach(struct perfmon_session *session)
{
	uint64_t ns;
	bool syscall;

	if (!pm_session_time_now(session, &ns, &syscall))
		session->time.base = ns;
	else
		session->time.base = session->time.floor;
	session->time.source = PM_TIME_NONE;
}

/* --- vectors -------------------------------------------------------------------------
 */

int pm_session_check_vector(struct perfmon_session *session, const void *vector,
			    size_t size, size_t element)
{
	if (!vector || !size || size % element)
		return pm_diag_set(
			&session->diag, -EINVAL,
			"a vector of %zu bytes is no number of elements of %zu", size,
			element);
	if (size / element > PERFMON_SESSION_VECTOR)
		return pm_diag_set(&session->diag, -E2BIG,
				   "a vector of %zu elements is longer than %d",
				   size / element, PERFMON_SESSION_VECTOR);
	return 0;
}

int pm_session_check_index(struct perfmon_session *session, size_t i, uint32_t index,
			   uint64_t reserved)
{
	if (reserved)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a reserved field is not 0", i);
	if (index >= session->count && index != PERFMON_VIRTUAL_TIME)
		return pm_diag_set(
			&session->diag, -EINVAL,
			"element %zu: there is no counter %u: the session has %u", i,
			index, session->count);
	return 0;
}

static uint32_t status_of(const struct pm_register *reg, struct pm_reading sum,
			  bool starved)
{
	if (!reg->opened)
		return PERFMON_VALUE_NEVER_OPENED;
	if (starved)
		return PERFMON_VALUE_NOT_COUNTED;
	if (!sum.enabled_ns)
		return 0;
	if (!sum.running_ns)
		return PERFMON_VALUE_NOT_COUNTED;
	return sum.running_ns < sum.enabled_ns ? PERFMON_VALUE_MULTIPLEXED
					       : PERFMON_VALUE_COUNTED;
}

static int find_time(struct perfmon_session *session)
{
	struct perfmon_value *found = &session->time.found;
	uint64_t ns;
	bool syscall;
	int err = pm_session_time_now(session, &ns, &syscall);

	if (err)
		return err;
	*found = (struct perfmon_value){.index = PERFMON_VIRTUAL_TIME,
					.value = ns,
					.enabled_ns = ns,
					.running_ns = ns};
	found->status =
		(ns ? PERFMON_VALUE_COUNTED : 0) | (syscall ? PERFMON_VALUE_SYSCALL : 0);
	return 0;
}

int pm_session_find(struct perfmon_session *session, uint32_t index, unsigned int role)
{
	struct pm_reading sum;
	struct pm_register *reg;
	bool syscall;
	int err;

	if (index == PERFMON_VIRTUAL_TIME)
		return find_time(session);
	reg = &session->registers[index];
	err = collect(session, index, &syscall);
	if (err && err != -ENODATA)
		return err;
	sum = role == PM_ROLE_ALL ? pm_reading_add(reg->base, reg->now)
				  : pm_reading_add(reg->own_base,
						   pm_register_sum(session, reg, role));
	reg->found = (struct perfmon_value){.index = index,
					    .value = sum.value,
					    .enabled_ns = sum.enabled_ns,
					    .running_ns = sum.running_ns};
	reg->found.status = status_of(reg, sum, err == -ENODATA) |
			    (syscall ? PERFMON_VALUE_SYSCALL : 0);
	if (!sum.enabled_ns)
		return 0;
	reg->found.status |= reg->doubts;
	if (pm_session_is_uncertain(session))
		reg->found.status |= PERFMON_VALUE_UNCERTAIN;
	return 0;
}

int pm_session_explain(struct perfmon_session *session, int err)
{
	if (err == -ENODATA)
		return pm_diag_set(
			&session->diag, err,
			"the target's virtual time is not known: no event is open "
			"on it");
	return pm_diag_set(
		&session->diag, err,
		"a counter cannot be read (error %d); the program may have closed "
		"file descriptors that belong to the session",
		-err);
}

/* Reads N counters, the I-th being VALUES[i].index, or I itself if IN_ORDER. */
static int read_values(struct perfmon_session *session, struct perfmon_value *values,
		       size_t n, bool in_order, unsigned int role)
{
	size_t i;
	int err;

	if (session->state == PERFMON_RUNNING)
		session->stamp++;
	/* All is read before anything is handed out: a failure leaves VALUES as it was.
	 */
	for (i = 0; i < n; i++) {
		err = pm_session_find(session, in_order ? (uint32_t)i : values[i].index,
				      role);
		if (err)
			return pm_session_explain(session, err);
	}
	for (i = 0; i < n; i++) {
		uint32_t index = in_order ? (uint32_t)i : values[i].index;

		values[i] = index == PERFMON_VIRTUAL_TIME
				    ? session->time.found
				    : session->registers[index].found;
	}
	return (int)n;
}

PM_EXPORT int perfmon_session_read(struct perfmon_session *session,
				   struct perfmon_value *values, size_t size)
{
	size_t i, n = size / sizeof(values[0]);
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = pm_session_check_vector(session, values, size, sizeof(values[0]));
	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, values[i].index,
					     values[i].reserved);
	return pm_session_leave(
		session, err ?: read_values(session, values, n, false, PM_ROLE_ALL));
}

PM_EXPORT int perfmon_session_read_own(struct perfmon_session *session,
				       struct perfmon_value *values, size_t size)
{
	size_t i, n = size / sizeof(values[0]);
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = pm_session_check_vector(session, values, size, sizeof(values[0]));
	for (i = 0; !err && i < n; i++) {
		err = pm_session_check_index(session, i, values[i].index,
					     values[i].reserved);
		if (!err && values[i].index == PERFMON_VIRTUAL_TIME)
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: the virtual time is not kept "
					  "apart",
					  i);
	}
	return pm_session_leave(
		session, err ?: read_values(session, values, n, false, PM_ROLE_OWN));
}

PM_EXPORT int perfmon_session_read_all(struct perfmon_session *session,
				       struct perfmon_value *values, size_t size)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = pm_session_check_vector(session, values, size, sizeof(values[0]));
	if (!err && size / sizeof(values[0]) < session->count)
		err = pm_diag_set(&session->diag, -ENOSPC,
				  "%zu elements do not hold the session's %u counters",
				  size / sizeof(values[0]), session->count);
	return pm_session_leave(
		session,
		err ?: read_values(session, values, session->count, true, PM_ROLE_ALL));
}

void pm_session_rebase(struct perfmon_session *session, uint32_t i)
{
	pm_view_rebase(&session->reader->views[i], session->registers[i].base.value);
}

static void write_one(struct perfmon_session *session, const struct perfmon_write *write)
{
	struct pm_register *reg;
	struct pm_reading own;
	bool syscall;
	uint64_t now;

	if (write->index == PERFMON_VIRTUAL_TIME) {
		if (time_of_target(session, &now, &syscall))
			now = 0;
		session->time.base = write->value - now;
		session->time.floor = write->value;
		return;
	}
	reg = &session->registers[write->index];
	reg->written = true;
	reg->base = (struct pm_reading){write->value - reg->now.value,
					-reg->now.enabled_ns, -reg->now.running_ns};
	reg->turns = (struct pm_turns){0};
	reg->doubts = is_partial(session, reg) ? PERFMON_VALUE_PARTIAL : 0;
	own = pm_register_sum(session, reg, PM_ROLE_OWN);
	reg->own_base = (struct pm_reading){write->value - own.value, -own.enabled_ns,
					    -own.running_ns};
	pm_session_rebase(session, write->index);
}

int pm_session_write_one(struct perfmon_session *session,
			 const struct perfmon_write *write)
{
	write_one(session, write);
	return write->index == PERFMON_VIRTUAL_TIME
		       ? 0
		       : session->hooks->written(session, write->index, write->value);
}

static int check_period(struct perfmon_session *session,
			const struct perfmon_write *write)
{
	return write->index == PERFMON_VIRTUAL_TIME
		       ? 0
		       : session->hooks->check_period(session,
						      &session->registers[write->index],
						      write->value);
}

PM_EXPORT int perfmon_session_write(struct perfmon_session *session,
				    const struct perfmon_write *writes, size_t size)
{
	size_t i, n = size / sizeof(writes[0]);
	int err = pm_session_enter(session), failed;
	uint32_t flags = 0;
	bool syscall;

	if (err)
		return err;
	pm_session_catch_up(session);
	err = pm_session_check_vector(session, writes, size, sizeof(writes[0]));
	for (i = 0; !err && i < n; i++) {
		flags |= writes[i].flags;
		err = pm_session_check_index(session, i, PERFMON_VIRTUAL_TIME,
					     (writes[i].flags & ~PERFMON_WRITE_STOPPED) |
						     writes[i].reserved);
	}
	err = err ?: pm_session_check_stopped(session, flags);
	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, writes[i].index, 0)
			      ?: check_period(session, &writes[i]);
	if (err)
		return pm_session_leave(session, err);
	if (session->state == PERFMON_RUNNING)
		session->stamp++;
	/* All is read before anything is written. */
	for (i = 0; i < n; i++) {
		if (writes[i].index == PERFMON_VIRTUAL_TIME)
			continue;
		err = pm_session_collect(session, writes[i].index, &syscall);
		if (err && err != -ENODATA)
			return pm_session_leave(session,
						pm_session_explain(session, err));
	}
	for (i = 0, err = 0; i < n; i++) {
		failed = pm_session_write_one(session, &writes[i]);
		err = err ?: failed;
	}
	return pm_session_leave(session, err ? pm_session_explain(session, err) : (int)n);
}
