/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topdown per region: the group of slots and metrics, what a visit counts of it, and how far that
 * may be off. Row: QU-08
 */
#include "fake_topdown.h"
#include "kernel_calls.h"
#include "perfmon/inline.h"
#include "report_text.h"
#include "session_probe.h"
#include "sums_probe.h"
#include "tree.h"
#include "core/counters/counters.h"

#define LEVEL1 "topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound"
#define LEVEL2                                                                           \
	"topdown-heavy-ops,topdown-br-mispredict,topdown-fetch-lat,topdown-mem-bound"

static const char *const metrics[FAKE_METRICS] = {
	"topdown-retiring:u",  "topdown-bad-spec:u",  "topdown-fe-bound:u",
	"topdown-be-bound:u",  "topdown-heavy-ops:u", "topdown-br-mispredict:u",
	"topdown-fetch-lat:u", "topdown-mem-bound:u",
};

TestSuite(topdown, .init = probe_quiet, .timeout = 60);

static void machine(const char *tree, int count, const char *events)
{
	tree_unpack(tree);
	fake.metrics = count;
	setenv("PERFMON_EVENTS", events, 1);
}

static uint32_t column(const struct sums *sums, const char *name)
{
	uint32_t e = 0;

	while (e < sums->model.event_count &&
	       strcmp(sums->model.events[e].name, name) != 0)
		e++;
	cr_assert_lt(e, sums->model.event_count, "there is no column %s", name);
	return e;
}

static struct pm_value count(const struct sums *sums, const char *path, const char *name,
			     bool exclusive)
{
	return pm_report_count(&sums->tree, node_at(sums, path), column(sums, name),
			       exclusive);
}

static struct pm_value share(const struct sums *sums, const char *path, const char *name)
{
	for (uint32_t m = 0; m < sums->model.metric_count; m++)
		if (!strcmp(sums->model.metrics[m].metric->name, name))
			return pm_report_metric(&sums->tree, node_at(sums, path), m,
						false);
	return (struct pm_value){.state = PM_NEVER_OPENED};
}

/* Runs for SLOTS with these shares of level 1, of 1,000; half of each is of level 2. */
static void run(uint64_t slots, const unsigned int of[FAKE_LEVEL1])
{
	uint64_t part[FAKE_METRICS], left = slots;

	for (int k = 0; k < FAKE_LEVEL1; k++) {
		part[k] = k == FAKE_LEVEL1 - 1 ? left : slots * of[k] / 1000;
		part[FAKE_LEVEL1 + k] = part[k] / 2;
		left -= part[k];
	}
	fake_run(slots, part);
}

/* What really happened in some visits. */
struct truth {
	uint64_t slots, part[FAKE_METRICS];
};

static struct truth truth_now(void)
{
	struct truth now = {.slots = fake.all_slots};

	memcpy(now.part, fake.all, sizeof(now.part));
	return now;
}

static struct truth since(const struct truth *before)
{
	struct truth now = truth_now();

	now.slots -= before->slots;
	for (int k = 0; k < FAKE_METRICS; k++)
		now.part[k] -= before->part[k];
	return now;
}

/* The counts of PATH are those of TRUTH, within an error that is known and at most MOST of slots. */
static void check(const struct sums *sums, const char *path, bool exclusive,
		  const struct truth *truth, double most)
{
	cr_expect_eq(count(sums, path, "slots:u", exclusive).sum, truth->slots);
	for (int k = 0; k < fake.metrics; k++) {
		struct pm_value v = count(sums, path, metrics[k], exclusive);

		cr_expect_eq(v.state, PM_COUNTED);
		cr_expect(v.marks & PM_MARK_FRACTION);
		cr_expect_leq(fabs(v.value - (double)truth->part[k]), v.error,
			      "%s %s: %.0f, not %llu +- %.0f", path, metrics[k], v.value,
			      (unsigned long long)truth->part[k], v.error);
		cr_expect_leq(v.error, most * (double)truth->slots, "%s %s: +- %.0f",
			      path, metrics[k], v.error);
		cr_expect_eq(!!(v.marks & PM_MARK_BELOW), v.value <= v.error);
	}
}

