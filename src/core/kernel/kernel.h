/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All system calls of the library. Each function makes the call of its name and returns
 * the result or a negative errno. Nothing above this file looks at errno. Tests can make
 * each call fail.
 *
 * A returned descriptor is close-on-exec and never 0, 1 or 2.
 *
 * All functions are async-signal-safe, and may be called by any thread.
 */
#ifndef PM_KERNEL_KERNEL_H
#define PM_KERNEL_KERNEL_H

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

enum pm_kernel_call {
	PM_CALL_PERF_EVENT_OPEN,
	PM_CALL_IOCTL,
	PM_CALL_MMAP,
	PM_CALL_MUNMAP,
	PM_CALL_MADVISE,
	PM_CALL_READ,
	PM_CALL_WRITE,
	PM_CALL_POLL,
	PM_CALL_OPEN,
	PM_CALL_CLOSE,
	PM_CALL_FSTAT,
	PM_CALL_GETDENTS,
	PM_CALL_FTRUNCATE,
	PM_CALL_FALLOCATE,
	PM_CALL_MEMFD_CREATE,
	PM_CALL_READLINK,
	PM_CALL_FCNTL,
	PM_CALL_CLOCK_GETTIME,
	PM_CALL_GETCWD,
	PM_CALL_GETRLIMIT,
	PM_CALL_SIGACTION,
	PM_CALL_PRCTL,
	PM_CALL_KILL,
	PM_CALL_SCHED_GETAFFINITY,
	PM_CALL_SCHED_SETAFFINITY,
	PM_CALL_EVENTFD,
	PM_CALL_PIPE,
	PM_CALL_EPOLL_CREATE,
	PM_CALL_EPOLL_CTL,
	PM_CALL_EPOLL_WAIT,
	PM_CALL_FUTEX, /* to wait */
	PM_CALL_FUTEX_WAKE,
	PM_CALL_PREAD,
	PM_CALL_PWRITE,
	PM_CALL_THREAD_START,
	PM_CALL_SOCKETPAIR,
	PM_CALL_SHUTDOWN,
	PM_CALL_BIND,
	PM_CALL_GETSOCKNAME,
	PM_CALL_PIDFD_OPEN,
	PM_CALL_SEND,
	PM_CALL_RECV,
	PM_CALL_UNLINK,
	PM_CALL_RENAME,
	PM_CALL_MKDIR,
	PM_CALL_FCHMOD,
	PM_CALL_FCHOWN,
	PM_CALL_FSTATFS,
	PM_CALLS
};

/*
 * Test hook, called before each system call. A negative errno is returned to the caller
 * and the system call is not made. 0 lets it through. close(2) is always made, because
 * the descriptor is gone even if it fails. NULL, the default, costs one load and branch.
 */
extern int (*pm_kernel_fault)(enum pm_kernel_call call);

/* Return how many calls of PM_CALL_PERF_EVENT_OPEN or PM_CALL_MMAP succeeded and failed,
 * in the process and its parents before they forked. Other calls are not counted. */
uint64_t pm_kernel_made(enum pm_kernel_call call);
uint64_t pm_kernel_refused(enum pm_kernel_call call);

/*
 * Brackets work that the program did not request and must not notice, however deep it
 * goes into libraries. errno is restored afterwards. A thread is not cancelled here,
 * where it may hold our locks.
 */
struct pm_quiet {
	int error;
	int cancel_state;
};
void pm_kernel_quiet_begin(struct pm_quiet *quiet);
void pm_kernel_quiet_end(const struct pm_quiet *quiet);

/* The same with signals blocked, for work that a handler must not leave by siglongjmp(3):
 * work that holds a lock, or is done once. */
struct pm_still {
	struct pm_quiet quiet;
	sigset_t mask; /* the thread's own */
};
void pm_kernel_still_begin(struct pm_still *still);
void pm_kernel_still_end(const struct pm_still *still);

/* Returns the attr of an event that counts in user mode alone. */
static inline struct perf_event_attr pm_user_mode_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.config = config,
		.size = sizeof(struct perf_event_attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

int pm_kernel_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			      int group_fd, unsigned long flags);
int pm_kernel_ioctl(int fd, unsigned long request, unsigned long argument);
int pm_kernel_ioctl_ptr(int fd, unsigned long request, void *argument);
int pm_kernel_mmap(void **out, size_t size, int protection, int flags, int fd,
		   off_t offset);
/* Calls mmap with MAP_FIXED, which replaces the mapping at ADDRESS. */
int pm_kernel_mmap_fixed(void *address, size_t size, int protection, int flags, int fd,
			 off_t offset);
int pm_kernel_munmap(void *address, size_t size);
/* Maps private memory, all zero. */
int pm_kernel_map(void **out, size_t size);
/* Likewise memory that a forked child finds zeroed. */
int pm_kernel_map_wiped(void **out, size_t size);
int pm_kernel_madvise(void *address, size_t size, int advice);
ssize_t pm_kernel_read(int fd, void *buffer, size_t size);
ssize_t pm_kernel_write(int fd, const void *buffer, size_t size);
/* Writes without a signal: a pipe without a reader gives -EPIPE and no SIGPIPE, and a
 * file that would exceed RLIMIT_FSIZE gives -EFBIG and no SIGXFSZ. */
