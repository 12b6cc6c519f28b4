/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling formats: the one that is built in, and the program's own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "breakpoints.h"
#include "core/kernel/kernel.h"
#include "core/samples/samples.h"
#include "core/text/diag.h"

static struct pm_diag diag;

/* An overflow with COUNT values, all of which tell its number. */
static struct perfmon_overflow_sample *overflow(uint64_t number, uint64_t count)
{
	static struct perfmon_overflow_sample made;
	static struct perfmon_sample sample;
	static uint64_t values[256];

	for (uint64_t i = 0; i < count; i++)
		values[i] = number * 1000 + i;
	sample = (struct perfmon_sample){
		.size = sizeof(sample),
		.present =
			PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID | PERFMON_SAMPLE_ADDRESS,
		.ip = 0x1000 + number,
		.pid = 10,
		.tid = 11,
		.address = 99,
	};
	made = (struct perfmon_overflow_sample){
		.sample = &sample,
		.index = 3,
		.set = 7,
		.event_id = 4711 + number,
		.last_reset = -(uint64_t)number,
		.value_count = count,
		.values = values,
	};
	return &made;
}

static struct pm_format_use *begin_default(size_t buffer_size)
{
	struct perfmon_buffer_argument argument = {.size = sizeof(argument),
						   .buffer_size = buffer_size};
	struct pm_format_use *use;

	cr_assert_eq(pm_format_begin(&use, "default", &argument, sizeof(argument), &diag),
		     0, "%s", diag.text);
	return use;
}

static const struct perfmon_buffer *buffer_of(struct pm_format_use *use)
{
	size_t size;
	const struct perfmon_buffer *buffer = pm_format_buffer(use, &size);

	cr_assert_not_null(buffer);
	cr_assert_eq(size, buffer->size);
	return buffer;
}

/* Checks that the buffer holds overflows FIRST to LAST with COUNT values each. */
static void holds(const struct perfmon_buffer *buffer, uint64_t first, uint64_t last,
		  uint64_t count)
{
	const struct perfmon_buffer_sample *at = NULL;

	for (uint64_t number = first; number <= last; number++) {
		at = perfmon_buffer_next(buffer, at);
		cr_assert_not_null(at);
		cr_assert_eq(at->size, sizeof(*at) + count * 8);
		cr_assert_eq(at->set, 7);
		cr_assert_eq(at->present, PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID,
			     "neither what is not kept nor what was not there");
		cr_assert_eq(at->ip, 0x1000 + number);
		cr_assert_eq(at->pid, 10);
		cr_assert_eq(at->tid, 11);
		cr_assert_eq(at->index, 3);
		cr_assert_eq(at->event_id, 4711 + number);
		cr_assert_eq(at->last_reset, -number);
		cr_assert_eq(at->value_count, count);
		for (uint64_t i = 0; i < count; i++)
			cr_assert_eq(perfmon_buffer_values(at)[i], number * 1000 + i);
	}
	cr_assert_null(perfmon_buffer_next(buffer, at));
	cr_assert_eq(buffer->count, last + 1 - first);
}

/* Row: PM-47 (the default format buffers samples, notifies when it is full, and counts
 * what it lost) */
Test(format, the_default_one_notifies_when_it_is_full)
{
	struct pm_format_use *use = begin_default(4096);
	const struct perfmon_buffer *buffer = buffer_of(use);
	const uint64_t each = sizeof(struct perfmon_buffer_sample) + 2 * 8;
	const uint64_t fit = (4096 - sizeof(struct perfmon_buffer)) / each;
	uint64_t number = 0, samples, lost;

	cr_assert_eq(buffer->version, PERFMON_BUFFER_VERSION);
	cr_assert_eq(buffer->header_size, sizeof(*buffer));
	cr_assert_eq(buffer->size, 4096);
	cr_assert_null(perfmon_buffer_next(buffer, NULL));
	for (uint64_t fills = 1; fills <= 3; fills++) {
		const uint64_t first = number;

		for (; number < first + fit - 1; number++)
			cr_assert_eq(pm_format_sample(use, overflow(number, 2)),
				     PERFMON_FORMAT_CONTINUE);
		cr_assert_eq(buffer->full, 0);
		cr_assert_eq(pm_format_sample(use, overflow(number++, 2)),
			     PERFMON_FORMAT_NOTIFY);
		cr_assert_eq(buffer->full, 1);
		cr_assert_eq(buffer->fills, fills);
		/* What comes late is lost, and no news. */
		for (int i = 0; i < 5; i++)
			cr_assert_eq(pm_format_sample(use, overflow(9999, 2)),
				     PERFMON_FORMAT_CONTINUE);
		cr_assert_eq(buffer->lost, 5 * fills);
		cr_assert_eq(buffer->total, number);
		holds(buffer, first, number - 1, 2);
		pm_format_restart(use);
		cr_assert_eq(buffer->full, 0);
		cr_assert_eq(buffer->count, 0);
		cr_assert_null(perfmon_buffer_next(buffer, NULL));
	}
	pm_format_counts(use, &samples, &lost);
	cr_assert_eq(samples, number + 15);
	cr_assert_eq(lost, 15);
	pm_format_end(use);
}

