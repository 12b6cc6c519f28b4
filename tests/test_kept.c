/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles that are kept in a file: how it is made and named, what stands in it when the
 * program ends in whatever way, and what happens when the disk is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "core/kernel/kernel.h"
#include "helpers.h"
#include "kept_probe.h"

TestSuite(kept, .init = kept_begin, .fini = kept_end, .timeout = 120);

static void visit(const char *name, int times)
{
	while (times-- > 0) {
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
}

static pid_t last_child;

/* A child, with its profile at PATH, that does BODY; its exit status, or 1000 + the
 * signal that ended it. */
static int with_profile(const char *path, int (*body)(void))
{
	int status;

	fflush(NULL);
	last_child = fork();
	if (!last_child) {
		setenv("PERFMON_PROFILE", path, 1);
		_exit(body());
	}
	cr_assert_gt(last_child, 0);
	cr_assert_eq(waitpid(last_child, &status, 0), last_child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static const char *with_pid(const char *name, const char *more)
{
	char text[64];

	snprintf(text, sizeof(text), "%s.%d%s", name, (int)last_child, more);
	return in_folder(text);
}

static int five_visits(void)
{
	visit("work", 5);
	return 0;
}

static void check_five(const char *path)
{
	struct pm_snapshot *s = kept_take(path);

	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(probe_visits(s, "work"), 5);
	cr_assert_eq(s->writer, PM_WRITER_GONE); /* by _exit() */
	pm_snapshot_free(s);
}

/* --- the file ----------------------------------------------------------------------- */

/* Row: DC-02 */
Test(kept, the_file_is_the_users_alone)
{
	struct stat st;

	umask(0);
	cr_assert_eq(with_profile(in_folder("profile"), five_visits), 0);
	cr_assert_eq(stat(in_folder("profile"), &st), 0);
	cr_assert_eq(st.st_mode, S_IFREG | 0600);
	/* Not only as long as its name says: the places are taken. */
	cr_assert_geq((uint64_t)st.st_blocks * 512, (uint64_t)st.st_size);
	check_five(in_folder("profile"));
}

Test(kept, no_link_is_followed)
{
	struct stat st;

	cr_assert_eq(symlink(in_folder("elsewhere"), in_folder("profile")), 0);
	cr_assert_eq(with_profile(in_folder("profile"), five_visits), 0);
	cr_assert_eq(stat(in_folder("elsewhere"), &st), -1);
	check_five(with_pid("profile", ""));
}

Test(kept, no_file_is_written_over)
{
	int fd = open(in_folder("profile"), O_WRONLY | O_CREAT, 0600);
	char command[700];

	cr_assert_eq(write(fd, "mine", 4), 4);
	close(fd);
	cr_assert_eq(with_profile(in_folder("profile"), five_visits), 0);
	check_five(with_pid("profile", ""));
	snprintf(command, sizeof(command), "test \"$(cat %s)\" = mine",
		 in_folder("profile"));
	cr_assert_eq(system(command), 0);
}

/* Whatever stands in the way. */
static int names_taken(void)
{
	char name[300];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name),
			 i < 1	 ? "%s/profile"
			 : i < 2 ? "%s/profile.%d"
				 : "%s/profile.%d.2",
			 folder, (int)getpid());
		if (i == 1 ? mkdir(name, 0700) : mkfifo(name, 0600))
			return 1;
	}
	return five_visits();
}

Test(kept, taken_names_are_passed_over)
{
	cr_assert_eq(with_profile(in_folder("profile"), names_taken), 0);
	check_five(with_pid("profile", ".3"));
}

static int says_that_it_is_kept_in_memory(void)
{
	struct pm_snapshot *s = NULL;

	visit("work", 5);
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_note(s, folder) &&
		    probe_note(s, "the profile is kept in memory"));
	CHILD_CHECK(probe_visits(s, "work") == 5);
	return 0;
}

