/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arch/syscall.h"

int (*pm_kernel_fault)(enum pm_kernel_call call);

static int fault(enum pm_kernel_call call)
{
	return __builtin_expect(pm_kernel_fault != NULL, 0) ? pm_kernel_fault(call) : 0;
}

/* Runs EXPRESSION unless the test hook returns an error. Yields its result or -errno.
 * Leaves the caller's errno alone, because regions may run between a user's call and its
 * errno. */
#define CALL(which, expression)                                                          \
	({                                                                               \
		int saved_ = errno;                                                      \
		__typeof__(expression) result_ = fault(which);                           \
		if (!result_) {                                                          \
			result_ = (expression);                                          \
			if (result_ < 0)                                                 \
				result_ = -errno;                                        \
		}                                                                        \
		errno = saved_;                                                          \
		result_;                                                                 \
	})

/*
 * Returns a new descriptor of ours, or the error FD. The descriptors 0, 1 and 2 belong to
 * the program even if it has closed them: it may still write its messages there, and may
 * expect its next file there.
 */
static int own(int fd)
{
	int saved = errno, moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		moved = -errno;
	close(fd);
	errno = saved;
	return moved;
}

void pm_kernel_quiet_begin(struct pm_quiet *quiet)
{
	quiet->error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet->cancel_state);
}

void pm_kernel_quiet_end(const struct pm_quiet *quiet)
{
	pthread_setcancelstate(quiet->cancel_state, NULL);
	errno = quiet->error;
}

void pm_kernel_still_begin(struct pm_still *still)
{
	pm_kernel_signals_block(&still->mask);
	pm_kernel_quiet_begin(&still->quiet);
}

void pm_kernel_still_end(const struct pm_still *still)
{
	pm_kernel_quiet_end(&still->quiet);
	/* This comes last, because a handler may leave the call forever. */
	pm_kernel_signals_restore(&still->mask);
}

/* [0]: made, [1]: failed. Relaxed: each number is right by itself. */
static uint64_t tally[PM_CALLS][2];

static int count(enum pm_kernel_call call, int result)
{
	__atomic_add_fetch(&tally[call][result < 0], 1, __ATOMIC_RELAXED);
	return result;
}

uint64_t pm_kernel_made(enum pm_kernel_call call)
{
	return __atomic_load_n(&tally[call][0], __ATOMIC_RELAXED);
}

uint64_t pm_kernel_refused(enum pm_kernel_call call)
{
	return __atomic_load_n(&tally[call][1], __ATOMIC_RELAXED);
}

int pm_kernel_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			      int group_fd, unsigned long flags)
{
	int result = own(
		(int)CALL(PM_CALL_PERF_EVENT_OPEN,
			  syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags)));

	return count(PM_CALL_PERF_EVENT_OPEN, result);
}

static int ioctl_raw(int fd, unsigned long request, unsigned long argument)
{
	return (int)pm_arch_syscall3(SYS_ioctl, fd, (long)request, (long)argument);
}

__attribute__((noinline)) static int ioctl_with_faults(int fd, unsigned long request,
						       unsigned long argument)
{
	return fault(PM_CALL_IOCTL) ?: ioctl_raw(fd, request, argument);
}

/* Starts and stops counters. libc and its errno would cost as much as all the rest. */
int pm_kernel_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return __builtin_expect(pm_kernel_fault != NULL, 0)
		       ? ioctl_with_faults(fd, request, argument)
		       : ioctl_raw(fd, request, argument);
}

int pm_kernel_ioctl_ptr(int fd, unsigned long request, void *argument)
{
	return pm_kernel_ioctl(fd, request, (unsigned long)argument);
}

static int map(void *address, void **out, size_t size, int protection, int flags, int fd,
	       off_t offset)
{
	int saved = errno;
	int err = fault(PM_CALL_MMAP);

	if (!err) {
		address = mmap(address, size, protection, flags, fd, offset);
		if (address == MAP_FAILED)
			err = -errno;
		else
			*out = address;
	}
	errno = saved;
	return count(PM_CALL_MMAP, err);
}

int pm_kernel_mmap(void **out, size_t size, int protection, int flags, int fd,
		   off_t offset)
{
	return map(NULL, out, size, protection, flags, fd, offset);
}

int pm_kernel_mmap_fixed(void *address, size_t size, int protection, int flags, int fd,
			 off_t offset)
{
	return map(address, &address, size, protection, flags | MAP_FIXED, fd, offset);
}

int pm_kernel_munmap(void *address, size_t size)
{
	return CALL(PM_CALL_MUNMAP, munmap(address, size));
}

int pm_kernel_madvise(void *address, size_t size, int advice)
{
	return CALL(PM_CALL_MADVISE, madvise(address, size, advice));
}

