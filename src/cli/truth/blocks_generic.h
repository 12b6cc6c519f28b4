/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An unknown CPU family: no compiler tells how many instructions it makes of C. */
#ifndef PM_CLI_TRUTH_BLOCKS_GENERIC_H
#define PM_CLI_TRUTH_BLOCKS_GENERIC_H

#define BLOCKS 0

const struct truth_block truth_blocks[] = {{.name = "none"}};

#endif
