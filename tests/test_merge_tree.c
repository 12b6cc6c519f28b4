/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merges of merges: whatever tree adds up the processes, the report is the same.
 * Row: HM-05 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "core/report/merge/merge.h"
#include "core/report/report.h"
#include "helpers.h"
#include "perfmon/merge.h"
#include "perfmon/region.h"
#include "profile_builder.h"
#include "report_text.h"

#define PROCESSES 13

static struct perfmon_profile_counter *counter_of(struct profile_builder *b)
{
	struct perfmon_profile_plan *plan =
		(void *)(b->base + sizeof(struct perfmon_profile_header));

	return plan->counter;
}

static struct perfmon_profile_node *visited(struct profile_builder *b,
					    struct perfmon_profile_thread *thread,
					    uint32_t parent, const char *region,
					    uint64_t ticks)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, region));

	node->count[0].sum = ticks / 3;
	if (ticks)
		builder_visit(node, ticks);
	else
		node->entered++;
	return node;
}

/* Makes the profile of process I: no two differ in the same way. */
static void make(struct profile_builder *b, uint32_t i)
{
	struct perfmon_profile_thread *thread;
	char name[32];

	builder_begin(b, 1 << 16);
	builder_header(b)->rank = (int)i;
	builder_header(b)->ranks = PROCESSES + 2;
	builder_header(b)->pid = 100 + i;
	builder_header(b)->begin_realtime_ns += 7000000 * (i * 5 % PROCESSES);
	snprintf(builder_header(b)->host, sizeof(builder_header(b)->host), "node%u",
		 i / 3);
	snprintf(builder_header(b)->boot_id, sizeof(builder_header(b)->boot_id), "b%u",
		 i / 3);
	builder_plan(b, 1, 2);
	thread = builder_tree(b, 100 + i, 1, 2, 16);
	/* Refused, another event, and no hardware for a while. */
	if (i == 4) {
		thread->status[0] = -ENOENT;
		counter_of(b)[0].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
	}
	if (i % 5 == 2)
		strcpy(counter_of(b)[1].name, "other");
	/* Another order of ids in each. */
	for (uint32_t r = 0; r < i % 3; r++)
		builder_region(b, r ? "unused" : "write");
	visited(b, thread, 1, "main", 1000000 + 1000 * (i * 7 % PROCESSES));
	if (i != 5)
		visited(b, thread, 2, "compute", 300000 - 2000 * (i * 3 % PROCESSES))
			->count[0]
			.lost_ns = i == 6 ? 5000 : 0;
	if (i > 8)
		visited(b, thread, 2, "late", 5000 + i);
	if (i == 3 || i == 9)
		visited(b, thread, 2, "open", 0);
	snprintf(name, sizeof(name), "of %u", i % 4);
	visited(b, thread, 1, name, 70000);
	visited(b, thread, 1, "equal", 4000)->mismatched_ends = i == 7;
	builder_note(b, "a note of all");
	builder_run_note(b, "compiler", "gcc 12");
	builder_run_note(b, "size", i == 5 ? "128" : "64");
	if (i > 3)
		builder_run_note(b, "late", "1");
	if (i % 6 == 1)
		builder_note(b, "a note of some");
	if (i == 10)
		builder_header(b)->state = PERFMON_PROFILE_STATE_RUNNING;
	if (i == 11)
		strcpy(builder_header(b)->program, "/opt/another");
}

static struct pm_snapshot *process(uint32_t i)
{
	struct profile_builder b;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};

	make(&b, i);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	pm_snapshot_set_writer(s, i == 10 ? PM_WRITER_GONE : PM_WRITER_ENDED);
	builder_end(&b);
	return s;
}

static struct pm_merge *create(void)
{
	struct pm_merge *merge;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	return merge;
}

static void add_packed(struct pm_merge *merge, struct pm_merge *part)
{
	struct pm_diag diag = {0};
	size_t size;
	void *bytes;

	cr_assert_eq(pm_merge_pack(part, &bytes, &size), 0);
	cr_assert(pm_merge_is_packed(bytes, size));
	cr_assert_eq(pm_merge_add_packed(merge, bytes, size, &diag), 0, "%s", diag.text);
	free(bytes);
}

