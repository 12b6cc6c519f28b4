/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel records: the ring, its records, formats that programs register, and
 * logs that perf reads.
 *
 * Uses os/ alone.
 *
 * Must hold: a record is copied out of the ring before it is believed, and what was lost
 * is counted.
 */
#ifndef PM_SAMPLES_SAMPLES_H
#define PM_SAMPLES_SAMPLES_H

#include "core/samples/format.h"
#include "core/samples/log_read.h"
#include "core/samples/log_write.h"
#include "core/samples/ring.h"
#include "core/samples/sample.h"

#endif