Test(format, samples_of_any_size)
{
	struct pm_format_use *use = begin_default(PERFMON_BUFFER_MIN);
	const struct perfmon_buffer *buffer = buffer_of(use);
	const struct perfmon_buffer_sample *at = NULL;
	uint64_t number = 0;

	while (buffer->size - buffer->header_size - buffer->used > 600) {
		cr_assert_eq(pm_format_sample(use, overflow(number, number % 5)),
			     PERFMON_FORMAT_CONTINUE);
		number++;
	}
	/* A larger one than all before: it finds no room, and that is the news. */
	cr_assert_eq(pm_format_sample(use, overflow(number, 256)), PERFMON_FORMAT_NOTIFY);
	cr_assert_eq(buffer->lost, 1);
	cr_assert_eq(buffer->fills, 1);
	cr_assert_eq(pm_format_sample(use, overflow(number, 0)), PERFMON_FORMAT_CONTINUE);
	cr_assert_eq(buffer->lost, 2, "it stays full until the restart");
	for (uint64_t i = 0; i < number; i++) {
		at = perfmon_buffer_next(buffer, at);
		cr_assert_not_null(at);
		cr_assert_eq(at->value_count, i % 5);
		cr_assert_eq(at->ip, 0x1000 + i);
	}
	cr_assert_null(perfmon_buffer_next(buffer, at));
	pm_format_restart(use);
	cr_assert_null(perfmon_buffer_next(buffer, at), "what was there is gone");
	pm_format_end(use);
}

Test(format, arguments_of_the_default_one)
{
	struct {
		struct perfmon_buffer_argument argument;
		uint64_t more;
	} larger = {.argument.size = sizeof(larger)};
	struct perfmon_buffer_argument argument = {.size = sizeof(argument)};
	struct pm_format_use *use = NULL;

	cr_assert_eq(pm_format_begin(&use, "default", NULL, 0, &diag), 0);
	cr_assert_eq(buffer_of(use)->size, 65536);
	pm_format_end(use);
	use = NULL;
	cr_assert_eq(pm_format_begin(&use, "default", &larger, sizeof(larger), &diag), 0);
	pm_format_end(use);
	use = NULL;
	larger.more = 1;
	cr_assert_eq(pm_format_begin(&use, "default", &larger, sizeof(larger), &diag),
		     -E2BIG);
	cr_assert_eq(
		pm_format_begin(&use, "default", &argument, sizeof(argument) - 1, &diag),
		-EINVAL);
	cr_assert_not_null(strstr(diag.text, "default"));
	argument.size = 8;
	cr_assert_eq(pm_format_begin(&use, "default", &argument, sizeof(argument), &diag),
		     -EINVAL);
	argument.size = sizeof(argument);
	argument.buffer_size = PERFMON_BUFFER_MIN - 1;
	cr_assert_eq(pm_format_begin(&use, "default", &argument, sizeof(argument), &diag),
		     -EINVAL);
	argument.buffer_size = PERFMON_BUFFER_MAX + 1;
	cr_assert_eq(pm_format_begin(&use, "default", &argument, sizeof(argument), &diag),
		     -EINVAL);
	cr_assert_null(use);
	pm_format_end(NULL);
}

/* A format of the program's own, which adds up what it sees. */
struct sums {
	uint64_t samples, ips, restarts, limit;
};
static int ended;

static int sums_init(void *argument, const void *data, size_t size, void **state)
{
	struct sums *sums = calloc(1, sizeof(*sums));

	cr_assert_str_eq(argument, "the argument");
	if (size != sizeof(sums->limit)) {
		free(sums);
		return -EDOM;
	}
	memcpy(&sums->limit, data, size);
	*state = sums;
	return 0;
}