Test(kept, without_a_file_it_is_kept_in_memory)
{
	cr_assert_eq(
		with_profile(in_folder("no/such/folder"), says_that_it_is_kept_in_memory),
		0);
}

static int names_no_other_file(void)
{
	struct pm_snapshot *s = NULL;

	visit("work", 5);
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_note(s, "the profile is kept in memory"));
	CHILD_CHECK(!probe_note(s, "there was a file"));
	return 0;
}

/* The name that was tried last is no longer that of a file. */
Test(kept, a_name_that_gets_too_long_is_not_the_profiles)
{
	char name[255];
	int fd;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fd = open(in_folder(name), O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(with_profile(in_folder(name), names_no_other_file), 0);
}

/* --- relatives ---------------------------------------------------------------------- */

static void *visit_in_thread(void *name)
{
	visit(name, 5);
	return NULL;
}

static int forks(void)
{
	int status;
	pid_t pid;

	visit("parent", 5);
	pid = fork();
	if (!pid) {
		visit("child", 7);
		pid = fork();
		if (!pid) {
			visit("grandchild", 9);
			_exit(0);
		}
		_exit(waitpid(pid, &status, 0) != pid || status);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

/* All profiles in the folder, by the region in them. */
static struct pm_snapshot *find_profile(const char *region)
{
	DIR *dir = opendir(folder);
	struct pm_snapshot *found = NULL;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct pm_snapshot *s;

		if (entry->d_name[0] == '.')
			continue;
		s = kept_take(in_folder(entry->d_name));
		if (probe_visits(s, region)) {
			cr_assert(!found, "%s: in two profiles", region);
			found = s;
		} else {
			pm_snapshot_free(s);
		}
	}
	closedir(dir);
	cr_assert(found, "%s", region);
	return found;
}

static void check_link(const struct pm_snapshot *child, const struct pm_snapshot *parent,
		       enum perfmon_profile_link link)
{
	cr_assert_eq(child->header.parent_link, link);
	cr_assert_eq(child->header.parent_pid, parent->header.pid);
	cr_assert_eq(child->header.parent_start_time, parent->header.start_time);
	cr_assert_eq(child->header.parent_image, parent->header.image);
}

static void check_family(const char *path)
{
	struct pm_snapshot *parent, *child, *grandchild;

	cr_assert_eq(with_profile(path, forks), 0);
	parent = find_profile("parent");
	child = find_profile("child");
	grandchild = find_profile("grandchild");
	cr_assert_eq(parent->header.pid, (uint32_t)last_child);
	cr_assert_eq(parent->header.parent_link, PERFMON_PROFILE_LINK_NONE);
	cr_assert_eq(parent->header.parent_pid, 0);
	check_link(child, parent, PERFMON_PROFILE_LINK_FORK);
	check_link(grandchild, child, PERFMON_PROFILE_LINK_FORK);
	cr_assert_eq(probe_all_visits(child), 7);
	pm_snapshot_free(parent);
	pm_snapshot_free(child);
	pm_snapshot_free(grandchild);
}

Test(kept, forked_children_have_their_own)
{
	check_family(in_folder("profile"));
}

Test(kept, forked_children_have_their_own_by_number)
{
	check_family(in_folder("%p.profile"));
}

static char program[4200];

/* The program has a region "constructor", one "work", and ends in the way it is told
 * to. */
static int execs(void)
{
	visit("before", 5);
	execl(program, program, "exec", (char *)NULL);
	return 1;
}

static int spawns(void)
{
	int status;
	pid_t pid;

	visit("before", 5);
	pid = fork();
	if (!pid) {
		execl(program, program, "_exit", (char *)NULL);
		_exit(1);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void find_program(void)
{
	ssize_t length = readlink("/proc/self/exe", program, 4096);

	cr_assert_gt(length, 0);
	program[length] = '\0';
	strcpy(strrchr(program, '/'), "/programs/region_ends");
}

/* It executes itself once more. */
Test(kept, executed_programs_have_their_own)
{
	struct pm_snapshot *before, *first, *second;

	find_program();
	cr_assert_eq(with_profile(in_folder("profile"), execs), 0);
	before = kept_take(in_folder("profile"));
	first = kept_take(with_pid("profile", ""));
	second = kept_take(with_pid("profile", ".2"));
	cr_assert_eq(probe_visits(before, "before"), 5);
	cr_assert_eq(before->header.image, 0);
	cr_assert_eq(before->writer, PM_WRITER_GONE);
	cr_assert_eq(probe_visits(first, "outer/work"), 3);
	cr_assert_eq(first->header.image, 1);
	check_link(first, before, PERFMON_PROFILE_LINK_EXEC);
	cr_assert_eq(second->header.image, 2);
	check_link(second, first, PERFMON_PROFILE_LINK_EXEC);
	cr_assert_eq(second->writer, PM_WRITER_ENDED);
	cr_assert_eq(second->header.pid, before->header.pid);
	pm_snapshot_free(before);
	pm_snapshot_free(first);
	pm_snapshot_free(second);
}

static void check_spawned(const char *path)
{
	struct pm_snapshot *parent, *child;

	find_program();
	cr_assert_eq(with_profile(path, spawns), 0);
	parent = find_profile("before");
	child = find_profile("outer/work");
	check_link(child, parent, PERFMON_PROFILE_LINK_SPAWN);
	cr_assert_eq(child->header.image, 0);
	pm_snapshot_free(parent);
	pm_snapshot_free(child);
}

Test(kept, programs_of_children_have_their_own)
{
	check_spawned(in_folder("profile"));
}

Test(kept, programs_of_children_have_their_own_by_number)
{
	check_spawned(in_folder("%p.profile"));
}

/* --- the ends of programs ----------------------------------------------------------- */

#define THREADS 4

static pthread_barrier_t all_done;

static void *visit_and_wait(void *name)
{
	visit(name, 1000);
	perfmon_region_begin_name("open");
	visit("inside", 10);
	pthread_barrier_wait(&all_done);
	for (;;)
		pause();
	return NULL;
}

static int (*ending)(void);

static int threads_and_an_end(void)
{
	pthread_t threads[THREADS];

	if (pthread_barrier_init(&all_done, NULL, THREADS + 1))
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, visit_and_wait, (void *)"work"))
			return 1;
	/* One that has ended before. */
	if (pthread_create(&threads[0], NULL, visit_in_thread, (void *)"work") ||
	    pthread_join(threads[0], NULL))
		return 1;
	pthread_barrier_wait(&all_done);
	return ending();
}

static int end_by_kill(void)
{
	return kill(getpid(), SIGKILL);
}

static int end_by_segv(void)
{
	/* A handler of the sanitizer's would be next. */
	signal(SIGSEGV, SIG_DFL);
	*(volatile int *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) =
		1;
	return 0;
}

static int end_by_abort(void)
{
	signal(SIGABRT, SIG_DFL);
	abort();
}

static int end_by_exit(void)
{
	_exit(3);
}

static void check_end(int (*how)(void), int status)
{
	struct rlimit none = {0, 0};
	struct pm_snapshot *s;

	setrlimit(RLIMIT_CORE, &none);
	ending = how;
	cr_assert_eq(with_profile(in_folder("profile.%p"), threads_and_an_end), status);
	s = kept_take(with_pid("profile", ""));
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->writer, PM_WRITER_GONE);
	cr_assert_eq(s->thread_count, THREADS + 1);
	probe_expect(s, {"work", THREADS * 1000 + 5}, {"open/inside", THREADS * 10},
		     {"open", 0});
	cr_assert_eq(probe_entered(s, "open"), THREADS);
	cr_assert_eq(probe_all_lost(s), 0);
	pm_snapshot_free(s);
}

/* An out-of-memory kill is a SIGKILL, too. Row: DC-02 */
Test(kept, all_visits_survive_kill)
{
	check_end(end_by_kill, 1000 + SIGKILL);
}

Test(kept, all_visits_survive_a_segmentation_fault)
{
	check_end(end_by_segv, 1000 + SIGSEGV);
}

Test(kept, all_visits_survive_abort)
{
	check_end(end_by_abort, 1000 + SIGABRT);
}

Test(kept, all_visits_survive__exit)
{
	check_end(end_by_exit, 3);
}

static int long_visits(void)
{
	perfmon_region_begin_name("outer");
	for (int i = 0; i < 10; i++) {
		perfmon_region_begin_name("inner");
		let_time_pass_ms(10);
		perfmon_region_end_name("inner");
	}
	return end_by_kill();
}

/* Nobody wrote the time of its death down, but the visits say how long it lived at
 * least. */
Test(kept, a_killed_programs_time_ends_with_its_last_visit)
{
	uint64_t before = now_ns(CLOCK_MONOTONIC);
	struct pm_snapshot *s;
	double lived, real;

	cr_assert_eq(with_profile(in_folder("profile"), long_visits), 1000 + SIGKILL);
	real = (double)(now_ns(CLOCK_MONOTONIC) - before);
	s = kept_take(in_folder("profile"));
	lived = pm_snapshot_ns(s, (double)(s->taken_ticks - s->header.begin_ticks));
	/* The rate of the ticks is known to a few thousandths by then. */
	cr_assert_geq(lived, 0.98 * 100e6);
	cr_assert_leq(lived, 1.02 * real);
	pm_snapshot_free(s);
}

static int meets_something_later(void)
{
	visit("first", 1);
	let_time_pass_ms(20);
	visit("second", 1);
	return end_by_kill();
}

static int waits_before_its_death(void)
{
	visit("first", 1);
	let_time_pass_ms(20);
	visit("first", 1);
	return end_by_kill();
}

/* The rate of its ticks is known over the time until it met something new. */
Test(kept, a_killed_program_has_left_a_rate)
{
	struct pm_snapshot *s;

	cr_assert_eq(with_profile(in_folder("later"), meets_something_later),
		     1000 + SIGKILL);
	s = kept_take(in_folder("later"));
	if (s->header.ticks_hz || s->header.clock == PERFMON_PROFILE_CLOCK_MONOTONIC) {
		pm_snapshot_free(s);
		cr_skip_test("the clock tells its rate");
	}
	cr_assert_geq(s->rate_span_ns, 20000000);
	cr_assert_eq(s->rate_span_ns, s->header.end_ns - s->header.begin_ns);
	cr_assert_gt(s->header.clock_error, 0);
	cr_assert_lt(s->tick_error, 0.0005);
	cr_assert(!probe_note(s, "times may be wrong"));
	pm_snapshot_free(s);
	/* What is known already costs nothing, and tells nothing. */
	cr_assert_eq(with_profile(in_folder("same"), waits_before_its_death),
		     1000 + SIGKILL);
	s = kept_take(in_folder("same"));
	cr_assert_gt(s->rate_span_ns, 0);
	cr_assert_eq(!!probe_note(s, "times may be wrong"), s->tick_error > 0.0005);
	pm_snapshot_free(s);
}

/* --- full disks --------------------------------------------------------------------- */

static unsigned int allocations, allocations_most;
static int allocation_error;

static int fail_allocation(enum pm_kernel_call call)
{
	return call == PM_CALL_FALLOCATE && ++allocations > allocations_most
		       ? allocation_error
		       : 0;
}

static void many_names(int count)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "one of many %d", i);
		visit(name, 1);
	}
}

