/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/cover.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "core/cover_parts.h"
#include "core/kernel.h"

#define PATIENCE_MS 1000
/* Tries where there is no witness, or one that may err; looks of one try with it. */
#define TRIES 8
#define LOOKS 400
/* A thread whose threads end before they can be asked is believed after so many looks
 * that found nothing else: what it was created without would have to be passed on, from
 * one short-lived thread to the next, past each of them. */
#define QUIET_LOOKS 16

static const char no_witness[] =
	"threads were created while events were being opened on the others, and hardware "
	"breakpoints, which would tell whether these have inherited the events, are not "
	"to be "
	"had here (in use, not supported, or no file descriptors left for them)";
static const char busy[] =
	"the process created threads faster than events could be opened on them";
static const char unsettled[] = "some threads neither slept nor came back to user mode, "
				"so that they may be about to "
				"create others";
static const char foreign[] = "breakpoints of a debugger or another monitor on new "
			      "threads keep it from being seen "
			      "whether these have inherited the events";
static const char exchanged[] =
	"threads were created while events were being opened on the others, and on "
	"kernels "
	"before 6.12 they can seem not to have inherited the events when they have";
static const char orphaned[] = "child processes ended, and left others that no longer "
			       "can be told to be of the family";

static void close_all(struct cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		pm_cover_close(cover, &cover->threads[i]);
	cover->learned = false;
	cover->orphans = 0;
}

static void doubt(struct pm_cover_result *result, uint32_t count, const char *why)
{
	result->uncertain += count;
	if (count)
		result->doubt = why;
}

static uint32_t count_status(const struct cover *cover, enum cover_status status)
{
	uint32_t count = 0;

	/* What was opened on the ended stays, all else is theirs no more. */
	for (size_t i = 0; i < cover->count; i++)
		count += cover->threads[i].status == status &&
			 (status == COVER_DIRECT || cover->threads[i].alive);
	return count;
}

/* --- opening -------------------------------------------------------------------------
 */

/* A refused descriptor: what the whole would need. */
static int explain_limit(const struct cover *cover, int error)
{
	unsigned int each = cover->request->descriptors;
	uint64_t soft, hard;

	if (error != -EMFILE || !cover->diag)
		return error;
	if (!cover->diag->error)
		pm_diag_set(cover->diag, error, "no file descriptor is left");
	pm_diag_add(cover->diag,
		    "; the %zu threads of process %d need %u each, %zu in all",
		    cover->count, cover->pid, each, cover->count * each);
	/* What open() said of it may have named the limit. */
	if (!strstr(cover->diag->text, "RLIMIT_NOFILE") &&
	    !pm_kernel_getrlimit(RLIMIT_NOFILE, &soft, &hard))
		pm_diag_add(cover->diag,
			    ", and RLIMIT_NOFILE is %" PRIu64
			    " (it may be raised to %" PRIu64 ")",
			    soft, hard);
	return error;
}

/* Opens the events on an unknown THREAD that has none: 1, or 0 if it has ended, or a
 * negative errno. */
static int open_thread(struct cover *cover, struct cover_thread *thread)
{
	int err = pm_cover_open(cover, thread);

	switch (err) {
	case 0:
		return 1;
	case -ESRCH:
		/* The next scan drops it. */
		return 0;
	case -EPERM:
	case -EACCES:
		if (thread->process == cover->pid)
			return err;
		thread->status = COVER_REFUSED;
		return 0;
	default:
		return explain_limit(cover, err);
	}
}

/* Lists threads while nothing is open, so that none can have inherited, and opens all. */
static int open_first(struct cover *cover)
{
	int opened = 0, err = pm_cover_scan(cover);

	for (size_t i = 0; err >= 0 && i < cover->count; i++) {
		if (cover->threads[i].status != COVER_UNKNOWN)
			continue;
		err = open_thread(cover, &cover->threads[i]);
		opened += err > 0;
	}
	if (err < 0)
		return err;
	if (!opened)
		return pm_diag_set(cover->diag, -ESRCH, "process %d has ended meanwhile",
				   cover->pid);
	return 0;
}

/* --- the calm way --------------------------------------------------------------------
 */

/*
 * Once all threads are settled, what they created without the events can be listed, and
 * if nobody new is listed, there is nobody. 0 then, or the number of new threads, of
 * which each may have inherited the events or not.
 */
static int try_calm(struct cover *cover, struct pm_cover_result *result)
{
	int found, err = open_first(cover);
	uint32_t unknown;

	if (err)
		return err;
	if (!pm_cover_settle(cover))
		doubt(result, 1, unsettled);
	for (int look = 0; look < 2; look++) {
		found = pm_cover_scan(cover);
		if (found < 0)
			return found;
	}
	unknown = count_status(cover, COVER_UNKNOWN);
	doubt(result, unknown, no_witness);
	return (int)unknown;
}

/* --- the witnessed way ---------------------------------------------------------------
 */

struct look {
	unsigned int opened, ended, partial;
};

