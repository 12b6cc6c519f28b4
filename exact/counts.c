/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inserts the code that counts. The statements of a block are copied. The counts of each
 * instruction are collected on the way, and added before each place where the block may
 * be left. So a count is right wherever a block ends. Valgrind changes threads and
 * delivers signals only there. A program reads its counts there, too, because a counter
 * read ends its block.
 */
#include "counts.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"

#include "decode.h"
#include "functions.h"

ULong pm_count[PM_EXACT_COUNTERS];
UInt pm_counted;
Addr pm_unknown;

/* The block that is being instrumented. */
struct block {
	IRSB *out;
	Int pending[PM_EXACT_EVENT_COUNT];
	Addr at;     /* the instruction being instrumented */
	UInt length; /* 0: Valgrind does not know it */
	struct pm_insn insn;
	Bool loads; /* it has loaded something */
	Int offset_sp;
};

static IRExpr *word(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *temporary(struct block *b, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static Bool is_counted(enum pm_exact_event event)
{
	return (pm_counted >> event & 1) != 0;
}

/* Adds MORE, an atom, to the count of EVENT now. */
static void add(struct block *b, enum pm_exact_event event, IRExpr *more)
{
	IRExpr *address = word((ULong)(Addr)&pm_count[event]);
	IRExpr *count = temporary(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address));

	count = temporary(b, Ity_I64, IRExpr_Binop(Iop_Add64, count, more));
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, address, count));
}

/* Adds the collected counts. */
static void flush(struct block *b)
{
	UInt event;

	for (event = 0; event < PM_EXACT_EVENT_COUNT; event++) {
		if (b->pending[event])
			add(b, event, word((ULong)(Long)b->pending[event]));
		b->pending[event] = 0;
	}
}

/* Counts MORE of EVENT if GUARD holds, or always if GUARD is NULL. */
static void count(struct block *b, enum pm_exact_event event, Int more, IRExpr *guard)
{
	if (!is_counted(event))
		return;
	if (!guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1)) {
		b->pending[event] += more;
		return;
	}
	add(b, event,
	    temporary(b, Ity_I64, IRExpr_ITE(guard, word((ULong)(Long)more), word(0))));
}

static void load(struct block *b, Int bytes, IRExpr *guard)
{
	b->loads = True;
	count(b, PM_EXACT_LOADS, 1, guard);
	count(b, PM_EXACT_LOAD_BYTES, bytes, guard);
}

static void store(struct block *b, Int bytes, IRExpr *guard)
{
	count(b, PM_EXACT_STORES, 1, guard);
	count(b, PM_EXACT_STORE_BYTES, bytes, guard);
}

static Int size_of(const struct block *b, const IRExpr *value)
{
	return sizeofIRType(typeOfIRExpr(b->out->tyenv, value));
}

static void operation(struct block *b, IROp op)
{
	UInt width, n;

	if (!is_counted(PM_EXACT_FLOPS_32) && !is_counted(PM_EXACT_FLOPS_64))
		return;
	n = pm_flops(op, &width);
	if (b->insn.half && n > 1)
		n /= 2;
	if (b->insn.single && n > 1)
		n = 1;
	if (n)
		count(b, width == 64 ? PM_EXACT_FLOPS_64 : PM_EXACT_FLOPS_32, (Int)n,
		      NULL);
}

static void value(struct block *b, const IRExpr *expr)
{
	switch (expr->tag) {
	case Iex_Load:
		load(b, sizeofIRType(expr->Iex.Load.ty), NULL);
		break;
	case Iex_Unop:
		operation(b, expr->Iex.Unop.op);
		break;
	case Iex_Binop:
		operation(b, expr->Iex.Binop.op);
		break;
	case Iex_Triop:
		operation(b, expr->Iex.Triop.details->op);
		break;
	case Iex_Qop:
		operation(b, expr->Iex.Qop.details->op);
		break;
	default:
		break;
	}
}

static void instruction(struct block *b, Addr at, UInt length)
{
	/* The optimiser may unroll the loop of a string instruction, which then follows
	 * itself. */
	Bool again = at == b->at && !b->insn.branch;
	UInt function;

	b->at = at;
	b->length = length;
	b->loads = False;
	if (!length)
		return;
	b->insn = pm_decode(at, length);
	if (again)
		return;
	function = pm_functions_on ? pm_names_begins(at) : 0;
	if (function) {
		flush(b);
		pm_functions_at_begin(b->out, function, b->offset_sp);
	}
	count(b, PM_EXACT_INSTRUCTIONS, 1, NULL);
	count(b, PM_EXACT_BRANCHES, b->insn.conditional, NULL);
	count(b, PM_EXACT_CALLS, b->insn.call, NULL);
}

/* Returns whether a jump to TARGET repeats the current instruction, which counts once. */
static Bool goes_on(const struct block *b, const IRConst *target)
{
	return target->tag == Ico_U64 && target->Ico.U64 == b->at && !b->insn.branch;
}

static void dirty(struct block *b, const IRDirty *call)
{
	if (call->mFx == Ifx_Read || call->mFx == Ifx_Modify)
		load(b, call->mSize, call->guard);
	if (call->mFx == Ifx_Write || call->mFx == Ifx_Modify)
		store(b, call->mSize, call->guard);
}

