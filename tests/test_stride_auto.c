/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PERFMON_STRIDE=auto: which paths get a stride, and whether their totals are true. */
#include "core/report/model/value.h"
#include "helpers.h"
#include "region_probe.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

#include "perfmon/profile.h"

static void init(void)
{
	probe_quiet();
	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_STRIDE", "auto", 1);
}

TestSuite(stride_auto, .init = init, .timeout = 120);

static void visit(const char *name, int times)
{
	for (int i = 0; i < times; i++) {
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
}

static const struct perfmon_profile_stride *stride_of(const struct pm_snapshot *s,
						      const char *path)
{
	return pm_snapshot_stride(&s->threads[0], probe_node(s, &s->threads[0], path));
}

/* Row: DC-02: what is visited seldom is measured whole, what is visited again and again is
 * not; a stride that is given stays. */
Test(stride_auto, only_many_visits_are_thinned_out)
{
	struct perfmon_region_summary values = {.size = sizeof(values)};
	const struct perfmon_profile_stride *many;
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "auto,all=1,ten=10", 1);
	visit("few", 999);
	visit("many", 200000);
	visit("all", 200000);
	visit("ten", 1000);
	s = probe_take();
	cr_expect_eq(probe_visits(s, "few"), 999);
	cr_expect_eq(stride_of(s, "few")->weight, 999);
	cr_expect_eq(probe_visits(s, "all"), 200000);
	cr_expect_eq(probe_visits(s, "ten"), 10 + 99);
	cr_expect_eq(stride_of(s, "ten")->weight, 1000);
	many = stride_of(s, "many");
	cr_expect_eq(many->whole, 1000);
	cr_expect_gt(many->stride, 1);
	cr_expect_lt(probe_visits(s, "many"), 50000);
	cr_expect_eq(probe_visits(s, "many") + many->skipped, 200000);
	/* Each run but the one under way has its measured visit; a run may be left when its
	 * length changes. */
	cr_expect_leq(llabs((long long)many->weight - 200000),
		      2 * (long long)many->stride);
	cr_assert_eq(perfmon_region_read("many", &values, NULL, 0,
					 sizeof(struct perfmon_region_count), 0),
		     0);
	cr_expect_eq(values.visits, many->weight);
	cr_expect_eq(values.entered, 200000);
	pm_snapshot_free(s);
}

/* Faults COUNT pages in, exactly. Sanitizers have shadows that fault, too. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
fault(volatile char *pages, size_t size, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pages[i * size] = 1;
}

/*
 * The first visits fault in eight pages each, those after the stride has changed one to
 * three. Taken as one sample they would tell far too many.
 */
Test(stride_auto, a_load_that_changes_is_told_right)
{
	enum { FIRST = 1000, VISITS = 30000, PAGES = 8 };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;
	struct pm_value value;
	uint64_t total = 0;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	cr_assert_neq(pages, MAP_FAILED);
	madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
	for (uint32_t v = 0; v < VISITS; v++) {
		uint32_t count = v < FIRST ? PAGES : 1 + v * 7 % 3;

		madvise(pages, PAGES * size, MADV_DONTNEED);
		PERFMON_REGION_BEGIN("load");
		fault(pages, size, count);
		PERFMON_REGION_END("load");
		total += count;
	}
	s = probe_take();
	if (s->threads[0].record.status[0] <= 0)
		cr_skip_test("%s", s->note_count ? s->notes[0] : "no page faults");
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	value = pm_report_count(&tree, 1, 0, false);
	cr_expect_gt(stride_of(s, "load")->stride, 1);
	cr_expect(value.marks & PM_MARK_SAMPLED);
	cr_expect(isfinite(value.error) && value.error > 0);
	/* 99 % of the time within the error; within twice that always. */
	cr_expect_leq(fabs(value.value - (double)total), 2 * value.error,
		      "%.0f +- %.0f are told, %.0f are true", value.value, value.error,
		      (double)total);
	/* The sample as it is would have told more. */
	cr_expect_lt(value.value, 1.2 * (double)total);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
	munmap(pages, PAGES * size);
}

/* Times and counts of a reader are those of `weight` visits. */
Test(stride_auto, a_reader_learns_what_the_values_stand_for)
{
	struct perfmon_profile_node_info node = {.size = sizeof(node)};
	struct perfmon_profile *profile;
	char path[64];

	snprintf(path, sizeof(path), "stride_auto.%d.profile", (int)getpid());
	setenv("PERFMON_PROFILE", path, 1);
	visit("many", 100000);
	cr_assert_eq(perfmon_profile_open(&profile, path, 0, NULL, 0), 0);
	cr_assert_eq(perfmon_profile_get_node(profile, 0, 1, &node), 0);
	cr_expect_eq(node.visits, 100000);
	cr_expect_lt(node.measured, 50000);
	cr_expect_gt(node.weight, 50000);
	perfmon_profile_close(profile);
	unlink(path);
}

static double share_of(const char *text)
{
	struct pm_options options;
	struct pm_diag diag = {0};
	double share;

	setenv("PERFMON_STRIDE", text, 1);
	memset(&options, 0, sizeof(options));
	pm_options_read(&options, &diag);
	share = options.note_count ? -1 : options.stride_auto;
	if (options.note_count)
		cr_expect(strstr(options.notes[0], text), "%s", options.notes[0]);
	pm_options_free(&options);
	return share;
}

Test(stride_auto, the_share_is_read)
{
	static const char *const bad[] = {"auto:0%", "auto:51%", "auto:5", "auto:%",
					  "auto:",   "auto:x%",	 "auto5%", "automatic"};

	cr_expect_eq(share_of("10"), 0);
	cr_expect_float_eq(share_of("auto"), 0.05, 1e-9);
	cr_expect_float_eq(share_of("auto:2%"), 0.02, 1e-9);
	cr_expect_float_eq(share_of("auto : 50%, x=3"), 0.5, 1e-9);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(share_of(bad[i]), -1, "%s", bad[i]);
}
