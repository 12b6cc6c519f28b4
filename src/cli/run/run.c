/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon run sets the environment for a program that uses regions, and executes it, or
 * watches it if a profile is wanted. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "cli/functions/functions.h"
#include "cli/metrics/named.h"
#include "cli/run/inside.h"
#include "core/events/events.h"
#include "core/report/model/metric.h"
#include "core/settings/options.h"
#include "core/settings/run_note.h"
#include "core/text/diag.h"
#include "core/text/text.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon run [OPTION]... [--] COMMAND [ARGUMENT]...\n\n"
	"Runs COMMAND, a program that uses regions (perfmon/region.h), and has it report\n"
	"when it exits. Exit status and signals are the command's own; 127: there is no\n"
	"such command, 126: COMMAND cannot be run, 2: an option is wrong.\n\n"
	"  -e, --events EVENTS   what to count: names separated by ',', {} for groups; auto\n"
	"                        (what costs no system call), none (time only)\n"
	"  -o, --output WHERE    auto (default: stderr, of an MPI rank the file perfmon.%r.txt),\n"
	"                        stderr, stdout, none, or a path, in which %p is the pid, %r\n"
	"                        the MPI rank, %h the host\n"
	"  -f, --format FORMAT   text (default), flat, json, csv\n"
	"  -T, --per-thread      keep threads apart and report each\n"
	"  -m, --metrics TEXT    more columns, by formulas: 'NAME = FORMULA; ...', @FILE; none:\n"
	"                        not even the built-in ones\n"
	"  -g, --group LIST      what answers a question, with its metrics: FLOPS, MEM, CACHE,\n"
	"                        BRANCH, TLB, TOPDOWN, ENERGY (perfmon list groups)\n"
	"  -M, --named-metrics LIST  more columns: values that perf calculates for this CPU, by\n"
	"                        name, or those of a file of the vendor: @FILE:NAME\n"
	"  -l, --level LEVEL     report the threads of each pu, core, l1, l2, l3, l4, group, numa,\n"
	"                        die or package, too\n"
	"  -P, --profile PATH    keep the profile in a file, %p %r %h as above, or in a folder: a\n"
	"                        directory, or a path with / at its end\n"
	"  -x, --exact           count exactly on any machine, 3 to 20 times slower: -e\n"
	"                        instructions (default), loads, stores, ... (perfmon-exact(7))\n"
	"      --function NAME   with --exact: count this function as a region; a name or pattern\n"
	"                        with * and ?, of C++ with or without parameters; may be repeated\n"
	"      --functions[=N%]  with --exact: all functions with N % of the instructions (1%),\n"
	"                        in the tree of calls; smaller ones are in their callers.\n"
	"                        =@FILE: those of this profile\n"
	"      --passes          run COMMAND several times, each with events that fit the counters\n"
	"                        at once, instead of letting them take turns, and make one report\n"
	"  -s, --stride STRIDE   N: of N visits measure one, at random; NAME=N: of this region;\n"
	"                        auto: as few as keep measuring below 5 % of the time\n"
	"      --only GLOBS      measure these regions: names or patterns with * and ?,\n"
	"                        separated by ','. Nested ones that are left out stay in the\n"
	"                        values of those around them\n"
	"      --skip GLOBS      do not measure these regions; those inside of them stay\n"
	"      --depth N         do not measure what is nested deeper than N levels\n"
	"      --min-mean TIME   stop measuring paths whose visits turn out shorter on\n"
	"                        average, such as 500ns or 2us\n"
	"      --steps GLOBS     keep the visits of these regions one by one: the report shows the\n"
	"                        first and the slowest of each path, JSON and CSV all\n"
	"  -b, --subtract-bias   take out what measuring added\n"
	"      --top N           report the N paths or regions with the most time in themselves\n"
	"      --note KEY=VALUE  say this of the run, such as n=128; may be given more than once\n"
	"      --hooks LIST      regions that the program does not name: kokkos, likwid, mpi, openmp,\n"
	"                        papi-hl, threads. Nothing else behind --hooks: says what each\n"
	"                        does (doc/hooks.md)\n"
	"      --disarmed        count from perfmon_region_arm() on\n"
	"      --fence           complete earlier instructions before each read\n"
	"  -v, --verbose         print decisions and their reasons\n"
	"  -h, --help            this text\n";
