/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses what keep_call.S saves. Until then, before the constructors of this library, vectors of
 * 128 bits are saved. */
#include "arch/keep.h"

#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

#if defined(__x86_64__) && PERFMON_ARCH_KEEPS
#include <cpuid.h>

/* Intel SDM volume 1, chapter 13. */
enum { FXSAVE, XSAVE, XSAVEC };
extern uint32_t pm_arch_keep_how, pm_arch_keep_parts, pm_arch_keep_bytes,
	pm_arch_keep_moves;
HIDDEN uint32_t pm_arch_keep_how = FXSAVE;
HIDDEN uint32_t pm_arch_keep_parts;
HIDDEN uint32_t pm_arch_keep_bytes = 512;
/* The parts that single instructions move, if the CPU tells which of them are in use. 0: only
 * those of 128 bits exist. Bit 31: all is saved as for any function. */
HIDDEN uint32_t pm_arch_keep_moves = UINT32_C(1) << 31;

/* x87, SSE, AVX, the masks and wider registers of AVX-512, and the integer registers of APX.
 * The functions that are called use neither tiles nor protection keys. */
#define PARTS UINT32_C(0x800e7)

/* The legacy area and the header. */
#define FIRST_BYTES 576
#define ALIGNMENT   UINT32_C(64)

/* Those of AVX and AVX-512. */
#define VECTORS UINT32_C(0xe4)

/* AVX512BW moves masks of 64 bits. */
static uint32_t moves(uint32_t vectors, uint32_t says_which)
{
	uint32_t a, b, c, d;

	if (!vectors)
		return 0;
	if (vectors & ~UINT32_C(4)) {
		__cpuid_count(7, 0, a, b, c, d);
		if (!(b & bit_AVX512BW))
			says_which = 0;
	}
	return says_which ? vectors : UINT32_C(1) << 31;
}

__attribute__((constructor(101))) static void choose(void)
{
	uint32_t a, b, c, d, parts, bytes = FIRST_BYTES, how = XSAVE;

	__cpuid(1, a, b, c, d);
	if (!(c & bit_OSXSAVE)) {
		pm_arch_keep_moves = 0;
		return;
	}
	__asm__("xgetbv" : "=a"(parts), "=d"(d) : "c"(0));
	parts &= PARTS;
	__cpuid_count(13, 1, a, b, c, d);
	if (a & 2)
		how = XSAVEC;
	pm_arch_keep_moves = moves(parts & VECTORS, a & 4);
	for (uint32_t i = 2; i < 32; i++) {
		if (!(parts >> i & 1))
			continue;
		__cpuid_count(13, i, a, b, c, d);
		/* Compacted, parts stand in their order; otherwise each has its place. */
		if (how == XSAVEC)
			bytes = ((bytes + ALIGNMENT - 1) & -ALIGNMENT) + a;
		else if (a + b > bytes)
			bytes = a + b;
	}
	pm_arch_keep_parts = parts;
	pm_arch_keep_bytes = bytes;
	/* The release pairs with the order in which keep_call.S loads them: x86 keeps it. */
	__atomic_store_n(&pm_arch_keep_how, how, __ATOMIC_RELEASE);
}

#elif PERFMON_ARCH_KEEPS
#include <sys/auxv.h>

/* Is 1 if there are scalable vectors. */
extern uint32_t pm_arch_keep_scalable;
HIDDEN uint32_t pm_arch_keep_scalable;

#define SVE (UINT64_C(1) << 22) /* HWCAP_SVE of asm/hwcap.h */

__attribute__((constructor(101))) static void choose(void)
{
	pm_arch_keep_scalable = (getauxval(AT_HWCAP) & SVE) != 0;
}

#else
/* A translation unit may not be empty. */
extern const int pm_arch_keep_none;
HIDDEN const int pm_arch_keep_none = 0;
#endif
