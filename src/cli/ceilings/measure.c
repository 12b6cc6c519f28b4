/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A team of threads, each bound to a CPU of its own, times the loops of kernels.h. Thread 0 leads:
 * it sets what is next, all execute it at the same time, and it keeps the best.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cli/ceilings/ceilings.h"
#include "cli/ceilings/kernels.h"
#include "cli/ceilings/machine.h"
#include "cli/common/common.h"
#include "core/kernel/kernel.h"
#include "core/text/grow.h"

/* Timed work lasts so long, in ns, that reading the clock and waiting for the last thread are
 * little of it, and the scheduler seldom comes between. */
#define TIMED_NS 1e6
#define LONG_NS	 4e8
/* Arrays in memory are so many times as large as all caches of the last level. */
#define MEMORY_TIMES	   4
#define MEMORY_TIMES_QUICK 2
/* For machines that do not tell their caches, and for those with little or very much memory. */
#define LAST_LEVEL_ASSUMED (32ul << 20)
#define MEMORY_PART	   4
#define MEMORY_MOST	   (8ul << 30)
/* Arrays begin at such distances within a page that none waits for stores to another. */
#define SKEW ((size_t)1024)
#define PAGE 4096
/* Where the first array begins. Caches that find their ways by a hash of the address (AMD's L1) take
 * pages on the two sides of such a boundary for one. */
#define ALIGNMENT ((uintptr_t)2 << 20)

/* All threads do this next. Thread 0 writes it while the others wait in meet(). */
struct task {
	const struct kernel_flops *flops; /* or, if NULL, */
	void (*pass)(double *a, const double *b, const double *c, size_t bytes);
	size_t bytes; /* of an array */
	uint64_t rounds;
	bool prepare; /* make the arrays, nothing is timed */
	bool end;
};

struct member {
	_Alignas(128) struct team *team; /* no two in one line of a cache */
	unsigned int cpu;
	uint64_t from_ns, to_ns;
	void *mapped;
	double *arrays;
	double taken; /* the part of the time in which others had its CPU */
	int err;
	pthread_t thread;
};

struct team {
	struct cli_ceilings *ceilings;
	bool quick;
	uint32_t threads;
	struct member *members;
	size_t array; /* bytes of the largest arrays, of each thread */
	/* Has the bytes of all arrays of a thread; 0: not measured. */
	size_t level_bytes[CLI_CEILING_LEVELS];
	struct task task;
	_Alignas(128) uint32_t arrived;
	_Alignas(128) uint32_t round;
};

/* --- all threads ----------------------------------------------------------------------- */

