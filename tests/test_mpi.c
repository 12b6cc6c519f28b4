/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One rank of libperfmon-mpi, without MPI: what the others send and are told, when there is no memory for
 * it, and when some of them have died. Compiles the source itself. Row: DC-02, HM-05 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfmon/region.h"
#include "profile_builder.h"

#define RANKS_MOST 8

/* Memory of more than a quarter of a profile is not to be had while this is set. */
static size_t malloc_most;

static void *scarce_malloc(size_t size)
{
	return malloc_most && size > malloc_most ? NULL : malloc(size);
}

#define malloc(size) scarce_malloc(size)
#include "../src/mpi/finalize.c"
#undef malloc
#include "../src/mpi/init.c"

/* --- the other ranks ------------------------------------------------------------------ */

static int own_number, rank_count = 3;

static struct {
	const unsigned char *bytes; /* of its profile */
	uint64_t size, at;
	bool died, announced;
	struct answer answers[8]; /* that it got */
	int answer_count;
} other[RANKS_MOST];

/* What this rank is told, and what it handed over. */
static struct answer answers[8];
static int answer_count, answers_read;
static struct {
	int parent, times; /* of announcing */
	uint64_t size, used;
	unsigned char *bytes;
} handed = {.parent = -1};

static void tell(int what, int from)
{
	answers[answer_count++] = (struct answer){what, from};
}

/* --- MPI ------------------------------------------------------------------------------ */

static bool finalized, never_together, tests_fail;
static int dups, idups;

/* Receives that are not complete, by number. */
static struct receive {
	void *buffer;
	int count, from, tag;
	bool cancelled;
} receives[1024];
static int receive_count = 1;

int PMPI_Init(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return 0;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void)argc, (void)argv;
	*provided = required;
	return 0;
}

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
	dups++;
	*copy = comm + 1;
	return 0;
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
	idups++;
	*copy = comm + 1;
	*request = never_together ? -1 : 0;
	return 0;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
	cr_assert(comm == MPI_COMM_WORLD + 1 && handler == MPI_ERRORS_RETURN);
	return 0;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	(void)comm;
	*rank = own_number;
	return 0;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	(void)comm;
	*size = rank_count;
	return 0;
}

static void take_answer(const struct answer *answer, int to)
{
	cr_assert_eq(answer->from, own_number);
	other[to].answers[other[to].answer_count++] = *answer;
	if (answer->what == ADOPTED)
		other[to].announced = false;
}

/* The parent accepts whatever it is told of, and reports what it has got. */
static void take_handed(const void *buffer, size_t count, int to, int tag)
{
	if (tag == ANNOUNCE) {
		cr_assert_eq(count, sizeof(handed.size));
		memcpy(&handed.size, buffer, sizeof(handed.size));
		free(handed.bytes);
		handed.bytes = malloc(handed.size + 1);
		handed.used = 0;
		handed.parent = to;
		handed.times++;
		if (!other[to].died)
			tell(ACCEPTED, to);
		return;
	}
	cr_assert_eq(to, handed.parent);
	cr_assert_leq(count, handed.size - handed.used);
	memcpy(handed.bytes + handed.used, buffer, count);
	handed.used += count;
	if (handed.used == handed.size)
		tell(0, to);
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
	       MPI_Comm comm, MPI_Request *request)
{
	cr_assert(type == MPI_BYTE && count > 0 && comm == MPI_COMM_WORLD + 1);
	cr_assert(to >= 0 && to < rank_count && to != own_number);
	if (tag == ANSWER)
		take_answer(buffer, to);
	else
		take_handed(buffer, (size_t)count, to, tag);
	*request = 0;
	return 0;
}

int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
	       MPI_Comm comm, MPI_Request *request)
{
	cr_assert(type == MPI_BYTE && count > 0 && comm == MPI_COMM_WORLD + 1);
	receives[receive_count] = (struct receive){buffer, count, from, tag, false};
	*request = receive_count++;
	return 0;
}

static bool received(const struct receive *r)
{
	if (r->tag == ANSWER) {
		if (answers_read == answer_count)
			return false;
		cr_assert_eq(r->count, (int)sizeof(answers[0]));
		memcpy(r->buffer, &answers[answers_read++], sizeof(answers[0]));
		return true;
	}
	if (other[r->from].died || (r->tag == ANNOUNCE && other[r->from].announced))
		return false;
	if (r->tag == ANNOUNCE) {
		cr_assert_eq(r->count, (int)sizeof(other[0].size));
		memcpy(r->buffer, &other[r->from].size, sizeof(other[0].size));
		return other[r->from].announced = true;
	}
	cr_assert_eq(other[r->from].answers[other[r->from].answer_count - 1].what,
		     ACCEPTED);
	cr_assert_leq((uint64_t)r->count, other[r->from].size - other[r->from].at);
	memcpy(r->buffer, other[r->from].bytes + other[r->from].at, (size_t)r->count);
	other[r->from].at += (uint64_t)r->count;
	return true;
}

