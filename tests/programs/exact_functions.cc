// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions without regions, for perfmon run --exact --function: each executes so many thousand
// instructions of its own in a visit, as tests/exact_functions.awk knows, and calls others in each of
// the ways in which a function begins and ends. Row: QU-02
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>

#define THOUSAND	asm volatile(".rept 1000\n\tnop\n\t.endr")
#define FUNCTION	extern "C" __attribute__((noinline)) void
#define AFTER_ALL_CALLS asm volatile("") // so that the call before is no jump

static volatile int calls; // stays 0 until the end

FUNCTION leaf()
{
	THOUSAND;
}

FUNCTION recurse(int depth)
{
	THOUSAND;
	THOUSAND;
	if (depth)
		recurse(depth - 1);
	AFTER_ALL_CALLS;
}

extern "C" void odd(int n);
FUNCTION even(int n)
{
	THOUSAND;
	if (n)
		odd(n - 1);
	AFTER_ALL_CALLS;
}

FUNCTION odd(int n)
{
	THOUSAND;
	if (n)
		even(n - 1);
	AFTER_ALL_CALLS;
}

// The last call is a jump where the compiler optimises.
FUNCTION tail()
{
	THOUSAND;
	leaf();
}

FUNCTION tail_of_tail()
{
	THOUSAND;
	tail();
}

static jmp_buf place;
FUNCTION deep(int depth)
{
	THOUSAND;
	if (!depth)
		longjmp(place, 1);
	if (!calls)
		deep(depth - 1);
	AFTER_ALL_CALLS;
}

FUNCTION jumps()
{
	if (!setjmp(place))
		deep(3);
	THOUSAND;
	leaf();
	THOUSAND;
}

FUNCTION throws(int depth)
{
	THOUSAND;
	if (!depth)
		throw std::runtime_error("");
	throws(depth - 1);
	AFTER_ALL_CALLS;
}

// It calls again from the same place, with the same stack.
FUNCTION catches()
{
	for (int i = 0; i < 3; i++) {
		try {
			throws(2);
		} catch (const std::exception &) {
			THOUSAND;
		}
	}
	leaf();
}

static sigjmp_buf signal_place;
extern "C" __attribute__((noinline)) void returns(int)
{
	THOUSAND;
	leaf();
	AFTER_ALL_CALLS;
}

extern "C" __attribute__((noinline)) void leaves(int)
{
	THOUSAND;
	leaf();
	siglongjmp(signal_place, 1);
}

static void on_signal(void (*handler)(int), bool own_stack)
{
	struct sigaction action = {};

	action.sa_handler = handler;
	action.sa_flags = own_stack ? SA_ONSTACK : 0;
	sigaction(SIGUSR1, &action, nullptr);
}

static void signals(bool own_stack)
{
	on_signal(returns, own_stack);
	raise(SIGUSR1);
	THOUSAND;
	on_signal(leaves, own_stack);
	if (!sigsetjmp(signal_place, 1))
		raise(SIGUSR1);
	THOUSAND;
	leaf();
	AFTER_ALL_CALLS;
}

FUNCTION signals_here()
{
	signals(false);
	AFTER_ALL_CALLS;
}

// The stack is in the program's data, below those of threads.
static char stack_below[1 << 16];
FUNCTION signals_below()
{
	stack_t stack = {};

	stack.ss_sp = stack_below;
	stack.ss_size = sizeof(stack_below);
	sigaltstack(&stack, nullptr);
	signals(true);
	AFTER_ALL_CALLS;
}

// The stack is in that of main(), above that of this thread.
static char *stack_above;
extern "C" __attribute__((noinline)) void *signals_above(void *unused)
{
	stack_t stack = {};

	stack.ss_sp = stack_above;
	stack.ss_size = 1 << 16;
	sigaltstack(&stack, nullptr);
	signals(true);
	AFTER_ALL_CALLS;
	return unused;
}

extern "C" __attribute__((noinline)) void *thread(void *unused)
{
	THOUSAND;
	leaf();
	AFTER_ALL_CALLS;
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t id;

	pthread_create(&id, nullptr, function, nullptr);
	pthread_join(id, nullptr);
}

namespace shapes
{
struct Circle {
	__attribute__((noinline)) void area(int) const
	{
		THOUSAND;
	}
	__attribute__((noinline)) void area(double) const
	{
		THOUSAND;
		THOUSAND;
	}
	__attribute__((noinline)) void operator()() const
	{
		THOUSAND;
	}
};
template <class T> __attribute__((noinline)) void scale(T)
{
	THOUSAND;
}
} // namespace shapes

static inline __attribute__((always_inline)) void inlined_everywhere()
{
	calls = calls + 1;
}

extern "C" void never_called()
{
	THOUSAND;
}

FUNCTION all()
{
	char stack[1 << 16];
	shapes::Circle circle;

	leaf();
	recurse(4);
	even(5);
	tail_of_tail();
	jumps();
	catches();
	signals_here();
	signals_below();
	stack_above = stack;
	run(signals_above);
	run(thread);
	run(thread);
	circle.area(1);
	circle.area(1.0);
	circle();
	shapes::scale(1);
	shapes::scale(1.0);
	inlined_everywhere();
	leaf();
	AFTER_ALL_CALLS;
}

int main(int argc, char **)
{
	if (argc > 100)
		never_called();
	all();
	return 0;
}
