/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Under the tool of exact/: blocks of known instructions, loads and so on, each between two
 * reads. Prints a line of TAP for each of them. With arguments it does what they name and
 * ends, for tests of totals.
 */
#include <valgrind/valgrind.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/exact.h"

#define EVENTS PM_EXACT_EVENT_COUNT

static const char *const names[] = {
#define NAME(event, name, text) name,
	PM_EXACT_EVENTS(NAME)
#undef NAME
};
static const struct pm_exact *tool;
static bool failed;

static struct {
	_Alignas(64) uint8_t bytes[4096];
	double numbers[16];
} memory;

static void say(bool good, const char *name)
{
	printf("%s - %s\n", good ? "ok" : "not ok", name);
	failed |= !good;
}

static bool is_counted(unsigned int event)
{
	return tool->counted >> event & 1;
}

/*
 * A block's text between two reads of counter k. What stands between them besides: see
 * BESIDE. x86-64: text may use rax, rcx, rdx, rsi, rdi, r10, r11 and vectors; r12 is the
 * memory. arm64: x0 to x7, x30, vectors; x12 is the memory.
 */
#if defined(__x86_64__)
#define BESIDE 5
#define BLOCK(function, text)                                                            \
	static uint64_t function(uint64_t k)                                             \
	{                                                                                \
		register uint64_t at __asm__("r12") = (uintptr_t)&memory;                \
		register uint64_t event __asm__("r9") = k;                               \
		uint64_t result;                                                         \
                                                                                         \
		__asm__ volatile("lea -512(%%rsp), %%rsp\n\t"                            \
				 "mov %%r9d, %%ecx\n\t"                                  \
				 "rdpmc\n\t"                                             \
				 "shl $32, %%rdx\n\t"                                    \
				 "or %%rdx, %%rax\n\t"                                   \
				 "mov %%rax, %%r8\n\t" text "\n\t"                       \
				 "mov %%r9d, %%ecx\n\t"                                  \
				 "rdpmc\n\t"                                             \
				 "shl $32, %%rdx\n\t"                                    \
				 "or %%rdx, %%rax\n\t"                                   \
				 "sub %%r8, %%rax\n\t"                                   \
				 "lea 512(%%rsp), %%rsp"                                 \
				 : "=&a"(result), "+r"(at), "+r"(event)                  \
				 :                                                       \
				 : "rcx", "rdx", "rsi", "rdi", "r8", "r10", "r11",       \
				   "xmm0", "xmm1", "xmm2", "xmm3", "memory", "cc");      \
		return result;                                                           \
	}
#elif defined(__aarch64__)
/* The counter is part of the instruction: one place for each. */
#define BESIDE 1
#define READS(K, text)                                                                   \
	__asm__ volatile("mrs x9, S3_3_C14_C8_" #K "\n\t" text "\n\t"                    \
			 "mrs x10, S3_3_C14_C8_" #K "\n\t"                               \
			 "sub %0, x10, x9"                                               \
			 : "=r"(result), "+r"(at)                                        \
			 :                                                               \
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10",  \
			   "x30", "v0", "v1", "v2", "v3", "memory", "cc")
#define BLOCK(function, text)                                                            \
	static uint64_t function(uint64_t k)                                             \
	{                                                                                \
		register uint64_t at __asm__("x12") = (uintptr_t)&memory;                \
		uint64_t result = 0;                                                     \
                                                                                         \
		switch (k) {                                                             \
		case 0:                                                                  \
			READS(0, text);                                                  \
			break;                                                           \
		case 1:                                                                  \
			READS(1, text);                                                  \
			break;                                                           \
		case 2:                                                                  \
			READS(2, text);                                                  \
			break;                                                           \
		case 3:                                                                  \
			READS(3, text);                                                  \
			break;                                                           \
		case 4:                                                                  \
			READS(4, text);                                                  \
			break;                                                           \
		case 5:                                                                  \
			READS(5, text);                                                  \
			break;                                                           \
		case 6:                                                                  \
			READS(6, text);                                                  \
			break;                                                           \
		case 7:                                                                  \
			READS(7, text);                                                  \
			break;                                                           \
		}                                                                        \
		return result;                                                           \
	}
#endif

BLOCK(nothing, "")

static uint64_t now(unsigned int event)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(event));
	return (uint64_t)high << 32 | low;