int PMPI_Test(MPI_Request *request, int *done, void *status)
{
	(void)status;
	if (tests_fail)
		return 1;
	*done = !*request || (*request > 0 && received(&receives[*request]));
	if (*done)
		*request = 0;
	return 0;
}

int PMPI_Cancel(MPI_Request *request)
{
	cr_assert_gt(*request, 0, "only receives can be taken back");
	receives[*request].cancelled = true;
	return 0;
}

int PMPI_Request_free(MPI_Request *request)
{
	cr_assert(!*request || receives[*request].cancelled);
	*request = 0;
	return 0;
}

/* --- the rank that is tested ---------------------------------------------------------- */

/* Of some 3 MB, more than a message. */
static void make(struct profile_builder *b, int rank)
{
	struct perfmon_profile_thread *thread;
	uint32_t region;

	builder_begin(b, 4 << 20);
	builder_header(b)->rank = rank;
	builder_header(b)->ranks = rank_count;
	region = builder_region(b, "theirs");
	thread = builder_tree(b, 1, 1, 0, 10000);
	builder_visit(builder_node(b, thread, 1, region), 1000);
	other[rank].bytes = b->base;
	other[rank].size = builder_used(b);
	cr_assert_gt(other[rank].size, 2u << 20);
}

static int (*call_finalize)(void) = MPI_Finalize;

static void finalize(const char *output)
{
	struct profile_builder b[RANKS_MOST];

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", output, 1);
	PERFMON_REGION_BEGIN("own");
	PERFMON_REGION_END("own");
	for (int rank = 0; rank < rank_count; rank++)
		make(&b[rank], rank);
	cr_assert_eq(call_finalize(), 0);
	cr_assert(finalized);
	for (int rank = 0; rank < rank_count; rank++)
		builder_end(&b[rank]);
}

/* RANK has been told WHAT at last, and is waited for by nobody. */
static void was_told(int rank, int what)
{
	cr_assert_gt(other[rank].answer_count, 0, "rank %d waits in vain", rank);
	cr_assert_eq(other[rank].answers[other[rank].answer_count - 1].what, what);
	cr_assert_eq(other[rank].at, what ? 0 : other[rank].size);
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
	file = fopen(path, "re");
	cr_assert(file && fread(got, 1, sizeof(got) - 1, file) > 0);
	fclose(file);
	unlink(path);
	cr_assert(strstr(got, processes) && strstr(got, "\ntheirs "), "%s", got);
	cr_assert_eq(perfmon_report_wanted(), 0);
}

Test(mpi, profiles_are_taken_in_parts)
{
	reported("3 processes on ");
	was_told(1, 0);
	was_told(2, 0);
	cr_assert_eq(idups, 1);
}

/* The communicator is made when all ranks are sure to be there. */
Test(mpi, begins_with_mpi)
{
	int provided;

	cr_assert_eq(MPI_Init(NULL, NULL), 0);
	cr_assert_eq(MPI_Init_thread(NULL, NULL, 0, &provided), 0);
	reported("3 processes on ");
	cr_assert(dups == 1 && !idups);
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
	cr_assert_eq(other[1].answer_count, 2);
}

/* Rank 0 would not report by itself: it has no part, and still takes what others send. */
Test(mpi, a_rank_that_wants_no_report_has_no_part)
{
	setenv("PERFMON_ARM", "0", 1);
	reported("2 ranks of 3 on ");
}

/* Nobody is left waiting, and those that are not in the report are told to report themselves. */
Test(mpi, what_has_no_room_is_left_out)
{
	malloc_most = 1000000;
	finalize("none");
	was_told(1, -ENOMEM);
	was_told(2, -ENOMEM);
}