/* The program loses nothing and can say why; then it is killed. */
static int outgrows_its_file(void)
{
	struct pm_snapshot *s = NULL;
	pthread_t thread;

	visit("early", 5);
	many_names(5000);
	visit("early", 5);
	CHILD_CHECK(!pthread_create(&thread, NULL, visit_in_thread, (void *)"late"));
	CHILD_CHECK(!pthread_join(thread, NULL));
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(!s->partial);
	CHILD_CHECK(probe_note(s, "could not grow"));
	CHILD_CHECK(probe_visits(s, "early") == 10);
	CHILD_CHECK(probe_visits(s, "one of many 4999") == 1);
	CHILD_CHECK(probe_visits(s, "late") == 5);
	CHILD_CHECK(probe_all_lost(s) == 0);
	return end_by_kill();
}

static int outgrows_by_fault(void)
{
	pm_kernel_fault = fail_allocation;
	return outgrows_its_file();
}

/* What is left in the file says what is missing, and what is there is right. */
static void check_outgrown(const char *path, const char *why)
{
	struct pm_snapshot *s = kept_take(path);

	cr_assert(s->partial);
	cr_assert(strstr(s->problem, "could not grow beyond") && strstr(s->problem, why),
		  "%s", s->problem);
	cr_assert_eq(probe_visits(s, "early"), 10, "counted on after the file was full");
	cr_assert_eq(probe_visits(s, "one of many 0"), 1);
	for (uint32_t n = 2; n <= s->threads[0].node_count; n++) {
		const struct perfmon_profile_node *node =
			pm_snapshot_node(&s->threads[0], n);

		cr_assert_eq(pm_node_visits(node), node->entered);
	}
	pm_snapshot_free(s);
}

