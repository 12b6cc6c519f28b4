/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/sample.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"

/* Newer than some kernels' headers. */
#define BRANCH_COUNTERS (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8 */
#define FORMAT_LOST	(UINT64_C(1) << 4)  /* PERF_FORMAT_LOST, Linux 6.0 */

#define SAMPLE_TYPES ((UINT64_C(1) << 25) - 1)
#define READ_FORMATS ((UINT64_C(1) << 5) - 1)
/* Fields that a trailer has, too. */
#define TRAILER_TYPES                                                                    \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |   \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* The words that are left of a record. */
struct words {
	const uint64_t *at;
	uint64_t left;
};

/* Takes COUNT entries of SIZE words each. Returns NULL if the record is too short. */
static const void *take_array(struct words *words, uint64_t count, uint64_t size)
{
	const uint64_t *start = words->at;

	if (count > words->left / size)
		return NULL;
	words->at += count * size;
	words->left -= count * size;
	return start;
}

static bool take(struct words *words, uint64_t *value)
{
	const uint64_t *word = take_array(words, 1, 1);

	if (word)
		*value = *word;
	return word;
}

/* Takes the two halves of a word, of 32 bits each, in the order that they have in memory. */
static bool take_halves(struct words *words, void *first, void *second)
{
	const uint32_t *halves = take_array(words, 1, 1);

	if (!halves)
		return false;
	memcpy(first, &halves[0], sizeof(halves[0]));
	memcpy(second, &halves[1], sizeof(halves[1]));
	return true;
}

