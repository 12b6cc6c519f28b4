/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors of perfmon2 sessions. One end of a pair of stream sockets is the program's:
 * copies of it, waiting for it and signals from it are the kernel's business. A table
 * finds the context by the socket's inode, so that any copy will do. The library's end
 * hangs up when the last copy is closed; a thread, the watcher, waits for that and ends
 * the session.
 *
 * A context leaves the table by the watcher alone, and is freed by who drops the last
 * reference: the watcher, or a call that was under way.
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
#include "os/os.h"
#include "perfmon/sampling.h"

#define BUCKETS	 256
#define HANG_UPS 16 /* looked at in one go */

/* Guarded by PM_LOCK_PERFMON2, except `owner`. */
static struct {
	struct pm2_context *buckets[BUCKETS];
	size_t count;
	/* Of the watcher, while `is_watched`; atomic, since it may be made anew. */
	int epoll_fd;
	bool is_watched;
	/* The process that may use the table; a child that no fork handler has prepared
	 * finds itself to be another. 0: nobody yet. */
	pid_t owner;
} table;

static void table_lock(void)
{
	pm_locks_take(PM_LOCK_PERFMON2);
}

static void table_unlock(void)
{
	pm_locks_release(PM_LOCK_PERFMON2);
}

static int watched_set(void)
{
	return __atomic_load_n(&table.epoll_fd, __ATOMIC_RELAXED);
}

static struct pm2_context **bucket_of(ino_t inode)
{
	return &table.buckets[inode % BUCKETS];
}

/* --- the life of a context ---------------------------------------------------------- */

static void context_free(struct pm2_context *context)
{
	perfmon_session_close(context->session);
	if (context->fd >= 0)
		pm_kernel_close(context->fd);
	pthread_mutex_destroy(&context->lock);
	free(context->registers);
	free(context);
}

static void context_put(struct pm2_context *context)
{
	bool last;

	table_lock();
	last = !--context->references;
	table_unlock();
	if (last)
		context_free(context);
}

/* --- the watcher -------------------------------------------------------------------- */

/* By hand: a child by clone(2) may have copies of the descriptors, with which they would
 * stay. */
static void unwatch(int fd)
{
	pm_kernel_epoll_ctl(watched_set(), EPOLL_CTL_DEL, fd, NULL);
}

static void unlink_context(struct pm2_context *gone)
{
	struct pm2_context **link = bucket_of(gone->inode);

	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	table.count--;
	unwatch(gone->fd);
}

static void end_messages(struct pm2_context *context)
{
	pthread_mutex_lock(&context->lock);
	if (context->message_fd >= 0)
		unwatch(context->message_fd);
	__atomic_store_n(&context->message_fd, -1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&context->lock);
}

/* Those whose last descriptor has been closed. */
static bool end_contexts(const struct epoll_event *events, int n)
{
	/* Events are packed: leak checkers do not see the pointers in them. */
	struct pm2_context *ended[HANG_UPS];
	int i, count = 0;
	bool done;

	table_lock();
	for (i = 0; i < n; i++) {
		const struct pm2_watch *ready = events[i].data.ptr;

		if (!ready->is_messages && events[i].events & EPOLLHUP) {
			unlink_context(ready->context);
			ended[count++] = ready->context;
		}
	}
	done = !table.count;
	table_unlock();
	for (i = 0; i < count; i++) {
		end_messages(ended[i]);
		context_put(ended[i]);
	}
	return done;
}

/* Ends the watcher, unless a context has come meanwhile. */
static bool end_watcher(int epoll_fd)
{
	bool done;

	table_lock();
	done = !table.count;
	if (done) {
		table.is_watched = false;
		pm_kernel_close(epoll_fd);
	}
	table_unlock();
	return done;
}

/* Has the watcher look for room in the socket instead of messages, or again for messages. */
static void watch_room(struct pm2_context *context, bool room)
{
	struct epoll_event ends = {.events = room ? EPOLLOUT : 0,
				   .data.ptr = &context->ends};
	struct epoll_event messages = {.events = room ? 0 : EPOLLIN,
				       .data.ptr = &context->messages};

	pm_kernel_epoll_ctl(watched_set(), EPOLL_CTL_MOD, context->fd, &ends);
	pm_kernel_epoll_ctl(watched_set(), EPOLL_CTL_MOD, context->message_fd, &messages);
}

static void forward(const struct pm2_watch *ready)
{
	struct pm2_context *context = ready->context;
	bool was_full;

	pthread_mutex_lock(&context->lock);
	was_full = context->is_full;
	pm2_messages_forward(context);
	if (context->is_full != was_full)
		watch_room(context, context->is_full);
	pthread_mutex_unlock(&context->lock);
}

static int watch_end(int epoll_fd, struct pm2_context *context)
{
	/* Hanging up is always told. */
	struct epoll_event event = {.data.ptr = &context->ends};

	return pm_kernel_epoll_ctl(epoll_fd, EPOLL_CTL_ADD, context->fd, &event);
}

