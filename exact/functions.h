/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that count as regions do. names.c finds the function that begins at an
 * address and whether it is chosen. functions.c follows the calls of each thread on a stack
 * of its own, and keeps a tree of calls. tree.c has the tree and writes it to a file.
 *
 * What is counted goes to one node at a time. So the sum of all nodes is what the process
 * has counted, to the instruction.
 */
#ifndef PM_EXACT_FUNCTIONS_H
#define PM_EXACT_FUNCTIONS_H

#include "counts.h"

/* The names of events, by enum pm_exact_event. */
extern const HChar *const pm_event_names[];

/* --- names.c ------------------------------------------------------------------------- */

/* Takes --function=PATTERN, of which there may be many, and --functions=yes. */
Bool pm_names_option(const HChar *argument);

/* Whether functions are counted. Written before the first block is translated. */
extern Bool pm_functions_on;

/* Returns the number of the chosen function that begins at AT, or 0. */
UInt pm_names_begins(Addr at);

/* Returns whether a jump FROM a function TO the inside of another one leaves the first. */
Bool pm_names_leaves(Addr from, Addr to);

/* Writes the functions, how many each pattern has chosen, and the files with code. */
void pm_names_write(void (*line)(const HChar *format, ...) PRINTF_CHECK(1, 2));

/* --- tree.c -------------------------------------------------------------------------- */

/* Takes --tree=FOLDER, the absolute path of the folder that gets the trees. */
Bool pm_tree_option(const HChar *argument);
void pm_tree_begin(void);

/* Leaves a file that says that the process has begun, until its tree is written. */
void pm_tree_mark(void);

/* Whether the tree is kept. Without chosen functions it has a node for each thread. */
extern Bool pm_tree_on;

/* Whether the program has libperfmon, and so regions of its own. */
extern Bool pm_tree_regions;

/* Whether a thread ran on other stacks than its own, so that its calls are not known for sure. */
extern Bool pm_tree_stacks;

/* Returns a new root, that of the thread LWP. */
UInt pm_tree_root(Int lwp);

/* FUNCTION is called from NODE: adds a visit to its node, and returns that: a child, or the
 * node that is open already where the function calls itself. If there are too many nodes it is
 * NODE, without a visit. */
UInt pm_tree_call(UInt node, UInt function);

/* Adds what is in COUNTS and not in LAST, which becomes the same as COUNTS. */
void pm_tree_charge(UInt node, const ULong *counts, ULong *last);

/* Keeps the name that the thread has at its end. */
void pm_tree_name(UInt root, Int lwp);

/* In a forked child: sets all to zero. The nodes from NODE to its root have one visit. */
void pm_tree_forked(UInt node);

/* Writes the tree to a file of its own; WHY is "end" or "exec". TOTAL is what the process
 * counted. */
void pm_tree_write(const HChar *why, const ULong *total);
/* Removes the last file: the exec has failed. */
void pm_tree_remove(void);

/* --- functions.c --------------------------------------------------------------------- */

/* Returns what the thread has counted. */
typedef const ULong *(*pm_counts_of)(ThreadId tid);

void pm_functions_begin(pm_counts_of counts_of);
void pm_functions_runs(ThreadId tid); /* it may be new */
void pm_functions_ends(ThreadId tid);
void pm_functions_forked(ThreadId tid);
void pm_functions_charge(void); /* all threads, up to now */

/* Inserts the calls that follow the program's calls: where a function begins, and at the
 * end of a block, whose last instruction is AT, that returns or jumps. OFFSET_SP is that of
 * the stack pointer in the thread's state. */
void pm_functions_at_begin(IRSB *out, UInt function, Int offset_sp);
void pm_functions_at_end(IRSB *out, Addr at, Int offset_sp);

#endif
