/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descriptors of perfmon2 sessions. The program has one end of a pair of sockets that
 * keep the bounds of messages (SOCK_SEQPACKET), so the kernel provides copies, waiting
 * and signals. A table finds the context by the socket's inode, which all copies share.
 * The library's end hangs up when the last copy is closed. A thread, the watcher, waits
 * for that and ends the session.
 *
 * The watcher, or a load that finds a closed context, removes it from the table. The last
 * reference frees it: theirs, or that of a running call.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "compat/compat.h"
#include "core/api/export_struct.h"
#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/kernel/locks.h"
#include "core/kernel/poller.h"

#define BUCKETS 256
#define EVENTS	16 /* handled at once */

/* PM_LOCK_PERFMON2 guards the table, except `owner`. */
static struct {
	struct pm2_context *buckets[BUCKETS];
	size_t count;
	struct pm_poller watched; /* by the watcher, while `is_watched` */
	bool is_watched;
	/* The number of contexts that threads are ending now; a futex. */
	uint32_t ending;
	/* The process that may use the table, or 0. A child without a fork handler finds
	 * that it is another process. */
	pid_t owner;
} table;

static struct pm2_context **bucket_of(ino_t inode)
{
	return &table.buckets[inode % BUCKETS];
}

/* --- the life of a context ---------------------------------------------------------- */

static void context_free(struct pm2_context *context)
{
	perfmon_session_close(context->session);
	pm_owned_close(&context->end);
	pthread_mutex_destroy(&context->lock);
	free(context->registers);
	free(context);
}

static void ending_end(void)
{
	/* The counters are free. Pairs with the acquire in end_all_closed(). */
	if (!__atomic_sub_fetch(&table.ending, 1, __ATOMIC_RELEASE))
		pm_kernel_futex_wake(&table.ending);
}

static void context_put(struct pm2_context *context)
{
	bool last;

	pm_locks_take(PM_LOCK_PERFMON2);
	last = !--context->references;
	if (last)
		__atomic_fetch_add(&table.ending, 1, __ATOMIC_RELAXED);
	pm_locks_release(PM_LOCK_PERFMON2);
	if (!last)
		return;
	context_free(context);
	ending_end();
}

/* --- the watcher -------------------------------------------------------------------- */

/* Removes FD explicitly: a child by clone(2) may have copies of the descriptors, which
 * would keep it in the set. The caller holds the lock. */
static void unwatch(int fd)
{
	pm_poller_control(&table.watched, EPOLL_CTL_DEL, fd, 0, 0);
}

/* Begins a context's end, which end_context() completes without the lock. */
static void unlink_context(struct pm2_context *gone)
{
	struct pm2_context **link = bucket_of(gone->inode);

	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	table.count--;
	unwatch(gone->end.fd);
	__atomic_fetch_add(&table.ending, 1, __ATOMIC_RELAXED);
}

/* Ends a context that has just been removed from the table. */
static void end_context(struct pm2_context *context)
{
	pthread_mutex_lock(&context->lock);
	pm_locks_take(PM_LOCK_PERFMON2);
	if (context->message_fd >= 0)
		unwatch(context->message_fd);
	context->message_fd = -1;
	pm_locks_release(PM_LOCK_PERFMON2);
	pthread_mutex_unlock(&context->lock);
	context_put(context);
	ending_end();
}

/* Returns the context in the table with this socket, or NULL. */
static struct pm2_context *find_inode(ino_t inode)
{
	struct pm2_context *context = *bucket_of(inode);

	while (context && context->inode != inode)
		context = context->next;
	return context;
}

/* The key of an event for the watcher. It is not a pointer, since a load may have freed
 * the context. */
static uint64_t key_of(const struct pm2_context *context, bool is_messages)
{
	return (uint64_t)context->inode << 1 | is_messages;
}

/* Returns whether the program has closed all its descriptors of CONTEXT, or the library's
 * end. */