/* Merges the processes from FIRST to before END: halves of halves, until ALONE are left, which one
 * process adds itself. */
static struct pm_merge *tree(uint32_t first, uint32_t end, uint32_t alone)
{
	struct pm_merge *merge = create(), *half;
	struct pm_diag diag = {0};

	if (end - first <= alone) {
		for (uint32_t i = first; i < end; i++) {
			struct pm_snapshot *s = process(i);

			cr_assert_eq(pm_merge_add(merge, s, &diag), 0, "%s", diag.text);
			pm_snapshot_free(s);
		}
		return merge;
	}
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t middle = first + (end - first) / 2;

		half = side ? tree(middle, end, alone) : tree(first, middle, alone);
		add_packed(merge, half);
		pm_merge_free(half);
	}
	return merge;
}

static char *report(struct pm_merge *merge, enum pm_format format)
{
	struct pm_report_options options = {.format = format, .merge = merge};

	return report_text(pm_merge_sum(merge), &options);
}

static void same_reports(struct pm_merge *merge, struct pm_merge *other)
{
	static const enum pm_format formats[] = {PM_FORMAT_TEXT, PM_FORMAT_FLAT,
						 PM_FORMAT_CSV, PM_FORMAT_JSON};

	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_merge_end(other), 0);
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		char *want = report(merge, formats[f]);
		char *got = report(other, formats[f]);

		cr_assert_str_eq(got, want);
		free(want);
		free(got);
	}
}

Test(merge_tree, any_tree_has_the_same_report)
{
	struct pm_merge *all, *trees;
	char *text;

	for (uint32_t alone = 1; alone < PROCESSES; alone++) {
		all = tree(0, PROCESSES, PROCESSES);
		trees = tree(0, PROCESSES, alone);
		same_reports(all, trees);
		pm_merge_free(all);
		pm_merge_free(trees);
	}
	all = tree(0, PROCESSES, 2);
	cr_assert_eq(pm_merge_end(all), 0);
	text = report(all, PM_FORMAT_TEXT);
	has(text, ", 13 ranks of 15 on 5 hosts\n");
	has(text, "note: ranks 13-14 of 15 have no profile here\n");
	has(text, "note: event0 was not counted in rank 4: the sums cover the others\n");
	has(text, "note: rank 1 and 1 more: a note of some\n");
	has(text, "note: rank 10 died before ending its profile");
	free(text);
	pm_merge_free(all);
}

/* One adds what others send one by one, in between and behind its own. */
Test(merge_tree, profiles_and_sums_mix)
{
	struct pm_merge *all = tree(0, PROCESSES, PROCESSES), *mixed = create(), *part;
	struct pm_diag diag = {0};

	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct pm_snapshot *s = process(i);

		part = tree(i, i + 1, 1);
		if (i % 3 == 1)
			add_packed(mixed, part);
		else
			cr_assert_eq(pm_merge_add(mixed, s, &diag), 0);
		pm_snapshot_free(s);
		pm_merge_free(part);
	}
	same_reports(all, mixed);
	pm_merge_free(all);
	pm_merge_free(mixed);
}

/* What was cut off in one process is told of that process, and nothing is told of the bytes. */
Test(merge_tree, a_part_that_could_not_be_read)
{
	struct pm_merge *part = create(), *merge = create();
	struct profile_builder b;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char *text;

	make(&b, 0);
	builder_region(&b, "never seen");
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b) - 8, &s, &diag), 0);
	cr_assert_eq(pm_merge_add(part, s, &diag), 0);
	pm_snapshot_free(s);
	builder_end(&b);
	add_packed(merge, part);
	cr_assert_eq(pm_merge_end(merge), 0);
	text = report(merge, PM_FORMAT_TEXT);
	has(text, "note: the profile is cut off");
	has(text, "  partial: the profile of rank 0 could not be read in full\n");
	free(text);
	pm_merge_free(part);
	pm_merge_free(merge);
}

