/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many profiles as one: sums, and how they are spread over processes.
 * Row: DC-02 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "core/regions/slow/setup.h"
#include "core/report/merge/merge.h"
#include "core/report/report.h"
#include "helpers.h"
#include "perfmon/merge.h"
#include "perfmon/region.h"
#include "profile_builder.h"
#include "report_text.h"

static char *merged(struct pm_merge *merge, enum pm_format format)
{
	struct pm_report_options options = {.format = format, .merge = merge};

	return report_text(pm_merge_sum(merge), &options);
}

static void expect(const char *got, const char *want)
{
	size_t i = 0;

	while (got[i] && got[i] == want[i])
		i++;
	cr_assert(!got[i] && !want[i], "from byte %zu:\n%s\n--- expected:\n%s\n", i, got,
		  want);
}

static struct pm_merge *create(void)
{
	struct pm_merge *merge;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	return merge;
}

/* Adds B and frees it. */
static int try_add(struct pm_merge *merge, struct profile_builder *b,
		   enum pm_snapshot_writer writer, struct pm_diag *diag)
{
	struct pm_snapshot *s;
	int err;

	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &s, diag), 0, "%s",
		     diag->text);
	pm_snapshot_set_writer(s, writer);
	err = pm_merge_add(merge, s, diag);
	pm_snapshot_free(s);
	builder_end(b);
	return err;
}

static void add(struct pm_merge *merge, struct profile_builder *b)
{
	struct pm_diag diag = {0};

	cr_assert_eq(try_add(merge, b, PM_WRITER_ENDED, &diag), 0, "%s", diag.text);
}

/* A profile of RANK of RANKS, whose one thread has COUNTERS counters and its root. */
static struct perfmon_profile_thread *begin(struct profile_builder *b, int rank,
					    int ranks, uint32_t counters)
{
	struct perfmon_profile_thread *thread;

	builder_begin(b, 1 << 16);
	builder_header(b)->pid = 100 + (uint32_t)rank;
	builder_header(b)->rank = rank;
	builder_header(b)->ranks = ranks;
	builder_plan(b, 1, counters);
	thread = builder_tree(b, 100 + (uint32_t)rank, 1, counters, 16);
	return thread;
}

/* A path with one visit of TICKS, in which the first counter has counted SUM. */
static struct perfmon_profile_node *visited(struct profile_builder *b,
					    struct perfmon_profile_thread *thread,
					    uint32_t parent, const char *region,
					    uint64_t ticks, uint64_t sum)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, region));

	if (ticks)
		builder_visit(node, ticks);
	else
		node->entered++;
	if (thread->counters)
		node->count[0].sum = sum;
	return node;
}

/* Ranks 0 to 2 of 3: each has main and compute below it, in ids of different orders; rank
 * 0 alone writes. */
static struct pm_merge *three_ranks(void)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder b;

	for (int rank = 0; rank < 3; rank++) {
		uint64_t part = 100000u * ((unsigned int)rank + 1);

		thread = begin(&b, rank, 3, 1);
		if (rank == 1)
			builder_region(&b, "of no visit");
		visited(&b, thread, 1, "main", 1000000, 5000);
		visited(&b, thread, 2, "compute", part, part / 100);
		if (!rank)
			visited(&b, thread, 2, "write", 60000, 7);
		builder_note(&b, "a note of all");
		if (rank == 2)
			builder_note(&b, "a note of one");
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	return merge;
}

