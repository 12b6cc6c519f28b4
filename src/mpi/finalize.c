/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-mpi: one report of all ranks, made in MPI_Finalize(). This library's
 * MPI_Finalize() comes before MPI's, in C and Fortran (MPI's profiling interface: PMPI_
 * names are MPI's own). Link a program with it before MPI, or start it with the library
 * in LD_PRELOAD.
 *
 * The ranks are a binomial tree. A rank adds its own profile and the sums of its children, one after
 * the other, and hands the sum to its parent; rank 0 prints. The children of rank R are R + 1, R + 2,
 * R + 4 and so on, up to the lowest bit that is set in R. So a child's sum is of consecutive ranks,
 * which come behind those that its parent has. The messages between a parent and a child are
 *
 *   child  ANNOUNCE  how many bytes it has
 *   parent ANSWER    ACCEPTED, or an errno: the child is too late, or there is no memory
 *   child  BYTES     in parts
 *   parent ANSWER    0 when the report has been written; any errno: the child reports itself, and
 *                    tells its own children so
 *
 * No wait is for ever: a rank may have died. Its parent then tells the children of that rank that they
 * are ADOPTED, and they announce themselves again. The report has nothing that a rank does after
 * MPI_Finalize().
 */
#include <errno.h>
#include <mpi.h>
#include <perfmon/merge.h>
#include <perfmon/profile_layout.h>
#include <perfmon/report.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "begun.h"

#define ANNOUNCE 1
#define BYTES	 2
#define ANSWER	 3
#define PART	 ((size_t)1 << 20) /* of a message: MPI counts in int */

#define ACCEPTED 1 /* no errno is positive */
#define ADOPTED	 2

#define SECOND	INT64_C(1000000000)
#define LEVELS	31 /* ranks are numbered by int */
#define ANSWERS 1024

/* A rank is told this by rank `from`. */
struct answer {
	int what, from;
};

struct pm_mpi_begun pm_mpi_begun;

/* A rank that comes to MPI_Finalize() so much later than its parent in the tree is not waited for. */
static int64_t wait_ns = 300 * SECOND;

