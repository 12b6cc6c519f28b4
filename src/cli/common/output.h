/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a command writes what it has been asked for: standard output, or a file, which
 * replaces an older one when it is whole. */
#ifndef PM_CLI_COMMON_OUTPUT_H
#define PM_CLI_COMMON_OUTPUT_H

#include "core/report/output/escape.h"
#include "core/report/output/file.h"

struct cli_output {
	const char *command;
	char *path; /* NULL: standard output */
	struct pm_report_file file;
	bool empty_first;  /* before the first text; until then it stays as it was */
	bool made;	   /* there was no file, and there is no text yet */
	struct pm_out out; /* to the file */
};

/*
 * A copy of PATH; or, where that is a folder or has / at its end, of the path of
 * perfmon-COMMAND.SUFFIX in it. A missing folder is made. NULL, and it has complained.
 */
char *cli_output_path(const char *command, const char *path, const char *suffix);

/* To such a PATH (NULL, "-": standard output). 0, or CLI_FAILED and it has complained. A
 * symbolic link is followed where the kernel would follow it. */
int cli_output_begin(struct cli_output *output, const char *command, const char *path,
		     const char *suffix);

/* The same for what others may read while it grows: to the file itself. Its older text goes
 * when the first new one comes, or, with APPEND, stays. */
int cli_output_grow(struct cli_output *output, const char *command, const char *path,
		    const char *suffix, bool append);

/* A sink to the file of an output, at once: ARGUMENT is the output. */
int cli_output_write(void *argument, const char *text, size_t size);

/* A sink of reports, for which ARGUMENT is the output. */
int cli_output_print(void *argument, const char *text, size_t size);

/* The exit status, when ERR is what the report came to; has complained. What standard
 * output could not take, cli_finish() says. */
int cli_output_end(struct cli_output *output, int err);

/* Puts out of LENGTH bytes of TEXT, which has no end there, as many as go at once, as
 * pm_out_plain() does: how many. */
size_t cli_plain_part(struct pm_out *out, const char *text, size_t length);

#endif