int pm_kernel_map(void **out, size_t size)
{
	return pm_kernel_mmap(out, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int pm_kernel_map_wiped(void **out, size_t size)
{
	int err = pm_kernel_map(out, size);

	if (err)
		return err;
	err = pm_kernel_madvise(*out, size, MADV_WIPEONFORK);
	if (err)
		pm_kernel_munmap(*out, size);
	return err;
}

ssize_t pm_kernel_read(int fd, void *buffer, size_t size)
{
	/* libc's read() is a cancellation point, and the END of a region must not be
	 * one. */
	return CALL(PM_CALL_READ, syscall(SYS_read, fd, buffer, size));
}

ssize_t pm_kernel_write(int fd, const void *buffer, size_t size)
{
	return CALL(PM_CALL_WRITE, write(fd, buffer, size));
}

ssize_t pm_kernel_write_quietly(int fd, const void *buffer, size_t size)
{
	static const struct timespec at_once;
	sigset_t ours, pending, old;
	ssize_t written;
	int saved, raised;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigemptyset(&pending);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &old);
	written = pm_kernel_write(fd, buffer, size);
	raised = written == -EPIPE ? SIGPIPE : written == -EFBIG ? SIGXFSZ : 0;
	/* The signal is ours, because none was pending. */
	if (raised && !sigismember(&pending, raised)) {
		saved = errno;
		sigemptyset(&ours);
		sigaddset(&ours, raised);
		while (sigtimedwait(&ours, NULL, &at_once) < 0 && errno == EINTR)
			;
		errno = saved;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return written;
}

/* Returns whether OFFSET exceeds off_t, so that no file offset becomes negative. */
static bool beyond(uint64_t offset)
{
	return offset > INT64_MAX;
}

ssize_t pm_kernel_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	if (beyond(offset))
		return -EINVAL;
	return CALL(PM_CALL_PREAD, pread(fd, buffer, size, (off_t)offset));
}

ssize_t pm_kernel_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
	if (beyond(offset))
		return -EINVAL;
	return CALL(PM_CALL_PWRITE, pwrite(fd, buffer, size, (off_t)offset));
}

int pm_kernel_poll_write(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};

	return CALL(PM_CALL_POLL, poll(&wait, 1, timeout_ms));
}

int pm_kernel_poll(int fd, short *events)
{
	struct pollfd wait = {.fd = fd, .events = *events};
	int n = CALL(PM_CALL_POLL, poll(&wait, 1, 0));

	if (n >= 0)
		*events = wait.revents;
	return n;
}

int pm_kernel_poll_many(struct pollfd *fds, size_t count, int timeout_ms)
{
	return CALL(PM_CALL_POLL, poll(fds, count, timeout_ms));
}

int pm_kernel_pidfd_open(pid_t pid, unsigned int flags)
{
	return own((int)CALL(PM_CALL_PIDFD_OPEN, syscall(SYS_pidfd_open, pid, flags)));
}

int pm_kernel_kill(pid_t pid, int signal)
{
	return CALL(PM_CALL_KILL, kill(pid, signal));
}

int pm_kernel_socketpair(int ends[2])
{
	int err = CALL(PM_CALL_SOCKETPAIR,
		       socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));

	for (int i = 0; i < 2 && !err; i++) {
		int moved = own(ends[i]);

		if (moved < 0) {
			close(ends[!i]);
			err = moved;
		}
		ends[i] = moved;
	}
	return err;
}

int pm_kernel_shutdown(int fd, int how)
{
	return CALL(PM_CALL_SHUTDOWN, shutdown(fd, how));
}