/* Totals of a whole process are those of all, whatever plans there are beside. */
Test(merge_tree, totals_are_summed)
{
	struct pm_merge *all = create(), *merge = create();

	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t totals[] = {5000 + i, 70};
		struct pm_merge *part = create();
		struct profile_builder b;
		struct pm_snapshot *s;
		struct pm_diag diag = {0};

		builder_begin(&b, 1 << 16);
		builder_exact_plan(&b, 1, 2);
		builder_totals(&b, 1, totals, 2);
		visited(&b, builder_tree(&b, 1, 1, 2, 8), 1, "main", 1000);
		/* One whose events did not open. */
		if (i == 1)
			builder_thread(&b, 2, 1, 2)->status[0] = -EMFILE;
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
		cr_assert_eq(pm_merge_add(all, s, &diag), 0);
		cr_assert_eq(pm_merge_add(part, s, &diag), 0);
		add_packed(merge, part);
		pm_merge_free(part);
		pm_snapshot_free(s);
		builder_end(&b);
	}
	cr_assert(pm_merge_sum(merge)->has_totals);
	cr_assert_eq(pm_merge_sum(merge)->totals[0], 20006);
	same_reports(all, merge);
	pm_merge_free(all);
	pm_merge_free(merge);
}

/* Nothing tells how far a value is off if some thread measured none of its visits. */
Test(merge_tree, an_error_that_is_not_known)
{
	struct pm_merge *all = create(), *merge = create(), *part = create();
	struct perfmon_profile_node *node;
	struct profile_builder b;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char *text;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 2);
	node = visited(&b, builder_tree(&b, 1, 1, 2, 8), 1, "main", 9000);
	node->flags |= PERFMON_PROFILE_NODE_UNMEASURED;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	cr_assert_eq(pm_merge_add(all, s, &diag), 0);
	cr_assert_eq(pm_merge_add(part, s, &diag), 0);
	add_packed(merge, part);
	same_reports(all, merge);
	text = report(merge, PM_FORMAT_TEXT);
	has(text, "+-?");
	free(text);
	pm_snapshot_free(s);
	builder_end(&b);
	pm_merge_free(part);
	pm_merge_free(all);
	pm_merge_free(merge);
}

/* Each word of the bytes is one that they may not have: the sum is refused with a reason and nothing
 * is added, or it has another value. No access is outside of the bytes. */
Test(merge_tree, damaged_bytes)
{
	static const uint64_t words[] = {UINT64_MAX, 0x7fffffff7fffffff, 0, 1,
					 0x0000000100000000};
	struct pm_merge *part = tree(0, 5, 5);
	uint32_t refused = 0, added = 0;
	size_t size;
	void *bytes;

	cr_assert_eq(pm_merge_pack(part, &bytes, &size), 0);
	for (size_t at = 8; at < size; at += 8) {
		struct pm_merge *merge = create();
		struct pm_diag diag = {0};
		uint64_t *word = (void *)((unsigned char *)bytes + at), kept = *word;
		int err;

		*word = words[at / 8 % (sizeof(words) / sizeof(words[0]))];
		err = pm_merge_add_packed(merge, bytes, size, &diag);
		refused += err != 0;
		added += !err;
		cr_assert(!err || (diag.text[0] && !pm_merge_process_count(merge)));
		*word = kept;
		if (!err && !pm_merge_end(merge))
			free(report(merge, PM_FORMAT_JSON));
		pm_merge_free(merge);
	}
	cr_assert_gt(refused, 50);
	cr_assert_gt(added, 50);
	free(bytes);
	pm_merge_free(part);
}

Test(merge_tree, bytes_that_are_cut_off)
{
	struct pm_merge *part = tree(0, 2, 2), *merge = create();
	struct pm_diag diag = {0};
	size_t size;
	void *bytes;

	cr_assert_eq(pm_merge_pack(part, &bytes, &size), 0);
	for (size_t cut = 8; cut < size; cut += 8) {
		void *copy = malloc(cut);

		memcpy(copy, bytes, cut);
		cr_assert(pm_merge_is_packed(copy, cut));
		cr_assert_eq(pm_merge_add_packed(merge, copy, cut, &diag), -EINVAL);
		free(copy);
	}
	has(diag.text, "this packed sum has ");
	cr_assert(!pm_merge_is_packed(bytes, 7));
	cr_assert_eq(pm_merge_process_count(merge), 0);
	free(bytes);
	pm_merge_free(part);
	pm_merge_free(merge);
}

