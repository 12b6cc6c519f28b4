/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics: the language of formulas, their values, and their columns in reports of
 * profiles made by hand.
 * Row: QU-04 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "core/report/model/metric.h"
#include "core/report/output/number.h"
#include "helpers.h"
#include "profile_builder.h"
#include "report_text.h"

static struct pm_metrics *parse(const char *text)
{
	struct pm_metrics *metrics = NULL;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), 0, "%s: %s", text,
		     diag.text);
	return metrics;
}

/* What an input is worth here. */
static double worth(const struct pm_metric_input *input)
{
	static const struct {
		const char *name;
		double value;
	} inputs[] = {
		{"a", 1},
		{"b", 2},
		{"c", 4},
		{"d", 8},
		{"zero", 0},
		{"huge", 1e308},
		{"cache-misses", 16},
		{"cpu/event=0xc0,umask=1/", 32},
		{"cpu/event=0xc0,umask=1/u", 64},
		{"INST_RETIRED:ANY_P:u", 128},
		{"sched:sched_switch", 256},
		{"skl::INST_RETIRED.ANY:k", 512},
		{"mem:0x1000/8:w", 1024},
		{"visits", 2048},
		{"time_ns", 4096},
		{"on_cpu_ns", 8192},
		{"min", 65536},
		{"if", 131072},
	};

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		if (!strcmp(inputs[i].name, input->name))
			return inputs[i].value;
	cr_assert_fail("no input is called '%s'", input->name);
	return NAN;
}

static bool value_of(const char *formula, double *value)
{
	char text[4096];
	double values[PM_METRIC_INPUTS];
	struct pm_metrics *metrics;
	bool known;

	snprintf(text, sizeof(text), "none; m = %s", formula);
	metrics = parse(text);
	cr_assert_eq(metrics->count, 1);
	for (uint32_t i = 0; i < metrics->metrics[0].input_count; i++)
		values[i] = worth(&metrics->metrics[0].inputs[i]);
	known = pm_metric_value(&metrics->metrics[0], values, value);
	pm_metrics_free(metrics);
	return known;
}

Test(metric, formulas_have_their_values)
{
	static const struct {
		const char *formula;
		double value;
	} rows[] = {
		{"1", 1},
		{"1.5e3 + .25", 1500.25},
		{"2E-2*100", 2},
		{"a + b * c", 9},
		{"(a + b) * c", 12},
		{"d / c / b", 1},
		{"d / (c / b)", 4},
		{"d - c - b", 2},
		{"-a + b", 1},
		{"--a", 1},
		{"b - -c", 6},
		{"b*-c", -8},
		{"a/b", 0.5}, /* no second '/': a division */
		{"d/b + d/c", 6},
		{"(d/b)*(d/c)", 8},
		{"cache-misses - a", 15},
		{"d -a", 7},
		{"d- a", 7},
		{"cpu/event=0xc0,umask=1/ / b", 16},
		{"cpu/event=0xc0,umask=1/u / b", 32},
		{"cpu/event=0xc0,umask=1//b", 16},
		{"INST_RETIRED:ANY_P:u/ b", 64},
		{"sched:sched_switch*b", 512},
		{"skl::INST_RETIRED.ANY:k - a", 511},
		{"'mem:0x1000/8:w' / b", 512},
		{"time_ns / visits + on_cpu_ns", 8194},
		{" ( ( a ) ) ", 1},
		{"a - a", 0},
		{"zero / a", 0},
		/* As perf calculates, with its order of operators. */
		{"min(a, b) + max(c, d)", 9},
		{"max(min(d, c), a - b)", 4},
		{"d_ratio(d, b) + d_ratio(d, zero)", 4},
		{"a < b", 1},
		{"a > b", 0},
		{"a + b < b * c", 1},
		{"b if a < b else c", 2},
		{"b if a > b else c if zero else d", 8},
		{"(b if zero else c) * d", 32},
		{"a / zero if zero else d", 8},
		{"d if a else min(a / zero, b)", 8},
		{"7 % 4 + 7 & 3", 2},
		{"5 | 2 ^ 3 & 6", 5},
		{"-7.9 % 4", -3},
		{"min", 65536},
		{"if + a", 131073},
	};
	double value;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert(value_of(rows[i].formula, &value), "%s", rows[i].formula);
		cr_assert_eq(value, rows[i].value, "%s is %g, not %g", rows[i].formula,
			     value, rows[i].value);
	}
}

