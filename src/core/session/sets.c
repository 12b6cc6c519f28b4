/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event sets: made and deleted while detached, started, looked at, estimated. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/sets/sets.h"

#define KNOWN_SET_FLAGS                                                                  \
	(PERFMON_SET_TIME_SWITCH | PERFMON_SET_OVERFLOW_SWITCH | PERFMON_SET_STRICT_TIME)
#define LONGEST_TIMEOUT (UINT64_C(1) << 62)

/* Returns the place of set ID, or -EINVAL with a sentence. */
static int find_set(struct perfmon_session *session, uint16_t id)
{
	int place = pm_session_find_set(session, id);

	return place >= 0 ? place
			  : pm_diag_set(&session->diag, -EINVAL,
					"there is no event set %u", id);
}

/* Checks a VECTOR that goes in and out, of elements whose first version had FIRST bytes and
 * whose last has KNOWN, and has WORK on it in a call. */
static int on_vector(struct perfmon_session *session, void *vector, size_t count,
		     size_t element_size, size_t first, size_t known,
		     int (*work)(struct perfmon_session *session, void *vector, size_t n))
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = pm_session_check_vector(session, vector, count, PERFMON_SESSION_VECTOR_MAX,
				      element_size, PM_VECTOR_IN_OUT, first, known);
	if (err)
		return pm_session_leave(session, err);
	pm_vector_pack(vector, count, element_size, known);
	err = work(session, vector, count);
	pm_vector_unpack(vector, count, element_size, known);
	return pm_session_leave(session, err);
}

/* --- making and deleting ------------------------------------------------------------ */

static int must_be_detached(struct perfmon_session *session)
{
	pm_session_notice_loss(session);
	if (session->state == PERFMON_STATE_DETACHED)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "the event sets of an attached session cannot be changed; "
			   "detach the session first");
}

/* Returns the unit of time-outs: perf_swevent_start_hrtimer() has no shorter periods. */
static uint64_t resolution(void)
{
	uint64_t ns = pm_kernel_clock_resolution();

	return ns < 10000 ? 10000 : ns;
}

static uint64_t effective_timeout(uint64_t asked)
{
	uint64_t step = resolution();

	return (asked + step - 1) / step * step;
}

static int check_set(struct perfmon_session *session, size_t i,
		     const struct perfmon_set *set)
{
	if (set->flags & ~KNOWN_SET_FLAGS)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: unknown flags 0x%x", i,
				   set->flags & ~KNOWN_SET_FLAGS);
	if (set->reserved || set->reserved2[0] || set->reserved2[1])
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a reserved field is not 0", i);
	if (!(set->flags & PERFMON_SET_TIME_SWITCH) != !set->timeout_ns)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a time-out and its flag go together", i);
	if (set->timeout_ns > LONGEST_TIMEOUT)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a time-out of %" PRIu64
				   " ns is too long",
				   i, set->timeout_ns);
	if (set->flags & PERFMON_SET_STRICT_TIME &&
	    effective_timeout(set->timeout_ns) != set->timeout_ns)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a time-out of %" PRIu64
				   " ns is not a multiple of the clock's %" PRIu64 " ns",
				   i, set->timeout_ns, resolution());
	return 0;
}

static int change_sets(struct perfmon_session *session, const struct perfmon_set *changes,
		       size_t n)
{
	uint32_t count = session->set_count;
	struct pm_set *sets = pm_sets_copy(session, n);
	struct pm_register *registers = pm_registers_copy(session, 0);

	for (size_t i = 0; sets && registers && i < n; i++) {
		uint32_t s = pm_sets_insert(sets, &count, changes[i].id, registers,
					    session->count);

		sets[s].flags = changes[i].flags;
		sets[s].timeout_ns = effective_timeout(changes[i].timeout_ns);
	}
	return pm_session_install(session, registers, session->count, sets, count);
}

static int create_sets(struct perfmon_session *session, void *vector, size_t n)
{
	struct perfmon_set *sets = vector;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = check_set(session, i, &sets[i]);
	err = err ?: must_be_detached(session);
	err = err ?: change_sets(session, sets, n);
	for (size_t i = 0; i < n && !err; i++)
		sets[i].timeout_ns = effective_timeout(sets[i].timeout_ns);
	return err ?: (int)n;
}

