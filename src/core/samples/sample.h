/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes the kernel's records by the attr of their event. Nothing in a record is
 * trusted: each length is compared with what is left of the record. Records must be
 * aligned to 8. Nothing here allocates or enters the kernel.
 */
#ifndef PM_SAMPLES_SAMPLE_H
#define PM_SAMPLES_SAMPLE_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "perfmon/sample.h"

/*
 * pm_sample_decode() - sets *SAMPLE from RECORD, a PERF_RECORD_SAMPLE. SAMPLE's pointers
 * point into RECORD. *SAMPLE is untouched on failure. Returns 0 or
 *
 * - -EBADMSG: RECORD is no sample or too short, or a length in it is wrong
 * - -EOPNOTSUPP: ATTR has fields that this library does not know
 */
int pm_sample_decode(const struct perf_event_attr *attr,
		     const struct perf_event_header *record,
		     struct perfmon_sample *sample);

/* Returns how many words are behind every record except samples if attr.sample_id_all is
 * set. */
uint32_t pm_sample_trailer_words(const struct perf_event_attr *attr);

/*
 * pm_sample_decode_trailer() - does the same for the trailer of another record: pid, tid,
 * time, ID, stream and CPU. Without a trailer no field is present. *BODY (may be NULL) is
 * the size of RECORD without its trailer.
 */
int pm_sample_decode_trailer(const struct perf_event_attr *attr,
			     const struct perf_event_header *record,
			     struct perfmon_sample *sample, uint32_t *body);

/* pm_sample_decode_read() - decodes a PERF_RECORD_READ, the value of a counter when its
 * thread ended: the trailer, whose pid and tid are the record's, and the value. */
int pm_sample_decode_read(const struct perf_event_attr *attr,
			  const struct perf_event_header *record,
			  struct perfmon_sample *sample);

/*
 * pm_sample_identify() - sets *ID to the ID of RECORD's event, where several events share
 * a ring or file. All of them must have PERF_SAMPLE_IDENTIFIER and the same
 * sample_id_all; ATTR is that of any of them. Returns 0, -ENODATA if RECORD has no ID, or
 * -EBADMSG.
 */
int pm_sample_identify(const struct perf_event_attr *attr,
		       const struct perf_event_header *record, uint64_t *id);

#endif