/* clang-format on */

static int events_check(const char *text)
{
	struct pm_event_list *list;
	struct pm_diag diag = {0};

	if (!text || !strcasecmp(text, "auto") || !strcasecmp(text, "none"))
		return 0;
	if (pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, &diag))
		return cli_fail(CLI_USAGE, "run", "%s", diag.text);
	pm_events_free(list);
	return 0;
}

/* Sets the program's environment variable TO. */
static int set(const char *command, const struct cli_option *option, const char *text)
{
	return cli_variable_set(command, option->to, text);
}

/* Adds a note of the run to those of the environment, which children have, too. */
static int note_add(const char *command, const struct cli_option *option,
		    const char *text)
{
	struct pm_slice rest = pm_slice_of(text), item, key, value;

	(void)option;
	if (!pm_run_note_next(&rest, &item, &key, &value) || rest.at ||
	    !pm_run_note_is_good(key, value))
		return cli_fail(CLI_USAGE, command,
				"--note: '%s' is no note: " PM_RUN_NOTE_RULE
				", and no ';'",
				pm_slice_quote(pm_slice_of(text)).text);
	return cli_variable_add(command, "PERFMON_NOTE", ";", text);
}

/* Finds the events of the Valgrind tool from the option's TEXT or the environment. The
 * program gets their full names. */
static int events_exact(const char *text, struct cli_exact_events *events)
{
	static const char variable[] = "PERFMON_EVENTS";
	char *list;
	int status;

	if (!text)
		text = getenv(variable);
	status = cli_exact_parse("run", text, events);
	if (status || !text || !*text || !strcasecmp(text, "auto"))
		return status;
	list = cli_exact_list(events, cli_exact_label);
	if (!list)
		return cli_no_memory("run");
	status = cli_variable_set("run", variable, list);
	free(list);
	return status;
}

/* Sets the environment to the events and formulas that WISH names. NAMED is the program's,
 * until the command is executed. */
static int named_set(const struct cli_named_wish *wish, struct cli_named *named)
{
	int status;

	if (!wish->groups && !wish->metrics)
		return 0;
	status = cli_named_find("run", wish, named);
	/* The program finds the events of the groups among the others. */
	unsetenv("PERFMON_GROUP");
	if (!status && named->events)
		status = cli_variable_set("run", "PERFMON_EVENTS", named->events);
	if (status || !named->formulas)
		return status;
	return cli_variable_add("run", "PERFMON_METRICS", "; ", named->formulas);
}

/* Reads the variables as the program will. What would be a note in the program is an
 * error here, except for unknown variables. */
static int environment_check(void)
{
	struct pm_options options;
	int status = 0;

	pm_options_read(&options, NULL);
	pm_metrics_free(pm_metrics_of(&options));
	for (uint32_t i = 0; i < options.note_count; i++) {
		const char *note = options.notes[i], *rest = strstr(note, ": ");

		if (i < options.unknown_count) {
			cli_complain("run", "%s", note);
			continue;
		}
		/* Skip the text about the library's default. */
		for (const char *next = rest; next; next = strstr(next + 1, ": "))
			rest = next;
		status = cli_fail(CLI_USAGE, "run", "%.*s",
				  rest ? (int)(rest - note) : (int)strlen(note), note);
	}
	pm_options_free(&options);
	return status;
}

/* Makes an absolute path of PROFILE, in the environment, too: a program may change its
 * directory before its first region. The caller frees it. NULL stays NULL. */
static char *profile_from_here(const char *profile)
{
	char here[PATH_MAX], *path;

	if (!profile)
		return NULL;
	if (*profile == '/' || !getcwd(here, sizeof(here)))
		return strdup(profile);
	path = cli_profile_in(here, profile);
	if (path)
		cli_variable_set("run", "PERFMON_PROFILE", path);
	return path;
}

/* A user who runs a program by this command wants its report, even from one that sets
 * PERFMON_QUIET. */
static int ask_for_report(void)
{
	return cli_variable("PERFMON_OUTPUT")
		       ? 0
		       : cli_variable_set("run", "PERFMON_OUTPUT", "auto");
}

