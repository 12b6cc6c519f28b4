/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the tool: counts.c writes the code that counts, of what decode.h and
 * flops.c tell of an instruction; tool.c gives each thread its counts. */
#ifndef PM_EXACT_COUNTS_H
#define PM_EXACT_COUNTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "../src/arch/exact.h"

/* A counter read names one of so many. */
#define PM_EXACT_SLOTS 32

/* Of the thread that runs: translated code adds to these. */
extern ULong pm_count[PM_EXACT_SLOTS];

/* Bit k: event k is counted. Written before the first block is translated. */
extern UInt pm_counted;

/* The last instruction that Valgrind does not know and that was translated; 0: none. The
 * program may never come to it, or survive it. */
extern Addr pm_unknown;

IRSB *pm_counts_instrument(VgCallbackClosure *closure, IRSB *in,
			   const VexGuestLayout *layout, const VexGuestExtents *extents,
			   const VexArchInfo *host, IRType guest_word, IRType host_word);

/* The floating-point operations of OP, and their operands' width in bits, 32 or 64; 0: none. */
UInt pm_flops(IROp op, UInt *width);

#endif
