/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/counters/instance.h"

#include <errno.h>
#include <stdlib.h>

#include "core/counters/diagnosis.h"
#include "core/counters/exact.h"
#include "core/counters/group.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/valgrind/exact.h"

/* The data of a group's read(2), and of an inherited event, which is read alone. */
struct group_data {
	uint64_t members;
	uint64_t enabled_ns;
	uint64_t running_ns;
	struct {
		uint64_t value;
		uint64_t id;
	} counter[PM_GROUP_MAX];
};

struct single_data {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t id;
};

/* --- reading ------------------------------------------------------------------------ */

static bool is_leader(const struct pm_instance *instance, uint32_t i)
{
	return pm_group_has(i, &instance->counters[i]);
}

static bool is_ours(const struct pm_counter *counter)
{
	uint64_t id;

	return !pm_kernel_ioctl_ptr(counter->fd, PERF_EVENT_IOC_ID, &id) &&
	       id == counter->id;
}

/* Returns the bytes read. 0 bytes mean that a pinned group does not fit. */
static ssize_t read_event(int fd, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = pm_kernel_read(fd, buffer, size);
	while (n == -EINTR);
	return n ?: -ENODATA;
}

static int read_group(const struct pm_instance *instance, uint32_t leader,
		      struct group_data *data)
{
	const struct pm_counter *counter = &instance->counters[leader];
	const size_t head = offsetof(struct group_data, counter);
	const size_t each = sizeof(data->counter[0]);
	ssize_t n = read_event(counter->fd, data, head + counter->members * each);

	if (n < 0)
		return (int)n;
	/* Fewer members than opened are right: the program closed a sibling. */
	return (size_t)n >= head && (size_t)n == head + data->members * each ? 0 : -EIO;
}

/* Returns the place of counter I in DATA: its known place, unless the program closed a
 * sibling. */
static int find_in_group(const struct pm_instance *instance, uint32_t i,
			 const struct group_data *data)
{
	const struct pm_counter *counter = &instance->counters[i];

	if (counter->position < data->members &&
	    data->counter[counter->position].id == counter->id)
		return (int)counter->position;
	for (uint32_t k = 0; k < data->members; k++)
		if (data->counter[k].id == counter->id)
			return (int)k;
	return -EBADF;
}

static int reading_from_group(const struct pm_instance *instance, uint32_t i,
			      const struct group_data *data, struct pm_reading *reading)
{
	int at = find_in_group(instance, i, data);

	if (at < 0)
		return at;
	*reading = (struct pm_reading){data->counter[at].value, data->enabled_ns,
				       data->running_ns};
	return 0;
}

static int read_single(const struct pm_counter *counter, struct pm_reading *reading)
{
	struct single_data data;
	ssize_t n;

	if (!is_ours(counter))
		return -EBADF;
	n = read_event(counter->fd, &data, sizeof(data));
	if (n < 0)
		return (int)n;
	if (n != sizeof(data))
		return -EIO;
	*reading = (struct pm_reading){data.value, data.enabled_ns, data.running_ns};
	return 0;
}

int pm_instance_read_counter(const struct pm_instance *instance, uint32_t i,
			     struct pm_reading *reading)
{
	const struct pm_counter *counter = &instance->counters[i];
	struct group_data data;
	int err;

	if (counter->is_exact)
		return pm_exact_read(instance, i, reading);
	if (counter->fd < 0)
		return counter->error ?: -EBADF;
	if (instance->flags & PM_OPEN_INHERIT)
		return read_single(counter, reading);
	if (!is_ours(&instance->counters[counter->leader]))
		return -EBADF;
	err = read_group(instance, counter->leader, &data);
	return err ?: reading_from_group(instance, i, &data, reading);
}

int pm_instance_read_group(const struct pm_instance *instance, uint32_t i,
			   struct pm_reading *readings)
{
	uint32_t leader = instance->counters[i].leader;
	struct group_data data;
	int err;

