/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "core/profile/snapshot.h"

struct pm_snapshot_code *pm_snapshot_code_make(const struct pm_snapshot_code *code,
					       const char *path, size_t size)
{
	struct pm_snapshot_code *made = malloc(sizeof(*made) + size + 1);

	if (!made)
		return NULL;
	*made = *code;
	memcpy(made->path, path, size);
	made->path[size] = '\0';
	return made;
}
