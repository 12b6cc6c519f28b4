/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The instruction that reads a counter, run for real. It faults in a process that has no
 * counter open: on x86 a handler emulates it, choosing a simulated counter by what rdpmc
 * was given; on arm64 the accessors are decoded. And the recovery from that fault.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastpath/fastpath.h"
#include "helpers.h"
#include "core/kernel/kernel.h"
#include "perfmon/session.h"

#if defined(__x86_64__) || defined(__aarch64__)
static struct perf_event_mmap_page page;
static struct perfmon_counter_view view;

static void write_page(uint32_t index, int64_t offset, unsigned int width)
{
	page.cap_user_rdpmc = 1;
	page.lock++;
	page.index = index;
	page.offset = offset;
	page.pmc_width = (uint16_t)width;
	page.lock++;
}
#endif

#if defined(__x86_64__)
#define FAULT SIGSEGV

static uint64_t general[8], fixed[4];
static volatile unsigned int emulated;

static void emulate(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *pc = (const unsigned char *)registers[REG_RIP];
	uint32_t which = (uint32_t)registers[REG_RCX];
	uint64_t value;

	(void)info;
	if (pc[0] != 0x0f || pc[1] != 0x33)
		_exit(100 + number);
	value = which & 0x40000000 ? fixed[which & 3] : general[which & 7];
	registers[REG_RAX] = (greg_t)(uint32_t)value;
	registers[REG_RDX] = (greg_t)(value >> 32);
	registers[REG_RIP] += 2;
	emulated++;
}

Test(counter_read, rdpmc_gets_the_page_s_index_less_one)
{
	struct sigaction action = {.sa_sigaction = emulate, .sa_flags = SA_SIGINFO};
	uint64_t value, raw;

	cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
	for (uint32_t i = 0; i < 8; i++) {
		general[i] = 0x800000000000 + 1000 * i; /* -2^47 + ... in 48 bits */
		write_page(i + 1, INT64_C(1) << 47, 48);
		pm_view_init(&view, &page, 5);
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(value, 1000 * i + 5);
		cr_assert_eq(perfmon_view_sample(&view, &raw), 0);
		cr_assert_eq(raw, general[i]);
	}
	for (uint32_t i = 0; i < 4; i++) {
		fixed[i] = 77 + i;
		write_page(0x40000001 + i, 0, 40);
		pm_view_init(&view, &page, 0);
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(value, 77 + i);
	}
	cr_assert_eq(emulated, 2 * 8 + 4);
}

/* What rdpmc gives for the topdown metrics is no count: it is never asked. */
Test(counter_read, packed_metrics_are_left_to_the_system_call)
{
	struct sigaction action = {.sa_sigaction = emulate, .sa_flags = SA_SIGINFO};
	uint64_t value = 17, raw = 17;

	cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
	write_page((1u << 29) + 1, 0, 48);
	pm_view_init(&view, &page, 0);
	cr_assert_eq(pm_view_read(&view, &value), -EOPNOTSUPP);
	cr_assert_eq(perfmon_view_sample(&view, &raw), 1);
	cr_assert_eq(value, 17);
	cr_assert_eq(raw, 17);
	cr_assert_eq(emulated, 0);
}

#elif defined(__aarch64__)
#define FAULT SIGILL

/* mrs Xt, S3_3_C14_Cm_op2: PMEVCNTR<n>_EL0 has CRm = 8 + n / 8, op2 = n % 8;
 * PMCCNTR_EL0 is S3_3_C9_C13_0. (Arm Architecture Reference Manual, C5.3, D19.5) */
static uint32_t mrs_x16(unsigned int n)
{
	uint32_t op1 = 3, crn = 14, crm = 8 + n / 8, op2 = n % 8;

	if (n == 31) {
		crn = 9;
		crm = 13;
		op2 = 0;
	}
	return 0xd5300000 | 1 << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5 | 16;
}

Test(counter_read, every_accessor_reads_the_register_it_is_for)
{
	for (uint32_t index = 1; index <= 32; index++) {
		const uint32_t *raw =
			(const uint32_t *)perfmon_arch_counter_handle(index);
		const uint32_t *value32 =
			(const uint32_t *)perfmon_arch_value_handle(index, 32);
		const uint32_t *value64 =
			(const uint32_t *)perfmon_arch_value_handle(index, 64);

		cr_assert_eq(raw[0], mrs_x16(index - 1), "index %u", index);
		cr_assert_eq(raw[1], 0xd61f0220, "br x17");
		cr_assert_eq(value32[0], mrs_x16(index - 1), "index %u", index);
		cr_assert_eq(value32[1], 0x8b30c1f0, "add x16, x15, w16, sxtw");
		cr_assert_eq(value32[2], 0xd65f03c0, "ret");
		cr_assert_eq(value64[0], mrs_x16(index - 1), "index %u", index);
		cr_assert_eq(value64[1], 0x8b1001f0, "add x16, x15, x16");
		cr_assert_eq(value64[2], 0xd65f03c0, "ret");
	}
	cr_assert_eq(perfmon_arch_counter_handle(33u), PERFMON_ARCH_NO_HANDLE);
	cr_assert_eq(perfmon_arch_counter_handle(0u), PERFMON_ARCH_NO_HANDLE);
	cr_assert_eq(perfmon_arch_value_handle(33u, 64), PERFMON_ARCH_NO_HANDLE);
	cr_assert_eq(perfmon_arch_value_handle(0u, 64), PERFMON_ARCH_NO_HANDLE);
	cr_assert_eq(perfmon_arch_value_handle(1u, 48), PERFMON_ARCH_NO_HANDLE);
}
#elif defined(__riscv) && __riscv_xlen == 64
/* csrrs t0, 0xC00 + n, zero; jr t1. (RISC-V unprivileged specification, "Zicsr") */
Test(counter_read, every_accessor_reads_the_register_it_is_for)
{
	for (uint32_t index = 1; index <= 32; index++) {
		const uint32_t *raw =
			(const uint32_t *)perfmon_arch_counter_handle(index);

		cr_assert_eq(raw[0], 0xc00022f3 + ((index - 1) << 20), "index %u", index);
		cr_assert_eq(raw[1], 0x00030067, "jr t1");
	}
	cr_assert_eq(perfmon_arch_counter_handle(33u), PERFMON_ARCH_NO_HANDLE);
	cr_assert_eq(perfmon_arch_counter_handle(0u), PERFMON_ARCH_NO_HANDLE);
}
#endif