/* Waits for all threads of the team. What each wrote before it, all see after it. */
static void meet(struct team *team)
{
	uint32_t round = __atomic_load_n(&team->round, __ATOMIC_RELAXED);

	/* Pairs with itself in the other threads: the last one acquires what they wrote. */
	if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == team->threads) {
		__atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
		/* Pairs with the load below. */
		__atomic_store_n(&team->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	for (uint32_t n = 1; __atomic_load_n(&team->round, __ATOMIC_ACQUIRE) == round;
	     n++)
		if (!(n % 1024))
			pm_kernel_yield();
}

/* Returns how far arrays of BYTES are apart: no more than they must, since caches find their lines
 * by the address. */
static size_t distance(size_t bytes)
{
	return bytes + (SKEW - bytes) % PAGE;
}

static size_t mapped_size(const struct team *team)
{
	return 3 * distance(team->array) + ALIGNMENT;
}

/* Maps the arrays and writes them, so that they are in memory near this thread. */
static int prepare(struct member *member)
{
	double *at, *end;
	int err = pm_kernel_mmap(&member->mapped, mapped_size(member->team),
				 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0);

	if (err)
		return err;
	at = member->arrays =
		(double *)(((uintptr_t)member->mapped + ALIGNMENT - 1) & -ALIGNMENT);
	end = at + 3 * distance(member->team->array) / sizeof(*at);
	while (at < end)
		*at++ = 1;
	return 0;
}

static void perform(struct member *member)
{
	const struct task *task = &member->team->task;
	double *a = member->arrays;
	size_t step = distance(task->bytes) / sizeof(*a);

	member->from_ns = cli_now_ns();
	if (task->prepare)
		member->err = prepare(member);
	else if (task->flops)
		task->flops->run(task->rounds);
	for (uint64_t i = 0; task->pass && i < task->rounds; i++)
		task->pass(a, a + step, a + 2 * step, task->bytes);
	member->to_ns = cli_now_ns();
}

/* Has all threads do the task. Returns how long it took, in ns. Thread 0 calls it. */
static double turn(struct team *team)
{
	uint64_t from = UINT64_MAX, to = 0;

	meet(team);
	perform(&team->members[0]);
	meet(team);
	for (uint32_t i = 0; i < team->threads; i++) {
		from = team->members[i].from_ns < from ? team->members[i].from_ns : from;
		to = team->members[i].to_ns > to ? team->members[i].to_ns : to;
	}
	return to > from ? (double)(to - from) : 1;
}

static void bind(const struct member *member)
{
	struct pm_cpus cpu = {0};

	/* A failure does no harm: the thread runs where the scheduler puts it. */
	if (!pm_cpus_add(&cpu, member->cpu))
		pm_placement_bind_helper(&cpu);
	pm_cpus_free(&cpu);
}

static void follow(struct member *member)
{
	for (meet(member->team); !member->team->task.end; meet(member->team)) {
		perform(member);
		meet(member->team);
	}
}

/* --- thread 0 -------------------------------------------------------------------------- */

static int keep(struct team *team, enum cli_ceiling_of of, enum cli_ceiling_by by,
		uint32_t bits, double rate)
{
	struct cli_ceilings *c = team->ceilings;

	if (!PM_GROW(c->at, c->count))
		return -ENOMEM;
	c->at[c->count++] = (struct cli_ceiling){of, by, team->threads, bits, rate};
	return 0;
}

/* Times the task, of which a round is AMOUNT, REPETITIONS times, fewer if that takes long. Returns
 * the best rate. */
static double best_of(struct team *team, double amount, uint32_t repetitions)
{
	double best = 0, spent = 0, ns;

	team->task.rounds = 1;
	for (uint32_t n = 0; n < repetitions && (n < 3 || spent < LONG_NS);) {
		double done = amount * (double)team->task.rounds * team->threads;

		ns = turn(team);
		spent += ns;
		best = done / ns > best ? done / ns : best;
		/* By the best so far: a turn may have been long because others ran. */
		if (done / best < TIMED_NS)
			team->task.rounds *= done / best < TIMED_NS / 8 ? 8 : 2;
		else
			n++;
	}
	return best * 1e9;
}

static int measure_flops(struct team *team, const struct kernels *kernel)
{
	const struct {
		enum cli_ceiling_of of;
		enum cli_ceiling_by by;
		const struct kernel_flops *flops;
	} all[] = {{CLI_CEILING_DP, CLI_BY_FMA, &kernel->dp_fma},
		   {CLI_CEILING_DP, CLI_BY_ADD_MUL, &kernel->dp_add_mul},
		   {CLI_CEILING_SP, CLI_BY_FMA, &kernel->sp_fma},
		   {CLI_CEILING_SP, CLI_BY_ADD_MUL, &kernel->sp_add_mul}};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].flops->run ||
		    (all[i].by == CLI_BY_FMA && kernel->has_fma && !kernel->has_fma()))
			continue;
		team->task = (struct task){.flops = all[i].flops};
		err = keep(team, all[i].of, all[i].by, kernel->bits,
			   best_of(team, all[i].flops->operations, team->quick ? 4 : 12));
	}
	return err;
}

static int measure_level(struct team *team, const struct kernels *kernel,
			 enum cli_ceiling_of of, bool all_ways)
{
	const struct {
		enum cli_ceiling_by by;
		uint32_t arrays;
		void (*pass)(double *a, const double *b, const double *c, size_t bytes);
	} ways[] = {{CLI_BY_TRIAD, 3, kernel->triad},
		    {CLI_BY_COPY, 2, kernel->copy},
		    {CLI_BY_LOAD, 1, kernel->load}};
	uint32_t repetitions = team->quick ? 4 : of == CLI_CEILING_MEMORY ? 8 : 12;
	int err = 0;