static int watch_messages(int epoll_fd, struct pm2_context *context, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &context->messages};

	return pm_kernel_epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Makes the watcher's set anew, of all contexts; under the lock. The program may have
 * closed the last one, whose number is not ours to close: it may be another's by now. */
static int make_set(void)
{
	struct pm2_context *context;
	int fd = pm_kernel_epoll_create();
	size_t i;

	table.is_watched = fd >= 0;
	if (fd < 0)
		return fd;
	__atomic_store_n(&table.epoll_fd, fd, __ATOMIC_RELAXED);
	for (i = 0; i < BUCKETS && table.count; i++) {
		for (context = table.buckets[i]; context; context = context->next) {
			int messages =
				__atomic_load_n(&context->message_fd, __ATOMIC_RELAXED);

			watch_end(fd, context);
			if (messages >= 0)
				watch_messages(fd, context, messages);
		}
	}
	return fd;
}

static void *watch(void *argument)
{
	struct epoll_event events[HANG_UPS];
	int i, n, epoll_fd = (int)(intptr_t)argument;
	bool is_new = false;

	for (;;) {
		n = pm_kernel_epoll_wait(epoll_fd, events, HANG_UPS, -1);
		if (n < 0 && n != -EINTR) {
			table_lock();
			epoll_fd = is_new ? n : make_set();
			table.is_watched = epoll_fd >= 0;
			table_unlock();
			if (epoll_fd < 0)
				return NULL; /* until the next context comes */
			is_new = true;
			continue;
		}
		is_new = false;
		/* Before any of them ends. */
		for (i = 0; i < n; i++) {
			if (!(events[i].events & EPOLLHUP))
				forward(events[i].data.ptr);
		}
		if (end_contexts(events, n) && end_watcher(epoll_fd))
			return NULL;
	}
}

int pm2_context_watch_messages(struct pm2_context *context)
{
	int fd, err;

	if (context->message_fd >= 0)
		return 0;
	fd = perfmon_overflow_descriptor(context->session);
	if (fd < 0)
		return pm2_session_said(context, fd);
	err = watch_messages(watched_set(), context, fd);
	if (err)
		return pm_diag_set(&context->diag, err,
				   "messages cannot be waited for (error %d)", -err);
	__atomic_store_n(&context->message_fd, fd, __ATOMIC_RELAXED);
	return 0;
}

/* Under the lock. */
static int start_watcher(void)
{
	pthread_t watcher;
	int err, fd;

	if (table.is_watched)
		return 0;
	fd = make_set();
	if (fd < 0)
		return fd;
	err = pm_kernel_thread_start(&watcher, watch, (void *)(intptr_t)fd);
	if (err) {
		pm_kernel_close(fd);
		table.is_watched = false;
		return err;
	}
	pthread_detach(watcher);
	return 0;
}

/* --- fork --------------------------------------------------------------------------- */

/* The child keeps the contexts, to know its parent's descriptors, and nothing else of
 * them; the watcher is not there. The locks of contexts and sessions may be held by
 * threads that are not, either: nothing takes them. */
static void in_child(bool prepared)
{
	struct pm2_context *context;
	size_t i;

	if (!prepared)
		return; /* the table may be in pieces: `owner` keeps this child off it */
	for (i = 0; i < BUCKETS && table.owner; i++) {
		for (context = table.buckets[i]; context; context = context->next) {
			perfmon_session_close(context->session);
			context->session = NULL;
			if (context->fd >= 0)
				pm_kernel_close(context->fd);
			context->fd = -1;
		}
	}
	if (table.is_watched)
		pm_kernel_close(table.epoll_fd);
	table.is_watched = false;
	table.count = 0;
	if (table.owner)
		table.owner = pm_kernel_getpid();
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {.child = in_child};

	pm_locks_at_fork(PM_LOCK_PERFMON2, &hooks);
}

/* This process, if the table is its own; takes it if it is nobody's. 0: it is
 * another's. */