PM_EXPORT int perfmon_set_create(struct perfmon_session *session,
				 struct perfmon_set *sets, size_t count,
				 size_t element_size)
{
	return on_vector(session, sets, count, element_size,
			 PM_STRUCT_FIRST(perfmon_set, 32), sizeof(*sets), create_sets);
}

/* Marks the N sets to delete; -EINVAL for one that is not there, is marked, or is the
 * last. */
static int mark_sets(struct perfmon_session *session, const struct perfmon_set *gone,
		     size_t n, size_t element_size, bool *marked)
{
	for (size_t i = 0; i < n; i++) {
		const struct perfmon_set *set = pm_vector_at(gone, i, element_size);
		int s = pm_session_find_set(session, set->id);

		if (s < 0 || marked[s])
			return pm_diag_set(&session->diag, -EINVAL,
					   "element %zu: there is no event set %u", i,
					   set->id);
		marked[s] = true;
	}
	if (n == session->set_count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "a session keeps at least one event set");
	return 0;
}

/* MASK without the counters of MARKED sets: those behind them move up. */
static void move_mask(const struct perfmon_session *session, const bool *marked,
		      uint64_t mask[PM_COUNTER_WORDS])
{
	uint64_t moved[PM_COUNTER_WORDS] = {0};
	uint32_t i, to = 0;

	for (i = 0; i < session->count; i++) {
		if (marked[session->registers[i].set])
			continue;
		moved[to / 64] |= (uint64_t)pm_counter_in(mask, i) << (to % 64);
		to++;
	}
	memcpy(mask, moved, sizeof(moved));
}

static int delete_marked(struct perfmon_session *session, const bool *marked)
{
	uint32_t place[PERFMON_SESSION_SETS_MAX] = {0}, s, i, set_count = 0, count = 0;
	struct pm_set *sets = pm_sets_copy(session, 0);
	struct pm_register *registers = pm_registers_copy(session, 0);

	/* It refuses, and frees, one without the other. */
	if (!sets || !registers)
		return pm_session_install(session, registers, session->count, sets, 0);
	for (s = 0; s < session->set_count; s++) {
		place[s] = set_count;
		if (marked[s])
			continue;
		sets[set_count] = session->sets[s];
		move_mask(session, marked, sets[set_count++].overflowed);
	}
	for (i = 0; i < session->count; i++) {
		if (marked[registers[i].set]) {
			pm_program_put(registers[i].program);
			continue;
		}
		registers[count] = registers[i];
		registers[count].set = place[registers[count].set];
		move_mask(session, marked, registers[count].overflow.resets);
		move_mask(session, marked, registers[count].overflow.samples);
		count++;
	}
	return pm_session_install(session, registers, count, sets, set_count);
}

PM_EXPORT int perfmon_set_delete(struct perfmon_session *session,
				 const struct perfmon_set *sets, size_t count,
				 size_t element_size)
{
	bool marked[PERFMON_SESSION_SETS_MAX] = {false};
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = PM_SESSION_CHECK_VECTOR(session, sets, count, element_size, PM_VECTOR_IN,
				      perfmon_set, 32);
	err = err ?: must_be_detached(session);
	err = err ?: mark_sets(session, sets, count, element_size, marked);
	err = err ?: delete_marked(session, marked);
	return pm_session_leave(session, err ?: (int)count);
}

/* --- information -------------------------------------------------------------------- */

static void fill_info(struct perfmon_session *session, uint32_t s,
		      struct perfmon_set_info *info)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_set *set = &session->sets[s];

	*info = (struct perfmon_set_info){
		.id = set->id,
		.flags = set->flags,
		.timeout_ns = set->timeout_ns,
		.runs = set->runs,
		.active_ns = set->active_ns + pm_session_active_ns(session, s),
		.left_ns = set->timeout_ns - pm_set_used_ns(session, s)};
	for (uint32_t i = 0; i < session->count; i++)
		info->counters += session->registers[i].set == s;
	for (uint32_t t = 0;
	     t < plan->target_count && session->state != PERFMON_STATE_STOPPED; t++) {
		if (plan->targets[t].active == s ||
		    session->flags & PERFMON_SESSION_ROTATE)
			info->is_active = 1;
	}
}