#else
	uint64_t value = 0;

	if (event == PM_EXACT_INSTRUCTIONS)
		__asm__ volatile("mrs %0, S3_3_C14_C8_0" : "=r"(value));
	return value;
#endif
}

struct known {
	const char *name;
	uint64_t (*run)(uint64_t k);
	/* instructions, loads, stores, their bytes, branches, calls, flops */
	uint64_t want[EVENTS];
	const char *needs; /* of the CPU */
};

#if defined(__x86_64__)
BLOCK(loop, "mov $1000, %%ecx\n1: dec %%ecx\n\tjnz 1b")
BLOCK(to_itself, "mov $50, %%ecx\n1: loop 1b")
BLOCK(two_conditions, "xor %%esi, %%esi\n\txor %%edi, %%edi\n"
		      "1: test $1, %%esi\n\tjne 2f\n\ttest $2, %%esi\n\tjne 2f\n\t"
		      "inc %%edi\n2: inc %%esi\n\tcmp $1000, %%esi\n\tjne 1b")
BLOCK(either_condition, "xor %%esi, %%esi\n\txor %%edi, %%edi\n"
			"1: test $1, %%esi\n\tje 2f\n\ttest $2, %%esi\n\tjne 3f\n"
			"2: inc %%edi\n3: inc %%esi\n\tcmp $1000, %%esi\n\tjne 1b")
BLOCK(loads, "mov (%%r12), %%rax\n\tmov 8(%%r12), %%eax\n\tmovzbl 3(%%r12), %%eax\n\t"
	     "movups (%%r12), %%xmm0\n\tmovsd 8(%%r12), %%xmm0")
BLOCK(lost_loads, "mov (%%r12), %%rax\n\tmov (%%r12), %%rax\n\txor %%eax, %%eax\n\t"
		  "cmpq $0, (%%r12)\n\ttestl $1, 8(%%r12)\n\tadd (%%r12), %%rax\n\t"
		  "mov $1, %%eax\n\tmovups (%%r12), %%xmm0\n\txorps %%xmm0, %%xmm0")
BLOCK(no_loads, "nopl 8(%%r12)\n\tlea 8(%%r12), %%rax\n\tprefetcht0 (%%r12)")
BLOCK(stores, "mov %%rax, (%%r12)\n\tmov %%eax, (%%r12)\n\tmov %%al, 2(%%r12)\n\t"
	      "movups %%xmm0, 16(%%r12)\n\tmovq $7, (%%r12)")
BLOCK(updates, "addq $1, (%%r12)\n\tincl (%%r12)\n\tnotb (%%r12)")
BLOCK(atomics, "lock addq $1, (%%r12)\n\txchg %%eax, (%%r12)\n\t"
	       "lock xaddl %%eax, (%%r12)")
BLOCK(compared, "mov (%%r12), %%eax\n\tlock cmpxchgl %%esi, (%%r12)")
BLOCK(stack, "push %%rax\n\tpush %%rdx\n\tpop %%rdx\n\tpop %%rax")
BLOCK(calls, "call 1f\n\tlea 1f(%%rip), %%rax\n\tcall *%%rax\n\tjmp 2f\n1: ret\n2:")
BLOCK(call_table, "lea 1f(%%rip), %%rax\n\tmov %%rax, (%%r12)\n\tcall *(%%r12)\n\t"
		  "jmp 2f\n1: ret\n2:")
