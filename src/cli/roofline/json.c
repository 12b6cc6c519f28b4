/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON: doc/roofline.md has its members. */
#include "cli/roofline/data.h"

#include <math.h>

#include "core/report/cells.h"
#include "core/report/output/json.h"

static void put_path(struct pm_json *j, const struct pm_report_tree *tree, uint32_t n)
{
	uint32_t line[PM_PATH_NODES];
	uint32_t count = pm_report_path(tree, n, PM_PATH_BYTES, line);

	pm_json_begin(j, "path", "[");
	for (uint32_t i = 0; i < count; i++)
		pm_json_string(j, NULL,
			       line[i] ? pm_path_name(tree, line[i]) : PM_PATH_LEFT);
	pm_json_close(j, "]");
}

static void put_point(struct pm_json *j, const struct roof *roof, uint32_t n)
{
	const struct roof_point *p = &roof->points[n];
	bool flops = p->rated && p->sp + p->dp > 0;
	bool exact = roof->source == ROOF_EXACT;

	pm_json_begin_line(j);
	put_path(j, &roof->profile->tree, n);
	pm_json_text(j, "problem", roof_problems[p->problem].name,
		     p->problem != ROOF_GOOD);
	pm_json_number(j, "threads", p->threads);
	pm_json_real(j, "time_ns", p->time_ns, p->time_ns > 0);
	pm_json_bool(j, "time_is_wall", p->wall);
	pm_json_real(j, "sp_flops", p->sp, p->rated && exact);
	pm_json_real(j, "dp_flops", p->dp, p->rated && exact);
	pm_json_real(j, "flops", p->sp + p->dp, p->rated);
	pm_json_real(j, "load_bytes", p->loads, p->rated && exact);
	pm_json_real(j, "store_bytes", p->stores, p->rated && exact);
	pm_json_real(j, "bytes", p->loads + p->stores, p->rated);
	pm_json_real(j, "flops_per_s", p->flops_per_s, p->rated);
	pm_json_real(j, "bytes_per_s", p->bytes_per_s, p->rated);
	pm_json_real(j, "flops_per_byte", p->intensity,
		     p->rated && isfinite(p->intensity));
	pm_json_known(j, "ceiling_threads", p->ceiling_threads, p->rated);
	pm_json_text(j, "bound_by", roof_bound_name(p), p->rated);
	pm_json_real(j, flops ? "ceiling_flops_per_s" : "ceiling_bytes_per_s", p->roof,
		     p->rated && p->roof > 0);
	pm_json_real(j, "reached_percent", p->percent, p->rated && p->roof > 0);
	pm_json_real(j, "of_memory_percent", p->of_memory, p->of_memory > 0);
	pm_json_close(j, "}");
}

static void put_machine(struct pm_json *j, const struct cli_ceilings *c)
{
	pm_json_begin(j, "machine", "{");
	pm_json_string(j, "host", c->host);
	pm_json_string(j, "cpu", c->cpu);
	pm_json_string(j, "architecture", c->architecture);
	pm_json_string(j, "cpus", c->cpus);
	for (int l = CLI_CEILING_L1; l < CLI_CEILING_MEMORY; l++)
		pm_json_known(j, cli_ceiling_name((enum cli_ceiling_of)l), c->bytes[l],
			      c->bytes[l] && !c->assumed);
	pm_json_close(j, "}");
}

int roof_json(const struct roof *roof, struct pm_out *out)
{
	struct pm_json j = {out, true};
	const struct pm_report_tree *tree = roof->profile ? &roof->profile->tree : NULL;

	pm_json_begin(&j, NULL, "{");
	pm_json_string(&j, "format", "perfmon roofline 1");
	pm_json_text(&j, "command", roof->title, roof->title);
	pm_json_text(&j, "timed", roof->timed, roof->timed);
	pm_json_text(&j, "counts", roof->counts, roof->counts);
	pm_json_text(&j, "ceilings_from", roof->ceilings_from, roof->ceilings_from);
	put_machine(&j, roof->ceilings);
	pm_json_bool(&j, "quick", roof->ceilings->quick);
	pm_json_real(&j, "others_percent", 100 * roof->ceilings->taken, true);
	pm_json_text(&j, "source", roof->source == ROOF_EXACT ? "exact" : "quantities",
		     tree);
	cli_ceilings_put(roof->ceilings, &j);
	pm_json_begin(&j, "points", "[");
	for (uint32_t n = tree ? pm_path_next(tree, 0) : 0; n; n = pm_path_next(tree, n))
		put_point(&j, roof, n);
	pm_json_close(&j, "]");
	pm_json_begin(&j, "notes", "[");
	for (uint32_t i = 0; i < roof->note_count; i++)
		pm_json_string(&j, NULL, roof->notes[i]);
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}