/* The slots that nobody wrote lead the group. A visit resets the registers at its BEGIN, so that it is
 * off by 1/255 of its own slots, and not of the ten seconds before it. */
Test(topdown, a_short_visit_late_is_off_by_its_own_slots, .fini = tree_remove)
{
	static const unsigned int before[] = {700, 1, 99, 200},
				  of[] = {120, 13, 367, 500};
	struct truth start, truth;
	unsigned int reads;
	struct sums sums;

	machine("icelake", FAKE_LEVEL1, LEVEL1);
	run(UINT64_C(240000000000), before);
	PERFMON_REGION_BEGIN("solve");
	start = truth_now();
	reads = fake.reads;
	run(24000000, of);
	truth = since(&start);
	PERFMON_REGION_END("solve");
	cr_expect_eq(fake.reads, reads + 1);
	sums_take(&sums);
	cr_expect_str_eq(sums.model.events[0].name, "slots:u");
	cr_expect_eq(sums.model.event_count, 5);
	check(&sums, "solve", false, &truth, 1 / 254.0);
	cr_expect_float_eq(share(&sums, "solve", "retiring_percent").value, 12, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "bad_spec_percent").value, 1.3, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "fe_bound_percent").value, 36.7, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "be_bound_percent").value, 50, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "be_bound_percent").error, 100 / 255.0,
			   0.001);
	cr_expect_eq(share(&sums, "solve", "heavy_ops_percent").state, PM_NEVER_OPENED);
	sums_free(&sums);
}

Test(topdown, level_2_is_counted_where_the_cpu_has_it, .fini = tree_remove)
{
	static const unsigned int of[] = {400, 100, 200, 300};
	struct truth start;
	struct sums sums;

	machine("sapphire", FAKE_METRICS, LEVEL1 "," LEVEL2);
	PERFMON_REGION_BEGIN("solve");
	start = truth_now();
	run(1000000007, of);
	start = since(&start);
	PERFMON_REGION_END("solve");
	sums_take(&sums);
	check(&sums, "solve", false, &start, 1 / 254.0);
	cr_expect_float_eq(share(&sums, "solve", "heavy_ops_percent").value, 20, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "br_mispredict_percent").value, 5, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "fetch_lat_percent").value, 10, 0.4);
	cr_expect_float_eq(share(&sums, "solve", "mem_bound_percent").value, 15, 0.4);
	sums_free(&sums);
}

static uint32_t dice(uint32_t sides)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % sides;
}

/* One stretch of work whose shares are anything. Now and then the thread is switched. */
static void stretch(bool switches)
{
	unsigned int a = dice(700), b = dice(120), c = dice(1000 - a - b);
	const unsigned int of[] = {a, b, c, 0};

	run(1 + dice(dice(2) ? 2000000 : dice(2) ? 20000 : 300), of);
	if (switches && !dice(3))
		fake_update(true);
}

static void visits(const char *outer, const char *inner, bool switches,
		   struct truth truth[3])
{
	memset(truth, 0, 3 * sizeof(*truth));
	for (int i = 0; i < 200; i++) {
		struct truth part[3];

		stretch(switches); /* outside */
		perfmon_region_begin_name(outer);
		part[0] = truth_now();
		stretch(switches);
		perfmon_region_begin_name(inner);
		part[1] = truth_now();
		for (int k = 0; k < 5; k++)
			stretch(switches);
		part[1] = since(&part[1]);
		perfmon_region_end_name(inner);
		stretch(switches);
		part[0] = since(&part[0]);
		perfmon_region_end_name(outer);
		part[2] = part[0];
		part[2].slots -= part[1].slots;
		for (int k = 0; k < FAKE_METRICS; k++)
			part[2].part[k] -= part[1].part[k];
		for (int p = 0; p < 3; p++) {
			truth[p].slots += part[p].slots;
			for (int k = 0; k < FAKE_METRICS; k++)
				truth[p].part[k] += part[p].part[k];
		}
	}
}

