/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls from code that expects its registers to be kept: BEGIN and END of a region, which the
 * macros of perfmon/region.h call from an asm statement, and the slow path that these call.
 *
 * Such a call changes no register of floating point or vectors, of any width, and of the others
 * only these:
 *
 *   x86-64     rax rcx rdx rsi rdi r8 r9, and the flags. Nothing is known of the stack's
 *              alignment.
 *   aarch64    x0 to x8, x14, x16, x17, x30, and the flags
 *
 * On x86-64 an asm statement cannot make a call: that would write into the red zone of its
 * function, and a stack pointer that it moved would be unknown to unwinding. So it jumps to an
 * entry with the address behind it in rsi (PERFMON_ARCH_ENTRY), which makes the call. At each
 * instruction of this a profiler and gdb find the frames further out.
 */
#ifndef PERFMON_ARCH_KEEP_H
#define PERFMON_ARCH_KEEP_H

#if defined(__x86_64__) && defined(__LP64__)
#define PERFMON_ARCH_KEEPS 1
#elif defined(__aarch64__)
#define PERFMON_ARCH_KEEPS 1
#else
#define PERFMON_ARCH_KEEPS 0
#endif

#if defined(__x86_64__) && !defined(__ASSEMBLER__)
/* clang cannot be told to keep r10 and r11. */
#ifdef __clang__
#define PERFMON_ARCH_PUSH                                                                \
	"	pushq %r10\n	.cfi_adjust_cfa_offset 8\n"                                       \
	"	pushq %r11\n	.cfi_adjust_cfa_offset 8\n"
#define PERFMON_ARCH_POP                                                                 \
	"	popq %r11\n	.cfi_adjust_cfa_offset -8\n"                                       \
	"	popq %r10\n	.cfi_adjust_cfa_offset -8\n"
#else
#define PERFMON_ARCH_PUSH ""
#define PERFMON_ARCH_POP  ""
#endif
#ifdef __CET__
#define PERFMON_ARCH_PAD "	endbr64\n"
#else
#define PERFMON_ARCH_PAD ""
#endif
/* Defines the entry NAME for the asm statements, which calls FUNCTION. */
#define PERFMON_ARCH_ENTRY(name, function)                                               \
	__asm__(".pushsection .text\n"                                                   \
		".type " #name ", @function\n" #name ":\n"                               \
		".cfi_startproc\n"                                                       \
		".cfi_def_cfa %rsp, 0\n"                                                 \
		".cfi_register %rip, %rsi\n" PERFMON_ARCH_PAD                            \
		"	leaq -128(%rsp), %rsp\n	.cfi_def_cfa_offset 128\n"                     \
		"	pushq %rsi\n	.cfi_def_cfa_offset 136\n"                                \
		".cfi_offset %rip, -136\n" PERFMON_ARCH_PUSH "	callq " #function        \
		"\n" PERFMON_ARCH_POP "	popq %rsi\n	.cfi_def_cfa_offset 128\n"           \
		".cfi_register %rip, %rsi\n"                                             \
		"	leaq 128(%rsp), %rsp\n	.cfi_def_cfa_offset 0\n"                        \
		"	notrack jmp *%rsi\n"                                                   \
		".cfi_endproc\n"                                                         \
		".size " #name ", . - " #name "\n"                                       \
		".popsection\n")
#endif

#ifdef __ASSEMBLER__
/* clang-format off */

/* The landing pad of an indirect call, where that is checked, and the note that says so. */
#if defined(__x86_64__) && defined(__CET__)
#include <cet.h>
#define PERFMON_ARCH_LANDING_PAD _CET_ENDBR
#elif defined(__ARM_FEATURE_BTI_DEFAULT) && __ARM_FEATURE_BTI_DEFAULT
#define PERFMON_ARCH_LANDING_PAD hint #34
	.pushsection .note.gnu.property, "a"
	.balign 8
	.long 4, 16, 5
	.asciz "GNU"
	.long 0xc0000000, 4, 1, 0
	.popsection
#else
#define PERFMON_ARCH_LANDING_PAD
#endif
	.section .note.GNU-stack, "", %progbits
	.text

.macro begin_function name
	.globl \name
	.hidden \name
	.type \name, %function
\name:
	.cfi_startproc
.endm

.macro end_function name
	.cfi_endproc
	.size \name, . - \name
.endm

#if defined(__x86_64__)
.macro jump_with_target function, body
	leaq \function(%rip), %rax
	jmp \body
.endm
#define PERFMON_ARCH_KEEP_OWN pm_arch_keep_own
#elif defined(__aarch64__)
.macro jump_with_target function, body
	adrp x16, \function
	add x16, x16, :lo12:\function
	b \body
.endm
#define PERFMON_ARCH_KEEP_OWN pm_arch_keep
#endif

/* Defines NAME, which makes an ordinary call of FUNCTION with up to five arguments and keeps
 * the registers. */
.macro keep name, function
	begin_function \name
	PERFMON_ARCH_LANDING_PAD
	jump_with_target \function, pm_arch_keep
	end_function \name
.endm

/* Defines the same for a function of which is known that it does not use x87. On x86-64 that is
 * cheaper by far. */
.macro keep_own name, function
	begin_function \name
	PERFMON_ARCH_LANDING_PAD
	jump_with_target \function, PERFMON_ARCH_KEEP_OWN
	end_function \name
.endm

/* Defines NAME as well. If FUNCTION returns an address, the function that POINTER + OFFSET points
 * to goes on with it. */
.macro keep_then name, function, pointer, offset
	begin_function \name
#if defined(__x86_64__)
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	leaq \function(%rip), %rax
	callq pm_arch_keep
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	movq %rax, %rdi
	testq %rax, %rax
	je 1f
	jmp *\pointer + \offset(%rip)
#elif defined(__aarch64__)
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	adrp x16, \function
	add x16, x16, :lo12:\function
	bl pm_arch_keep
	ldp x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	cbz x0, 1f
	adrp x16, \pointer
	add x16, x16, :lo12:\pointer
	ldr x16, [x16, #\offset]
	br x16
#endif
1:	ret
	end_function \name
.endm

/* clang-format on */
#endif

#endif
