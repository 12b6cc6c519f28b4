/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session/sampling/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define RING_PAGES_MAX 4096
#define USER_STACK     8192

/* The fields that can be asked for, and the kernel's words for them. */
static const struct field {
	uint64_t field, type;
	const char *name;
} fields[] = {
	{PERFMON_SAMPLE_ADDRESS, PERF_SAMPLE_ADDR, "address"},
	{PERFMON_SAMPLE_CALL_CHAIN, PERF_SAMPLE_CALLCHAIN, "call chain"},
	{PERFMON_SAMPLE_RAW, PERF_SAMPLE_RAW, "raw data"},
	{PERFMON_SAMPLE_BRANCHES, PERF_SAMPLE_BRANCH_STACK, "branch stack"},
	{PERFMON_SAMPLE_USER_REGISTERS, PERF_SAMPLE_REGS_USER, "user registers"},
	{PERFMON_SAMPLE_USER_STACK, PERF_SAMPLE_STACK_USER, "user stack"},
	{PERFMON_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT, "weight"},
	{PERFMON_SAMPLE_DATA_SOURCE, PERF_SAMPLE_DATA_SRC, "data source"},
	{PERFMON_SAMPLE_TRANSACTION, PERF_SAMPLE_TRANSACTION, "transaction"},
	{PERFMON_SAMPLE_INTERRUPT_REGISTERS, PERF_SAMPLE_REGS_INTR,
	 "interrupt registers"},
	{PERFMON_SAMPLE_PHYSICAL_ADDRESS, PERF_SAMPLE_PHYS_ADDR, "physical address"},
	{PERFMON_SAMPLE_CGROUP, PERF_SAMPLE_CGROUP, "cgroup"},
	{PERFMON_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "data page size"},
	{PERFMON_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "code page size"},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

#define ALWAYS                                                                           \
	(PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID | PERFMON_SAMPLE_TIME |                  \
	 PERFMON_SAMPLE_CPU | PERFMON_SAMPLE_ID)

/* --- what samples hold -----------------------------------------------------------------
 */

static void ask_for(struct perf_event_attr *attr, const struct pm_sampling *sampling,
		    uint64_t asked)
{
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		if (asked & fields[i].field)
			attr->sample_type |= fields[i].type;
	}
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->sample_max_stack = (uint16_t)sampling->depth;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		attr->branch_sample_type =
			PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		attr->sample_regs_user = PERFMON_ARCH_USER_REGISTERS;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		attr->sample_regs_intr = PERFMON_ARCH_USER_REGISTERS;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		attr->sample_stack_user = USER_STACK;
}

static bool is_sampled(const struct pm_register *reg)
{
	return reg->overflow.on && reg->overflow.how.flags & PERFMON_OVERFLOW_SAMPLE;
}

void pm_sampling_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct perf_event_attr *attr)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || !is_sampled(reg))
		return;
	ask_for(attr, sampling, sampling->fields);
	if (sampling->side_records && !(attr->sample_type & PERF_SAMPLE_READ)) {
		/* What a thread that was created has counted is logged when it ends. */
		attr->inherit_stat = 1;
		attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
				    PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	if (!(reg->overflow.how.flags & PERFMON_OVERFLOW_NOTIFY) &&
	    !(sampling->use && session->hooks->has_listener(session))) {
		/* Nobody waits for the single sample: half a ring is worth a wake-up. */
		attr->watermark = 1;
		attr->wakeup_watermark =
			(uint32_t)(sampling->pages * pm_kernel_page_size() / 2);
	}
}

void pm_sampling_plan_side(struct perf_event_attr *attr)
{
	attr->sample_type = pm_record_attr()->sample_type;
	attr->sample_id_all = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->context_switch = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(pm_kernel_page_size() / 2);
}

bool pm_sampling_wants_side(const struct perfmon_session *session)
{
	return session->sampling && session->sampling->side_records;
}

int pm_sampling_may_change(struct perfmon_session *session)
{
	if (!session->sampling || !session->sampling->log)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "the events of a session with a log cannot be changed; "
			   "close the log first");
}