struct tree {
	MPI_Comm comm;
	int rank, ranks;
	int parent;	 /* this rank's, or who has adopted it */
	int levels;	 /* of this rank's children */
	int64_t came_ns; /* this rank, to MPI_Finalize() */
	int64_t slack_ns; /* a second for each level of the whole tree, to tell about a dead rank */
	struct perfmon_merge *merge;
	int error;     /* why this rank and those below it are in no report */
	int own_error; /* why this rank is not */
	int taken_count;
	int taken[ANSWERS / 2]; /* ranks whose sums are in this one */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

/*
 * Waits for REQUEST. Sleeps in between: ranks may be more than CPUs, and MPI's own waits spin. Returns 1
 * if it is complete, 0 if it is not by UNTIL_NS, or -1 after an error of MPI, which has ended it.
 */
static int finished(MPI_Request *request, int64_t until_ns)
{
	struct timespec pause = {0, 10000};
	int done = 0;

	for (;;) {
		if (PMPI_Test(request, &done, MPI_STATUS_IGNORE))
			return -1;
		if (done || now_ns() > until_ns)
			return done != 0;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
}

static bool send_to(const struct tree *tree, int rank, int tag, const void *data,
		    size_t size, int64_t until_ns)
{
	MPI_Request request;

	return !PMPI_Isend(data, (int)size, MPI_BYTE, rank, tag, tree->comm, &request) &&
	       finished(&request, until_ns) > 0;
}

static bool receive_from(const struct tree *tree, int rank, int tag, void *data,
			 size_t size, int64_t until_ns)
{
	MPI_Request request;
	int done;

	if (PMPI_Irecv(data, (int)size, MPI_BYTE, rank, tag, tree->comm, &request))
		return false;
	done = finished(&request, until_ns);
	if (!done) {
		PMPI_Cancel(&request);
		PMPI_Request_free(&request);
	}
	return done > 0;
}

/* Tells the rank TO. It may have died, so that nothing is waited for. */
static void answer(const struct tree *tree, int to, int what)
{
	/* MPI may send them when this function has returned. */
	static struct answer sent[ANSWERS];
	static unsigned int used;
	struct answer *at = &sent[used++ % ANSWERS];
	MPI_Request request;

	*at = (struct answer){what, tree->rank};
	if (!PMPI_Isend(at, sizeof(*at), MPI_BYTE, to, ANSWER, tree->comm, &request))
		PMPI_Request_free(&request);
}

static bool answer_get(const struct tree *tree, struct answer *got, int64_t until_ns)
{
	return receive_from(tree, MPI_ANY_SOURCE, ANSWER, got, sizeof(*got), until_ns);
}

/* Receives SIZE bytes of the child RANK. Returns 0 or a negative errno. */
static int add_bytes(struct tree *tree, int rank, uint64_t size)
{
	unsigned char *bytes = malloc(size);
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	answer(tree, rank, ACCEPTED);
	for (uint64_t at = 0; !err && at < size; at += PART)
		if (!receive_from(tree, rank, BYTES, bytes + at,
				  size - at < PART ? size - at : PART,
				  now_ns() + wait_ns))
			err = -ETIMEDOUT;
	/* A receive that was given up may still have its memory. */
	if (err)
		return err;
	err = perfmon_merge_add(tree->merge, bytes, size);
	free(bytes);
	/* The sum is lost. */
	if (err == -ENOMEM)
		tree->error = err;
	return err;
}

static void child_add(struct tree *tree, int rank, int level, int64_t until_ns);

/* Gives up RANK, of LEVEL, and adopts its children. */
static void child_replace(struct tree *tree, int rank, int level)
{
	fprintf(stderr,
		"perfmon: rank %d did not come to MPI_Finalize() within %lld s "
		"(PERFMON_MPI_WAIT): it is not in the report\n",
		rank, (long long)(wait_ns / SECOND));
	answer(tree, rank, -ETIMEDOUT);
	for (int i = 0; i < level && tree->ranks - rank > 1 << i; i++)
		answer(tree, rank + (1 << i), ADOPTED);
	for (int i = 0; i < level && tree->ranks - rank > 1 << i; i++)
		child_add(tree, rank + (1 << i), i, now_ns() + (i + 1) * SECOND);
}

/* Adds what RANK has, which has children of as many as LEVEL levels. */
static void child_add(struct tree *tree, int rank, int level, int64_t until_ns)
{
	int err = tree->error;
	uint64_t size;

	if (!receive_from(tree, rank, ANNOUNCE, &size, sizeof(size), until_ns)) {
		child_replace(tree, rank, level);
		return;
	}
	if (!err && tree->taken_count == ANSWERS / 2)
		err = -ENOMEM;
	if (!err && size)
		err = add_bytes(tree, rank, size);
	else if (!err)
		answer(tree, rank, ACCEPTED);
	if (err)
		answer(tree, rank, err);
	else
		tree->taken[tree->taken_count++] = rank;
}

/* Hands the SIZE bytes to the parent, and waits for the report. Returns what came of it. */
static int hand_over(const struct tree *tree, const unsigned char *bytes, uint64_t size)
{
	/* The parent may come later by so much, and then waits for another child. */
	int64_t until_ns = tree->came_ns + 2 * wait_ns + tree->slack_ns;
	struct answer got = {ADOPTED, tree->parent};
	int parent = -1;

	do {
		if (got.what == ADOPTED) {
			parent = got.from;
			if (!send_to(tree, parent, ANNOUNCE, &size, sizeof(size),
				     until_ns))
				return -ETIMEDOUT;
		} else if (got.from == parent && got.what != ACCEPTED) {
			return got.what;
		}
		for (uint64_t at = 0;
		     got.from == parent && got.what == ACCEPTED && at < size;
		     at += PART) {
			until_ns = now_ns() + 2 * wait_ns + tree->slack_ns;
			if (!send_to(tree, parent, BYTES, bytes + at,
				     size - at < PART ? size - at : PART, until_ns))
				return -ETIMEDOUT;
		}
	} while (answer_get(tree, &got, until_ns));
	return -ETIMEDOUT;
}

/* Adds the own profile, if there is one, and those of the children. Returns the sum in *BYTES. */
static void gather(struct tree *tree, void **bytes, size_t *size)
{
	/* A rank without a report of its own is not in the merged one. */
	if (!perfmon_report_wanted() || perfmon_merge_pack(bytes, size, 0)) {
		*bytes = NULL;
		*size = 0;
	}
	/* A leaf's parent adds the profile as it is. */
	if (!tree->levels && tree->rank)
		return;
	tree->error = perfmon_merge_create(&tree->merge, NULL, 0);
	if (!tree->error && *bytes)
		tree->own_error = perfmon_merge_add(tree->merge, *bytes, *size);
	/* Another error leaves the sum as it is. */
	if (tree->own_error == -ENOMEM)
		tree->error = -ENOMEM;
	free(*bytes);
	*bytes = NULL;
	*size = 0;
	for (int level = 0; level < tree->levels; level++)
		child_add(tree, tree->rank + (1 << level), level,
			  tree->came_ns + wait_ns + level * SECOND);
	if (tree->rank && !tree->error)
		tree->error = perfmon_merge_pack_sum(tree->merge, bytes, size, 0);
	/* No rank of these wants a report. */
	if (tree->error == -ENOENT)
		tree->error = 0;
}

/* Returns true if this rank is so late that others have given it up. */
static bool given_up(struct tree *tree)
{
	struct answer got;

	if (!tree->rank || !tree->levels ||
	    !answer_get(tree, &got, now_ns() + SECOND / 1000))
		return false;
	if (got.what == ADOPTED)
		tree->parent = got.from;
	return got.what < 0;
}

static void reduce(MPI_Comm comm)
{
	static struct tree tree;
	static void *bytes;
	size_t size = 0;
	int err;

	tree.comm = comm;
	tree.came_ns = now_ns();
	PMPI_Comm_rank(comm, &tree.rank);
	PMPI_Comm_size(comm, &tree.ranks);
	tree.parent = tree.rank & (tree.rank - 1);
	while (tree.levels < LEVELS && !(tree.rank >> tree.levels & 1) &&
	       tree.ranks - tree.rank > 1 << tree.levels)
		tree.levels++;
	for (int ranks = tree.ranks; ranks; ranks >>= 1)
		tree.slack_ns += SECOND;
	if (given_up(&tree))
		return;
	gather(&tree, &bytes, &size);
	err = tree.error;
	if (tree.rank)
		err = hand_over(&tree, bytes, err ? 0 : size);
	else if (!err)
		err = perfmon_merge_print(tree.merge);
	err = tree.error ? tree.error : err;
	for (int i = 0; i < tree.taken_count; i++)
		answer(&tree, tree.taken[i], err);
	/* After a failure each rank writes its own report. */
	if (!err && !tree.own_error)
		perfmon_merge_done();
	perfmon_merge_free(tree.merge);
	/* A send that was given up may still have its memory, which stays. */
	if (err != -ETIMEDOUT) {
		free(bytes);
		bytes = NULL;
	}
}

static void wait_read(void)
{
	const char *text = getenv("PERFMON_MPI_WAIT");
	char *end;
	long seconds;

	if (!text || !text[0])
		return;
	seconds = strtol(text, &end, 10);
	if (!*end && text[0] >= '0' && text[0] <= '9' && seconds >= 1 &&
	    seconds <= 1000000) {
		wait_ns = seconds * SECOND;
		return;
	}
	fputs("perfmon: PERFMON_MPI_WAIT=\"", stderr);
	for (int i = 0; text[i] && i < 100; i++)
		fputc(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', stderr);
	fprintf(stderr, "\": expects seconds, 1 to 1000000; waiting %lld s\n",
		(long long)(wait_ns / SECOND));
}

/* Gets a communicator of this library's own, so that no receive of the program takes a message. */
static bool communicator(MPI_Comm *comm)
{
	MPI_Request request;

	if (pm_mpi_begun.begun) {
		*comm = pm_mpi_begun.comm;
		return true;
	}
	if (!PMPI_Comm_idup(MPI_COMM_WORLD, comm, &request) &&
	    finished(&request, now_ns() + wait_ns) > 0)
		return true;
	fprintf(stderr,
		"perfmon: not all ranks came to MPI_Finalize() within %lld s "
		"(PERFMON_MPI_WAIT): each rank reports itself\n",
		(long long)(wait_ns / SECOND));
	return false;
}

/* MPI_Finalize() was called here, in any language. */
static bool seen;

static void reduce_once(void)
{
	MPI_Comm comm;
	int over = 0;

	PMPI_Finalized(&over);
	over |= seen;
	seen = true;
	if (over)
		return;
	wait_read();
	if (!communicator(&comm))
		return;
	/* A rank that died is an error, and not the end of this one. */
	PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	/* The communicator is never freed, since ranks that died would take part in that. */
	reduce(comm);
}

int MPI_Finalize(void)
{
	reduce_once();
	return PMPI_Finalize();
}

/* Fortran 2008 may leave IERROR out, which is NULL then. */
static void finalize_fortran(MPI_Fint *ierror)
{
	int err;

	reduce_once();
	err = MPI_Finalize();
	if (ierror)
		*ierror = err;
}

/*
 * Fortran's MPI_FINALIZE(): its own code calls PMPI_Finalize() and would not come here.
 * These are the names by mpif.h and the module mpi, and by the module mpi_f08, as
 * compilers write them.
 */
#define FORTRAN(name)                                                                    \
	void name(MPI_Fint *ierror) __attribute__((alias("finalize_fortran")))
FORTRAN(mpi_finalize);
FORTRAN(mpi_finalize_);
FORTRAN(mpi_finalize__);
FORTRAN(MPI_FINALIZE);
FORTRAN(mpi_finalize_f08);
FORTRAN(mpi_finalize_f08_);
FORTRAN(mpi_finalize_f08__);
FORTRAN(MPI_FINALIZE_F08);

/* Returns the rank of this process in its report, or -1 without a launcher. */
static int own_rank(void)
{
	void *profile;
	size_t size;
	int rank = -1;

	if (!perfmon_merge_pack(&profile, &size, 0)) {
		rank = ((const struct perfmon_profile_header *)profile)->rank;
		free(profile);
	}
	return rank;
}

/* Notes that MPI has ended by a call that this library did not see. Runs before the
 * reports. */
__attribute__((destructor)) static void tell_missed(void)
{
	int over = 0;

	PMPI_Finalized(&over);
	if (over && !seen && perfmon_report_wanted() && own_rank() <= 0)
		fputs("perfmon: libperfmon-mpi did not see MPI_Finalize(), so that each "
		      "rank reports itself: link it before MPI, or name it in "
		      "LD_PRELOAD\n",
		      stderr);
}