Test(kept, a_file_that_may_not_grow)
{
	allocations_most = 3;
	allocation_error = -ENOSPC;
	cr_assert_eq(with_profile(in_folder("profile"), outgrows_by_fault),
		     1000 + SIGKILL);
	check_outgrown(in_folder("profile"), "No space left");
}

static int limits_files(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	CHILD_CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	return outgrows_its_file();
}

Test(kept, a_limit_on_the_size_of_files)
{
	cr_assert_eq(with_profile(in_folder("profile"), limits_files), 1000 + SIGKILL);
	check_outgrown(in_folder("profile"), "too large");
}

static int no_room_at_all(void)
{
	pm_kernel_fault = fail_allocation;
	return says_that_it_is_kept_in_memory();
}

static int (*on_small_disk)(void);
static const char *disk_size;

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return written;
}

/* Mounts a small file system over the folder, which nobody else sees; 77 if that is not
 * allowed. */
static int mounts(void)
{
	char users[64], groups[64], options[64];

	snprintf(users, sizeof(users), "0 %d 1", (int)getuid());
	snprintf(groups, sizeof(groups), "0 %d 1", (int)getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) ||
	    !write_text("/proc/self/uid_map", users) ||
	    !write_text("/proc/self/setgroups", "deny") ||
	    !write_text("/proc/self/gid_map", groups))
		return 77;
	snprintf(options, sizeof(options), "size=%s", disk_size);
	if (mount("none", folder, "tmpfs", 0, options))
		return 77;
	return on_small_disk();
}

