/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A merge as bytes: a head, tables, and the sum as a profile. Each part begins at a multiple of 8.
 * The bytes go between processes of one job and are not kept, so both sides have one version.
 */
#include "core/report/merge/merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/text/bytes.h"

#define MAGIC	0x4752454d4e4d4650 /* "PFMNMERG" */
#define VERSION 2

#define NOTES_LEFT_OUT	1u
#define CLOCKS_DIFFER	2u
#define PROGRAMS_DIFFER 4u

struct head {
	uint64_t magic;
	uint32_t version, cell_size;
	uint64_t size, profile_size; /* bytes */
	uint64_t end_realtime_ns;
	double tick_ns, tick_error;
	uint32_t writer, flags;
	/* The tables, in their order. */
	uint32_t hosts, processes, boots, notes, events, paths, regions;
	uint32_t run_notes_differ; /* a bit of each of the sum's */
};

/* So much of an event is packed as it is. */
#define EVENT_SIZE offsetof(struct pm_merge_event, open)

/* --- writing ------------------------------------------------------------------------ */

static void put_text(struct pm_bytes *bytes, const char *text)
{
	pm_bytes_add(bytes, text, strlen(text) + 1);
	pm_bytes_align(bytes);
}

static void put_list(struct pm_bytes *bytes, const struct pm_merge_list *list)
{
	pm_bytes_add_u64(bytes, list->stretches);
	pm_bytes_add(bytes, list->at, list->stretches * sizeof(list->at[0]));
	pm_bytes_align(bytes);
}

static void put_processes(struct pm_bytes *bytes, const struct pm_merge *merge)
{
	for (uint32_t i = 0; i < merge->host_count; i++)
		put_text(bytes, merge->hosts[i]);
	pm_bytes_add(bytes, merge->processes,
		     merge->process_count * sizeof(merge->processes[0]));
	pm_bytes_add(bytes, merge->boots, merge->boot_count * sizeof(merge->boots[0]));
}

static void put_notes(struct pm_bytes *bytes, const struct pm_merge *merge)
{
	for (uint32_t i = 0; i < merge->note_count; i++) {
		pm_bytes_add_u32(bytes, merge->notes[i].count);
		pm_bytes_add_u32(bytes, merge->notes[i].first);
		put_text(bytes, merge->notes[i].text);
	}
}

static void put_events(struct pm_bytes *bytes, const struct pm_merge *merge)
{
	put_list(bytes, &merge->everyone);
	for (uint32_t i = 0; i < merge->event_count; i++) {
		pm_bytes_add(bytes, &merge->events[i], EVENT_SIZE);
		put_list(bytes, &merge->events[i].open);
	}
}

/* Puts RANGES, with WIDTH quantities of each path. */
static void put_ranges(struct pm_bytes *bytes, const struct pm_merge_ranges *ranges,
		       uint32_t width)
{
	pm_bytes_add(bytes, ranges->path, ranges->count * sizeof(ranges->path[0]));
	for (uint32_t n = 0; n < ranges->count; n++)
		pm_bytes_add(bytes, &ranges->cells[(size_t)n * ranges->width],
			     width * sizeof(ranges->cells[0]));
}

_Static_assert(PM_RUN_NOTES <= 32, "a bit of each");

static uint32_t run_notes_differ(const struct pm_run_notes *notes)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; notes && i < notes->count; i++)
		bits |= (uint32_t)notes->at[i].differs << i;
	return bits;
}

