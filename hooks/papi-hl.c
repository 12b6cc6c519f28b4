/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-papi-hl: PAPI's high-level calls are regions. A program that is marked by them is linked
 * with this library before PAPI's, or started with it, and needs no change. The other calls of PAPI
 * stay PAPI's.
 */
#include <perfmon/region.h>
#include <stdbool.h>
#include <stdio.h>

#include "hooks/common/fortran.h"
#include "hooks/common/original.h"

/* PAPI's numbers for them. */
#define PAPI_OK	    0
#define PAPI_EINVAL (-1)

HOOK int PAPI_hl_region_begin(const char *region);
HOOK int PAPI_hl_read(const char *region);
HOOK int PAPI_hl_region_end(const char *region);
HOOK int PAPI_hl_stop(void);

int PAPI_hl_region_begin(const char *region)
{
	if (!region)
		return PAPI_EINVAL;
	perfmon_region_begin_name(region);
	return PAPI_OK;
}

int PAPI_hl_region_end(const char *region)
{
	if (!region)
		return PAPI_EINVAL;
	perfmon_region_end_name(region);
	return PAPI_OK;
}

/* A report has no values of moments inside of a visit. */
int PAPI_hl_read(const char *region)
{
	static bool said;

	if (!region)
		return PAPI_EINVAL;
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fputs("perfmon: PAPI_hl_read() does nothing: the report has whole "
		      "visits\n",
		      stderr);
	return PAPI_OK;
}

/* The report is written at the program's end. */
int PAPI_hl_stop(void)
{
	return PAPI_OK;
}

/* --- Fortran ------------------------------------------------------------------------- */

static void begin_fortran(const char *region, int *check, int length)
{
	char name[FORTRAN_NAME_SIZE];

	*check = PAPI_hl_region_begin(fortran_name(name, region, length));
}

static void read_fortran(const char *region, int *check, int length)
{
	char name[FORTRAN_NAME_SIZE];

	*check = PAPI_hl_read(fortran_name(name, region, length));
}

static void end_fortran(const char *region, int *check, int length)
{
	char name[FORTRAN_NAME_SIZE];

	*check = PAPI_hl_region_end(fortran_name(name, region, length));
}

static void stop_fortran(int *check)
{
	*check = PAPI_hl_stop();
}

/* As compilers write the names. */
#define NAMED(name, function, parameters)                                                \
	HOOK void name parameters __attribute__((alias(#function)))
#define OF_REGION(function, lower, upper)                                                \
	NAMED(lower, function, (const char *region, int *check, int length));            \
	NAMED(lower##_, function, (const char *region, int *check, int length));         \
	NAMED(lower##__, function, (const char *region, int *check, int length));        \
	NAMED(upper, function, (const char *region, int *check, int length))
OF_REGION(begin_fortran, papif_hl_region_begin, PAPIF_HL_REGION_BEGIN);
OF_REGION(read_fortran, papif_hl_read, PAPIF_HL_READ);
OF_REGION(end_fortran, papif_hl_region_end, PAPIF_HL_REGION_END);
NAMED(papif_hl_stop, stop_fortran, (int *check));
NAMED(papif_hl_stop_, stop_fortran, (int *check));
NAMED(papif_hl_stop__, stop_fortran, (int *check));
NAMED(PAPIF_HL_STOP, stop_fortran, (int *check));
