/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same with PAPI: reads of one and four counters, stopping and starting four, and
 * pairs of its high-level interface with two. PAPI does not start without a PMU, not even
 * for software events. On x86-64 machines without one, fake_pmu.h provides a PMU whose
 * events are software events, and which PAPI reads by read(2).
 */
#include <ftw.h>
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

/* Events for the low level, tried until enough are accepted. The PMU has no two equal
 * ones. */
static const char *const wanted[] = {
	"PAPI_TOT_INS", "PAPI_TOT_CYC", "L1D_CACHE_REFILL", "L1I_CACHE_REFILL",
	"PAPI_BR_INS",	"PAPI_BR_MSP",	"PAPI_L1_DCM",	    "PAPI_L1_ICM",
};
static int set = PAPI_NULL;

__attribute__((noinline)) static void reads(int n)
{
	long long values[8];

	for (int i = 0; i < n; i++)
		PAPI_read(set, values);
}

__attribute__((noinline)) static void restarts(int n)
{
	long long values[8];

	for (int i = 0; i < n; i++) {
		PAPI_stop(set, values);
		PAPI_start(set);
	}
}

__attribute__((noinline)) static void hl_pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PAPI_hl_region_begin("pair");
		PAPI_hl_region_end("pair");
	}
}

__attribute__((noinline)) static void pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
}

/* Starts COUNT events. Returns whether there are so many. */
static bool start(int count)
{
	int have = 0, failed = PAPI_OK;

	set = PAPI_NULL;
	failed = PAPI_create_eventset(&set);
	for (size_t i = 0;
	     failed == PAPI_OK && have < count && i < sizeof(wanted) / sizeof(wanted[0]);
	     i++)
		have += PAPI_add_named_event(set, wanted[i]) == PAPI_OK;
	if (failed == PAPI_OK && have == count)
		failed = PAPI_start(set);
	if (failed != PAPI_OK || have < count) {
		bench_say("no PAPI_read of %d: %s", count,
			  failed == PAPI_OK ? "PAPI has no so many events here"
					    : PAPI_strerror(failed));
		return false;
	}
	return true;
}

static void stop(void)
{
	long long values[8];

	PAPI_stop(set, values);
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
}

static int low_level(void)
{
	static const char *const names[] = {"papi.read.1", "papi.read.4"};
	static const int counts[] = {1, 4};
	int version = PAPI_library_init(PAPI_VER_CURRENT);

	if (version != PAPI_VER_CURRENT) {
		bench_say("PAPI does not start (%d)", version);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		if (!start(counts[i]))
			continue;
		bench_print(names[i], bench_all(reads, NULL, 100), bench_unit());
		if (counts[i] == 4)
			bench_print("papi.start_stop.4", bench_all(restarts, NULL, 100),
				    bench_unit());
		stop();
	}
	return 0;
}

static int high_level(void)
{
	if (PAPI_hl_region_begin("pair") != PAPI_OK ||
	    PAPI_hl_region_end("pair") != PAPI_OK) {
		bench_say("no PAPI_hl_region_begin: it refuses PAPI_EVENTS=%s",
			  getenv("PAPI_EVENTS"));
		return 0;
	}
	/* It keeps memory for each visit, and becomes slower. */
	if (bench_counts_instructions()) {
		bench_print("papi.hl.pair.2", bench_all(hl_pairs, NULL, 20),
			    bench_unit());
	} else {
		double hl;

		bench_print("region.pair.0.over.papi.hl.pair",
			    bench_ratio(pairs, hl_pairs, 100, NULL, &hl), "ratio");
		bench_print("papi.hl.pair.2", hl, "ns");
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(int argc, char **argv)
{
	char directory[] = "/tmp/bench_papi.XXXXXX";
	int status;

	if (argc > 1)
		return !strcmp(argv[1], "hl") ? high_level() : low_level();
#ifdef __x86_64__
	setenv("LIBPFM_FORCE_PMU", "skl", 0);
#endif
	status = bench_again("read", "none");
	/* Its report goes to a folder that is removed. */
	if (!mkdtemp(directory)) {
		bench_say("no temporary folder");
		return 1;
	}
	setenv("PAPI_OUTPUT_DIRECTORY", directory, 1);
	setenv("PAPI_EVENTS", "PAPI_TOT_INS,PAPI_TOT_CYC", 1);
	status |= bench_again("hl", "none");
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