int pm_kernel_name_socket(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strnlen(name, sizeof(address.sun_path) - 1);

	/* The name stands behind a zero byte: unix(7), "abstract". */
	memcpy(address.sun_path + 1, name, length);
	return CALL(
		PM_CALL_BIND,
		bind(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
}

bool pm_kernel_socket_has_name(int fd, const char *prefix)
{
	struct sockaddr_un address = {.sun_family = AF_UNSPEC};
	socklen_t size = sizeof(address);
	size_t length = strlen(prefix);

	return !CALL(PM_CALL_GETSOCKNAME,
		     getsockname(fd, (struct sockaddr *)&address, &size)) &&
	       address.sun_family == AF_UNIX &&
	       size > offsetof(struct sockaddr_un, sun_path) + length &&
	       !memcmp(address.sun_path + 1, prefix, length) && !address.sun_path[0];
}

ssize_t pm_kernel_send(int fd, const void *buffer, size_t size)
{
	return CALL(PM_CALL_SEND, send(fd, buffer, size, MSG_DONTWAIT | MSG_NOSIGNAL));
}

ssize_t pm_kernel_receive(int fd, void *buffer, size_t size)
{
	return CALL(PM_CALL_RECV, recv(fd, buffer, size, MSG_DONTWAIT));
}

bool pm_kernel_is_own_thread(pid_t tid)
{
	return pm_kernel_is_thread_of(getpid(), tid);
}

bool pm_kernel_is_thread_of(pid_t pid, pid_t tid)
{
	int saved = errno;
	/* Signal 0 only checks that the thread is in the process. EPERM means that it
	 * exists. */
	bool found = !syscall(SYS_tgkill, pid, tid, 0) || errno == EPERM;

	errno = saved;
	return found;
}

int pm_kernel_eventfd(void)
{
	return own(CALL(PM_CALL_EVENTFD, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
}

int pm_kernel_pipe_end(void)
{
	int ends[2], err = CALL(PM_CALL_PIPE, pipe2(ends, O_CLOEXEC));

	if (err)
		return err;
	close(ends[1]);
	return own(ends[0]);
}

int pm_kernel_epoll_create(void)
{
	return own(CALL(PM_CALL_EPOLL_CREATE, epoll_create1(EPOLL_CLOEXEC)));
}

int pm_kernel_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	return CALL(PM_CALL_EPOLL_CTL, epoll_ctl(epoll_fd, operation, fd, event));
}

int pm_kernel_epoll_wait(int epoll_fd, struct epoll_event *events, int room,
			 int timeout_ms)
{
	return CALL(PM_CALL_EPOLL_WAIT, epoll_wait(epoll_fd, events, room, timeout_ms));
}

int pm_kernel_futex_wait(uint32_t *word, uint32_t value)
{
	return (int)CALL(PM_CALL_FUTEX, syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE,
						value, NULL, NULL, 0));
}

int pm_kernel_futex_wake(uint32_t *word)
{
	return (int)CALL(PM_CALL_FUTEX_WAKE, syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE,
						     INT_MAX, NULL, NULL, 0));
}

int pm_kernel_open(const char *path, int flags, mode_t mode)
{
	return own(CALL(PM_CALL_OPEN, open(path, flags | O_CLOEXEC, mode)));
}

int pm_kernel_close(int fd)
{
	int saved = errno;
	int err = fault(PM_CALL_CLOSE);

	/* The descriptor is gone, whatever close(2) returns. */
	if (close(fd) < 0 && !err)
		err = -errno;
	errno = saved;
	return err;
}

/*
 * fstat(2) and clock_gettime(2) of the kernel. A preloaded library (libfaketime) may
 * replace libc's, with another time. It may be gone when a process ends and the report is
 * written.
 */
#ifdef __LP64__
#define FSTAT(fd, st)	    syscall(SYS_fstat, fd, st)
#define CLOCK_GETTIME(c, t) syscall(SYS_clock_gettime, c, t)
#else /* the structures of libc and of these calls differ */
#define FSTAT(fd, st)	    fstat(fd, st)
#define CLOCK_GETTIME(c, t) clock_gettime(c, t)
#endif

int pm_kernel_fstat(int fd, struct stat *st)
{
	return (int)CALL(PM_CALL_FSTAT, FSTAT(fd, st));
}

ssize_t pm_kernel_getdents(int fd, void *buffer, size_t size)
{
	return CALL(PM_CALL_GETDENTS, syscall(SYS_getdents64, fd, buffer, size));
}

int pm_kernel_mkdir(const char *path, unsigned int mode)
{
	return CALL(PM_CALL_MKDIR, mkdir(path, mode));
}

int pm_kernel_unlink(const char *path)
{
	return CALL(PM_CALL_UNLINK, unlink(path));
}

int pm_kernel_rename(const char *from, const char *to)
{
	return CALL(PM_CALL_RENAME, rename(from, to));
}

int pm_kernel_fchmod(int fd, mode_t mode)
{
	return CALL(PM_CALL_FCHMOD, fchmod(fd, mode));
}

int pm_kernel_fchown(int fd, uid_t user, gid_t group)
{
	return CALL(PM_CALL_FCHOWN, fchown(fd, user, group));
}

int pm_kernel_filesystem(int fd, uint64_t *type)
{
	struct statfs fs;
	int err = CALL(PM_CALL_FSTATFS, fstatfs(fd, &fs));

	if (!err)
		*type = (uint64_t)fs.f_type;
	return err;
}

int pm_kernel_ftruncate(int fd, off_t size)
{
	return CALL(PM_CALL_FTRUNCATE, ftruncate(fd, size));
}

int pm_kernel_fallocate(int fd, int mode, off_t offset, off_t size)
{
	return CALL(PM_CALL_FALLOCATE, fallocate(fd, mode, offset, size));
}

int pm_kernel_memfd_create(const char *name, unsigned int flags)
{
	return own(
		(int)CALL(PM_CALL_MEMFD_CREATE, syscall(SYS_memfd_create, name, flags)));
}

ssize_t pm_kernel_readlink(const char *path, char *buffer, size_t size)
{
	ssize_t length = CALL(PM_CALL_READLINK, readlink(path, buffer, size - 1));

	if (length >= 0)
		buffer[length] = '\0';
	return length;
}

int pm_kernel_fcntl(int fd, int command, long argument)
{
	return CALL(PM_CALL_FCNTL, fcntl(fd, command, argument));
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int pm_kernel_clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec t;
	int err = (int)CALL(PM_CALL_CLOCK_GETTIME, CLOCK_GETTIME(clock, &t));

	if (!err)
		*ns = ns_of(&t);
	return err;
}

int pm_kernel_clock_of_libc(uint64_t *ns)
{
	struct timespec t;
	int err = CALL(PM_CALL_CLOCK_GETTIME, clock_gettime(CLOCK_MONOTONIC, &t));

	if (!err)
		*ns = ns_of(&t);
	return err;
}

uint64_t pm_kernel_clock_resolution(void)
{
	struct timespec t;

	/* clock_getres(2) cannot fail for this clock. */
	clock_getres(CLOCK_MONOTONIC, &t);
	return ns_of(&t);
}

int pm_kernel_getrlimit(int resource, uint64_t *soft, uint64_t *hard)
{
	struct rlimit limit;
	int err = CALL(PM_CALL_GETRLIMIT, getrlimit(resource, &limit));

	if (!err) {
		*soft = limit.rlim_cur;
		*hard = limit.rlim_max;
	}
	return err;
}

int pm_kernel_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return CALL(PM_CALL_SIGACTION, sigaction(signal, action, old));
}

