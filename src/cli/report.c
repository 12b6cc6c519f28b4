/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon report: the report of profiles that were kept in files, or that processes are
 * still writing. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report_sources.h"
#include "cli/terminal.h"
#include "core/machine_id.h"
#include "core/profile_file.h"
#include "core/report.h"

static const char help[] =
	"usage: perfmon report [OPTION]... FILE\n\n"
	"Reports what a program has counted in its regions, from the file where it kept\n"
	"its profile (PERFMON_PROFILE, perfmon run -o), also if it was killed or still "
	"runs.\n\n"
	"  -p, --pid PID         the profile that this running process keeps in memory\n"
	"  -f, --format FORMAT   text (default): the call tree; flat: by region; json; "
	"csv\n"
	"  -t, --per-thread      each thread, too\n"
	"  -b, --subtract-bias   counts less what an empty region counts\n"
	"  -o, --output FILE     to this file; - is standard output, the default\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0, 1 if something could not be read or written, 2 if an option is "
	"wrong.\n";

static const struct option options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"format", required_argument, NULL, 'f'},
	{"per-thread", no_argument, NULL, 't'},
	{"subtract-bias", no_argument, NULL, 'b'},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct {
	const char *name;
	enum pm_format format;
} formats[] = {
	{"text", PM_FORMAT_TEXT},
	{"flat", PM_FORMAT_FLAT},
	{"json", PM_FORMAT_JSON},
	{"csv", PM_FORMAT_CSV},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

struct request {
	struct cli_sources sources;
	struct pm_report_options how;
	const char *output; /* NULL: standard output */
};

static int format_read(const char *text, enum pm_format *format)
{
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(text, formats[i].name) != 0)
			continue;
		*format = formats[i].format;
		return 0;
	}
	cli_complain("report", "'%s' is none of text, flat, json, csv", text);
	return CLI_USAGE;
}

static int print(void *argument, const char *text, size_t size)
{
	FILE *to = argument;

	return fwrite(text, 1, size, to) == size ? 0 : -EIO;
}

static int write_report(const struct request *request,
			const struct pm_report_options *how,
			const struct pm_snapshot *snapshot)
{
	FILE *to = stdout;
	int err;

	if (request->output) {
		to = fopen(request->output, "we");
		if (!to) {
			cli_complain("report", "'%s': %s", request->output,
				     strerror(errno));
			return CLI_FAILED;
		}
	} else if (how->format == PM_FORMAT_TEXT || how->format == PM_FORMAT_FLAT) {
		cli_pager_begin();
	}
	errno = 0;
	err = pm_report_write(snapshot, how, print, to);
	if (err == -ENOMEM)
		cli_complain("report", "no memory for this report");
	/* What standard output could not take, cli_finish() says. */
	if (request->output && (fclose(to) || err == -EIO)) {
		cli_complain("report", "'%s': %s", request->output,
			     strerror(errno ? errno : EIO));
		return CLI_FAILED;
	}
	return err == -ENOMEM ? CLI_FAILED : 0;
}

/* The report of one profile. */
static int report_one(const struct request *request, const struct cli_source *source)
{
	struct pm_report_options how = request->how;
	struct pm_profile_file *file;
	struct pm_snapshot *snapshot;
	struct pm_machine machine;
	struct pm_diag diag = {0};
	char boot_id[sizeof(snapshot->header.boot_id)];
	const char *notes[1];
	int status;

	if (cli_source_open(source, &file, &diag))
		goto unread;
	if (pm_profile_file_snapshot(file, &snapshot, &diag)) {
		pm_profile_file_close(file);
		goto unread;
	}
	if (snapshot->header.state == PERFMON_STATE_RUNNING) {
		how.has_died = !pm_profile_file_is_alive(file);
		notes[how.note_count++] =
			how.has_died
				? "the process died before it could end its profile: "
				  "visits that were open then are in no value"
				: "the process still runs: this is what it has done "
				  "so far";
		how.notes = notes;
	}
	/* What a profile does not tell: the machine, unless it is this one. */
	pm_machine_boot_id(boot_id, sizeof(boot_id));
	if (boot_id[0] && !strcmp(boot_id, snapshot->header.boot_id)) {
		pm_machine_describe(&machine);
		how.machine = &machine;
	}
	status = write_report(request, &how, snapshot);
	pm_snapshot_free(snapshot);
	pm_profile_file_close(file);
	return status;
unread:
	cli_complain("report", "%s", diag.text);
	return CLI_FAILED;
}

int cli_report(int argc, char **argv)
{
	struct request request = {0};
	int c, status = 0;

	argv[0] = (char *)(uintptr_t) "perfmon report";
	while (!status &&
	       (c = getopt_long(argc, argv, "p:f:tbo:h", options, NULL)) >= 0) {
		switch (c) {
		case 'p':
			status = cli_sources_add_pid(&request.sources, optarg);
			break;
		case 'f':
			status = format_read(optarg, &request.how.format);
			break;
		case 't':
			request.how.per_thread = true;
			break;
		case 'b':
			request.how.subtract_bias = true;
			break;
		case 'o':
			request.output = strcmp(optarg, "-") ? optarg : NULL;
			break;
		case 'h':
			fputs(help, stdout);
			return cli_finish("report", 0);
		default:
			status = CLI_USAGE;
		}
	}
	while (!status && optind < argc)
		status = cli_sources_add_path(&request.sources, argv[optind++]);
	if (!status && !request.sources.count) {
		cli_complain("report", "no profile is given; see perfmon report --help");
		status = CLI_USAGE;
	}
	if (!status && request.sources.count > 1) {
		cli_complain("report", "'%s': one profile at a time",
			     request.sources.at[1].name);
		status = CLI_USAGE;
	}
	if (!status)
		status = report_one(&request, &request.sources.at[0]);
	cli_sources_free(&request.sources);
	return cli_finish("report", status);
}
