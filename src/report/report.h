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

#include "report/cells.h"
#include "report/file.h"
#include "report/formats.h"
#include "report/json_out.h"
#include "report/merge.h"
#include "report/metric.h"
#include "report/model.h"
#include "report/out.h"
#include "report/print.h"

#endif
