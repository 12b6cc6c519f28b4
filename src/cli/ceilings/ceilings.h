/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ceilings of this machine, measured: the bandwidth of each cache level and of memory, and the
 * floating-point operations in a second, by width of the vectors and by number of threads.
 *
 *   caches    loads alone, a copy, or a triad (two loads, one store), each in a part of the cache
 *   memory    the same in arrays that no cache holds. Bytes are those of the loads and stores of
 *             the program, as in the STREAM benchmark: what the machine reads before it writes
 *             is not among them
 *   flops     fused multiplications and additions, or as many additions as multiplications
 *
 * Must hold: the threads that measure are bound to CPUs that this process may use, and no other
 * thread is. The code does not depend on how the compiler optimises.
 */
#ifndef PM_CLI_CEILINGS_CEILINGS_H
#define PM_CLI_CEILINGS_CEILINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/report/output/json.h"
#include "core/text/diag.h"

enum cli_ceiling_of {
	CLI_CEILING_L1, /* bandwidths, in bytes a second, from the core outwards */
	CLI_CEILING_L2,
	CLI_CEILING_L3,
	CLI_CEILING_MEMORY,
	CLI_CEILING_DP, /* operations a second, of double precision */
	CLI_CEILING_SP, /* and of single precision */
	CLI_CEILINGS
};
#define CLI_CEILING_LEVELS CLI_CEILING_DP

enum cli_ceiling_by {
	CLI_BY_LOAD,
	CLI_BY_COPY,
	CLI_BY_TRIAD,
	CLI_BY_FMA,
	CLI_BY_ADD_MUL,
	CLI_CEILING_WAYS
};

/* One measurement. */
struct cli_ceiling {
	enum cli_ceiling_of of;
	enum cli_ceiling_by by;
	uint32_t threads;
	uint32_t bits; /* of a vector; 64: no vectors */
	double rate;   /* of all threads: the best of several repetitions */
};

struct cli_ceilings {
	char host[65], cpu[128], architecture[32];
	char cpus[256];			      /* those that were used, as a list */
	uint64_t bytes[CLI_CEILING_LEVELS];   /* of one cache; 0: not known, or none */
	uint32_t sharing[CLI_CEILING_LEVELS]; /* CPUs that share it; 0: not known */
	bool assumed; /* the machine does not tell its caches: a small L1 is taken */
	bool quick;   /* measured with few repetitions */
	double taken; /* the part of the time, at most, in which others had one of the CPUs */
	uint32_t count;
	struct cli_ceiling *at;
};

/* "L1", "memory", "double precision". */
const char *cli_ceiling_name(enum cli_ceiling_of of);

/* Returns how many CPUs this process may use, at least 1: no more threads are measured. */
uint32_t cli_ceilings_threads(void);

/* Describes this machine in *CEILINGS, without any measurement. Returns 0 or -ENOMEM. Free it
 * with cli_ceilings_free(). */
int cli_ceilings_begin(struct cli_ceilings *ceilings);
void cli_ceilings_free(struct cli_ceilings *ceilings);

/*
 * Measures with THREADS threads, unless that has been measured: some two seconds, QUICK a third of
 * one. Starts threads that end before it returns. Returns 0, -ENOMEM, or the error of starting
 * threads, with DIAG.
 */
int cli_ceilings_measure(struct cli_ceilings *ceilings, uint32_t threads, bool quick,
			 struct pm_diag *diag);

/*
 * The ceiling of THREADS threads, which must have been measured: the highest of all widths and, if
 * BY is CLI_CEILING_WAYS, of all ways, but for memory of triads alone, which is what STREAM reports.
 * NULL: not measured, as of a level that this machine lacks. BITS is 0, or the only width.
 */
const struct cli_ceiling *cli_ceiling_find(const struct cli_ceilings *ceilings,
					   enum cli_ceiling_of of, enum cli_ceiling_by by,
					   uint32_t threads, uint32_t bits);
/* Returns the rate of the highest of all widths and ways; 0: not measured. */
double cli_ceiling_rate(const struct cli_ceilings *ceilings, enum cli_ceiling_of of,
			uint32_t threads);

/*
 * Reads what cli_ceilings_write() wrote to PATH into *CEILINGS, which describes this machine.
 * All errors but -ENOENT have a sentence in DIAG. Returns 0, or
 * -ENOENT: there is no file
 * -EXDEV: the file is of another machine
 * -EINVAL: it is no such file
 * - the error of reading it
 */
int cli_ceilings_read(struct cli_ceilings *ceilings, const char *path,
		      struct pm_diag *diag);
/* Writes the array "ceilings" of an object. */
void cli_ceilings_put(const struct cli_ceilings *ceilings, struct pm_json *j);
/* Writes JSON through SINK. Returns 0 or the error of SINK. */
int cli_ceilings_write(const struct cli_ceilings *ceilings,
		       int (*sink)(void *argument, const char *text, size_t size),
		       void *argument);

#endif
