/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the calls of each thread, to know which function counts.
 *
 * The first instruction of a chosen function pushes a frame with the stack pointer. The
 * function has returned when the stack pointer is above: on x86-64, where the return
 * address is on the stack, above where it was; on arm64 there or above. That is looked at
 * where a block returns or jumps to an address in a register, as longjmp() and the landing
 * of an exception of C++ do. So functions that are not chosen cost a comparison for each
 * of these.
 *
 * A tail call leaves the caller's frame where it is: the function that is called counts
 * below its caller, as without the optimisation, and both end at its return.
 */
#include "functions.h"

#include <stddef.h>

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "libvex.h"
#if defined(VGA_arm64)
#include "libvex_guest_arm64.h"
#endif

#define EVENTS	 PM_EXACT_EVENT_COUNT
#define NO_FRAME (~(Addr)0)

struct frame {
	Addr sp;
	Addr from;     /* arm64: where the function returns to */
	UInt function; /* 0: a signal has interrupted the thread here */
	UInt node;     /* that of the caller */
	/* Of a signal: the bounds of the stack of its own, on which the handler runs. */
	Addr stack_min, stack_end;
};

struct thread {
	struct frame *frames;
	UInt depth, room;
	UInt own_stacks; /* frames of signals whose handlers have a stack of their own */
	UInt root;	 /* 0: no instruction has run */
	UInt node;	 /* what is counted goes here */
	Addr top;	 /* the stack pointer of the last frame */
	Addr stack_min, stack_end; /* the bounds of its stack */
	ULong last[EVENTS];
};

static pm_counts_of counts_of;
static struct thread *threads;
static ThreadId running;

/* That of the thread that runs. Translated code reads it. */
static Addr top = NO_FRAME;

static void charge(ThreadId tid)
{
	struct thread *t = &threads[tid];

	if (t->root)
		pm_tree_charge(t->node, counts_of(tid), t->last);
}

/* A jump out of a handler with a stack of its own may lead to a lower stack pointer: there
 * each return and jump is looked at. */
static void set_top(const struct thread *t)
{
	if (!t->depth)
		top = NO_FRAME;
	else
		top = t->own_stacks ? 0 : t->frames[t->depth - 1].sp;
}

static void push(struct thread *t, const struct frame *frame)
{
	if (t->depth == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->frames = VG_(realloc)("perfmon.frames", t->frames,
					 t->room * sizeof(t->frames[0]));
	}
	t->frames[t->depth++] = *frame;
	t->own_stacks += frame->stack_end != 0;
	set_top(t);
}

/* Drops all frames above the first DEPTH. */
static void drop(struct thread *t, UInt depth)
{
	charge(running);
	t->node = t->frames[depth].node;
	while (t->depth > depth)
		t->own_stacks -= t->frames[--t->depth].stack_end != 0;
	set_top(t);
}

static Bool on_signal_stack(const struct frame *f, Addr sp)
{
	return sp >= f->stack_min && sp < f->stack_end;
}

/* Returns whether the stack pointer SP shows that F has returned. A handler of a signal
 * returns by a system call, or jumps out of itself. */
static Bool is_gone(const struct frame *f, Addr sp, Bool returns)
{
	if (!f->function)
		return sp > f->sp && !on_signal_stack(f, sp);
	return sp > f->sp || (returns && sp == f->sp);
}

/* Returns how many frames are left when the stack pointer is SP. */
static UInt left(const struct thread *t, Addr sp, Bool returns)
{
	UInt depth = t->depth, i;

	while (depth && is_gone(&t->frames[depth - 1], sp, returns))
		depth--;
	/* A jump out of a handler that has a stack of its own, above the thread's. */
	for (i = t->own_stacks ? depth : 0; i--;) {
		const struct frame *f = &t->frames[i];

		if (!f->function && f->stack_end && is_gone(f, sp, returns))
			depth = i;
	}
	return depth;
}

/* Where the stack pointer has risen to SP, or above. */
static void rises(UWord sp, UWord returns)
{
	struct thread *t = &threads[running];
	UInt depth = left(t, sp, returns != 0);

	if (depth < t->depth)
		drop(t, depth);
}

#if defined(VGA_arm64)
/* The same at a jump, which may also be a tail call, or lead to another place of the
 * function. */
static void jumps(UWord sp, UWord from, UWord to)
{
	const struct thread *t = &threads[running];

	rises(sp,
	      t->depth && sp >= t->frames[t->depth - 1].sp && pm_names_leaves(from, to));
}
#endif

/* Returns the frame with the same stack pointer that FUNCTION has, or NULL. The function
 * jumps to its first instruction, or a function that it has called at its end calls it. */
static struct frame *again(struct thread *t, UInt function, Addr sp)
{
	UInt i = t->depth;

	while (i && t->frames[i - 1].sp == sp && t->frames[i - 1].function)
		if (t->frames[--i].function == function)
			return &t->frames[i];
	return NULL;
}

static void begins(UWord function, UWord sp, UWord from)
{
	struct thread *t = &threads[running];
	struct frame frame = {.sp = sp, .from = from, .function = (UInt)function}, *same;
	UInt depth = left(t, sp, False);

	if ((sp < t->stack_min || sp > t->stack_end) && !t->own_stacks)
		pm_tree_stacks = True;
	/* A tail call returns to where its caller does. */
	while (depth && t->frames[depth - 1].sp == sp && t->frames[depth - 1].function &&
	       t->frames[depth - 1].from != from)
		depth--;
	if (depth < t->depth)
		drop(t, depth);
	same = again(t, frame.function, sp);
	if (same && same + 1 == t->frames + t->depth)
		return;
	if (same)
		drop(t, (UInt)(same - t->frames));
	charge(running);
	frame.node = t->node;
	push(t, &frame);
	t->node = pm_tree_call(t->node, frame.function);
}