/* However the CPU rounds, every count is within its error: of visits, of visits inside, and of what is
 * left. Where threads are switched, counts are too large, and the error has that: what it
 * adds to level 2 shows nowhere. */
Test(topdown, no_count_is_further_off_than_its_error, .fini = tree_remove)
{
	static const char *const names[] = {"nearest", "down", "nearest, switched",
					    "down, switched"};
	struct truth truth[3];

	machine("sapphire", FAKE_METRICS, LEVEL1 "," LEVEL2);
	for (int way = 0; way < 4; way++) {
		struct sums sums;
		double sum = 0, most = way / 2 ? 0.1 : 0.0042;
		char inner[40];

		fake.rounding = way % 2 ? FAKE_DOWN : FAKE_NEAREST;
		visits(names[way], "inner", way / 2, truth);
		if (way / 2)
			fake.metrics = FAKE_LEVEL1; /* to check */
		sums_take(&sums);
		check(&sums, names[way], false, &truth[0], most);
		snprintf(inner, sizeof(inner), "%s/inner", names[way]);
		check(&sums, inner, false, &truth[1], most);
		check(&sums, names[way], true, &truth[2], most);
		for (int k = 0; k < FAKE_LEVEL1; k++)
			sum += count(&sums, names[way], metrics[k], false).value;
		/* The switches did make them too large. */
		cr_expect_eq(sum > (double)truth[0].slots, way / 2, "%s: %.0f of %llu",
			     names[way], sum, (unsigned long long)truth[0].slots);
		sums_free(&sums);
	}
}

/* The more switches, the more a count is too large: beyond what a fraction alone may be off. */
Test(topdown, what_switches_add_is_in_the_error, .fini = tree_remove)
{
	struct truth truth;
	struct sums sums;
	double furthest = 0;

	machine("icelake", FAKE_LEVEL1, LEVEL1);
	PERFMON_REGION_BEGIN("solve");
	truth = truth_now();
	for (int i = 0; i < 1000; i++)
		stretch(true);
	truth = since(&truth);
	PERFMON_REGION_END("solve");
	sums_take(&sums);
	check(&sums, "solve", false, &truth, 1);
	for (int k = 0; k < FAKE_LEVEL1; k++)
		furthest = fmax(furthest, count(&sums, "solve", metrics[k], false).value -
						  (double)truth.part[k]);
	cr_expect_gt(furthest, (double)truth.slots / 255);
	sums_free(&sums);
}

/* A share that no fraction shows, and one that may as well be another. */
Test(topdown, what_is_below_its_error_is_marked, .fini = tree_remove)
{
	static const unsigned int of[] = {500, 1, 199, 300};
	const struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct pm_snapshot *s;
	struct sums sums;
	char *text;

	machine("icelake", FAKE_LEVEL1, LEVEL1);
	PERFMON_REGION_BEGIN("solve");
	run(100000000, of);
	PERFMON_REGION_END("solve");
	sums_take(&sums);
	cr_expect(count(&sums, "solve", metrics[1], false).marks & PM_MARK_BELOW);
	cr_expect(!(count(&sums, "solve", metrics[0], false).marks & PM_MARK_BELOW));
	cr_expect(share(&sums, "solve", "bad_spec_percent").marks & PM_MARK_BELOW);
	cr_expect(!(share(&sums, "solve", "retiring_percent").marks & PM_MARK_BELOW));
	sums_free(&sums);
	s = probe_take();
	text = report_text(s, &options);
	has(text, "0.00 +-0.39~0");
	has(text, "50.20 +-0.39");
	has(text, "50.196 +-0.8%");
	has(text, " 0 ~0");
	has(text, "may as well be 0");
	has(text, "8-bit fractions");
	free(text);
	pm_snapshot_free(s);
}

