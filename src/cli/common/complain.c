/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_print(void *file, const char *text, size_t size)
{
	return fwrite(text, 1, size, file) == size ? 0 : -EIO;
}

void cli_complain(const char *command, const char *format, ...)
{
	struct pm_out out = {.sink = cli_print, .argument = stderr};
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	pm_out_format(&out, "perfmon%s%s: ", command ? " " : "", command ? command : "");
	/* A name in the message may contain control characters. */
	pm_out_plain(&out, text ? text : format, 0);
	pm_out_text(&out, "\n");
	pm_out_end(&out);
	free(text);
}

int cli_no_memory(const char *command)
{
	return cli_fail(CLI_FAILED, command, "%s", strerror(ENOMEM));
}

void cli_note(const struct cli_notes *to, const char *format, ...)
{
	/* A note may be the sentence of an error and more. */
	char note[sizeof(((struct pm_diag *)0)->text) + 400];
	va_list args;

	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	to->take(to->argument, note);
}

int cli_finish(const char *command, int status)
{
	if (cli_pager_end())
		return status;
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(status ? status : CLI_FAILED, command,
				"standard output: %s", strerror(errno));
	return status;
}
