/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests/programs/storm and the test that starts it. */
#ifndef TESTS_STORM_H
#define TESTS_STORM_H

#include <stdatomic.h>
#include <stdint.h>

/* The test advances the phase, and waits for all lasting threads to follow. */
enum storm_phase {
	STORM_CREATE,	/* creators create, lasting threads wait */
	STORM_CALM,	/* creators must stop */
	STORM_REHEARSE, /* each lasting thread works once, so that all its pages exist */
	STORM_WORK, /* each works again, with exactly as many page faults as it counts */
};

struct storm {
	_Atomic uint32_t phase;	  /* a futex word */
	_Atomic uint32_t created; /* threads and processes so far */
	_Atomic uint32_t
		lasting; /* threads that last, including creators and main threads */
	_Atomic uint32_t asked;	   /* lasting threads that creators must make */
	_Atomic uint32_t creating; /* creators that have not stopped */
	_Atomic uint32_t rehearsed, worked;
	_Atomic uint64_t faults; /* the page faults in STORM_WORK */
};

#endif
