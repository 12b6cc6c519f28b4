/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structures of the API that begin with their size, as programs of earlier and later
 * versions give them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_files.h"
#include "perfmon/format.h"
#include "perfmon/info.h"
#include "perfmon/perfmon.h"
#include "perfmon/placement.h"
#include "perfmon/report.h"
#include "perfmon/sampling.h"
#include "session_probe.h"
#include "messages.h"

static struct perfmon_session *session;
static struct perfmon_placement *placement;
static struct perfmon_log *reader;
static struct perfmon_profile *profile;

/* --- a call for each, with what it needs besides its size --------------------------- */

static int no_sample(void *state, const struct perfmon_overflow_sample *sample)
{
	(void)state;
	(void)sample;
	return PERFMON_FORMAT_CONTINUE;
}

static int session_options(void *given)
{
	struct perfmon_session *made;
	int err = perfmon_session_create(&made, given, NULL, 0);

	if (!err)
		perfmon_session_close(made);
	return err;
}

static int overflow(void *given)
{
	struct perfmon_overflow *how = given;

	how->flags = PERFMON_OVERFLOW_ONCE;
	return perfmon_overflow_program(session, 0, how);
}

static int sampling(void *given)
{
	int err = perfmon_sampling_set_up(session, given);

	return err ?: perfmon_sampling_tear_down(session);
}

static int counter_info(void *given)
{
	return perfmon_session_get_counter(session, 0, given);
}

static int format(void *given)
{
	struct perfmon_format *asked = given;
	int err;

	asked->name = "structs";
	asked->sample = no_sample;
	err = perfmon_format_register(asked);
	return err ?: perfmon_format_unregister("structs");
}

static int buffer_argument(void *given)
{
	struct perfmon_sampling asked = {.size = sizeof(asked),
					 .format = PERFMON_FORMAT_DEFAULT,
					 .data = given,
					 .data_size = *(size_t *)given};
	int err = perfmon_sampling_set_up(session, &asked);

	return err ?: perfmon_sampling_tear_down(session);
}

static int report_options(void *given)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int err = perfmon_report_write(null, given);

	close(null);
	return err;
}

static int region_values(void *given)
{
	return perfmon_region_read("structs", given, NULL, 0,
				   sizeof(struct perfmon_region_count), 0);
}

static int info(void *given)
{
	return perfmon_info_get(given);
}

static int statistics(void *given)
{
	return perfmon_info_get_statistics(given);
}

static int level_info(void *given)
{
	return perfmon_placement_get_level(placement, 0, given);
}

static int group_info(void *given)
{
	return perfmon_placement_get_group(placement, (uint32_t)sched_getcpu(), "pu",
					   given);
}

static int log_record(void *given)
{
	return perfmon_log_next(reader, given);
}

static int log_event(void *given)
{
	return perfmon_log_get_event(reader, 0, given);
}

static int profile_info(void *given)
{
	return perfmon_profile_get_info(profile, given);
}

static int profile_run_note(void *given)
{
	return perfmon_profile_get_run_note(profile, 0, given);
}

static int profile_thread(void *given)
{
	return perfmon_profile_get_thread(profile, 0, given);
}

static int profile_node(void *given)
{
	return perfmon_profile_get_node(profile, 0, 0, given);
}

static int log_info(void *given)
{
	return perfmon_log_get_info(reader, given);
}

/* Sizes of their first version, in numbers: they never change, on machines of 64 bits. */
static const struct {
	const char *name;
	int (*call)(void *given);
	size_t known, first;
} structs[] = {
#define STRUCT(call, type, first)                                                        \
	{                                                                                \
#type, call, sizeof(struct type), first                                  \
	}
	STRUCT(session_options, perfmon_session_options, 16),
	STRUCT(overflow, perfmon_overflow, 80),
	STRUCT(sampling, perfmon_sampling, 56),
	STRUCT(counter_info, perfmon_counter_info, 96),
	STRUCT(format, perfmon_format, 64),
	STRUCT(buffer_argument, perfmon_buffer_argument, 16),
	STRUCT(report_options, perfmon_report_options, 16),
	STRUCT(region_values, perfmon_region_summary, 40),
	STRUCT(info, perfmon_info, 344),
	STRUCT(statistics, perfmon_statistics, 48),
	STRUCT(level_info, perfmon_placement_level_info, 32),
	STRUCT(group_info, perfmon_placement_group_info, 24),
	STRUCT(log_record, perfmon_log_record, 128),
	STRUCT(log_event, perfmon_log_event, 64),
	STRUCT(log_info, perfmon_log_info, 56),
	STRUCT(profile_info, perfmon_profile_info, 104),
	STRUCT(profile_run_note, perfmon_profile_run_note_info, 24),
	STRUCT(profile_thread, perfmon_profile_thread_info, 64),
	STRUCT(profile_node, perfmon_profile_node_info, 128),
#undef STRUCT
};
#define STRUCTS (sizeof(structs) / sizeof(structs[0]))