static bool is_closed(const struct pm2_context *context)
{
	int err = pm_owned_check(&context->end);
	short events = 0;

	return err == -ESTALE || err == -EBADF ||
	       (pm_kernel_poll(context->end.fd, &events) > 0 && events & POLLHUP);
}

/* Returns a closed context in the table, or NULL. */
static struct pm2_context *find_closed(void)
{
	struct pm2_context *context;

	for (size_t i = 0; i < BUCKETS; i++) {
		for (context = table.buckets[i]; context; context = context->next)
			if (is_closed(context))
				return context;
	}
	return NULL;
}

static void end_closed(void)
{
	struct pm2_context *closed;

	do {
		pm_locks_take(PM_LOCK_PERFMON2);
		closed = table.owner == pm_kernel_getpid() ? find_closed() : NULL;
		if (closed)
			unlink_context(closed);
		pm_locks_release(PM_LOCK_PERFMON2);
		if (closed)
			end_context(closed);
	} while (closed);
}

/* Ends all contexts that are closed. Their counters are free when it returns. The watcher
 * does the same, but perhaps after the program's next load. */
static void end_all_closed(void)
{
	uint32_t ending;

	end_closed();
	/* Waits for contexts that other threads are ending. Pairs with the release in
	 * ending_end(). */
	while ((ending = __atomic_load_n(&table.ending, __ATOMIC_ACQUIRE)))
		pm_kernel_futex_wait(&table.ending, ending);
}

/* Ends the watcher if there are no contexts to watch, or in any case. */
static bool end_watcher(bool anyway)
{
	bool done;

	pm_locks_take(PM_LOCK_PERFMON2);
	done = !table.count || anyway;
	if (done) {
		table.is_watched = false;
		pm_poller_close(&table.watched);
	}
	pm_locks_release(PM_LOCK_PERFMON2);
	return done;
}

/* Forwards messages. While the socket is full, the watcher waits for room in it instead of
 * messages. */
static void forward(struct pm2_context *context)
{
	bool was_full;

	pthread_mutex_lock(&context->lock);
	was_full = context->is_full;
	pm2_messages_forward(context);
	if (context->is_full != was_full) {
		pm_locks_take(PM_LOCK_PERFMON2);
		pm_poller_control(&table.watched, EPOLL_CTL_MOD, context->end.fd,
				  was_full ? 0 : EPOLLOUT, key_of(context, false));
		pm_poller_control(&table.watched, EPOLL_CTL_MOD, context->message_fd,
				  was_full ? EPOLLIN : 0, key_of(context, true));
		pm_locks_release(PM_LOCK_PERFMON2);
	}
	pthread_mutex_unlock(&context->lock);
}

/* Handles an event: a context has messages or room for them, or is closed. */
static void look_after(const struct epoll_event *event)
{
	bool is_messages = event->data.u64 & 1, is_closed = false;
	struct pm2_context *context;

	pm_locks_take(PM_LOCK_PERFMON2);
	context = find_inode((ino_t)(event->data.u64 >> 1));
	if (context) {
		is_closed = !is_messages && event->events & EPOLLHUP;
		if (is_closed)
			unlink_context(context);
		else
			context->references++;
	}
	pm_locks_release(PM_LOCK_PERFMON2);
	if (is_closed) {
		end_context(context);
	} else if (context) {
		forward(context);
		context_put(context);
	}
}

/* epoll always reports a hang-up. The caller holds the lock, also below. */
static int watch_end(const struct pm2_context *context)
{
	return pm_owned_is_foreign(&context->end)
		       ? -EBADF
		       : pm_poller_control(&table.watched, EPOLL_CTL_ADD, context->end.fd,
					   0, key_of(context, false));
}

static int watch_messages(const struct pm2_context *context, int fd)
{
	return pm_poller_control(&table.watched, EPOLL_CTL_ADD, fd, EPOLLIN,
				 key_of(context, true));
}

