/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring of a perf event: the counter page, and behind it 2^n pages into which the
 * kernel writes records. One thread at a time drains it:
 *
 *   while ((err = pm_ring_next(&ring, &record)) > 0)
 *           use(record);
 *   pm_ring_release(&ring);
 *
 * Shared fields:
 *
 * - page.data_head: the kernel writes it. Read with acquire: the records below it are
 *   complete.
 * - page.data_tail: the drainer writes it with release, after it has read all records
 *   below it. The kernel may then overwrite them.
 * - the records: the kernel writes them; head and tail order the accesses.
 *
 * User-space reads (src/fastpath/) use other fields of the counter page, and still work.
 */
#ifndef PM_SAMPLES_RING_H
#define PM_SAMPLES_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_ring {
	void *page;  /* struct perf_event_mmap_page; NULL: not mapped */
	size_t size; /* of the whole mapping, including the page */
	unsigned char *data;
	uint64_t data_size; /* a power of two */
	uint64_t head;	    /* as last read: records below it can be taken */
	uint64_t tail;	    /* records below it have been taken */
	void *scratch;	    /* for a record that wraps */
	size_t largest;	    /* size of the largest record so far */

	/* Counts over the ring's life. */
	uint64_t records;
	uint64_t lost;	    /* records for which the kernel had no room */
	uint64_t throttled; /* times that the kernel throttled an event */
	uint64_t corrupt;   /* times that the ring's content was invalid */
};

/*
 * pm_ring_map() - maps the ring of event FD with DATA_PAGES pages for records, a power of
 * two. Allocates; the calls below do not. RING is untouched on failure. Returns 0 or
 *
 * - -EINVAL: DATA_PAGES is not a power of two, or the event is inherited and not bound to
 *   a CPU
 * - -EPERM: above kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK
 * - -ENOMEM, or another error of mmap(2)
 */
int pm_ring_map(struct pm_ring *ring, int fd, uint32_t data_pages);

/* Does the same over SIZE bytes, page and data, that are already mapped and stay so. */
int pm_ring_over(struct pm_ring *ring, void *page, size_t size);

/* Unmaps and forgets RING, which need not be mapped. */
void pm_ring_unmap(struct pm_ring *ring);

/* Does the same in a child of fork(2), which has no such mapping: frees only its own
 * memory. */
void pm_ring_forget(struct pm_ring *ring);

/* Returns whether a record waits: one load. A thread other than the drainer may see it
 * late. */
static inline bool pm_ring_pending(const struct pm_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;

	/* Relaxed: pm_ring_next() orders the reads. */
	return page && __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) != ring->tail;
}

/* Returns the position that the kernel writes next. */
static inline uint64_t pm_ring_head(const struct pm_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;

	/* Pairs with the kernel's barrier before it moves data_head, as in pm_ring_next(). */
	return page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) : 0;
}

/* Returns whether the kernel may have had no room for one more record while USED bytes
 * waited. */
static inline bool pm_ring_was_full(const struct pm_ring *ring, uint64_t used)
{
	return used + ring->largest > ring->data_size;
}

/*
 * pm_ring_next() - takes the next record. *OUT is aligned to 8 and valid until
 * pm_ring_release(); a record that wraps only until the next call. Records of losses and
 * of throttling are counted, and returned like others. Returns 1, 0 if there is no record
 * now, or -EBADMSG if the content is not a record; all that the ring held is then
 * dropped.
 */
int pm_ring_next(struct pm_ring *ring, const struct perf_event_header **out);

/* Releases the space of the records that were taken to the kernel. */
void pm_ring_release(struct pm_ring *ring);

#endif
