/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For scripts: succeeds unless hardware breakpoints open here but do not fire. Then it
 * says so and ends with 77. */
#include "../breakpoints.h"

#include <stdio.h>

int main(void)
{
	if (breakpoints_fire())
		return 0;
	puts(BREAKPOINTS_SILENT);
	return 77;
}
