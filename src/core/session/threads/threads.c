/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/threads/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "core/kernel/kernel.h"
#include "core/session/threads/parts.h"

#define PATIENCE_MS 1000
/* Tries where there is no probe, or one that may err; looks of one try with it. */
#define TRIES 8
#define LOOKS 400
/* A thread whose threads end before they can be asked is believed after so many looks
 * that found nothing else: what it was created without would have to be passed on, from
 * one short-lived thread to the next, past each of them. */
#define QUIET_LOOKS 16
/* A thread's inherited copy of a closed event holds its breakpoints until the kernel frees the
 * copy, so long at most. */
#define FREED_MS 20

static const char no_probe[] =
	"new threads appeared during the attach, and no hardware breakpoints are free to "
	"check whether these threads inherited the events (in use, not supported, or no "
	"file descriptor left)";
static const char busy[] =
	"the process created threads faster than events could be opened on them";
static const char unsettled[] =
	"some threads stayed in the kernel and may still create others";
static const char foreign[] = "breakpoints of a debugger or another monitor hide whether "
			      "new threads inherited the events";
static const char exchanged[] = "new threads appeared during the attach, and kernels "
				"before 6.12 can hide inherited events";
static const char orphaned[] =
	"child processes ended, and their own children can no longer be identified";

static void close_all(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		pm_threads_close(scan, &scan->threads[i]);
	scan->learned = false;
	scan->closed = true;
	scan->orphans = 0;
}

static void note_uncertain(struct pm_threads_result *result, uint32_t count,
			   const char *why)
{
	result->uncertain += count;
	if (count)
		result->reason = why;
}

static uint32_t count_status(const struct scan *scan, enum scan_status status)
{
	uint32_t count = 0;

	/* Events on threads that have ended stay; all else is theirs no more. */
	for (size_t i = 0; i < scan->count; i++)
		count += scan->threads[i].status == status &&
			 (status == SCAN_DIRECT || scan->threads[i].alive);
	return count;
}

/* --- opening ------------------------------------------------------------------------ */

/* A refused descriptor: what the whole would need. */
static int explain_limit(const struct scan *scan, int error)
{
	unsigned int each = scan->request->descriptors;
	uint64_t soft, hard;

	if (error != -EMFILE || !scan->diag)
		return error;
	if (!scan->diag->error)
		pm_diag_set(scan->diag, error, "no file descriptor left");
	pm_diag_add(scan->diag,
		    "; the %zu threads of process %d need %u each, %zu in all",
		    scan->count, scan->request->pid, each, scan->count * each);
	/* The sentence of open() may have named the limit. */
	if (!strstr(scan->diag->text, "RLIMIT_NOFILE") &&
	    !pm_kernel_getrlimit(RLIMIT_NOFILE, &soft, &hard))
		pm_diag_add(scan->diag,
			    ", and RLIMIT_NOFILE is %" PRIu64
			    " (the limit may be raised to %" PRIu64 ")",
			    soft, hard);
	return error;
}

/* Opens the events on an unknown THREAD that has none: 1, or 0 if it has ended, or a
 * negative errno. */
static int open_thread(struct scan *scan, struct scan_thread *thread)
{
	int err = pm_threads_open(scan, thread);

	for (int ms = 0; err == -ENOSPC && scan->closed && ms < FREED_MS; ms++) {
		pm_kernel_poll_many(NULL, 0, 1);
		pm_diag_clear(scan->diag);
		err = pm_threads_open(scan, thread);
	}
	switch (err) {
	case 0:
		return 1;
	case -ESRCH:
		/* The next scan drops it. */
		return 0;
	case -EPERM:
	case -EACCES:
		if (thread->process == scan->request->pid)
			return err;
		thread->status = SCAN_REFUSED;
		return 0;
	default:
		return explain_limit(scan, err);
	}
}

/* Lists threads while nothing is open, so that none can have inherited, and opens all. */
static int open_first(struct scan *scan)
{
	int opened = 0, err = pm_threads_scan(scan);

	for (size_t i = 0; err >= 0 && i < scan->count; i++) {
		if (scan->threads[i].status != SCAN_UNKNOWN)
			continue;
		err = open_thread(scan, &scan->threads[i]);
		opened += err > 0;
	}
	if (err < 0)
		return err;
	if (!opened)
		return pm_diag_set(scan->diag, -ESRCH, "process %d has ended",
				   scan->request->pid);
	return 0;
}

/* --- the calm way ------------------------------------------------------------------- */

/*
 * Once all threads are outside, what they created without the events can be listed, and
 * if nobody new is listed, there is nobody. 0 then, or the number of new scan, of
 * which each may have inherited the events or not.
 */
static int try_calm(struct scan *scan, struct pm_threads_result *result)
{
	int found, err = open_first(scan);
	uint32_t unknown;

	if (err)
		return err;
	if (!pm_threads_wait(scan))
		note_uncertain(result, 1, unsettled);
	for (int look = 0; look < 2; look++) {
		found = pm_threads_scan(scan);
		if (found < 0)
			return found;
	}
	unknown = count_status(scan, SCAN_UNKNOWN);
	note_uncertain(result, unknown, no_probe);
	return (int)unknown;
}

/* --- the probed way --------------------------------------------------------------- */

struct look {
	unsigned int opened, ended, partial;
};