/* What a switch of threads adds shows in the sum of all four alone. */
Test(topdown, without_all_of_level_1_the_error_is_not_known, .fini = tree_remove)
{
	static const unsigned int of[] = {500, 100, 100, 300};
	const struct pm_report_options options = {.format = PM_FORMAT_JSON};
	struct pm_value v;
	struct pm_snapshot *s;
	struct sums sums;
	char *text;

	machine("icelake", FAKE_LEVEL1, "topdown-retiring,topdown-be-bound");
	PERFMON_REGION_BEGIN("solve");
	run(100000000, of);
	PERFMON_REGION_END("solve");
	sums_take(&sums);
	v = count(&sums, "solve", metrics[0], false);
	cr_expect(isinf(v.error) && v.marks & PM_MARK_FRACTION);
	cr_expect(!(v.marks & PM_MARK_BELOW));
	cr_expect(isinf(share(&sums, "solve", "retiring_percent").error));
	cr_expect_eq(share(&sums, "solve", "bad_spec_percent").state, PM_NEVER_OPENED);
	sums_free(&sums);
	s = probe_take();
	text = report_text(s, &options);
	has(text, "\"fraction\"");
	has(text, "\"error\":null");
	free(text);
	pm_snapshot_free(s);
}

/* A formula of a program is off by what its inputs are. */
Test(topdown, a_formula_has_the_error_of_its_inputs, .fini = tree_remove)
{
	static const unsigned int of[] = {400, 100, 200, 300};
	struct sums sums;

	machine("icelake", FAKE_LEVEL1, LEVEL1);
	PERFMON_REGION_BEGIN("solve");
	run(100000000, of);
	PERFMON_REGION_END("solve");
	sums_take_with(&sums,
		       "wasted [%] = 100 * (topdown-bad-spec + topdown-fe-bound) / "
		       "slots; per = topdown-retiring / topdown-bad-spec");
	cr_expect_float_eq(share(&sums, "solve", "wasted").value, 30, 0.8);
	cr_expect_float_eq(share(&sums, "solve", "wasted").error, 200 / 255.0, 0.001);
	/* 40 of 10 may be 40.4 of 9.6. */
	cr_expect_float_eq(share(&sums, "solve", "per").error, 0.2, 0.05);
	sums_free(&sums);
}

/* A session and its inline reader read them by read(2), too: what rdpmc gives for a metric is no count. */
Test(topdown, a_session_reads_them_by_the_kernel, .fini = tree_remove)
{
	static const unsigned int of[] = {600, 50, 150, 200};
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	unsigned int reads;
	uint64_t read;

	machine("icelake", FAKE_LEVEL1, "none");
	session = session_with("{slots," LEVEL1 "}", 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_session_reader(session, &reader));
	run(1000000, of);
	cr_expect_eq(count_of(session, 0), 1000000);
	cr_expect_float_eq((double)count_of(session, 1), 6e5, 4000);
	run(1000000, of);
	reads = fake.reads;
	OK(session, perfmon_reader_read(reader, 4, &read));
	cr_expect_eq(fake.reads, reads + 1);
	cr_expect_float_eq((double)read, 4e5, 8000);
	perfmon_session_close(session);
}

/* The list of TEXT with slots where they were missing has these NAMES. */
static void add_slots(const char *text, const char *names)
{
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	char got[300] = "";

	cr_assert_eq(pm_events_parse(text, 0, &list, &diag), 0, "%s", diag.text);
	cr_assert_eq(pm_events_add_slots(list, &diag), 0, "%s", diag.text);
	for (size_t e = 0; e < list->count; e++) {
		strcat(strcat(got, list->events[e].name), " ");
		for (size_t k = 0; k < e; k++)
			cr_expect(list->events[e].logical != list->events[k].logical ||
				  strcmp(list->events[e].pmu, list->events[k].pmu));
	}
	cr_expect_str_eq(got, names);
	pm_events_free(list);
}