/* --- signals -------------------------------------------------------------------------- */

static void interrupted(ThreadId tid, Int number, Bool own_stack)
{
	struct thread *t = &threads[tid];
	struct frame frame = {.sp = VG_(get_SP)(tid)};

	if (own_stack) {
		frame.stack_min = VG_(thread_get_altstack_min)(tid);
		frame.stack_end = frame.stack_min + VG_(thread_get_altstack_size)(tid);
	}
	pm_functions_runs(tid);
	frame.node = t->node;
	push(t, &frame);
}

/* The handler has returned: everything that it began has ended. */
static void resumed(ThreadId tid, Int number)
{
	struct thread *t = &threads[tid];
	UInt i = t->depth;

	pm_functions_runs(tid);
	while (i && t->frames[i - 1].function)
		i--;
	if (i)
		drop(t, i - 1);
}

/* --- threads -------------------------------------------------------------------------- */

void pm_functions_begin(pm_counts_of counts)
{
	counts_of = counts;
	threads = VG_(calloc)("perfmon.stacks", VG_N_THREADS, sizeof(threads[0]));
	if (!pm_functions_on)
		return;
	VG_(track_pre_deliver_signal)(interrupted);
	VG_(track_post_deliver_signal)(resumed);
}

void pm_functions_runs(ThreadId tid)
{
	struct thread *t = &threads[tid];

	if (running == tid && t->root)
		return;
	if (running != VG_INVALID_THREADID)
		threads[running].top = top;
	running = tid;
	if (!t->root) {
		t->root = t->node = pm_tree_root(VG_(gettid)());
		t->top = NO_FRAME;
		t->stack_end = VG_(thread_get_stack_max)(tid);
		t->stack_min = t->stack_end - VG_(thread_get_stack_size)(tid);
	}
	top = t->top;
}

void pm_functions_ends(ThreadId tid)
{
	struct thread *t = &threads[tid];

	if (!t->root)
		return;
	charge(tid);
	pm_tree_name(t->root, VG_(gettid)());
	VG_(free)(t->frames);
	VG_(memset)(t, 0, sizeof(*t));
	if (running == tid) {
		running = VG_INVALID_THREADID;
		top = NO_FRAME;
	}
}

/* What the parent has counted since the last charge is not the child's. */
void pm_functions_forked(ThreadId tid)
{
	ThreadId other;

	pm_functions_runs(tid);
	charge(tid);
	for (other = 1; other < VG_N_THREADS; other++)
		if (other != tid)
			VG_(memset)(&threads[other], 0, sizeof(threads[other]));
	pm_tree_forked(threads[tid].node);
}

void pm_functions_charge(void)
{
	ThreadId tid;

	for (tid = 1; tid < VG_N_THREADS; tid++)
		charge(tid);
}

/* --- translation ---------------------------------------------------------------------- */

static IRExpr *word(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *temporary(IRSB *out, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *stack_pointer(IRSB *out, Int offset)
{
	return temporary(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static void call(IRSB *out, const HChar *name, void *function, IRExpr **arguments,
		 IRExpr *guard)
{
	IRDirty *dirty =
		unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);

	if (guard)
		dirty->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(dirty));
}

static IRExpr *returns_to(IRSB *out)
{
#if defined(VGA_arm64)
	return temporary(out, Ity_I64,
			 IRExpr_Get(offsetof(VexGuestARM64State, guest_X30), Ity_I64));
#else
	return word(0);
#endif
}

void pm_functions_at_begin(IRSB *out, UInt function, Int offset_sp)
{
	IRExpr **arguments = mkIRExprVec_3(word(function), stack_pointer(out, offset_sp),
					   returns_to(out));

	call(out, "begins", begins, arguments, NULL);
}

/* Calls if the last frame may have returned. */
static void risen(IRSB *out, Int offset_sp, IROp above, const HChar *name, void *function,
		  IRExpr *second, IRExpr *third)
{
	IRExpr *sp = stack_pointer(out, offset_sp);
	IRExpr *last = temporary(out, Ity_I64,
				 IRExpr_Load(Iend_LE, Ity_I64, word((ULong)(Addr)&top)));
	IRExpr *guard = temporary(out, Ity_I1, IRExpr_Binop(above, last, sp));

	call(out, name, function,
	     third ? mkIRExprVec_3(sp, second, third) : mkIRExprVec_2(sp, second), guard);
}

#if defined(VGA_arm64)
/* longjmp() jumps to where setjmp() returns. */
static Bool is_return(const IRSB *out, Addr at)
{
	return out->jumpkind == Ijk_Ret || *(const UInt *)at == 0xd61f03c0; /* br x30 */
}

void pm_functions_at_end(IRSB *out, Addr at, Int offset_sp)
{
	if (is_return(out, at))
		risen(out, offset_sp, Iop_CmpLE64U, "rises", rises, word(1), NULL);
	else if (out->jumpkind == Ijk_Boring && out->next->tag == Iex_RdTmp)
		risen(out, offset_sp, Iop_CmpLE64U, "jumps", jumps, word(at), out->next);
}
#else
void pm_functions_at_end(IRSB *out, Addr at, Int offset_sp)
{
	if (out->jumpkind == Ijk_Ret ||
	    (out->jumpkind == Ijk_Boring && out->next->tag == Iex_RdTmp))
		risen(out, offset_sp, Iop_CmpLT64U, "rises", rises, word(0), NULL);
}
#endif