/* Whether the event of REG opens on the calling thread with the fields ASKED. */
static int try_fields(const struct pm_sampling *sampling, const struct pm_register *reg,
		      uint64_t asked)
{
	struct pm_event event = reg->program->list->events[reg->first];
	int fd;

	pm_record_plan(&event, false);
	event.attr.size = sizeof(event.attr);
	event.attr.disabled = 1;
	ask_for(&event.attr, sampling, asked);
	fd = pm_kernel_perf_event_open(&event.attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	pm_kernel_close(fd);
	return 0;
}

/* Leaves in SAMPLING what the sampled events grant here. An event that does not open at
 * all says nothing of its fields: attaching will tell. */
static int grant(struct perfmon_session *session, struct pm_sampling *sampling,
		 unsigned int flags)
{
	uint64_t granted = ALWAYS;
	uint32_t i;
	size_t f;

	for (f = 0; f < FIELDS; f++) {
		int err = 0;

		if (!(sampling->fields & fields[f].field))
			continue;
		for (i = 0; i < session->count && !err; i++) {
			const struct pm_register *reg = &session->registers[i];

			if (is_sampled(reg) && !try_fields(sampling, reg, 0))
				err = try_fields(sampling, reg, fields[f].field);
		}
		if (!err)
			granted |= fields[f].field;
		else if (!(flags & PERFMON_SAMPLING_BEST))
			return pm_diag_set(&session->diag, -EOPNOTSUPP,
					   "samples cannot have the %s here: the kernel "
					   "refuses it for a sampled event (error %d)",
					   fields[f].name, -err);
	}
	sampling->fields = granted;
	return 0;
}

/* --- set-up and tear-down --------------------------------------------------------------
 */

static int check(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	int err = PM_STRUCT_CHECK(asked, perfmon_sampling, data_size);
	uint64_t known = ALWAYS;
	size_t f;

	for (f = 0; f < FIELDS; f++)
		known |= fields[f].field;
	if (err)
		return pm_session_explain_struct(session, err, "the sampling",
						 "perfmon_sampling");
	if (asked->flags & ~PERFMON_SAMPLING_BEST || asked->reserved ||
	    asked->fields & ~known)
		return pm_diag_set(&session->diag, -EINVAL,
				   "sampling has unknown flags 0x%x or fields 0x%" PRIx64
				   ", or a reserved field that is not 0",
				   asked->flags, asked->fields & ~known);
	if (asked->ring_pages & (asked->ring_pages - 1) ||
	    asked->ring_pages > RING_PAGES_MAX)
		return pm_diag_set(&session->diag, -EINVAL,
				   "%u ring pages are no power of two up to %d",
				   asked->ring_pages, RING_PAGES_MAX);
	return 0;
}

/* Opens the events anew with what they have to record now. */
static int replan(struct perfmon_session *session)
{
	struct pm_register *registers = pm_registers_copy(session, 0);

	if (!registers)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	return pm_session_reinstall(session, registers);
}

static void settings(struct pm_sampling *sampling, const struct perfmon_sampling *asked)
{
	struct pm_options options;

	pm_options_read(&options, NULL);
	sampling->pages = asked->ring_pages ?: options.sample_pages;
	sampling->depth = asked->call_depth ?: options.call_depth;
	pm_options_free(&options);
}

static int set_up(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	struct pm_sampling *sampling = calloc(1, sizeof(*sampling));
	int err;

	if (!sampling)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	sampling->fields = asked->fields;
	settings(sampling, asked);
	err = grant(session, sampling, asked->flags);
	if (!err && asked->format)
		err = pm_format_begin(&sampling->use, asked->format, asked->data,
				      asked->data_size, &session->diag);
	err = err ?: session->hooks->need_queue(session);
	err = err ?: session->hooks->need_helper(session);
	if (!err) {
		session->sampling = sampling;
		err = replan(session);
	}
	if (err) {
		session->sampling = NULL;
		pm_format_end(sampling->use);
		free(sampling);
	}
	return err;
}

PM_EXPORT int perfmon_sampling_set_up(struct perfmon_session *session,
				      const struct perfmon_sampling *sampling)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check(session, sampling);
	err = err ?: pm_session_must_stand(session, "the sampling");
	if (!err && session->sampling)
		err = pm_diag_set(&session->diag, -EEXIST,
				  "sampling is set up already; tear it down first");
	return pm_session_leave(session, err ?: set_up(session, sampling));
}

