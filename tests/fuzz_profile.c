/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What reads profiles, fed with damaged ones: a corpus of sound profiles, of each some
 * mutations by a fixed sequence of random numbers, so that a failure comes again.
 * Whatever comes out is used: each text and each number is looked at, and now and then it
 * goes through files and reports. A plain program that prints TAP; sanitizers see the
 * rest.
 *
 * fuzz_profile [EXECUTIONS [SEED]]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "core/report/merge/merge.h"
#include "core/report/report.h"
#include "core/settings/options.h"
#include "core/text/diag.h"
#include "perfmon/region.h"
#include "profile_builder.h"

#if defined(__SANITIZE_THREAD__)
#define EXECUTIONS 1000 /* there is one thread */
#else
#define EXECUTIONS 10000
#endif
#define EXECUTIONS_LONG 5000000
#define REPORT_EVERY	10
#define MERGE_EVERY	64
#define FILE_EVERY	50

#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			printf("not ok - execution %lu of seed %lu: %s:%d: %s\n",        \
			       execution, seed, __func__, __LINE__, #condition);         \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

static unsigned long execution, seed = 1;
static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t n)
{
	return n ? (size_t)(next() % n) : 0;
}

/* --- the corpus --------------------------------------------------------------------- */

#define CORPUS_MOST 8

static struct {
	const char *name;
	unsigned char *bytes;
	size_t size;
} corpus[CORPUS_MOST];
static size_t corpus_size;

static void add_bytes(const char *name, const void *bytes, size_t size)
{
	corpus[corpus_size].name = name;
	corpus[corpus_size].bytes = malloc(size);
	memcpy(corpus[corpus_size].bytes, bytes, size);
	corpus[corpus_size++].size = size;
}

static void add_built(const char *name, struct profile_builder *b)
{
	add_bytes(name, b->base, builder_used(b));
	builder_end(b);
}

/* Threads with two counters whose nodes are in pieces, and notes between these. */
static void add_pieces(void)
{
	static const struct perfmon_profile_kind kinds[] = {
		{PERFMON_PROFILE_MAKER_ARM, 0x41, 0xd0b, 0},
		{PERFMON_PROFILE_MAKER_ARM, 0x41, 0xd05, 0}};
	struct profile_builder b;
	uint32_t a, c;

	builder_begin(&b, 1 << 17);
	builder_machine(&b, kinds, 2, 5);
	builder_arguments(&b, "solver\0-n\0it's", 14);
	builder_run_note(&b, "n", "128");
	builder_run_note(&b, "compiler", "gcc 12");
	builder_run_note(&b, "n", "256");
	builder_plan(&b, 1, 2);
	a = builder_region(&b, "alpha");
	c = builder_region(&b, "gamma");
	for (uint32_t t = 1; t <= 3; t++) {
		struct perfmon_profile_thread *thread = builder_thread(&b, t, 1, 2);

		builder_nodes(&b, thread, 2);
		builder_node(&b, thread, 0, 0);
		builder_visit(builder_node(&b, thread, 1, a), 100 * t);
		builder_note(&b, "a note");
		builder_nodes(&b, thread, 4);
		builder_visit(builder_node(&b, thread, 2, c), 50 * t);
		builder_node(&b, thread, 3, c)->count[1].sum = 7;
		if (t == 3)
			thread->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	}
	builder_thread(&b, 9, 1, 2)->state = PERFMON_PROFILE_THREAD_STATE_UNUSED;
	add_built("pieces", &b);
}

/* As many counters as there may be, in two plans. */
static void add_counters(void)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	uint32_t region;

	builder_begin(&b, 1 << 17);
	builder_plan(&b, 1, PERFMON_PROFILE_COUNTERS_MAX);
	builder_plan(&b, 2, 1);
	region = builder_region(&b, "many counters");
	for (uint32_t t = 1; t <= 2; t++) {
		thread = builder_thread(&b, t, t,
					t == 1 ? PERFMON_PROFILE_COUNTERS_MAX : 1);
		builder_nodes(&b, thread, 3);
		builder_node(&b, thread, 0, 0);
		builder_visit(builder_node(&b, thread, 1, region), 1000);
		builder_visit(builder_node(&b, thread, 2, region), 900);
	}
	add_built("counters", &b);
}

