/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rings: records that wrap, losses, nonsense, and what the kernel does with its side. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "breakpoints.h"
#include "core/kernel/kernel.h"
#include "core/samples/samples.h"
#include "record.h"

static struct pm_ring ring;
static struct record record;

static struct perf_event_mmap_page *page(void)
{
	return ring.page;
}

static void unmap(void)
{
	pm_kernel_fault = NULL;
	pm_ring_unmap(&ring);
}

TestSuite(ring, .fini = unmap);

/* A ring that nobody but the test writes, of PAGES pages for records. */
static void fake(size_t pages)
{
	size_t size = (pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	cr_assert_eq(pm_ring_over(&ring, memory, size), 0);
}

/* Writes the record as the kernel would; false if there is no room. */
static bool produce(void)
{
	uint64_t head = page()->data_head;

	if (head + record.header.size - page()->data_tail > ring.data_size)
		return false;
	for (size_t i = 0; i < record.header.size; i++)
		ring.data[(head + i) & (ring.data_size - 1)] =
			((unsigned char *)&record)[i];
	page()->data_head = head + record.header.size;
	return true;
}

/* A record of WORDS words, all of which hold VALUE. */
static void make(uint64_t value, unsigned int words)
{
	record_begin(&record, PERF_RECORD_SAMPLE, 0);
	for (unsigned int i = 0; i < words; i++)
		record_word(&record, value);
}

static void is(const struct perf_event_header *next, uint64_t value, unsigned int words)
{
	const uint64_t *at = (const uint64_t *)(next + 1);

	cr_assert_eq((uintptr_t)next % 8, 0);
	cr_assert_eq(next->size, 8 + 8 * words);
	for (unsigned int i = 0; i < words; i++)
		cr_assert_eq(at[i], value);
}

/* Many times around, with every size and so with every way to wrap. */
Test(ring, records_wrap)
{
	const struct perf_event_header *next;
	uint64_t written = 0, taken = 0;

	fake(1);
	for (unsigned int round = 0; round < 2000; round++) {
		for (;;) {
			make(written, (unsigned int)(written % 97));
			if (!produce())
				break;
			written++;
		}
		cr_assert(pm_ring_pending(&ring));
		while (pm_ring_next(&ring, &next) > 0) {
			is(next, taken, (unsigned int)(taken % 97));
			taken++;
		}
		cr_assert_eq(taken, written);
		cr_assert_not(pm_ring_pending(&ring));
		cr_assert_neq(page()->data_tail, page()->data_head,
			      "the room is the kernel's only after the release");
		pm_ring_release(&ring);
		cr_assert_eq(page()->data_tail, page()->data_head);
	}
	cr_assert_eq(ring.records, written);
}

Test(ring, the_largest_record_fits_and_wraps)
{
	const struct perf_event_header *next;

	fake(32);
	for (uint64_t i = 0; i < 20; i++) {
		make(i, 8190);
		cr_assert(produce());
		cr_assert_eq(pm_ring_next(&ring, &next), 1);
		is(next, i, 8190);
		pm_ring_release(&ring);
	}
}

/* The head is a count of bytes that goes on for ever. */
Test(ring, the_head_may_pass_2_to_the_64)
{
	const struct perf_event_header *next;

	fake(1);
	page()->data_head = page()->data_tail = ring.head = ring.tail = UINT64_MAX - 31;
	for (uint64_t i = 0; i < 10; i++) {
		make(i, 2);
		cr_assert(produce());
		cr_assert_eq(pm_ring_next(&ring, &next), 1);
		is(next, i, 2);
		pm_ring_release(&ring);
	}
	cr_assert_eq(page()->data_head, 10 * 24 - 32);
}

Test(ring, losses_are_counted)
{
	const struct perf_event_header *next;

	fake(1);
	record_begin(&record, PERF_RECORD_LOST, 0);
	record_word(&record, 4711);
	record_word(&record, 17);
	cr_assert(produce());
	record_begin(&record, PERF_RECORD_LOST_SAMPLES, 0);
	record_word(&record, 5);
	cr_assert(produce());
	record_begin(&record, PERF_RECORD_THROTTLE, 0);
	record_word(&record, 1);
	cr_assert(produce());
	/* too short to say how many */
	record_begin(&record, PERF_RECORD_LOST, 0);
	record_word(&record, 4711);
	cr_assert(produce());
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pm_ring_next(&ring, &next), 1);
	cr_assert_eq(pm_ring_next(&ring, &next), 0);
	cr_assert_eq(ring.lost, 22);
	cr_assert_eq(ring.throttled, 1);
	cr_assert_eq(ring.records, 4);
}