/* Makes the watcher's set again, of all contexts. */
static int make_set(void)
{
	struct pm2_context *context;
	int err;

	if (table.is_watched)
		pm_poller_close(&table.watched);
	err = pm_poller_create(&table.watched);
	table.is_watched = !err;
	for (size_t i = 0; i < BUCKETS && table.count && !err; i++) {
		for (context = table.buckets[i]; context; context = context->next)
			if (!watch_end(context) && context->message_fd >= 0)
				watch_messages(context, context->message_fd);
	}
	return err;
}

/* Replaces SET, which the watcher has lost. */
static int renew_set(struct pm_poller *set)
{
	int err = 0;

	pm_locks_take(PM_LOCK_PERFMON2);
	/* A create may have replaced it already. */
	if (set->pipe.inode == table.watched.pipe.inode)
		err = make_set();
	*set = table.watched;
	pm_locks_release(PM_LOCK_PERFMON2);
	return err;
}

static void *watch(void *argument)
{
	struct epoll_event events[EVENTS];
	struct pm_poller set;
	bool is_new = false, is_lost;

	(void)argument;
	pm_locks_take(PM_LOCK_PERFMON2);
	set = table.watched;
	pm_locks_release(PM_LOCK_PERFMON2);
	for (;;) {
		int i, n = pm_poller_wait(&set, events, EVENTS);

		is_lost = (n < 0 && n != -EINTR) || pm_poller_check(&set);
		if (is_lost) {
			/* The next context starts it again. */
			if (is_new || renew_set(&set))
				break;
			end_closed();
		}
		is_new = is_lost;
		for (i = 0; i < n; i++)
			look_after(&events[i]);
		if (end_watcher(!n && pm_life_program_has_ended()))
			return NULL;
	}
	end_watcher(true);
	return NULL;
}

int pm2_context_watch_messages(struct pm2_context *context)
{
	int fd, err;

	if (context->message_fd >= 0)
		return 0;
	fd = perfmon_overflow_descriptor(context->session);
	if (fd < 0)
		return pm2_session_said(context, fd);
	pm_locks_take(PM_LOCK_PERFMON2);
	err = watch_messages(context, fd);
	if (!err)
		context->message_fd = fd;
	pm_locks_release(PM_LOCK_PERFMON2);
	return err ? pm_diag_set(&context->diag, err,
				 "messages cannot be waited for (error %d)", -err)
		   : 0;
}

/* The watcher finds within a tick that its set was lost. The caller holds the lock. */
static int start_watcher(void)
{
	bool has_watcher = table.is_watched;
	pthread_t watcher;
	int err;

	if (has_watcher && !pm_poller_check(&table.watched))
		return 0;
	err = make_set();
	if (err || has_watcher)
		return err;
	err = pm_kernel_thread_start(&watcher, watch, NULL);
	if (err) {
		table.is_watched = false;
		pm_poller_close(&table.watched);
		return err;
	}
	pthread_detach(watcher);
	return 0;
}

/* --- fork --------------------------------------------------------------------------- */

/*
 * The child keeps the contexts only to know its parent's descriptors. It has no watcher.
 * Threads that it does not have may hold the locks of contexts and sessions, so it takes
 * none.
 */
static void in_child(bool prepared)
{
	struct pm2_context *context;

	if (!prepared)
		return; /* the table may be half written: `owner` keeps this child from using it */
	for (size_t i = 0; i < BUCKETS && table.owner; i++) {
		for (context = table.buckets[i]; context; context = context->next) {
			perfmon_session_close(context->session);
			context->session = NULL;
			pm_owned_close(&context->end);
		}
	}
	if (table.is_watched)
		pm_poller_close(&table.watched);
	table.is_watched = false;
	table.count = 0;
	table.ending = 0;
	if (table.owner)
		table.owner = pm_kernel_getpid();
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {.child = in_child};

	pm_locks_at_fork(PM_LOCK_PERFMON2, &hooks);
}

/* Returns this process if the table is its own, and takes the table if it has no owner.
 * Returns 0 if it is another process's. */