static int sums_sample(void *state, const struct perfmon_overflow_sample *sample)
{
	struct sums *sums = state;

	cr_assert_eq(sample->size, sizeof(*sample));
	if (sample->sample->ip == 0x1000 + 13)
		return -ERANGE;
	sums->samples++;
	sums->ips += sample->sample->ip;
	return sums->samples % sums->limit ? PERFMON_FORMAT_CONTINUE
					   : PERFMON_FORMAT_NOTIFY;
}

static void sums_restart(void *state)
{
	((struct sums *)state)->restarts++;
}

static const void *sums_buffer(void *state, size_t *size)
{
	*size = sizeof(struct sums);
	return state;
}

static void sums_fini(void *state)
{
	free(state);
	ended++;
}

static char sums_argument[] = "the argument";
static const struct perfmon_format sums_format = {
	.size = sizeof(sums_format),
	.name = "sums",
	.argument = sums_argument,
	.init = sums_init,
	.sample = sums_sample,
	.restart = sums_restart,
	.buffer = sums_buffer,
	.fini = sums_fini,
};

/* Row: PM-47 (a program registers its own, by name and with arguments) */
Test(format, a_format_of_the_programs_own)
{
	struct pm_format_use *use = NULL;
	const struct sums *sums;
	uint64_t limit = 10, samples, lost, notified = 0;
	size_t size = 1;

	cr_assert_eq(pm_format_begin(&use, "sums", NULL, 0, &diag), -ENOENT);
	cr_assert_not_null(strstr(diag.text, "'sums'"));
	cr_assert_not_null(strstr(diag.text, "default"));
	cr_assert_eq(perfmon_format_register(&sums_format), 0);
	cr_assert_eq(perfmon_format_register(&sums_format), -EEXIST);
	cr_assert_eq(pm_format_begin(&use, "sums", NULL, 0, &diag), -EDOM);
	cr_assert_null(use);
	cr_assert_eq(pm_format_begin(&use, "other", NULL, 0, &diag), -ENOENT);
	cr_assert_not_null(strstr(diag.text, "sums"), "%s", diag.text);
	cr_assert_eq(pm_format_begin(&use, "sums", &limit, sizeof(limit), &diag), 0);
	cr_assert_eq(perfmon_format_unregister("sums"), -EBUSY);
	for (uint64_t i = 0; i < 41; i++) {
		int answer = pm_format_sample(use, overflow(i, 0));

		if (answer == PERFMON_FORMAT_NOTIFY) {
			notified++;
			pm_format_restart(use);
		}
	}
	sums = pm_format_buffer(use, &size);
	cr_assert_eq(size, sizeof(*sums));
	cr_assert_eq(sums->samples, 40);
	cr_assert_eq(sums->restarts, 4);
	cr_assert_eq(notified, 4);
	pm_format_counts(use, &samples, &lost);
	cr_assert_eq(samples, 41);
	cr_assert_eq(lost, 1);
	pm_format_end(use);
	cr_assert_eq(ended, 1);
	cr_assert_eq(perfmon_format_unregister("sums"), 0);
	cr_assert_eq(perfmon_format_unregister("sums"), -ENOENT);
}

static int take(void *state, const struct perfmon_overflow_sample *sample)
{
	(void)state;
	(void)sample;
	return 77; /* no answer that is defined */
}

Test(format, a_format_of_one_function)
{
	struct perfmon_format least = {
		.size = sizeof(least), .name = "least", .sample = take};
	struct pm_format_use *use;
	size_t size = 1;

	cr_assert_eq(perfmon_format_register(&least), 0);
	cr_assert_eq(pm_format_begin(&use, "least", NULL, 0, NULL), 0);
	cr_assert_eq(pm_format_sample(use, overflow(0, 0)), PERFMON_FORMAT_CONTINUE);
	pm_format_restart(use);
	cr_assert_null(pm_format_buffer(use, &size));
	cr_assert_eq(size, 0);
	pm_format_end(use);
	cr_assert_eq(perfmon_format_unregister("least"), 0);
}

