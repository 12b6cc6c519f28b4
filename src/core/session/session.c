/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a session: create and close. */

#include <errno.h>
#include <stdlib.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/session/calls.h"
#include "core/session/overflow/notices.h"
#include "core/session/sampling/sampling.h"
#include "core/session/targets/targets.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_SESSION_PARTIAL | PERFMON_SESSION_SPLIT | PERFMON_SESSION_ALL_MODES |   \
	 PERFMON_SESSION_NO_PAGES | PERFMON_SESSION_ROTATE | THREAD_FLAGS)

/* The flags that make no sense for CPUs. */
#define THREAD_FLAGS (PERFMON_SESSION_SELF | PERFMON_SESSION_EXCLUSIVE)

static int map_reader(struct perfmon_session *session)
{
	void *memory;
	int err = pm_kernel_map_wiped(&memory, sizeof(*session->reader));

	if (err)
		return err;
	session->reader = memory;
	session->reader->session = session;
	return 0;
}

/* Frees a session that holds nothing of the kernel any more, or is not complete. */
static void free_all(struct perfmon_session *session)
{
	if (session->overflows)
		free(session->overflows->queue);
	free(session->overflows);
	free(session->attached);
	if (session->reader)
		pm_kernel_munmap(session->reader, sizeof(*session->reader));
	pm_registers_free(session->registers, session->count);
	pm_plan_free(session->plan);
	free(session->sets);
	session->magic = 0;
	free(session);
}

/* Returns what is wrong with OPTIONS, by a struct's ERR or by themselves, or NULL. */
static const char *wrong_with(const struct perfmon_session_options *options, int err)
{
	if (err == -EINVAL)
		return "the options are smaller than their first version; set .size = "
		       "sizeof(struct perfmon_session_options)";
	if (err)
		return "the options have fields that this version of the library does "
		       "not know; leave them zero";
	if (!options)
		return NULL;
	if (options->scope > PERFMON_SCOPE_CPU)
		return "unknown scope";
	if (options->flags & ~KNOWN_FLAGS)
		return "unknown flags";
	if (options->scope == PERFMON_SCOPE_CPU && options->flags & THREAD_FLAGS)
		return "a session of CPU scope has a flag for threads alone";
	return NULL;
}

PM_EXPORT int perfmon_session_create(struct perfmon_session **out,
				     const struct perfmon_session_options *options,
				     char *message, size_t message_size)
{
	struct perfmon_session *session;
	int err = options ? PM_STRUCT_CHECK(options, perfmon_session_options, 16) : 0;
	const char *wrong = out ? wrong_with(options, err) : "no handle";

	pm_message_tell(wrong ?: "", message, message_size);
	if (wrong)
		return err ?: -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session) {
		pm_message_tell("no memory for a session", message, message_size);
		return -ENOMEM;
	}
	if (options) {
		session->scope = options->scope;
		session->flags = options->flags;
	}
	session->magic = PM_SESSION_MAGIC;
	session->quick_fd = -1;
	session->stamp = 1;
	session->set_count = 1;
	session->sets = calloc(1, sizeof(session->sets[0]));
	session->overflows = calloc(1, sizeof(*session->overflows));
	session->attached = calloc(1, sizeof(*session->attached));
	err = session->sets && session->overflows && session->attached
		      ? map_reader(session)
		      : -ENOMEM;
	err = err ?: pm_plan_build(session, NULL, 0, session->sets, 1, &session->plan);
	if (err) {
		free_all(session);
		pm_message_tell("no memory for a session", message, message_size);
		return err;
	}
	*out = session;
	return 0;
}

PM_EXPORT void perfmon_session_close(struct perfmon_session *session)
{
	bool is_busy;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return;
	if (pm_session_is_child(session)) {
		/* The lock may be held by a thread that the child does not have. */
		pm_overflow_close_descriptor(session);
		pm_targets_forget(session->plan);
		pm_processes_prune(session);
		pm_helper_forget(session->helper);
		pm_sampling_forget(session);
	} else {
		/* Requests of handlers on this thread are ignored from here on. */
		is_busy = !pm_busy_begin(session);
		pm_helper_stop(session->helper);
		pm_lock_take(&session->lock);
		/* Records that came until now go to the log. */
		if (session->sampling && session->state != PERFMON_STATE_DETACHED)
			pm_session_detach_all(session);
		pm_session_disown(session);
		pm_targets_close(session, session->plan, 0);
		pm_processes_prune(session);
		pm_exclusive_release(session);
		/* Threads that wait for a restart go, and no other waits. */
		session->overflows->closing = true;
		pm_overflow_release(session);
		pm_lock_release(&session->lock);
		pm_overflow_close(session);
		/* The log's thread wakes the helper thread, whether that runs or not. */
		pm_sampling_close(session);
		pm_overflow_close_descriptor(session);
		pm_helper_forget(session->helper);
		if (is_busy)
			pm_busy_end();
	}
	free_all(session);
}