/* A program that was killed: by timestamps, one node half written, one thread deep
 * down. */
static void add_killed(void)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;

	builder_begin(&b, 1 << 18);
	builder_header(&b)->state = PERFMON_PROFILE_STATE_RUNNING;
	builder_header(&b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
	builder_header(&b)->ticks_hz = 3000000000u;
	builder_region(&b, "recursive");
	thread = builder_thread(&b, 1, 1, 0);
	builder_nodes(&b, thread, 300);
	for (uint32_t n = 0; n < 257; n++)
		builder_node(&b, thread, n, n ? 1 : 0)->entered = 1;
	builder_node(&b, thread, 256, 1)->sequence = 41;
	add_built("killed", &b);
}

/* Nodes that nobody will make even any more, in threads without end, and threads that are
 * being added up: there is nothing to wait for. */
static void add_odd(void)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;

	builder_begin(&b, 1 << 18);
	builder_region(&b, "odd");
	builder_header(&b)->aggregate_sequence = 7;
	for (uint32_t t = 1; t <= 20; t++) {
		thread = builder_thread(&b, t, 1, 0);
		builder_nodes(&b, thread, 2);
		builder_node(&b, thread, 0, 0);
		builder_node(&b, thread, 1, 1)->sequence = 41;
	}
	add_built("odd", &b);
}

/* A chain longer than regions can be nested. */
static void add_deep(void)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;

	builder_begin(&b, 1 << 19);
	builder_region(&b, "recursive");
	thread = builder_thread(&b, 1, 1, 0);
	builder_nodes(&b, thread, 300);
	for (uint32_t n = 0; n < 300; n++)
		builder_visit(builder_node(&b, thread, n, n ? 1 : 0), 1);
	add_built("deep", &b);
}

static void add_header_only(void)
{
	struct profile_builder b;

	builder_begin(&b, 1 << 12);
	add_built("header", &b);
}

static void visit(const char *name)
{
	perfmon_region_begin_name(name);
	perfmon_region_end_name(name);
}

/* One that the library has written, cut to what is used of it. */
static void add_real(const char *path)
{
	struct perfmon_profile_header *header;
	unsigned char *bytes;
	struct stat st;
	pid_t child;
	int fd;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("PERFMON_PROFILE", path, 1);
		setenv("PERFMON_OUTPUT", "none", 1);
		setenv("PERFMON_STEPS", "*", 1);
		visit("first");
		perfmon_region_begin_name("outer");
		visit("inner");
		visit("first");
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && !fstat(fd, &st));
	bytes = malloc((size_t)st.st_size);
	CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	header = (void *)bytes;
	CHECK(header->used <= (uint64_t)st.st_size);
	add_bytes("real", bytes, header->used);
	free(bytes);
}

/* --- mutations ---------------------------------------------------------------------- */

/* Values that sit on the edges of what is checked. */
static uint64_t nasty(size_t size)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		7,
		8,
		16,
		31,
		33,
		4096,
		UINT32_MAX,
		INT32_MAX,
		UINT64_MAX,
		INT64_MAX,
		UINT64_MAX - 7,
		UINT64_C(1) << 31,
		UINT64_C(1) << 32,
		0x8000000000000001u,
		0x7ff0000000000000u, /* an infinity */
		0x7ff8000000000000u, /* no number */
	};

	switch (below(4)) {
	case 0:
		return values[below(sizeof(values) / sizeof(values[0]))];
	case 1:
		return below(size) & ~(uint64_t)7;
	case 2:
		return below(5000);
	}
	return next();
}

