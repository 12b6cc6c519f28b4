/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring of a perf event: the counter page, and behind it 2^n pages into which the
 * kernel writes records. One thread at a time drains it:
 *
 *	while ((err = pm_ring_next(&ring, &record)) > 0)
 *		use(record);
 *	pm_ring_release(&ring);
 *
 * Who writes what, and under what order:
 *
 *   field            writer       order
 *   page.data_head   the kernel   acquire: the records below it are whole
 *   page.data_tail   the drainer  release: it has read all records below it, and the
 *                                 kernel may write over them
 *   the records      the kernel   covered by these two
 *
 * The counter page stays good for user reads (the seqcount read of src/fastpath/), which
 * share no field with the above.
 */
#ifndef PM_SAMPLES_RING_H
#define PM_SAMPLES_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_ring {
	void *page;  /* struct perf_event_mmap_page; NULL: not mapped */
	size_t size; /* of the whole mapping, the page included */
	unsigned char *data;
	uint64_t data_size; /* a power of two */
	uint64_t head;	    /* as last seen: records below it can be taken */
	uint64_t tail;	    /* records below it were taken */
	void *scratch;	    /* for a record that wraps */
	size_t largest;	    /* record that was taken */

	/* What went by, over the ring's life. */
	uint64_t records;
	uint64_t lost;	    /* records that the kernel had no room for */
	uint64_t throttled; /* times that the kernel held an event back */
	uint64_t corrupt;   /* times that the ring made no sense */
};

/*
 * pm_ring_map() - maps the ring of event FD with DATA_PAGES pages for records, a power of
 * two. 0; -EINVAL: DATA_PAGES is none; -ENOMEM; or what mmap(2) gives: -EPERM: above
 * kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK, -EINVAL: an event that is inherited and
 * not bound to a CPU. On failure RING is untouched. Allocates; nothing below does.
 */
int pm_ring_map(struct pm_ring *ring, int fd, uint32_t data_pages);

/* The same over SIZE bytes that are mapped already and not given back: page and data. */
int pm_ring_over(struct pm_ring *ring, void *page, size_t size);

/* Unmaps and forgets; a ring that is not mapped, too. */
void pm_ring_unmap(struct pm_ring *ring);

/* The same in a child of fork(2), which has no such mapping: frees what is its own. */
void pm_ring_forget(struct pm_ring *ring);

/* Whether a record waits. One load; another thread than the drainer may be late. */
static inline bool pm_ring_pending(const struct pm_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;

	/* Relaxed: pm_ring_next() orders what it reads. */
	return page && __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) != ring->tail;
}

/* Where the kernel writes next. */
static inline uint64_t pm_ring_head(const struct pm_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;

	/* Acquire: as in pm_ring_next(). */
	return page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) : 0;
}

/* Whether the kernel may have had no room for one more record, where USED bytes
 * waited. */
static inline bool pm_ring_was_full(const struct pm_ring *ring, uint64_t used)
{
	return used + ring->largest > ring->data_size;
}

/*
 * pm_ring_next() - 1 and the next record in *OUT, aligned to 8 and valid until
 * pm_ring_release() (one that wraps: until the next call); 0 if there is none now;
 * -EBADMSG: what stands there is no record, and all that the ring held was dropped.
 * Records of losses and of throttling are counted, and given like any other.
 */
int pm_ring_next(struct pm_ring *ring, const struct perf_event_header **out);

/* Gives the room of the records that were taken back to the kernel. */
void pm_ring_release(struct pm_ring *ring);

#endif
