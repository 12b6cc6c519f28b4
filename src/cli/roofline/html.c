/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"
#include "cli/roofline/data.h"

/* Generated from page.html. */
static const char page[] =
#include "cli/roofline/page_text.h"
	;

int roof_html(const struct roof *roof, struct pm_out *out)
{
	struct pm_out data = {.sink = cli_page_print, .argument = out};
	int err;

	cli_page_put(out, page, false);
	err = roof_json(roof, &data);
	err = pm_out_end(&data) ?: err;
	cli_page_put(out, page, true);
	return err;
}
