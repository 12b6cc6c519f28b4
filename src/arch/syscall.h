/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A system call of three arguments. It returns the kernel's own result, a negative errno
 * on failure, and leaves errno alone. It is for calls that must cost no more than the
 * kernel's own work. Only core/kernel/kernel.c uses it.
 */
#ifndef PM_ARCH_SYSCALL_H
#define PM_ARCH_SYSCALL_H

#if defined(__x86_64__) && defined(__LP64__) && !defined(PERFMON_ARCH_GENERIC)
static inline long pm_arch_syscall3(long number, long a, long b, long c)
{
	long result;

	__asm__ __volatile__("syscall"
			     : "=a"(result)
			     : "a"(number), "D"(a), "S"(b), "d"(c)
			     : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__) && defined(__LP64__) && !defined(PERFMON_ARCH_GENERIC)
static inline long pm_arch_syscall3(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ __volatile__("svc 0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2)
			     : "memory", "cc");
	return x0;
}
#elif defined(__riscv) && __riscv_xlen == 64 && !defined(PERFMON_ARCH_GENERIC)
static inline long pm_arch_syscall3(long number, long a, long b, long c)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;

	__asm__ __volatile__("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}
#else
#include <errno.h>
#include <unistd.h>

static inline long pm_arch_syscall3(long number, long a, long b, long c)
{
	int saved = errno;
	long result = syscall(number, a, b, c);

	if (result < 0)
		result = -errno;
	errno = saved;
	return result;
}
#endif

#endif