	if (instance->exact)
		return pm_exact_read(instance, i, &readings[i]);
	if (instance->counters[i].fd < 0)
		return instance->counters[i].error ?: -EBADF;
	if (instance->flags & PM_OPEN_INHERIT)
		return read_single(&instance->counters[i], &readings[i]);
	if (!is_ours(&instance->counters[leader]))
		return -EBADF;
	err = read_group(instance, leader, &data);
	for (uint32_t j = 0; !err && j < instance->count; j++)
		if (pm_group_has(leader, &instance->counters[j]))
			err = reading_from_group(instance, j, &data, &readings[j]);
	return err;
}

int pm_instance_read(const struct pm_instance *instance, struct pm_reading *readings)
{
	int first = 0;

	for (uint32_t i = 0; i < instance->count; i++) {
		int err = 0;

		if (instance->exact || is_leader(instance, i) ||
		    (instance->flags & PM_OPEN_INHERIT && instance->counters[i].fd >= 0))
			err = pm_instance_read_group(instance, i, readings);
		if (err && !first)
			first = err;
	}
	return first;
}

int pm_instance_starved(const struct pm_instance *instance,
			const struct pm_reading *readings)
{
	for (uint32_t i = 0; i < instance->count; i++) {
		if (is_leader(instance, i) && instance->counters[i].members > 1 &&
		    readings[i].enabled_ns && !readings[i].running_ns)
			return (int)i;
	}
	return -1;
}

/* Stores each counter's identity once, so that later uses can compare it. */
static int learn_ids(struct pm_instance *instance)
{
	struct group_data data;
	int err = 0;

	for (uint32_t i = 0; i < instance->count && !err; i++) {
		struct pm_counter *counter = &instance->counters[i];

		if (counter->fd < 0)
			continue;
		if (instance->flags & PM_OPEN_INHERIT) {
			err = pm_kernel_ioctl_ptr(counter->fd, PERF_EVENT_IOC_ID,
						  &counter->id);
			continue;
		}
		if (!is_leader(instance, i))
			continue;
		/* One call for the group returns its members in the order in which they
		 * joined. */
		err = read_group(instance, i, &data);
		for (uint32_t j = 0; !err && j < instance->count; j++) {
			struct pm_counter *member = &instance->counters[j];

			if (pm_group_has(i, member))
				member->id = data.counter[member->position].id;
		}
	}
	return err;
}

/* --- pages -------------------------------------------------------------------------- */

static int map_page(struct pm_counter *counter)
{
	void *page;
	int err = pm_kernel_mmap(&page, pm_kernel_page_size(), PROT_READ, MAP_SHARED,
				 counter->fd, 0);

	if (!err)
		counter->page = page;
	return err;
}

static void unmap_page(struct pm_counter *counter)
{
	if (counter->page)
		pm_kernel_munmap(counter->page, pm_kernel_page_size());
	counter->page = NULL;
	counter->user_read = false;
}

/* Returns whether counter I is in a group with a metric: the kernel resets slots when it
 * reads them together, and does not update their pages. */
static bool has_metric(const struct pm_instance *instance, uint32_t i)
{
	for (uint32_t j = 0; instance->counters[i].event->topdown && j < instance->count;
	     j++) {
		const struct pm_counter *member = &instance->counters[j];

		if (member->event->topdown == PM_TOPDOWN_METRIC &&
		    pm_group_has(instance->counters[i].leader, member))
			return true;
	}
	return false;
}

bool pm_instance_user_access(void)
{
	int64_t value = 1;

	if (pm_is_translated())
		return false;
#if defined(__riscv)
	value = 0; /* before Linux 6.6 only the kernel reads counters */
#endif
#if defined(__aarch64__) || defined(__riscv)
	pm_file_number("/proc/sys/kernel/perf_user_access", &value);
#endif
	return value != 0;
}

/* riscv64 grants reads on the page only while the event is on the hardware, and no
 * thread can read with index 0 (Linux, drivers/perf/riscv_pmu.c, riscv_perf_user_access()). */
