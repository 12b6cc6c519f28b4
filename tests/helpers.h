/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Helpers for all test programs, also those without Criterion. A helper that fails ends
 * the program with the line of its caller, if that is known.
 *
 * A test waits for a condition, not for a time: WAIT_UNTIL(). The time limit of the test
 * ends a wait that would last forever. let_time_pass_ms() is for tests of time itself,
 * and of events that must not happen. It is the only sleep in the tests; the suite "beds"
 * looks for others.
 */
#ifndef TESTS_HELPERS_H
#define TESTS_HELPERS_H

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Ends the program unless CONDITION holds. */
#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			printf("not ok - %s:%d: %s (%s)\n", __FILE__, __LINE__,          \
			       #condition, strerror(errno));                             \
			fflush(stdout);                                                  \
			abort();                                                         \
		}                                                                        \
	} while (0)

/* --- time --------------------------------------------------------------------------- */

static inline void let_time_pass_us(unsigned int us)
{
	struct timespec left = {.tv_sec = us / 1000000,
				.tv_nsec = (long)(us % 1000000) * 1000};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static inline void let_time_pass_ms(unsigned int ms)
{
	let_time_pass_us(1000 * ms);
}

/* Waits until another thread or process makes CONDITION true. */
#define WAIT_UNTIL(condition)                                                            \
	do {                                                                             \
		while (!(condition))                                                     \
			let_time_pass_us(200);                                           \
	} while (0)

/* Returns nanoseconds of CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID and so on. */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	CHECK(!clock_gettime(clock, &now));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in seconds. */
static inline double now_s(void)
{
	return (double)now_ns(CLOCK_MONOTONIC) / 1e9;
}

/* Runs an empty loop ROUNDS times, in user mode alone. */
static inline void spin(unsigned int rounds)
{
	for (volatile unsigned int i = 0; i < rounds; i++)
		;
}

/*
 * Works until CLOCK has advanced by NS: CLOCK_THREAD_CPUTIME_ID for CPU time of the
 * calling thread. The work is mostly in user mode. An event that excludes the kernel does
 * not count the rest.
 */
static inline void work_for_ns(clockid_t clock, uint64_t ns)
{
	uint64_t from = now_ns(clock);

	while (now_ns(clock) - from < ns)
		spin(5000);
}

/* Return whether FD can be read: now, or after waiting. */
static inline bool is_readable(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	return poll(&ready, 1, 0) == 1 && ready.revents & POLLIN;
}

static inline bool becomes_readable(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&ready, 1, -1);
	while (n < 0 && errno == EINTR);
	return n == 1 && ready.revents & POLLIN;
}

/* --- threads and processes ------------------------------------------------------------ */

static inline pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Runs FUNCTION in a thread of its own until it returns, and returns its result. */
static inline void *in_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	void *result;

	CHECK(!pthread_create(&thread, NULL, function, argument));
	CHECK(!pthread_join(thread, &result));
	return result;
}

/* Runs FUNCTION in a child process and returns the child's exit status. */
static inline int in_child(void (*function)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		/* It ends with a test that is stopped. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		function();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

/* Files that a program opens after it has closed all descriptors that it does not know.
 * They have the same numbers. */
struct own_files {
	int fds[40];
};

static inline struct own_files replace_descriptors(void)
{
	struct own_files files;

	/* By the system call, as closefrom(3) does: the thread sanitizer would report
	 * that close(3) races with the library's own threads. */
	if (syscall(SYS_close_range, 3, 199, 0))
		abort();
	for (size_t i = 0; i < sizeof(files.fds) / sizeof(files.fds[0]); i++)
		files.fds[i] = memfd_create("own", MFD_CLOEXEC);
	return files;
}

/* Returns whether they are still open and empty. */
static inline bool are_untouched(const struct own_files *files)
{
	struct stat st;

	for (size_t i = 0; i < sizeof(files->fds) / sizeof(files->fds[0]); i++) {
		if (fstat(files->fds[i], &st) || st.st_size)
			return false;
	}
	return true;
}

/* Counts the names in a folder. */
static inline unsigned int count_names(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int count = 0;
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* Counts the open descriptors, including the one that lists them. */
static inline int open_descriptors(void)
{
	return (int)count_names("/proc/self/fd");
}

/* --- memory ----------------------------------------------------------------------------- */

/* Causes exactly COUNT page faults, apart from those of the calls around them. */
static inline void fault_pages(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = count * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		((volatile char *)memory)[i] = 1;
	munmap(memory, size);
}

/* --- files ------------------------------------------------------------------------------ */

/* Makes a new folder and writes its path to PATH. */
static inline void make_folder(char *path, size_t size)
{
	int length = snprintf(path, size, "/tmp/perfmon-test-XXXXXX");

	CHECK(length > 0 && (size_t)length < size);
	CHECK(mkdtemp(path));
}

static inline int remove_one(const char *path, const struct stat *st, int type,
			     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Removes the folder and everything in it, and empties PATH. A test that is skipped must
 * call it, too: Criterion does not call its .fini. */
static inline void remove_folder(char *path)
{
	if (path[0])
		CHECK(!nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS));
	path[0] = '\0';
}

/* Writes TEXT to the file FOLDER/PATH, and makes the folders in between. */
static inline void make_file(const char *folder, const char *path, const char *text)
{
	char full[4096];
	FILE *file;
	int length = snprintf(full, sizeof(full), "%s/%s", folder, path);

	CHECK(length > 0 && (size_t)length < sizeof(full));
	file = fopen(full, "we");
	for (char *slash = full + strlen(folder);
	     !file && (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		CHECK(!mkdir(full, 0755) || errno == EEXIST);
	}
	if (!file)
		file = fopen(full, "we");
	CHECK(file);
	CHECK(fputs(text, file) >= 0);
	CHECK(!fclose(file));
}

#endif