/* The mount ends with the child: read in there. */
static int fills_the_disk(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(outgrows_its_file());
	CHILD_CHECK(waitpid(pid, &status, 0) == pid);
	CHILD_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	check_outgrown(in_folder("profile"), "No space left");
	return 0;
}

static int finds_the_disk_full(void)
{
	struct stat st;

	if (says_that_it_is_kept_in_memory())
		return 1;
	/* What is of no use is not left behind. */
	return !stat(in_folder("profile"), &st);
}

static void check_disk(const char *size, int (*body)(void))
{
	int status;

	disk_size = size;
	on_small_disk = body;
	status = with_profile(in_folder("profile"), mounts);
	if (status == 77)
		cr_skip_test("mounting a file system in a user namespace is not allowed");
	cr_assert_eq(status, 0);
}

Test(kept, a_disk_that_fills_up)
{
	check_disk("512k", fills_the_disk);
}

Test(kept, a_full_disk)
{
	check_disk("8k", finds_the_disk_full);
}

Test(kept, no_room_from_the_start)
{
	struct stat st;

	allocations_most = 0;
	allocation_error = -ENOSPC;
	cr_assert_eq(with_profile(in_folder("profile"), no_room_at_all), 0);
	cr_assert_eq(stat(in_folder("profile"), &st), -1);
}