/* Says what runs, and how. */
struct run {
	bool exact;
	struct cli_exact_events events; /* of the tool */
	struct cli_functions functions;
	const char *profile; /* where one goes, or NULL; an absolute path */
	char **command;	     /* as the user gave it */
	char **line;	     /* the words to execute; NULL: the command's */
};

/* Makes profiles of what the tool has counted. Returns 0 or an exit status. */
static int end_functions(struct run *run, bool has_profile)
{
	const struct cli_functions_run functions = {.pid = cli_child_pid(),
						    .command = run->command,
						    .events = &run->events,
						    .has_profile = has_profile};
	int status;

	/* Who reads the report may have ended, too. What is left is removed all the same. */
	signal(SIGPIPE, SIG_IGN);
	status = cli_functions_end(&run->functions, &functions, run->profile);
	/* A signal that has ended the command ends this process, too. */
	cli_functions_free(&run->functions);
	return status;
}

/* Finds out how the tool runs the command. Returns 0, or an exit status after a message. */
static int start_exact(struct run *run)
{
	struct cli_exact_files files = {
		.functions = run->functions.names,
		.function_count = run->functions.name_count,
		.all_functions = run->functions.all,
	};
	bool wanted = cli_functions_wanted(&run->functions);
	int status;

	if (wanted && cli_exact_is_running())
		return cli_fail(CLI_FAILED, "run",
				"--function: this command is counted already, by a "
				"perfmon run --exact around it: give the option there");
	if ((wanted || run->profile) && !cli_exact_is_running()) {
		status = cli_functions_begin(&run->functions);
		if (status)
			return status;
		files.trees = run->functions.folder;
	}
	return cli_exact_start("run", &run->events, &files, run->command, &run->line);
}

/* Makes the pattern of the names that PROFILE may become, with numbers behind it. */
static char *pattern_of(const char *profile)
{
	size_t length = strlen(profile);
	char *pattern = malloc(2 * length + 3), *to = pattern;
	struct stat st;

	for (const char *c = profile; pattern && *c; c++) {
		if (*c == '%' && c[1]) {
			*to++ = *++c == '%' ? '%' : '*';
			continue;
		}
		if (strchr("*?[\\", *c))
			*to++ = '\\';
		*to++ = *c;
	}
	if (!pattern)
		return NULL;
	if (length && profile[length - 1] != '/' && !stat(profile, &st) &&
	    S_ISDIR(st.st_mode))
		*to++ = '/';
	*to++ = '*';
	*to = '\0';
	return pattern;
}

static size_t files_like(const char *pattern)
{
	glob_t found = {.gl_pathc = 0};
	size_t count = 0;

	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		count = found.gl_pathc;
	globfree(&found);
	return count;
}

/* Runs LINE as a child, and says so if no file has come to the place of the profile. Returns the exit
 * status, or -errno if it could not be run. Ends by the signal that ended the command. */
static int watch(struct run *run, char **line)
{
	char *pattern = run->profile ? pattern_of(run->profile) : NULL;
	size_t before = pattern ? files_like(pattern) : 0;
	int status = 0, other = 0, err = cli_child_run(line, NULL, &status);
	bool has_profile = pattern && files_like(pattern) > before;

	if (!err && run->functions.folder)
		other = end_functions(run, has_profile);
	else if (!err && pattern && !has_profile)
		cli_complain("run",
			     "no profile was written to '%s': '%s' entered no region, or "
			     "does not use the library. To count a program as a whole, "
			     "use perfmon stat, or perfmon run --exact -P",
			     run->profile, run->command[0]);
	free(pattern);
	if (err)
		return err;
	return status ? cli_child_end_as(status) : other;
}

/* Returns the exit status. */
static int execute(struct run *run)
{
	char **line = run->line ? run->line : run->command;
	int err;

	if (run->profile || run->functions.folder) {
		err = watch(run, line);
		if (err >= 0)
			return err;
	} else {
		execvp(line[0], line);
		err = -errno;
	}
	return cli_child_cannot_run("run", line[0], err);
}