/* The offset of a random record; the header's if the walk goes astray. */
static size_t a_record(const unsigned char *bytes, size_t size)
{
	size_t at = 0, stop = below(size);

	for (;;) {
		struct perfmon_profile_record record;

		memcpy(&record, bytes + at, sizeof(record));
		if (record.size < sizeof(record) || record.size % 8 ||
		    record.size >= size - at || at + record.size > stop ||
		    size - at - record.size < sizeof(record))
			return at;
		at += record.size;
	}
}

static void mutate(unsigned char *bytes, size_t *size)
{
	size_t width = (size_t)1 << below(4), at = below(*size - 8) & ~(width - 1), from;
	uint64_t value = nasty(*size);

	switch (below(8)) {
	case 0: /* one bit */
		bytes[at] ^= (unsigned char)(1u << below(8));
		break;
	case 1: /* cut off */
		*size = below(*size - 8) + 8;
		break;
	case 2: /* a piece of it somewhere else */
		from = below(*size) & ~(size_t)7;
		at &= ~(size_t)7;
		width = below(*size - (from > at ? from : at));
		memmove(bytes + at, bytes + from, width);
		break;
	case 3: /* in the lead of a record, or just behind it */
		at = a_record(bytes, *size);
		from = below(64) & ~(width - 1);
		if (at + from + 8 <= *size)
			memcpy(bytes + at + from, &value, width);
		break;
	case 4: /* another type of record */
		value = below(10);
		memcpy(bytes + a_record(bytes, *size), &value, 4);
		break;
	default: /* a field */
		memcpy(bytes + at, &value, width);
	}
}

/* --- use ---------------------------------------------------------------------------- */

static uint64_t used_up;

static int swallow(void *unused, const char *text, size_t length)
{
	(void)unused;
	for (size_t i = 0; i < length; i++)
		used_up += (unsigned char)text[i];
	return 0;
}

static void use(const struct pm_snapshot *s)
{
	CHECK(!s->partial || s->problem[0]);
	for (uint32_t i = 0; i <= s->region_count; i++)
		used_up += strlen(s->regions[i]);
	for (uint32_t i = 0; i < s->note_count; i++)
		used_up += strlen(s->notes[i]);
	for (uint32_t i = 0; i < s->plan_count; i++)
		for (uint32_t c = 0; c < s->plans[i].counter_count; c++)
			used_up += strlen(s->plans[i].counters[c].name) +
				   strlen(s->plans[i].counters[c].unit);
	used_up += strlen(s->header.host) + strlen(s->header.program);
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];
		uint32_t counters = thread->plan ? thread->plan->counter_count : 0;

		CHECK(counters <= PERFMON_PROFILE_COUNTERS_MAX);
		for (uint32_t n = 1; n <= thread->node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(thread, n);

			CHECK(n == 1 ? !node->parent : node->parent && node->parent < n);
			CHECK(n == 1 ? !node->region : node->region <= s->region_count);
			for (uint32_t c = 0; c < counters; c++)
				used_up += node->count[c].sum;
		}
	}
}

static void report(struct pm_snapshot *s)
{
	struct pm_report_options how = {
		.format = (enum pm_format)below(PM_FORMATS),
		.per_thread = next() & 1,
		.subtract_bias = next() & 1,
	};

	pm_snapshot_set_writer(s, (enum pm_snapshot_writer)below(PM_WRITER_GONE + 1));
	CHECK(!pm_report_write(s, &how, swallow, NULL));
}

/* Merged with itself and with a whole one, in some order. */
static void merged(const struct pm_snapshot *s)
{
	struct pm_report_options how = {.format = next() & 1 ? PM_FORMAT_TEXT
							     : PM_FORMAT_JSON};
	size_t which = below(corpus_size), first = below(3);
	struct pm_snapshot *other;
	struct pm_merge *merge;

	CHECK(!pm_merge_create(&merge, next() & 1));
	CHECK(!pm_snapshot_take_as(corpus[which].bytes, corpus[which].size,
				   PM_SNAPSHOT_STILL, -1, &other, NULL));
	for (size_t i = 0; i < 3; i++) {
		struct pm_diag diag = {0};
		int err = pm_merge_add(merge, i == first ? other : s, &diag);

		CHECK(!err || (err == -EINVAL && diag.text[0] && i != first));
	}
	CHECK(!pm_merge_end(merge));
	use(pm_merge_sum(merge));
	how.merge = merge;
	CHECK(!pm_report_write(pm_merge_sum(merge), &how, swallow, NULL));
	pm_merge_free(merge);
	pm_snapshot_free(other);
}