static void setup(void)
{
	char message[256];

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", "none", 1);
	setenv("PERFMON_NOTE", "n=128", 1);
	session = session_with("task-clock:u", 0);
	cr_assert_eq(perfmon_placement_parse(&placement, "all", message, sizeof(message)),
		     0, "%s", message);
	log_setup();
	cr_assert_eq(pm_log_close(log_begin(log_path, -1, 0)), 0);
	reader = log_reopen(log_path);
	PERFMON_REGION_BEGIN("structs");
	PERFMON_REGION_END("structs");
	cr_assert_eq(perfmon_profile_open_process(&profile, getpid(), 0, message,
						  sizeof(message)),
		     0, "%s", message);
}

static void teardown(void)
{
	perfmon_session_close(session);
	perfmon_placement_free(placement);
	perfmon_log_close(reader);
	perfmon_profile_close(profile);
	log_teardown();
}

TestSuite(structs, .init = setup, .fini = teardown);

/* A structure of GIVEN bytes, zeros but for its size, and TAIL in its last byte. */
static void *structure(size_t given, unsigned char tail)
{
	unsigned char *made = calloc(1, 8192);

	cr_assert_not_null(made);
	memcpy(made, &given, sizeof(given));
	if (tail)
		made[given - 1] = tail;
	return made;
}

static void gives(size_t i, void *given, int want)
{
	int result = structs[i].call(given);

	cr_expect_eq(result < 0 ? result : 0, want,
		     "struct %s of %zu bytes: %d, not %d: %s", structs[i].name,
		     *(size_t *)given, result, want, session_message_of(session));
	free(given);
}

Test(structs, of_this_version_and_of_the_first)
{
	for (size_t i = 0; i < STRUCTS; i++) {
		size_t first = structs[i].first;

		cr_expect_leq(first, structs[i].known, "%s", structs[i].name);
		gives(i, structure(structs[i].known, 0), 0);
		gives(i, structure(first, 0), 0);
		gives(i, structure(first - 1, 0), -EINVAL);
		gives(i, structure(0, 0), -EINVAL);
	}
}

Test(structs, of_a_later_version_without_anything_new)
{
	for (size_t i = 0; i < STRUCTS; i++) {
		size_t size = structs[i].known + 24;
		unsigned char *given = structure(size, 0);

		cr_expect_geq(structs[i].call(given), 0, "%s", structs[i].name);
		cr_expect_eq(*(size_t *)given, size);
		for (size_t b = structs[i].known; b < size + 8; b++)
			cr_expect_eq(given[b], 0, "%s", structs[i].name);
		free(given);
	}
}

Test(structs, of_a_later_version_with_what_is_not_known)
{
	void *given;

	for (size_t i = 0; i < STRUCTS; i++) {
		gives(i, structure(structs[i].known + 1, 1), -E2BIG);
		gives(i, structure(structs[i].known + 24, 0x80), -E2BIG);
	}
	given = structure(4096, 1);
	cr_expect_eq(perfmon_overflow_program(session, 0, given), -E2BIG);
	free(given);
	cr_expect(strstr(session_message_of(session), "unknown to"));
	given = structure(8, 0);
	cr_expect_eq(perfmon_sampling_set_up(session, given), -EINVAL);
	free(given);
	cr_expect(strstr(session_message_of(session), "sizeof(struct perfmon_sampling)"));
}

/* Elements of a later version: what the library does not know is zero and stays so, or
 * is refused; what it only writes becomes zero. */