static unsigned int bits(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

/* Takes a field of one word if its bit THERE is set. */
static bool take_single(struct words *words, uint64_t there, uint64_t *value,
			uint64_t bit, struct perfmon_sample *sample)
{
	if (!there)
		return true;
	sample->present |= bit;
	return take(words, value);
}

/* Takes a field of one word if TYPE has its bit: KERNEL is the kernel's name, OWN ours. */
#define SINGLE(kernel, field, own)                                                       \
	take_single(words, (type & PERF_SAMPLE_##kernel), &s->field,                     \
		    PERFMON_SAMPLE_##own, s)

/* Takes the fields that samples and trailers share, which have the same order in both. */
static bool take_origin(struct words *words, uint64_t type, struct perfmon_sample *s)
{
	uint32_t reserved;

	s->present |= type & PERF_SAMPLE_TID ? PERFMON_SAMPLE_TID : 0;
	s->present |= type & PERF_SAMPLE_CPU ? PERFMON_SAMPLE_CPU : 0;
	return (!(type & PERF_SAMPLE_TID) || take_halves(words, &s->pid, &s->tid)) &&
	       SINGLE(TIME, time_ns, TIME) && SINGLE(ADDR, address, ADDRESS) &&
	       SINGLE(ID, id, ID) && SINGLE(STREAM_ID, stream_id, STREAM_ID) &&
	       (!(type & PERF_SAMPLE_CPU) || take_halves(words, &s->cpu, &reserved));
}

static bool take_read(struct words *words, uint64_t format, struct perfmon_sample *sample)
{
	const bool group = format & PERF_FORMAT_GROUP;
	const unsigned int extra = bits(format & (PERF_FORMAT_ID | FORMAT_LOST));
	uint64_t value;

	sample->read_words = words->at;
	sample->read_format = format;
	sample->read_count = 1;
	sample->present |= PERFMON_SAMPLE_READ;
	/* A group begins with its number, an event alone with its value. */
	if (!take(words, group ? &sample->read_count : &value) ||
	    !take_single(words, format & PERF_FORMAT_TOTAL_TIME_ENABLED,
			 &sample->read_enabled_ns, PERFMON_SAMPLE_READ_ENABLED, sample) ||
	    !take_single(words, format & PERF_FORMAT_TOTAL_TIME_RUNNING,
			 &sample->read_running_ns, PERFMON_SAMPLE_READ_RUNNING, sample))
		return false;
	if (format & PERF_FORMAT_ID)
		sample->present |= PERFMON_SAMPLE_READ_ID;
	if (format & FORMAT_LOST)
		sample->present |= PERFMON_SAMPLE_READ_LOST;
	return group ? take_array(words, sample->read_count, 1 + extra)
		     : take_array(words, extra, 1);
}

static bool take_call_chain(struct words *words, struct perfmon_sample *sample)
{
	sample->present |= PERFMON_SAMPLE_CALL_CHAIN;
	if (!take(words, &sample->call_chain_count))
		return false;
	sample->call_chain = take_array(words, sample->call_chain_count, 1);
	return sample->call_chain;
}

/* Takes a size of 32 bits and so many bytes, which together fill whole words. */
static bool take_raw(struct words *words, struct perfmon_sample *sample)
{
	const char *start = (const char *)words->at;
	uint32_t size, ignored;
	struct words peek = *words;

	if (!take_halves(&peek, &size, &ignored) || (size + UINT64_C(4)) % 8)
		return false;
	sample->present |= PERFMON_SAMPLE_RAW;
	sample->raw_size = size;
	sample->raw = start + sizeof(size);
	return take_array(words, (size + UINT64_C(4)) / 8, 1);
}

static bool take_branches(struct words *words, uint64_t type,
			  struct perfmon_sample *sample)
{
	if (!take(words, &sample->branch_count) ||
	    !take_single(words, type & PERF_SAMPLE_BRANCH_HW_INDEX, &sample->branch_index,
			 PERFMON_SAMPLE_BRANCH_INDEX, sample))
		return false;
	sample->branches = take_array(words, sample->branch_count,
				      sizeof(struct perfmon_branch) / sizeof(uint64_t));
	if (!sample->branches)
		return false;
	sample->present |= PERFMON_SAMPLE_BRANCHES;
	if (type & BRANCH_COUNTERS) {
		sample->branch_counters = take_array(words, sample->branch_count, 1);
		if (!sample->branch_counters)
			return false;
		sample->present |= PERFMON_SAMPLE_BRANCH_COUNTERS;
	}
	return true;
}

static bool take_registers(struct words *words, uint64_t wanted, uint64_t bit,
			   struct perfmon_sample *sample, uint64_t *abi, uint64_t *mask,
			   const uint64_t **values)
{
	if (!take(words, abi))
		return false;
	/* A kernel thread has no user registers. */
	if (*abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	*values = take_array(words, bits(wanted), 1);
	if (!*values)
		return false;
	*mask = wanted;
	sample->present |= bit;
	return true;
}

static bool take_stack(struct words *words, struct perfmon_sample *sample)
{
	uint64_t room;

	if (!take(words, &room) || room % 8)
		return false;
	if (!room)
		return true;
	sample->user_stack = take_array(words, room / 8, 1);
	sample->present |= PERFMON_SAMPLE_USER_STACK;
	return sample->user_stack && take(words, &sample->user_stack_size) &&
	       sample->user_stack_size <= room;
}

static bool take_weight(struct words *words, uint64_t type, struct perfmon_sample *sample)
{
	if (!take(words, &sample->weight))
		return false;
	sample->present |= PERFMON_SAMPLE_WEIGHT;
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		sample->weight_parts[0] = (uint32_t)sample->weight;
		sample->weight_parts[1] = (uint16_t)(sample->weight >> 32);
		sample->weight_parts[2] = (uint16_t)(sample->weight >> 48);
		sample->present |= PERFMON_SAMPLE_WEIGHT_PARTS;
	}
	return true;
}

static bool take_aux(struct words *words, struct perfmon_sample *sample)
{
	if (!take(words, &sample->aux_size) || sample->aux_size % 8)
		return false;
	sample->aux = take_array(words, sample->aux_size / 8, 1);
	sample->present |= PERFMON_SAMPLE_AUX;
	return sample->aux;
}

static bool take_sample(struct words *words, const struct perf_event_attr *attr,
			struct perfmon_sample *s)
{
	const uint64_t type = attr->sample_type;
	const uint64_t branch_type = attr->branch_sample_type;

	return SINGLE(IDENTIFIER, id, ID) && SINGLE(IP, ip, IP) &&
	       take_origin(words, type, s) && SINGLE(PERIOD, period, PERIOD) &&
	       (!(type & PERF_SAMPLE_READ) || take_read(words, attr->read_format, s)) &&
	       (!(type & PERF_SAMPLE_CALLCHAIN) || take_call_chain(words, s)) &&
	       (!(type & PERF_SAMPLE_RAW) || take_raw(words, s)) &&
	       (!(type & PERF_SAMPLE_BRANCH_STACK) ||
		take_branches(words, branch_type, s)) &&
	       (!(type & PERF_SAMPLE_REGS_USER) ||
		take_registers(words, attr->sample_regs_user,
			       PERFMON_SAMPLE_USER_REGISTERS, s, &s->user_registers_abi,
			       &s->user_registers_mask, &s->user_registers)) &&
	       (!(type & PERF_SAMPLE_STACK_USER) || take_stack(words, s)) &&
	       (!(type & PERF_SAMPLE_WEIGHT_TYPE) || take_weight(words, type, s)) &&
	       SINGLE(DATA_SRC, data_source, DATA_SOURCE) &&
	       SINGLE(TRANSACTION, transaction, TRANSACTION) &&
	       (!(type & PERF_SAMPLE_REGS_INTR) ||
		take_registers(words, attr->sample_regs_intr,
			       PERFMON_SAMPLE_INTERRUPT_REGISTERS, s,
			       &s->interrupt_registers_abi, &s->interrupt_registers_mask,
			       &s->interrupt_registers)) &&
	       SINGLE(PHYS_ADDR, physical_address, PHYSICAL_ADDRESS) &&
	       SINGLE(CGROUP, cgroup, CGROUP) &&
	       SINGLE(DATA_PAGE_SIZE, data_page_size, DATA_PAGE_SIZE) &&
	       SINGLE(CODE_PAGE_SIZE, code_page_size, CODE_PAGE_SIZE) &&
	       (!(type & PERF_SAMPLE_AUX) || take_aux(words, s));
}

static bool open_record(const struct perf_event_header *record, struct words *words)
{
	if (record->size < sizeof(*record) || record->size % 8)
		return false;
	words->at = (const uint64_t *)(record + 1);
	words->left = (record->size - sizeof(*record)) / 8;
	return true;
}

static struct perfmon_sample blank(const struct perf_event_header *record)
{
	unsigned int mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return (struct perfmon_sample){
		.size = sizeof(struct perfmon_sample),
		.mode = mode <= PERFMON_SAMPLE_MODE_GUEST_USER
				? (uint16_t)mode
				: PERFMON_SAMPLE_MODE_UNKNOWN,
	};
}

int pm_sample_decode(const struct perf_event_attr *attr,
		     const struct perf_event_header *record,
		     struct perfmon_sample *sample)
{
	struct perfmon_sample made = blank(record);
	struct words words;

	if (!open_record(record, &words) || record->type != PERF_RECORD_SAMPLE)
		return -EBADMSG;
	/* An unknown field would shift all later ones. */
	if (attr->sample_type & ~SAMPLE_TYPES ||
	    (attr->sample_type & PERF_SAMPLE_READ && attr->read_format & ~READ_FORMATS))
		return -EOPNOTSUPP;
	made.exact_ip = !!(record->misc & PERF_RECORD_MISC_EXACT_IP);
	if (!take_sample(&words, attr, &made))
		return -EBADMSG;
	*sample = made;
	return 0;
}

uint32_t pm_sample_trailer_words(const struct perf_event_attr *attr)
{
	return attr->sample_id_all ? bits(attr->sample_type & TRAILER_TYPES) : 0;
}

int pm_sample_decode_trailer(const struct perf_event_attr *attr,
			     const struct perf_event_header *record,
			     struct perfmon_sample *sample, uint32_t *body)
{
	const uint64_t type = attr->sample_type & TRAILER_TYPES;
	const uint64_t size = pm_sample_trailer_words(attr);
	struct perfmon_sample made = blank(record);
	struct words words;

	if (!open_record(record, &words) || words.left < size)
		return -EBADMSG;
	words.at += words.left - size;
	words.left = size;
	if (size && !(take_origin(&words, type, &made) &&
		      take_single(&words, type & PERF_SAMPLE_IDENTIFIER, &made.id,
				  PERFMON_SAMPLE_ID, &made)))
		return -EBADMSG;
	*sample = made;
	if (body)
		*body = record->size - (uint32_t)size * 8;
	return 0;
}

int pm_sample_decode_read(const struct perf_event_attr *attr,
			  const struct perf_event_header *record,
			  struct perfmon_sample *sample)
{
	struct perfmon_sample made;
	struct words words;
	uint32_t body;
	int err;

	if (attr->read_format & ~READ_FORMATS)
		return -EOPNOTSUPP;
	err = pm_sample_decode_trailer(attr, record, &made, &body);
	if (err)
		return err;
	words.at = (const uint64_t *)(record + 1);
	words.left = (body - sizeof(*record)) / 8;
	if (!take_halves(&words, &made.pid, &made.tid) ||
	    !take_read(&words, attr->read_format, &made))
		return -EBADMSG;
	made.present |= PERFMON_SAMPLE_TID;
	*sample = made;
	return 0;
}

int pm_sample_identify(const struct perf_event_attr *attr,
		       const struct perf_event_header *record, uint64_t *id)
{
	struct words words;

	if (!open_record(record, &words))
		return -EBADMSG;
	if (!(attr->sample_type & PERF_SAMPLE_IDENTIFIER))
		return -ENODATA;
	if (record->type == PERF_RECORD_SAMPLE)
		return take(&words, id) ? 0 : -EBADMSG;
	if (!attr->sample_id_all)
		return -ENODATA;
	if (!words.left)
		return -EBADMSG;
	*id = words.at[words.left - 1];
	return 0;
}

PM_EXPORT int perfmon_sample_get_value(const struct perfmon_sample *sample,
				       uint64_t index, struct perfmon_sample_value *value)
{
	const uint64_t format = sample->read_format, *at = sample->read_words;
	const unsigned int times = bits(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
						  PERF_FORMAT_TOTAL_TIME_RUNNING));
	const unsigned int extra = bits(format & (PERF_FORMAT_ID | FORMAT_LOST));
	struct perfmon_sample_value made = {0};
	int err = PM_STRUCT_CHECK(value, perfmon_sample_value, 32);

	if (err)
		return err;
	if (!(sample->present & PERFMON_SAMPLE_READ) || index >= sample->read_count)
		return -EINVAL;
	if (format & PERF_FORMAT_GROUP) {
		at += 1 + times + index * (1 + extra);
		made.value = *at++;
	} else {
		made.value = *at;
		at += 1 + times;
	}
	if (format & PERF_FORMAT_ID)
		made.id = *at++;
	if (format & FORMAT_LOST)
		made.lost = *at;
	pm_struct_fill(value, &made, sizeof(made));
	return 0;
}