static int tear_down(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;
	int saved, err;

	if (!sampling)
		return 0;
	saved = pm_log_close(sampling->log);
	sampling->log_error = sampling->log_error ?: saved;
	sampling->log = NULL;
	sampling->side_records = false;
	session->sampling = NULL;
	err = replan(session);
	if (err) {
		session->sampling = sampling;
		return err;
	}
	saved = sampling->log_error;
	pm_format_end(sampling->use);
	free(sampling);
	return saved ? pm_diag_set(&session->diag, saved,
				   "the log could not be written in full (error %d)",
				   -saved)
		     : 0;
}

PM_EXPORT int perfmon_sampling_tear_down(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = pm_session_must_stand(session, "the sampling");
	return pm_session_leave_idle(session, err ?: tear_down(session));
}

void pm_sampling_close(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;

	if (!sampling)
		return;
	pm_log_close(sampling->log);
	pm_format_end(sampling->use);
	free(sampling);
	session->sampling = NULL;
}

void pm_sampling_forget(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;

	if (!sampling)
		return;
	if (sampling->log)
		pm_log_forget(sampling->log);
	/* The format's state is memory of the child's own. */
	pm_format_end(sampling->use);
	free(sampling);
	session->sampling = NULL;
}

/* --- information -----------------------------------------------------------------------
 */

static int not_set_up(struct perfmon_session *session)
{
	return pm_diag_set(&session->diag, -EINVAL, "sampling is not set up");
}

PM_EXPORT int perfmon_sampling_fields(struct perfmon_session *session, uint64_t *granted)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !granted)
		return pm_session_leave(session, not_set_up(session));
	*granted = session->sampling->fields;
	return pm_session_leave(session, 0);
}

PM_EXPORT const void *perfmon_sampling_buffer(struct perfmon_session *session,
					      size_t *size)
{
	const void *buffer = NULL;
	size_t found = 0;

	if (pm_session_enter(session))
		return NULL;
	pm_session_catch_up(session);
	if (session->sampling && session->sampling->use)
		buffer = pm_format_buffer(session->sampling->use, &found);
	if (buffer && size)
		*size = found;
	pm_session_leave(session, 0);
	return buffer;
}

PM_EXPORT int perfmon_sampling_counts(struct perfmon_session *session, uint64_t *taken,
				      uint64_t *lost)
{
	const struct pm_sampling *sampling;
	uint64_t given = 0, dropped = 0;
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling)
		return pm_session_leave(session, not_set_up(session));
	sampling = session->sampling;
	if (sampling->use)
		pm_format_counts(sampling->use, &given, &dropped);
	if (taken)
		*taken = sampling->taken - (sampling->use ? dropped : sampling->unlogged);
	if (lost)
		*lost = sampling->lost + dropped + sampling->unlogged;
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_sampling_throttled(struct perfmon_session *session, uint64_t *times)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling || !times)
		return pm_session_leave(session, not_set_up(session));
	*times = session->sampling->throttled;
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_sampling_enter(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling)
		return pm_session_leave(session, not_set_up(session));
	err = session->sampling->entered++ ? 0 : pm_session_start(session);
	if (err)
		session->sampling->entered--;
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_leave(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !session->sampling->entered)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "sampling has not been entered"));
	err = --session->sampling->entered ? 0 : pm_session_stop(session);
	return pm_session_leave(session, err);
}

/* --- samples ---------------------------------------------------------------------------
 */

bool pm_sampling_count_in(const struct pm_target *target, const struct pm_register *reg,
			  const struct perfmon_sample *sample, uint64_t *count)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	struct perfmon_sample_value read;
	uint64_t i;

	for (i = 0; i < sample->read_count; i++) {
		if (perfmon_sample_read_value(sample, i, &read))
			return false;
		if (read.id == instance->counters[reg->planned].id) {
			*count = read.value;
			return true;
		}
	}
	return false;
}

void pm_sampling_missed(struct perfmon_session *session, struct pm_target *target,
			const struct pm_register *reg, uint64_t n)
{
	uint64_t told = n < target->told ? n : target->told;

	if (!session->sampling || !is_sampled(reg))
		return;
	/* Those of which the kernel has told are counted. */
	target->told -= told;
	session->sampling->lost += n - told;
}