Test(merge, ranks_in_text)
{
	struct pm_merge *merge = three_ranks();
	char *got = merged(merge, PM_FORMAT_TEXT);

	/* clang-format off */
	expect(got, "perfmon " PACKAGE_VERSION ": /opt/solver, 3 ranks of 3 on node7\n"
"  began    2023-11-14 22:13:20 UTC, 2.000 s\n"
"  clock    CLOCK_MONOTONIC\n"
"  threads  3, times and counts are summed over them\n"
"  events   inclusive, with nested regions\n"
"           event0: read in user space\n"
"\n"
"region     visits     inclusive     exclusive     mean  stddev  event0\n"
"                      ms      %     ms      %       us       %\n"
"main            3  3.000  100.0  2.340   78.0  1000.00     0.0   15000\n"
"  compute       3  0.600   20.0  0.600   20.0   200.00    50.0    6000\n"
"  write         1  0.060    2.0  0.060    2.0    60.00               7\n"
"total              3.000  100.0  3.000  100.0                    15000\n"
"\n"
"  hottest  main, with 78.0 % of the time in itself\n"
"\n"
"time over 3 ranks, inclusive:\n"
"region     ranks    sum   mean  least  rank   most  rank  imbalance\n"
"                     ms     ms     ms           ms                %\n"
"main           3  3.000  1.000  1.000     0  1.000     0        0.0\n"
"  compute      3  0.600  0.200  0.100     0  0.300     2       50.0\n"
"  write        1  0.060  0.020  0.000     1  0.060     0      200.0\n"
"\n"
"event0 over 3 ranks, inclusive:\n"
"region     ranks    sum  mean  least  rank  most  rank  imbalance\n"
"                                                                %\n"
"main           3  15000  5000   5000     0  5000     0        0.0\n"
"  compute      3   6000  2000   1000     0  3000     2       50.0\n"
"  write        1      7     2      0     1     7     0      200.0\n"
"\n"
"  lost to imbalance (the most less the mean):\n"
"    100.0 us   main > compute: the most in rank 2, the least in rank 0\n"
"    40.00 us   main > write: the most in rank 0, the least in rank 1\n"
"\n"
"  note: a note of all\n"
"  note: rank 2: a note of one\n");
	/* clang-format on */
	free(got);
	pm_merge_free(merge);
}

Test(merge, ranks_by_region)
{
	struct pm_merge *merge = three_ranks();
	char *got = merged(merge, PM_FORMAT_FLAT);

	/* What is exclusive: main without what is below it. */
	has(got, "time over 3 ranks, exclusive:\n");
	has(got, "\nmain         3  2.340  780.000  700.000     2  840.000     0        "
		 "7.7\n");
	free(got);
	pm_merge_free(merge);
}

Test(merge, one_process_is_no_plural)
{
	static const char *const lines[] = {"time over 1 process, inclusive:\n",
					    "time over 1 rank, inclusive:\n"};

	for (int ranks = 0; ranks < 2; ranks++) {
		struct pm_merge *merge = create();
		struct perfmon_profile_thread *thread;
		struct profile_builder b;
		char *got;

		thread = begin(&b, ranks - 1, ranks, 1);
		visited(&b, thread, 1, "main", 1000000, 5000);
		add(merge, &b);
		cr_assert_eq(pm_merge_end(merge), 0);
		got = merged(merge, PM_FORMAT_TEXT);
		has(got, lines[ranks]);
		free(got);
		pm_merge_free(merge);
	}
}

Test(merge, ranks_in_csv_and_json)
{
	struct pm_merge *merge = three_ranks();
	char *got = merged(merge, PM_FORMAT_CSV);

	has(got, ",processes,time_ns.mean,time_ns.min,time_ns.min_process,time_ns.max,"
		 "time_ns.max_process,time_ns.imbalance_percent,exclusive_ns.mean,");
	has(got, ",main;compute,compute,3,3,600000,600000,");
	has(got, ",3,200000,100000,0,300000,2,50,200000,100000,0,300000,2,50,2000,1000,0,"
		 "3000,2,50,,,,,,,,185363.");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got,
	    "\"pid\":null,\"start_time\":null,\"parent_pid\":null,\"host\":\"node7\"");
	has(got, "\"processes\":[\n{\"rank\":0,\"pid\":100,\"host\":\"node7\",\"state\":"
		 "\"ended\",\"partial\":false,\"threads\":1,\"duration_ns\":2000000000}");
	has(got,
	    "\"time_ns\":{\"of\":3,\"present\":1,\"counted\":1,\"sum\":60000,\"mean\":"
	    "20000,\"min\":0,\"min_process\":1,\"max\":60000,\"max_process\":0,"
	    "\"imbalance_percent\":200,\"marks\":[]}");
	free(got);
	pm_merge_free(merge);
}

/* What threads of one process do is what as many processes do, to the last digit. */
/* Takes the last two columns out of TEXT: the threads of a sum of processes have no tid. */
static void without_tids(char *text)
{
	char *to = text;

	for (char *line = text, *end; *line; line = end) {
		int commas = 0;
		char *last = end = strchr(line, '\n') + 1;

		while (commas < 2)
			commas += *--last == ',';
		memmove(to, line, (size_t)(last - line));
		to += last - line;
		*to++ = '\n';
	}
	*to = '\0';
}

