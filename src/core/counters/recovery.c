/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The opt-in handler for a counter read that faults because user access was lost. It
 * skips the read and replaces its check word by one that no page has, so that the sample
 * fails. The refresh that follows finds all views revoked and falls back to read(2).
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ucontext.h>

#include "core/api/export.h"
#include "core/kernel/kernel.h"
#include "core/kernel/locks.h"
#include "fastpath/fastpath.h"
#include "perfmon/session.h"

#if defined(__aarch64__) && !defined(PERFMON_ARCH_GENERIC)

#define FAULT_SIGNAL SIGILL

/* Skips a read by the registers of the stubs: see arch/aarch64.h. */
static bool step_over_read(ucontext_t *context)
{
	mcontext_t *machine = &context->uc_mcontext;
	uintptr_t pc = machine->pc;

	if (pc < (uintptr_t)perfmon_arch_counter_stubs ||
	    pc >= (uintptr_t)perfmon_arch_stubs_end)
		return false;
	machine->regs[16] = 0;
	machine->regs[14] = PERFMON_VIEW_STALE;
	machine->pc = pc + 4;
	return true;
}

#elif defined(__x86_64__) && !defined(PERFMON_ARCH_GENERIC)

#define FAULT_SIGNAL SIGSEGV

/* Skips a read by the instruction and its mark: see arch/x86_64.h. */
static bool step_over_read(ucontext_t *context)
{
	static const unsigned char read[] = {0x0f, 0x33, 0x0f, 0x1f, 0x80};
	const int mark = PERFMON_ARCH_READ_MARK;
	greg_t *registers = context->uc_mcontext.gregs;
	const unsigned char *pc = (const unsigned char *)registers[REG_RIP];

	/* A fault of rdpmc is a general protection fault, which has no address. The code
	 * at a fault with an address may not be readable. */
	if (registers[REG_TRAPNO] != 13 || memcmp(pc, read, sizeof(read)) != 0 ||
	    memcmp(pc + sizeof(read), &mark, sizeof(mark)) != 0)
		return false;
	registers[REG_RAX] = 0;
	registers[REG_RDX] = 0;
	registers[REG_R8] = PERFMON_VIEW_STALE;
	registers[REG_RIP] += 2;
	return true;
}

#endif

#ifdef FAULT_SIGNAL

static struct sigaction earlier;

/* Passes any other fault to the handler that was installed before. */
static void hand_on(int number, siginfo_t *info, void *context)
{
	if (earlier.sa_flags & SA_SIGINFO) {
		earlier.sa_sigaction(number, info, context);
	} else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
		earlier.sa_handler(number);
	} else {
		struct sigaction standard = {.sa_handler = SIG_DFL};

		/* The instruction runs again and the fault takes its default action. A
		 * fault cannot be ignored. A signal that another process sent comes only
		 * once, so it is raised again. */
		pm_kernel_sigaction(number, &standard, NULL);
		if (info->si_code <= 0)
			pm_kernel_raise(number);
	}
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	if (info->si_code > 0 && step_over_read(context))
		pm_view_revoke_all();
	else
		hand_on(number, info, context);
}

static int install(void)
{
	struct sigaction action = {.sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int err;

	/* The earlier handler must be known before ours can be called. */
	err = pm_kernel_sigaction(FAULT_SIGNAL, NULL, &earlier);
	if (err)
		return err;
	action.sa_mask = earlier.sa_mask;
	action.sa_flags |= earlier.sa_flags & SA_NODEFER;
	return pm_kernel_sigaction(FAULT_SIGNAL, &action, NULL);
}

PM_EXPORT int perfmon_recovery_install(void)
{
	static bool installed;
	int err = 0;

	/* A second caller returns after the first one has installed the handler. */
	pm_locks_take(PM_LOCK_RECOVERY);
	if (!installed)
		err = install();
	installed = !err;
	pm_locks_release(PM_LOCK_RECOVERY);
	return err;
}

#else

PM_EXPORT int perfmon_recovery_install(void)
{
	return -EOPNOTSUPP;
}

#endif