int pm_merge_pack(struct pm_merge *merge, void **out, size_t *size)
{
	uint32_t width = PM_RANGE_EVENTS + merge->event_count;
	struct head head = {
		.magic = MAGIC,
		.version = VERSION,
		.cell_size = sizeof(struct pm_merge_cell),
		.end_realtime_ns = merge->end_realtime_ns,
		.tick_ns = merge->sum->tick_ns,
		.tick_error = merge->sum->tick_error,
		.writer = merge->sum->writer,
		.flags = (merge->notes_left_out ? NOTES_LEFT_OUT : 0) |
			 (merge->clocks_differ ? CLOCKS_DIFFER : 0) |
			 (merge->programs_differ ? PROGRAMS_DIFFER : 0),
		.hosts = merge->host_count,
		.processes = merge->process_count,
		.boots = merge->boot_count,
		.notes = merge->note_count,
		.events = merge->event_count,
		.paths = merge->paths.count,
		.regions = merge->regions.count,
		.run_notes_differ = run_notes_differ(merge->sum->run_notes),
	};
	struct pm_bytes bytes = {0};
	void *profile = NULL;
	size_t profile_size = 0;
	int err = pm_merge_nodes_fill(merge)
			  ?: pm_snapshot_pack(merge->sum, &profile, &profile_size);

	if (err)
		return err;
	pm_bytes_grow(&bytes, sizeof(head));
	put_processes(&bytes, merge);
	put_notes(&bytes, merge);
	put_events(&bytes, merge);
	put_ranges(&bytes, &merge->paths, width);
	put_ranges(&bytes, &merge->regions, width);
	pm_bytes_add(&bytes, profile, profile_size);
	free(profile);
	if (bytes.failed) {
		pm_bytes_free(&bytes);
		return -ENOMEM;
	}
	head.profile_size = profile_size;
	head.size = bytes.used;
	memcpy(bytes.data, &head, sizeof(head));
	/* It may wait for a while until it is sent. */
	*out = realloc(bytes.data, bytes.used) ?: bytes.data;
	*size = bytes.used;
	return 0;
}

/* --- reading: nothing is trusted ------------------------------------------------------ */

/* The bytes that are left. The first part that does not hold makes all others fail. */
struct rest {
	const unsigned char *at;
	size_t size;
	int err;
};

static void refuse(struct rest *rest, int err)
{
	if (!rest->err)
		rest->err = err;
}

/* Returns the next COUNT elements of SIZE bytes, or NULL. */
static const void *take(struct rest *rest, uint64_t count, size_t size)
{
	const void *at = rest->at;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > rest->size)
		refuse(rest, -EINVAL);
	if (rest->err)
		return NULL;
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > rest->size)
		bytes = rest->size;
	rest->at += bytes;
	rest->size -= bytes;
	return at;
}

/* Returns zeroed memory for COUNT elements, which the caller owns, or NULL. Each element has at
 * least LEAST bytes in the rest; 0: they have been taken. */
static void *room(struct rest *rest, uint64_t count, size_t size, size_t least)
{
	void *memory;

	if (!rest->err && least && count > rest->size / least)
		refuse(rest, -EINVAL);
	if (rest->err)
		return NULL;
	memory = calloc(count + 1, size);
	if (!memory)
		refuse(rest, -ENOMEM);
	return memory;
}

/* Returns the next COUNT elements in memory that the caller owns, or NULL. */
static void *take_copy(struct rest *rest, uint64_t count, size_t size)
{
	const void *from = take(rest, count, size);
	void *copy = room(rest, count, size, 0);

	if (from && copy)
		memcpy(copy, from, count * size);
	return copy;
}

static char *take_text(struct rest *rest)
{
	const unsigned char *end = rest->size ? memchr(rest->at, '\0', rest->size) : NULL;
	const char *text;
	char *copy;

	if (!end)
		refuse(rest, -EINVAL);
	text = rest->err ? NULL : take(rest, (uint64_t)(end - rest->at) + 1, 1);
	if (!text)
		return NULL;
	copy = strdup(text);
	if (!copy)
		refuse(rest, -ENOMEM);
	return copy;
}

/* Takes a list of processes, each of which is below PROCESSES. */
static void take_list(struct rest *rest, struct pm_merge_list *list, uint32_t processes)
{
	const uint64_t *count = take(rest, 1, sizeof(*count));
	const struct pm_merge_stretch *from =
		count ? take(rest, *count, sizeof(*from)) : NULL;
	uint32_t next = 0;

	for (uint64_t i = 0; from && !rest->err && i < *count; i++) {
		if (from[i].first < next || from[i].last < from[i].first ||
		    from[i].last >= processes)
			refuse(rest, -EINVAL);
		else if (pm_merge_list_add(list, from[i].first, from[i].last))
			refuse(rest, -ENOMEM);
		next = from[i].last + 1;
	}
}

static void take_hosts(struct rest *rest, struct pm_merge *merge, uint32_t count)
{
	merge->hosts = room(rest, count, sizeof(merge->hosts[0]), 8);
	for (uint32_t i = 0; merge->hosts && !rest->err && i < count; i++) {
		merge->hosts[i] = take_text(rest);
		merge->host_count += merge->hosts[i] != NULL;
	}
}