Test(merge, a_sum_over_processes_is_that_over_threads)
{
	struct pm_report_options options = {.format = PM_FORMAT_CSV};
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder one, each;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char *threads, *processes, *end;

	for (uint32_t t = 0; t < 5; t++) {
		struct profile_builder *const both[] = {&one, &each};

		if (!t) {
			builder_begin(&one, 1 << 16);
			builder_plan(&one, 1, 2);
			for (uint32_t r = 0; r < 5; r++)
				builder_region(&one, (char[]){(char)('a' + r), '\0'});
		}
		builder_begin(&each, 1 << 16);
		builder_plan(&each, 1, 2);
		for (uint32_t r = 0; r < 5; r++)
			builder_region(&each, (char[]){(char)('a' + r), '\0'});
		for (int i = 0; i < 2; i++) {
			thread = builder_thread(both[i], 10 + t, 1, 2);
			builder_nodes(both[i], thread, 8);
			builder_node(both[i], thread, 0, 0);
			/* Not each thread has each path. */
			for (uint32_t p = 1; p < 6 - t / 2; p++) {
				struct perfmon_profile_node *node =
					builder_node(both[i], thread, (p + 1) / 2, p);

				builder_visit(node, 300000 + 7000 * t + p);
				builder_visit(node, 200000 - 9000 * t + p);
				node->off_cpu_ns = 1000 * t;
				node->migrations = t;
				node->dropped_counts = p == 3;
				node->count[0].sum = 1000 + 10 * p + t;
				node->count[1].sum = 500 + t;
				node->count[1].lost_ns = 20000 * t;
				if (p == 5 && t == 1)
					node->entered++;
			}
		}
		add(merge, &each);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_snapshot_take(one.base, builder_used(&one), &s, &diag), 0);
	threads = report_text(s, &options);
	processes = report_text(pm_merge_sum(merge), &options);
	end = strrchr(threads, '\n');
	cr_assert(end && end - threads > 1000);
	without_tids(threads);
	without_tids(processes);
	expect(processes, threads);
	free(threads);
	free(processes);
	pm_snapshot_free(s);
	builder_end(&one);
	pm_merge_free(merge);
}

/* An event that is not open somewhere is not 0 there: it has no part in sums and
 * means. */
Test(merge, hosts_with_different_events)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	for (int rank = 0; rank < 5; rank++) {
		thread = begin(&b, rank, 5, 1);
		visited(&b, thread, 1, "main", 1000, 400 + (unsigned int)rank);
		if (rank == 1) {
			/* Refused. */
			thread->status[0] = -ENOENT;
			((struct perfmon_profile_plan
				  *)(void *)(b.base +
					     sizeof(struct perfmon_profile_header)))
				->counter[0]
				.flags |= PERFMON_PROFILE_COUNTER_REFUSED;
		}
		/* Refused to this thread alone, for want of descriptors. */
		if (rank == 4)
			thread->status[0] = -EMFILE;
		if (rank == 3) {
			/* Another one. */
			snprintf(((struct perfmon_profile_plan
					   *)(void *)(b.base +
						      sizeof(struct
							     perfmon_profile_header)))
					 ->counter[0]
					 .name,
				 32, "other");
			strcpy(builder_header(&b)->host, "node8");
			strcpy(builder_header(&b)->boot_id, "8");
		}
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, ", 5 ranks of 5 on 2 hosts\n");
	has(got, "           event0: read in user space\n           other: read in user "
		 "space\n");
	has(got, "\nmain         5  5.000  100.0  5.000  100.0  1.000     0.0     802 &  "
		 "  403 &\n");
	has(got, "event0 over 2 of 5 ranks, inclusive:\n"
		 "region  ranks  sum  mean  least  rank  most  rank  imbalance\n"
		 "                                                           %\n"
		 "main        2  802   401    400     0   402     2        0.2\n");
	has(got, "other over 1 of 5 ranks, inclusive:\n");
	has(got,
	    "note: event0 was not counted in ranks 1, 3-4: the sums cover the others\n");
	has(got,
	    "note: other was not counted in ranks 0-2, 4: the sums cover the others\n");
	free(got);
	pm_merge_free(merge);
}

