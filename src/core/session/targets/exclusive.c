/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exclusive sessions: one a thread. */

#include <errno.h>
#include <pthread.h>

#include "core/session/targets/targets.h"

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

	/* Pairs with the release below: the lock of the list is there. */
	if (__atomic_load_n(&claims, __ATOMIC_ACQUIRE))
		return 0;
	err = pm_kernel_map_wiped(&memory, pm_kernel_page_size());
	if (err)
		return err;
	mapped = memory;
	/* The release pairs with the acquire above: others see it wiped on fork. */
	if (!__atomic_compare_exchange_n(&claims, &expected, mapped, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		pm_kernel_munmap(mapped, pm_kernel_page_size());
	return 0;
}

int pm_exclusive_claim(struct perfmon_session *session, pid_t tid)
{
	struct perfmon_session *other;
	int err = map_claims();

	if (err)
		return pm_diag_set(&session->diag, err,
				   "no memory for the owner of the session");
	pthread_mutex_lock(&claims->lock);
	for (other = claims->first; other && other->attached->claimed_tid != tid;)
		other = other->attached->next_claim;
	if (!other) {
		session->attached->claimed_tid = tid;
		session->attached->next_claim = claims->first;
		claims->first = session;
	}
	pthread_mutex_unlock(&claims->lock);
	if (!other)
		return 0;
	return pm_diag_set(&session->diag, -EEXIST,
			   "thread %d has an exclusive session already", tid);
}

struct perfmon_session *pm_exclusive_of(pid_t tid)
{
	/* Pairs with the release in map_claims(). */
	struct claims *known = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
	struct perfmon_session *found;

	if (!known)
		return NULL;
	pthread_mutex_lock(&known->lock);
	for (found = known->first; found && found->attached->claimed_tid != tid;)
		found = found->attached->next_claim;
	pthread_mutex_unlock(&known->lock);
	return found;
}

void pm_exclusive_release(struct perfmon_session *session)
{
	struct perfmon_session **link;

	if (!session->attached->claimed_tid)
		return;
	pthread_mutex_lock(&claims->lock);
	for (link = &claims->first; *link && *link != session;)
		link = &(*link)->attached->next_claim;
	if (*link)
		*link = session->attached->next_claim;
	pthread_mutex_unlock(&claims->lock);
	session->attached->claimed_tid = 0;
}
