/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/text/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text/grow.h"
#include "core/text/text.h"

static void __attribute__((format(printf, 2, 0)))
append(struct pm_diag *diag, const char *format, va_list args)
{
	size_t used = strlen(diag->text);
	size_t room = sizeof(diag->text) - used;
	int n = vsnprintf(diag->text + used, room, format, args);

	if (n >= 0 && (size_t)n >= room)
		strcpy(diag->text + pm_text_cut(diag->text, sizeof(diag->text) - 4),
		       "...");
}

int pm_diag_set(struct pm_diag *diag, int error, const char *format, ...)
{
	va_list args;

	if (!diag)
		return error;
	diag->error = error;
	diag->text[0] = '\0';
	va_start(args, format);
	append(diag, format, args);
	va_end(args);
	return error;
}

void pm_diag_add(struct pm_diag *diag, const char *format, ...)
{
	va_list args;

	if (!diag)
		return;
	va_start(args, format);
	append(diag, format, args);
	va_end(args);
}

int pm_note_add(char ***notes, uint32_t *count, const char *format, ...)
{
	va_list args;
	int n;

	if (!PM_GROW(*notes, *count))
		return -ENOMEM;
	va_start(args, format);
	n = vasprintf(&(*notes)[*count], format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	++*count;
	return 0;
}
