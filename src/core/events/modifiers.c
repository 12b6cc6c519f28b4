/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modifiers of an event: the letters for its modes, precision and pinning. */
#include "core/events/internal.h"

#include <errno.h>
#include <stddef.h>

#include "core/kernel/kernel.h"

/* The letters that are given or not, in the order in which they are written. p, which may
 * be given up to three times, comes before P. */
static const struct {
	char letter;
	size_t flag; /* of struct pm_modifiers */
} flags_of[] = {
	{'u', offsetof(struct pm_modifiers, user)},
	{'k', offsetof(struct pm_modifiers, kernel)},
	{'h', offsetof(struct pm_modifiers, hv)},
	{'G', offsetof(struct pm_modifiers, guest)},
	{'H', offsetof(struct pm_modifiers, host)},
	{'I', offsetof(struct pm_modifiers, exclude_idle)},
	{'P', offsetof(struct pm_modifiers, precise_max)},
	{'D', offsetof(struct pm_modifiers, pinned)},
	{'e', offsetof(struct pm_modifiers, exclusive)},
};
#define FLAGS (sizeof(flags_of) / sizeof(flags_of[0]))

static bool *flag(struct pm_modifiers *modifiers, size_t i)
{
	return (bool *)((char *)modifiers + flags_of[i].flag);
}

static bool has_flag(const struct pm_modifiers *modifiers, size_t i)
{
	return *(const bool *)((const char *)modifiers + flags_of[i].flag);
}

int pm_modifiers_parse(struct pm_slice text, struct pm_modifiers *out, const char **bad)
{
	struct pm_modifiers m = {0};

	*bad = text.at;
	for (; *bad < text.at + text.length; ++*bad) {
		size_t i = 0;

		if (**bad == 'p' && ++m.precise <= 3)
			continue;
		while (i < FLAGS && flags_of[i].letter != **bad)
			i++;
		if (i == FLAGS)
			return -EINVAL;
		*flag(&m, i) = true;
	}
	if (!text.length)
		return -EINVAL;
	*out = m;
	return 0;
}

void pm_modifiers_add(struct pm_modifiers *to, const struct pm_modifiers *more)
{
	for (size_t i = 0; i < FLAGS; i++)
		*flag(to, i) |= has_flag(more, i);
	if (to->precise < more->precise)
		to->precise = more->precise;
}

void pm_modifiers_print(const struct pm_modifiers *modifiers, char *text)
{
	for (size_t i = 0; i < FLAGS; i++) {
		for (unsigned int p = 0;
		     flags_of[i].letter == 'P' && p < modifiers->precise; p++)
			*text++ = 'p';
		if (has_flag(modifiers, i))
			*text++ = flags_of[i].letter;
	}
	*text = '\0';
}

/*
 * Returns whether kernel mode is permitted. The kernel has one answer for all events and
 * targets (perf_allow_kernel()). It depends on more than can be read: user namespaces,
 * security modules. It is tried once for a user, so that programming a session again
 * opens nothing. If it changes later, events that are no longer permitted fail, and newly
 * permitted ones stay `:u`.
 */
static bool kernel_mode_is_allowed(void)
{
	static uint64_t answer; /* 0: not yet known; two threads may both try */
	const uint64_t yes = (uint64_t)pm_kernel_user() << 2 | 2, no = yes | 1;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	uint64_t known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
	int fd;

	if (known == yes || known == no)
		return known == yes;
	fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		pm_kernel_close(fd);
	known = fd != -EACCES && fd != -EPERM ? yes : no;
	__atomic_store_n(&answer, known, __ATOMIC_RELAXED);
	return known == yes;
}

void pm_modes_default(unsigned int flags, struct pm_event *event,
		      struct pm_modifiers *modifiers)
{
	bool is_said = modifiers->user || modifiers->kernel || modifiers->hv ||
		       modifiers->modes_in_name;

	/* Events of the kernel alone count nothing in user mode. PMUs behind
	 * PERF_TYPE_MAX that are not a core's have no modes, and most drivers reject the
	 * bits. */
	if (is_said || !(flags & PM_EVENTS_USER_ONLY) || event->kernel_only ||
	    (!event->hardware && event->attr.type >= PERF_TYPE_MAX))
		return;
	if (!event->hardware && kernel_mode_is_allowed())
		return;
	event->attr.exclude_kernel = event->attr.exclude_hv = 1;
	/* With a clock a `u` would be wrong. */
	modifiers->user = !pm_attr_is_clock(&event->attr);
	event->user_only = modifiers->user && !event->hardware;
}

void pm_modifiers_apply(const struct pm_modifiers *modifiers, unsigned int max_precise,
			struct perf_event_attr *attr)
{
	unsigned int precise = modifiers->precise;

	if (modifiers->user || modifiers->kernel || modifiers->hv) {
		attr->exclude_user = !modifiers->user;
		attr->exclude_kernel = !modifiers->kernel;
		attr->exclude_hv = !modifiers->hv;
	}
	if (modifiers->guest || modifiers->host) {
		attr->exclude_host = !modifiers->host;
		attr->exclude_guest = !modifiers->guest;
	}
	if (modifiers->precise_max && precise < max_precise)
		precise = max_precise;
	if (precise) {
		attr->precise_ip = precise & 3;
		/* PEBS and IBS cannot follow a guest. perf leaves it out as well. */
		if (!modifiers->guest && !modifiers->host)
			attr->exclude_guest = 1;
	}
	attr->exclude_idle |= modifiers->exclude_idle;
	attr->pinned |= modifiers->pinned;
	attr->exclusive |= modifiers->exclusive;
}
