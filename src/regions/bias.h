/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an empty region counts: the least that measuring adds to each visit. */
#ifndef PM_REGIONS_BIAS_H
#define PM_REGIONS_BIAS_H

/* Measures it on the calling thread, whose gate is open, with the calls that programs
 * make, and writes it into the plan's record. */
void pm_bias_measure(void);

#endif