	for (size_t i = 0; !err && i < (all_ways ? 3 : 1); i++) {
		team->task =
			(struct task){.pass = ways[i].pass,
				      .bytes = team->level_bytes[of] / ways[i].arrays /
					       KERNEL_BLOCK * KERNEL_BLOCK};
		err = keep(team, of, ways[i].by, kernel->bits,
			   best_of(team, (double)team->task.bytes * ways[i].arrays,
				   repetitions));
	}
	return err;
}

/* Measures a width. Memory is as fast with wide vectors as with narrow ones, and takes long:
 * all ways with the widest alone. */
static int measure_width(struct team *team, const struct kernels *kernel, bool widest)
{
	int err = measure_flops(team, kernel);

	for (int of = CLI_CEILING_L1; !err && of <= CLI_CEILING_MEMORY; of++) {
		bool memory = of == CLI_CEILING_MEMORY;

		if (team->level_bytes[of] && (!memory || widest || !team->quick))
			err = measure_level(team, kernel, (enum cli_ceiling_of)of,
					    !memory || (widest && !team->quick));
	}
	return err;
}

static int prepare_all(struct team *team)
{
	int err = 0;

	team->task = (struct task){.prepare = true};
	turn(team);
	for (uint32_t i = 0; !err && i < team->threads; i++)
		err = team->members[i].err;
	return err;
}

static int lead(struct team *team)
{
	const struct kernels *widest = NULL;
	int err = prepare_all(team);

	for (uint32_t i = 0; i < kernels_count; i++)
		if (!kernels[i].is_there || kernels[i].is_there())
			widest = &kernels[i];
	for (uint32_t i = 0; !err && i < kernels_count; i++)
		if (!kernels[i].is_there || kernels[i].is_there())
			err = measure_width(team, &kernels[i], &kernels[i] == widest);
	team->task.end = true;
	meet(team);
	return err;
}

/* Thread 0 leads, and the others follow. Sees how much of the time each did not run: it never waits
 * without its CPU. */
static void *run(void *argument)
{
	struct member *member = argument;
	uint64_t from_ns = cli_now_ns(), own_ns = 0;
	double all;

	bind(member);
	if (member == member->team->members)
		member->err = lead(member->team);
	else
		follow(member);
	pm_kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID, &own_ns);
	all = (double)(cli_now_ns() - from_ns);
	member->taken = all > (double)own_ns ? 1 - (double)own_ns / all : 0;
	return NULL;
}

/* --- the team --------------------------------------------------------------------------- */

/* Returns the bytes of a thread's arrays that take half of its part of the cache, more if a lower
 * cache could hold them. 0: no size is between the two. */
static size_t bytes_in_cache(const struct cli_ceilings *c, const uint32_t *users,
			     enum cli_ceiling_of of)
{
	uint64_t own = c->bytes[of] / users[of], lower = 0, all = own / 2;

	for (int l = CLI_CEILING_L1; l < (int)of; l++)
		if (c->bytes[l])
			lower = c->bytes[l] / users[l];
	if (all < 2 * lower)
		all = 2 * lower;
	if (all > own / 4 * 3)
		return 0;
	return (size_t)all;
}

/* Returns how many caches there are of which each serves SHARING CPUs. */
static uint64_t caches_of(uint32_t sharing)
{
	return sharing ? (cli_ceilings_threads() + sharing - 1) / sharing : 1;
}