/* Probes all unknown scan, and opens the events on those without. */
static int probe_all(struct scan *scan, struct look *look)
{
	*look = (struct look){0};
	for (size_t i = 0; i < scan->count; i++) {
		struct scan_thread *thread = &scan->threads[i];
		int err;

		if (thread->status != SCAN_UNKNOWN || !thread->alive)
			continue;
		switch (pm_threads_probe(scan, thread->tid)) {
		case VERDICT_NONE:
			thread->whole = false;
			err = open_thread(scan, thread);
			if (err < 0)
				return err;
			look->opened++;
			break;
		case VERDICT_FULL:
			thread->whole = true;
			thread->status = SCAN_INHERITED;
			if (scan->swaps && pm_threads_keep_apart(thread) == -EUNATCH)
				return -EUNATCH;
			break;
		case VERDICT_PARTIAL:
			/* Half a second marker is enough, and the first may be gone. */
			if (thread->whole)
				thread->status = SCAN_INHERITED;
			else
				look->partial++;
			break;
		case VERDICT_ENDED:
			thread->alive = false;
			look->ended++;
			break;
		case VERDICT_FOREIGN:
			thread->status = SCAN_FOREIGN;
			break;
		case VERDICT_BLIND:
			return -EUNATCH;
		}
	}
	return 0;
}

static int part(struct scan *scan)
{
	int parted = pm_threads_part(scan);

	/* If it comes from nobody here, it is somebody else's. */
	for (size_t i = 0; !parted && i < scan->count; i++)
		if (scan->threads[i].status == SCAN_UNKNOWN)
			scan->threads[i].status = SCAN_FOREIGN;
	return parted < 0 ? parted : 0;
}

/*
 * Each look follows a settling. Threads that were created before the events were open on
 * their creators have been listed then, at the latest, so that a look that finds all new
 * threads to have inherited leaves none out: who comes later comes from one that has all
 * events. Two such looks, because one listing may pass over a thread; deaths apart, see
 * QUIET_LOOKS.
 */
static int try_probed(struct scan *scan, struct pm_threads_result *result)
{
	unsigned int looks, clean = 0, quiet = 0;
	bool outside = false;
	int err;

	err = open_first(scan);
	for (looks = 0; !err && clean < 2 && quiet < QUIET_LOOKS && looks < LOOKS;
	     looks++) {
		struct look look;

		outside = pm_threads_wait(scan);
		err = pm_threads_scan(scan);
		if (err >= 0)
			err = probe_all(scan, &look);
		if (err)
			break;
		if (outside && !look.opened && look.partial)
			err = part(scan);
		if (scan->swaps)
			note_uncertain(result, look.opened, exchanged);
		if (look.opened || look.partial) {
			clean = quiet = 0;
			continue;
		}
		quiet++;
		clean += !look.ended;
	}
	if (err)
		return err;
	if (!outside)
		note_uncertain(result, 1, unsettled);
	note_uncertain(result, count_status(scan, SCAN_FOREIGN), foreign);
	note_uncertain(result, count_status(scan, SCAN_UNKNOWN), busy);
	if (looks == LOOKS)
		note_uncertain(result, !result->uncertain, busy);
	/*
	 * Nobody is in want of the markers any more: all that is created from here on has
	 * a creator with all events. Their going shows whose the slots were.
	 */
	for (size_t i = 0; i < scan->count; i++)
		pm_threads_unmark_second(&scan->threads[i]);
	note_uncertain(result, pm_threads_mistaken(scan), foreign);
	for (size_t i = 0; i < scan->count; i++)
		pm_threads_unmark(&scan->threads[i]);
	return 0;
}

/* --- the whole ---------------------------------------------------------------------- */

static int scan_all(struct scan *scan, struct pm_threads_result *result)
{
	int tries, err = try_calm(scan, result);

	if (err <= 0)
		return err;
	scan->probed = true;
	for (tries = 0; tries < (scan->swaps ? TRIES : 1); tries++) {
		close_all(scan);
		*result = (struct pm_threads_result){0};
		err = try_probed(scan, result);
		if (err != -EUNATCH && (err || !result->uncertain))
			return err;
		if (err)
			break;
	}
	if (!err)
		return 0;
	scan->probed = false;
	for (tries = 0; tries < TRIES; tries++) {
		close_all(scan);
		*result = (struct pm_threads_result){0};
		err = try_calm(scan, result);
		if (err <= 0)
			return err;
	}
	return 0;
}

int pm_threads_process(const struct pm_threads_request *request,
		       struct pm_threads_result *result, struct pm_diag *diag)
{
	struct scan scan = {.request = request, .diag = diag, .patience_ms = PATIENCE_MS};
	struct pm_threads_result found = {0};
	int err = pm_threads_find(&scan);

	if (!err)
		err = scan_all(&scan, &found);
	if (err) {
		close_all(&scan);
	} else {
		note_uncertain(&found, scan.orphans, orphaned);
		found.direct = count_status(&scan, SCAN_DIRECT);
		found.inherited = count_status(&scan, SCAN_INHERITED);
		found.refused = count_status(&scan, SCAN_REFUSED);
		found.scans = scan.scans;
		/* The sentence is about threads that have ended meanwhile. */
		pm_diag_clear(diag);
		*result = found;
	}
	pm_threads_free(&scan);
	return err;
}
