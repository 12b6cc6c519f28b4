/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of an instruction that translated code does not show. They are decoded from
 * its bytes, for each CPU family:
 *
 *   pm_decode(at, length, &insn)  classifies the instruction at AT
 *   pm_decode_read(at, &read)     returns whether AT reads a counter that Valgrind does not
 *                                 know, and where the value goes
 */
#ifndef PM_EXACT_DECODE_H
#define PM_EXACT_DECODE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

struct pm_insn {
	Bool branch;	  /* may jump; if it jumps to itself, it runs again */
	Bool conditional; /* a branch that may also fall through */
	Bool call;
	/* Valgrind's form of the vectors: HALF, every second element counts; SINGLE, one
	 * counts. */
	Bool half, single;
};

struct pm_counter_read {
	UInt length; /* bytes */
	Int index;   /* of the counter; -1: a register holds it */
	Int offset;  /* x86-64: of that register in the guest's state */
	Int to;	     /* register that takes the value, low half; -1: none does */
	Int to_high; /* and its high half; -1: TO takes all of it */
};

#if defined(VGA_amd64)

/* The advice for a program with an instruction that Valgrind does not know. */
#define PM_UNKNOWN                                                                       \
	"Valgrind has no AVX-512: compile the program with -march=x86-64-v3 instead of " \
	"-march=native"

#include <stddef.h>

#include "libvex_guest_amd64.h"

/* Matches addsubps and addsubpd, with and without a VEX prefix. Valgrind adds and
 * subtracts all elements, and keeps one of the two results for each. */
static inline Bool adds_and_subtracts(const UChar *byte, const UChar *end)
{
	if (byte < end && (*byte == 0x66 || *byte == 0xf2))
		byte++;
	if (byte < end && (*byte & 0xf0) == 0x40)
		byte++;
	if (end - byte > 1 && byte[0] == 0x0f && byte[1] == 0xd0)
		return True;
	if (end - byte > 2 && byte[0] == 0xc5 && byte[2] == 0xd0)
		return True;
	return end - byte > 3 && byte[0] == 0xc4 && (byte[1] & 31) == 1 &&
	       byte[3] == 0xd0;
}

static inline struct pm_insn pm_decode(Addr at, UInt length)
{
	const UChar *byte = (const UChar *)at, *end = byte + length;
	struct pm_insn insn = {.branch = False};

	insn.half = adds_and_subtracts(byte, end);
	/* Legacy prefixes and REX. */
	while (byte < end && (*byte == 0x66 || *byte == 0x67 || *byte == 0xf2 ||
			      *byte == 0xf3 || *byte == 0x2e || *byte == 0x3e ||
			      *byte == 0x26 || *byte == 0x36 || *byte == 0x64 ||
			      *byte == 0x65 || *byte == 0xf0 || (*byte & 0xf0) == 0x40))
		byte++;
	if (byte >= end)
		return insn;
	if ((*byte & 0xf0) == 0x70 || (*byte & 0xfc) == 0xe0)
		insn.conditional = True;
	else if (*byte == 0x0f && byte + 1 < end && (byte[1] & 0xf0) == 0x80)
		insn.conditional = True;
	else if (*byte == 0xe8)
		insn.call = True;
	else if (*byte == 0xff && byte + 1 < end) {
		insn.call = (byte[1] & 0x38) == 0x10;
		insn.branch = (byte[1] & 0x38) == 0x20;
	} else
		insn.branch =
			*byte == 0xe9 || *byte == 0xeb || *byte == 0xc2 || *byte == 0xc3;
	insn.branch |= insn.conditional | insn.call;
	return insn;
}

static inline Bool pm_decode_read(Addr at, struct pm_counter_read *read)
{
	const UChar *byte = (const UChar *)at;

	if (byte[0] != 0x0f || byte[1] != 0x33) /* rdpmc */
		return False;
	read->length = 2;
	read->index = -1;
	read->offset = offsetof(VexGuestAMD64State, guest_RCX);
	read->to = offsetof(VexGuestAMD64State, guest_RAX);
	read->to_high = offsetof(VexGuestAMD64State, guest_RDX);
	return True;
}

#elif defined(VGA_arm64)

#define PM_UNKNOWN                                                                       \
	"Valgrind has no SVE: compile the program with -march=armv8-a instead of "       \
	"-mcpu=native"

#include <stddef.h>

#include "libvex_guest_arm64.h"

static inline struct pm_insn pm_decode(Addr at, UInt length)
{
	UInt word = *(const UInt *)at;
	struct pm_insn insn = {.branch = False};

	insn.conditional = (word & 0xff000000) == 0x54000000 || /* b.cond */
			   (word & 0x7c000000) == 0x34000000;	/* cbz, cbnz, tbz, tbnz */
	insn.call = (word & 0xfc000000) == 0x94000000 ||	/* bl */
		    (word & 0xfefff800) == 0xd63f0000;		/* blr, and with a key */
	insn.branch = insn.conditional || insn.call ||
		      (word & 0xfc000000) == 0x14000000 || /* b */
		      (word & 0xfe000000) == 0xd6000000;   /* br, ret */
	/* Valgrind computes vectors of 64 bits as 128 bits, and scalars in a vector
	 * register, too. */
	insn.half = (word & 0xde000000) == 0x0e000000;
	insn.single = (word & 0xde000000) == 0x5e000000;
	return insn;
}

static inline Bool pm_decode_read(Addr at, struct pm_counter_read *read)
{
	UInt word = *(const UInt *)at;

	/* mrs xT, pmevcntrN_el0: CRm is 0b10 and N's high bits, op2 its low ones; N < 31 */
	if ((word & 0xfffffc00) != 0xd53be800 || (word >> 5 & 31) == 31)
		return False;
	read->length = 4;
	read->index = (Int)(word >> 5 & 31);
	read->offset = -1;
	read->to = (word & 31) == 31 ? -1
				     : (Int)offsetof(VexGuestARM64State, guest_X0) +
					       8 * (Int)(word & 31);
	read->to_high = -1;
	return True;
}

#else
#error "which instructions branch is not known here"
#endif

#endif
