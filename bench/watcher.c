/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watcher PID takes snapshots of a process's profile as fast as it can, until it is
 * ended. It reports the first one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "core/text/diag.h"

int main(int count, char **arguments)
{
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	bool said = false;

	if (count != 2 || pm_profile_file_open_pid(atoi(arguments[1]), &file, &diag)) {
		fprintf(stderr, "watcher: %s\n", diag.text);
		return 1;
	}
	while (!pm_profile_file_snapshot(file, &s, &diag)) {
		if (s->partial || s->writer != PM_WRITER_RUNS) {
			fprintf(stderr, "watcher: %s\n", s->problem);
			return 2;
		}
		pm_snapshot_free(s);
		if (!said && write(STDOUT_FILENO, "!", 1) != 1)
			return 3;
		said = true;
	}
	fprintf(stderr, "watcher: %s\n", diag.text);
	return 1;
}