/* RANK of RANKS hands its bytes to PARENT; their report says that it is of PROCESSES. */
static void hands_over(int rank, int ranks, int parent, const char *processes)
{
	char path[] = "/tmp/perfmon-test.XXXXXX", got[16384] = "";
	struct perfmon_merge *merge;
	FILE *file;

	own_number = rank;
	rank_count = ranks;
	close(mkstemp(path));
	finalize(path);
	cr_assert_eq(handed.parent, parent);
	cr_assert(handed.used && handed.used == handed.size);
	cr_assert_eq(perfmon_report_wanted(), 0);
	cr_assert_eq(perfmon_merge_create(&merge, NULL, 0), 0);
	cr_assert_eq(perfmon_merge_add(merge, handed.bytes, handed.size), 0);
	cr_assert_eq(perfmon_merge_print(merge), 0);
	perfmon_merge_free(merge);
	file = fopen(path, "re");
	cr_assert(file && fread(got, 1, sizeof(got) - 1, file) > 0);
	fclose(file);
	unlink(path);
	cr_assert(strstr(got, processes), "%s", got);
}

Test(mpi, a_rank_hands_over_the_sum_of_its_children)
{
	hands_over(4, 8, 0, "3 processes on ");
	for (int rank = 0; rank < 8; rank++)
		cr_assert_eq(other[rank].answer_count, rank == 5 || rank == 6 ? 2 : 0);
}

/* An MPI that knows of dead ranks ends the waits for them. */
Test(mpi, an_error_of_mpi)
{
	own_number = 4;
	rank_count = 8;
	tests_fail = true;
	finalize("stderr");
	cr_assert_eq(perfmon_report_wanted(), 1);
}

Test(mpi, a_rank_without_children_hands_over_its_profile)
{
	hands_over(3, 4, 2, "1 process");
}

/* --- ranks that died ------------------------------------------------------------------ */

static int said_fd;

/* What is said on stderr from here on goes to said_fd. */
static void keep_stderr(void)
{
	said_fd = memfd_create("stderr", MFD_CLOEXEC);
	cr_assert_geq(said_fd, 0);
	cr_assert_eq(dup2(said_fd, STDERR_FILENO), STDERR_FILENO);
}

/* The others are in the report: the children of the one that died are taken in its place. */
Test(mpi, a_rank_that_died)
{
	rank_count = 8;
	other[4].died = true;
	wait_ns = SECOND / 100;
	keep_stderr();
	reported("5 processes on ");
	was_told(4, -ETIMEDOUT);
	for (int rank = 5; rank < 7; rank++) {
		cr_assert_eq(other[rank].answers[0].what, ADOPTED);
		was_told(rank, 0);
	}
	cr_assert_eq(other[7].answer_count, 0);
}

/* The parent has died: whoever adopts gets the bytes. */
Test(mpi, a_rank_is_adopted)
{
	other[4].died = true;
	tell(ADOPTED, 0);
	hands_over(5, 8, 0, "1 process");
	cr_assert_eq(handed.times, 2);
}

/* The parent had died before this rank, which has children of its own, came. */
Test(mpi, a_late_rank_is_adopted)
{
	other[4].died = true;
	tell(ADOPTED, 0);
	hands_over(6, 8, 0, "2 processes");
	cr_assert_eq(handed.times, 1);
	was_told(7, 0);
}

/* Nobody adopts: the rank reports itself. */
Test(mpi, all_above_died)
{
	own_number = 1;
	other[0].died = true;
	wait_ns = SECOND / 100;
	finalize("stderr");
	cr_assert_eq(handed.times, 1);
	cr_assert_eq(perfmon_report_wanted(), 1);
}

/* It came too late: the children are not waited for, which were adopted. */
Test(mpi, a_rank_that_was_given_up)
{
	own_number = 4;
	rank_count = 8;
	tell(-ETIMEDOUT, 0);
	finalize("stderr");
	cr_assert_eq(handed.times, 0);
	cr_assert(!other[5].announced && !other[6].announced);
	cr_assert_eq(perfmon_report_wanted(), 1);
}

Test(mpi, ranks_that_do_not_come_together)
{
	char said[512] = "";

	never_together = true;
	setenv("PERFMON_MPI_WAIT", "1", 1);
	keep_stderr();
	finalize("stderr");
	cr_assert_eq(perfmon_report_wanted(), 1);
	setenv("PERFMON_MPI_WAIT", "1 min", 1);
	wait_read();
	fflush(stderr);
	cr_assert_gt(pread(said_fd, said, sizeof(said) - 1, 0), 0);
	cr_assert(strstr(said, "within 1 s (PERFMON_MPI_WAIT): each rank reports itself"),
		  "%s", said);
	cr_assert(strstr(said, "PERFMON_MPI_WAIT=\"1 min\": expects seconds"), "%s",
		  said);
}
