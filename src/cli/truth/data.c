/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/truth/data.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/output/number.h"
#include "core/text/grow.h"

struct truth_finding *truth_add(struct truth_report *report, enum truth_kind kind,
				const char *name)
{
	struct truth_finding *finding;

	if (!PM_GROW(report->findings, report->count))
		return NULL;
	finding = &report->findings[report->count++];
	*finding = (struct truth_finding){.kind = kind, .verdict = TRUTH_UNJUDGED};
	snprintf(finding->name, sizeof(finding->name), "%s", name);
	return finding;
}

void truth_free(struct truth_report *report)
{
	free(report->findings);
	report->findings = NULL;
	report->count = 0;
}

void truth_say(struct truth_finding *finding, enum truth_verdict verdict,
	       const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	vsnprintf(finding->why, sizeof(finding->why), format, args);
	va_end(args);
}

void truth_say_absent(struct truth_finding *finding, const char *sentence)
{
	static const char subject[] = " on the calling thread: ";
	const char *rest = strstr(sentence, subject);

	truth_say(finding, TRUTH_ABSENT, "%s",
		  rest ? rest + sizeof(subject) - 1 : sentence);
}

struct truth_figure *truth_figure(struct truth_finding *finding, const char *name,
				  const char *unit, double value)
{
	static struct truth_figure lost;
	struct truth_figure *figure = finding->figure_count < TRUTH_FIGURES
					      ? &finding->figures[finding->figure_count++]
					      : &lost;

	*figure = (struct truth_figure){"", unit, value, NAN, NAN, NAN, NAN};
	snprintf(figure->name, sizeof(figure->name), "%s", name);
	return figure;
}

void truth_figure_row(struct truth_finding *finding, const struct truth_row *row,
		      bool known)
{
	struct truth_figure *figure = truth_figure(finding, row->block, "", row->median);

	figure->least = known ? row->least : NAN;
	figure->most = known ? row->most : NAN;
	figure->lower = row->lower;
	figure->upper = row->upper;
}

void truth_conclude(struct truth_finding *finding,
		    const struct truth_judgement *judgement)
{
	finding->error = judgement->error;
	truth_say(finding, judgement->verdict, "%s",
		  judgement->verdict == TRUTH_NOTHING
			  ? "the event opens without an error, and stays 0"
			  : "");
}

const char *truth_verdict_text(const struct truth_finding *finding, char text[32])
{
	double percent = 100 * finding->error;
	char number[PM_CELL];

	if (finding->verdict != TRUTH_OFF)
		return truth_verdict_name(finding->verdict);
	pm_cell_fixed(number, fabs(percent), fabs(percent) < 10 ? 1 : 0);
	snprintf(text, 32, "%c%.20s %%", percent < 0 ? '-' : '+', number);
	return text;
}

bool truth_report_is_bad(const struct truth_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (truth_is_bad(report->findings[i].verdict))
			return true;
	return false;
}