ssize_t pm_kernel_write_quietly(int fd, const void *buffer, size_t size);
ssize_t pm_kernel_pread(int fd, void *buffer, size_t size, uint64_t offset);
ssize_t pm_kernel_pwrite(int fd, const void *buffer, size_t size, uint64_t offset);
int pm_kernel_poll_write(int fd, int timeout_ms); /* waits until FD is writable */
int pm_kernel_poll(int fd, short *events);	  /* polls FD once */
/* Waits until one of COUNT entries is ready, and returns how many are. Entries with fd -1
 * are ignored. */
int pm_kernel_poll_many(struct pollfd *fds, size_t count, int timeout_ms);
int pm_kernel_kill(pid_t pid, int signal);
bool pm_kernel_is_own_thread(pid_t tid); /* whether TID is a thread of this process */
bool pm_kernel_is_thread_of(pid_t pid, pid_t tid); /* ... of process PID */
int pm_kernel_eventfd(void);			   /* non-blocking */
int pm_kernel_pipe_end(void); /* the reading end of a pipe whose other is closed */
int pm_kernel_epoll_create(void);
int pm_kernel_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event);
int pm_kernel_epoll_wait(int epoll_fd, struct epoll_event *events, int room,
			 int timeout_ms);
int pm_kernel_futex_wait(uint32_t *word, uint32_t value);
int pm_kernel_futex_wake(uint32_t *word); /* all that wait */
int pm_kernel_socketpair(int ends[2]);	  /* of messages, closed by exec */
int pm_kernel_shutdown(int fd, int how);

/* Give a UNIX socket an abstract NAME, and check whether its name begins with PREFIX. */
int pm_kernel_name_socket(int fd, const char *name);
bool pm_kernel_socket_has_name(int fd, const char *prefix);
int pm_kernel_pidfd_open(pid_t pid, unsigned int flags);
/* Never waits and never raises a signal. */
ssize_t pm_kernel_send(int fd, const void *buffer, size_t size);
ssize_t pm_kernel_receive(int fd, void *buffer, size_t size); /* never waits */
int pm_kernel_open(const char *path, int flags, mode_t mode);
int pm_kernel_close(int fd);
int pm_kernel_fstat(int fd, struct stat *st);
/* Returns entries of getdents64(2), struct dirent64 one after the other. */
ssize_t pm_kernel_getdents(int fd, void *buffer, size_t size);
int pm_kernel_unlink(const char *path);
int pm_kernel_mkdir(const char *path, unsigned int mode);
int pm_kernel_rename(const char *from, const char *to);
int pm_kernel_fchmod(int fd, mode_t mode);
int pm_kernel_fchown(int fd, uid_t user, gid_t group);
int pm_kernel_filesystem(int fd, uint64_t *type); /* f_type of fstatfs(2) */
int pm_kernel_ftruncate(int fd, off_t size);
int pm_kernel_fallocate(int fd, int mode, off_t offset, off_t size);
int pm_kernel_memfd_create(const char *name, unsigned int flags);
/* Reads the link's text, NUL-terminated and cut to SIZE - 1. Returns its length. PATH is
 * not below the root. */
ssize_t pm_kernel_readlink(const char *path, char *buffer, size_t size);
int pm_kernel_fcntl(int fd, int command, long argument);
int pm_kernel_clock_ns(clockid_t clock, uint64_t *ns);
/* Reads CLOCK_MONOTONIC by libc, as regions do if it is their clock: without a system
 * call, and perhaps from a library that replaces libc's function. */
int pm_kernel_clock_of_libc(uint64_t *ns);
uint64_t pm_kernel_clock_resolution(void); /* of timers, ns */
int pm_kernel_getrlimit(int resource, uint64_t *soft, uint64_t *hard);
int pm_kernel_sigaction(int signal, const struct sigaction *action,
			struct sigaction *old);
void pm_kernel_raise(int signal);     /* in the calling thread */
bool pm_kernel_on_signal_stack(void); /* the calling thread's, of sigaltstack(2) */
void pm_kernel_signals_block(
	sigset_t *old); /* in the calling thread, those of faults apart */
void pm_kernel_signals_restore(const sigset_t *old);
/* Starts a thread of the library. It never handles a signal of the program. */
int pm_kernel_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);
unsigned int pm_kernel_own_threads(void); /* how many of them there are */
void pm_kernel_yield(void);		  /* lets another thread run */
int pm_kernel_thread_name(char name[16]);
int pm_kernel_cpu(void); /* on which the caller runs now, or a negative errno */
/* Stores the CPUs that thread TID (0: the caller) may use in MASK, SIZE bytes in the
 * layout of cpu_set_t. Returns the number of bytes written, or a negative errno. -EINVAL:
 * the kernel has more CPUs. */
int pm_kernel_affinity(pid_t tid, void *mask, size_t size);
/* Binds the calling thread, which must be one of our own helpers, to the CPUs of MASK
 * (SIZE bytes, in the layout of cpu_set_t). */
int pm_kernel_bind_helper(const unsigned long *mask, size_t size);
/* Returns whether the program has more rights than its user (set-user-ID and the
 * like). */
int pm_kernel_secure(void);
pid_t pm_kernel_gettid(void);
pid_t pm_kernel_getpid(void); /* asks the kernel, never a cached value */
pid_t pm_kernel_getppid(void);
uid_t pm_kernel_user(void); /* the effective one */
size_t pm_kernel_page_size(void);
int pm_kernel_getcwd(char *buffer, size_t size); /* returns its length with the NUL */

#endif