/* What is no record is an error, once, and the ring goes on with what comes next. */
Test(ring, nonsense_is_an_error)
{
	static const uint16_t sizes[] = {0, 1, 7, 12, 32, 65535};
	const struct perf_event_header *next = NULL;
	uint64_t corrupt = 0;

	fake(1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make(i, 1);
		record.header.size = sizes[i];
		memcpy(ring.data + (page()->data_head & (ring.data_size - 1)), &record,
		       16);
		page()->data_head += 16;
		cr_assert_eq(pm_ring_next(&ring, &next), -EBADMSG, "size %u", sizes[i]);
		cr_assert_null(next);
		cr_assert_eq(ring.corrupt, ++corrupt);
		cr_assert_eq(pm_ring_next(&ring, &next), 0);
		pm_ring_release(&ring);
		make(i, 3);
		cr_assert(produce());
		cr_assert_eq(pm_ring_next(&ring, &next), 1);
		is(next, i, 3);
		pm_ring_release(&ring);
		next = NULL;
	}
	/* A head that lies further ahead than the ring is long, or behind. */
	page()->data_head += ring.data_size + 8;
	cr_assert_eq(pm_ring_next(&ring, &next), -EBADMSG);
	page()->data_head -= 64;
	cr_assert_eq(pm_ring_next(&ring, &next), -EBADMSG);
	page()->data_head += 20;
	cr_assert_eq(pm_ring_next(&ring, &next), -EBADMSG);
}

static int refuse_mmap(enum pm_kernel_call call)
{
	return call == PM_CALL_MMAP ? -EPERM : 0;
}

Test(ring, refusals_leave_the_ring_alone)
{
	struct pm_ring untouched;

	memset(&untouched, 0x5a, sizeof(untouched));
	ring = untouched;
	cr_assert_eq(pm_ring_map(&ring, -1, 0), -EINVAL);
	cr_assert_eq(pm_ring_map(&ring, -1, 3), -EINVAL);
	cr_assert_eq(pm_ring_map(&ring, -1, 4), -EBADF);
	pm_kernel_fault = refuse_mmap;
	cr_assert_eq(pm_ring_map(&ring, -1, 4), -EPERM);
	cr_assert_eq(memcmp(&ring, &untouched, sizeof(ring)), 0);
	memset(&ring, 0, sizeof(ring));
	/* One that was never mapped can be asked, released and unmapped. */
	cr_assert_not(pm_ring_pending(&ring));
	cr_assert_eq(pm_ring_next(&ring, NULL), 0);
	pm_ring_release(&ring);
}

static volatile uint64_t watched;

static int open_breakpoint(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = 2,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EACCES || fd == -EPERM)
		cr_skip_test("kernel.perf_event_paranoid forbids sampling");
	if (fd == -ENOENT || fd == -ENOSPC || fd == -EOPNOTSUPP || fd == -ENODEV)
		cr_skip_test("no hardware breakpoint here: %s", strerror(-fd));
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	return fd;
}

/* The kernel says how many it had no room for: with those taken they are all. */
Test(ring, what_the_kernel_drops_is_known)
{
	NEEDS_BREAKPOINTS();
	const uint64_t writes = 1000;
	const struct perf_event_header *next;
	uint64_t samples = 0;
	int fd = open_breakpoint(), err;

	err = pm_ring_map(&ring, fd, 1);
	if (err == -EPERM)
		cr_skip_test(
			"kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK forbid the ring");
	cr_assert_eq(err, 0);
	cr_assert_not(pm_ring_pending(&ring));
	for (uint64_t i = 0; i < writes; i++)
		watched = i;
	while (pm_ring_next(&ring, &next) > 0)
		samples += next->type == PERF_RECORD_SAMPLE;
	pm_ring_release(&ring);
	cr_assert_gt(samples, 0);
	cr_assert_lt(samples, writes);
	/* The news of it comes with the next record that finds room. */
	watched = writes;
	while (pm_ring_next(&ring, &next) > 0)
		samples += next->type == PERF_RECORD_SAMPLE;
	cr_assert_eq(samples + ring.lost, writes + 1);
	cr_assert_eq(ring.corrupt, 0);
	cr_assert_eq(page()->cap_bit0_is_deprecated, 1, "the counter page is in front");
	close(fd);
}

/* Mapping, draining and unmapping again and again leaves nothing behind. */
Test(ring, nothing_is_left_behind)
{
	NEEDS_BREAKPOINTS();
	int fd = open_breakpoint(), err = 0;
	const struct perf_event_header *next;

	for (int i = 0; i < 200 && !err; i++) {
		err = pm_ring_map(&ring, fd, 8);
		if (err == -EPERM)
			cr_skip_test(
				"kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK forbid "
				"the ring (%d mapped before)",
				i);
		cr_assert_eq(err, 0);
		watched = 1;
		cr_assert_eq(pm_ring_next(&ring, &next), 1);
		pm_ring_release(&ring);
		pm_ring_unmap(&ring);
		cr_assert_null(ring.page);
	}
	close(fd);
}