/* Slots lead metrics of their own modes: they choose the modes of all. */
Test(topdown, slots_of_other_modes_do_not_lead, .fini = tree_remove)
{
	static const struct {
		const char *text, *names;
	} cases[] = {
		{"topdown-retiring:u", "slots:u topdown-retiring:u "},
		{"cycles:u,topdown-retiring:u,topdown-bad-spec:u",
		 "cycles:u slots:u topdown-retiring:u topdown-bad-spec:u "},
		{"topdown-retiring:u,slots:u", "topdown-retiring:u slots:u "},
		{"{cycles,topdown-retiring}:k,topdown-retiring:u",
		 "cycles:k slots:k topdown-retiring:k slots:u topdown-retiring:u "},
		{"slots:k,topdown-retiring:u", "slots:k slots:u topdown-retiring:u "},
		{"cpu/event=0,umask=0x81/u", "slots:u cpu/event=0,umask=0x81/u "},
		{"slots:u;topdown-retiring:u", "slots:u slots:u topdown-retiring:u "},
		{"cycles:u", "cycles:u "},
	};

	tree_unpack("icelake");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		add_slots(cases[i].text, cases[i].names);
	tree_remove();
	/* Of two kinds of cores one has slots. */
	tree_unpack("hybrid");
	add_slots("topdown-retiring:u", "slots:u cpu_core/topdown-retiring/u "
					"cpu_atom/topdown-retiring/u ");
	add_slots("cpu_atom/topdown-retiring/u", "cpu_atom/topdown-retiring/u ");
}
Test(topdown, a_group_without_slots_is_refused_with_a_sentence, .fini = tree_remove)
{
	struct pm_instance *instance = calloc(1, pm_instance_size(2));
	int before;

	machine("icelake", FAKE_LEVEL1, "none");
	before = open_descriptors();
	for (int way = 0; way < 3; way++) {
		static const char *const texts[] = {"topdown-retiring:u",
						    "{slots:uH,topdown-retiring:u}",
						    "{slots,topdown-retiring}:u"};
		struct pm_event_list *list;
		struct pm_diag diag = {0};
		int got;

		cr_assert_eq(pm_events_parse(texts[way], 0, &list, &diag), 0);
		got = pm_instance_open(instance, list->events, (uint32_t)list->count, 0,
				       -1, PM_OPEN_USER_READ, &diag);
		cr_expect_eq(got, way < 2 ? -EINVAL : 2, "%s", diag.text);
		if (way < 2)
			cr_expect(strstr(diag.text, "needs slots in the same group and "
						    "with the same modifiers"),
				  "%s", diag.text);
		else
			cr_expect(!instance->counters[0].page &&
				  !instance->counters[1].page);
		if (got > 0)
			pm_instance_close(instance);
		cr_expect_eq(open_descriptors(), before);
		pm_events_free(list);
	}
	free(instance);
}

