/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * void pair_call(void (*call)(void), const void *pattern, void *after, uint64_t *integers,
 *                uint64_t parts);
 *
 * Loads all registers that a region's macro keeps from PATTERN, calls CALL, and stores them at
 * AFTER, and those of integers at INTEGERS. On x86-64 both are areas of XSAVE, of which PARTS
 * are used. On aarch64 they have the vector registers: with PARTS, the bytes of a scalable one,
 * these, the predicates and the first-fault register.
 */
	.section .note.GNU-stack, "", %progbits
	.text
	.globl pair_call
	.type pair_call, %function
pair_call:
	.cfi_startproc
#if defined(__x86_64__) && defined(__LP64__)
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	subq $8, %rsp
	movq %rdi, %rbx
	movq %rsi, %r12
	movq %rdx, %r13
	movq %rcx, %r14
	movq %r8, %r15
	movl %r15d, %eax
	xorl %edx, %edx
	xrstor (%r12)
	movabsq $0x1010101010101010, %r10
	movabsq $0x1111111111111111, %r11
	callq *%rbx
	movq %r10, (%r14)
	movq %r11, 8(%r14)
	movl %r15d, %eax
	xorl %edx, %edx
	xsave (%r13)
	fninit
	addq $8, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
#elif defined(__aarch64__)
	.arch_extension sve
.macro vectors move, at
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 26, 27, 28, 29, 30, 31
	\move q\n, [\at, #16 * \n]
	.endr
.endm
.macro scalable move, at
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 26, 27, 28, 29, 30, 31
	\move z\n, [\at, #\n, mul vl]
	.endr
	addvl \at, \at, #16
	addvl \at, \at, #16
.endm
.macro predicates move, at
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\move p\n, [\at, #\n, mul vl]
	.endr
.endm
	stp x29, x30, [sp, #-176]!
	.cfi_def_cfa_offset 176
	.cfi_offset x29, -176
	.cfi_offset x30, -168
	mov x29, sp
	.cfi_def_cfa_register x29
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mov x19, x0
	mov x20, x1
	mov x21, x2
	mov x22, x3
	mov x23, x4
	cbnz x23, 1f
	vectors ldr, x20
	b 2f
1:	scalable ldr, x20
	ldr p0, [x20, #16, mul vl]
	wrffr p0.b
	predicates ldr, x20
2:	.irp n, 9, 10, 11, 12, 13, 14, 15
	mov x\n, #0x1000 + \n
	.endr
	blr x19
	stp x9, x10, [x22]
	stp x11, x12, [x22, #16]
	stp x13, x14, [x22, #32]
	str x15, [x22, #48]
	cbnz x23, 3f
	vectors str, x21
	b 4f
3:	scalable str, x21
	predicates str, x21
	rdffr p0.b
	str p0, [x21, #16, mul vl]
4:	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	ldp x29, x30, [sp], #176
	ret
#endif
	.cfi_endproc
	.size pair_call, . - pair_call
