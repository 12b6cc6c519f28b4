/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/named/table.h"

#include <string.h>

/* All files of tables/, the one for all CPUs last. "=OFFSET" is the line at that offset. */
static const char tables[] =
#include "core/named/tables_text.h"
	;

bool pm_named_line(struct pm_slice *lines, struct pm_slice *word, struct pm_slice *rest)
{
	while (lines->at) {
		struct pm_slice line = pm_slice_trim(pm_slice_cut(*lines, '\n', lines));
		uint64_t offset;

		if (!line.length)
			continue;
		if (line.at[0] == '=') {
			line.at++;
			line.length--;
			if (pm_slice_number(line, &offset) || offset >= sizeof(tables))
				continue;
			line.at = tables + offset;
			line.length = strcspn(line.at, "\n");
		}
		*word = pm_slice_cut(line, ' ', rest);
		*rest = rest->at ? pm_slice_trim(*rest) : (struct pm_slice){"", 0};
		return true;
	}
	return false;
}

/* Takes "0x55" or "0x8e-0x9e". */
static bool has_model(struct pm_slice range, uint32_t model)
{
	struct pm_slice end, begin = pm_slice_cut(range, '-', &end);
	uint64_t first, last;

	if (pm_slice_number(begin, &first))
		return false;
	last = first;
	return (!end.at || !pm_slice_number(end, &last)) && model >= first &&
	       model <= last;
}

/* Returns whether TEXT, "MAKER FAMILY MODEL...", names KIND. */
static bool is_kind(struct pm_slice text, const struct pm_cpu_kind *kind)
{
	static const char *const makers[] = {[PM_CPU_UNKNOWN] = "",
					     [PM_CPU_INTEL] = "intel",
					     [PM_CPU_AMD] = "amd",
					     [PM_CPU_ARM] = "arm"};
	struct pm_slice maker = pm_slice_cut(text, ' ', &text);
	struct pm_slice family = pm_slice_cut(text, ' ', &text);

	if (!pm_slice_is(maker, makers[kind->maker]) || !has_model(family, kind->family))
		return false;
	while (text.at)
		if (has_model(pm_slice_cut(text, ' ', &text), kind->model))
			return true;
	return false;
}

/* Returns whether the family at LINES is that of KINDS. A machine of several kinds has the
 * events of none of them on all CPUs. */
static bool is_family(struct pm_slice lines, const struct pm_cpu_kinds *kinds, bool exact)
{
	struct pm_slice word, rest;
	bool found = false;

	while (pm_named_line(&lines, &word, &rest) && !pm_slice_is(word, "family")) {
		if (!pm_slice_is(word, "cpu"))
			continue;
		if (pm_slice_is(rest, "exact") || pm_slice_is(rest, "any"))
			return exact == pm_slice_is(rest, "exact");
		found |= !exact && kinds->count == 1 && is_kind(rest, &kinds->kind[0]);
	}
	return found;
}

struct pm_named_table pm_named_table_of(const struct pm_cpu_kinds *kinds, bool exact)
{
	struct pm_named_table table = {.lines = {NULL, 0}};
	struct pm_slice lines = pm_slice_of(tables), word, rest;

	while (pm_named_line(&lines, &word, &rest))
		if (pm_slice_is(word, "family") && is_family(lines, kinds, exact)) {
			table.name = rest;
			table.lines = lines;
			break;
		}
	return table;
}