/* Also where the quotient would vanish again. */
Test(metric, what_has_no_value_is_not_there)
{
	static const char *const rows[] = {
		"a / zero",
		"zero / zero",
		"a / (b / zero)",
		"a / (b - 2 * a)",
		"huge * huge",
		"huge * huge - huge * huge",
		"min(a / zero, b)",
		"max(b, a / zero)",
		"a if b / zero else c",
		"a / zero < b",
		"a % zero",
		"a & huge",
		"d_ratio(a / zero, zero)",
	};
	double value = 42;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert(!value_of(rows[i], &value), "%s", rows[i]);
	cr_assert_eq(value, 42);
}

Test(metric, mistakes_are_quoted_with_their_place)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"ipc", "'=' and a formula are missing at the end of 'ipc'"},
		{"= a", "a metric's name is missing at character 1 of '= a'"},
		{"7a = a", "a metric's name is missing at character 1 of '7a = a'"},
		{"a b = c",
		 "a character not allowed in metric names at character 2 of 'a b = c'"},
		{"x =", "a number, an event or '(' is missing at the end of 'x ='"},
		{"x = a +",
		 "a number, an event or '(' is missing at the end of 'x = a +'"},
		{"x = a + * b",
		 "a number, an event or '(' is missing at character 9 of 'x = a + * b'"},
		{"x = a b", "an operator is missing at character 7 of 'x = a b'"},
		{"x = (a + b", "'(' without its ')' at character 5 of 'x = (a + b'"},
		{"x = a + b)", "an operator is missing at character 10 of 'x = a + b)'"},
		{"x = 1.2.3", "not a number at character 5 of 'x = 1.2.3'"},
		{"x = 64k", "not a number at character 5 of 'x = 64k'"},
		{"x = 0x10", "not a number at character 5 of 'x = 0x10'"},
		{"x = 1e999", "not a number at character 5 of 'x = 1e999'"},
		{"x = 'a", "a quote is not closed at character 5 of 'x = 'a'"},
		{"x = ''", "an event's name is missing at character 5 of 'x = '''"},
		{"x [s = a", "'[' without its ']' at character 3 of 'x [s = a'"},
		{"x [] = a",
		 "expects a unit of 1 to 10 characters at character 3 of 'x [] = a'"},
		{"x [much too long] = a", "expects a unit of 1 to 10 characters at "
					  "character 3 of 'x [much too long] = a'"},
		{"x = a; y = $", "a number, an event or '(' is missing at character 5 of "
				 "'y = $'"},
		{"x = min(a b)", "a ',' and the second argument are missing at character "
				 "11 of 'x = min(a b)'"},
		{"x = max(a, b", "'(' without its ')' at character 8 of 'x = max(a, b'"},
		{"x = a if b", "'else' is missing at the end of 'x = a if b'"},
		{"x = a if b else", "a number, an event or '(' is missing at the end of "
				    "'x = a if b else'"},
		{"x = a\ny = b,c", "an operator is missing at character 6 of 'y = b,c'"},
		{"@/no/such/file",
		 "cannot read the file '/no/such/file' (No such file or directory)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pm_metrics *metrics = (void *)&metrics;
		struct pm_diag diag = {0};
		int err = pm_metrics_parse(rows[i].text, &metrics, &diag);

		cr_assert_eq(err,
			     i + 1 < sizeof(rows) / sizeof(rows[0]) ? -EINVAL : -ENOENT);
		cr_assert_str_eq(diag.text, rows[i].sentence);
		cr_assert_eq(metrics, (void *)&metrics);
	}
}