static void take_processes(struct rest *rest, struct pm_merge *merge, uint32_t count)
{
	merge->processes = take_copy(rest, count, sizeof(merge->processes[0]));
	merge->process_count = merge->processes ? count : 0;
	for (uint32_t i = 0; i < merge->process_count; i++) {
		const struct pm_merge_process *process = &merge->processes[i];

		if (process->host >= merge->host_count ||
		    process->writer > PM_WRITER_GONE || !isfinite(process->duration_ns))
			refuse(rest, -EINVAL);
	}
	if (!count)
		refuse(rest, -EINVAL);
}

static void take_boots(struct rest *rest, struct pm_merge *merge, uint32_t count)
{
	merge->boots = take_copy(rest, count, sizeof(merge->boots[0]));
	merge->boot_count = merge->boots ? count : 0;
	for (uint32_t i = 0; i < merge->boot_count; i++) {
		struct pm_merge_boot *boot = &merge->boots[i];

		boot->id[sizeof(boot->id) - 1] = '\0';
		if (!isfinite(boot->tick_ns) || !isfinite(boot->tick_error))
			refuse(rest, -EINVAL);
	}
}

static void take_notes(struct rest *rest, struct pm_merge *merge, uint32_t count)
{
	merge->notes = room(rest, count, sizeof(merge->notes[0]), 16);
	for (uint32_t i = 0; merge->notes && !rest->err && i < count; i++) {
		const uint32_t *numbers = take(rest, 2, sizeof(*numbers));
		struct pm_merge_note *note = &merge->notes[i];

		if (numbers && numbers[1] >= merge->process_count)
			refuse(rest, -EINVAL);
		note->text = numbers ? take_text(rest) : NULL;
		if (!note->text)
			return;
		note->count = numbers[0];
		note->first = numbers[1];
		merge->note_count++;
	}
}

static void take_events(struct rest *rest, struct pm_merge *merge, uint32_t count)
{
	take_list(rest, &merge->everyone, merge->process_count);
	merge->events = room(rest, count, sizeof(merge->events[0]), EVENT_SIZE + 8);
	for (uint32_t i = 0; merge->events && !rest->err && i < count; i++) {
		const void *from = take(rest, 1, EVENT_SIZE);
		struct pm_merge_event *to = &merge->events[merge->event_count++];

		if (!from)
			return;
		memcpy(to, from, EVENT_SIZE);
		to->name[sizeof(to->name) - 1] = to->unit[sizeof(to->unit) - 1] = '\0';
		if (!isfinite(to->scale))
			refuse(rest, -EINVAL);
		take_list(rest, &to->open, merge->process_count);
	}
}

static bool cell_is_good(const struct pm_merge *merge, const struct pm_merge_cell *cell,
			 const struct pm_merge_list *list)
{
	return (uint64_t)cell->counted + cell->unknown <= list->count &&
	       (cell->absent == PM_MERGE_NONE || cell->absent < merge->process_count) &&
	       cell->min_process < merge->process_count &&
	       cell->max_process < merge->process_count && isfinite(cell->sum) &&
	       isfinite(cell->min) && isfinite(cell->max) && isfinite(cell->coverage) &&
	       cell->error >= 0; /* INFINITY: it cannot be told */
}

static void take_ranges(struct rest *rest, const struct pm_merge *merge,
			struct pm_merge_ranges *ranges, uint32_t count)
{
	uint32_t width = PM_RANGE_EVENTS + merge->event_count;
	struct pm_merge_path *path = take_copy(rest, count, sizeof(*path));
	struct pm_merge_cell *cells =
		take_copy(rest, (uint64_t)count * width, sizeof(*cells));

	ranges->path = path;
	ranges->cells = cells;
	if (rest->err)
		return;
	ranges->count = ranges->room = count;
	ranges->width = width;
	for (uint32_t n = 1; n < count; n++) {
		uint32_t region = path[n].region & PM_NODE_REGION;

		if (path[n].parent >= n || !region || region > merge->sum->region_count)
			refuse(rest, -EINVAL);
	}
	for (uint64_t i = width; i < (uint64_t)count * width; i++)
		if (!cell_is_good(merge, &cells[i],
				  pm_merge_list_of(merge, (uint32_t)(i % width))))
			refuse(rest, -EINVAL);
}

