/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls that read a profile: they show one snapshot, by number. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "perfmon/profile.h"
#include "perfmon/quantity.h"
#include "core/profile/file.h"
#include "core/profile/node.h"
#include "core/profile/reader_sums.h"

struct perfmon_profile {
	struct pm_profile_file *file;
	struct pm_snapshot *snapshot;
	struct pm_reader_sum **sums;
	struct pm_diag diag;	  /* about the last snapshot */
	const char *call_message; /* why the last call failed; NULL: it did not */
};

/* Returns RESULT, and keeps MESSAGE about it. NULL means success. One thread at a time uses
 * a profile, so that a const handle can change. */
static int answer(const struct perfmon_profile *profile, int result, const char *message)
{
	struct perfmon_profile *own = (struct perfmon_profile *)(uintptr_t)profile;

	if (!profile)
		return -EINVAL;
	own->call_message =
		result == -E2BIG
			? "fields unknown to this version of the library are not "
			  "zero; leave those fields zero"
			: message;
	return result;
}

/* Checks GIVEN, a struct TYPE of the program. WHAT begins the message. */
#define CHECK(profile, given, type, first, what)                                         \
	answer(profile, PM_STRUCT_CHECK(given, type, first),                             \
	       what ", or .size is too small; set .size = sizeof(struct " #type ")")

/* Copies MADE, of SIZE bytes, to the program's structure at TO, which was checked. */
static int give(const struct perfmon_profile *profile, void *to, const void *made,
		size_t size)
{
	pm_struct_fill(to, made, size);
	return answer(profile, 0, NULL);
}

/* Takes a new snapshot; on failure the old one stays. */
static int take(struct perfmon_profile *profile)
{
	struct pm_reader_sum **sums;
	struct pm_snapshot *made;
	int err;

	profile->call_message = NULL;
	pm_diag_clear(&profile->diag);
	err = pm_profile_file_snapshot(profile->file, &made, &profile->diag);
	if (err)
		return err;
	sums = pm_reader_sums_make(made);
	if (!sums) {
		pm_snapshot_free(made);
		return pm_diag_set(&profile->diag, -ENOMEM, "out of memory");
	}
	pm_snapshot_free(profile->snapshot);
	pm_reader_sums_free(profile->sums);
	profile->snapshot = made;
	profile->sums = sums;
	return 0;
}

static int make(struct perfmon_profile **out, const char *path, pid_t pid, uint32_t flags,
		char *message, size_t message_size)
{
	struct perfmon_profile *profile = calloc(1, sizeof(*profile));
	int err = -ENOMEM;

	if (!profile)
		goto out;
	if (flags)
		err = pm_diag_set(&profile->diag, -EINVAL, "unknown flags 0x%x", flags);
	else
		err = path ? pm_profile_file_open(path, &profile->file, &profile->diag)
			   : pm_profile_file_open_pid(pid, &profile->file,
						      &profile->diag);
	if (!err)
		err = take(profile);
out:
	pm_message_tell(profile ? profile->diag.text : "out of memory", message,
			message_size);
	if (err)
		perfmon_profile_close(profile);
	else
		*out = profile;
	return err;
}

PM_EXPORT int perfmon_profile_open(struct perfmon_profile **profile, const char *path,
				   uint32_t flags, char *message, size_t message_size)
{
	pm_message_tell("", message, message_size);
	return profile && path ? make(profile, path, 0, flags, message, message_size)
			       : -EINVAL;
}

PM_EXPORT int perfmon_profile_open_process(struct perfmon_profile **profile, pid_t pid,
					   uint32_t flags, char *message,
					   size_t message_size)
{
	pm_message_tell("", message, message_size);
	return profile && pid > 0 ? make(profile, NULL, pid, flags, message, message_size)
				  : -EINVAL;
}

PM_EXPORT int perfmon_profile_refresh(struct perfmon_profile *profile)
{
	return profile ? take(profile) : -EINVAL;
}

PM_EXPORT int perfmon_profile_message(const struct perfmon_profile *profile, char *buffer,
				      size_t size)
{
	return profile ? pm_message_copy(profile->call_message ?: profile->diag.text,
					 buffer, size)
		       : -EINVAL;
}

PM_EXPORT void perfmon_profile_close(struct perfmon_profile *profile)
{
	if (!profile)
		return;
	pm_snapshot_free(profile->snapshot);
	pm_reader_sums_free(profile->sums);
	pm_profile_file_close(profile->file);
	free(profile);
}

/* Nanoseconds, or counts, of a calculation. */
static uint64_t whole(double value)
{
	if (!(value > 0))
		return 0;
	return value < 18446744073709549568.0 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

PM_EXPORT int perfmon_profile_get_info(const struct perfmon_profile *profile,
				       struct perfmon_profile_info *info)
{
	int err = CHECK(profile, info, perfmon_profile_info, 104,
			"the information is missing");
	static const uint32_t writers[] = {
		[PM_WRITER_UNKNOWN] = PERFMON_PROFILE_WRITER_UNKNOWN,
		[PM_WRITER_RUNS] = PERFMON_PROFILE_WRITER_RUNS,
		[PM_WRITER_PACKED] = PERFMON_PROFILE_WRITER_UNKNOWN,
		[PM_WRITER_ENDED] = PERFMON_PROFILE_WRITER_ENDED,
		[PM_WRITER_GONE] = PERFMON_PROFILE_WRITER_GONE,
	};
	const struct perfmon_profile_header *header;
	struct perfmon_profile_info made;
	const struct pm_snapshot *s;

	if (err)
		return err;
	s = profile->snapshot;
	header = &s->header;
	made = (struct perfmon_profile_info){
		.host = header->host,
		.program = header->program,
		.pid = (pid_t)header->pid,
		.parent_pid = (pid_t)header->parent_pid,
		.rank = header->rank,
		.ranks = header->ranks,
		.writer = writers[s->writer],
		.partial = s->partial,
		.threads = s->thread_count + s->joined_count + s->steps_count,
		.notes = s->note_count,
		.begin_realtime_ns = header->begin_realtime_ns,
		.arguments = s->arguments,
		.arguments_size = s->arguments_length,
		.lost_visits = header->lost_first_in_handler,
		.lost_threads = header->lost_threads,
		.unmatched_ends = header->unmatched_ends,
		.run_notes = s->run_notes ? s->run_notes->count : 0,
		.left_out_regions = header->left_out_regions,
	};
	for (uint32_t p = 0; p < s->plan_count; p++)
		made.events += s->plans[p].counter_count;
	if (s->taken_ticks > header->begin_ticks)
		made.elapsed_ns = whole(pm_snapshot_ns(
			s, (double)(s->taken_ticks - header->begin_ticks)));
	return give(profile, info, &made, sizeof(made));
}

PM_EXPORT int perfmon_profile_get_note(const struct perfmon_profile *profile,
				       uint32_t index, char *buffer, size_t size)
{
	int length = -EINVAL;

	if (profile && index < profile->snapshot->note_count)
		length = pm_message_copy(profile->snapshot->notes[index], buffer, size);
	return answer(profile, length,
		      length < 0 ? "there is no such note, or no buffer" : NULL);
}

PM_EXPORT int perfmon_profile_get_run_note(const struct perfmon_profile *profile,
					   uint32_t index,
					   struct perfmon_profile_run_note_info *note)
{
	int err = CHECK(profile, note, perfmon_profile_run_note_info, 24,
			"the note is missing");
	struct perfmon_profile_run_note_info made;
	const struct pm_run_notes *notes;

	if (err)
		return err;
	notes = profile->snapshot->run_notes;
	if (!notes || index >= notes->count)
		return answer(profile, -EINVAL, "there is no such note of the run");
	made = (struct perfmon_profile_run_note_info){
		.key = notes->at[index].key,
		.value = notes->at[index].value,
	};
	return give(profile, note, &made, sizeof(made));
}

/* Returns the number of PLAN's first event. */
static uint32_t first_event(const struct pm_snapshot *s,
			    const struct pm_snapshot_plan *plan)
{
	uint32_t first = 0;

	for (const struct pm_snapshot_plan *p = s->plans; p < plan; p++)
		first += p->counter_count;
	return first;
}

PM_EXPORT int perfmon_profile_get_event(const struct perfmon_profile *profile,
					uint32_t index,
					struct perfmon_profile_event *event)
{
	int err = CHECK(profile, event, perfmon_profile_event, 88,
			"there is no such event");
	const struct perfmon_profile_counter *counter;
	struct perfmon_profile_event made;
	const struct pm_snapshot *s;
	uint32_t plan = 0;

	if (err)
		return err;
	s = profile->snapshot;
	for (; plan < s->plan_count && index >= s->plans[plan].counter_count; plan++)
		index -= s->plans[plan].counter_count;
	if (plan == s->plan_count)
		return -EINVAL;
	counter = &s->plans[plan].counters[index];
	made = (struct perfmon_profile_event){
		.name = counter->name,
		.pmu = counter->pmu,
		.unit = counter->unit,
		.scale = counter->scale,
		.logical = counter->logical,
		.error = counter->error,
		.type = counter->type,
		.config = counter->config[0],
		.config1 = counter->config[1],
		.config2 = counter->config[2],
	};
	if (counter->flags & PERFMON_PROFILE_COUNTER_HARDWARE)
		made.properties |= PERFMON_PROFILE_EVENT_HARDWARE;
	if (counter->flags & PERFMON_PROFILE_COUNTER_KERNEL_ONLY)
		made.properties |= PERFMON_PROFILE_EVENT_KERNEL_ONLY;
	made.kind = counter->flags & PERFMON_PROFILE_COUNTER_PACKAGE
			    ? PERFMON_PROFILE_EVENT_KIND_PACKAGE
			    : PERFMON_PROFILE_EVENT_KIND_KERNEL;
	if (counter->flags & PERFMON_PROFILE_COUNTER_EXACT) {
		made.properties |= PERFMON_PROFILE_EVENT_EXACT;
		made.kind = PERFMON_PROFILE_EVENT_KIND_EXACT;
	}
	return give(profile, event, &made, sizeof(made));
}

static bool is_sum(const struct pm_snapshot_thread *thread)
{
	return thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
}

static const struct pm_snapshot_thread *thread_at(const struct perfmon_profile *profile,
						  uint32_t index)
{
	return profile ? pm_snapshot_thread_at(profile->snapshot, index) : NULL;
}

static uint32_t thread_kind(const struct pm_snapshot *s, uint32_t index)
{
	if (pm_snapshot_steps_at(s, index))
		return PERFMON_PROFILE_THREAD_KIND_STEPS;
	if (index >= s->thread_count)
		return PERFMON_PROFILE_THREAD_KIND_OTHER_RUN;
	return is_sum(&s->threads[index]) ? PERFMON_PROFILE_THREAD_KIND_SUM
					  : PERFMON_PROFILE_THREAD_KIND_THREAD;
}

PM_EXPORT int perfmon_profile_get_thread(const struct perfmon_profile *profile,
					 uint32_t index,
					 struct perfmon_profile_thread_info *thread)
{
	const struct pm_snapshot_thread *from = thread_at(profile, index);
	int err = CHECK(profile, thread, perfmon_profile_thread_info, 64,
			"there is no such thread");
	const struct perfmon_profile_thread *record;
	struct perfmon_profile_thread_info made;
	bool named;

	if (!from || err)
		return err ?: -EINVAL;
	record = &from->record;
	/* The steps of a path are a thread's. */
	named = !is_sum(from) || pm_snapshot_steps_at(profile->snapshot, index);
	made = (struct perfmon_profile_thread_info){
		.name = named ? record->name : "",
		.tid = named ? (pid_t)record->tid : 0,
		.live = record->state == PERFMON_PROFILE_THREAD_STATE_LIVE,
		.threads = is_sum(from) ? record->aggregated : 1,
		.nodes = from->node_count,
		.lost_visits = record->lost_in_handler + record->lost_too_deep +
			       record->lost_no_memory + record->lost_unnamed +
			       record->lost_other,
		.unmatched_ends = record->unmatched_ends,
		.kind = thread_kind(profile->snapshot, index),
		.left_out_by_name = record->left_out[PERFMON_PROFILE_LEFT_OUT_NAME],
		.left_out_by_depth = record->left_out[PERFMON_PROFILE_LEFT_OUT_DEPTH],
		.left_out_by_mean = record->left_out[PERFMON_PROFILE_LEFT_OUT_MEAN],
	};
	if (from->plan) {
		made.first_event = first_event(profile->snapshot, from->plan);
		made.events = from->plan->counter_count;
	}
	return give(profile, thread, &made, sizeof(made));
}

static const struct perfmon_profile_node *node_at(const struct pm_snapshot_thread *thread,
						  uint32_t index)
{
	return thread && index < thread->node_count ? pm_snapshot_node(thread, index + 1)
						    : NULL;
}

/* Lists the nodes from INDEX up to the outermost region's, and returns how many there
 * are. A snapshot bounds them. */
static uint32_t ancestors(const struct pm_snapshot_thread *thread, uint32_t index,
			  uint32_t line[PERFMON_PROFILE_DEPTH_MAX])
{
	uint32_t depth = 0, number = index + 1;

	for (; number > 1 && depth < PERFMON_PROFILE_DEPTH_MAX; depth++) {
		line[depth] = number;
		number = pm_snapshot_node(thread, number)->parent;
	}
	return depth;
}

/* Lists the regions from that of INDEX up to the outermost one, and returns how many there are. */
static uint32_t regions_above(const struct pm_snapshot_thread *thread,
			      const struct pm_snapshot_steps *steps, uint32_t index,
			      uint32_t line[PERFMON_PROFILE_DEPTH_MAX])
{
	uint32_t depth = ancestors(thread, index, line);

	for (uint32_t i = 0; i < depth; i++)
		line[i] = pm_snapshot_node(thread, line[i])->region;
	if (!steps || !depth)
		return depth;
	for (uint32_t i = 0; i < steps->depth; i++)
		line[i] = steps->path[steps->depth - 1 - i];
	return steps->depth;
}

static uint32_t marks_of(const struct perfmon_profile_node *node, bool sampled,
			 bool in_flight)
{
	return (in_flight ? PERFMON_PROFILE_NODE_IN_FLIGHT : 0) |
	       (node->flags & PM_SNAPSHOT_TORN ? PERFMON_PROFILE_NODE_TORN : 0) |
	       (sampled || node->flags & PERFMON_PROFILE_NODE_UNMEASURED
			? PERFMON_PROFILE_NODE_SAMPLED
			: 0) |
	       (node->mismatched_ends ? PERFMON_PROFILE_NODE_MISMATCHED : 0) |
	       (node->dropped_counts ? PERFMON_PROFILE_NODE_DROPPED : 0) |
	       (node->retries ? PERFMON_PROFILE_NODE_RETRIED : 0) |
	       (node->fallback_reads ? PERFMON_PROFILE_NODE_FALLBACK : 0) |
	       (node->migrations ? PERFMON_PROFILE_NODE_MIGRATED : 0) |
	       (node->defects ? PERFMON_PROFILE_NODE_DEFECT : 0) |
	       (node->flags & PERFMON_PROFILE_NODE_LEFT_OUT ? PERFMON_PROFILE_NODE_FIRST
							    : 0) |
	       (node->flags & PERFMON_PROFILE_NODE_UNALIKE
			? PERFMON_PROFILE_NODE_RUNS_DIFFER
			: 0) |
	       (node->flags & PERFMON_PROFILE_NODE_FEWER_THREADS
			? PERFMON_PROFILE_NODE_SOME_THREADS
			: 0);
}

static uint32_t node_kind(const struct perfmon_profile_node *node)
{
	if (!node->parent)
		return PERFMON_PROFILE_NODE_KIND_THREAD;
	if (pm_node_is_quantity(node))
		return PERFMON_PROFILE_NODE_KIND_QUANTITY;
	if (pm_node_is_overlapping(node))
		return PERFMON_PROFILE_NODE_KIND_OVERLAPPING;
	return pm_node_is_adopted(node) ? PERFMON_PROFILE_NODE_KIND_ADOPTED
					: PERFMON_PROFILE_NODE_KIND_REGION;
}

/* Fills MADE with what a quantity has. */
static void put_quantity(struct perfmon_profile_node_info *made,
			 const struct perfmon_profile_node *from)
{
	made->quantity = from->time_ticks;
	made->quantity_kind =
		from->flags & PERFMON_PROFILE_NODE_MAXIMUM ? PERFMON_QUANTITY_KIND_MAXIMUM
		: from->flags & PERFMON_PROFILE_NODE_LAST  ? PERFMON_QUANTITY_KIND_LAST
							   : PERFMON_QUANTITY_KIND_SUM;
}

/* Fills MADE with the values of visits. */
static void put_values(const struct perfmon_profile *profile, uint32_t thread,
		       uint32_t index, struct perfmon_profile_node_info *made,
		       const struct perfmon_profile_node *from)
{
	const struct pm_snapshot *s = profile->snapshot;
	const struct pm_snapshot_thread *of = thread_at(profile, thread);
	const struct pm_reader_sum *sum =
		pm_reader_sum(profile->sums, of, thread, index, PM_READER_TIME);
	double time_ns = pm_snapshot_ns(s, (double)from->time_ticks);

	made->time_ns = whole(time_ns);
	made->exclusive_time_ns = whole(time_ns - sum->below);
	made->bias_ns = whole(fmin(sum->bias, time_ns));
	sum = pm_reader_sum(profile->sums, of, thread, index, PM_READER_OFF_CPU);
	made->exclusive_off_cpu_ns = whole((double)from->off_cpu_ns - sum->below);
	made->marks = marks_of(from, made->measured != made->visits,
			       made->entered != made->visits);
	if (made->measured) {
		made->min_time_ns = whole(pm_snapshot_ns(s, (double)from->time_min));
		made->max_time_ns = whole(pm_snapshot_ns(s, (double)from->time_max));
	}
}

/* Fills MADE with what node INDEX of STEPS has as a step. The marks of a path do not tell what is in nested
 * regions. */
static void put_step(const struct perfmon_profile *profile,
		     const struct pm_snapshot_steps *steps, uint32_t index,
		     struct perfmon_profile_node_info *made)
{
	const struct pm_snapshot *s = profile->snapshot;
	uint64_t begin = s->header.begin_ticks;
	const struct pm_snapshot_step *step;

	if (!index)
		return;
	step = &steps->step[index - 1];
	made->kind = PERFMON_PROFILE_NODE_KIND_STEP;
	made->depth = steps->depth;
	made->exclusive_time_ns = made->exclusive_off_cpu_ns = 0;
	made->bias_ns = 0;
	made->first_visit = step->first;
	made->last_visit = step->last;
	if (step->begin_ticks > begin)
		made->begin_ns =
			whole(pm_snapshot_ns(s, (double)(step->begin_ticks - begin)));
	if (made->measured != 1) {
		made->min_time_ns = 0;
		made->max_time_ns = whole(pm_snapshot_ns(s, (double)step->longest));
	}
}

PM_EXPORT int perfmon_profile_get_node(const struct perfmon_profile *profile,
				       uint32_t thread, uint32_t index,
				       struct perfmon_profile_node_info *node)
{
	const struct pm_snapshot_thread *of = thread_at(profile, thread);
	const struct perfmon_profile_node *from = node_at(of, index);
	int err = CHECK(profile, node, perfmon_profile_node_info, 128,
			"there is no such thread or node");
	const struct perfmon_profile_stride *stride;
	struct perfmon_profile_node_info made;
	const struct pm_snapshot_steps *steps;
	uint32_t line[PERFMON_PROFILE_DEPTH_MAX];
	const struct pm_snapshot *s;

	if (!from || err)
		return err ?: -EINVAL;
	s = profile->snapshot;
	stride = pm_snapshot_stride(of, from);
	made = (struct perfmon_profile_node_info){
		.name = s->regions[from->region],
		.parent = from->parent ? from->parent - 1 : 0,
		.depth = ancestors(of, index, line),
		.threads = is_sum(of) ? from->threads : 1,
		.visits = pm_plus(pm_node_visits(from), stride ? stride->skipped : 0),
		.entered = from->entered,
		.measured = pm_node_visits(from),
		.weight =
			stride && stride->weight ? stride->weight : pm_node_visits(from),
		.kind = node_kind(from),
		.off_cpu_ns = from->off_cpu_ns,
	};
	if (made.kind == PERFMON_PROFILE_NODE_KIND_QUANTITY)
		put_quantity(&made, from);
	else
		put_values(profile, thread, index, &made, from);
	steps = pm_snapshot_steps_at(s, thread);
	if (steps)
		put_step(profile, steps, index, &made);
	return give(profile, node, &made, sizeof(made));
}

PM_EXPORT int perfmon_profile_get_path(const struct perfmon_profile *profile,
				       uint32_t thread, uint32_t index, char *buffer,
				       size_t size)
{
	const struct pm_snapshot_thread *of = thread_at(profile, thread);
	uint32_t line[PERFMON_PROFILE_DEPTH_MAX], depth;
	const struct pm_snapshot_steps *steps;
	size_t length = 0;

	if (!node_at(of, index) || (!buffer && size))
		return answer(profile, -EINVAL,
			      "there is no such thread or node, or no buffer");
#define PUT(c)                                                                           \
	do {                                                                             \
		if (length + 1 < size)                                                   \
			buffer[length] = (c);                                            \
		length++;                                                                \
	} while (0)
	steps = pm_snapshot_steps_at(profile->snapshot, thread);
	depth = regions_above(of, steps, index, line);
	while (depth-- > 0) {
		uint32_t region = line[depth];

		for (const char *c = profile->snapshot->regions[region]; *c; c++) {
			if (*c == ';' || *c == '\\')
				PUT('\\');
			PUT(*c);
		}
		if (depth)
			PUT(';');
	}
#undef PUT
	if (size)
		buffer[length < size ? length : size - 1] = '\0';
	return answer(profile, (int)length, NULL);
}

/* Returns how counter C of THREAD got its value in NODE. The node was on the CPU for
 * ENABLED ns, and the counter was on the hardware for RUNNING ns of them. */
static uint32_t status_of(const struct pm_snapshot_thread *thread,
			  const struct perfmon_profile_node *node, uint32_t c,
			  uint64_t enabled, uint64_t running)
{
	int32_t status = thread->record.status[c];
	uint32_t flags = 0;

	if (status <= 0)
		return PERFMON_VALUE_NEVER_OPENED;
	if (status == PERFMON_PROFILE_COUNTER_STATUS_SYSCALL || node->fallback_reads)
		flags = PERFMON_VALUE_SYSCALL;
	if (pm_node_visits(node) <= node->dropped_counts &&
	    node_kind(node) != PERFMON_PROFILE_NODE_KIND_ADOPTED)
		return flags;
	/* An event that happens only in the kernel may not be counted at all, which shows
	 * as 0. */
	if (!node->count[c].sum &&
	    (thread->plan->counters[c].flags & PERFMON_PROFILE_COUNTER_KERNEL_ONLY ||
	     (enabled && !running)))
		return flags | PERFMON_VALUE_NOT_COUNTED;
	if (node->dropped_counts || node->defects)
		flags |= PERFMON_VALUE_PARTIAL;
	return flags | (node->count[c].lost_ns ? PERFMON_VALUE_MULTIPLEXED
					       : PERFMON_VALUE_COUNTED);
}

/* Returns how long NODE was on the CPU in the visits that its counts belong to: those whose counts were
 * not dropped. */
static double counted_ns(const struct pm_snapshot *s,
			 const struct perfmon_profile_node *node)
{
	double ns =
		pm_snapshot_ns(s, (double)node->time_ticks) - (double)node->off_cpu_ns;
	double measured = (double)pm_node_visits(node);

	if (measured > node->dropped_counts)
		return ns * (measured - node->dropped_counts) / measured;
	return node_kind(node) == PERFMON_PROFILE_NODE_KIND_ADOPTED ? ns : 0;
}

PM_EXPORT int perfmon_profile_get_values(const struct perfmon_profile *profile,
					 uint32_t thread, uint32_t index,
					 struct perfmon_profile_value *values,
					 size_t count, size_t element_size)
{
	const struct pm_snapshot_thread *of = thread_at(profile, thread);
	const struct perfmon_profile_node *node = node_at(of, index);
	uint32_t events, first;
	double on_cpu_ns;
	bool adopted;

	if (!node || PM_VECTOR_CHECK(values, count, element_size, PM_VECTOR_OUT,
				     perfmon_profile_value, 48))
		return answer(
			profile, -EINVAL,
			"there is no such thread or node, or elements cannot have "
			"this size; pass sizeof(values[0]), or PERFMON_VECTOR(values) "
			"for all three arguments");
	events = of->plan ? of->plan->counter_count : 0;
	first = events ? first_event(profile->snapshot, of->plan) : 0;
	adopted = node_kind(node) == PERFMON_PROFILE_NODE_KIND_ADOPTED;
	on_cpu_ns = counted_ns(profile->snapshot, node);
	for (uint32_t c = 0; c < events && c < count; c++) {
		struct perfmon_profile_value made = {.event = first + c};
		bool package =
			of->plan->counters[c].flags & PERFMON_PROFILE_COUNTER_PACKAGE;
		/* An adopted path has no visit: its values are in the nodes that have. */
		bool open = of->record.status[c] > 0 && !(package && adopted);
		const struct pm_reader_sum *sum;

		if (package)
			made.enabled_ns = whole(node->count[c].squares);
		else if (open)
			made.enabled_ns = whole(on_cpu_ns);
		if (made.enabled_ns > node->count[c].lost_ns)
			made.running_ns = made.enabled_ns - node->count[c].lost_ns;
		made.value = open ? node->count[c].sum : 0;
		sum = pm_reader_sum(profile->sums, of, thread, index,
				    PM_READER_COUNTS + c);
		/* Steps do not say what nested regions have. */
		if (!pm_snapshot_steps_at(profile->snapshot, thread)) {
			made.exclusive = whole((double)made.value - sum->below);
			made.bias = whole(fmin(sum->bias, (double)made.value));
		}
		made.status = status_of(of, node, c, made.enabled_ns, made.running_ns);
		pm_vector_fill(values, c, element_size, &made, sizeof(made));
	}
	return answer(profile, (int)events, NULL);
}