static pid_t owner_of_table(void)
{
	pid_t pid = pm_kernel_getpid(), owner = 0;

	if (__atomic_compare_exchange_n(&table.owner, &owner, pid, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return pid;
	return owner == pid ? pid : 0;
}

/* --- create ------------------------------------------------------------------------- */

/* Puts CONTEXT into the table and lets the watcher watch it. */
static int context_publish(struct pm2_context *context)
{
	struct pm2_context **bucket = bucket_of(context->inode);
	int err;

	pm_locks_take(PM_LOCK_PERFMON2);
	err = start_watcher();
	if (!err)
		err = watch_end(context);
	if (!err) {
		context->references = 1;
		context->next = *bucket;
		*bucket = context;
		table.count++;
	}
	pm_locks_release(PM_LOCK_PERFMON2);
	return err;
}

/* The names of all processes' sockets whose descriptors are sessions begin with this. */
#define SOCKET_NAME "libperfmon perfmon2 session "

/* Returns whether FD is a session of another process. This process may have made it
 * before it executed another program. */
static bool is_anothers(int fd)
{
	char own[80];

	snprintf(own, sizeof(own), SOCKET_NAME "%d/", (int)pm_kernel_getpid());
	return pm_kernel_socket_has_name(fd, SOCKET_NAME) &&
	       !pm_kernel_socket_has_name(fd, own);
}

static int make_ends(struct pm2_context *context, int *end)
{
	struct stat st;
	char name[80];
	int ends[2], err = pm_kernel_socketpair(ends);

	if (err)
		return err;
	err = pm_owned_learn(&context->end, ends[0]);
	if (err)
		pm_kernel_close(ends[0]);
	/* The program must not write: nobody would read it. */
	err = err ?: pm_kernel_shutdown(ends[0], SHUT_RD);
	err = err ?: pm_kernel_fcntl(ends[1], F_SETFD, 0);
	err = err ?: pm_kernel_fstat(ends[1], &st);
	if (err) {
		pm_kernel_close(ends[1]);
		return err;
	}
	context->device = st.st_dev;
	context->inode = st.st_ino;
	/* A process that gets the descriptor recognises it by the name. If a sandbox
	 * forbids the name, only the error there differs. */
	snprintf(name, sizeof(name), SOCKET_NAME "%d/%" PRIuMAX, (int)pm_kernel_getpid(),
		 (uintmax_t)st.st_ino);
	pm_kernel_name_socket(ends[1], name);
	*end = ends[1];
	return 0;
}

static int make_session(struct pm2_context *context, uint32_t flags,
			const struct perfmon_sampling *sampling)
{
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = flags & PFM_FL_SYSTEM_WIDE ? PERFMON_SCOPE_CPU
						    : PERFMON_SCOPE_THREAD};
	int err = perfmon_session_create(&context->session, &options, NULL, 0);

	if (!err && flags & PFM_FL_NOTIFY_BLOCK)
		err = perfmon_overflow_block(context->session, 0);
	if (!err && sampling->format)
		err = perfmon_sampling_set_up(context->session, sampling);
	context->has_format = !err && sampling->format;
	return err;
}

static int create(uint32_t flags, const struct perfmon_sampling *sampling, pid_t owner)
{
	struct pm2_context *context = calloc(1, sizeof(*context));
	int end, err;

	if (!context)
		return -ENOMEM;
	pthread_mutex_init(&context->lock, NULL);
	context->end = PM_OWNED_NONE;
	context->message_fd = -1;
	context->is_cpu = flags & PFM_FL_SYSTEM_WIDE;
	context->is_silent = flags & PFM_FL_OVFL_NO_MSG;
	context->owner = owner;
	err = make_session(context, flags, sampling) ?: make_ends(context, &end);
	if (!err) {
		err = context_publish(context);
		if (!err)
			return end;
		pm_kernel_close(end);
	}
	context_free(context);
	return err;
}

/* --- calls -------------------------------------------------------------------------- */

int pm2_context_create(uint32_t flags, const struct perfmon_sampling *sampling)
{
	pid_t owner = owner_of_table();
	struct pm_still still;
	int result;

	if (!owner)
		return -ECHILD;
	pm_kernel_still_begin(&still);
	result = create(flags, sampling, owner);
	pm_kernel_still_end(&still);
	return result;
}

static int find(int fd, struct pm2_context **out)
{
	struct pm2_context *context;
	struct stat st;
	pid_t owner;
	int err = pm_kernel_fstat(fd, &st);

	if (err)
		return err;
	if (!S_ISSOCK(st.st_mode))
		return -EINVAL;
	owner = owner_of_table();
	if (!owner)
		return -ECHILD;
	pm_locks_take(PM_LOCK_PERFMON2);
	context = find_inode(st.st_ino);
	if (!context || context->device != st.st_dev)
		err = -EINVAL;
	else if (context->owner != owner)
		err = -ECHILD;
	else
		context->references++;
	pm_locks_release(PM_LOCK_PERFMON2);
	if (err == -EINVAL && is_anothers(fd))
		err = -ECHILD;
	*out = context;
	return err;
}

int pm2_result(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

struct pm2_context *pm2_context_enter(int fd, enum pm2_kind kind)
{
	struct pm2_context *context;
	struct pm_still still;
	int err;

	pm_kernel_still_begin(&still);
	/* Done without a context's lock, which the end of another might need. */
	if (kind == PM2_CALL_TO_LOAD)
		end_all_closed();
	err = find(fd, &context);
	if (err) {
		pm_kernel_still_end(&still);
		pm2_result(err);
		return NULL;
	}
	pthread_mutex_lock(&context->lock);
	context->still = still;
	/* The message belongs to this call from here on. */
	if (kind != PM2_CALL_TO_ASK)
		pm_diag_clear(&context->diag);
	return context;
}

int pm2_context_leave(struct pm2_context *context, int result)
{
	struct pm_still still = context->still;

	pthread_mutex_unlock(&context->lock);
	context_put(context);
	pm_kernel_still_end(&still);
	return pm2_result(result);
}

int pm2_session_said(struct pm2_context *context, int result)
{
	char message[sizeof(context->diag.text)] = "";

	if (result >= 0)
		return result;
	perfmon_session_message(context->session, message, sizeof(message));
	return pm_diag_set(&context->diag, result, "%s", message);
}

int pm2_check_vector(struct pm2_context *context, const void *vector, size_t size,
		     size_t element)
{
	if (!vector || !size || size % element)
		return pm_diag_set(&context->diag, -EINVAL,
				   "a vector of %zu bytes is not a multiple of %zu", size,
				   element);
	if (size / element > PERFMON_SESSION_VECTOR_MAX)
		return pm_diag_set(&context->diag, -E2BIG,
				   "a vector of %zu elements is longer than %d",
				   size / element, PERFMON_SESSION_VECTOR_MAX);
	return 0;
}

int pm2_check_reserved(struct pm2_context *context, size_t i, uint64_t field,
		       const void *fields, size_t size)
{
	if (field || !pm_is_zero(fields, size))
		return pm_diag_set(&context->diag, -EINVAL,
				   "element %zu: a reserved field is not 0", i);
	return 0;
}

int pm2_check_flags(struct pm2_context *context, uint32_t flags, uint32_t known)
{
	if (flags & ~known)
		return pm_diag_set(&context->diag, -EINVAL, "unknown flags 0x%x",
				   flags & ~known);
	return 0;
}

void *pm2_vector(struct pm2_context *context, void *few, size_t n, size_t size)
{
	void *vector = n <= PM2_FEW ? memset(few, 0, n * size) : calloc(n, size);

	if (!vector)
		pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	return vector;
}

void pm2_vector_free(void *vector, const void *few)
{
	if (vector != few)
		free(vector);
}