Test(topdown, a_cpu_without_them_is_named, .fini = tree_remove)
{
	static const struct {
		const char *tree, *text, *says;
	} cases[] = {
		{"server", "slots", "needs an Intel CPU, Ice Lake or later"},
		{"server", "cs,topdown-be-bound:u",
		 "needs an Intel CPU, Ice Lake or later"},
		{"icelake", "topdown-mem-bound",
		 "did you mean 'topdown-be-bound'? Level 2 of topdown needs Intel's "
		 "Sapphire Rapids or later"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_event_list *list = NULL;
		struct pm_diag diag = {0};

		if (i)
			tree_remove();
		tree_unpack(cases[i].tree);
		cr_expect_eq(pm_events_parse(cases[i].text, 0, &list, &diag), -EINVAL);
		cr_expect(strstr(diag.text, cases[i].says), "%s", diag.text);
	}
}

/* Metrics whose slots the kernel refuses are refused for the same reason. */
Test(topdown, slots_that_are_refused_refuse_their_metrics, .fini = tree_remove)
{
	struct pm_snapshot *s;

	machine("icelake", FAKE_LEVEL1, "topdown-retiring:u");
	fail_calls(PM_CALL_PERF_EVENT_OPEN, -ENODEV, 0);
	PERFMON_REGION_BEGIN("refused");
	PERFMON_REGION_END("refused");
	unwatch_calls();
	s = probe_take();
	cr_assert_eq(s->counter_count, 2);
	for (int c = 0; c < 2; c++)
		cr_expect_eq(s->counters[c].error, -ENODEV, "%d: %d", c,
			     s->counters[c].error);
	pm_snapshot_free(s);
}

/* Builds a visit of 1,000 slots, of which 400 retired, counted on PMU, and if the event has two PARTS
 * also on small cores. */
static void build(struct profile_builder *b, const char *pmu, uint32_t parts)
{
	uint32_t counters = 1 + parts, id;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct perfmon_profile_plan *plan;

	builder_begin(b, 1 << 20);
	plan = builder_plan(b, 1, counters);
	for (uint32_t c = 0; c < counters; c++) {
		struct perfmon_profile_counter *counter = &plan->counter[c];
		const char *its = c == 2 ? "cpu_atom" : pmu;

		snprintf(counter->pmu, sizeof(counter->pmu), "%s", its);
		snprintf(counter->name, sizeof(counter->name), "%s/%s/u", its,
			 c ? "topdown-retiring" : "slots");
		counter->config[0] = c == 2 ? 0xc2 : c ? 0x8000 : 0x400;
		counter->logical = c != 0;
	}
	id = builder_region(b, "solve");
	thread = builder_tree(b, 4711, 1, counters, 4);
	node = builder_node(b, thread, 1, id);
	builder_visit(node, 1000);
	node->count[0].sum = 1000;
	node->count[1].sum = 400;
}

/* On CPUs with two kinds of cores one kind has slots. A share of them is not made of counts of both.
 * And on other CPUs the same codes are other events. */
Test(topdown, only_what_counts_with_slots_is_a_share_of_them)
{
	static const struct {
		const char *pmu;
		uint32_t parts;
		bool fraction, share;
	} cases[] = {
		{"cpu", 1, true, true},
		{"cpu_core", 1, true, true},
		{"cpu_core", 2, true, false},
		{"armv8_pmuv3_0", 1, false, true},
	};
	static const char note[] = "name its PMU, as in cpu_core/topdown-retiring/";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pm_report_options options = {.format = PM_FORMAT_TEXT};
		struct pm_diag diag = {0};
		struct profile_builder b;
		struct sums sums = {.snapshot = NULL};
		struct pm_value v;
		char *text;

		build(&b, cases[i].pmu, cases[i].parts);
		cr_assert_eq(
			pm_snapshot_take(b.base, builder_used(&b), &sums.snapshot, &diag),
			0, "%s", diag.text);
		cr_assert_eq(
			pm_report_model_make(&sums.model, sums.snapshot, false, NULL), 0);
		cr_assert_eq(pm_report_tree_make(&sums.tree, &sums.model, NULL, 0), 0);
		cr_expect_eq(sums.model.events[1].fraction, cases[i].fraction);
		v = share(&sums, "solve", "retiring_percent");
		cr_expect_eq(v.state, cases[i].share ? PM_COUNTED : PM_NEVER_OPENED);
		if (cases[i].share)
			cr_expect_float_eq(v.value, 40, 0.001);
		v = pm_report_count(&sums.tree, node_at(&sums, "solve"), 1, false);
		cr_expect_eq(!!isinf(v.error), cases[i].fraction);
		text = report_text(sums.snapshot, &options);
		cr_expect_eq(!!strstr(text, note), cases[i].parts > 1, "%s", text);
		free(text);
		sums_free(&sums);
		builder_end(&b);
	}
}
