/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of perfctr and hwpmc. */
#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "session/core/core.h"
#include "perfmon/control.h"

/* --- swap ------------------------------------------------------------------------------
 */

int pm_session_check_stopped(struct perfmon_session *session, uint32_t flags)
{
	if (!(flags & PERFMON_WRITE_STOPPED))
		return 0;
	pm_session_notice_loss(session);
	if (session->state != PERFMON_RUNNING && session->state != PERFMON_MASKED)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "the values of a running session are not to be written "
			   "(PERFMON_WRITE_STOPPED); stop it first");
}

static int check_swap(struct perfmon_session *session, const struct perfmon_value *values,
		      size_t size, uint32_t flags)
{
	size_t i, n = size / sizeof(values[0]);
	int err = pm_session_check_vector(session, values, size, sizeof(values[0]));

	if (!err && flags & ~PERFMON_WRITE_STOPPED)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	for (i = 0; i < n && !err; i++)
		err = values[i].reserved ? pm_diag_set(&session->diag, -EINVAL,
						       "element %zu: a reserved field is "
						       "not 0",
						       i)
					 : 0;
	err = err ?: pm_session_check_stopped(session, flags);
	for (i = 0; i < n && !err; i++)
		err = pm_session_check_index(session, i, values[i].index, 0);
	return err;
}

static int swap(struct perfmon_session *session, struct perfmon_value *values, size_t n)
{
	struct perfmon_write write;
	size_t i;
	int err = 0;

	if (session->state == PERFMON_RUNNING)
		session->stamp++;
	for (i = 0; i < n && !err; i++)
		err = pm_session_find(session, values[i].index, PM_ROLE_ALL);
	/* Writing moves the base by what has just been read: not a count is lost. */
	for (i = 0; i < n && !err; i++) {
		const struct perfmon_value *found =
			values[i].index == PERFMON_VIRTUAL_TIME
				? &session->time.found
				: &session->registers[values[i].index].found;

		write = (struct perfmon_write){.index = values[i].index,
					       .value = values[i].value};
		values[i] = *found;
		err = pm_session_write_one(session, &write);
	}
	return err ? pm_session_explain(session, err) : (int)n;
}

PM_EXPORT int perfmon_session_swap(struct perfmon_session *session,
				   struct perfmon_value *values, size_t size,
				   uint32_t flags)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_swap(session, values, size, flags);
	return pm_session_leave(session,
				err ?: swap(session, values, size / sizeof(values[0])));
}

/* --- control ---------------------------------------------------------------------------
 */

/* Sets the sums to 0, but for those in PRESERVE. Of a stopped session. */
static int zero_sums(struct perfmon_session *session, const uint64_t *preserve)
{
	struct perfmon_write write = {0};
	bool syscall;
	int err = 0;

	for (; write.index < session->count && !err; write.index++) {
		if (preserve && preserve[write.index / 64] >> (write.index % 64) & 1)
			continue;
		err = pm_session_collect(session, write.index, &syscall);
		if (!err || err == -ENODATA)
			err = pm_session_write_one(session, &write);
	}
	return err ? pm_session_explain(session, err) : 0;
}

static int control(struct perfmon_session *session, const char *text,
		   const uint64_t *preserve)
{
	enum perfmon_session_status before = session->state;
	int err, replaced;

	if (session->set_count > 1)
		return pm_diag_set(&session->diag, -EINVAL,
				   "a control has one event set, the session has %u",
				   session->set_count);
	pm_session_stop_all(session);
	replaced = pm_session_replace(session, text);
	err = replaced < 0 ? replaced : zero_sums(session, preserve);
	if (err && before != PERFMON_RUNNING)
		return err;
	if (!err)
		return pm_session_start_all(session);
	/* As it was; the sentence stays that of the refusal. */
	struct pm_diag refused = session->diag;

	if (!pm_session_start_all(session))
		session->diag = refused;
	return err;
}

PM_EXPORT int perfmon_session_control(struct perfmon_session *session, const char *text,
				      const uint64_t *preserve)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_notice_loss(session);
	if (session->state == PERFMON_DETACHED)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "a detached session takes no control; attach it first");
	else if (text && *text)
		err = control(session, text, preserve);
	else if (session->state != PERFMON_STOPPED)
		err = pm_session_stop_all(session);
	return pm_session_leave(session, err);
}

/* --- one state a thread ----------------------------------------------------------------
 */

/* Which threads exclusive sessions are on. Wiped in a child, where zeros are an unlocked
 * mutex and an empty list: the sessions, and perhaps the lock, are the parent's. */
static struct claims {
	pthread_mutex_t lock;
	struct perfmon_session *first;
} * claims;

static int map_claims(void)
{
	struct claims *expected = NULL, *mapped;
	void *memory;
	int err;

	if (__atomic_load_n(&claims, __ATOMIC_ACQUIRE))
		return 0;
	err = pm_kernel_mmap(&memory, pm_kernel_page_size(), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (err)
		return err;
	mapped = memory;
	err = pm_kernel_madvise(mapped, pm_kernel_page_size(), MADV_WIPEONFORK);
	/* The release pairs with the acquire above: others see it wiped on fork. */
	if (err || !__atomic_compare_exchange_n(&claims, &expected, mapped, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		pm_kernel_munmap(mapped, pm_kernel_page_size());
	return err;
}

int pm_exclusive_claim(struct perfmon_session *session, pid_t tid)
{
	struct perfmon_session *other;
	int err = map_claims();

	if (err)
		return pm_diag_set(&session->diag, err,
				   "there is no memory to note whose session this is");
	pthread_mutex_lock(&claims->lock);
	for (other = claims->first; other && other->claimed_tid != tid;)
		other = other->next_claim;
	if (!other) {
		session->claimed_tid = tid;
		session->next_claim = claims->first;
		claims->first = session;
	}
	pthread_mutex_unlock(&claims->lock);
	if (!other)
		return 0;
	return pm_diag_set(&session->diag, -EEXIST,
			   "thread %d has an exclusive session already", tid);
}

PM_EXPORT int perfmon_session_of_thread(pid_t tid, struct perfmon_session **session)
{
	struct claims *known = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
	struct perfmon_session *found;

	if (!session || tid < 0)
		return -EINVAL;
	if (!known)
		return -ENOENT;
	if (!tid)
		tid = pm_kernel_gettid();
	pthread_mutex_lock(&known->lock);
	for (found = known->first; found && found->claimed_tid != tid;)
		found = found->next_claim;
	pthread_mutex_unlock(&known->lock);
	if (!found)
		return -ENOENT;
	*session = found;
	return 0;
}

void pm_exclusive_release(struct perfmon_session *session)
{
	struct perfmon_session **link;

	if (!session->claimed_tid)
		return;
	pthread_mutex_lock(&claims->lock);
	for (link = &claims->first; *link && *link != session;)
		link = &(*link)->next_claim;
	if (*link)
		*link = session->next_claim;
	pthread_mutex_unlock(&claims->lock);
	session->claimed_tid = 0;
}