#define AB "lea (%%r12), %%rsi\n\tlea 2048(%%r12), %%rdi\n\t"
BLOCK(rep_movs, AB "mov $100, %%ecx\n\trep movsb")
BLOCK(rep_movs_one, AB "mov $1, %%ecx\n\trep movsq")
BLOCK(rep_movs_none, AB "mov $0, %%ecx\n\trep movsb")
BLOCK(rep_stos, AB "mov $25, %%ecx\n\txor %%eax, %%eax\n\trep stosq")
BLOCK(rep_cmps, AB "movl $0, (%%rsi)\n\tmovl $0x5000000, (%%rdi)\n\tmov $9, %%ecx\n\t"
		   "repe cmpsb")
BLOCK(rep_scas, AB "movl $0x5000000, (%%rdi)\n\tmov $9, %%ecx\n\tmov $5, %%al\n\t"
		   "repne scasb")
BLOCK(movs, AB "movsb\n\tmovsq\n\tlodsl")
BLOCK(rep_in_loop, "mov $3, %%edx\n1:" AB "mov $5, %%ecx\n\trep movsb\n\tdec %%edx\n\t"
		   "jnz 1b")
BLOCK(scalar, "xorps %%xmm0, %%xmm0\n\taddsd %%xmm0, %%xmm0\n\tmulsd %%xmm0, %%xmm0\n\t"
	      "sqrtsd %%xmm0, %%xmm1\n\tmaxsd %%xmm0, %%xmm0\n\tdivss %%xmm0, %%xmm1\n\t"
	      "subss %%xmm0, %%xmm0\n\tminss %%xmm0, %%xmm0")
BLOCK(vectors, "xorps %%xmm0, %%xmm0\n\taddpd %%xmm0, %%xmm0\n\tmulps %%xmm0, %%xmm0\n\t"
	       "sqrtps %%xmm0, %%xmm1\n\tdivpd %%xmm0, %%xmm1\n\tminps %%xmm0, %%xmm0\n\t"
	       "haddpd %%xmm0, %%xmm0")
BLOCK(alternating,
      "xorps %%xmm0, %%xmm0\n\taddsubpd %%xmm0, %%xmm0\n\taddsubps %%xmm0, %%xmm0")
BLOCK(no_flops,
      "cvtsi2sd %%eax, %%xmm0\n\tcvtsd2ss %%xmm0, %%xmm1\n\t"
      "ucomisd %%xmm0, %%xmm1\n\txorpd %%xmm0, %%xmm0\n\tmovapd %%xmm0, %%xmm1\n\t"
      "paddd %%xmm0, %%xmm0\n\tcmpltpd %%xmm0, %%xmm1")
BLOCK(x87, "fld1\n\tfld1\n\tfaddp\n\tfld1\n\tfmulp\n\tfsqrt\n\tfstpl (%%r12)")
BLOCK(avx, "vmovups (%%r12), %%ymm0\n\tvaddpd %%ymm0, %%ymm0, %%ymm1\n\t"
	   "vmulps %%ymm0, %%ymm0, %%ymm1\n\tvmovups %%ymm0, (%%r12)\n\tvzeroupper")
BLOCK(fused,
      "vxorpd %%ymm0, %%ymm0, %%ymm0\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm0\n\t"
      "vfmadd213sd %%xmm0, %%xmm0, %%xmm0\n\tvfnmsub132ps %%xmm0, %%xmm0, %%xmm0\n\t"
      "vzeroupper")