static pid_t owner_of_table(void)
{
	pid_t pid = pm_kernel_getpid(), owner = 0;

	if (__atomic_compare_exchange_n(&table.owner, &owner, pid, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return pid;
	return owner == pid ? pid : 0;
}

/* --- create ------------------------------------------------------------------------- */

/* Puts CONTEXT under the eyes of the watcher and into the table. */
static int context_publish(struct pm2_context *context)
{
	struct pm2_context **bucket = bucket_of(context->inode);
	int err;

	table_lock();
	err = start_watcher();
	if (!err)
		err = watch_end(watched_set(), context);
	if (!err) {
		context->references = 1;
		context->next = *bucket;
		*bucket = context;
		table.count++;
	}
	table_unlock();
	return err;
}

/* How the sockets of all processes are called whose descriptors are sessions. */
#define SOCKET_NAME "libperfmon perfmon2 session "

/* What a process that gets the descriptor from here knows it by. A name that is refused
 * (by a sandbox) changes only which error it gets. */
static void name_end(int fd, const struct stat *st)
{
	char name[80];

	snprintf(name, sizeof(name), SOCKET_NAME "%d/%" PRIuMAX, (int)pm_kernel_getpid(),
		 (uintmax_t)st->st_ino);
	pm_kernel_name_socket(fd, name);
}

/* Whether FD, which this process does not know, is a session that another one made. This
 * one may have made it, too, before it executed another program. */
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
	int ends[2], err;

	err = pm_kernel_socketpair(ends);
	if (err)
		return err;
	context->fd = ends[0];
	/* Nothing is to be written by the program, which would pile up unread. */
	err = pm_kernel_shutdown(ends[0], SHUT_RD);
	err = err ?: pm_kernel_fcntl(ends[1], F_SETFD, 0);
	err = err ?: pm_kernel_fstat(ends[1], &st);
	if (err) {
		pm_kernel_close(ends[1]);
		return err;
	}
	context->device = st.st_dev;
	context->inode = st.st_ino;
	name_end(ends[1], &st);
	*end = ends[1];
	return 0;
}

static int make_session(struct pm2_context *context, uint32_t flags,
			const struct pm2_format *format)
{
	struct perfmon_sampling sampling = {.size = sizeof(sampling),
					    .format = format->name,
					    .data = format->data,
					    .data_size = format->size};
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = flags & PFM_FL_SYSTEM_WIDE ? PERFMON_SCOPE_CPU
						    : PERFMON_SCOPE_THREAD};
	int err = perfmon_session_create(&context->session, &options, NULL, 0);

	if (!err && flags & PFM_FL_NOTIFY_BLOCK)
		err = perfmon_overflow_block(context->session, 0);
	if (!err && format->name)
		err = perfmon_sampling_set_up(context->session, &sampling);
	context->has_format = !err && format->name;
	return err;
}

static int create(uint32_t flags, const struct pm2_format *format, pid_t owner)
{
	struct pm2_context *context = calloc(1, sizeof(*context));
	int end, err;

	if (!context)
		return -ENOMEM;
	pthread_mutex_init(&context->lock, NULL);
	context->fd = context->message_fd = -1;
	context->is_cpu = flags & PFM_FL_SYSTEM_WIDE;
	context->is_silent = flags & PFM_FL_OVFL_NO_MSG;
	context->ends = (struct pm2_watch){.context = context};
	context->messages = (struct pm2_watch){.context = context, .is_messages = true};
	context->owner = owner;
	err = make_session(context, flags, format);
	if (err)
		goto fail;
	err = make_ends(context, &end);
	if (err)
		goto fail;
	err = context_publish(context);
	if (err) {
		pm_kernel_close(end);
		goto fail;
	}
	return end;
fail:
	context_free(context);
	return err;
}

/* --- calls -------------------------------------------------------------------------- */

int pm2_context_create(uint32_t flags, const struct pm2_format *format)
{
	pid_t owner = owner_of_table();
	sigset_t signals;
	int result, cancel_state;

	if (!owner)
		return -ECHILD;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pm_kernel_signals_block(&signals);
	result = create(flags, format, owner);
	pm_kernel_signals_restore(&signals);
	pthread_setcancelstate(cancel_state, NULL);
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
	table_lock();
	context = *bucket_of(st.st_ino);
	while (context && (context->inode != st.st_ino || context->device != st.st_dev))
		context = context->next;
	if (!context)
		err = -EINVAL;
	else if (context->owner != owner)
		err = -ECHILD;
	else
		context->references++;
	table_unlock();
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

struct pm2_context *pm2_context_enter(int fd)
{
	struct pm2_context *context;
	sigset_t signals;
	int err, cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pm_kernel_signals_block(&signals);
	err = find(fd, &context);
	if (err) {
		pm_kernel_signals_restore(&signals);
		pthread_setcancelstate(cancel_state, NULL);
		pm2_result(err);
		return NULL;
	}
	pthread_mutex_lock(&context->lock);
	context->signals = signals;
	context->cancel_state = cancel_state;
	return context;
}

int pm2_context_leave(struct pm2_context *context, int result)
{
	sigset_t signals = context->signals;
	int cancel_state = context->cancel_state;

	pthread_mutex_unlock(&context->lock);
	context_put(context);
	pm_kernel_signals_restore(&signals);
	pthread_setcancelstate(cancel_state, NULL);
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

bool pm2_is_zero(const void *fields, size_t size)
{
	const unsigned char *bytes = fields;
	size_t i;

	for (i = 0; i < size; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

int pm2_check_reserved(struct pm2_context *context, size_t i, uint64_t field,
		       const void *fields, size_t size)
{
	if (field || !pm2_is_zero(fields, size))
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
