/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of results: the table, CSV and JSON. */
#ifndef PM_CLI_STAT_FORMATS_H
#define PM_CLI_STAT_FORMATS_H

#include "cli/stat/derive.h"
#include "core/report/output/out.h"

void stat_text_begin(const struct stat_result *result, struct pm_out *out);
void stat_text_interval(const struct stat_result *result, struct pm_out *out);
void stat_text_end(const struct stat_result *result, struct pm_out *out);
void stat_csv_begin(const struct stat_result *result, struct pm_out *out);
void stat_csv_rows(const struct stat_result *result, struct pm_out *out);
void stat_json_interval(const struct stat_result *result, struct pm_out *out);
void stat_json_end(const struct stat_result *result, struct pm_out *out);

#endif