static bool grants_reads(const struct perf_event_mmap_page *page)
{
#if defined(__riscv)
	return page->cap_user_rdpmc || !page->index;
#else
	return page->cap_user_rdpmc;
#endif
}

/* Returns the same, but keeps the answer if access was there. If access is lost later,
 * reads are system calls, and reports mark them as such. */
static bool access_known(void)
{
	static bool was_there;

	if (!__atomic_load_n(&was_there, __ATOMIC_RELAXED))
		__atomic_store_n(&was_there, pm_instance_user_access(), __ATOMIC_RELAXED);
	return __atomic_load_n(&was_there, __ATOMIC_RELAXED);
}

static void map_pages(struct pm_instance *instance, struct pm_diag *diag)
{
	struct pm_counter *clock = NULL;
	bool mapped = false, access = true;
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pm_counter *counter = &instance->counters[i];

		/* An event that writes records has a ring, which is mapped along with its
		 * page. */
		if (counter->fd < 0 || counter->event->attr.sample_period ||
		    counter->event->attr.mmap)
			continue;
		if (!clock)
			clock = counter;
		if (!counter->event->hardware || counter->event->uncore ||
		    has_metric(instance, i))
			continue;
		counter->page_error = map_page(counter);
		if (counter->page_error) {
			if (diag && !diag->error)
				pm_diagnosis_page(diag, counter->page_error,
						  counter->event);
			continue;
		}
		if (!mapped)
			access = access_known();
		counter->user_read = access && grants_reads(counter->page);
		mapped = true;
		if (!counter->user_read && !(instance->flags & PM_OPEN_TIME)) {
			unmap_page(counter);
			counter->page_error = -EOPNOTSUPP;
		}
	}
	if (instance->flags & PM_OPEN_TIME && !mapped && clock && !map_page(clock) &&
	    !clock->page->cap_user_time)
		unmap_page(clock);
}

void pm_instance_view(const struct pm_instance *instance, uint32_t i, uint64_t base,
		      struct perfmon_counter_view *view)
{
	if (instance->counters[i].user_read)
		pm_view_init(view, instance->counters[i].page, base);
	else
		pm_view_init_none(view);
}

/* --- the whole ---------------------------------------------------------------------- */

/* Counter I could not be opened. Returns 0 to continue without it. */
static int refuse(struct pm_instance *instance, uint32_t i, int err, struct pm_diag *diag)
{
	struct pm_counter *counter = &instance->counters[i];

	if (!diag || !diag->error)
		pm_diagnosis_open(diag, err, counter->event, instance->tid,
				  instance->cpu);
	counter->error = err;
	return instance->flags & PM_OPEN_PARTIAL ? 0 : err;
}

static int open_exact(struct pm_instance *instance, struct pm_diag *diag)
{
	int err = pm_exact_open(instance, diag);

	if (!err)
		return (int)instance->open;
	for (uint32_t i = 0; i < instance->count; i++)
		instance->counters[i].error = err;
	return instance->flags & PM_OPEN_PARTIAL ? 0 : err;
}

int pm_instance_open(struct pm_instance *instance, const struct pm_event *events,
		     uint32_t count, pid_t tid, int cpu, unsigned int flags,
		     struct pm_diag *diag)
{
	uint32_t i;
	int err;

	/* Only the thread that the event counts can use its page. */
	if ((tid != 0 && tid != pm_kernel_gettid()) || cpu >= 0 ||
	    flags & PM_OPEN_INHERIT)
		flags &= ~(PM_OPEN_USER_READ | PM_OPEN_TIME);