int pm_sampling_listen(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || !sampling->use || sampling->log ||
	    session->state == PERFMON_RUNNING || session->state == PERFMON_MASKED)
		return 0;
	return replan(session);
}

int pm_sampling_take(struct perfmon_session *session, const struct pm_target *target,
		     const struct pm_register *reg, const struct perfmon_sample *sample)
{
	struct pm_sampling *sampling = session->sampling;
	const uint64_t *mask = reg->overflow.how.sample_counters;
	uint64_t values[PERFMON_SESSION_COUNTERS];
	struct perfmon_overflow_sample given = {
		.sample = sample,
		.index = (uint32_t)(reg - session->registers),
		.set = session->sets[reg->set].id,
		.event_id = reg->overflow.how.event_id,
		.last_reset = reg->overflow.last_reset,
		.values = values,
	};
	uint64_t count;
	uint32_t i;

	if (!sampling || !is_sampled(reg))
		return PERFMON_FORMAT_CONTINUE;
	sampling->taken++;
	if (!sampling->use)
		return PERFMON_FORMAT_CONTINUE;
	for (i = 0; i < session->count; i++) {
		const struct pm_register *other = &session->registers[i];

		if (!(mask[i / 64] >> (i % 64) & 1))
			continue;
		/* What is not of the sample's group has no value at its moment; its last
		 * known one stands in, so that places keep their meaning. */
		if (!pm_sampling_count_in(target, other, sample, &count))
			count = other->now.value;
		values[given.value_count++] = other->base.value + count;
	}
	return pm_format_sample(sampling->use, &given);
}

void pm_sampling_restart(struct perfmon_session *session)
{
	if (session->sampling && session->sampling->use)
		pm_format_restart(session->sampling->use);
}

/* --- the log ---------------------------------------------------------------------------
 */

/* The log's number of an event that writes records, counted over all of PLAN. */
static bool next_logged(const struct pm_session_plan *plan, uint32_t *s, uint32_t *c)
{
	for (; *s < plan->part_count; (*s)++, *c = 0) {
		for (; *c < plan->sets[*s].count; (*c)++) {
			const struct perf_event_attr *attr =
				&plan->sets[*s].events[*c].attr;

			if (attr->sample_period || attr->mmap)
				return true;
		}
	}
	return false;
}

/* What a call on the log gave. */
static int log_said(struct perfmon_session *session, int err)
{
	return err ? pm_diag_set(&session->diag, err,
				 "the log cannot be written (error %d)", -err)
		   : 0;
}

int pm_sampling_opened(struct perfmon_session *session,
		       const struct pm_session_plan *plan, const struct pm_target *target)
{
	struct pm_log *log = session->sampling ? session->sampling->log : NULL;
	uint32_t s = 0, c = 0;
	size_t n;
	int err = 0;

	for (n = 0; log && !err && next_logged(plan, &s, &c); n++, c++) {
		const struct pm_counter *counter =
			&target->parts[s].instance->counters[c];

		if (counter->fd >= 0)
			err = pm_log_add_ids(log, n, &counter->id, 1);
	}
	if (log && !err && target->tid >= 0 && !target->follows)
		/* Whose process cannot be looked into is logged without its names. */
		pm_log_process(log, target->tid ?: pm_kernel_getpid(), NULL);
	/* A log that cannot be written says so by itself; counting goes on. */
	return err == -ENOMEM || err == -EINVAL ? log_said(session, err) : 0;
}

/* In the log's own thread, which has no lock of the session's. */
static void log_failed(void *argument, int error)
{
	struct perfmon_session *session = argument;

	(void)error;
	__atomic_store_n(&session->sampling->log_failed, true, __ATOMIC_RELEASE);
	pm_session_wake(session);
}

/* The same: what the log had no room for stands in the rings, which wake nobody when they
 * are full. */
static void log_has_room(void *argument)
{
	pm_session_wake(argument);
}

/* The period of event C of set S as readers of a log should have it, who weight samples
 * by it: that of the resets, since the kernel's first one comes from the value written.
 */
static uint64_t logged_period(const struct perfmon_session *session, uint32_t s,
			      uint32_t c, uint64_t planned)
{
	uint32_t i;

	for (i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct perfmon_overflow *how = &reg->overflow.how;
		uint64_t reset = how->flags & PERFMON_OVERFLOW_NOTIFY ? how->long_reset
								      : how->short_reset;

		if (reg->set == s && reg->planned == c && is_sampled(reg))
			return reset ? -reset : planned;
	}
	return planned;
}