Test(format, wrong_registrations)
{
	struct {
		struct perfmon_format format;
		uint64_t more;
	} larger = {.format = {.size = sizeof(larger), .name = "larger", .sample = take}};
	struct perfmon_format format = {
		.size = sizeof(format), .name = "a", .sample = take};
	char name[65];

	cr_assert_eq(perfmon_format_register(NULL), -EINVAL);
	format.size--;
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	format.size++;
	format.name = "";
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	format.name = "a b";
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	format.name = NULL;
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	format.name = "default";
	cr_assert_eq(perfmon_format_register(&format), -EEXIST);
	memset(name, 'n', sizeof(name));
	name[64] = '\0';
	format.name = name;
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	name[63] = '\0';
	cr_assert_eq(perfmon_format_register(&format), 0);
	/* The name was copied. */
	name[0] = 'm';
	cr_assert_eq(perfmon_format_unregister(name), -ENOENT);
	name[0] = 'n';
	cr_assert_eq(perfmon_format_unregister(name), 0);
	format.name = "b";
	format.sample = NULL;
	cr_assert_eq(perfmon_format_register(&format), -EINVAL);
	larger.more = 1;
	cr_assert_eq(perfmon_format_register(&larger.format), -E2BIG);
	larger.more = 0;
	cr_assert_eq(perfmon_format_register(&larger.format), 0);
	cr_assert_eq(perfmon_format_unregister("larger"), 0);
	cr_assert_eq(perfmon_format_unregister("default"), -EPERM);
	cr_assert_eq(perfmon_format_unregister(NULL), -EINVAL);
}

static void *follow(void *argument)
{
	const struct perfmon_buffer *buffer = argument;
	const struct perfmon_buffer_sample *at = NULL, *next;
	uint64_t number = 0;

	while (number < 500) {
		next = perfmon_buffer_next(buffer, at);
		if (!next)
			continue;
		at = next;
		cr_assert_eq(at->ip, 0x1000 + number);
		cr_assert_eq(perfmon_buffer_values(at)[1], number * 1000 + 1);
		number++;
	}
	return NULL;
}

/* A reader in another thread sees whole samples only. */
Test(format, a_buffer_is_read_while_it_fills)
{
	struct pm_format_use *use = begin_default(1 << 17);
	pthread_t reader;

	cr_assert_eq(pthread_create(&reader, NULL, follow, (void *)buffer_of(use)), 0);
	for (uint64_t number = 0; number < 500; number++)
		cr_assert_eq(pm_format_sample(use, overflow(number, 2)),
			     PERFMON_FORMAT_CONTINUE);
	cr_assert_eq(pthread_join(reader, NULL), 0);
	pm_format_end(use);
}

static volatile uint64_t watched;

static void __attribute__((noinline)) write_watched(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		watched = i;
}

/* From the kernel's ring into a format: samples of a breakpoint, whose count is exact. */
Test(format, drained_from_a_ring)
{
	NEEDS_BREAKPOINTS();
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = 2,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.sample_period = 3,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct pm_format_use *use = begin_default(0);
	const struct perfmon_buffer_sample *at = NULL;
	const struct perf_event_header *record;
	struct perfmon_sample sample;
	struct pm_ring ring;
	uint64_t seen = 0, last = 0;
	int fd, err;

	fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -EACCES || fd == -EPERM)
		cr_skip_test("kernel.perf_event_paranoid forbids sampling");
	if (fd < 0)
		cr_skip_test("no hardware breakpoint here: %s", strerror(-fd));
	err = pm_ring_map(&ring, fd, 4);
	if (err == -EPERM)
		cr_skip_test(
			"kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK forbid the ring");
	cr_assert_eq(err, 0);
	write_watched(30);
	while (pm_ring_next(&ring, &record) > 0) {
		struct perfmon_sample_value value = {.size = sizeof(value)};
		struct perfmon_overflow_sample given = {
			.sample = &sample, .value_count = 1, .values = &value.value};

		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		cr_assert_eq(pm_sample_decode(&attr, record, &sample), 0);
		cr_assert_eq(perfmon_sample_get_value(&sample, 0, &value), 0);
		cr_assert_eq(pm_format_sample(use, &given), PERFMON_FORMAT_CONTINUE);
	}
	pm_ring_unmap(&ring);
	close(fd);
	while ((at = perfmon_buffer_next(buffer_of(use), at))) {
		seen++;
		cr_expect_eq(perfmon_buffer_values(at)[0], 3 * seen);
		cr_expect_eq(at->pid, getpid());
		cr_expect_gt(at->time_ns, last);
		last = at->time_ns;
		cr_expect(at->ip - (uintptr_t)write_watched < 256);
	}
	cr_expect_eq(seen, 10);
	pm_format_end(use);
}
