/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel.h"

/* A record's size is 16 bits wide. */
#define SCRATCH_SIZE 65536

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

int pm_ring_over(struct pm_ring *ring, void *page, size_t size)
{
	size_t page_size = pm_kernel_page_size();
	struct pm_ring made = {
		.page = page,
		.size = size,
		.data = (unsigned char *)page + page_size,
		.data_size = size - page_size,
	};

	if (size <= page_size || !power_of_two(made.data_size))
		return -EINVAL;
	made.scratch = malloc(SCRATCH_SIZE);
	if (!made.scratch)
		return -ENOMEM;
	made.tail = ((struct perf_event_mmap_page *)page)->data_tail;
	made.head = made.tail;
	*ring = made;
	return 0;
}

int pm_ring_map(struct pm_ring *ring, int fd, uint32_t data_pages)
{
	size_t size = pm_kernel_page_size() * ((size_t)data_pages + 1);
	void *page;
	int err;

	if (!power_of_two(data_pages))
		return -EINVAL;
	/* Writable, so that the kernel waits for the tail and reports its losses. */
	err = pm_kernel_mmap(&page, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (err)
		return err;
	err = pm_ring_over(ring, page, size);
	if (err)
		pm_kernel_munmap(page, size);
	return err;
}

void pm_ring_unmap(struct pm_ring *ring)
{
	if (ring->page)
		pm_kernel_munmap(ring->page, ring->size);
	pm_ring_forget(ring);
}

void pm_ring_forget(struct pm_ring *ring)
{
	free(ring->scratch);
	memset(ring, 0, sizeof(*ring));
}

/* Returns the word at INDEX after the header, or 0 if the record is too short. */
static uint64_t word(const struct perf_event_header *record, size_t index)
{
	uint64_t value = 0;

	if (record->size >= sizeof(*record) + (index + 1) * sizeof(value))
		memcpy(&value, (const char *)(record + 1) + index * sizeof(value),
		       sizeof(value));
	return value;
}

static void account(struct pm_ring *ring, const struct perf_event_header *record)
{
	ring->records++;
	if (record->type == PERF_RECORD_LOST)
		ring->lost += word(record, 1);
	else if (record->type == PERF_RECORD_LOST_SAMPLES)
		ring->lost += word(record, 0);
	else if (record->type == PERF_RECORD_THROTTLE)
		ring->throttled++;
}

int pm_ring_next(struct pm_ring *ring, const struct perf_event_header **out)
{
	struct perf_event_mmap_page *page = ring->page;
	const struct perf_event_header *record;
	uint64_t offset, available;
	size_t size;

	if (!page)
		return 0;
	if (ring->tail == ring->head)
		/* Acquire: without it a record could be read before it is written. Pairs
		 * with the kernel's write barrier before its store of the head. */
		ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	available = ring->head - ring->tail;
	if (!available)
		return 0;
	/* Multiples of 8: a header never wraps. */
	if (available > ring->data_size || (ring->head | ring->tail) % 8)
		goto corrupt;
	offset = ring->tail & (ring->data_size - 1);
	record = (const void *)(ring->data + offset);
	size = record->size;
	if (size < sizeof(*record) || size % 8 || size > available)
		goto corrupt;
	if (size > ring->data_size - offset) {
		size_t first = ring->data_size - offset;

		memcpy(ring->scratch, record, first);
		memcpy((char *)ring->scratch + first, ring->data, size - first);
		record = ring->scratch;
	}
	ring->tail += size;
	if (size > ring->largest)
		ring->largest = size;
	account(ring, record);
	*out = record;
	return 1;
corrupt:
	ring->corrupt++;
	/* The begin of the next record is unknown: drop all. */
	ring->tail = ring->head;
	return -EBADMSG;
}

void pm_ring_release(struct pm_ring *ring)
{
	struct perf_event_mmap_page *page = ring->page;

	/*
	 * Release: our reads of the records come first, or the kernel could overwrite a
	 * record that is being read. Pairs with the kernel's load of the tail before it
	 * writes.
	 */
	if (page)
		__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