/* Valgrind's form of an atomic update loads the old value first. That is its only
 * load. */
static void swap(struct block *b, const IRCAS *cas)
{
	Int bytes = size_of(b, cas->dataLo) * (cas->dataHi ? 2 : 1);

	if (!b->loads)
		load(b, bytes, NULL);
	store(b, bytes, NULL);
}

static Int loaded_bytes(IRLoadGOp conversion)
{
	IRType result, memory;

	typeOfIRLoadGOp(conversion, &result, &memory);
	return sizeofIRType(memory);
}

static void statement(struct block *b, IRStmt *s)
{
	switch (s->tag) {
	case Ist_IMark:
		instruction(b, s->Ist.IMark.addr, s->Ist.IMark.len);
		break;
	case Ist_WrTmp:
		value(b, s->Ist.WrTmp.data);
		break;
	case Ist_Store:
		store(b, size_of(b, s->Ist.Store.data), NULL);
		break;
	case Ist_LoadG:
		load(b, loaded_bytes(s->Ist.LoadG.details->cvt),
		     s->Ist.LoadG.details->guard);
		break;
	case Ist_StoreG:
		store(b, size_of(b, s->Ist.StoreG.details->data),
		      s->Ist.StoreG.details->guard);
		break;
	case Ist_CAS:
		swap(b, s->Ist.CAS.details);
		break;
	case Ist_LLSC:
		if (s->Ist.LLSC.storedata)
			store(b, size_of(b, s->Ist.LLSC.storedata), NULL);
		else
			load(b,
			     sizeofIRType(
				     typeOfIRTemp(b->out->tyenv, s->Ist.LLSC.result)),
			     NULL);
		break;
	case Ist_Dirty:
		dirty(b, s->Ist.Dirty.details);
		break;
	case Ist_Exit:
		flush(b);
		if (goes_on(b, s->Ist.Exit.dst))
			count(b, PM_EXACT_INSTRUCTIONS, -1, s->Ist.Exit.guard);
		break;
	default:
		break;
	}
	addStmtToIRSB(b->out, s);
}

/* Ends a block that stops before a counter read: returns the count, and continues. */
static void deliver(struct block *b, const struct pm_counter_read *read)
{
	IRExpr *address, *got;

	if (read->index >= 0)
		address = word((ULong)(Addr)&pm_count[read->index]);
	else {
		address = temporary(b, Ity_I64, IRExpr_Get(read->offset, Ity_I64));
		address = temporary(
			b, Ity_I64,
			IRExpr_Binop(Iop_And64, address, word(PM_EXACT_COUNTERS - 1)));
		address = temporary(
			b, Ity_I64,
			IRExpr_Binop(Iop_Shl64, address, IRExpr_Const(IRConst_U8(3))));
		address = temporary(
			b, Ity_I64,
			IRExpr_Binop(Iop_Add64, address, word((ULong)(Addr)pm_count)));
	}
	got = temporary(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address));
	if (read->to_high >= 0) {
		addStmtToIRSB(
			b->out,
			IRStmt_Put(
				read->to_high,
				temporary(b, Ity_I64,
					  IRExpr_Binop(Iop_Shr64, got,
						       IRExpr_Const(IRConst_U8(32))))));
		got = temporary(b, Ity_I64,
				IRExpr_Binop(Iop_And64, got, word(0xffffffff)));
	}
	if (read->to >= 0)
		addStmtToIRSB(b->out, IRStmt_Put(read->to, got));
	/* The read itself is counted after the value that it returns. */
	count(b, PM_EXACT_INSTRUCTIONS, 1, NULL);
	b->out->next = word(b->at + read->length);
	b->out->jumpkind = Ijk_Boring;
}

IRSB *pm_counts_instrument(VgCallbackClosure *closure, IRSB *in,
			   const VexGuestLayout *layout, const VexGuestExtents *extents,
			   const VexArchInfo *host, IRType guest_word, IRType host_word)
{
	struct block b = {.out = deepCopyIRSBExceptStmts(in),
			  .offset_sp = layout->offset_SP};
	struct pm_counter_read read;
	Int i;

	for (i = 0; i < in->stmts_used; i++) {
		if (in->stmts[i] && in->stmts[i]->tag != Ist_NoOp)
			statement(&b, in->stmts[i]);
	}
	if (in->next->tag == Iex_Const && in->jumpkind != Ijk_NoDecode &&
	    goes_on(&b, in->next->Iex.Const.con))
		count(&b, PM_EXACT_INSTRUCTIONS, -1, NULL);
	if (in->jumpkind == Ijk_NoDecode &&
	    b.length) /* an instruction that always faults, such as ud2 */
		count(&b, PM_EXACT_INSTRUCTIONS, -1, NULL);
	flush(&b);
	if (in->jumpkind == Ijk_NoDecode && !b.length) {
		if (pm_decode_read(b.at, &read)) {
			deliver(&b, &read);
			flush(&b);
		} else
			pm_unknown = b.at;
	}
	if (pm_functions_on)
		pm_functions_at_end(b.out, b.at, b.offset_sp);
	return b.out;
}
