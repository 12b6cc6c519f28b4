/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rank 0 of libperfmon-mpi, without MPI: what the others send, and when there is no memory
 * for it. Compiles the source itself. Row: DC-02 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmon/region.h"
#include "profile_builder.h"

#define RANKS 3

/* Memory of more than a quarter of a profile is not to be had while this is set. */
static size_t malloc_most;

static void *scarce_malloc(size_t size)
{
	return malloc_most && size > malloc_most ? NULL : malloc(size);
}

#define malloc(size) scarce_malloc(size)
#include "../src/mpi/finalize.c"
#undef malloc

/* What each rank has yet to get rid of. */
static struct {
	const unsigned char *bytes;
	uint64_t size, at;
	bool announced;
} sent[RANKS];
static int told = 1, telling;
static bool finalized;

int PMPI_Finalize(void)
{
	finalized = true;
	return 0;
}

int PMPI_Finalized(int *over)
{
	*over = finalized;
	return 0;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
	*copy = comm + 1;
	return 0;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
	*comm = 0;
	return 0;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	(void)comm;
	*rank = 0;
	return 0;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	(void)comm;
	*size = RANKS;
	return 0;
}

int PMPI_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
	       MPI_Comm comm)
{
	(void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
	cr_assert_fail("rank 0 sends nothing");
	return 0;
}

int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag,
	      MPI_Comm comm, void *status)
{
	(void)tag, (void)comm, (void)status;
	cr_assert(from > 0 && from < RANKS);
	if (!sent[from].announced) {
		cr_assert(count == 1 && type == MPI_UINT64_T);
		memcpy(buffer, &sent[from].size, sizeof(sent[from].size));
		sent[from].announced = true;
		return 0;
	}
	cr_assert(type == MPI_BYTE && count > 0);
	cr_assert_leq((uint64_t)count, sent[from].size - sent[from].at);
	memcpy(buffer, sent[from].bytes + sent[from].at, (size_t)count);
	sent[from].at += (uint64_t)count;
	return 0;
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	(void)count, (void)type, (void)root, (void)comm;
	memcpy(&told, buffer, sizeof(told));
	telling++;
	return 0;
}

/* Of some 3 MB, more than a message. */
static void make(struct profile_builder *b, int rank)
{
	struct perfmon_profile_thread *thread;
	uint32_t region;

	builder_begin(b, 4 << 20);
	builder_header(b)->rank = rank;
	builder_header(b)->ranks = RANKS;
	region = builder_region(b, "theirs");
	thread = builder_tree(b, 1, 1, 0, 10000);
	builder_visit(builder_node(b, thread, 1, region), 1000);
	sent[rank].bytes = b->base;
	sent[rank].size = builder_used(b);
	cr_assert_gt(sent[rank].size, 2u << 20);
}

static int (*call_finalize)(void) = MPI_Finalize;

static void finalize(const char *output)
{
	struct profile_builder b[RANKS];

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", output, 1);
	PERFMON_REGION_BEGIN("own");
	PERFMON_REGION_END("own");
	for (int rank = 1; rank < RANKS; rank++)
		make(&b[rank], rank);
	cr_assert_eq(call_finalize(), 0);
	cr_assert(finalized);
	for (int rank = 1; rank < RANKS; rank++) {
		cr_assert(sent[rank].announced);
		cr_assert_eq(sent[rank].at, sent[rank].size, "rank %d waits for ever",
			     rank);
		builder_end(&b[rank]);
	}
}

/* The report of all, which says that it is of so many PROCESSES. */
static void reported(const char *processes)
{
	char path[] = "/tmp/perfmon-test.XXXXXX", got[16384] = "";
	int fd = mkstemp(path);
	FILE *file;

	cr_assert(fd >= 0);
	close(fd);
	finalize(path);
	cr_assert_eq(told, 0);
	file = fopen(path, "re");
	cr_assert(file && fread(got, 1, sizeof(got) - 1, file) > 0);
	fclose(file);
	unlink(path);
	cr_assert(strstr(got, processes) && strstr(got, "\ntheirs "), "%s", got);
}

Test(mpi, profiles_are_taken_in_parts)
{
	reported("3 processes on ");
}

static int from_fortran(void)
{
	MPI_Fint ierror = 1;

	mpi_finalize_(&ierror);
	return ierror;
}

/* However a compiler spells it, and once. */
Test(mpi, fortran_finalizes_as_c_does)
{
	static void (*const spelled[])(MPI_Fint *) = {
		mpi_finalize,	    mpi_finalize_,    mpi_finalize__,
		MPI_FINALIZE,	    mpi_finalize_f08, mpi_finalize_f08_,
		mpi_finalize_f08__, MPI_FINALIZE_F08};

	call_finalize = from_fortran;
	reported("3 processes on ");
	finalized = false;
	for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++)
		spelled[i](NULL);
	cr_assert_eq(MPI_Finalize(), 0);
	cr_assert_eq(telling, 1);
}

/* Rank 0 would not report by itself: it has no part, and still takes what others send. */
Test(mpi, a_rank_that_wants_no_report_has_no_part)
{
	setenv("PERFMON_ARM", "0", 1);
	reported("2 ranks of 3 on ");
}

/* Nobody is left waiting, and each rank is told to report itself. */
Test(mpi, what_has_no_room_is_taken_all_the_same)
{
	malloc_most = 1000000;
	finalize("none");
	cr_assert_eq(told, -ENOMEM);
}