Test(structs, of_a_vector_with_longer_elements)
{
	struct {
		struct perfmon_value known;
		uint64_t more;
	} values[2] = {{.known.index = 1}, {.known.index = 0}};
	struct {
		struct perfmon_write known;
		uint64_t more;
	} writes[2] = {{.known = {.index = 1, .value = 11}},
		       {.known = {.index = 0, .value = 10}}};
	struct {
		struct perfmon_set_info known;
		uint64_t more;
	} sets[2] = {{.known.id = 1}, {.known.id = 0}};
	struct {
		struct perfmon_target known;
		uint64_t more;
	} target = {.known.kind = PERFMON_TARGET_KIND_THREAD};
	size_t size = sizeof(values[0]);

	OK(session, perfmon_session_add_events(session, "dummy"));
	cr_assert_eq(perfmon_set_create(session, &(struct perfmon_set){.id = 1}, 1,
					sizeof(struct perfmon_set)),
		     1);
	cr_assert_eq(
		perfmon_session_write(session, &writes[0].known, 2, sizeof(writes[0]), 0),
		2, "%s", session_message_of(session));
	cr_assert_eq(perfmon_session_read(session, &values[0].known, 2, size, 0), 2);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(values[i].known.index, 1 - i);
		cr_assert_eq(values[i].known.value, 11 - i);
		cr_assert_eq(values[i].more, 0);
	}
	/* Refused, and nothing has moved. */
	values[0].more = 7;
	cr_assert_eq(perfmon_session_read(session, &values[0].known, 2, size, 0), -E2BIG);
	values[0].more = 0;
	values[1].known.index = 99;
	cr_assert_eq(perfmon_session_read(session, &values[0].known, 2, size, 0),
		     -EINVAL);
	cr_assert(values[0].known.value == 11 && values[1].known.index == 99);
	writes[1].more = 1;
	cr_assert_eq(
		perfmon_session_write(session, &writes[0].known, 2, sizeof(writes[0]), 0),
		-E2BIG);
	values[0].more = values[1].more = 7;
	cr_assert_eq(perfmon_session_read(session, &values[0].known, 2, size,
					  PERFMON_READ_ALL),
		     2);
	cr_assert(values[1].known.index == 1 && values[1].known.value == 11);
	cr_assert(!values[0].more && !values[1].more);
	cr_assert_eq(perfmon_session_swap(session, &values[0].known, 2, size, 0), 2);
	cr_assert_eq(perfmon_set_get_info(session, &sets[0].known, 2, sizeof(sets[0])),
		     2);
	cr_assert(sets[0].known.counters == 0 && sets[1].known.counters == 2);
	OK(session,
	   perfmon_session_attach_targets(session, &target.known, 1, sizeof(target), 0));
	target.more = 1;
	cr_assert_eq(perfmon_session_attach_targets(session, &target.known, 1,
						    sizeof(target), 0),
		     -E2BIG);
}

/* sizeof(array) in the place of sizeof(array[0]) would have the call write behind ROOM. */
struct room {
	uint64_t words[32];
	uint64_t behind[32];
};

static void refuses_the_size_of_two(const char *name, int result, const struct room *room,
				    const char *message)
{
	cr_expect_eq(result, -EINVAL, "%s: %d", name, result);
	for (size_t i = 0; i < 32; i++)
		cr_expect_eq(room->words[i] | room->behind[i], 0, "%s wrote", name);
	cr_expect(!message || strstr(message, "PERFMON_VECTOR("), "%s: %s", name,
		  message);
}

Test(structs, of_a_vector_that_is_written_and_is_given_the_size_of_two_elements)
{
	struct perfmon_region_summary sum = {.size = sizeof(sum)};
	struct perfmon_target target = {.kind = PERFMON_TARGET_KIND_THREAD};
	struct room room = {{0}, {0}};
	void *at = room.words;
	char message[256];

#define REFUSES(call, type, ...)                                                         \
	do {                                                                             \
		int result =                                                             \
			call(session, at, 2, 2 * sizeof(struct type), ##__VA_ARGS__);    \
                                                                                         \
		refuses_the_size_of_two(#call, result, &room,                            \
					session_message_of(session));                    \
	} while (0)
	REFUSES(perfmon_session_read, perfmon_value, 0);
	REFUSES(perfmon_session_read, perfmon_value, PERFMON_READ_ALL);
	REFUSES(perfmon_session_swap, perfmon_value, 0);
	REFUSES(perfmon_set_create, perfmon_set);
	REFUSES(perfmon_set_get_info, perfmon_set_info);
	REFUSES(perfmon_set_estimate, perfmon_estimate);
	REFUSES(perfmon_overflow_read, perfmon_message);
#undef REFUSES
	refuses_the_size_of_two(
		"perfmon_region_read",
		perfmon_region_read("structs", &sum, at, 2,
				    2 * sizeof(struct perfmon_region_count), 0),
		&room, NULL);
	cr_expect_eq(perfmon_profile_get_values(profile, 0, 1, at, 2,
						2 * sizeof(struct perfmon_profile_value)),
		     -EINVAL);
	perfmon_profile_message(profile, message, sizeof(message));
	refuses_the_size_of_two("perfmon_profile_get_values", -EINVAL, &room, message);
	/* What is only read is not written behind: its tail says whether it is known. */
	memcpy(at, &target, sizeof(target));
	OK(session,
	   perfmon_session_attach_targets(session, at, 1, 2 * sizeof(target), 0));
}

/* The three arguments, and elements that are a little longer than the library's. */
Test(structs, of_a_vector_by_its_macro)
{
	struct perfmon_value values[3] = {{.index = 0}};
	struct {
		struct perfmon_value known;
		uint64_t more[4];
	} longer[2] = {{.known.index = 0}};

	cr_assert_eq(perfmon_session_read(session, PERFMON_VECTOR(values), 0), 3);
	cr_assert_eq(
		perfmon_session_read(session, &longer[0].known, 2, sizeof(longer[0]), 0),
		2, "%s", session_message_of(session));
}

Test(structs, whose_size_was_never_set)
{
	for (size_t i = 0; i < STRUCTS; i++)
		gives(i, structure(SIZE_MAX / 2, 0), -E2BIG);
}
