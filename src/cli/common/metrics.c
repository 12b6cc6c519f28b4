/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/report.h"
#include "cli/common/complain.h"

int cli_metrics_read(const char *command, const char *text, struct pm_metrics **metrics)
{
	struct pm_diag diag = {0};

	pm_metrics_free(*metrics);
	*metrics = NULL;
	if (!pm_metrics_parse(text, metrics, &diag))
		return 0;
	cli_complain(command, "%s", diag.text);
	return CLI_USAGE;
}
