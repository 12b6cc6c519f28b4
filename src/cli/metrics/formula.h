/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_METRICS_FORMULA_H
#define PM_CLI_METRICS_FORMULA_H

#include "cli/metrics/expression.h"
#include "core/report/output/out.h"

/*
 * metric_formula_put() - writes the node ROOT of TREE as a formula of doc/metrics.md.
 * NAME returns how reports call an input, or the words of a formula that have its value.
 * Returns 0, or -EDOM if a division by zero is left in it.
 */
int metric_formula_put(struct pm_out *out, const struct metric_tree *tree, uint32_t root,
		       const char *(*name)(void *argument, uint32_t input),
		       void *argument);

#endif
