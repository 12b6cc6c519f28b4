/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/counters/exact.h"

#include <errno.h>

#include "core/kernel/kernel.h"

/* A page, and the state of a counter that the kernel would keep. */
struct pm_exact_counter {
	struct perf_event_mmap_page page;
	uint64_t handle;
	uint64_t since_ns; /* CLOCK_MONOTONIC when it was enabled */
	uint64_t spent_ns; /* enabled before that */
};

static struct pm_exact_counter *counter_at(const struct pm_instance *instance, uint32_t i)
{
	return (struct pm_exact_counter *)instance->exact + i;
}

static size_t size_of(uint32_t count)
{
	size_t page = pm_kernel_page_size();

	return (count * sizeof(struct pm_exact_counter) + page - 1) / page * page;
}

bool pm_exact_wanted(const struct pm_instance *instance)
{
	for (uint32_t i = 0; i < instance->count; i++)
		if (instance->counters[i].event->exact)
			return true;
	return false;
}

/* Returns why INSTANCE is not possible, the end of a sentence, or NULL. */
static const char *wrong_with(const struct pm_instance *instance)
{
	if (instance->tid != 0 && instance->tid != pm_kernel_gettid())
		return instance->tid < 0 ? "they cannot count a CPU"
					 : "they cannot count another thread or process";
	if (instance->flags & (PM_OPEN_INHERIT | PM_OPEN_ON_EXEC))
		return "they do not follow threads or programs that the thread starts";
	for (uint32_t i = 0; i < instance->count; i++) {
		const struct pm_event *event = instance->counters[i].event;

		if (!event->exact)
			return "exact events are not multiplexed: all of them count at "
			       "once, put them into one set";
		if (event->attr.sample_period || event->attr.sample_type)
			return "they have no overflows and no samples";
		if (perfmon_arch_counter_handle((uint32_t)event->attr.config + 1) ==
		    PERFMON_ARCH_NO_HANDLE)
			return "this CPU family has no instruction to read them";
	}
	return NULL;
}

int pm_exact_open(struct pm_instance *instance, struct pm_diag *diag)
{
	const char *wrong = wrong_with(instance);
	void *memory;
	int err;

	if (wrong)
		return pm_diag_set(diag, -EOPNOTSUPP,
				   "exact events count the calling thread: %s", wrong);
	err = pm_kernel_map(&memory, size_of(instance->count));
	if (err)
		return pm_diag_set(diag, err, "no memory for exact counters");
	instance->exact = memory;
	instance->exact_thread = perfmon_arch_thread_pointer();
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pm_counter *counter = &instance->counters[i];
		struct pm_exact_counter *exact = counter_at(instance, i);

		exact->handle = perfmon_arch_counter_handle(
			(uint32_t)counter->event->attr.config + 1);
		exact->page.cap_bit0_is_deprecated = 1;
		exact->page.cap_user_rdpmc = 1;
		exact->page.pmc_width = 64;
		counter->leader = i;
		counter->members = 1;
		counter->is_exact = true;
		counter->page = &exact->page;
		counter->user_read = instance->flags & PM_OPEN_USER_READ;
		instance->open++;
	}
	return 0;
}

static uint64_t now(const struct pm_exact_counter *exact)
{
	uint64_t check = 0;

	return perfmon_arch_counter_read(exact->handle, &check);
}

static uint64_t clock_ns(void)
{
	uint64_t ns;

	return pm_kernel_clock_ns(CLOCK_MONOTONIC, &ns) ? 0 : ns;
}

/* The page's own thread writes it. A signal handler of that thread may read in
 * between. */
static void page_write(struct perf_event_mmap_page *page, uint32_t index, uint64_t offset,
		       uint64_t spent_ns)
{
	/* As the kernel writes a page. Pairs with the loads of `lock` in perfmon_view_read(). */
	__atomic_store_n(&page->lock, page->lock + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	page->index = index;
	page->offset = (int64_t)offset;
	page->time_enabled = page->time_running = spent_ns;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&page->lock, page->lock + 1, __ATOMIC_RELEASE);
}

int pm_exact_enable(struct pm_instance *instance)
{
	uint64_t ns;

	if (instance->exact_thread != perfmon_arch_thread_pointer())
		return -EOPNOTSUPP;
	ns = clock_ns();
	for (uint32_t i = instance->count; i-- > 0;) {
		struct pm_exact_counter *exact = counter_at(instance, i);
		uint32_t index = (uint32_t)instance->counters[i].event->attr.config + 1;

		if (exact->page.index)
			continue;
		exact->since_ns = ns;
		page_write(&exact->page, index, (uint64_t)exact->page.offset - now(exact),
			   exact->spent_ns);
	}
	return 0;
}

int pm_exact_disable(struct pm_instance *instance)
{
	uint64_t ns;

	if (instance->exact_thread != perfmon_arch_thread_pointer())
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pm_exact_counter *exact = counter_at(instance, i);

		if (exact->page.index)
			page_write(&exact->page, 0,
				   (uint64_t)exact->page.offset + now(exact),
				   exact->spent_ns);
	}
	ns = clock_ns();
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pm_exact_counter *exact = counter_at(instance, i);

		if (exact->since_ns)
			exact->spent_ns += ns - exact->since_ns;
		exact->since_ns = 0;
	}
	return 0;
}

int pm_exact_read(const struct pm_instance *instance, uint32_t i,
		  struct pm_reading *reading)
{
	const struct pm_exact_counter *exact = counter_at(instance, i);
	uint64_t value = (uint64_t)exact->page.offset, ns = exact->spent_ns;

	if (exact->page.index) {
		if (instance->exact_thread != perfmon_arch_thread_pointer())
			return -EOPNOTSUPP;
		value += now(exact);
		ns += clock_ns() - exact->since_ns;
	}
	*reading = (struct pm_reading){value, ns, ns};
	return 0;
}

void pm_exact_close(struct pm_instance *instance)
{
	for (uint32_t i = 0; i < instance->count; i++) {
		instance->counters[i].page = NULL;
		instance->counters[i].user_read = false;
		instance->counters[i].is_exact = false;
	}
	pm_kernel_munmap(instance->exact, size_of(instance->count));
	instance->exact = NULL;
	instance->open = 0;
}
