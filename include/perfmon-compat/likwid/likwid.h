/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for LIKWID's header of this name, where a program needs the markers of it alone. */
#ifndef LIKWID_H
#define LIKWID_H

#include "likwid-marker.h"

#endif