/* What speaks against any of the numbers stands behind the row. */
Test(merge, ranges_have_the_marks_of_their_values)
{
	struct pm_machine machine = {.cpus = 1};
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	for (int rank = 0; rank < 3; rank++) {
		thread = begin(&b, rank, 3, 1);
		strcpy(((struct perfmon_profile_plan
				 *)(void *)(b.base +
					    sizeof(struct perfmon_profile_header)))
			       ->counter[0]
			       .name,
		       "instructions");
		node = visited(&b, thread, 1, "main", 1000, 400);
		if (rank == 1)
			node->count[0].lost_ns = 400;
		if (rank == 2)
			node->mismatched_ends = 1;
		/* Not known in rank 2: it has no part in what the others' values say. */
		node = visited(&b, thread, 1, "plain", rank == 2 ? 0 : 100, 50);
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "time over 3 ranks, inclusive:\n"
		 "region  ranks    sum   mean  least  rank   most  rank  imbalance\n"
		 "                  us     us     us           us                %\n"
		 "main        3  3.000  1.000  1.000     0  1.000     0        0.0 !\n"
		 "plain      2?  0.200  0.100  0.100     0  0.100     0        0.0\n");
	has(got, "main        3  1467   489    400     0   667     1       36.4 ~60%!\n"
		 "plain      2?   100    50     50     0    50     0        0.0\n");
	has(got, "  ~N%   estimated");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got, "\"marks\":[\"estimated\",\"mismatched\"]}");
	free(got);
	got = merged(merge, PM_FORMAT_CSV);
	has(got, ",time_ns.process_marks,exclusive_ns.process_marks,"
		 "instructions.process_marks,median_ns,p95_ns,");
	has(got, ",mismatched,mismatched,estimated mismatched,1000,1000,"
		 "1000,1000,,\r\n");
	has(got, ",,,,100,100,0,100,,\r\n");
	free(got);
	/* What is known of the machine concerns all of them. */
	pm_cpu_kinds_read(&machine.kinds,
			  "processor: 0\nCPU implementer: 0x41\nCPU part: 0xd03\n");
	{
		struct pm_report_options options = {.merge = merge, .machine = &machine};

		got = report_text(pm_merge_sum(merge), &options);
		has(got, "       36.4 ~60%!#\n");
		has(got, "    50     0        0.0 #\n");
		free(got);
	}
	pm_merge_free(merge);
}

/* A path whose visits have not ended has a value that is not known, which is not 0. */
Test(merge, what_is_not_known_is_in_no_mean)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	struct pm_diag diag = {0};
	struct pm_range range;
	char *got;

	for (int rank = 0; rank < 3; rank++) {
		thread = begin(&b, rank, 5, 0);
		visited(&b, thread, 1, "main", rank == 1 ? 0 : 3000 + (unsigned int)rank,
			0);
		if (rank == 1)
			visited(&b, thread, 1, "alone", 0, 0);
		if (rank == 1)
			builder_header(&b)->state = PERFMON_PROFILE_STATE_RUNNING;
		cr_assert_eq(try_add(merge, &b,
				     rank == 1 ? PM_WRITER_GONE : PM_WRITER_ENDED, &diag),
			     0);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	range = pm_merge_range(merge, false, 1, PM_RANGE_TIME);
	cr_assert(range.of == 3 && range.present == 3 && range.counted == 2);
	cr_assert(range.sum == 6002 && range.mean == 3001 && range.min == 3000);
	cr_assert(range.min_process == 0 && range.max_process == 2);
	range = pm_merge_range(merge, false, 2, PM_RANGE_TIME);
	cr_assert(range.of == 3 && range.present == 1 && range.counted == 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "\nmain       2?  6.002  3.001  3.000     0  3.002     2");
	has(got, "\nalone      0?      -      -      -            -                -\n");
	has(got, "  N?    others entered the region, too: their values are unknown, and "
		 "are in no sum\n");
	has(got, "note: rank 1 died before ending its profile: values exclude visits "
		 "open at that time\n");
	has(got, "note: ranks 3-4 of 5 have no profile here\n");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got, "\"state\":\"died\",\"partial\":false,\"threads\":1,\"duration_ns\":"
		 "2000000000}");
	free(got);
	pm_merge_free(merge);
}

/* Ticks of 1 ns and of 4 ns: sums are in the first's, and a visit of 2^i of the second's
 * ticks is in the bin of 2^(i + 2). */
Test(merge, hosts_with_different_clocks)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	const struct perfmon_profile_node *node;
	const struct pm_snapshot *sum;
	struct profile_builder b;
	struct pm_range range;
	char *got;

	thread = begin(&b, 0, 2, 0);
	visited(&b, thread, 1, "main", 1024, 0);
	add(merge, &b);
	thread = begin(&b, 1, 2, 0);
	visited(&b, thread, 1, "main", 512, 0);
	builder_header(&b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
	builder_header(&b)->ticks_hz = 250000000;
	strcpy(builder_header(&b)->boot_id, "of another host");
	add(merge, &b);
	cr_assert_eq(pm_merge_end(merge), 0);
	sum = pm_merge_sum(merge);
	cr_assert_eq(sum->thread_count, 1);
	node = pm_snapshot_node(&sum->threads[0], 2);
	cr_assert_eq(node->time_ticks, 1024 + 4 * 512);
	cr_assert_eq(node->time_min, 1024);
	cr_assert_eq(node->time_max, 2048);
	cr_assert_eq(node->time_squares, 1024 * 1024 + 2048 * 2048);
	cr_assert(node->histogram[10] == 1 && node->histogram[11] == 1);
	range = pm_merge_range(merge, false, 1, PM_RANGE_TIME);
	cr_assert(range.min == 1024 && range.max == 2048 && range.max_process == 1);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "note: the processes' clocks tick at different rates");
	free(got);
	pm_merge_free(merge);
}