/* --- recovery ----------------------------------------------------------------------- */

#ifdef FAULT
Test(counter_read, a_read_that_faults_falls_back_to_the_system_call)
{
	uint64_t value = 77, raw = 77;

	write_page(1, 1000, 32);
	pm_view_init(&view, &page, 0);
	cr_assert_eq(perfmon_recovery_install(), 0);
	cr_assert_eq(perfmon_recovery_install(), 0, "twice is once");
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(value, 77);
	/* The view stays refused, without further faults. */
	cr_assert_eq(sigaction(FAULT, &(struct sigaction){.sa_handler = SIG_DFL}, NULL),
		     0);
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(perfmon_view_sample(&view, &raw), 1);
}

Test(counter_read, a_raw_sample_that_faults_is_refused)
{
	uint64_t raw;

	write_page(1, 1000, 32);
	pm_view_init(&view, &page, 0);
	cr_assert_eq(pm_view_refresh(&view), 0);
	cr_assert_eq(perfmon_recovery_install(), 0);
	cr_assert_eq(perfmon_view_sample(&view, &raw), 1);
	cr_assert_eq(pm_view_refresh(&view), -EAGAIN);
}

static volatile int handled;

static void handle(int number)
{
	handled = number;
}

static void handle_with_context(int number, siginfo_t *info, void *context)
{
	handled = number;
	(void)info;
#if defined(__x86_64__)
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
#else
	((ucontext_t *)context)->uc_mcontext.pc += 4;
#endif
}

/* A fault of the program's own, even at its own counter read. */
static void own_fault(void)
{
#if defined(__x86_64__)
	__asm__ volatile("rdpmc" ::"c"(0) : "eax", "edx");
#else
	__asm__ volatile("mrs x0, pmevcntr0_el0" ::: "x0");
#endif
}

Test(counter_read, any_other_fault_goes_to_the_earlier_handler)
{
	struct sigaction action = {.sa_sigaction = handle_with_context,
				   .sa_flags = SA_SIGINFO};
	uint64_t value;

	cr_assert_eq(sigaction(FAULT, &action, NULL), 0);
	cr_assert_eq(perfmon_recovery_install(), 0);
	own_fault();
	cr_assert_eq(handled, FAULT);
	handled = 0;
	raise(FAULT);
	cr_assert_eq(handled, FAULT, "a signal that somebody sent, too");
	handled = 0;
	write_page(1, 1000, 32);
	pm_view_init(&view, &page, 0);
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(handled, 0, "our own is ours");
}

Test(counter_read, earlier_handlers_of_the_old_kind_are_called)
{
	cr_assert_neq(signal(FAULT, handle), SIG_ERR);
	cr_assert_eq(perfmon_recovery_install(), 0);
	raise(FAULT);
	cr_assert_eq(handled, FAULT);
}

Test(counter_read, without_an_earlier_handler_the_program_dies_as_it_would)
{
	for (int sent = 0; sent < 2; sent++) {
		int status;
		pid_t child = fork();

		if (!child) {
			signal(FAULT, SIG_DFL);
			if (perfmon_recovery_install())
				_exit(1);
			if (sent)
				raise(FAULT);
			else
				own_fault();
			_exit(2);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFSIGNALED(status), "%#x", status);
		cr_assert_eq(WTERMSIG(status), FAULT);
	}
}

static atomic_int second; /* 1: about to call, 2: not installed, 3: installed */

static void *install_second(void *unused)
{
	struct sigaction action;

	atomic_store(&second, 1);
	CHECK(!perfmon_recovery_install());
	CHECK(!sigaction(FAULT, NULL, &action));
	atomic_store(&second, action.sa_flags & SA_SIGINFO ? 3 : 2);
	return unused;
}

/* In the first call of the first thread, which has installed nothing yet. */
static int let_second_go_first(enum pm_kernel_call call)
{
	pthread_t thread;

	if (call == PM_CALL_SIGACTION && !atomic_load(&second)) {
		CHECK(!pthread_create(&thread, NULL, install_second, NULL));
		pthread_detach(thread);
		WAIT_UNTIL(atomic_load(&second));
		/* Long enough to return too early: at worst nothing is shown. */
		let_time_pass_ms(20);
	}
	return 0;
}

Test(counter_read, recovery_is_installed_when_any_call_returns)
{
	signal(FAULT, SIG_DFL);
	pm_kernel_fault = let_second_go_first;
	cr_assert_eq(perfmon_recovery_install(), 0);
	pm_kernel_fault = NULL;
	WAIT_UNTIL(atomic_load(&second) > 1);
	cr_assert_eq(atomic_load(&second), 3);
}
#else
Test(counter_read, recovery_is_refused_where_it_is_unknown)
{
	cr_assert_eq(perfmon_recovery_install(), -EOPNOTSUPP);
}
#endif