Test(metric, limits_are_errors_too)
{
	char *text = malloc(1 << 17);
	struct pm_metrics *metrics;
	struct pm_diag diag = {0};
	size_t used;

	for (int what = 0; what < 5; what++) {
		static const char *const sentences[] = {
			"nested too deep", "too long", "too many inputs",
			"one metric too many", "more than 65536 characters"};

		used = (size_t)sprintf(text, "x = ");
		for (int i = 0; what == 0 && i < 1000; i++)
			text[used++] = i % 2 ? '-' : '(';
		for (int i = 0; what == 1 && i < 9000; i++)
			used += (size_t)sprintf(text + used, "1+");
		for (int i = 0; what == 2 && i < 150; i++)
			used += (size_t)sprintf(text + used, "e%d + ", i);
		if (what == 3)
			used += (size_t)sprintf(text + used, "1; ");
		for (int i = 0; what == 3 && i < 300; i++)
			used += (size_t)sprintf(text + used, "m%d = 1;", i);
		for (int i = 0; what == 4 && i < 70000; i++)
			text[used++] = ' ';
		strcpy(text + used, what == 3 ? "" : "1");
		cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), -E2BIG, "%d", what);
		cr_assert(strstr(diag.text, sentences[what]), "%s", diag.text);
	}
	free(text);
}

static const struct pm_metric *find(const struct pm_metrics *metrics, const char *name)
{
	for (uint32_t i = 0; i < metrics->count; i++)
		if (!strcmp(metrics->metrics[i].name, name))
			return &metrics->metrics[i];
	return NULL;
}

Test(metric, the_built_in_set_is_added_to_replaced_or_left_out)
{
	struct pm_metrics *metrics = parse("");
	uint32_t built_in = metrics->count;

	cr_assert_str_eq(find(metrics, "ipc")->formula, "instructions / cycles");
	pm_metrics_free(metrics);

	metrics = parse("; mpki = 1000 * cache-misses / instructions;;\n"
			"# nothing; here = 1\n"
			"IPC [insn] = 2 * instructions / cycles # twice\n");
	cr_assert_eq(metrics->count, built_in + 1);
	cr_assert_null(find(metrics, "ipc"));
	cr_assert_str_eq(find(metrics, "IPC")->unit, "insn");
	cr_assert_str_eq(find(metrics, "IPC")->formula, "2 * instructions / cycles");
	cr_assert_str_eq(find(metrics, "mpki")->unit, "");
	pm_metrics_free(metrics);

	metrics = parse("mpki = 1; none; a = 1; a = 2");
	cr_assert_eq(metrics->count, 1);
	cr_assert_str_eq(metrics->metrics[0].formula, "2");
	pm_metrics_free(metrics);
}

Test(metric, files_hold_metrics)
{
	char path[] = "/tmp/perfmon-metrics-XXXXXX", text[200], want[300];
	int fd = mkstemp(path);
	struct pm_metrics *metrics;
	struct pm_diag diag = {0};

	cr_assert_geq(fd, 0);
	cr_assert_gt(dprintf(fd,
			     "# of the lab\nnone\nbytes [B] = 64 * LLC-load-misses\n\n"
			     "rate = 1 / b\n"),
		     0);
	snprintf(text, sizeof(text), "@%s; rate = 2 / b", path);
	metrics = parse(text);
	cr_assert_eq(metrics->count, 2);
	cr_assert_str_eq(metrics->metrics[0].name, "bytes");
	cr_assert_str_eq(metrics->metrics[1].formula, "2 / b");
	pm_metrics_free(metrics);

	cr_assert_eq(dprintf(fd, "x = (1\n"), 7);
	cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), -EINVAL);
	snprintf(want, sizeof(want),
		 "'(' without its ')' at character 5 of 'x = (1', line 6 of '%s'", path);
	cr_assert_str_eq(diag.text, want);

	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_gt(dprintf(fd, "\n@%s\n", path), 0);
	cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "a file names another file at character 1"), "%s",
		  diag.text);
	unlink(path);
	close(fd);
}