void pm_kernel_raise(int signal)
{
	raise(signal);
}

bool pm_kernel_on_signal_stack(void)
{
	stack_t stack;

	return !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK;
}

/* The library's own threads and their process. A child has none. */
static struct {
	pid_t pid;
	unsigned int count;
} own_threads;

struct start {
	void *(*run)(void *argument);
	void *argument;
};

static void *run_own_thread(void *argument)
{
	struct start start = *(struct start *)argument;
	void *result;

	free(argument);
	result = start.run(start.argument);
	__atomic_fetch_sub(&own_threads.count, 1, __ATOMIC_RELAXED);
	return result;
}

static int create_own_thread(pthread_t *thread, struct start start)
{
	struct start *argument = malloc(sizeof(*argument));
	pid_t pid = pm_kernel_getpid();
	int err;

	if (!argument)
		return -ENOMEM;
	*argument = start;
	if (__atomic_exchange_n(&own_threads.pid, pid, __ATOMIC_RELAXED) != pid)
		__atomic_store_n(&own_threads.count, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&own_threads.count, 1, __ATOMIC_RELAXED);
	err = -pthread_create(thread, NULL, run_own_thread, argument);
	if (err) {
		__atomic_fetch_sub(&own_threads.count, 1, __ATOMIC_RELAXED);
		free(argument);
	}
	return err;
}

int pm_kernel_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	int err = fault(PM_CALL_THREAD_START);
	sigset_t all, old;

	if (err)
		return err;
	/* A new thread inherits its creator's mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = create_own_thread(thread, (struct start){run, argument});
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

unsigned int pm_kernel_own_threads(void)
{
	return __atomic_load_n(&own_threads.count, __ATOMIC_RELAXED);
}

void pm_kernel_signals_block(sigset_t *old)
{
	/* The signals that the thread itself causes. A handler may be needed to continue,
	 * as with a filter of system calls. A blocked one would end the process. */
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, old);
}

void pm_kernel_signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void pm_kernel_yield(void)
{
	sched_yield();
}

int pm_kernel_thread_name(char name[16])
{
	return CALL(PM_CALL_PRCTL, prctl(PR_GET_NAME, name));
}

int pm_kernel_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? -errno : cpu;
}

int pm_kernel_affinity(pid_t tid, void *mask, size_t size)
{
	return (int)CALL(PM_CALL_SCHED_GETAFFINITY,
			 syscall(SYS_sched_getaffinity, tid, size, mask));
}

int pm_kernel_bind_helper(const unsigned long *mask, size_t size)
{
	/* Thread 0 is the calling thread. */
	int err = (int)CALL(PM_CALL_SCHED_SETAFFINITY,
			    syscall(SYS_sched_setaffinity, 0, size, mask));

	return err < 0 ? err : 0;
}

int pm_kernel_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}

pid_t pm_kernel_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

pid_t pm_kernel_getpid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

int pm_kernel_getcwd(char *buffer, size_t size)
{
	return (int)CALL(PM_CALL_GETCWD, syscall(SYS_getcwd, buffer, size));
}

pid_t pm_kernel_getppid(void)
{
	return (pid_t)syscall(SYS_getppid);
}

uid_t pm_kernel_user(void)
{
	return geteuid();
}

size_t pm_kernel_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}