/* Takes the sum, which is the last SIZE bytes. */
static void take_sum(struct rest *rest, struct pm_merge *merge, const struct head *head)
{
	struct pm_diag diag = {0};
	int err = -EINVAL;

	if (head->profile_size <= rest->size)
		err = pm_snapshot_take_as(
			rest->at + rest->size - head->profile_size, head->profile_size,
			PM_SNAPSHOT_STILL | PM_SNAPSHOT_FOREIGN, -1, &merge->sum, &diag);
	if (err) {
		refuse(rest, err == -ENOMEM ? err : -EINVAL);
		return;
	}
	rest->size -= head->profile_size;
	merge->sum->writer = (enum pm_snapshot_writer)head->writer;
	merge->sum->tick_ns = head->tick_ns;
	merge->sum->tick_error = head->tick_error;
	for (uint32_t i = 0; merge->sum->run_notes && i < merge->sum->run_notes->count;
	     i++)
		merge->sum->run_notes->at[i].differs = head->run_notes_differ >> i & 1;
}

/* A part that the sum lacks was missing of a process, or the bytes are damaged. */
static void check_sum(struct rest *rest, const struct pm_merge *merge)
{
	bool partial = false;

	for (uint32_t p = 0; !rest->err && p < merge->process_count; p++)
		partial |= merge->processes[p].partial;
	if (!rest->err && merge->sum->partial && !partial)
		refuse(rest, -EINVAL);
}

bool pm_merge_is_packed(const void *bytes, size_t size)
{
	uint64_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == MAGIC;
}

static int check_head(const void *bytes, size_t size, struct pm_diag *diag)
{
	const struct head *head = bytes;

	if ((uintptr_t)bytes % 8)
		return pm_diag_set(diag, -EINVAL,
				   "a packed sum must be aligned to 8 bytes");
	if (size < sizeof(*head))
		return pm_diag_set(diag, -EINVAL,
				   "not a packed sum: %zu bytes are less than its head",
				   size);
	if (head->version != VERSION || head->cell_size != sizeof(struct pm_merge_cell))
		return pm_diag_set(diag, -EINVAL,
				   "this sum was packed by another version of "
				   "libperfmon: use one version in all processes");
	if (head->size != size)
		return pm_diag_set(diag, -EINVAL,
				   "this packed sum has %llu bytes, and %zu are here",
				   (unsigned long long)head->size, size);
	return 0;
}

int pm_merge_add_packed(struct pm_merge *merge, const void *bytes, size_t size,
			struct pm_diag *diag)
{
	const struct head *head = bytes;
	struct rest rest = {(const unsigned char *)bytes + sizeof(*head),
			    size - sizeof(*head), 0};
	struct pm_merge *other;
	int err = check_head(bytes, size, diag);

	if (err)
		return err;
	other = calloc(1, sizeof(*other));
	if (!other)
		return pm_diag_set(diag, -ENOMEM, "no memory for a packed sum");
	if (head->writer > PM_WRITER_GONE || !isfinite(head->tick_ns) ||
	    !isfinite(head->tick_error))
		refuse(&rest, -EINVAL);
	take_sum(&rest, other, head);
	take_hosts(&rest, other, head->hosts);
	take_processes(&rest, other, head->processes);
	take_boots(&rest, other, head->boots);
	take_notes(&rest, other, head->notes);
	take_events(&rest, other, head->events);
	take_ranges(&rest, other, &other->paths, head->paths);
	take_ranges(&rest, other, &other->regions, head->regions);
	check_sum(&rest, other);
	other->end_realtime_ns = head->end_realtime_ns;
	other->notes_left_out = head->flags & NOTES_LEFT_OUT;
	other->clocks_differ = head->flags & CLOCKS_DIFFER;
	other->programs_differ = head->flags & PROGRAMS_DIFFER;
	if (rest.err)
		err = pm_diag_set(diag, rest.err,
				  rest.err == -ENOMEM ? "no memory for a packed sum"
						      : "this packed sum is damaged");
	else
		err = pm_merge_join(merge, other, diag);
	pm_merge_free(other);
	return err;
}