/* Nobody writes this FIFO, and a device never ends. */
Test(metric, a_fifo_or_a_device_is_refused)
{
	char folder[32], text[64];
	struct pm_metrics *metrics;
	struct pm_diag diag = {0};

	make_folder(folder, sizeof(folder));
	snprintf(text, sizeof(text), "@%s/fifo", folder);
	cr_assert_eq(mkfifo(text + 1, 0600), 0);
	alarm(60);
	cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), -ENOTSUP);
	cr_assert(strstr(diag.text, "/fifo' (not a regular file)"), "%s", diag.text);
	cr_assert_eq(pm_metrics_parse("@/dev/zero", &metrics, &diag), -ENOTSUP);
	cr_assert_eq(pm_metrics_parse("@/dev", &metrics, &diag), -EISDIR);
	alarm(0);
	remove_folder(folder);
}

/* --- in reports --------------------------------------------------------------------- */

/* The report of B in FORMAT with METRICS; free it. */
static char *report(struct profile_builder *b, enum pm_format format, const char *metrics)
{
	struct pm_metrics *parsed = parse(metrics);
	struct pm_report_options options = {.format = format, .metrics = parsed};
	char *text = report_built(b, &options);

	pm_metrics_free(parsed);
	return text;
}

/*
 * Three visits of 1000 ns, of 250 of them off the CPU, and in each of them 500 ns below.
 * Counter i has sum 100 (i + 1) in "work", of this 25 (i + 1) in "part". The names are
 * the caller's.
 */
static void sample(struct profile_builder *b, const char *const *names, uint32_t count)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;

	builder_begin(b, 1 << 16);
	plan = builder_plan(b, 1, count);
	for (uint32_t c = 0; c < count; c++)
		snprintf(plan->counter[c].name, sizeof(plan->counter[c].name), "%s",
			 names[c]);
	thread = builder_tree(b, 1, 1, count, 4);
	for (uint32_t n = 0; n < 2; n++) {
		node = builder_node(b, thread, n + 1,
				    builder_region(b, n ? "part" : "work"));
		for (int v = 0; v < 3; v++)
			builder_visit(node, n ? 500 : 1000);
		node->off_cpu_ns = n ? 0 : 250;
		for (uint32_t c = 0; c < count; c++)
			node->count[c].sum = (n ? 25 : 100) * (c + 1);
	}
}

/* Row: DC-02: columns of one's own, in all formats, with their units. */
Test(metric, columns_in_every_format)
{
	static const char *const names[] = {"one:u", "two:u"};
	static const char metrics[] =
		"none; per_visit = one / visits; rate [B/s] = 1e9 * two / time_ns;"
		"busy [%] = 100 * on_cpu_ns / time_ns; small = one / 1e9;"
		"wait [ns] = (time_ns - on_cpu_ns) / visits; less = one - two";
	struct profile_builder b;
	char *got;

	sample(&b, names, 2);
	got = report(&b, PM_FORMAT_TEXT, metrics);
	/* clang-format off */
	has(got,
"one:u  two:u  per_visit    rate    busy     small   wait     less\n");
	has(got,
"  100    200     33.333  66.667   91.67  1.000e-7  83.33  -100.00\n");
	has(got,
"   25     50      8.333  33.333  100.00  2.500e-8   0.00   -25.00\n");
	/* clang-format on */
	free(got);
	got = report(&b, PM_FORMAT_FLAT, metrics);
	has(got, "   75    150     25.000  100.000   83.33");
	free(got);
	got = report(&b, PM_FORMAT_CSV, metrics);
	has(got, ",per_visit,rate,busy,small,wait,less,time_ns.marks,");
	has(got, ",8.333333333333334,33333333.333333332,100,2.5e-08,0,-25,,,");
	free(got);
#ifdef HAVE_JANSSON
	got = report(&b, PM_FORMAT_JSON, metrics);
	{
		json_t *all = json_loads(got, 0, NULL), *metric, *value;

		cr_assert_not_null(all);
		metric = json_array_get(json_object_get(all, "metrics"), 1);
		cr_assert_str_eq(json_string_value(json_object_get(metric, "name")),
				 "rate");
		cr_assert_str_eq(json_string_value(json_object_get(metric, "unit")),
				 "B/s");
		cr_assert_str_eq(json_string_value(json_object_get(metric, "formula")),
				 "1e9 * two / time_ns");
		value = json_array_get(json_object_get(all, "nodes"), 0);
		cr_assert_eq(json_number_value(
				     json_array_get(json_object_get(value, "ratios"), 5)),
			     -100);
		value = json_array_get(json_object_get(value, "metrics"), 0);
		cr_assert_eq(json_number_value(json_object_get(value, "exclusive_value")),
			     25);
		json_decref(all);
	}
	free(got);
#endif
	builder_end(&b);
}