/* Of 1000 rounds every second ends at the first condition, every fourth at the second. */
static const struct known known[] = {
	{"a loop", loop, {2001, [PM_EXACT_BRANCHES] = 1000}, NULL},
	{"a branch to itself", to_itself, {51, [PM_EXACT_BRANCHES] = 50}, NULL},
	{"two conditions",
	 two_conditions,
	 {2 + 5000 + 1000 + 250, [PM_EXACT_BRANCHES] = 2500},
	 NULL},
	{"either condition",
	 either_condition,
	 {2 + 5000 + 1000 + 750, [PM_EXACT_BRANCHES] = 2500},
	 NULL},
	{"loads", loads, {5, 5, 0, 37}, NULL},
	{"loads whose values are lost",
	 lost_loads,
	 {9, 6, 0, 8 + 8 + 8 + 4 + 8 + 16},
	 NULL},
	{"what loads nothing", no_loads, {3}, NULL},
	{"stores", stores, {5, 0, 5, 0, 37}, NULL},
	{"updates of memory", updates, {3, 3, 3, 13, 13}, NULL},
	{"atomic updates", atomics, {3, 3, 3, 16, 16}, NULL},
	{"compare and exchange", compared, {2, 2, 1, 8, 4}, NULL},
	{"push and pop", stack, {4, 2, 2, 16, 16}, NULL},
	{"calls", calls, {6, 2, 2, 16, 16, 0, 2}, NULL},
	{"a call by a table", call_table, {5, 2, 2, 16, 16, 0, 1}, NULL},
	{"rep movsb of 100", rep_movs, {4, 100, 100, 100, 100}, NULL},
	{"rep movsq of 1", rep_movs_one, {4, 1, 1, 8, 8}, NULL},
	{"rep movsb of 0", rep_movs_none, {4}, NULL},
	{"rep stosq", rep_stos, {5, 0, 25, 0, 200}, NULL},
	{"repe cmpsb until the fourth", rep_cmps, {6, 8, 2, 8, 8}, NULL},
	{"repne scasb until the fourth", rep_scas, {6, 4, 1, 4, 4}, NULL},
	{"string instructions", movs, {5, 3, 2, 13, 9}, NULL},
	{"rep movsb in a loop", rep_in_loop, {1 + 3 * 6, 15, 15, 15, 15, 3}, NULL},
	{"scalar operations", scalar, {8, [PM_EXACT_FLOPS_32] = 3, 4}, NULL},
	{"vector operations", vectors, {7, [PM_EXACT_FLOPS_32] = 12, 6}, NULL},
	{"additions and subtractions in turn",
	 alternating,
	 {3, [PM_EXACT_FLOPS_32] = 4, 2},
	 NULL},
	{"what is no operation", no_flops, {7}, NULL},
	{"x87", x87, {7, 0, 1, 0, 8, [PM_EXACT_FLOPS_64] = 3}, NULL},
	{"256 bits", avx, {5, 1, 1, 32, 32, [PM_EXACT_FLOPS_32] = 8, 4}, "avx"},
	{"fused operations", fused, {5, [PM_EXACT_FLOPS_32] = 8, 8 + 2}, "fma"},
};

static bool has(const char *part)
{
	return !strcmp(part, "avx") ? __builtin_cpu_supports("avx")
				    : __builtin_cpu_supports("fma");
}
#elif defined(__aarch64__)
BLOCK(loop, "mov x0, #1000\n1: subs x0, x0, #1\n\tb.ne 1b")
BLOCK(two_conditions, "mov x0, #0\n\tmov x1, #0\n"
		      "1: tbnz x0, #0, 2f\n\ttbnz x0, #1, 2f\n\tadd x1, x1, #1\n"
		      "2: add x0, x0, #1\n\tcmp x0, #1000\n\tb.ne 1b")
BLOCK(loads,
      "ldr x0, [x12]\n\tldr w0, [x12, #8]\n\tldrb w0, [x12, #3]\n\tldr q0, [x12]\n\t"
      "ldr d0, [x12]")
BLOCK(lost_loads, "ldr x0, [x12]\n\tldr x0, [x12]\n\tmov x0, #1")
BLOCK(no_loads, "prfm pldl1keep, [x12]\n\tnop\n\tadd x0, x12, #8")
BLOCK(stores, "str x0, [x12]\n\tstr w0, [x12]\n\tstrb w0, [x12]\n\tstr q0, [x12]")
BLOCK(pairs, "stp x0, x1, [x12]\n\tldp x0, x1, [x12]")
BLOCK(exclusive, "1: ldxr x0, [x12]\n\tstxr w1, x0, [x12]\n\tcbnz w1, 1b")
BLOCK(calls, "bl 1f\n\tadr x0, 1f\n\tblr x0\n\tb 2f\n1: ret\n2:")
BLOCK(scalar,
      "movi d0, #0\n\tfadd d1, d0, d0\n\tfmul d1, d0, d0\n\tfsqrt d1, d0\n\t"
      "fdiv s1, s0, s0\n\tfsub s1, s0, s0\n\tfmadd d1, d0, d0, d0\n\tfmaxnm d1, d0, d0")
