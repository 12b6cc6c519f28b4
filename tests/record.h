/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's records, made by hand. */
#ifndef PM_TESTS_RECORD_H
#define PM_TESTS_RECORD_H

#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct record {
	union {
		struct perf_event_header header;
		uint64_t words[8192];
	};
};

static inline void record_begin(struct record *record, uint32_t type, uint16_t misc)
{
	record->header = (struct perf_event_header){
		.type = type, .misc = misc, .size = sizeof(record->header)};
}

static inline void record_word(struct record *record, uint64_t word)
{
	cr_assert_lt(record->header.size, 65528);
	record->words[record->header.size / 8] = word;
	record->header.size = (uint16_t)(record->header.size + 8);
}

static inline void record_halves(struct record *record, uint32_t first, uint32_t second)
{
	uint32_t halves[2] = {first, second};
	uint64_t word;

	memcpy(&word, halves, sizeof(word));
	record_word(record, word);
}

/* Adds SIZE bytes, padded with zeros to whole words. */
static inline void record_bytes(struct record *record, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size; done += 8) {
		uint64_t word = 0;

		memcpy(&word, (const char *)bytes + done,
		       size - done < 8 ? size - done : 8);
		record_word(record, word);
	}
}

#endif
