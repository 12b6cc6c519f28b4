/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include "core/kernel/kernel.h"

#define SIZE ((size_t)256 << 10)

/* The sanitizers know one stack for each thread. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ONE_STACK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONE_STACK 1
#endif
#endif
#ifndef ONE_STACK
#define ONE_STACK 0
#endif

struct detour {
	void (*run)(void *argument);
	void *argument;
	ucontext_t here, there;
};

/* makecontext(3) passes only int. */
static __thread struct detour *current;

static void enter(void)
{
	struct detour *detour = current;

	detour->run(detour->argument);
}

void pm_stack_run(void (*run)(void *argument), void *argument)
{
	struct detour *detour;
	void *memory;

	if (ONE_STACK || pm_kernel_mmap(&memory, SIZE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
		run(argument);
		return;
	}
	/* The structure stands at the far end of the stack, which is used last. */
	detour = memory;
	*detour = (struct detour){.run = run, .argument = argument};
	if (getcontext(&detour->there)) {
		pm_kernel_munmap(memory, SIZE);
		run(argument);
		return;
	}
	detour->there.uc_stack.ss_sp = detour + 1;
	detour->there.uc_stack.ss_size = SIZE - sizeof(*detour);
	detour->there.uc_link = &detour->here;
	makecontext(&detour->there, enter, 0);
	current = detour;
	swapcontext(&detour->here, &detour->there);
	pm_kernel_munmap(memory, SIZE);
}
