/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The letters after an event: which modes it counts, and how firmly. */
#include "core/events_internal.h"

#include <errno.h>
#include <string.h>

int pm_modifiers_parse(struct pm_slice text, struct pm_modifiers *out, const char **bad)
{
	struct pm_modifiers m = {0};
	size_t i;

	for (i = 0; i < text.length; i++) {
		switch (text.at[i]) {
		case 'u':
			m.user = true;
			break;
		case 'k':
			m.kernel = true;
			break;
		case 'h':
			m.hv = true;
			break;
		case 'G':
			m.guest = true;
			break;
		case 'H':
			m.host = true;
			break;
		case 'I':
			m.exclude_idle = true;
			break;
		case 'D':
			m.pinned = true;
			break;
		case 'e':
			m.exclusive = true;
			break;
		case 'P':
			m.precise_max = true;
			break;
		case 'p':
			if (++m.precise <= 3)
				break;
			/* fall through */
		default:
			*bad = text.at + i;
			return -EINVAL;
		}
	}
	if (!text.length) {
		*bad = text.at;
		return -EINVAL;
	}
	*out = m;
	return 0;
}

void pm_modifiers_add(struct pm_modifiers *to, const struct pm_modifiers *more)
{
	to->user |= more->user;
	to->kernel |= more->kernel;
	to->hv |= more->hv;
	to->guest |= more->guest;
	to->host |= more->host;
	to->exclude_idle |= more->exclude_idle;
	to->pinned |= more->pinned;
	to->exclusive |= more->exclusive;
	to->precise_max |= more->precise_max;
	if (to->precise < more->precise)
		to->precise = more->precise;
}

void pm_modifiers_print(const struct pm_modifiers *modifiers, char *text)
{
	const struct {
		bool set;
		char letter;
	} table[] = {
		{modifiers->user, 'u'},	       {modifiers->kernel, 'k'},
		{modifiers->hv, 'h'},	       {modifiers->guest, 'G'},
		{modifiers->host, 'H'},	       {modifiers->exclude_idle, 'I'},
		{modifiers->precise > 0, 'p'}, {modifiers->precise > 1, 'p'},
		{modifiers->precise > 2, 'p'}, {modifiers->precise_max, 'P'},
		{modifiers->pinned, 'D'},      {modifiers->exclusive, 'e'},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].set)
			*text++ = table[i].letter;
	*text = '\0';
}

void pm_modifiers_apply(const struct pm_modifiers *modifiers, bool default_user,
			unsigned int max_precise, struct perf_event_attr *attr)
{
	unsigned int precise = modifiers->precise;

	if (modifiers->user || modifiers->kernel || modifiers->hv) {
		attr->exclude_user = !modifiers->user;
		attr->exclude_kernel = !modifiers->kernel;
		attr->exclude_hv = !modifiers->hv;
	} else if (default_user) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
	if (modifiers->guest || modifiers->host) {
		attr->exclude_host = !modifiers->host;
		attr->exclude_guest = !modifiers->guest;
	}
	if (modifiers->precise_max && precise < max_precise)
		precise = max_precise;
	if (precise) {
		attr->precise_ip = precise & 3;
		/* PEBS and IBS refuse to follow a guest: perf leaves it out as well. */
		if (!modifiers->guest && !modifiers->host)
			attr->exclude_guest = 1;
	}
	attr->exclude_idle |= modifiers->exclude_idle;
	attr->pinned |= modifiers->pinned;
	attr->exclusive |= modifiers->exclusive;
}
