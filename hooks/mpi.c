/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-mpi-regions: calls of MPI in which a program waits for other ranks are regions, and all
 * ranks have one report, without a change to the program. src/mpi/finalize.c, which is compiled here
 * too, makes the report.
 *
 * One library serves every MPI. All arguments of these calls are integers, pointers and handles, which
 * are integers in one MPI and pointers in the other. Each is a word of the calling convention, and is
 * passed on as a word. So no MPI is needed where this is compiled.
 *
 * In C a call comes here as MPI_X. The Fortran code of an MPI calls MPI_X, or PMPI_X, or neither, so
 * its names are here, too, and the call inside of such a call is no region of its own.
 */
#include <perfmon/quantity.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/common/original.h"
#include "hooks/mpi/calls.h"
#include "hooks/mpi/libraries.h"

/* What one argument of a call takes. */
typedef intptr_t word;

#define WORDS_1	 word a
#define WORDS_2	 WORDS_1, word b
#define WORDS_3	 WORDS_2, word c
#define WORDS_4	 WORDS_3, word d
#define WORDS_5	 WORDS_4, word e
#define WORDS_6	 WORDS_5, word f
#define WORDS_7	 WORDS_6, word g
#define WORDS_8	 WORDS_7, word h
#define WORDS_9	 WORDS_8, word i
#define WORDS_10 WORDS_9, word j
#define WORDS_11 WORDS_10, word k
#define WORDS_12 WORDS_11, word l
#define WORDS_13 WORDS_12, word m

#define PASS_1	a
#define PASS_2	PASS_1, b
#define PASS_3	PASS_2, c
#define PASS_4	PASS_3, d
#define PASS_5	PASS_4, e
#define PASS_6	PASS_5, f
#define PASS_7	PASS_6, g
#define PASS_8	PASS_7, h
#define PASS_9	PASS_8, i
#define PASS_10 PASS_9, j
#define PASS_11 PASS_10, k
#define PASS_12 PASS_11, l
#define PASS_13 PASS_12, m

#define AND_ONE_1  2
#define AND_ONE_2  3
#define AND_ONE_3  4
#define AND_ONE_4  5
#define AND_ONE_5  6
#define AND_ONE_6  7
#define AND_ONE_7  8
#define AND_ONE_8  9
#define AND_ONE_9  10
#define AND_ONE_12 13

/* The thread is in a call of MPI. What MPI calls there is no region. */
static __thread bool inside;

static struct perfmon_region *enter(struct perfmon_region *region)
{
	if (inside)
		return NULL;
	inside = true;
	perfmon_region_begin(region);
	return region;
}

/* Also when an error handler of the program throws an exception. */
static void leave(struct perfmon_region **region)
{
	if (!*region)
		return;
	perfmon_region_end(*region);
	inside = false;
}

/* --- bytes ---------------------------------------------------------------------------- */

static struct perfmon_quantity bytes = PERFMON_QUANTITY_INIT("bytes", "B");

/* Says what the rank gives: COUNT elements of TYPE, a handle. */
static void say(const struct perfmon_region *visit, word count, word type)
{
	static void *kept;
	int size = 0, (*type_size)(word, int *);

	if (!visit || count <= 0 ||
	    !__atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED))
		return;
	type_size = (int (*)(word, int *))original_once(
		&kept, __builtin_return_address(0), "PMPI_Type_size", mpi_libraries);
	if (!type_size(type, &size) && size > 0)
		perfmon_region_add(&bytes, (uint64_t)count * (unsigned int)size);
}

/* The same with the arguments of Fortran, which are addresses. */
static void say_fortran(const struct perfmon_region *visit, word count, word type)
{
	static void *kept;
	int size = 0, err = 0, elements;
	void (*type_size)(const int *, int *, int *);

	if (!visit || !count || !type ||
	    !__atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED))
		return;
	elements = *(const int *)count;
	type_size = (void (*)(const int *, int *, int *))original_once(
		&kept, __builtin_return_address(0), "mpi_type_size_", mpi_libraries);
	type_size((const int *)type, &size, &err);
	if (!err && elements > 0 && size > 0)
		perfmon_region_add(&bytes,
				   (uint64_t)(unsigned int)elements * (unsigned int)size);
}