BLOCK(vectors,
      "movi v0.2d, #0\n\tfadd v1.2d, v0.2d, v0.2d\n\tfmul v1.4s, v0.4s, v0.4s\n\t"
      "fmla v1.2d, v0.2d, v0.2d\n\tfsub v1.2s, v0.2s, v0.2s\n\tfaddp d1, v0.2d\n\t"
      "fmul s1, s0, v0.s[1]")
BLOCK(no_flops,
      "scvtf d0, w0\n\tfcvt s1, d0\n\tfcmp d0, d0\n\tfmov d1, d0\n\tfneg d1, d0\n\t"
      "fabs d1, d0")

static const struct known known[] = {
	{"a loop", loop, {2001, [PM_EXACT_BRANCHES] = 1000}, NULL},
	{"two conditions",
	 two_conditions,
	 {2 + 4000 + 500 + 250, [PM_EXACT_BRANCHES] = 2500},
	 NULL},
	{"loads", loads, {5, 5, 0, 37}, NULL},
	{"loads whose values are lost", lost_loads, {3, 2, 0, 16}, NULL},
	{"what loads nothing", no_loads, {3}, NULL},
	{"stores", stores, {4, 0, 4, 0, 29}, NULL},
	{"pairs", pairs, {2, 2, 2, 16, 16}, NULL},
	{"exclusive load and store", exclusive, {3, 1, 1, 8, 8, 1}, NULL},
	{"calls", calls, {6, [PM_EXACT_CALLS] = 2}, NULL},
	{"scalar operations", scalar, {8, [PM_EXACT_FLOPS_32] = 2, 6}, NULL},
	{"vector operations", vectors, {7, [PM_EXACT_FLOPS_32] = 7, 7}, NULL},
	{"what is no operation", no_flops, {6}, NULL},
};

static bool has(const char *part)
{
	return part != NULL;
}
#endif

static void check(const struct known *block)
{
	unsigned int event, turn;
	bool good = true;

	if (block->needs && !has(block->needs)) {
		printf("ok - %s # SKIP the CPU has no %s\n", block->name, block->needs);
		return;
	}
	/* Thrice: a block can be translated again in another form. */
	for (turn = 0; turn < 3; turn++) {
		for (event = 0; event < EVENTS; event++) {
			uint64_t want = is_counted(event) ? block->want[event] : 0, got;

			if (event == PM_EXACT_INSTRUCTIONS && is_counted(event))
				want += BESIDE;
			got = block->run(event);
			if (got != want && (BESIDE == 5 || event < 8)) {
				fprintf(stderr, "%s: %s: %lld more than %llu\n",
					block->name, names[event],
					(long long)(got - want),
					(unsigned long long)want);
				good = false;
			}
		}
	}
	say(good, block->name);
}

/* --- threads, processes, signals ------------------------------------------------------- */

static uint64_t total(unsigned int event)
{
	uint64_t sums[EVENTS];

	if (!VALGRIND_DO_CLIENT_REQUEST_EXPR(0, PM_EXACT_REQUEST_TOTALS, sums, 0, 0, 0,
					     0))
		return UINT64_MAX;
	return sums[event];
}

static uint64_t work(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 200; i++) {
		sum += loop(PM_EXACT_INSTRUCTIONS);
		if (i % 10 == 0)
			sched_yield();
	}
	return sum;
}

#define WORK (200 * (uint64_t)(2001 + BESIDE))

