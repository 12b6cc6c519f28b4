/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for LIKWID's header of this name, for programs that are marked for LIKWID: their markers
 * are regions of libperfmon. Compile with -DLIKWID_PERFMON, as for LIKWID, and with what
 * "pkg-config --cflags --libs perfmon-likwid" says. Without LIKWID_PERFMON the markers are empty.
 */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* These three need not be called: threads and regions prepare themselves, and the report is written at
 * the program's end. */
void likwid_markerInit(void);
void likwid_markerThreadInit(void);
void likwid_markerClose(void);

/* Needs not be called, either. Returns 0, or -EINVAL for NULL. */
int likwid_markerRegisterRegion(const char *tag);

/* Begin and end a visit of the region TAG of the calling thread. Return 0, or -EINVAL for NULL. */
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);

/* Sets what the calling thread has measured in the region TAG: counts in the order of
 * perfmon_region_counter(), seconds, and visits. *EVENT_COUNT is the room in EVENTS, then how many are
 * set. Each may be NULL. Of a region that the thread has not visited all are 0. */
void likwid_markerGetRegion(const char *tag, int *event_count, double *events,
			    double *time, int *visits);

/* Does nothing, and says so once: all events are counted from the beginning. */
void likwid_markerNextGroup(void);

/* Does nothing, and says so once. Returns -EOPNOTSUPP, or -EINVAL for NULL. */
int likwid_markerResetRegion(const char *tag);

/* Writes the report of this moment to FILE, as text. Returns 0 or a negative errno, as
 * perfmon_report_write() does. */
int likwid_markerWriteFile(const char *file);

#ifdef __cplusplus
}
#endif

#ifdef LIKWID_PERFMON
#define LIKWID_MARKER_INIT	    likwid_markerInit()
#define LIKWID_MARKER_THREADINIT    likwid_markerThreadInit()
#define LIKWID_MARKER_CLOSE	    likwid_markerClose()
#define LIKWID_MARKER_REGISTER(tag) likwid_markerRegisterRegion(tag)
#define LIKWID_MARKER_START(tag)    likwid_markerStartRegion(tag)
#define LIKWID_MARKER_STOP(tag)	    likwid_markerStopRegion(tag)
#define LIKWID_MARKER_GET(tag, event_count, events, time, visits)                        \
	likwid_markerGetRegion(tag, event_count, events, time, visits)
#define LIKWID_MARKER_SWITCH	       likwid_markerNextGroup()
#define LIKWID_MARKER_RESET(tag)       likwid_markerResetRegion(tag)
#define LIKWID_MARKER_WRITE_FILE(file) likwid_markerWriteFile(file)
#else
#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_REGISTER(tag)
#define LIKWID_MARKER_START(tag)
#define LIKWID_MARKER_STOP(tag)
#define LIKWID_MARKER_GET(tag, event_count, events, time, visits)
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_RESET(tag)
#define LIKWID_MARKER_WRITE_FILE(file)
#endif

#endif