/* A count of int has another word's rest in its upper half. */
#define SAY_C(visit, count, type)	say(visit, (int)(count), type)
#define SAY_LARGE(visit, count, type)	say(visit, count, type)
#define SAY_FORTRAN(visit, count, type) say_fortran(visit, count, type)

#define DEFINE_(name, region, count, SAY, given, type)                                   \
	HOOK word name(WORDS_##count);                                                   \
	word name(WORDS_##count)                                                         \
	{                                                                                \
		static void *kept;                                                       \
		word (*original)(WORDS_##count) = (word(*)(WORDS_##count))original_once( \
			&kept, __builtin_return_address(0), #name, mpi_libraries);       \
		__attribute__((cleanup(leave), unused)) struct perfmon_region *visit =   \
			enter(&(region));                                                \
                                                                                         \
		SAY(visit, given, type);                                                 \
		return original(PASS_##count);                                           \
	}
#define DEFINE(name, region, count, SAY, given, type)                                    \
	DEFINE_(name, region, count, SAY, given, type)

/* A count of MPI_Count, and the offset in a file, are words of 64 bits alone. */
#if UINTPTR_MAX > 0xffffffff
#define DEFINE_LARGE DEFINE
#else
#define DEFINE_LARGE(name, region, count, SAY, given, type)
#undef MPI_FILES
#define MPI_FILES(CALL)
#endif

/* In C with counts of int and of MPI_Count; in Fortran by mpif.h and the module mpi, and by the module
 * mpi_f08 of Open MPI and of MPICH. */
#define CALL(c, fortran, count, given, type)                                             \
	static struct perfmon_region region_##c = PERFMON_REGION_INIT("MPI_" #c);        \
	DEFINE(MPI_##c, region_##c, count, SAY_C, given, type)                           \
	DEFINE_LARGE(MPI_##c##_c, region_##c, count, SAY_LARGE, given, type)             \
	DEFINE(mpi_##fortran##_, region_##c, AND_ONE_##count, SAY_FORTRAN, given, type)  \
	DEFINE(mpi_##fortran##_f08_, region_##c, AND_ONE_##count, SAY_FORTRAN, given,    \
	       type)                                                                     \
	DEFINE(mpi_##fortran##_f08ts_, region_##c, AND_ONE_##count, SAY_FORTRAN, given,  \
	       type)
MPI_CALLS(CALL)

/* --- MPI_Pcontrol -------------------------------------------------------------------- */

HOOK int MPI_Pcontrol(const int level, ...);
HOOK void mpi_pcontrol_(const int *level);
HOOK void mpi_pcontrol_f08_(const int *level);

static bool is_off(void)
{
	const char *arm = getenv("PERFMON_ARM");

	return arm && !strcmp(arm, "0");
}

/* 0 switches regions off and 1 on, as MPI has it. Other levels have no meaning here. PERFMON_ARM=0
 * counts as a 0 at the beginning. */
static void control(int level)
{
	static int state; /* 0 before the first call, then 1: on, 2: off */
	int begin = 0, before;

	__atomic_compare_exchange_n(&state, &begin, is_off() ? 2 : 1, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (level == 0) {
		before = __atomic_exchange_n(&state, 2, __ATOMIC_RELAXED);
		if (before != 2)
			perfmon_region_disarm();
	} else if (level == 1) {
		before = __atomic_exchange_n(&state, 1, __ATOMIC_RELAXED);
		if (before != 1)
			perfmon_region_arm();
	}
}

int MPI_Pcontrol(const int level, ...)
{
	control(level);
	return 0;
}

void mpi_pcontrol_(const int *level)
{
	control(*level);
}

void mpi_pcontrol_f08_(const int *level)
{
	control(*level);
}
