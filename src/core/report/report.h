/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From profiles to tables: the model of a report, the tree, ranks, metrics, sanity
 * checks; text, JSON and CSV.
 *
 * Uses profile/, topology/, counters/ (diagnoses) and os/.
 *
 * Must hold: a number that may be wrong has its mark in every format, and text of
 * strangers is printed through out.c alone.
 */
#ifndef PM_REPORT_REPORT_H
#define PM_REPORT_REPORT_H

#include "core/report/cells.h"
#include "core/report/file.h"
#include "core/report/formats.h"
#include "core/report/json_out.h"
#include "core/report/merge.h"
#include "core/report/metric.h"
#include "core/report/model.h"
#include "core/report/out.h"
#include "core/report/print.h"

#endif