static void *worker(void *began)
{
	*(uint64_t *)began = now(PM_EXACT_INSTRUCTIONS);
	return (void *)(uintptr_t)(work() == WORK);
}

/* Threads at the same time, and one after the other, which get the same identifier again. */
static void check_threads(void)
{
	pthread_t thread[4];
	uint64_t began[4], before = total(PM_EXACT_INSTRUCTIONS), mine;
	bool good = true, fresh = true;
	void *result;
	int round, i;

	mine = now(PM_EXACT_INSTRUCTIONS);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 4; i++)
			pthread_create(&thread[i], NULL, worker, &began[i]);
		good &= work() == WORK;
		for (i = 0; i < 4; i++) {
			pthread_join(thread[i], &result);
			good &= result != NULL;
			fresh &= began[i] < 5000;
		}
	}
	say(good, "each thread counts its own");
	say(fresh, "a thread begins at 0");
	mine = now(PM_EXACT_INSTRUCTIONS) - mine;
	before = total(PM_EXACT_INSTRUCTIONS) - before;
	say(before > mine + 12 * WORK && before < mine + 12 * (WORK + 60000),
	    "totals have threads that ended");
}

static void check_fork(void)
{
	uint64_t before = now(PM_EXACT_INSTRUCTIONS);
	int status;
	pid_t pid = fork();

	if (!pid) {
		uint64_t here = now(PM_EXACT_INSTRUCTIONS),
			 all = total(PM_EXACT_INSTRUCTIONS);

		_exit((here < before || here > before + 100000) | (all > 100000) << 1 |
		      (work() != WORK) << 2);
	}
	waitpid(pid, &status, 0);
	if (status)
		fprintf(stderr, "the child of fork: %#x\n", (unsigned int)status);
	say(status == 0,
	    "a child of fork goes on with its thread's count, and its total begins at 0");
	say(work() == WORK, "the parent goes on");
}

static volatile int handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void check_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t first, sum[2];
	int i;

	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < 3; i++) {
		first = now(PM_EXACT_INSTRUCTIONS);
		raise(SIGUSR1);
		sum[i > 1] = now(PM_EXACT_INSTRUCTIONS) - first;
		if (i == 1)
			sum[0] = sum[0] + 0;
	}
	say(handled == 3 && sum[1] > 20 && sum[1] < 1000 && sum[0] == sum[1],
	    "a handler's instructions count, each time the same");
}

static sigjmp_buf out;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* By a load in the middle of a block. */
static uint64_t faults(void)
{
	volatile uint64_t first = now(PM_EXACT_INSTRUCTIONS);

	if (!sigsetjmp(out, 1)) {
#if defined(__x86_64__)
		__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tmov %%rax, 8" ::: "memory");
#else
		__asm__ volatile(
			"nop\n\tnop\n\tnop\n\tnop\n\tmov x0, #0\n\tstr x0, [x0, #8]" ::
				: "x0");
#endif
		return 0;
	}
	return now(PM_EXACT_INSTRUCTIONS) - first;
}

static void check_faults(void)
{
	struct sigaction action = {.sa_handler = on_fault};
	uint64_t sum[3];
	int i;

	sigaction(SIGSEGV, &action, NULL);
	for (i = 0; i < 3; i++)
		sum[i] = faults();
	/* What its block had before the fault can be lost. */
	say(sum[2] > 20 && sum[2] < 2000 && sum[1] < sum[2] + 100 &&
		    sum[2] < sum[1] + 100,
	    "a handler that jumps out of a fault");
	say(work() == WORK, "counts go on behind it");
}

static void check_dlopen(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	double (*function)(double) =
		library ? (double (*)(double))dlsym(library, "cbrt") : NULL;
	uint64_t first, sum[2] = {0, 0};
	int i;

	for (i = 0; function && i < 3; i++) {
		first = now(PM_EXACT_INSTRUCTIONS);
		function(27.0);
		sum[i > 1] = now(PM_EXACT_INSTRUCTIONS) - first;
	}
	say(sum[0] > 5 && sum[0] == sum[1],
	    "a function of a library that is loaded later");
}

