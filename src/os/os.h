/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What Linux and libc give: system calls, locks, fork and signals, clocks, stacks, the
 * environment, and small things that every room needs: text, hashes, sentences.
 *
 * Uses arch/ alone.
 *
 * Must hold: kernel.c alone enters the kernel and turns errno into a negative return;
 * locks.c alone has locks of the process and the handlers of fork().
 */
#ifndef PM_OS_OS_H
#define PM_OS_OS_H

#include "os/bytes.h"
#include "os/clock.h"
#include "os/diag.h"
#include "os/exact.h"
#include "os/export.h"
#include "os/export_struct.h"
#include "os/files.h"
#include "os/grow.h"
#include "os/handler.h"
#include "os/hash.h"
#include "os/helper.h"
#include "os/job.h"
#include "os/kernel.h"
#include "os/library.h"
#include "os/life.h"
#include "os/lock.h"
#include "os/locks.h"
#include "os/machine_id.h"
#include "os/message.h"
#include "os/options.h"
#include "os/owned.h"
#include "os/pairs.h"
#include "os/poller.h"
#include "os/process_maps.h"
#include "os/stack.h"
#include "os/standard.h"
#include "os/statistics.h"
#include "os/text.h"

#endif
