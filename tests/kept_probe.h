/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of profiles in files: a folder of the test's own. */
#ifndef PM_TESTS_KEPT_PROBE_H
#define PM_TESTS_KEPT_PROBE_H

#include "core/profile/profile.h"
#include "helpers.h"
#include "region_probe.h"
#include "core/text/diag.h"

static char folder[64];

static inline void kept_begin(void)
{
	probe_quiet();
	make_folder(folder, sizeof(folder));
}

static inline void kept_end(void)
{
	remove_folder(folder);
}

/* Returns the path of NAME in the folder, valid until the eighth call after this one. */
static inline const char *in_folder(const char *name)
{
	static char paths[8][400];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, 400, "%s/%s", folder, name);
	return path;
}

/* Takes a snapshot of the profile at PATH. */
static inline struct pm_snapshot *kept_take(const char *path)
{
	struct pm_profile_file *file = NULL;
	struct pm_snapshot *s = NULL;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_profile_file_open(path, &file, &diag), 0, "%s", diag.text);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0, "%s", diag.text);
	pm_profile_file_close(file);
	return s;
}

#endif
