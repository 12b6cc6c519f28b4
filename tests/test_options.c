/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The environment: every variable, good and bad. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/report/model/metric.h"
#include "core/settings/job.h"
#include "core/settings/options.h"
#include "tree.h"

static void clear(void)
{
	static const char *const names[] = {
		"PERFMON_EVENTS",
		"PERFMON_OUTPUT",
		"PERFMON_FORMAT",
		"PERFMON_PROFILE",
		"PERFMON_THREADS",
		"PERFMON_BIAS",
		"PERFMON_TOP",
		"PERFMON_NOTE",
		"PERFMON_METRICS",
		"PERFMON_STRIDE",
		"PERFMON_ONLY",
		"PERFMON_SKIP",
		"PERFMON_DEPTH",
		"PERFMON_MIN_MEAN",
		"PERFMON_STEPS",
		"PERFMON_ARM",
		"PERFMON_FENCE",
		"PERFMON_ARGUMENTS",
		"PERFMON_DEBUG",
		"PERFMON_SAMPLE_PAGES",
		"PERFMON_CALL_DEPTH",
		"PERFMON_MIN_PERIOD",
		"OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_SIZE",
		"MV2_COMM_WORLD_RANK",
		"PMI_RANK",
		"PMI_SIZE",
		"PMIX_RANK",
		"SLURM_PROCID",
		"SLURM_NTASKS",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

TestSuite(options, .init = clear);

Test(options, an_empty_environment_gives_the_defaults)
{
	struct pm_options o;

	setenv("PERFMON_FORMAT", "", 1);
	setenv("PERFMON_OUTPUT", "", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(o.events_auto && !o.events_none && !o.events);
	cr_assert(o.output == PM_OUTPUT_STDERR && !o.output_path);
	cr_assert(o.format == PM_FORMAT_TEXT && !o.profile_path);
	cr_assert(o.arm && o.arguments && !o.fence && !o.debug && !o.keep_threads &&
		  !o.subtract_bias && !o.top);
	cr_assert_eq(o.rank, -1);
	cr_assert_eq(o.note_count, 0);
	pm_options_free(&o);
	pm_options_free(&o);
}

Test(options, every_variable_is_taken)
{
	struct pm_metrics *metrics;
	struct pm_options o;

	setenv("PERFMON_EVENTS", "{cycles,instructions};page-faults", 1);
	setenv("PERFMON_OUTPUT", "/tmp/out.%p.%r", 1);
	setenv("PERFMON_FORMAT", "JSON", 1);
	setenv("PERFMON_PROFILE", "/tmp/p", 1);
	setenv("PERFMON_THREADS", "keep", 1);
	setenv("PERFMON_BIAS", "subtract", 1);
	setenv("PERFMON_TOP", "12", 1);
	setenv("PERFMON_METRICS", "none; a = 1 / cycles", 1);
	setenv("PERFMON_ARM", "0", 1);
	setenv("PERFMON_FENCE", "1", 1);
	setenv("PERFMON_ARGUMENTS", "0", 1);
	setenv("PERFMON_DEBUG", "1", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	clear();
	cr_assert_str_eq(o.events, "{cycles,instructions};page-faults");
	cr_assert(!o.events_auto && !o.events_none);
	cr_assert(o.output == PM_OUTPUT_PATH);
	cr_assert_str_eq(o.output_path, "/tmp/out.%p.%r");
	cr_assert_str_eq(o.profile_path, "/tmp/p");
	cr_assert(o.format == PM_FORMAT_JSON);
	cr_assert(!o.arm && !o.arguments && o.fence && o.debug && o.keep_threads &&
		  o.subtract_bias && o.top == 12);
	metrics = pm_metrics_of(&o);
	cr_assert_eq(metrics->count, 1);
	cr_assert_eq(o.note_count, 0);
	pm_metrics_free(metrics);
	pm_options_free(&o);
}

Test(options, auto_is_the_default_place_asked_for)
{
	struct pm_options o;

	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(o.output == PM_OUTPUT_STDERR && !o.output_asked);
	pm_options_free(&o);
	setenv("PERFMON_OUTPUT", "auto", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(o.output == PM_OUTPUT_STDERR && o.output_asked && !o.output_path);
	cr_assert_eq(o.note_count, 0);
	pm_options_free(&o);
	setenv("PMI_RANK", "2", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(o.output == PM_OUTPUT_PATH && o.output_asked);
	pm_options_free(&o);
}

/* Row: DC-02 */
Test(options, ranks_and_processes_have_profiles_of_their_own)
{
	static const struct {
		const char *rank, *given, *taken;
	} cases[] = {
		{"", "/tmp/p", "/tmp/p"},
		{"", "/tmp/", "/tmp/perfmon.%p.profile"},
		{"3", "/tmp/p", "/tmp/p.%r"},
		{"3", "/tmp/%h%%r", "/tmp/%h%%r.%r"},
		{"3", "/tmp/p%r", "/tmp/p%r"},
		{"3", "/tmp/p%p", "/tmp/p%p"},
		{"3", "/tmp/%h/", "/tmp/%h/perfmon.%r.profile"},
	};
	struct pm_options o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("PMI_RANK", cases[i].rank, 1);
		setenv("PERFMON_PROFILE", cases[i].given, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		cr_assert_str_eq(o.profile_path, cases[i].taken);
		pm_options_free(&o);
	}
	clear();
}

/* Row: DC-02 */
Test(options, ranks_and_processes_have_reports_of_their_own)
{
	static const struct {
		const char *rank, *given, *each, *whole;
		bool folder;
	} cases[] = {
		{"", "/tmp/no/r", "/tmp/no/r", NULL, false},
		{"", "/tmp/no/", "/tmp/no/perfmon.%p.csv", "/tmp/no/perfmon.csv", true},
		{"", "/tmp", "/tmp/perfmon.%p.csv", "/tmp/perfmon.csv", true},
		{"3", "/tmp/no/r", "/tmp/no/r.%r", "/tmp/no/r", false},
		{"3", "/tmp/no/r%r", "/tmp/no/r%r", NULL, false},
		{"3", "/tmp/no/r%p", "/tmp/no/r%p", NULL, false},
		{"3", "/tmp/", "/tmp/perfmon.%r.csv", "/tmp/perfmon.csv", true},
		{"3", "/tmp", "/tmp/perfmon.%r.csv", "/tmp/perfmon.csv", true},
		{"3", "/dev/tty", "/dev/tty", NULL, false},
	};
	struct pm_options o;

	setenv("PERFMON_FORMAT", "csv", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("PMI_RANK", cases[i].rank, 1);
		setenv("PERFMON_OUTPUT", cases[i].given, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		cr_assert_eq(o.output, PM_OUTPUT_PATH);
		cr_assert_str_eq(o.output_path, cases[i].each);
		cr_assert_eq(!o.output_whole, !cases[i].whole, "%s", cases[i].given);
		cr_assert(!o.output_whole || !strcmp(o.output_whole, cases[i].whole));
		cr_assert_eq(o.output_folder, cases[i].folder);
		pm_options_free(&o);
	}
}

/* What is there is a folder without a slash, too, also by a template. */
Test(options, a_folder_that_is_there_needs_no_slash)
{
	char folder[64], given[128], want[128];
	struct pm_options o;

	snprintf(folder, sizeof(folder), "/tmp/perfmon-test.%d", (int)getpid());
	cr_assert_eq(mkdir(folder, 0700), 0);
	for (int link = 0; link < 2; link++) {
		const char *template =
			link ? "/tmp/perfmon-link.%p" : "/tmp/perfmon-test.%p";

		snprintf(given, sizeof(given), "/tmp/perfmon-link.%d", (int)getpid());
		if (link)
			cr_assert_eq(symlink(folder, given), 0);
		setenv("PERFMON_PROFILE", template, 1);
		setenv("PERFMON_OUTPUT", template, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		snprintf(want, sizeof(want), "%s/perfmon.%%p.profile", template);
		cr_assert_str_eq(o.profile_path, want);
		snprintf(want, sizeof(want), "%s/perfmon.%%p.txt", template);
		cr_assert_str_eq(o.output_path, want);
		cr_assert(o.profile_folder && o.output_folder);
		pm_options_free(&o);
	}
	unlink(given);
	rmdir(folder);
}

Test(options, words_of_events_and_output)
{
	struct pm_options o;

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", "none", 1);
	pm_options_read(&o, NULL);
	cr_assert(o.events_none && !o.events_auto && !o.events);
	cr_assert(o.output == PM_OUTPUT_NONE);
	setenv("PERFMON_EVENTS", "auto", 1);
	setenv("PERFMON_OUTPUT", "/dev/stdout", 1);
	pm_options_read(&o, NULL);
	cr_assert(!o.events_none && o.events_auto && !o.events);
	cr_assert(o.output == PM_OUTPUT_STDOUT);
}

Test(options, a_bad_value_is_quoted_and_the_default_stands)
{
	struct pm_options o;

	setenv("PERFMON_FORMAT", "xml", 1);
	setenv("PERFMON_ARM", "maybe", 1);
	setenv("PERFMON_OUTPUT", "/tmp/%z", 1);
	setenv("PERFMON_PROFILE", "100%", 1);
	setenv("PERFMON_THREADS", "some", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(o.format == PM_FORMAT_TEXT && o.arm && o.output == PM_OUTPUT_STDERR);
	cr_assert(!o.profile_path && !o.keep_threads);
	cr_assert_eq(o.note_count, 5);
	cr_assert_str_eq(
		o.notes[0],
		"PERFMON_FORMAT=\"xml\" is not one of text, flat, json, csv: using text");
	cr_assert_str_eq(
		o.notes[1],
		"PERFMON_OUTPUT=\"/tmp/%z\" has a % other than %p, %r, %h and %%: "
		"the report goes to stderr");
	cr_assert(strstr(o.notes[4], "\"maybe\"") != NULL);
	pm_options_free(&o);
}

/* A sentence, and a value in it, are cut between two characters. Each has three bytes here. */
Test(options, a_long_text_is_cut_between_characters)
{
	char text[1201] = "";
	struct pm_options o;
	struct pm_diag diag;

	for (int i = 0; i < 400; i++)
		strcat(text, "\u6d4b");
	pm_diag_set(&diag, -EINVAL, "%s", text);
	cr_assert_eq(strlen(diag.text), 996 + strlen("..."));
	cr_assert_str_eq(diag.text + 993, "\u6d4b...");
	pm_diag_set(&diag, -EINVAL, "ab%s", text);
	cr_assert_str_eq(diag.text + 992, "\u6d4b...");
	setenv("PERFMON_FORMAT", text, 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert(strstr(o.notes[0], "\u6d4b\" is not one of"), "%s", o.notes[0]);
	pm_options_free(&o);
}

/* Row: FO-08 */
Test(options, patterns_of_regions)
{
	static const struct {
		const char *only, *skip, *name;
		bool out;
	} cases[] = {
		{NULL, NULL, "a", false},
		{NULL, "a", "a", true},
		{NULL, "a", "ab", false},
		{NULL, "a*", "ab", true},
		{NULL, "*b", "aabab", true},
		{NULL, "a*b*c", "abbcabc", true},
		{NULL, "a*b*c", "abbcab", false},
		{NULL, "?", "", false},
		{NULL, "a?c", "abc", true},
		{NULL, "*", "", true},
		{NULL, " x , a* ", "abc", true},
		{NULL, "**", "a", true},
		{NULL, "main (*)", "main (parallel 0)", true},
		{"a*", NULL, "b", true},
		{"a*", NULL, "ab", false},
		{"a*,b", NULL, "b", false},
		{"a*", "ab", "ab", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_options o;

		clear();
		if (cases[i].only)
			setenv("PERFMON_ONLY", cases[i].only, 1);
		if (cases[i].skip)
			setenv("PERFMON_SKIP", cases[i].skip, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		cr_assert_eq(o.note_count, 0);
		cr_assert_eq(pm_options_filter(&o), cases[i].only || cases[i].skip);
		cr_expect_eq(pm_options_leave_out(&o, cases[i].name), cases[i].out,
			     "case %zu", i);
		pm_options_free(&o);
	}
}

/* Row: FO-08 */
Test(options, shortest_means)
{
	static const struct {
		const char *text;
		double ns;
	} cases[] = {{"500ns", 500}, {"2us", 2000}, {"1.5 ms", 1.5e6}, {"1s", 1e9},
		     {"5", 0},	     {"0ns", 0},    {"ns", 0},	       {"-1us", 0},
		     {"1.2.3us", 0}, {"1us2", 0},   {"1e3ns", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_options o;

		setenv("PERFMON_MIN_MEAN", cases[i].text, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		cr_expect(o.min_mean_ns >= cases[i].ns * 0.999999 &&
				  o.min_mean_ns <= cases[i].ns * 1.000001,
			  "%s: %g", cases[i].text, o.min_mean_ns);
		cr_expect_eq(o.note_count, cases[i].ns > 0 ? 0 : 1, "%s", cases[i].text);
		pm_options_free(&o);
	}
}

Test(options, a_device_is_no_profile)
{
	struct pm_options o;

	setenv("PERFMON_PROFILE", "/dev/null", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_null(o.profile_path);
	cr_assert_eq(o.note_count, 1);
	cr_assert_str_eq(o.notes[0], "PERFMON_PROFILE=\"/dev/null\" is a device: the "
				     "profile stays in memory");
	pm_options_free(&o);
}

Test(options, a_value_of_any_length_is_survived)
{
	size_t size = 1 << 20;
	char *value = malloc(size);
	struct pm_options o;

	memset(value, 'x', size - 1);
	value[size - 1] = '\0';
	setenv("PERFMON_OUTPUT", value, 1);
	setenv("PERFMON_FORMAT", value, 1);
	setenv("PERFMON_DEBUG", value, 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.note_count, 3);
	cr_assert(o.output == PM_OUTPUT_STDERR);
	for (uint32_t i = 0; i < o.note_count; i++)
		cr_assert_lt(strlen(o.notes[i]), 400);
	pm_options_free(&o);
	free(value);
}

/* How many notes there are, of which the first is NOTE. */
static void noted(uint32_t count, const char *note)
{
	struct pm_options o;

	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.unknown_count, count);
	cr_assert_eq(o.note_count, count, "%s", o.notes[0]);
	if (count)
		cr_assert_str_eq(o.notes[0], note);
	pm_options_free(&o);
}

Test(options, a_variable_of_no_meaning_is_named)
{
	noted(0, NULL);
	setenv("PERFMON_EVENT", "cycles", 1);
	noted(1, "PERFMON_EVENT is not a variable of libperfmon: did you mean "
		 "PERFMON_EVENTS?");
	setenv("PERFMON_EVENT", "", 1);
	noted(0, NULL);
	unsetenv("PERFMON_EVENT");
	setenv("PERFMON_FROBNICATE", "1", 1);
	noted(1, "PERFMON_FROBNICATE is not a variable of libperfmon: see "
		 "perfmon-environment(7)");
	unsetenv("PERFMON_FROBNICATE");
	/* Of another program, of module systems, of these tests. */
	setenv("PERFMONX", "1", 1);
	setenv("PERFMON_ROOT", "/opt", 1);
	setenv("PERFMON_TEST_LONG", "1", 1);
	noted(0, NULL);
	unsetenv("PERFMONX");
	unsetenv("PERFMON_ROOT");
}

/* All ranks of a run have the same id: what differs between the nodes of one is no part of
 * it. */
Test(options, a_job_has_the_id_of_its_launcher)
{
	static const struct {
		const char *set[3][2];
		const char *id;
	} rows[] = {
		{{{"PATH", "/"}}, ""},
		{{{"PBS_JOBID", "7.host"}}, "pbs:7.host"},
		{{{"SLURM_JOB_ID", "12"}}, "slurm:12"},
		{{{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "1"}},
		 "slurm:12.3"},
		{{{"SLURM_STEP_ID", "5"}, {"PMI_RANK", "2"}, {"SLURM_PROCID", "1"}},
		 "slurm:12"},
		{{{"PMIX_NAMESPACE", "n@1"}}, "pmix:n@1"},
	};
	char id[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t v = 0; v < 3 && rows[i].set[v][0]; v++)
			setenv(rows[i].set[v][0], rows[i].set[v][1], 1);
		pm_job_id(id, sizeof(id));
		cr_expect_str_eq(id, rows[i].id, "row %zu: '%s'", i, id);
		unsetenv("PBS_JOBID");
	}
	pm_job_id(id, 6);
	cr_expect_str_eq(id, "pmix:");
}

Test(options, a_launcher_gives_a_file_per_rank)
{
	struct pm_options o;
	char path[4096], directory[4096];

	setenv("PMI_RANK", "nonsense", 1);
	setenv("SLURM_PROCID", "3", 1);
	setenv("SLURM_NTASKS", "8", 1);
	setenv("PERFMON_FORMAT", "csv", 1);
	pm_options_read(&o, NULL);
	cr_assert_eq(o.rank, 3);
	cr_assert_eq(o.ranks, 8);
	cr_assert(o.output == PM_OUTPUT_PATH);
	cr_assert(pm_options_expand(o.output_path, 1, o.rank, "h", path, sizeof(path)) >
		  0);
	cr_assert(getcwd(directory, sizeof(directory) - 20) != NULL);
	strcat(directory, "/perfmon.3.csv");
	cr_assert_str_eq(path, directory);
	setenv("PERFMON_OUTPUT", "stderr", 1);
	pm_options_free(&o);
	pm_options_read(&o, NULL);
	cr_assert(o.output == PM_OUTPUT_STDERR);
	pm_options_free(&o);
}

Test(options, a_directory_with_a_percent_sign_is_no_template)
{
	char directory[] = "/tmp/perfmon-%p-XXXXXX", path[4096], want[64];
	struct pm_options o;

	cr_assert(mkdtemp(directory) != NULL);
	cr_assert_eq(chdir(directory), 0);
	setenv("PERFMON_OUTPUT", "r%p", 1);
	pm_options_read(&o, NULL);
	cr_assert(o.output == PM_OUTPUT_PATH);
	cr_assert(pm_options_expand(o.output_path, 7, 0, "h", path, sizeof(path)) > 0);
	snprintf(want, sizeof(want), "%s/r7", directory);
	cr_assert_str_eq(path, want);
	cr_assert_eq(rmdir(directory), 0);
	pm_options_free(&o);
}

Test(options, templates_expand)
{
	char b[32];

	cr_assert_eq(pm_options_expand("a%pb%rc%h%%", 12, -1, "x/y", b, sizeof(b)), 10);
	cr_assert_str_eq(b, "a12b0cx_y%");
	cr_assert_eq(pm_options_expand("%", 1, 1, "", b, sizeof(b)), -EINVAL);
	cr_assert_eq(pm_options_expand("%x", 1, 1, "", b, sizeof(b)), -EINVAL);
	cr_assert_eq(pm_options_expand("0123", 1, 1, "", b, 4), -ENAMETOOLONG);
	cr_assert_eq(pm_options_expand("012", 1, 1, "", b, 4), 3);
	cr_assert_eq(pm_options_expand("", 1, 1, "", b, 0), -ENAMETOOLONG);
}

static char *refuse(const char *name)
{
	(void)name;
	return NULL;
}

Test(options, a_set_user_id_program_ignores_all)
{
	struct pm_options o;

	setenv("PERFMON_OUTPUT", "/tmp/x", 1);
	setenv("PERFMON_EVENTS", "cycles", 1);
	cr_assert(pm_options_getenv == secure_getenv);
	pm_options_getenv = refuse;
	pm_options_read(&o, NULL);
	cr_assert(o.events_auto && o.output == PM_OUTPUT_STDERR);
}

/* Row: HW-16 */
Test(options, limits_have_bounds_and_say_so)
{
	static const struct {
		const char *name, *value;
		uint64_t expected;
		const char *note; /* NULL: none */
	} cases[] = {
		{"PERFMON_SAMPLE_PAGES", "128", 128, NULL},
		{"PERFMON_SAMPLE_PAGES", "1", 1, NULL},
		{"PERFMON_SAMPLE_PAGES", "65536", 65536, NULL},
		{"PERFMON_SAMPLE_PAGES", "0", 1, "\"0\" is below the bound: using 1"},
		{"PERFMON_SAMPLE_PAGES", "65537", 65536, "\"65537\" is above the bound"},
		{"PERFMON_SAMPLE_PAGES", "99", 64, "\"99\" is not a power of two"},
		{"PERFMON_SAMPLE_PAGES", "many", 64, "\"many\" is not a number"},
		{"PERFMON_SAMPLE_PAGES", "-4", 64, "\"-4\" is not a number"},
		{"PERFMON_SAMPLE_PAGES", "0x10", 64, "\"0x10\" is not a number"},
		{"PERFMON_CALL_DEPTH", "16", 16, NULL},
		{"PERFMON_CALL_DEPTH", "0", 1, "below the bound: using 1"},
		{"PERFMON_CALL_DEPTH", "101", 100,
		 "\"101\" is above the bound: using 100"},
		{"PERFMON_MIN_PERIOD", "10000", 10000, NULL},
		{"PERFMON_MIN_PERIOD", "0", 1, "below"},
		{"PERFMON_MIN_PERIOD", "99999999999999999999999", UINT64_C(1) << 62,
		 "above the bound: using 4611686018427387904"},
		{"PERFMON_MIN_PERIOD", "1e6", 1, "\"1e6\" is not a number"},
	};

	tree_new();
	tree_write("/proc/sys/kernel/perf_event_max_stack", "100");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_options o;
		uint64_t found;

		clear();
		setenv(cases[i].name, cases[i].value, 1);
		cr_assert_eq(pm_options_read(&o, NULL), 0);
		found = strstr(cases[i].name, "PAGES")	 ? o.sample_pages
			: strstr(cases[i].name, "DEPTH") ? o.call_depth
							 : o.min_period;
		cr_expect_eq(found, cases[i].expected, "%s=%s: %lu", cases[i].name,
			     cases[i].value, (unsigned long)found);
		cr_expect_eq(o.note_count, cases[i].note != NULL, "%s=%s", cases[i].name,
			     cases[i].value);
		if (cases[i].note && o.note_count) {
			cr_expect(strstr(o.notes[0], cases[i].note), "%s", o.notes[0]);
			cr_expect(strstr(o.notes[0], cases[i].name), "%s", o.notes[0]);
		}
		pm_options_free(&o);
	}
	tree_remove();
}

Test(options, notes_of_the_run_that_are_none_are_quoted)
{
	struct pm_options o;

	setenv("PERFMON_NOTE", "n=1;two words=2;;x;=3", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.note_count, 3);
	cr_assert(strstr(o.notes[0],
			 "PERFMON_NOTE: \"two words=2\" is ignored: expects KEY=VALUE"));
	cr_assert(strstr(o.notes[1], "\"x\" is ignored"));
	cr_assert(strstr(o.notes[2], "\"=3\" is ignored"));
	pm_options_free(&o);
}
