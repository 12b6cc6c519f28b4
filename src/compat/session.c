/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon2 calls for a session as a whole. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "compat/compat.h"
#include "core/api/export.h"
#include "core/api/message.h"
#include "core/kernel/kernel.h"

#define KNOWN_CONTEXT_FLAGS                                                              \
	(PFM_FL_NOTIFY_BLOCK | PFM_FL_SYSTEM_WIDE | PFM_FL_SMPL_FMT | PFM_FL_OVFL_NO_MSG)
#define KNOWN_START_FLAGS (PFM_STARTFL_SET | PFM_STARTFL_RESTART)

PM_EXPORT int pfm_create_context_args(int flags, const char *smpl_name, void *smpl_arg,
				      size_t arg_size)
{
	const struct perfmon_sampling sampling = {.size = sizeof(sampling),
						  .format = smpl_name,
						  .data = smpl_arg,
						  .data_size = arg_size};

	if (flags & ~KNOWN_CONTEXT_FLAGS)
		return pm2_result(-EINVAL);
	if (flags & PFM_FL_NOTIFY_BLOCK && flags & PFM_FL_SYSTEM_WIDE)
		return pm2_result(-EINVAL);
	if (!(flags & PFM_FL_SMPL_FMT) && (smpl_name || smpl_arg || arg_size))
		return pm2_result(-EINVAL);
	if (flags & PFM_FL_SMPL_FMT && !smpl_name)
		return pm2_result(-EINVAL);
	return pm2_result(pm2_context_create((uint32_t)flags, &sampling));
}

/* For programs that call the function and not the macro. */
PM_EXPORT int(pfm_create_context)(int flags, ...)
{
	const char *smpl_name = NULL;
	void *smpl_arg = NULL;
	size_t arg_size = 0;
	va_list more;

	if (flags & PFM_FL_SMPL_FMT) {
		va_start(more, flags);
		smpl_name = va_arg(more, const char *);
		smpl_arg = va_arg(more, void *);
		arg_size = va_arg(more, size_t);
		va_end(more);
	}
	return pfm_create_context_args(flags, smpl_name, smpl_arg, arg_size);
}

int pm2_load(struct pm2_context *context, int target)
{
	if (!context->is_cpu && target <= 0)
		return pm_diag_set(&context->diag, -EINVAL,
				   "%d is not the number of a thread", target);
	return pm2_session_said(
		context,
		perfmon_session_attach(context->session,
				       context->is_cpu ? PERFMON_TARGET_KIND_CPU
						       : PERFMON_TARGET_KIND_THREAD,
				       target));
}

PM_EXPORT int pfm_load_context(int fd, int flags, ...)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL_TO_LOAD);
	va_list more;
	int target, err;

	if (!context)
		return -1;
	va_start(more, flags);
	target = va_arg(more, int);
	va_end(more);
	err = pm2_check_flags(context, (uint32_t)flags, 0);
	return pm2_context_leave(context, err ?: pm2_load(context, target));
}

/* Calls FUNCTION for the session of FD. No flags are known. */
static int call(int fd, int flags, int (*function)(struct perfmon_session *session))
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);
	int err;

	if (!context)
		return -1;
	err = pm2_check_flags(context, (uint32_t)flags, 0);
	err = err ?: pm2_session_said(context, function(context->session));
	return pm2_context_leave(context, err);
}

PM_EXPORT int pfm_unload_context(int fd, int flags, ...)
{
	return call(fd, flags, perfmon_session_detach);
}

static int start(struct pm2_context *context, int flags, int set)
{
	int err = pm2_check_flags(context, (uint32_t)flags, KNOWN_START_FLAGS);

	if (err)
		return err;
	if (!flags)
		return pm2_session_said(context, perfmon_session_start(context->session));
	if (flags & PFM_STARTFL_RESTART &&
	    perfmon_session_state(context->session) != PERFMON_STATE_MASKED)
		return pm_diag_set(&context->diag, -EBUSY,
				   "the session does not wait for a restart");
	if (flags & PFM_STARTFL_SET && (set < 0 || set > UINT16_MAX))
		return pm_diag_set(&context->diag, -EINVAL, "there is no event set %d",
				   set);
	if (flags & PFM_STARTFL_SET)
		err = perfmon_set_start(context->session, (uint16_t)set);
	if (!err && flags & PFM_STARTFL_RESTART)
		err = perfmon_overflow_restart(context->session);
	return pm2_session_said(context, err);
}

PM_EXPORT int pfm_start(int fd, int flags, ...)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);
	va_list more;
	int set = 0;

	if (!context)
		return -1;
	if (flags & PFM_STARTFL_SET) {
		va_start(more, flags);
		set = va_arg(more, int);
		va_end(more);
	}
	return pm2_context_leave(context, start(context, flags, set));
}

PM_EXPORT int pfm_stop(int fd, int flags, ...)
{
	return call(fd, flags, perfmon_session_stop);
}

PM_EXPORT int pfm_message(int fd, char *text, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL_TO_ASK);

	if (!context)
		return -1;
	if (!text || !size)
		return pm2_context_leave(context, -EINVAL);
	pm_message_copy(context->diag.text, text, size);
	return pm2_context_leave(context, (int)strlen(text));
}

PM_EXPORT const void *pfm_smpl_buffer(int fd, size_t *size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);
	const void *buffer;

	if (!context)
		return NULL;
	buffer = perfmon_sampling_buffer(context->session, size);
	pm2_context_leave(context, buffer ? 0 : pm2_session_said(context, -EINVAL));
	return buffer;
}

PM_EXPORT ssize_t pfm_read_msg(int fd, union pfarg_msg *messages, size_t size)
{
	ssize_t n, more;

	if (!size || size % sizeof(*messages))
		return pm2_result(-EINVAL);
	more = n = pm_kernel_read(fd, messages, sizeof(*messages));
	/* The socket gives one message at a time. */
	while (more == sizeof(*messages) && (size_t)n < size) {
		more = pm_kernel_receive(fd, &messages[(size_t)n / sizeof(*messages)],
					 sizeof(*messages));
		n += more > 0 ? more : 0;
	}
	return n < 0 ? pm2_result((int)n) : n;
}
