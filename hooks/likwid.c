/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-likwid: the marker calls of LIKWID are regions. A program that is marked for LIKWID is
 * linked with this library in place of LIKWID's, or started with it, and needs no change.
 *
 * A tag is a region of the thread that starts it. Tags that overlap do not nest: where a tag stops
 * that has others open inside of it, these others end, too, and the report counts them as lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <perfmon/region.h>
#include <perfmon/report.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/common/fortran.h"
#include "hooks/common/original.h"

/* --- what is a region ---------------------------------------------------------------- */

HOOK int likwid_markerStartRegion(const char *tag);
HOOK int likwid_markerStopRegion(const char *tag);
HOOK void likwid_markerGetRegion(const char *tag, int *event_count, double *events,
				 double *time, int *visits);

int likwid_markerStartRegion(const char *tag)
{
	if (!tag)
		return -EINVAL;
	perfmon_region_begin_name(tag);
	return 0;
}

int likwid_markerStopRegion(const char *tag)
{
	if (!tag)
		return -EINVAL;
	perfmon_region_end_name(tag);
	return 0;
}

/* Sets as many of EVENTS as there are, and returns how many: -1 if the thread has not visited TAG. */
static int read_counts(const char *tag, double *events, int room,
		       struct perfmon_region_summary *summary)
{
	struct perfmon_region_count *counts = NULL;
	int count = -1;

	if (perfmon_region_read(tag, summary, NULL, 0, sizeof(*counts), 0))
		return -1;
	if (room > (int)summary->counters)
		room = (int)summary->counters;
	if (room > 0)
		counts = calloc((size_t)room, sizeof(*counts));
	if (room <= 0 || !counts)
		return 0;
	if (!perfmon_region_read(tag, summary, counts, (size_t)room, sizeof(*counts), 0))
		for (count = 0; count < room; count++)
			events[count] = (double)counts[count].value;
	free(counts);
	return count;
}

/* What the calling thread has measured; zeros if it has not. *EVENT_COUNT is the room in EVENTS,
 * then how many are set, in the order of perfmon_region_counter(). */
void likwid_markerGetRegion(const char *tag, int *event_count, double *events,
			    double *time, int *visits)
{
	struct perfmon_region_summary summary = {.size = sizeof(summary)};
	int room = events && event_count ? *event_count : 0;
	int count = read_counts(tag, events, room, &summary);
	bool there = count >= 0;

	if (event_count)
		*event_count = there ? count : 0;
	if (time)
		*time = there ? (double)summary.time_ns / 1e9 : 0;
	if (visits)
		*visits = there ? (int)summary.visits : 0;
}

/* --- what needs nothing here --------------------------------------------------------- */

HOOK void likwid_markerInit(void);
HOOK void likwid_markerThreadInit(void);
HOOK void likwid_markerClose(void);
HOOK int likwid_markerRegisterRegion(const char *tag);

/* Threads and regions prepare themselves, and the report is written at the program's end. */
void likwid_markerInit(void)
{
}

void likwid_markerThreadInit(void)
{
}

void likwid_markerClose(void)
{
}

int likwid_markerRegisterRegion(const char *tag)
{
	return tag ? 0 : -EINVAL;
}

/* --- what is not there --------------------------------------------------------------- */

HOOK void likwid_markerNextGroup(void);
HOOK int likwid_markerResetRegion(const char *tag);
HOOK int likwid_markerWriteFile(const char *file);

/* Says TEXT once. */
static void say(bool *said, const char *text)
{
	if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "perfmon: %s\n", text);
}

void likwid_markerNextGroup(void)
{
	static bool said;

	say(&said,
	    "likwid_markerNextGroup() does nothing: the events that PERFMON_EVENTS "
	    "names are counted from the beginning");
}

int likwid_markerResetRegion(const char *tag)
{
	static bool said;

	if (!tag)
		return -EINVAL;
	say(&said, "likwid_markerResetRegion() does nothing: earlier visits stay in the "
		   "report");
	return -EOPNOTSUPP;
}

/* Writes the report of this moment to FILE, as text. */
int likwid_markerWriteFile(const char *file)
{
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	int err;

	if (fd < 0)
		return file ? -errno : -EINVAL;
	err = perfmon_report_write(fd, NULL);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* --- Fortran ------------------------------------------------------------------------- */

HOOK void likwid_markerinit_(void);
HOOK void likwid_markerthreadinit_(void);
HOOK void likwid_markernextgroup_(void);
HOOK void likwid_markerclose_(void);
HOOK void likwid_markerregisterregion_(const char *tag, int length);
HOOK void likwid_markerstartregion_(const char *tag, int length);
HOOK void likwid_markerstopregion_(const char *tag, int length);
HOOK void likwid_markerresetregion_(const char *tag, int length);
HOOK void likwid_markergetregion_(const char *tag, int *event_count, double *events,
				  double *time, int *visits, int length);

void likwid_markerinit_(void)
{
}

void likwid_markerthreadinit_(void)
{
}

void likwid_markerclose_(void)
{
}

void likwid_markernextgroup_(void)
{
	likwid_markerNextGroup();
}

void likwid_markerregisterregion_(const char *tag, int length)
{
	(void)tag;
	(void)length;
}

void likwid_markerstartregion_(const char *tag, int length)
{
	char name[FORTRAN_NAME_SIZE];

	perfmon_region_begin_name(fortran_name(name, tag, length));
}

void likwid_markerstopregion_(const char *tag, int length)
{
	char name[FORTRAN_NAME_SIZE];

	perfmon_region_end_name(fortran_name(name, tag, length));
}

void likwid_markerresetregion_(const char *tag, int length)
{
	char name[FORTRAN_NAME_SIZE];

	likwid_markerResetRegion(fortran_name(name, tag, length));
}

void likwid_markergetregion_(const char *tag, int *event_count, double *events,
			     double *time, int *visits, int length)
{
	char name[FORTRAN_NAME_SIZE];

	likwid_markerGetRegion(fortran_name(name, tag, length), event_count, events, time,
			       visits);
}
