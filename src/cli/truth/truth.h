/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmon truth compares counters with blocks of instructions whose counts are known, and
 * gives a verdict for each event.
 *
 * Must hold: a true event is never called wrong because of an interrupt, a migration or an
 * emulator. Each block runs with two numbers of turns, so that the cost of reads cancels,
 * and the median of many repetitions decides.
 */
#ifndef PM_CLI_TRUTH_TRUTH_H
#define PM_CLI_TRUTH_TRUTH_H

/* Runs `perfmon truth`. Returns the exit status. */
int cli_truth(int argc, char **argv);

#endif