	*instance = (struct pm_instance){
		.tid = tid, .cpu = cpu, .flags = flags, .count = count};
	for (i = 0; i < count; i++)
		instance->counters[i] =
			(struct pm_counter){.event = &events[i], .fd = -1, .leader = i};
	if (diag)
		pm_diag_clear(diag);
	if (pm_exact_wanted(instance))
		return open_exact(instance, diag);
	/* Slots lead their group at any place in the list: no metric opens before
	 * them. */
	for (i = 0; i < 2 * count; i++) {
		uint32_t k = i % count;

		if ((events[k].topdown == PM_TOPDOWN_SLOTS) != (i < count))
			continue;
		err = pm_group_open(instance, k);
		if (err && refuse(instance, k, err, diag))
			goto fail;
	}
	while ((i = pm_groups_fit(instance, &err)) != PM_NO_GROUP)
		if (refuse(instance, i, err, diag))
			goto fail;
	err = learn_ids(instance);
	if (err) {
		pm_diag_set(diag, err, "cannot read the events just opened: error %d",
			    -err);
		goto fail;
	}
	if (flags & (PM_OPEN_USER_READ | PM_OPEN_TIME))
		map_pages(instance, diag);
	return (int)instance->open;

fail:
	for (i = count; i-- > 0;) {
		if (instance->counters[i].fd >= 0)
			pm_kernel_close(instance->counters[i].fd);
		instance->counters[i].fd = -1;
	}
	instance->open = 0;
	return err;
}

int pm_instance_new(struct pm_instance **instance, const struct pm_event *events,
		    uint32_t count, pid_t tid, int cpu, unsigned int flags,
		    struct pm_diag *diag)
{
	int open;

	*instance = calloc(1, pm_instance_size(count));
	if (!*instance)
		return pm_diag_set(diag, -ENOMEM, "out of memory");
	open = pm_instance_open(*instance, events, count, tid, cpu, flags, diag);
	if (open < 0) {
		free(*instance);
		*instance = NULL;
	}
	return open;
}

static int each_group(struct pm_instance *instance, unsigned long request)
{
	int first = 0;

	for (uint32_t i = 0; i < instance->count; i++) {
		if (is_leader(instance, i)) {
			int err = pm_kernel_ioctl(instance->counters[i].fd, request, 0);

			if (err < 0 && !first)
				first = err;
		}
	}
	return first;
}

int pm_instance_enable(struct pm_instance *instance)
{
	return instance->exact ? pm_exact_enable(instance)
			       : each_group(instance, PERF_EVENT_IOC_ENABLE);
}

int pm_instance_disable(struct pm_instance *instance)
{
	return instance->exact ? pm_exact_disable(instance)
			       : each_group(instance, PERF_EVENT_IOC_DISABLE);
}

static void close_counters(struct pm_instance *instance)
{
	/* Siblings come before their leader: closing the leader first would split the
	 * group. */
	for (uint32_t i = 2 * instance->count; i-- > 0;) {
		struct pm_counter *counter = &instance->counters[i % instance->count];

		if (i >= instance->count && counter->leader == i % instance->count)
			continue;
		if (counter->fd >= 0 && is_ours(counter))
			pm_kernel_close(counter->fd);
		counter->fd = -1;
	}
	instance->open = 0;
}

void pm_instance_close(struct pm_instance *instance)
{
	if (instance->exact)
		pm_exact_close(instance);
	for (uint32_t i = 0; i < instance->count; i++) {
		unmap_page(&instance->counters[i]);
		/* A child may hold a descriptor, which keeps the event alive. */
		if (is_leader(instance, i) && is_ours(&instance->counters[i]))
			pm_kernel_ioctl(instance->counters[i].fd, PERF_EVENT_IOC_DISABLE,
					0);
	}
	close_counters(instance);
}

void pm_instance_free(struct pm_instance *instance)
{
	if (instance)
		pm_instance_close(instance);
	free(instance);
}

void pm_instance_forget(struct pm_instance *instance)
{
	if (instance->exact)
		pm_exact_close(instance);
	for (uint32_t i = 0; i < instance->count; i++) {
		instance->counters[i].page = NULL;
		instance->counters[i].user_read = false;
	}
	close_counters(instance);
}