/* --- the public calls ----------------------------------------------------------------- */

static struct perfmon_merge *begin(void)
{
	struct perfmon_merge *merge;
	char why[128];

	cr_assert_eq(perfmon_merge_create(&merge, why, sizeof(why)), 0, "%s", why);
	return merge;
}

static void refuses(struct perfmon_merge *merge, int err, int want, const char *says)
{
	char why[256];

	cr_assert_eq(err, want);
	perfmon_merge_message(merge, why, sizeof(why));
	has(why, says);
}

/* 1024 processes: each level has two sums of the level below. The bytes do not grow with
 * processes but for what is told of each. */
Test(merge_tree, sums_of_sums)
{
	char path[] = "/tmp/perfmon-test.XXXXXX", text[8192] = "";
	size_t size, first = 0;
	struct profile_builder b;
	void *bytes = NULL;
	FILE *file;

	close(mkstemp(path));
	setenv("PERFMON_OUTPUT", path, 1);
	make(&b, 0);
	size = builder_used(&b);
	for (uint32_t level = 0; level < 10; level++) {
		struct perfmon_merge *merge = begin();
		const void *from = bytes ? bytes : b.base;
		void *sum;

		for (int i = 0; i < 2; i++)
			cr_assert_eq(perfmon_merge_add(merge, from, size), 0);
		cr_assert_eq(perfmon_merge_pack_sum(merge, &sum, &size, 0), 0);
		free(bytes);
		bytes = sum;
		if (!level)
			first = size;
		cr_assert_leq(size, first + (40u << (level + 1)));
		if (level == 9)
			cr_assert_eq(perfmon_merge_print(merge), 0);
		perfmon_merge_free(merge);
	}
	file = fopen(path, "re");
	cr_assert(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	unlink(path);
	has(text, "1024 ranks of 15 on ");
	has(text, "\nmain         1024  1.024   93.1  ");
	free(bytes);
	builder_end(&b);
}

Test(merge_tree, wrong_calls)
{
	struct perfmon_merge *merge = begin();
	struct profile_builder b;
	void *sum, *copy;
	size_t size;

	setenv("PERFMON_OUTPUT", "none", 1);
	make(&b, 0);
	cr_assert_eq(perfmon_merge_pack_sum(NULL, &sum, &size, 0), -EINVAL);
	refuses(merge, perfmon_merge_pack_sum(merge, NULL, &size, 0), -EINVAL,
		"the pointer to the sum is NULL");
	refuses(merge, perfmon_merge_pack_sum(merge, &sum, NULL, 0), -EINVAL,
		"the pointer to the size is NULL");
	refuses(merge, perfmon_merge_pack_sum(merge, &sum, &size, 1), -EINVAL,
		"flags is not 0");
	refuses(merge, perfmon_merge_pack_sum(merge, &sum, &size, 0), -ENOENT,
		"no profile has been added");
	cr_assert_eq(perfmon_merge_add(merge, b.base, builder_used(&b)), 0);
	cr_assert_eq(perfmon_merge_pack_sum(merge, &sum, &size, 0), 0);
	copy = malloc(size);
	memcpy(copy, sum, size);
	((uint32_t *)copy)[2]++;
	refuses(merge, perfmon_merge_add(merge, copy, size), -EINVAL,
		"packed by another version of libperfmon");
	cr_assert_eq(perfmon_merge_print(merge), 0);
	refuses(merge, perfmon_merge_pack_sum(merge, &sum, &size, 0), -EBUSY,
		"the report has been printed");
	free(copy);
	free(sum);
	builder_end(&b);
	perfmon_merge_free(merge);
}
