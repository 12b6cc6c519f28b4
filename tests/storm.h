/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests/programs/storm shares with the test that started it. */
#ifndef TESTS_STORM_H
#define TESTS_STORM_H

#include <stdatomic.h>
#include <stdint.h>

/* The test raises the phase, and waits for all lasting threads to follow. */
enum storm_phase {
	STORM_CREATE,	/* creators create, lasting threads wait */
	STORM_CALM,	/* creators have to stop */
	STORM_REHEARSE, /* each lasting thread works once, so that all its pages are there
			 */
	STORM_WORK,	/* each works again: exactly so many page faults as it says */
};

struct storm {
	_Atomic uint32_t phase;	  /* a futex word */
	_Atomic uint32_t created; /* threads and processes so far */
	_Atomic uint32_t
		lasting; /* threads that last, creators and main threads included */
	_Atomic uint32_t asked;	   /* threads for creators to make that last */
	_Atomic uint32_t creating; /* creators that have not stopped */
	_Atomic uint32_t rehearsed, worked;
	_Atomic uint64_t faults; /* what they did in STORM_WORK */
};

#endif