/* A profile that was cut short may not tell its clock; one of the same boot does. */
Test(merge, a_clock_that_another_profile_tells)
{
	struct pm_merge *merge = create();
	struct profile_builder b;
	struct pm_diag diag = {0};

	for (int i = 0; i < 3; i++) {
		struct perfmon_profile_header *header;

		visited(&b, begin(&b, i, 3, 0), 1, "main", 100, 0);
		header = builder_header(&b);
		header->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
		header->ticks_hz = i == 1 ? 500000000 : 0;
		header->end_ticks = header->begin_ticks;
		cr_assert_eq(try_add(merge, &b, PM_WRITER_ENDED, &diag), i ? 0 : -EINVAL);
		if (!i)
			has(diag.text, "no tick rate");
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_merge_process_count(merge), 2);
	cr_assert_eq(pm_merge_range(merge, false, 1, PM_RANGE_TIME).sum, 2 * 200.0);
	pm_merge_free(merge);
}

Test(merge, processes_without_ranks)
{
	struct pm_merge *merge = create();
	struct profile_builder b;
	struct pm_diag diag = {0};
	char *got;

	for (uint32_t i = 0; i < 3; i++) {
		visited(&b, begin(&b, -1, 0, 0), 1, "main", 1000 * (i + 1), 0);
		builder_header(&b)->pid = 20 + 2 * i;
		snprintf(builder_header(&b)->host, 8, "h%u", i / 2);
		if (i == 1)
			strcpy(builder_header(&b)->program, "/opt/other");
		if (i)
			builder_header(&b)->state = PERFMON_PROFILE_STATE_RUNNING;
		cr_assert_eq(try_add(merge, &b,
				     i == 1 ? PM_WRITER_RUNS
				     : i    ? PM_WRITER_UNKNOWN
					    : PM_WRITER_ENDED,
				     &diag),
			     0);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, ": /opt/solver, 3 processes on 2 hosts\n");
	has(got,
	    "\nregion  processes    sum   mean  least    pid   most    pid  imbalance\n");
	has(got, "\nmain            3  6.000  2.000  1.000  20@h0  3.000  24@h1");
	has(got, "note: pid 22 still runs: the values so far\n");
	has(got, "note: pid 24 has not ended its profile, and may still run");
	has(got,
	    "note: these are profiles of different programs; /opt/solver is the first\n");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got, "\"host\":null");
	has(got, "\"state\":\"running\",\"partial\":false,\"machine\"");
	free(got);
	pm_merge_free(merge);
}

/* What all processes were called with; what some were is nobody's. */
Test(merge, arguments_that_are_the_same)
{
	static const char *const all[] = {"./a.out\0-n", "./a.out\0-n", "./a.out\0-m"};

	for (size_t count = 2; count <= 3; count++) {
		struct pm_merge *merge = create();
		struct pm_diag diag = {0};
		char *got;

		for (size_t i = 0; i < count; i++) {
			struct profile_builder b;

			visited(&b, begin(&b, (int)i, 3, 0), 1, "main", 1000, 0);
			builder_arguments(&b, all[i], 11);
			cr_assert_eq(try_add(merge, &b, PM_WRITER_ENDED, &diag), 0);
		}
		cr_assert_eq(pm_merge_end(merge), 0);
		got = merged(merge, PM_FORMAT_JSON);
		has(got, count == 2 ? "\"arguments\":[\"./a.out\",\"-n\"]"
				    : "\"arguments\":null");
		free(got);
		pm_merge_free(merge);
	}
}