static void through_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	if (pm_profile_file_open(path, &file, &diag)) {
		CHECK(diag.text[0]);
		return;
	}
	if (!pm_profile_file_snapshot(file, &s, &diag)) {
		use(s);
		pm_snapshot_free(s);
	} else {
		CHECK(diag.text[0]);
	}
	pm_profile_file_close(file);
}

static unsigned long accepted, whole;

static void execute(const char *path)
{
	size_t which = below(corpus_size), size = corpus[which].size;
	unsigned int changes = 1 + (unsigned int)below(4), flags;
	struct pm_snapshot *s = NULL;
	struct pm_diag diag = {0};
	unsigned char *bytes = malloc(size), *exact;

	memcpy(bytes, corpus[which].bytes, size);
	while (changes--)
		mutate(bytes, &size);
	/* Of the size that it has, so that a sanitizer sees a byte too many. */
	exact = malloc(size);
	memcpy(exact, bytes, size);
	free(bytes);
	/* Mostly as what it is, still: nothing is gained by waiting. */
	flags = (unsigned int)below(4) | (below(50) ? PM_SNAPSHOT_STILL : 0);
	if (!pm_snapshot_take_as(exact, size, flags, -1, &s, &diag)) {
		accepted++;
		whole += !s->partial;
		use(s);
		if (execution % REPORT_EVERY == 0)
			report(s);
		if (execution % MERGE_EVERY == 0)
			merged(s);
	} else {
		CHECK(diag.text[0] && !s);
	}
	pm_snapshot_free(s);
	if (execution % FILE_EVERY == 0)
		through_file(path, exact, size);
	free(exact);
}

static void check_corpus(void)
{
	for (size_t i = 0; i < corpus_size; i++) {
		struct pm_snapshot *s;

		bool damaged =
			!strcmp(corpus[i].name, "odd") || !strcmp(corpus[i].name, "deep");

		CHECK(!pm_snapshot_take_as(corpus[i].bytes, corpus[i].size,
					   PM_SNAPSHOT_STILL, -1, &s, NULL));
		CHECK(s->partial == damaged);
		use(s);
		for (int n = 0; n < 16; n++)
			report(s);
		pm_snapshot_free(s);
	}
}

/* Row: DC-02 */
int main(int count, char **arguments)
{
	unsigned long most = getenv("PERFMON_TEST_LONG")    ? EXECUTIONS_LONG
			     : getenv("PERFMON_TEST_SHORT") ? EXECUTIONS / 10
							    : EXECUTIONS;
	char folder[] = "/tmp/perfmon-test.XXXXXX", path[64];

	puts("1..1");
	if (count > 1)
		most = strtoul(arguments[1], NULL, 10);
	if (count > 2)
		seed = strtoul(arguments[2], NULL, 10);
	state = 88172645463325252u * (2 * seed + 1);
	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/profile", folder);
	add_pieces();
	add_counters();
	add_killed();
	add_odd();
	add_deep();
	add_header_only();
	add_real(path);
	check_corpus();
	for (execution = 1; execution <= most; execution++)
		execute(path);
	unlink(path);
	rmdir(folder);
	printf("# %lu executions: %lu gave a snapshot, %lu of them a whole one (%llu)\n",
	       most, accepted, whole, (unsigned long long)used_up);
	for (size_t i = 0; i < corpus_size; i++)
		free(corpus[i].bytes);
	CHECK(accepted > most / 4 && whole > most / 100 && accepted < most);
	puts("ok 1 - damaged profiles are survived");
	return 0;
}