#if defined(__x86_64__)
/* Code that the program writes, twice at the same place. */
static void check_written(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t first, sum[3];
	int i;

	if (code == MAP_FAILED)
		return;
	for (i = 0; i < 3; i++) {
		memset(code, 0x90, (size_t)i * 7);
		code[i * 7] = 0xc3;
		VALGRIND_DISCARD_TRANSLATIONS(code, 64);
		first = now(PM_EXACT_INSTRUCTIONS);
		((void (*)(void))(uintptr_t)code)();
		sum[i] = now(PM_EXACT_INSTRUCTIONS) - first;
	}
	say(sum[1] == sum[0] + 7 && sum[2] == sum[0] + 14, "code that is written anew");
	munmap(code, 4096);
}
#endif

/* --- what totals are of ------------------------------------------------------------------ */

/* one: a thread, all of whose instructions are known but for its start. */
static void *wait_for_all(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

/* With COUNT threads beside the main one, all there at the same time. */
static int threads_at_once(int count)
{
	pthread_barrier_t barrier;
	pthread_t last;

	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	for (int i = 0; i < count; i++)
		if (pthread_create(&last, NULL, wait_for_all, &barrier))
			return 3;
	pthread_barrier_wait(&barrier);
	pthread_join(last, NULL);
	puts("ok");
	return 0;
}

static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

static int as_told(char **argv)
{
	if (!strcmp(argv[1], "exec")) {
		execv(argv[2], argv + 2);
		return 3;
	}
	if (!strcmp(argv[1], "fail")) {
		execv("/nonexistent", argv);
		return 0;
	}
	if (!strcmp(argv[1], "print")) {
		/* What is behind the request is some hundred instructions of exit(). */
		printf("%llu\n", (unsigned long long)total(PM_EXACT_INSTRUCTIONS));
		return 0;
	}
	if (!strcmp(argv[1], "kill")) {
		raise(SIGTERM);
		return 3;
	}
	if (!strcmp(argv[1], "address")) {
		printf("%d\n", (int)VALGRIND_DO_CLIENT_REQUEST_EXPR(
				       0, PM_EXACT_REQUEST_TOTALS, 8, 0, 0, 0, 0));
		return 0;
	}
	if (!strcmp(argv[1], "threads"))
		return threads_at_once(atoi(argv[2]));
	if (!strcmp(argv[1], "handled"))
		signal(SIGILL, leave);
	if (!strcmp(argv[1], "unknown") ||
	    !strcmp(argv[1], "handled")) { /* to Valgrind, and to the CPU */
#if defined(__x86_64__)
		__asm__ volatile(".byte 0x0f, 0x0a");
#else
		__asm__ volatile(".word 0");
#endif
		return 3;
	}
	return 2;
}

int main(int argc, char **argv)
{
	uintptr_t found =
		VALGRIND_DO_CLIENT_REQUEST_EXPR(0, PM_EXACT_REQUEST_FIND, 0, 0, 0, 0, 0);
	size_t i;

	if (argc > 1)
		return as_told(argv);
	tool = (const struct pm_exact *)found;
	if (!tool) {
		fprintf(stderr, "the tool does not run\n");
		return 2;
	}
	say(tool->size == sizeof(*tool) && tool->version == PM_EXACT_VERSION &&
		    tool->events == EVENTS,
	    "the tool says what it is");
	for (i = 0; i < EVENTS; i++) {
		uint64_t want = i == PM_EXACT_INSTRUCTIONS && is_counted(0) ? BESIDE : 0;

		if (nothing(i) != want)
			say(false, names[i]);
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		check(&known[i]);
	if (is_counted(PM_EXACT_INSTRUCTIONS)) {
		check_threads();
		check_fork();
		check_signals();
		check_faults();
		check_dlopen();
#if defined(__x86_64__)
		check_written();
#endif
	}
	return failed;
}
