/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for PAPI's header of this name, for programs that use its high-level calls alone: these
 * are regions of libperfmon. A program that also uses other calls of PAPI has PAPI's own header, and
 * links what "pkg-config --libs perfmon-papi-hl" says before PAPI.
 */
#ifndef PAPI_H
#define PAPI_H

#ifdef __cplusplus
extern "C" {
#endif

#define PAPI_OK	    0
#define PAPI_EINVAL (-1)

/* Begin and end a visit of the region of the calling thread. Return PAPI_OK, or PAPI_EINVAL for NULL. */
int PAPI_hl_region_begin(const char *region);
int PAPI_hl_region_end(const char *region);

/* Does nothing, and says so once: the report has whole visits. Returns as the others. */
int PAPI_hl_read(const char *region);

/* Need not be called: the report is written at the program's end. Returns PAPI_OK. */
int PAPI_hl_stop(void);

#ifdef __cplusplus
}
#endif

#endif
