/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of the slow path that keep the registers: see fastpath/region.h. */
#include "arch/keep.h"

/* Each for the forms of kept.c and of region.c. */
.macro keep_both name, offset
	keep_then pm_kept_\name, pm_region_\name, pm_region_kept, \offset
	keep_then pm_ordinary_\name, pm_region_\name, pm_region_ordinary, \offset
.endm

#if PERFMON_ARCH_KEEPS
	keep_both begin_closed, 0
	keep_both begin_missing, 0
	keep_both end_closed, 8
	keep_both end_other, 8
	keep_own pm_kept_begin_stale, pm_region_begin_stale
	keep_own pm_kept_end_stale, pm_region_end_stale
	keep_own pm_kept_stride_add, pm_region_stride_add
	keep_own pm_kept_stride_look, pm_region_stride_look
	keep_own pm_kept_path_look, pm_region_path_look
	keep_own pm_kept_resync, pm_region_resync
	keep_own pm_kept_monotonic, pm_region_monotonic
	keep pm_kept_replaced, pm_region_monotonic
	keep pm_kept_begin_ordinary, pm_region_begin_ordinary
	keep pm_kept_end_ordinary, pm_region_end_ordinary
#endif
