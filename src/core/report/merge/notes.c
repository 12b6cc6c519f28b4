/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentences of a merged report: the notes of its processes, each once, and what of
 * the processes themselves a reader has to know. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/text/grow.h"

/* So much of a list of processes is told in a sentence. */
#define LIST_MOST 200

/* Adds TEXT, a note of COUNT processes of which PROCESS is the first. */
static int note_add(struct pm_merge *merge, const char *text, uint32_t process,
		    uint32_t count)
{
	struct pm_merge_note *note;

	for (uint32_t i = 0; i < merge->note_count; i++) {
		if (strcmp(merge->notes[i].text, text) != 0)
			continue;
		merge->notes[i].count += count;
		return 0;
	}
	if (merge->note_count == PM_MERGE_NOTES) {
		merge->notes_left_out = true;
		return 0;
	}
	if (!PM_GROW(merge->notes, merge->note_count))
		return -ENOMEM;
	note = &merge->notes[merge->note_count];
	*note = (struct pm_merge_note){
		.text = strdup(text), .count = count, .first = process};
	if (!note->text)
		return -ENOMEM;
	merge->note_count++;
	return 0;
}

/* So many kinds of ENDs are told apart; the others are counted with their threads. */
#define UNMATCHED_MOST 64

static int unmatched_add(struct pm_snapshot *sum,
			 const struct pm_snapshot_unmatched *from)
{
	struct pm_snapshot_unmatched *to;

	for (uint32_t i = 0; i < sum->unmatched_count; i++) {
		to = &sum->unmatched[i];
		if (strcmp(to->name, from->name) != 0 ||
		    strcmp(to->place, from->place) != 0)
			continue;
		pm_add(&to->count, from->count);
		return 0;
	}
	if (sum->unmatched_count == UNMATCHED_MOST)
		return 0;
	if (!PM_GROW(sum->unmatched, sum->unmatched_count))
		return -ENOMEM;
	to = &sum->unmatched[sum->unmatched_count++];
	*to = (struct pm_snapshot_unmatched){.count = from->count,
					     .name = strdup(from->name),
					     .place = strdup(from->place)};
	return to->name && to->place ? 0 : -ENOMEM;
}

int pm_merge_notes(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		   uint32_t process)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < snapshot->note_count; i++)
		err = note_add(merge, snapshot->notes[i], process, 1);
	if (!err && snapshot->partial)
		err = note_add(merge, snapshot->problem, process, 1);
	if (!err && snapshot->steps_count)
		err = note_add(merge,
			       "steps are not in a report of several profiles: report "
			       "the profile of one process",
			       process, 1);
	for (uint32_t i = 0; !err && i < snapshot->unmatched_count; i++)
		err = unmatched_add(merge->sum, &snapshot->unmatched[i]);
	return err;
}

int pm_merge_notes_join(struct pm_merge *merge, const struct pm_merge *other)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < other->note_count; i++)
		err = note_add(merge, other->notes[i].text,
			       merge->process_count + other->notes[i].first,
			       other->notes[i].count);
	for (uint32_t i = 0; !err && i < other->sum->unmatched_count; i++)
		err = unmatched_add(merge->sum, &other->sum->unmatched[i]);
	merge->notes_left_out |= other->notes_left_out;
	return err;
}

/* A list of numbers as "3", "0-2, 7", cut off where it gets long. */
struct listing {
	char text[LIST_MOST + 64];
	size_t used;
	uint32_t count, left_out;
	int64_t first, last; /* of the stretch that is open */
};

static void listing_close(struct listing *l)
{
	char part[64];
	int n;

	if (!l->count)
		return;
	if (l->first == l->last)
		n = snprintf(part, sizeof(part), "%lld", (long long)l->first);
	else
		n = snprintf(part, sizeof(part), "%lld-%lld", (long long)l->first,
			     (long long)l->last);
	if (l->used + (size_t)n + 2 > LIST_MOST) {
		l->left_out += (uint32_t)(l->last - l->first + 1);
		return;
	}
	l->used += (size_t)snprintf(l->text + l->used, sizeof(l->text) - l->used, "%s%s",
				    l->used ? ", " : "", part);
}

static void listing_add(struct listing *l, int64_t number)
{
	if (l->count && number == l->last + 1) {
		l->last = number;
	} else {
		listing_close(l);
		l->first = l->last = number;
	}
	l->count++;
}