/* Runs the command, when everything else is known. Returns the exit status. */
static int run_command(struct run *run)
{
	char *profile = profile_from_here(cli_variable("PERFMON_PROFILE"));
	int status = 0;

	run->profile = profile;
	if (run->exact)
		status = start_exact(run);
	if (!status)
		status = execute(run);
	cli_functions_free(&run->functions);
	free(run->line);
	free(profile);
	return status;
}

static int check_functions(const struct run *run)
{
	if (run->exact || !cli_functions_wanted(&run->functions))
		return 0;
	return cli_fail(CLI_USAGE, "run",
			"--function and --functions need --exact: functions are counted "
			"by translation");
}

int cli_run(int argc, char **argv)
{
	const char *events = NULL, *level = NULL, *hooks = NULL;
	struct cli_named_wish wish = {.events = NULL};
	struct cli_named named = {NULL, NULL};
	const struct cli_option check_level = {.to = &level};
	struct run run = {.exact = false};
	bool passes = false;
	const struct cli_option options[] = {
		{"events", .take = set, .to = "PERFMON_EVENTS", .text = &events},
		{"output", .take = set, .to = "PERFMON_OUTPUT"},
		{"format", .take = set, .to = "PERFMON_FORMAT"},
		{"per-thread", "keep", .take = set, .to = "PERFMON_THREADS"},
		{"metrics", .take = set, .to = "PERFMON_METRICS"},
		{"group", .take = cli_named_take, .to = &wish.groups},
		{"named-metrics", .take = cli_named_take, .to = &wish.metrics},
		{"level", .take = set, .to = "PERFMON_LEVEL", .text = &level},
		{"profile", .take = set, .to = "PERFMON_PROFILE"},
		{"exact", .flag = &run.exact},
		{"function", .take = cli_functions_take_name, .to = &run.functions},
		{"functions", "", true, .take = cli_functions_take_share,
		 .to = &run.functions},
		{"passes", .flag = &passes},
		{"stride", .take = set, .to = "PERFMON_STRIDE"},
		{"only", .take = set, .to = "PERFMON_ONLY"},
		{"skip", .take = set, .to = "PERFMON_SKIP"},
		{"depth", .take = set, .to = "PERFMON_DEPTH"},
		{"min-mean", .take = set, .to = "PERFMON_MIN_MEAN"},
		{"steps", .take = set, .to = "PERFMON_STEPS"},
		{"subtract-bias", "subtract", .take = set, .to = "PERFMON_BIAS"},
		{"top", .take = set, .to = "PERFMON_TOP"},
		{"note", .take = note_add},
		{"hooks", .text = &hooks},
		{"disarmed", "0", .take = set, .to = "PERFMON_ARM"},
		{"fence", "1", .take = set, .to = "PERFMON_FENCE"},
		{"verbose", "1", .take = set, .to = "PERFMON_DEBUG"},
		{.name = NULL},
	};
	const struct cli_command command = {"run", help, true, options};
	int status;

	if (argc == 2 && !strcmp(argv[1], "--hooks"))
		return hooks_list();
	status = cli_options_read(&command, argc, argv);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cli_fail(CLI_USAGE, "run",
				"no command is given; see perfmon run --help");
	if (run.exact && passes)
		return cli_fail(CLI_USAGE, "run",
				"--passes: --exact counts all its events in one run");
	wish.events = events ?: getenv("PERFMON_EVENTS");
	wish.groups = wish.groups ?: getenv("PERFMON_GROUP");
	wish.most = passes ? 0 : PERFMON_PROFILE_COUNTERS_MAX;
	wish.exact = run.exact;
	status = named_set(&wish, &named);
	events = named.events ?: events;
	if (!status)
		status = run.exact ? events_exact(events, &run.events)
				   : events_check(events);
	if (check_functions(&run) ||
	    (level && cli_take_level("run", &check_level, level)))
		status = CLI_USAGE;
	status = status ?: environment_check() ?: hooks_load(hooks) ?: ask_for_report();
	run.command = argv + optind;
	if (!status && passes)
		return run_passes(events ? events : getenv("PERFMON_EVENTS"),
				  cli_variable("PERFMON_PROFILE"), run.command);
	return status ? status : run_command(&run);
}
