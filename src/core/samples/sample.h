/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of the kernel, taken apart as the attr of their event says. Nothing that stands
 * in a record is trusted: each length is held against what the record has left.
 *
 * Records must be aligned to 8. Nothing here allocates or enters the kernel.
 */
#ifndef PM_SAMPLES_SAMPLE_H
#define PM_SAMPLES_SAMPLE_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "perfmon/sample.h"

/*
 * pm_sample_decode() - the fields of RECORD, a PERF_RECORD_SAMPLE, in *SAMPLE, whose
 * pointers lead into RECORD. 0; -EBADMSG: RECORD is no sample, is shorter than it must
 * be, or a length in it is wrong; -EOPNOTSUPP: ATTR asks for fields that this library
 * does not know. *SAMPLE is untouched on failure.
 */
int pm_sample_decode(const struct perf_event_attr *attr,
		     const struct perf_event_header *record,
		     struct perfmon_sample *sample);

/* The words that stand behind every record but samples where attr.sample_id_all is set. */
uint32_t pm_sample_trailer_words(const struct perf_event_attr *attr);

/*
 * pm_sample_decode_trailer() - the same for the trailer of another record: pid, tid, time, id,
 * stream and CPU. Without one nothing is present. *BODY (may be NULL) is the size of RECORD without its trailer.
 */
int pm_sample_decode_trailer(const struct perf_event_attr *attr,
			     const struct perf_event_header *record,
			     struct perfmon_sample *sample, uint32_t *body);

/*
 * pm_sample_decode_read() - a PERF_RECORD_READ, what a counter stood at when its thread
 * ended: its trailer, and in its place pid and tid of the record and what was read.
 */
int pm_sample_decode_read(const struct perf_event_attr *attr,
			  const struct perf_event_header *record,
			  struct perfmon_sample *sample);

/*
 * pm_sample_identify() - the id of the event that RECORD belongs to, where several write
 * to one ring or file: all of them must have PERF_SAMPLE_IDENTIFIER, and sample_id_all as
 * ATTR has it, which is that of any of them. 0; -ENODATA: RECORD does not say; -EBADMSG.
 */
int pm_sample_identify(const struct perf_event_attr *attr,
		       const struct perf_event_header *record, uint64_t *id);

#endif