/* What all runs say is there; where they say different things, or one says nothing, it is said. */
Test(merge, notes_of_runs_that_are_the_same_or_differ)
{
	static const char *const n[] = {"128", "128", "256"};
	struct pm_merge *merge = create();
	char *got;

	for (int i = 0; i < 3; i++) {
		struct profile_builder b;

		visited(&b, begin(&b, i, 3, 0), 1, "main", 1000, 0);
		builder_run_note(&b, "compiler", "gcc 12");
		builder_run_note(&b, "n", n[i]);
		if (i)
			builder_run_note(&b, "late", "1");
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "\n  noted    compiler=gcc 12, n differs, late differs\n  began");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got, "\"run_notes\":{\"compiler\":\"gcc 12\",\"n\":null,\"late\":null},");
	free(got);
	pm_merge_free(merge);
}

Test(merge, ranks_that_are_there_twice)
{
	struct pm_merge *merge = create();
	struct profile_builder b;
	char *got;

	for (int i = 0; i < 4; i++) {
		visited(&b, begin(&b, i / 2, 2, 0), 1, "main", 1000, 0);
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "note: ranks 0-1 are here more than once: with profiles of several "
		 "runs, the sums include all runs\n");
	free(got);
	pm_merge_free(merge);
}

Test(merge, a_profile_that_was_cut_off)
{
	struct pm_merge *merge = create();
	struct profile_builder b;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char *got;

	visited(&b, begin(&b, 0, 2, 0), 1, "main", 1000, 0);
	add(merge, &b);
	visited(&b, begin(&b, 1, 2, 0), 1, "main", 1000, 0);
	builder_region(&b, "never seen");
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b) - 8, &s, &diag), 0);
	cr_assert_eq(pm_merge_add(merge, s, &diag), 0);
	pm_snapshot_free(s);
	builder_end(&b);
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "\nmain         2  2.000  100.0");
	has(got, "note: rank 1: the profile is cut off");
	has(got, "  partial: the profile of rank 1 could not be read in full\n");
	free(got);
	pm_merge_free(merge);
}

/* A region below itself: the ranges of flat reports count it once. */
Test(merge, recursion)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	uint32_t region;
	char *got;

	for (int rank = 0; rank < 2; rank++) {
		thread = begin(&b, rank, 2, 0);
		region = builder_region(&b, "solve");
		node = builder_node(&b, thread, 1, region);
		builder_visit(node, 5000);
		node = builder_node(&b, thread, 2, region);
		builder_visit(node, 2000);
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_merge_range(merge, true, 1, PM_RANGE_TIME).sum, 10000);
	cr_assert_eq(pm_merge_range(merge, true, 1, PM_RANGE_EXCLUSIVE).sum, 10000);
	got = merged(merge, PM_FORMAT_FLAT);
	has(got, "\nsolve       2  10.000  5.000  5.000     0  5.000     0");
	free(got);
	pm_merge_free(merge);
}

/* Profiles with nothing in them, and more paths and regions than the tables begin
 * with. */
Test(merge, none_and_many)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char name[32], *got;

	for (uint32_t counters = 1; counters < 4; counters += 2) {
		begin(&b, 0, 2, counters);
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_process_count(merge), 2);
	for (int rank = 0; rank < 2; rank++) {
		builder_begin(&b, 1 << 20);
		builder_header(&b)->rank = rank;
		thread = builder_thread(&b, 1, 1, 0);
		builder_nodes(&b, thread, 1001);
		builder_node(&b, thread, 0, 0);
		for (uint32_t p = 0; p < 1000; p++) {
			/* The other way round in the second. */
			snprintf(name, sizeof(name), "r%u", rank ? 999 - p : p);
			builder_visit(
				builder_node(&b, thread, 1, builder_region(&b, name)),
				rank ? 1999 - p : 1000 + p);
		}
		add(merge, &b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_merge_sum(merge)->region_count, 1000);
	for (uint32_t path = 1; path <= 1000; path++) {
		struct pm_range range = pm_merge_range(merge, false, path, PM_RANGE_TIME);

		cr_assert(range.of == 4 && range.counted == 2 && range.min_process == 0);
		cr_assert_eq(range.sum, 2.0 * (999 + path), "path %u", path);
		cr_assert_eq(range.min, 0);
	}
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "\nr999 ");
	free(got);
	pm_merge_free(merge);
}

/* --- sent from process to process
 * -------------------------------------------------------- */