/* Chooses the sizes of arrays, of each thread. */
static void sizes_choose(struct team *team)
{
	struct cli_ceilings *c = team->ceilings;
	struct pm_cpus shared[CLI_CEILING_MEMORY] = {{0}};
	uint64_t last = LAST_LEVEL_ASSUMED, most = ceilings_memory_free() / MEMORY_PART;
	uint32_t users[CLI_CEILING_MEMORY];

	ceilings_caches(c, team->members[0].cpu, shared);
	for (int l = 0; l < CLI_CEILING_MEMORY; l++) {
		users[l] = 0;
		for (uint32_t i = 0; i < team->threads; i++)
			users[l] += pm_cpus_has(&shared[l], team->members[i].cpu);
		users[l] += !users[l];
		team->level_bytes[l] = bytes_in_cache(c, users, (enum cli_ceiling_of)l);
		if (c->bytes[l] && !c->assumed)
			last = c->bytes[l] * caches_of(c->sharing[l]);
		pm_cpus_free(&shared[l]);
	}
	last *= team->quick ? MEMORY_TIMES_QUICK : MEMORY_TIMES;
	most = !most || most > MEMORY_MOST ? MEMORY_MOST : most;
	last = 3 * last > most ? most / 3 : last;
	team->array = (size_t)(last / team->threads / KERNEL_BLOCK + 1) * KERNEL_BLOCK;
	team->level_bytes[CLI_CEILING_MEMORY] = 3 * team->array;
	for (int l = 0; l < CLI_CEILING_MEMORY; l++)
		if (team->level_bytes[l] > team->array)
			team->level_bytes[l] = 0;
}

/* Starts the threads, waits for them, and frees what they have. Thread 0 is started last: without
 * all others it would wait for ever, so those that were started are told to end. */
static int team_run(struct team *team)
{
	uint32_t started = 1, all = team->threads;
	int err = 0;

	for (; !err && started < all; started++)
		err = pm_kernel_thread_start(&team->members[started].thread, run,
					     &team->members[started]);
	if (!err)
		err = pm_kernel_thread_start(&team->members[0].thread, run,
					     &team->members[0]);
	else
		started--;
	if (err) {
		/* This thread takes the place of all that are missing. */
		team->task.end = true;
		__atomic_fetch_add(&team->arrived, all - started, __ATOMIC_RELAXED);
		meet(team);
	} else {
		pthread_join(team->members[0].thread, NULL);
		err = team->members[0].err;
	}
	for (uint32_t i = 1; i < started; i++)
		pthread_join(team->members[i].thread, NULL);
	for (uint32_t i = 0; i < all; i++)
		team->ceilings->taken =
			fmax(team->ceilings->taken, team->members[i].taken);
	for (uint32_t i = 0; i < all; i++)
		if (team->members[i].mapped)
			pm_kernel_munmap(team->members[i].mapped, mapped_size(team));
	return err;
}

static int team_make(struct team *team)
{
	struct pm_cpus set = {0};
	unsigned int *order = NULL;
	int err = pm_cpus_own(&set);
	uint32_t count = pm_cpus_count(&set);

	if (!err && count < team->threads)
		err = -EINVAL;
	if (!err && !(order = calloc(count, sizeof(*order))))
		err = -ENOMEM;
	team->members = aligned_alloc(_Alignof(struct member),
				      team->threads * sizeof(*team->members));
	if (!err && team->members) {
		memset(team->members, 0, team->threads * sizeof(*team->members));
		ceilings_order(&set, order);
		for (uint32_t i = 0; i < team->threads; i++)
			team->members[i] = (struct member){.team = team, .cpu = order[i]};
	}
	free(order);
	pm_cpus_free(&set);
	return err ? err : team->members ? 0 : -ENOMEM;
}

int cli_ceilings_measure(struct cli_ceilings *ceilings, uint32_t threads, bool quick,
			 struct pm_diag *diag)
{
	struct team team = {.ceilings = ceilings, .quick = quick, .threads = threads};
	uint32_t before = ceilings->count;
	int err;

	if (cli_ceiling_rate(ceilings, CLI_CEILING_DP, threads) > 0)
		return 0;
	err = team_make(&team);
	if (!err) {
		sizes_choose(&team);
		err = team_run(&team);
	}
	free(team.members);
	ceilings->quick |= quick;
	if (err) {
		ceilings->count = before;
		pm_diag_set(diag, err, "cannot measure the ceilings of %u threads: %s",
			    threads, strerror(-err));
	}
	return err;
}