static unsigned int mappings;

/* All the room that the file gets is that of its beginning; and nothing can be mapped over
 * what it does not get. */
static int only_the_first_room(enum pm_kernel_call call)
{
	if (call == PM_CALL_FALLOCATE)
		return ++allocations > 1 ? -ENOSPC : 0;
	return call == PM_CALL_MMAP && allocations > 1 && !mappings++ ? -ENOMEM : 0;
}

static int has_a_header_at_least(void)
{
	pm_kernel_fault = only_the_first_room;
	return five_visits();
}

Test(kept, room_is_asked_for_once)
{
	cr_assert_eq(with_profile(in_folder("profile"), has_a_header_at_least), 0);
	check_five(in_folder("profile"));
}

/* The room is not given after all: all that the file has is its name. */
static int no_profile_at_all(enum pm_kernel_call call)
{
	return call == PM_CALL_MMAP ? -ENODEV : 0;
}

static int names_its_file(void)
{
	struct pm_snapshot *s = NULL;

	pm_kernel_fault = no_profile_at_all;
	visit("work", 5);
	return !pm_regions_snapshot(&s, NULL);
}

Test(kept, a_file_that_cannot_be_mapped)
{
	struct stat st;

	cr_assert_eq(with_profile(in_folder("profile"), names_its_file), 0);
	cr_assert_eq(stat(in_folder("profile"), &st), -1);
}

/* Without room that can be allocated zeros are written, and some have been when the disk
 * is full: the file is longer than the profile in it. */
static int fails_inside_of_a_piece(enum pm_kernel_call call)
{
	if (call == PM_CALL_FALLOCATE)
		return -EOPNOTSUPP;
	return call == PM_CALL_PWRITE && ++allocations > allocations_most ? -ENOSPC : 0;
}

static int outgrows_by_pieces(void)
{
	pm_kernel_fault = fails_inside_of_a_piece;
	return outgrows_its_file();
}

Test(kept, a_file_that_is_longer_than_its_profile)
{
	struct stat st;

	/* Of 4096 bytes each, of 128 KiB together. */
	allocations_most = 3 * 32 + 11;
	cr_assert_eq(with_profile(in_folder("profile"), outgrows_by_pieces),
		     1000 + SIGKILL);
	cr_assert_eq(stat(in_folder("profile"), &st), 0);
	cr_assert_eq(st.st_size, (3 * 32 + 11) * 4096);
	check_outgrown(in_folder("profile"), "No space left");
}

static int cannot_allocate(void)
{
	pm_kernel_fault = fail_allocation;
	visit("work", 5);
	many_names(5000);
	return 0;
}

/* File systems without fallocate(2): the places are taken by writing. */
Test(kept, a_file_system_that_cannot_allocate)
{
	struct pm_snapshot *s;
	struct stat st;

	allocations_most = 0;
	allocation_error = -EOPNOTSUPP;
	cr_assert_eq(with_profile(in_folder("profile"), cannot_allocate), 0);
	s = kept_take(in_folder("profile"));
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(probe_visits(s, "one of many 4999"), 1);
	cr_assert(!probe_note(s, "could not grow"));
	pm_snapshot_free(s);
	cr_assert_eq(stat(in_folder("profile"), &st), 0);
	cr_assert_geq((uint64_t)st.st_blocks * 512, (uint64_t)st.st_size);
}

/* --- odd places --------------------------------------------------------------------- */

static int closes_all(void)
{
	visit("work", 5);
	if (syscall(SYS_close_range, 3, 8191, 0))
		for (int fd = 3; fd < 8192; fd++)
			close(fd);
	many_names(5000);
	return 0;
}

