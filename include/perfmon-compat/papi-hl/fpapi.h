/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for PAPI's file of this name, for Fortran behind the preprocessor: what programs need that
 * use its high-level calls alone. */
#define PAPI_OK	    0
#define PAPI_EINVAL -1
