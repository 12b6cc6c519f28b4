/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that keep the registers, made by src/arch/keep_call.S, of functions that use all that they
 * may: see test_keep.c. */
#include "arch/keep.h"

#if PERFMON_ARCH_KEEPS

	keep keep_all, keep_wreck
	keep_own keep_some, keep_wreck
	keep keep_all_sum, keep_sum
	keep_own keep_some_sum, keep_sum

	.bss
	.balign 8
.macro variable name
	.globl \name
	.hidden \name
\name:
	.zero 8
.endm
	/* The parts that keep_wreck uses. */
	variable keep_wreck_parts
	/* Whether its stack was aligned as functions expect that. */
	variable keep_wreck_aligned
	.text

#if defined(__x86_64__)

	/* What pm_arch_keep_moves is behind keep_wreck. */
	.bss
	variable keep_wreck_moves
	.text

	/* As from a function that does not align its stack. */
	begin_function keep_all_shifted
	pushq %rax
	.cfi_adjust_cfa_offset 8
	callq keep_all
	popq %rcx
	.cfi_adjust_cfa_offset -8
	ret
	end_function keep_all_shifted
	begin_function keep_some_shifted
	pushq %rax
	.cfi_adjust_cfa_offset 8
	callq keep_some
	popq %rcx
	.cfi_adjust_cfa_offset -8
	ret
	end_function keep_some_shifted

	begin_function keep_wreck
	leaq 8(%rsp), %rax
	andl $15, %eax
	sete %al
	movb %al, keep_wreck_aligned(%rip)
	movl keep_wreck_moves(%rip), %eax
	movl %eax, pm_arch_keep_moves(%rip)
	movl keep_wreck_parts(%rip), %eax
	testl $1, %eax
	jz 1f
	fldcw 3f(%rip)
	.rept 3
	fldpi
	.endr
1:	ldmxcsr 4f(%rip)
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	pcmpeqd %xmm\n, %xmm\n
	.endr
	testl $4, %eax
	jz 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vinsertf128 $1, %xmm\n, %ymm\n, %ymm\n
	.endr
1:	testl $0x40, %eax
	jz 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vpternlogd $0xff, %zmm\n, %zmm\n, %zmm\n
	.endr
1:	testl $0x80, %eax
	jz 1f
	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vpternlogd $0xff, %zmm\n, %zmm\n, %zmm\n
	.endr
1:	testl $0x20, %eax
	jz 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	kxnorq %k\n, %k\n, %k\n
	.endr
1:	.irp n, ax, cx, dx, si, di
	movq $-1, %r\n
	.endr
	.irp n, 8, 9, 10, 11
	movq $-1, %r\n
	.endr
	ret
	end_function keep_wreck
	.section .rodata
3:	.short 0xf7f /* rounds to zero */
	.balign 4
4:	.long 0x7f80

#elif defined(__aarch64__)

	.arch_extension sve
	/* keep_wreck_parts: bit 0, scalable vectors. */
	begin_function keep_wreck
	mov x0, sp
	tst x0, #15
	cset w1, eq
	adrp x0, keep_wreck_aligned
	strb w1, [x0, :lo12:keep_wreck_aligned]
	adrp x0, keep_wreck_parts
	ldr w0, [x0, :lo12:keep_wreck_parts]
	cbz w0, 1f
	ptrue p0.b
	wrffr p0.b
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ptrue p\n\().b
	.endr
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 26, 27, 28, 29, 30, 31
	mov z\n\().b, #-1
	.endr
	b 2f
1:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	movi v\n\().16b, #255
	.endr
	/* The lower halves of 8 to 15 are the caller's. */
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	mov v\n\().d[1], xzr
	.endr
2:	mov x0, #0x9f
	msr fpsr, x0
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
	mov x\n, #-1
	.endr
	ret
	end_function keep_wreck

#endif
#endif