/* As daemons do: the file goes on growing. */
Test(kept, a_program_that_closes_all_descriptors)
{
	struct pm_snapshot *s;

	cr_assert_eq(with_profile(in_folder("profile"), closes_all), 0);
	s = kept_take(in_folder("profile"));
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(probe_visits(s, "one of many 4999"), 1);
	pm_snapshot_free(s);
}

static long file_system;

int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	int result = __real_fstatfs(fd, fs);

	if (file_system)
		fs->f_type = (__typeof__(fs->f_type))file_system;
	return result;
}

static struct pm_snapshot *on_file_system(long type)
{
	file_system = type;
	cr_assert_eq(with_profile(in_folder("profile.%p"), five_visits), 0);
	return kept_take(with_pid("profile", ""));
}

Test(kept, a_network_file_system_is_warned_of)
{
	static const struct {
		long type;
		const char *name;
	} systems[] = {
		{NFS_SUPER_MAGIC, "(NFS)"}, {0xff534d42, "(CIFS)"},
		{V9FS_MAGIC, "(9p)"},	    {FUSE_SUPER_MAGIC, "(FUSE)"},
		{0x0bd00bd0, "(Lustre)"},
	};
	struct pm_snapshot *s = on_file_system(EXT4_SUPER_MAGIC);

	cr_assert(!probe_note(s, "network"));
	pm_snapshot_free(s);
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		s = on_file_system(systems[i].type);
		cr_assert(probe_note(s, "network") && probe_note(s, systems[i].name));
		cr_assert_eq(probe_visits(s, "work"), 5);
		pm_snapshot_free(s);
	}
}

/* --- refusals ----------------------------------------------------------------------- */

static enum pm_kernel_call failing;
static unsigned int failing_number, failing_calls; /* the one call that fails */

static int fail_once(enum pm_kernel_call call)
{
	return call == failing && ++failing_calls == failing_number ? -EIO : 0;
}

static int works_in_spite(void)
{
	struct pm_snapshot *s = NULL;
	pthread_t thread;

	pm_kernel_fault = fail_once;
	visit("work", 5);
	many_names(500);
	CHILD_CHECK(!pthread_create(&thread, NULL, visit_in_thread, (void *)"thread"));
	CHILD_CHECK(!pthread_join(thread, NULL));
	pm_kernel_fault = NULL;
	/* Without memory for a profile regions do nothing; a thread may go without. */
	if (!pm_regions_snapshot(&s, NULL)) {
		CHILD_CHECK(probe_visits(s, "work") == 5 || failing == PM_CALL_MMAP ||
			    failing == PM_CALL_MADVISE);
		pm_snapshot_free(s);
	}
	return failing_calls < failing_number ? 2 : 0;
}

/* The first of each call fails, the second, and so on while there are any. */
Test(kept, any_one_refusal_is_survived)
{
	char path[128];
	int files = 0;

	for (int call = 0; call < PM_CALLS; call++) {
		int status = 0;

		failing = (enum pm_kernel_call)call;
		for (failing_number = 1; !status && failing_number < 40;
		     failing_number++) {
			failing_calls = 0;
			snprintf(path, sizeof(path), "%s/%d", folder, files++);
			status = with_profile(path, works_in_spite);
			cr_assert(status == 0 || status == 2, "call %d, number %u: %d",
				  call, failing_number, status);
			/* What is of no use does not stay, if it can be removed. */
			if (!access(path, F_OK) && call != PM_CALL_UNLINK)
				pm_snapshot_free(kept_take(path));
			unlink(path);
		}
	}
	cr_assert_gt(files, PM_CALLS + 50);
}

