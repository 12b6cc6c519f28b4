/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is left to the program: its descriptors, its address space, and its files. */
#include "region_probe.h"
#include "bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/kernel/kernel.h"
#include "core/regions/slow/setup.h"
#include "core/regions/threads/state.h"
#include "perfmon/perfmon2.h"
#include "perfmon/report.h"
#include "perfmon/session.h"

TestSuite(region_limits, .init = probe_quiet, .timeout = 120);

static void one(void)
{
	PERFMON_REGION_BEGIN("one");
	PERFMON_REGION_END("one");
}

/* --- descriptors 0, 1 and 2 --------------------------------------------------------- */

/* Which of the first three lead anywhere. */
static int standard_ones(void)
{
	int found = 0;

	for (int fd = 0; fd < 3; fd++)
		found |= (fcntl(fd, F_GETFD) >= 0) << fd;
	return found;
}

static int each_call_leaves_them(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1};
	int ends[2], fds[8], count = 0;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	fds[count++] = pm_kernel_open("/dev/null", O_RDWR, 0);
	fds[count++] = pm_kernel_eventfd();
	fds[count++] = pm_kernel_epoll_create();
	fds[count++] = pm_kernel_memfd_create("test", 1);
	fds[count++] = pm_kernel_pidfd_open(getpid(), 0);
	fds[count++] = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (pm_kernel_socketpair(ends))
		return 2;
	fds[count++] = ends[0];
	fds[count++] = ends[1];
	for (int i = 0; i < count; i++) {
		/* A kernel may refuse the last but two. */
		if (fds[i] >= 0 && (fds[i] < 3 || fcntl(fds[i], F_GETFD) != FD_CLOEXEC))
			return 10 + i;
	}
	return standard_ones();
}

static void *thread_of_regions(void *unused)
{
	for (int i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name %d", i);
		perfmon_region_begin_name(name);
		one();
		perfmon_region_end_name(name);
	}
	return unused;
}

static int regions_leave_them(void)
{
	static const int closed[] = {0, 1, 2};
	struct pm_snapshot *s;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		close(closed[i]);
	setenv("PERFMON_OUTPUT", "stderr", 1);
	setenv("PERFMON_EVENTS", "page-faults,task-clock", 1);
	for (int i = 0; i < 3; i++) {
		one();
		if (standard_ones())
			return 10 + i;
		if (pthread_create(&thread, NULL, thread_of_regions, NULL))
			return 2;
		pthread_join(thread, NULL);
	}
	if (standard_ones())
		return 20;
	if (pm_regions_snapshot(&s, NULL) || probe_visits(s, "one") != 3)
		return 3;
	/* Nowhere, and not into what is opened next. */
	pm_exit_report();
	if (perfmon_report_print(NULL) != -EBADF)
		return 4;
	return standard_ones();
}

Test(region_limits, no_descriptor_of_ours_is_a_standard_one)
{
	cr_expect_eq(probe_child(each_call_leaves_them), 0);
	cr_expect_eq(probe_child(regions_leave_them), 0);
}

/* --- a report for stderr ------------------------------------------------------------ */

static char path[64];
static char text[8192];

/* What a child has left in the file at PATH. */
static const char *file_after(int (*child)(void))
{
	ssize_t n;
	int fd;

	strcpy(path, "/tmp/perfmon-limits-XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(probe_child(child), 0);
	n = read(fd, text, sizeof(text) - 1);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	close(fd);
	unlink(path);
	return text;
}

static int put_file_at(int at)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	CHILD_CHECK(fd >= 0 && dup2(fd, at) == at);
	if (fd != at)
		close(fd);
	return 0;
}

static int reports(void)
{
	setenv("PERFMON_OUTPUT", "stderr", 1);
	if (put_file_at(2))
		return 1;
	one();
	pm_exit_report();
	return perfmon_report_print(NULL);
}

static int becomes_a_daemon(void)
{
	setenv("PERFMON_OUTPUT", "stderr", 1);
	setenv("PERFMON_DEBUG", "1", 1);
	if (put_file_at(1))
		return 1;
	one();
	if (put_file_at(2) || write(2, "DATA", 4) != 4)
		return 2;
	/* What a forked child opens there is its data, too. */
	if (probe_child(reports))
		return 0;
	return 3;
}

static int data_only(void)
{
	setenv("PERFMON_OUTPUT", "stderr", 1);
	one();
	close(2);
	if (put_file_at(2) || write(2, "DATA", 4) != 4)
		return 2;
	setenv("PERFMON_DEBUG", "1", 1);
	pm_exit_report();
	pm_regions_debug("a word");
	return perfmon_report_print(NULL) == -EBADF ? 0 : 3;
}

static int stdout_is_data(void)
{
	setenv("PERFMON_OUTPUT", "stdout", 1);
	one();
	if (put_file_at(1) || write(1, "DATA", 4) != 4)
		return 2;
	/* Where the report would go instead. */
	close(2);
	pm_exit_report();
	return perfmon_report_print(NULL) == -EBADF ? 0 : 3;
}

