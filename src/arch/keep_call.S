/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* These functions save the registers around a call: see arch/keep.h. */
#include "arch/keep.h"

#if defined(__x86_64__) && PERFMON_ARCH_KEEPS

.macro enter_frame
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %r10
	pushq %r11
.endm

.macro leave_frame
	movq -16(%rbp), %r11
	movq -8(%rbp), %r10
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
.endm

/* rax has the function to call. Its state of x87 is empty, as in each call; what is saved may
 * have values there. XRSTOR needs a header that is zero behind its first two words. */
.macro keep_and_call
	enter_frame
	movq %rax, %r10
	movq %rdx, %r11
	movl pm_arch_keep_bytes(%rip), %eax
	subq %rax, %rsp
	andq $-64, %rsp
	cmpl $1, pm_arch_keep_how(%rip)
	jb 1f
	movl $0, %eax
	.irp at, 512, 520, 528, 536, 544, 552, 560, 568
	movq %rax, \at(%rsp)
	.endr
	movl $0, %edx
	movl pm_arch_keep_parts(%rip), %eax
	je 2f
	xsavec (%rsp)
	jmp 3f
1:	fxsave64 (%rsp)
	jmp 3f
2:	xsave (%rsp)
3:	fninit
	movq %r11, %rdx
	callq *%r10
	movq %rax, %r10
	movl $0, %edx
	movl pm_arch_keep_parts(%rip), %eax
	cmpl $0, pm_arch_keep_how(%rip)
	je 4f
	xrstor (%rsp)
	jmp 5f
4:	fxrstor64 (%rsp)
5:	movq %r10, %rax
	leave_frame
.endm

/* Moves the registers with these numbers to the stack, from BASE on, or from there. */
.macro move_each out, move, register, base, size, numbers:vararg
	.irp n, \numbers
	.if \out
	\move %\register\n, \base + \size * \n(%rsp)
	.else
	\move \base + \size * \n(%rsp), %\register\n
	.endif
	.endr
.endm

/* Moves the vector registers whose parts (keep.c) eax has to the stack, or from there. Each part
 * has its own test. AMD's CPUs say that the masks and registers 16 to 31 are in use even where
 * nobody has used them. Loading registers 0 to 15 whole would then slow down SSE code by a tenth,
 * until something clears their upper halves. */
.macro move_vectors out
	testl $0x40, %eax
	jnz 6f
	testl $4, %eax
	jnz 7f
	move_each \out, movaps, xmm, 0, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	jmp 8f
7:	move_each \out, vmovaps, ymm, 0, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	jmp 8f
6:	move_each \out, vmovaps, zmm, 0, 64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
8:	testl $0x80, %eax
	jz 9f
	move_each \out, vmovaps, zmm, 0, 64, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
9:	testl $0x20, %eax
	jz 10f
	move_each \out, kmovq, k, 2048, 8, 0, 1, 2, 3, 4, 5, 6, 7
10:
.endm

/* Parts that were not in use were zero, and a program may rely on that. Makes them zero again if
 * the function has used them: 2112(%rsp) has those that are restored. */
.macro zero_the_others
	movl pm_arch_keep_moves(%rip), %r11d
	testl %r11d, %r11d
	jz 5f
	testl $4, 2112(%rsp)
	jnz 4f
	vzeroupper
4:	movl 2112(%rsp), %eax
	notl %eax
	andl %eax, %r11d
	testl $0xa0, %r11d
	jz 5f
	movl $1, %ecx
	xgetbv
	andl %eax, %r11d
	testl $0x80, %r11d
	jz 9f
	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vpxorq %zmm\n, %zmm\n, %zmm\n
	.endr
9:	testl $0x20, %r11d
	jz 5f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	kxorq %k\n, %k\n, %k\n
	.endr
5:
.endm

/* XGETBV with 1 says which parts are in use: the others are not touched, since code with the
 * upper halves in use is slower. */
.macro keep_own_and_call
	enter_frame
	pushq %rcx
	pushq %rdx
	movq %rax, %r10
	movl pm_arch_keep_moves(%rip), %eax
	testl %eax, %eax
	js 1f
	jz 2f
	movl $1, %ecx
	xgetbv
	andl pm_arch_keep_moves(%rip), %eax
2:	movq -24(%rbp), %rcx
	movq -32(%rbp), %rdx
	subq $2176, %rsp
	andq $-64, %rsp
	movl %eax, 2112(%rsp)
	stmxcsr 2116(%rsp)
	move_vectors 1
	callq *%r10
	movq %rax, %r10
	zero_the_others
	movl 2112(%rsp), %eax
	move_vectors 0
	ldmxcsr 2116(%rsp)
	movq %r10, %rax
	jmp 3f
1:	movq -24(%rbp), %rcx
	movq -32(%rbp), %rdx
	movq %r10, %rax
	callq pm_arch_keep
3:	leave_frame
.endm

#elif defined(__aarch64__)

	.arch_extension sve

.macro each_vector move
	.set at, 0
	.irp n, "0, q1", "2, q3", "4, q5", "6, q7", "8, q9", "10, q11", "12, q13", "14, q15", \
		"16, q17", "18, q19", "20, q21", "22, q23", "24, q25", "26, q27", "28, q29", \
		"30, q31"
	\move q\n, [sp, #at]
	.set at, at + 32
	.endr
.endm

/* A scalable register holds eight predicates. */
.macro each_scalable move
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 26, 27, 28, 29, 30, 31
	\move z\n, [sp, #\n, mul vl]
	.endr
	addvl x17, sp, #16
	addvl x17, x17, #16
.endm

.macro each_predicate move
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\move p\n, [x17, #\n, mul vl]
	.endr
.endm

/* x16 has the function to call. The low parts of scalable vectors are the other vectors. */
.macro keep_and_call
	stp x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset x29, -96
	.cfi_offset x30, -88
	mov x29, sp
	.cfi_def_cfa_register x29
	stp x9, x10, [sp, #16]
	stp x11, x12, [sp, #32]
	stp x13, x14, [sp, #48]
	stp x15, x18, [sp, #64]
	mrs x17, fpsr
	str x17, [sp, #80]
	adrp x17, pm_arch_keep_scalable
	ldr w17, [x17, :lo12:pm_arch_keep_scalable]
	cbnz w17, 1f
	sub sp, sp, #512
	each_vector stp
	blr x16
	each_vector ldp
	b 2f
1:	addvl sp, sp, #-32
	addvl sp, sp, #-3
	each_scalable str
	each_predicate str
	rdffr p0.b
	str p0, [x17, #16, mul vl]
	blr x16
	each_scalable ldr
	ldr p0, [x17, #16, mul vl]
	wrffr p0.b
	each_predicate ldr
2:	mov sp, x29
	ldr x17, [sp, #80]
	msr fpsr, x17
	ldp x9, x10, [sp, #16]
	ldp x11, x12, [sp, #32]
	ldp x13, x14, [sp, #48]
	ldp x15, x18, [sp, #64]
	ldp x29, x30, [sp], #96
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, 0
	ret
.endm

#endif

#if PERFMON_ARCH_KEEPS
	begin_function pm_arch_keep
	keep_and_call
	end_function pm_arch_keep
#ifdef __x86_64__
	begin_function pm_arch_keep_own
	keep_own_and_call
	end_function pm_arch_keep_own
#endif
#endif