static int get_info(struct perfmon_session *session, void *vector, size_t n)
{
	struct perfmon_set_info *info = vector;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (info[i].reserved || info[i].reserved2[0] || info[i].reserved2[1] ||
		    info[i].reserved2[2])
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: a reserved field is not 0", i);
		else if (pm_session_find_set(session, info[i].id) < 0)
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: there is no event set %u", i,
					  info[i].id);
	}
	if (err)
		return err;
	err = pm_session_read_clocks(session);
	if (err)
		return pm_session_closed_by_program(session, err);
	for (size_t i = 0; i < n; i++)
		fill_info(session, (uint32_t)pm_session_find_set(session, info[i].id),
			  &info[i]);
	return (int)n;
}

PM_EXPORT int perfmon_set_get_info(struct perfmon_session *session,
				   struct perfmon_set_info *info, size_t count,
				   size_t element_size)
{
	return on_vector(session, info, count, element_size,
			 PM_STRUCT_FIRST(perfmon_set_info, 72), sizeof(*info), get_info);
}

PM_EXPORT int perfmon_set_overflowed(struct perfmon_session *session, uint16_t id,
				     uint32_t *indices, size_t room)
{
	int s, n = 0, err = pm_session_enter(session);
	const uint64_t *mask;

	if (err)
		return err;
	pm_session_catch_up(session);
	s = find_set(session, id);
	if (s < 0)
		return pm_session_leave(session, s);
	mask = session->sets[s].overflowed;
	for (uint32_t i = 0; i < session->count; i++) {
		if (!pm_counter_in(mask, i))
			continue;
		if (indices && (size_t)n < room)
			indices[n] = i;
		n++;
	}
	return pm_session_leave(session, n);
}

PM_EXPORT int perfmon_set_list(struct perfmon_session *session, uint16_t *ids,
			       size_t room)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	for (uint32_t s = 0; ids && s < session->set_count && s < room; s++)
		ids[s] = session->sets[s].id;
	return pm_session_leave(session, (int)session->set_count);
}

/* --- the set that the program starts --------------------------------------------- */

/* The next start begins with the set at PLACE. */
static void choose_all(struct perfmon_session *session, uint32_t place)
{
	for (uint32_t t = 0; t < session->plan->target_count; t++)
		pm_target_choose(session, &session->plan->targets[t], place);
	session->next_set = place;
}

static int switch_all(struct perfmon_session *session, uint32_t place)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, before = session->next_set;
	int err = 0;

	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_switch(session, &plan->targets[t], place);
	session->next_set = place;
	if (!err)
		return 0;
	/* Neither half of one set nor half of another. */
	pm_session_stop_all(session);
	choose_all(session, before);
	return pm_session_closed_by_program(session, err);
}

PM_EXPORT int perfmon_set_start(struct perfmon_session *session, uint16_t id)
{
	int place, err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	pm_session_notice_loss(session);
	err = pm_session_attach_to_start(session);
	if (err)
		return pm_session_leave(session, err);
	place = find_set(session, id);
	if (place < 0)
		return pm_session_leave(session, place);
	if (session->state == PERFMON_STATE_RUNNING) {
		err = switch_all(session, (uint32_t)place);
	} else {
		choose_all(session, (uint32_t)place);
		if (session->state == PERFMON_STATE_STOPPED)
			err = pm_session_start_all(session);
	}
	return pm_session_leave(session, err);
}

/* --- estimates ------------------------------------------------------------------- */

static int estimate_all(struct perfmon_session *session, void *vector, size_t n)
{
	struct perfmon_estimate *estimates = vector;
	struct pm_slice_lost lost;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = pm_session_check_index(session, i, estimates[i].index,
					     estimates[i].reserved);
		if (!err && estimates[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: the virtual time is no estimate",
					  i);
	}
	if (err)
		return err;
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	for (size_t i = 0; i < n; i++) {
		err = pm_session_find(session, estimates[i].index, PERFMON_READ_TOTAL);
		if (err)
			return pm_session_explain(session, err);
	}
	lost = pm_slice_lost(session);
	for (size_t i = 0; i < n; i++)
		pm_estimate(&session->registers[estimates[i].index], lost, &estimates[i]);
	return (int)n;
}

PM_EXPORT int perfmon_set_estimate(struct perfmon_session *session,
				   struct perfmon_estimate *estimates, size_t count,
				   size_t element_size)
{
	return on_vector(session, estimates, count, element_size,
			 PM_STRUCT_FIRST(perfmon_estimate, 48), sizeof(*estimates),
			 estimate_all);
}
