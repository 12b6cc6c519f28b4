/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/core/busy.h"

#include <errno.h>

__thread struct pm_busy pm_busy
	__attribute__((tls_model("initial-exec"))) = {.number = PM_NO_NUMBER};

uint32_t pm_busy_number(void)
{
	static uint32_t last = PM_NO_NUMBER;

	if (pm_busy.number == PM_NO_NUMBER)
		pm_busy.number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return pm_busy.number;
}

/* Adds what was asked FROM to TO, where handlers do not ask at the moment or ask, too. */
static void move_asked(bool *to, bool *from)
{
	/* Stores alone, which take nothing away that a handler stores in between. */
	if (*from)
		*to = true;
	*from = false;
}

/* At each step below the interrupted call can be found: in `session`, in `outer`, or in
 * both, where `session` comes first. */
static int push(void)
{
	uint16_t top = pm_busy.depth;

	if (top == PM_BUSY_DEPTH)
		return -EAGAIN;
	/* Handlers that come from here on use what is above, and leave this alone. */
	pm_busy.depth = (uint16_t)(top + 1);
	pm_busy_step();
	pm_busy.outer[top].session = pm_busy.session;
	pm_busy_step();
	pm_busy.session = NULL;
	pm_busy_step();
	move_asked(&pm_busy.outer[top].restart, &pm_busy.restart);
	pm_busy_step();
	return 0;
}

static void pop(void)
{
	uint16_t top = (uint16_t)(pm_busy.depth - 1);

	pm_busy.session = pm_busy.outer[top].session;
	pm_busy_step();
	move_asked(&pm_busy.restart, &pm_busy.outer[top].restart);
	pm_busy_step();
	pm_busy.outer[top].session = NULL;
	pm_busy_step();
	pm_busy.depth = top;
}

int pm_busy_begin(struct perfmon_session *session)
{
	int err = pm_busy_is_nested() ? push() : 0;

	if (!err)
		pm_busy_set(session);
	return err;
}

bool pm_busy_end(void)
{
	bool restart;

	pm_busy_clear();
	restart = pm_busy.restart;
	pm_busy.restart = false;
	pm_busy_step();
	if (pm_busy.depth)
		pop();
	return restart;
}

bool *pm_busy_with(const struct perfmon_session *session)
{
	if (!session)
		return NULL;
	if (pm_busy.session == session)
		return &pm_busy.restart;
	for (uint16_t i = pm_busy.depth; i-- > 0;)
		if (pm_busy.outer[i].session == session)
			return &pm_busy.outer[i].restart;
	return NULL;
}

bool pm_busy_stop_later(struct perfmon_session *session)
{
	struct perfmon_session **room = NULL;

	for (uint16_t i = 0; i < PM_BUSY_DEPTH; i++) {
		if (pm_busy.stop[i] == session)
			return false;
		if (!pm_busy.stop[i])
			room = &pm_busy.stop[i];
	}
	if (!room)
		return false;
	*room = session;
	pm_busy_step();
	pm_busy.stops = true;
	return true;
}

struct perfmon_session *pm_busy_take_stop(void)
{
	/* First: a handler that adds one from here on says so again. */
	pm_busy.stops = false;
	pm_busy_step();
	for (uint16_t i = 0; i < PM_BUSY_DEPTH; i++) {
		struct perfmon_session *session = pm_busy.stop[i];

		if (!session)
			continue;
		pm_busy.stops = true;
		pm_busy_step();
		pm_busy.stop[i] = NULL;
		pm_busy_step();
		return session;
	}
	return NULL;
}

bool pm_busy_forget_stop(const struct perfmon_session *session)
{
	for (uint16_t i = 0; i < PM_BUSY_DEPTH; i++) {
		if (pm_busy.stop[i] != session)
			continue;
		pm_busy.stop[i] = NULL;
		return true;
	}
	return false;
}