/* What is packed is read as what it was packed from, torn nodes and all. */
Test(merge, a_packed_snapshot_is_the_same)
{
	struct pm_report_options options = {.per_thread = true};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct pm_snapshot *from, *to;
	struct profile_builder b;
	struct pm_diag diag = {0};
	char *before, *after;
	size_t size;
	void *bytes;

	thread = begin(&b, 2, 4, 3);
	strcpy(builder_plan(&b, 2, 1)->counter[0].name, "later");
	node = visited(&b, thread, 1, "main", 5000, 77);
	node->count[2].lost_ns = 400;
	node->count[1].squares = 1.5;
	visited(&b, thread, 2, "", 300, 8)->sequence++;
	visited(&b, thread, 2, "a name of some length, which is none of the shortest", 0,
		0);
	thread = builder_thread(&b, 9, 2, 1);
	thread->lost_too_deep = 3;
	thread->end_ticks = 5000000;
	thread->state = PERFMON_PROFILE_THREAD_STATE_ENDED;
	builder_nodes(&b, thread, 1);
	builder_nodes(&b, thread, 3);
	builder_node(&b, thread, 0, 0);
	visited(&b, thread, 1, "in a second record", 900, 9);
	builder_thread(&b, 10, 1, 3);
	builder_note(&b, "a note");
	builder_note(&b, "");
	builder_arguments(&b, "solver\0-n\0cu", 12)->flags =
		PERFMON_PROFILE_ARGUMENTS_CUT;
	builder_run_note(&b, "n", "128");
	builder_header(&b)->lost_threads = 4;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &from, &diag), 0);
	cr_assert_eq(from->threads[0].torn, 1);
	/* As one that would not hold still, though it was even when it was looked at
	 * last. */
	pm_snapshot_node(&from->threads[0], 2)->flags |= PM_SNAPSHOT_TORN;
	from->threads[0].torn++;
	builder_end(&b);
	cr_assert_eq(pm_snapshot_pack(from, &bytes, &size), 0);
	cr_assert_eq(pm_snapshot_take(bytes, size, &to, &diag), 0, "%s", diag.text);
	free(bytes);
	cr_assert(!to->partial, "%s", to->problem);
	for (int format = PM_FORMAT_TEXT; format < PM_FORMATS; format++) {
		options.format = (enum pm_format)format;
		before = report_text(from, &options);
		after = report_text(to, &options);
		expect(after, before);
		free(before);
		free(after);
	}
	pm_snapshot_free(from);
	pm_snapshot_free(to);
}

/* ... and with what it lacks: a merged report says so, too. */
Test(merge, a_packed_part_says_that_it_is_one)
{
	struct perfmon_profile_thread *thread;
	struct pm_snapshot *from, *to;
	struct profile_builder b;
	struct pm_diag diag = {0};
	struct perfmon_merge *merge;
	struct pm_merge *other;
	size_t size;
	void *bytes;
	char *got;

	thread = begin(&b, 2, 4, 3);
	visited(&b, thread, 1, "main", 5000, 77);
	builder_note(&b, "a note");
	builder_note(&b, "one that is cut off");
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b) - 8, &from, &diag), 0);
	cr_assert(from->partial);
	cr_assert_eq(pm_snapshot_pack(from, &bytes, &size), 0);
	cr_assert_eq(pm_snapshot_take(bytes, size, &to, &diag), 0, "%s", diag.text);
	cr_assert(to->partial);
	cr_assert_str_eq(to->problem, from->problem);
	cr_assert_eq(to->note_count, 1);
	cr_assert_str_eq(to->notes[0], "a note");
	cr_assert_eq(perfmon_merge_create(&merge, NULL, 0), 0);
	cr_assert_eq(perfmon_merge_add(merge, bytes, size), 0);
	perfmon_merge_free(merge);
	other = create();
	cr_assert_eq(pm_merge_add(other, to, &diag), 0);
	pm_snapshot_free(to);
	/* Packed again it is the same once more. */
	free(bytes);
	cr_assert_eq(pm_snapshot_pack(from, &bytes, &size), 0);
	cr_assert_eq(pm_snapshot_take(bytes, size, &to, &diag), 0);
	to->header.rank = 3;
	cr_assert_eq(pm_merge_add(other, to, &diag), 0);
	cr_assert_eq(pm_merge_end(other), 0);
	got = merged(other, PM_FORMAT_TEXT);
	has(got, "the profiles of ranks 2-3 could not be read in full");
	has(got, from->problem);
	free(got);
	free(bytes);
	pm_merge_free(other);
	pm_snapshot_free(from);
	pm_snapshot_free(to);
	builder_end(&b);
}