static const char *listing_end(struct listing *l)
{
	listing_close(l);
	if (l->left_out)
		snprintf(l->text + l->used, sizeof(l->text) - l->used, " and %u more",
			 l->left_out);
	return l->text;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Which processes WHICH says: their ranks, or pids if there are no ranks. How many. */
static int list(const struct pm_merge *merge,
		bool (*which)(const struct pm_merge *merge, uint32_t process,
			      const void *argument),
		const void *argument, struct listing *l)
{
	bool ranks = pm_merge_has_ranks(merge);
	int64_t *numbers = malloc((merge->process_count + 1) * sizeof(*numbers));
	uint32_t count = 0;

	memset(l, 0, sizeof(*l));
	if (!numbers)
		return -ENOMEM;
	for (uint32_t p = 0; p < merge->process_count; p++)
		if (which(merge, p, argument))
			numbers[count++] = ranks ? merge->processes[p].rank
						 : (int64_t)merge->processes[p].pid;
	qsort(numbers, count, sizeof(*numbers), by_number);
	for (uint32_t i = 0; i < count; i++)
		listing_add(l, numbers[i]);
	listing_end(l);
	free(numbers);
	return (int)count;
}

/* "rank ", "ranks ", "pid ", "pids ". */
static const char *noun(const struct pm_merge *merge, int count)
{
	if (pm_merge_has_ranks(merge))
		return count == 1 ? "rank " : "ranks ";
	return count == 1 ? "pid " : "pids ";
}

static bool stands(const struct pm_merge *merge, uint32_t process, const void *argument)
{
	const struct pm_merge_process *p = &merge->processes[process];

	/* A profile that was packed outside of visits is complete. */
	return p->writer == *(const enum pm_snapshot_writer *)argument &&
	       (p->writer != PM_WRITER_PACKED || p->open);
}

static bool is_partial(const struct pm_merge *merge, uint32_t process,
		       const void *argument)
{
	(void)argument;
	return merge->processes[process].partial;
}

static bool has_no_event(const struct pm_merge *merge, uint32_t process,
			 const void *argument)
{
	const struct pm_merge_event *event = argument;

	(void)merge;
	return !pm_merge_list_has(&event->open, process);
}

/* Names the processes that have not ended their profiles, and why. */
static int tell_writers(struct pm_merge *merge)
{
	static const struct {
		enum pm_snapshot_writer writer;
		const char *one, *many;
	} kinds[] = {
		{PM_WRITER_GONE,
		 "died before ending its profile: values exclude visits open at that "
		 "time",
		 "died before ending their profiles: values exclude visits open at that "
		 "time"},
		{PM_WRITER_UNKNOWN,
		 "has not ended its profile, and may still run: values exclude open "
		 "visits",
		 "have not ended their profiles, and may still run: values exclude open "
		 "visits"},
		{PM_WRITER_RUNS, "still runs: the values so far",
		 "still run: the values so far"},
		{PM_WRITER_PACKED,
		 "handed over its profile inside visits, which the values exclude: end "
		 "the visits first (with MPI, before MPI_Finalize())",
		 "handed over their profiles inside visits, which the values exclude: "
		 "end the visits first (with MPI, before MPI_Finalize())"},
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct listing l;
		int n = list(merge, stands, &kinds[i].writer, &l);

		err = n < 0   ? n
		      : n > 0 ? PM_NOTE(merge->sum, "%s%s %s", noun(merge, n), l.text,
					n == 1 ? kinds[i].one : kinds[i].many)
			      : 0;
	}
	return err;
}

static int tell_partial(struct pm_merge *merge)
{
	struct pm_snapshot *sum = merge->sum;
	struct listing l;
	int n = list(merge, is_partial, NULL, &l);

	if (n > 0) {
		sum->partial = true;
		snprintf(sum->problem, sizeof(sum->problem),
			 "the profile%s of %s%.100s could not be read in full",
			 n == 1 ? "" : "s", noun(merge, n), l.text);
	}
	return n < 0 ? n : 0;
}

/* Ranks that the launcher started and that are not there, or are there twice. */
static int tell_ranks(struct pm_merge *merge)
{
	int64_t ranks = merge->sum->header.ranks, next = 0;
	struct listing missing = {.used = 0}, twice = {.used = 0};
	int64_t *numbers;
	int err = 0;

	if (!pm_merge_has_ranks(merge))
		return 0;
	numbers = malloc(merge->process_count * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (uint32_t p = 0; p < merge->process_count; p++)
		numbers[p] = merge->processes[p].rank;
	qsort(numbers, merge->process_count, sizeof(*numbers), by_number);
	for (uint32_t i = 0; i < merge->process_count; i++) {
		if (i && numbers[i] == numbers[i - 1]) {
			if (!twice.count || twice.last != numbers[i])
				listing_add(&twice, numbers[i]);
			continue;
		}
		/* A profile may claim any rank: no more is listed than was started. */
		for (; next < numbers[i] && next < ranks && missing.count < 10000; next++)
			listing_add(&missing, next);
		next = numbers[i] + 1;
	}
	for (; next < ranks && missing.count < 10000; next++)
		listing_add(&missing, next);
	free(numbers);
	if (missing.count)
		err = PM_NOTE(merge->sum, "%s%s of %lld %s no profile here",
			      noun(merge, (int)missing.count), listing_end(&missing),
			      (long long)ranks, missing.count == 1 ? "has" : "have");
	if (!err && twice.count)
		err = PM_NOTE(merge->sum,
			      "%s%s %s here more than once: with profiles of several "
			      "runs, the sums include all runs",
			      noun(merge, (int)twice.count), listing_end(&twice),
			      twice.count == 1 ? "is" : "are");
	return err;
}

static int tell_events(struct pm_merge *merge)
{
	struct listing l;
	int err = 0;

	for (uint32_t e = 0; !err && e < merge->event_count; e++) {
		const struct pm_merge_event *event = &merge->events[e];
		int n;

		if (!event->open.count || event->open.count >= merge->process_count)
			continue;
		n = list(merge, has_no_event, event, &l);
		err = n < 0 ? n
			    : PM_NOTE(merge->sum,
				      "%s was not counted in %s%s: the sums cover the "
				      "others",
				      event->name, noun(merge, n), l.text);
	}
	return err;
}

static int tell_notes(struct pm_merge *merge)
{
	char label[PM_MERGE_LABEL];
	int err = 0;

	for (uint32_t i = 0; !err && i < merge->note_count; i++) {
		const struct pm_merge_note *note = &merge->notes[i];

		if (note->count >= merge->process_count)
			err = PM_NOTE(merge->sum, "%s", note->text);
		else if (note->count == 1)
			err = PM_NOTE(merge->sum, "%s%s: %s", noun(merge, 1),
				      pm_merge_label(merge, note->first, label),
				      note->text);
		else
			err = PM_NOTE(merge->sum, "%s%s and %u more: %s", noun(merge, 1),
				      pm_merge_label(merge, note->first, label),
				      note->count - 1, note->text);
	}
	if (!err && merge->notes_left_out)
		err = PM_NOTE(merge->sum,
			      "more than %d notes: see the profiles for the rest",
			      PM_MERGE_NOTES);
	return err;
}

/* Says that the sum has no counts of packages of some hosts, if that is so. */
static int tell_packages(struct pm_merge *merge)
{
	uint32_t hosts = 0;

	for (uint32_t b = 0; b < merge->boot_count; b++)
		hosts += merge->boots[b].left_out && !merge->boots[b].packages;
	if (!hosts)
		return 0;
	return PM_NOTE(merge->sum,
		       "counts of packages are too low: those of %u host%s came summed "
		       "with those of a host that had been counted, and are left out. "
		       "'perfmon report' has them if it gets the profile of each process",
		       hosts, hosts == 1 ? "" : "s");
}

int pm_merge_notes_end(struct pm_merge *merge)
{
	int err = tell_notes(merge) ?: tell_writers(merge) ?: tell_partial(merge)
		  ?: tell_ranks(merge) ?: tell_events(merge) ?: tell_packages(merge);

	if (!err && merge->programs_differ)
		err = PM_NOTE(merge->sum,
			      "these are profiles of different programs; %s is the first",
			      merge->sum->header.program);
	if (!err && merge->clocks_differ)
		err = PM_NOTE(merge->sum,
			      "the processes' clocks tick at different rates: time "
			      "histograms are merged to the nearest bin");
	return err;
}
