/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The accessor stubs of the CPUs that name a counter in the instruction word, generated
 * by the assembler so that entry i cannot read another register than i. Each returns
 * through the scratch register that perfmon_arch_counter_read() filled.
 */
#include "arch/arch.h"

#define TABLE(name)                                                                      \
	"	.balign 64\n"                                                                  \
	"	.hidden " name "\n"                                                      \
	"	.globl " name "\n"                                                       \
	"	.type " name ", %function\n" name ":\n"

#if defined(__aarch64__) && !defined(PERFMON_ARCH_GENERIC)
/* Index 1 to 31 is PMEVCNTR0_EL0 to PMEVCNTR30_EL0, 32 is PMCCNTR_EL0. */
#define STUBS(name, rest)                                                                \
	TABLE(name)                                                                      \
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "        \
	"18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n"                           \
	"	mrs x16, pmevcntr\\n\\()_el0\n" rest "	.endr\n"                          \
	"	mrs x16, pmccntr_el0\n" rest

__asm__(".pushsection .text\n" STUBS("perfmon_arch_counter_stubs", "	br x17\n")
		STUBS("perfmon_arch_value32_stubs",
		      "	add x16, x15, w16, sxtw\n	ret\n	nop\n")
			STUBS("perfmon_arch_value64_stubs",
			      "	add x16, x15, x16\n	ret\n	nop\n")
				TABLE("perfmon_arch_stubs_end") "	.popsection\n");
#elif defined(__riscv) && __riscv_xlen == 64 && !defined(PERFMON_ARCH_GENERIC)
__asm__(".pushsection .text\n"
	"	.option push\n"
	"	.option norvc\n" TABLE(
		"perfmon_arch_counter_stubs") "	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "
					      "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, "
					      "20, 21, 22, 23, 24, 25, 26, 27, 28, 29, "
					      "30, 31\n"
					      "	csrr t0, 0xC00 + \\n\n"
					      "	jr t1\n"
					      "	.endr\n"
					      "	.option pop\n"
					      "	.popsection\n");
#else
/* This CPU needs no stubs; a translation unit may not be empty. */
extern const int perfmon_arch_counters_none;
const int perfmon_arch_counters_none __attribute__((visibility("hidden"))) = 0;
#endif
