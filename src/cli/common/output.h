/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of a command: standard output, or a file, which replaces an older one when
 * it is complete. */
#ifndef PM_CLI_COMMON_OUTPUT_H
#define PM_CLI_COMMON_OUTPUT_H

#include "core/report/output/escape.h"
#include "core/report/output/file.h"

struct cli_output {
	const char *command;
	char *path; /* NULL: standard output */
	struct pm_report_file file;
	bool empty_first;  /* the file is emptied before the first text */
	bool made;	   /* the file is new and still empty */
	struct pm_out out; /* to the file */
};

/*
 * Begins output to PATH (NULL, "-": standard output). In a folder, or if PATH ends with /, the
 * file is perfmon-COMMAND.SUFFIX. A symbolic link is followed where the kernel would follow
 * it. Returns 0, or CLI_FAILED after a message.
 */
int cli_output_begin(struct cli_output *output, const char *command, const char *path,
		     const char *suffix);

/* Does the same, but writes to the file itself, which others may read while it grows. Its
 * older text is removed before the first new text, or stays with APPEND. */
int cli_output_grow(struct cli_output *output, const char *command, const char *path,
		    const char *suffix, bool append);

/* A sink that writes to the file at once. ARGUMENT is the struct cli_output. */
int cli_output_write(void *argument, const char *text, size_t size);

/* A sink of reports. ARGUMENT is the struct cli_output. */
int cli_output_print(void *argument, const char *text, size_t size);

/* Ends the output; ERR is the report's result. Returns the exit status after a message.
 * cli_finish() reports errors of standard output. */
int cli_output_end(struct cli_output *output, int err);

/* Writes as many of the LENGTH bytes of TEXT, which has no NUL, as pm_out_plain() takes
 * at once. Returns how many. */
size_t cli_plain_part(struct pm_out *out, const char *text, size_t length);

#endif
