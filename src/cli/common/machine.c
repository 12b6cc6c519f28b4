/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <string.h>

#include "core/kernel/machine_id.h"

const struct pm_machine *cli_machine_of(const struct pm_snapshot *snapshot)
{
	static struct pm_machine machine;
	static bool described;
	char boot_id[sizeof(snapshot->header.boot_id)];

	pm_machine_boot_id(boot_id, sizeof(boot_id));
	if (!boot_id[0] || strcmp(boot_id, snapshot->header.boot_id) != 0)
		return NULL;
	if (!described)
		pm_machine_describe(&machine);
	described = true;
	return &machine;
}
