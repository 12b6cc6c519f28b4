/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "perfmon2_section9.c"
