/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's samples: the ring, its records, formats that programs register, and logs
 * that perf can read.
 *
 * A record is copied out of the ring before it is used, and lost records are counted.
 */
#ifndef PM_SAMPLES_SAMPLES_H
#define PM_SAMPLES_SAMPLES_H

#include "core/samples/format.h"
#include "core/samples/log_read.h"
#include "core/samples/log_write.h"
#include "core/samples/ring.h"
#include "core/samples/sample.h"

#endif
