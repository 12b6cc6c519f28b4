/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the tool. counts.c inserts the code that counts, using decode.h
 * and flops.c to classify instructions. tool.c gives each thread its counts. */
#ifndef PM_EXACT_COUNTS_H
#define PM_EXACT_COUNTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "../src/arch/exact.h"

/* A counter read names one of this many counters. */
#define PM_EXACT_COUNTERS 32

/* The counts of the running thread. Translated code adds to them. */
extern ULong pm_count[PM_EXACT_COUNTERS];

/* Bit k: event k is counted. Written before the first block is translated. */
extern UInt pm_counted;

/* The address of the last translated instruction that Valgrind does not know, or 0. The
 * program may never execute it, or survive it. */
extern Addr pm_unknown;

IRSB *pm_counts_instrument(VgCallbackClosure *closure, IRSB *in,
			   const VexGuestLayout *layout, const VexGuestExtents *extents,
			   const VexArchInfo *host, IRType guest_word, IRType host_word);

/* Returns the number of floating-point operations of OP, or 0, and the width of their
 * operands in bits (32 or 64). */
UInt pm_flops(IROp op, UInt *width);

#endif