/* Built-in metrics that lack an event are not there, without a word; others with one. */
Test(metric, what_lacks_an_event_is_absent_and_said_once)
{
	static const char *const names[] = {"instructions:u", "cycles:k"};
	struct profile_builder b;
	char *got;

	sample(&b, names, 2);
	got = report(&b, PM_FORMAT_TEXT,
		     "mpki = 1000 * LLC-misses / instructions; mixed = instructions / "
		     "cycles; both = instructions:u / cycles:k; ghz = 1 / visits");
	has_not(got, "IPC");
	has_not(got, "br-miss");
	has(got, "  note: no metric mpki: LLC-misses is not counted\n");
	has(got, "  note: no metric mixed: cycles is not counted with the "
		 "same modifiers as its other events\n");
	has(got, "  both");
	has(got, "0.500  ");
	has_not(strstr(got, "no metric mpki") + 14, "mpki");
	has_not(got, "no metric ipc");
	free(got);
	builder_end(&b);
}

/* A refused event is none; one that was not on the hardware gives no number; a quotient
 * by zero none either. */
Test(metric, what_was_not_counted_gives_no_number)
{
	static const char *const names[] = {"x", "y", "z"};
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	sample(&b, names, 3);
	plan = (void *)(b.base + sizeof(struct perfmon_profile_header));
	plan->counter[1].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
	plan->counter[1].error = -ENOENT;
	got = report(&b, PM_FORMAT_CSV,
		     "none; xy = x / y; q = z / (x - 100); xz = x / z");
	has(got, ",q,xz,time_ns.marks,");
	has(got, ",counted,,0.3333333333333333,,,");
	has(got, ",counted,-1,0.3333333333333333,,,");
	free(got);
	got = report(&b, PM_FORMAT_TEXT, "none; xy = x / y; q = z / (x - 100)");
	has(got, "  note: no metric xy: y is not counted\n");
	has(got, "  -     not counted");
	free(got);
	builder_end(&b);
}

/* A metric is marked as its inputs are, and as uncertain as the worst of them. */
Test(metric, marks_are_those_of_the_inputs)
{
	static const char *const names[] = {"x", "y", "z"};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	sample(&b, names, 3);
	thread = builder_thread(&b, 2, 1, 3);
	thread->status[2] = -EMFILE;
	builder_nodes(&b, thread, 2);
	builder_node(&b, thread, 0, 0);
	node = builder_node(&b, thread, 1, builder_region(&b, "other"));
	builder_visit(node, 1000);
	node->count[0].sum = 100;
	node->count[1].sum = 100;
	node->count[1].lost_ns = 750;
	node->retries = 1;
	got = report(&b, PM_FORMAT_TEXT, "none; xy = x / y; xz = x / z; t = 2 * time_ns");
	has(got, "xy          xz       t\n");
	has(got, "  100  400 ~25%  n/a    0.250 ~25%    n/a    2000\n");
	free(got);
	builder_end(&b);
}