/* The same for who reads. */
Test(kept, any_one_refusal_of_a_reader_is_an_error)
{
	unsigned int refused = 0;

	cr_assert_eq(with_profile(in_folder("profile"), five_visits), 0);
	visit("own", 5);
	for (int by_pid = 0; by_pid < 2; by_pid++) {
		for (int call = 0; call < PM_CALLS; call++) {
			int before = open_descriptors();

			failing = (enum pm_kernel_call)call;
			for (failing_number = 1; failing_number < 40; failing_number++) {
				struct pm_profile_file *file = NULL;
				struct pm_snapshot *s = NULL;
				struct pm_diag diag = {0};
				int err;

				failing_calls = 0;
				pm_kernel_fault = fail_once;
				err = by_pid ? pm_profile_file_open_pid(getpid(), &file,
									&diag)
					     : pm_profile_file_open(in_folder("profile"),
								    &file, &diag);
				if (!err)
					err = pm_profile_file_snapshot(file, &s, &diag);
				pm_kernel_fault = NULL;
				cr_assert(!err || (diag.text[0] && !s),
					  "call %d, number %u", call, failing_number);
				cr_assert(err ||
					  probe_visits(s, by_pid ? "own" : "work") == 5);
				refused += err != 0;
				pm_snapshot_free(s);
				pm_profile_file_close(file);
				if (failing_calls < failing_number)
					break;
			}
			cr_assert_eq(open_descriptors(), before, "call %d", call);
		}
	}
	cr_assert_gt(refused, 8);
}

/* --- at every instant --------------------------------------------------------------- */

/* So that somebody looks while it grows, each tenth step waits for a byte in TURNS. */
static int grows(int turns)
{
	pthread_t thread;
	char byte;

	for (int i = 0; i < 50; i++) {
		many_names(100 * i);
		if (pthread_create(&thread, NULL, visit_in_thread, (void *)"thread") ||
		    pthread_join(thread, NULL))
			return 1;
		visit("steps", 1);
		if (i % 10 == 9 && read(turns, &byte, 1) != 1)
			return 2;
	}
	return 0;
}

/* A reader never sees less than before, nor half of anything. */
Test(kept, a_growing_file_is_readable_at_every_instant)
{
	struct pm_profile_file *file = NULL;
	uint64_t steps = 0, all = 0, threads = 0;
	struct pm_diag diag = {0};
	unsigned int taken = 0;
	int status = -1, turns[2];
	pid_t pid;

	cr_assert_eq(pipe2(turns, O_CLOEXEC), 0);
	fcntl(turns[1], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(turns[1]);
		setenv("PERFMON_PROFILE", in_folder("profile"), 1);
		_exit(grows(turns[0]));
	}
	while (pm_profile_file_open(in_folder("profile"), &file, &diag)) {
		/* Not there, empty, or without its header yet. */
		cr_assert(diag.error == -ENOENT || diag.error == -ENODATA ||
				  strstr(diag.text, " 0 bytes"),
			  "%s", diag.text);
		sched_yield();
	}
	while (steps < 50) {
		struct pm_snapshot *s;
		bool ended = waitpid(pid, &status, WNOHANG) == pid;

		cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0, "%s",
			     diag.text);
		/* A reader that the machine leaves little time may meet an end each time,
		 * and says so. */
		cr_assert(!s->partial || strstr(s->problem, "threads kept ending"), "%s",
			  s->problem);
		if (s->partial && !ended) {
			pm_snapshot_free(s);
			continue;
		}
		cr_assert_geq(probe_visits(s, "steps"), steps);
		cr_assert_geq(probe_all_visits(s), all);
		cr_assert_geq(probe_visits(s, "thread"), threads);
		steps = probe_visits(s, "steps");
		all = probe_all_visits(s);
		threads = probe_visits(s, "thread");
		taken++;
		pm_snapshot_free(s);
		cr_assert(!ended || steps == 50);
		cr_assert(write(turns[1], "x", 1) == 1 || errno == EAGAIN);
	}
	if (status < 0)
		cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_geq(taken, 5);
	cr_log_info("%u snapshots", taken);
	pm_profile_file_close(file);
}