/* Judges all unknown threads, and opens the events on those without. */
static int judge_all(struct cover *cover, struct look *look)
{
	*look = (struct look){0};
	for (size_t i = 0; i < cover->count; i++) {
		struct cover_thread *thread = &cover->threads[i];
		int err;

		if (thread->status != COVER_UNKNOWN || !thread->alive)
			continue;
		switch (pm_cover_judge(cover, thread->tid)) {
		case VERDICT_NONE:
			thread->whole = false;
			err = open_thread(cover, thread);
			if (err < 0)
				return err;
			look->opened++;
			break;
		case VERDICT_FULL:
			thread->whole = true;
			thread->status = COVER_INHERITED;
			if (cover->swaps && pm_cover_anchor(thread) == -EUNATCH)
				return -EUNATCH;
			break;
		case VERDICT_PARTIAL:
			/* Half a second marker is enough, and the first may be gone. */
			if (thread->whole)
				thread->status = COVER_INHERITED;
			else
				look->partial++;
			break;
		case VERDICT_ENDED:
			thread->alive = false;
			look->ended++;
			break;
		case VERDICT_FOREIGN:
			thread->status = COVER_FOREIGN;
			break;
		case VERDICT_BLIND:
			return -EUNATCH;
		}
	}
	return 0;
}

static int part(struct cover *cover)
{
	int parted = pm_cover_part(cover);

	/* If it comes from nobody here, it is somebody else's. */
	for (size_t i = 0; !parted && i < cover->count; i++) {
		if (cover->threads[i].status == COVER_UNKNOWN)
			cover->threads[i].status = COVER_FOREIGN;
	}
	return parted < 0 ? parted : 0;
}

/*
 * Each look follows a settling. Threads that were created before the events were open on
 * their creators have been listed then, at the latest, so that a look that finds all new
 * threads to have inherited leaves none out: who comes later comes from one that has all
 * events. Two such looks, because one listing may pass over a thread; deaths apart, see
 * QUIET_LOOKS.
 */
static int try_witnessed(struct cover *cover, struct pm_cover_result *result)
{
	unsigned int looks, clean = 0, quiet = 0;
	bool settled = false;
	int err;

	err = open_first(cover);
	for (looks = 0; !err && clean < 2 && quiet < QUIET_LOOKS && looks < LOOKS;
	     looks++) {
		struct look look;

		settled = pm_cover_settle(cover);
		err = pm_cover_scan(cover);
		if (err >= 0)
			err = judge_all(cover, &look);
		if (err)
			break;
		if (settled && !look.opened && look.partial)
			err = part(cover);
		if (cover->swaps)
			doubt(result, look.opened, exchanged);
		if (look.opened || look.partial) {
			clean = quiet = 0;
			continue;
		}
		quiet++;
		clean += !look.ended;
	}
	if (err)
		return err;
	if (!settled)
		doubt(result, 1, unsettled);
	doubt(result, count_status(cover, COVER_FOREIGN), foreign);
	doubt(result, count_status(cover, COVER_UNKNOWN), busy);
	if (looks == LOOKS)
		doubt(result, !result->uncertain, busy);
	/*
	 * Nobody is in want of the markers any more: all that is created from here on has
	 * a creator with all events. Their going shows whose the slots were.
	 */
	for (size_t i = 0; i < cover->count; i++)
		pm_cover_unmark_second(&cover->threads[i]);
	doubt(result, pm_cover_misjudged(cover), foreign);
	for (size_t i = 0; i < cover->count; i++)
		pm_cover_unmark(&cover->threads[i]);
	return 0;
}

/* --- the whole -----------------------------------------------------------------------
 */

static int cover_all(struct cover *cover, struct pm_cover_result *result)
{
	int tries, err = try_calm(cover, result);

	if (err <= 0)
		return err;
	cover->witnessed = true;
	for (tries = 0; tries < (cover->swaps ? TRIES : 1); tries++) {
		close_all(cover);
		*result = (struct pm_cover_result){0};
		err = try_witnessed(cover, result);
		if (err != -EUNATCH && (err || !result->uncertain))
			return err;
		if (err)
			break;
	}
	if (!err)
		return 0;
	cover->witnessed = false;
	for (tries = 0; tries < TRIES; tries++) {
		close_all(cover);
		*result = (struct pm_cover_result){0};
		err = try_calm(cover, result);
		if (err <= 0)
			return err;
	}
	return 0;
}

int pm_cover_process(const struct pm_cover_request *request,
		     struct pm_cover_result *result, struct pm_diag *diag)
{
	struct cover cover = {
		.request = request, .diag = diag, .patience_ms = PATIENCE_MS};
	struct pm_cover_result found = {0};
	int err = pm_cover_find(&cover);

	if (!err)
		err = cover_all(&cover, &found);
	if (err) {
		close_all(&cover);
	} else {
		doubt(&found, cover.orphans, orphaned);
		found.direct = count_status(&cover, COVER_DIRECT);
		found.inherited = count_status(&cover, COVER_INHERITED);
		found.refused = count_status(&cover, COVER_REFUSED);
		found.scans = cover.scans;
		/* Of threads that ended meanwhile. */
		pm_diag_clear(diag);
		*result = found;
	}
	pm_cover_free(&cover);
	return err;
}