Test(region_limits, a_report_goes_to_what_stderr_was)
{
	cr_expect(strstr(file_after(reports), "one"), "%s", text);
	cr_expect_str_eq(file_after(data_only), "DATA");
	cr_expect_str_eq(file_after(becomes_a_daemon), "DATA");
	cr_expect_str_eq(file_after(stdout_is_data), "DATA");
}

/* --- limits ------------------------------------------------------------------------- */

#define LIMIT	100
#define THREADS 60

static pthread_barrier_t inside, leave;

static void *stay(void *unused)
{
	PERFMON_REGION_BEGIN("stay");
	one();
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&leave);
	PERFMON_REGION_END("stay");
	return unused;
}

/* 60 threads with two counters each, and a limit of 100 descriptors. */
static int leaves_descriptors(void)
{
	struct rlimit limit = {.rlim_cur = LIMIT, .rlim_max = LIMIT};
	pthread_t threads[THREADS];
	struct pm_snapshot *s;
	unsigned int refused = 0, open_in = 0;

	setenv("PERFMON_EVENTS", "task-clock,page-faults", 1);
	CHILD_CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	pthread_barrier_init(&inside, NULL, THREADS + 1);
	pthread_barrier_init(&leave, NULL, THREADS + 1);
	one();
	for (int i = 0; i < THREADS; i++)
		CHILD_CHECK(!pthread_create(&threads[i], NULL, stay, NULL));
	pthread_barrier_wait(&inside);
	for (int i = 0; i < LIMIT / 4; i++)
		CHILD_CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
	pthread_barrier_wait(&leave);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_visits(s, "stay/one") == THREADS);
	CHILD_CHECK(probe_note(s, "RLIMIT_NOFILE is 100"));
	/* The sums of those that counted are not lost in those of the others. */
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const struct perfmon_profile_thread *record = &s->threads[i].record;

		if (record->status[0] == -EMFILE)
			refused += record->aggregated;
		else if (record->status[0] > 0)
			open_in += record->aggregated;
	}
	CHILD_CHECK(refused >= THREADS / 4 && open_in >= THREADS / 4);
	CHILD_CHECK(refused + open_in == THREADS);
	return 0;
}

/* Row: DC-01 */
Test(region_limits, descriptors_are_left_to_the_program)
{
	cr_assert_eq(probe_child(leaves_descriptors), 0);
}

/* The size of the mapping that ADDRESS is in. */
static uint64_t mapping_of(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long from, to, size = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx", &from, &to) == 2 &&
		    from <= (uintptr_t)address && (uintptr_t)address < to)
			size = to - from;
	}
	if (maps)
		fclose(maps);
	return size;
}

/* Without a limit of the kernel's: a sanitizer has more address space than it would
 * allow. */
static uint64_t limit_told;
static int tell_limit(enum pm_kernel_call call)
{
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};

	if (call != PM_CALL_GETRLIMIT || !limit_told)
		return 0;
	/* One that this process is far from: of data, of which it has little. */
	limit.rlim_cur = limit_told;
	limit_told = 0;
	return setrlimit(RLIMIT_DATA, &limit) ? -errno : 0;
}

static int takes_a_share(void)
{
	limit_told = UINT64_C(4) << 30;
	pm_kernel_fault = tell_limit;
	one();
	pm_kernel_fault = NULL;
	CHILD_CHECK(probe_now("one") == 1);
	CHILD_CHECK(mapping_of(pm_profile_header()) == UINT64_C(256) << 20);
	return 0;
}

static int takes_a_gigabyte(void)
{
	one();
	CHILD_CHECK(mapping_of(pm_profile_header()) == UINT64_C(1) << 30);
	return 0;
}

Test(region_limits, address_space_is_left_to_the_program)
{
	struct rlimit limit;

#ifdef TESTS_SANITIZED
	cr_skip_test("a sanitizer maps more than these limits");
#endif
	cr_expect_eq(probe_child(takes_a_share), 0);
	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY)
		cr_skip_test("the address space is limited here");
	cr_expect_eq(probe_child(takes_a_gigabyte), 0);
}

static int no_mapping(enum pm_kernel_call call)
{
	return call == PM_CALL_MMAP ? -ENOMEM : 0;
}

static int without_a_profile(void)
{
	if (put_file_at(2))
		return 1;
	pm_kernel_fault = no_mapping;
	one();
	pm_kernel_fault = NULL;
	one();
	pm_exit_report();
	return 0;
}

static int without_a_word(void)
{
	setenv("PERFMON_OUTPUT", "none", 1);
	return without_a_profile();
}

static int with_a_word(void)
{
	setenv("PERFMON_OUTPUT", "stderr", 1);
	return without_a_profile();
}

Test(region_limits, who_cannot_count_says_so)
{
	cr_expect(strstr(file_after(with_a_word), "regions are not counted"), "%s", text);
	cr_expect_str_eq(file_after(without_a_word), "");
}