/* The memory of a log whose rings have so many PAGES: it is written when half of it is
 * full, and meanwhile the rest takes a whole ring and a record. */
static size_t buffer_for(uint32_t pages)
{
	size_t size = 2 * ((size_t)pages * pm_kernel_page_size() + UINT16_MAX + 1);

	return size < PM_LOG_BUFFER_DEFAULT ? PM_LOG_BUFFER_DEFAULT
	       : size > PM_LOG_BUFFER_MAX   ? PM_LOG_BUFFER_MAX
					    : size;
}

static int create_log(struct perfmon_session *session, const char *path, int fd)
{
	const struct pm_log_options options = {
		.buffer_size = buffer_for(session->sampling->pages),
		.failed = log_failed,
		.has_room = log_has_room,
		.argument = session};
	const struct pm_session_plan *plan = session->plan;
	struct pm_log_event *events;
	struct perf_event_attr *attrs;
	uint32_t s, c, t;
	size_t n = 0;
	int err;

	for (s = c = 0; next_logged(plan, &s, &c); c++)
		n++;
	events = calloc(n + 1, sizeof(events[0]));
	attrs = calloc(n + 1, sizeof(attrs[0]));
	if (!events || !attrs) {
		free(events);
		free(attrs);
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	}
	for (s = c = 0, n = 0; next_logged(plan, &s, &c); n++, c++) {
		attrs[n] = plan->sets[s].events[c].attr;
		attrs[n].sample_period =
			logged_period(session, s, c, attrs[n].sample_period);
		events[n].attr = &attrs[n];
		events[n].name = plan->sets[s].events[c].name;
	}
	err = pm_log_create(&session->sampling->log, path, fd, events, n, &options,
			    &session->diag);
	free(events);
	free(attrs);
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_sampling_opened(session, plan, &plan->targets[t]);
	return err;
}

static int begin_log(struct perfmon_session *session, const char *path, int fd)
{
	struct pm_sampling *sampling = session->sampling;
	struct pm_diag said;
	int err;

	sampling->side_records = true;
	sampling->log_failed = sampling->log_told = false;
	err = replan(session);
	err = err ?: create_log(session, path, fd);
	if (err) {
		said = session->diag;
		pm_log_close(sampling->log);
		sampling->log = NULL;
		sampling->side_records = false;
		replan(session);
		session->diag = said;
	}
	return err;
}

PM_EXPORT int perfmon_sampling_log(struct perfmon_session *session, const char *path,
				   int fd)
{
	uint32_t i, sampled = 0;
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = session->sampling ? pm_session_must_stand(session, "the log")
				: not_set_up(session);
	for (i = 0; i < session->count; i++)
		sampled += is_sampled(&session->registers[i]);
	if (!err && !sampled)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "no counter leaves samples: none has "
				  "PERFMON_OVERFLOW_SAMPLE");
	if (!err && session->sampling->log)
		err = pm_diag_set(&session->diag, -EEXIST,
				  "the session has a log; close it first");
	return pm_session_leave(session, err ?: begin_log(session, path, fd));
}

PM_EXPORT int perfmon_sampling_log_flush(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = session->sampling && session->sampling->log
		      ? log_said(session, pm_log_flush(session->sampling->log))
		      : pm_diag_set(&session->diag, -EINVAL, "the session has no log");
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_log_user(struct perfmon_session *session, uint32_t kind,
					const void *data, size_t size)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = session->sampling && session->sampling->log
		      ? log_said(session,
				 pm_log_user(session->sampling->log, 0, kind, data, size))
		      : pm_diag_set(&session->diag, -EINVAL, "the session has no log");
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_log_close(struct perfmon_session *session)
{
	struct pm_sampling *sampling;
	int saved = 0, err = pm_session_enter(session);

	if (err)
		return err;
	sampling = session->sampling;
	err = pm_session_must_stand(session, "the log");
	if (!err && sampling && sampling->log) {
		saved = pm_log_close(sampling->log);
		sampling->log = NULL;
		sampling->side_records = false;
		err = replan(session);
		log_said(session, saved);
	}
	return pm_session_leave(session, saved ?: err);
}