/* By the calls that a program makes. */
Test(merge, processes_add_themselves)
{
	char path[] = "/tmp/perfmon-test.XXXXXX", got[8192] = "", message[200];
	uint64_t zeros[100] = {0};
	struct perfmon_merge *merge;
	FILE *file;
	size_t size;
	void *bytes;
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	close(fd);
	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", path, 1);
	cr_assert_eq(perfmon_merge_pack(&bytes, &size, 0), -ENOENT);
	cr_assert_eq(perfmon_merge_done(), -ENOENT);
	cr_assert_eq(perfmon_merge_create(&merge, NULL, 0), 0);
	cr_assert_eq(perfmon_merge_message(merge, message, sizeof(message)), 0);
	cr_assert_eq(perfmon_merge_print(merge), -ENOENT);
	cr_assert_eq(perfmon_merge_message(merge, message, sizeof(message)), 25);
	cr_assert_str_eq(message, "no profile has been added");
	cr_assert_eq(perfmon_merge_add(merge, zeros, sizeof(zeros)), -EINVAL);
	cr_assert_gt(perfmon_merge_message(merge, message, 6), 5);
	cr_assert_eq(strlen(message), 5);
	cr_assert_eq(perfmon_merge_add(merge, zeros, 0), -EINVAL);
	for (int i = 0; i < 3; i++) {
		perfmon_region_begin_name("packed");
		perfmon_region_end_name("packed");
		cr_assert_eq(perfmon_merge_pack(&bytes, &size, 1), -EINVAL);
		cr_assert_eq(perfmon_merge_pack(NULL, &size, 0), -EINVAL);
		cr_assert_eq(perfmon_merge_pack(&bytes, &size, 0), 0);
		cr_assert_eq(perfmon_merge_add(merge, bytes, size), 0);
		free(bytes);
	}
	cr_assert_eq(perfmon_merge_print(merge), 0);
	cr_assert_eq(perfmon_merge_print(merge), -EBUSY);
	cr_assert_eq(perfmon_merge_add(merge, zeros, sizeof(zeros)), -EBUSY);
	perfmon_merge_free(merge);
	perfmon_merge_free(NULL);
	file = fopen(path, "re");
	cr_assert(file && fread(got, 1, sizeof(got) - 1, file) > 0);
	fclose(file);
	/* 1 + 2 + 3 visits. */
	has(got, ", 3 processes on ");
	has(got, "\npacked       6 ");
	has(got, "\npacked          3 ");
	cr_assert(!strstr(got, "note: pid"), "%s", got);
	/* The report at exit would go there, too. */
	cr_assert_eq(truncate(path, 0), 0);
	cr_assert_eq(perfmon_merge_done(), 0);
	pm_exit_report();
	file = fopen(path, "re");
	cr_assert(file && fread(got, 1, 1, file) == 0);
	fclose(file);
	unlink(path);
}

/* One of two that handed over their profiles was inside a visit. */
Test(merge, who_packs_inside_visits_is_told)
{
	struct pm_merge *merge = create();
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	struct pm_diag diag = {0};
	char *got;

	for (int rank = 0; rank < 2; rank++) {
		thread = begin(&b, rank, 2, 0);
		visited(&b, thread, 1, "main", rank ? 0 : 1000, 0);
		builder_header(&b)->state = PERFMON_PROFILE_STATE_RUNNING;
		cr_assert_eq(try_add(merge, &b, PM_WRITER_PACKED, &diag), 0);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	got = merged(merge, PM_FORMAT_TEXT);
	has(got, "note: rank 1 handed over its profile inside visits, which the values "
		 "exclude");
	free(got);
	got = merged(merge, PM_FORMAT_JSON);
	has(got, "\"state\":\"running\"");
	free(got);
	pm_merge_free(merge);
}

/* Ranks that would each write perfmon.RANK.txt are in perfmon.txt. */
Test(merge, a_report_of_ranks_is_one_file)
{
	char folder[32];
	struct perfmon_merge *merge;
	struct profile_builder b;

	make_folder(folder, sizeof(folder));
	cr_assert(!chdir(folder));
	setenv("PMI_RANK", "0", 1);
	setenv("PERFMON_FORMAT", "csv", 1);
	cr_assert_eq(perfmon_merge_create(&merge, NULL, 0), 0);
	for (int rank = 0; rank < 2; rank++) {
		visited(&b, begin(&b, rank, 2, 0), 1, "main", 1000, 0);
		cr_assert_eq(perfmon_merge_add(merge, b.base, builder_used(&b)), 0);
		builder_end(&b);
	}
	cr_assert_eq(perfmon_merge_print(merge), 0);
	perfmon_merge_free(merge);
	cr_assert_eq(unlink("perfmon.csv"), 0);
	cr_assert(!chdir("/"));
	cr_assert_eq(rmdir(folder), 0);
}