/* One thread could not open y: what it counted of x is in the sum of x, and in no
 * quotient of both. */
Test(metric, inputs_are_of_the_same_threads)
{
	static const char *const names[] = {"x", "y"};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	sample(&b, names, 2);
	thread = builder_thread(&b, 2, 1, 2);
	thread->status[1] = -EMFILE;
	builder_nodes(&b, thread, 2);
	builder_node(&b, thread, 0, 0);
	node = builder_node(&b, thread, 1, 1);
	builder_visit(node, 1000);
	node->count[0].sum = 900;
	got = report(&b, PM_FORMAT_CSV,
		     "none; each = x / visits; both = x / y; more = x / y + visits");
	/* The path, and the one below it in the first thread alone. */
	has(got, ",1000,975,1000,1,counted,200,150,200,1,counted,250,0.5,3.5,,,");
	has(got, ",25,25,25,1,counted,50,50,50,1,counted,8.333333333333334,0.5,3.5,,,");
	free(got);
	got = report(&b, PM_FORMAT_FLAT, "none; both = x / y; other = y / x");
	has(got, "0.500 &  2.000 &");
	free(got);
	builder_end(&b);
}

/* An event is found by its own name, by another name for the same, and by its PMU; the
 * PMU of one kind of core is not the sum over all. */
Test(metric, events_are_found_by_any_of_their_names)
{
	static const char *const names[] = {"armv8_pmuv3_0/inst_retired/u",
					    "CPU_CYCLES:u", "cpu_core/mem/",
					    "cpu_atom/mem/"};
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	sample(&b, names, 4);
	plan = (void *)(b.base + sizeof(struct perfmon_profile_header));
	strcpy(plan->counter[2].pmu, "cpu_core");
	strcpy(plan->counter[3].pmu, "cpu_atom");
	plan->counter[3].logical = 2;
	got = report(
		&b, PM_FORMAT_CSV,
		"a = instructions / cycles; b = ARMV8_pmuv3_0/inst_retired/ / visits;"
		"c = mem / visits; d = cpu_core/mem/ / visits;"
		"e = INST_RETIRED:u + 1; f = armv8_pmuv3_0/inst_retired/k + 1");
	has(got, ",ipc,ghz,a,b,c,e,time_ns.marks,");
	has(got,
	    ",0.5,0.07272727272727272,0.5,33.333333333333336,233.33333333333334,101,,,");
	free(got);
	builder_end(&b);
}

/* The scale of an event brings it into its unit before it is computed with. */
Test(metric, values_are_in_their_units)
{
	static const char *const names[] = {"power/energy-pkg/"};
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	sample(&b, names, 1);
	plan = (void *)(b.base + sizeof(struct perfmon_profile_header));
	plan->counter[0].scale = 0.25;
	strcpy(plan->counter[0].unit, "Joules");
	got = report(&b, PM_FORMAT_CSV, "e = power/energy-pkg/ / visits");
	has(got, ",counted,8333333.333333333,8.333333333333334,,,");
	free(got);
	builder_end(&b);
}

Test(metric, cells)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{0, "0.000"},	    {1, "1.000"},	  {-12.5, "-12.50"},
		{0.1, "0.100"},	    {0.0123, "1.230e-2"}, {-1e-9, "-1.000e-9"},
		{123456, "123.5k"}, {NAN, "?"},		  {5e-324, "4.941e-324"},
	};
	char cell[PM_CELL];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_str_eq(pm_cell_number(cell, rows[i].value), rows[i].text,
				 "%s for %g", cell, rows[i].value);
	pm_cell_unit(cell, -0.5, "V");
	cr_assert_str_eq(cell, "-500.0 mV");
}
