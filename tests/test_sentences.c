/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentence of a handle is about its last call: each call says why it failed, or leaves
 * none behind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmon/cpuwide.h"
#include "perfmon/inline.h"
#include "perfmon/perfmon.h"
#include "perfmon/perfmon2.h"
#include "session_probe.h"

static char planted[1000], walked[16384];

/* Notes that CALL was made, and looks at what the handle says of its RESULT. */
static void expect_own_sentence(const char *call, long result, const char *message)
{
	size_t used = strlen(walked);

	snprintf(walked + used, sizeof(walked) - used, "%s\n", call);
	if (result >= 0) {
		cr_expect_str_empty(message, "%s succeeds, and says: %s", call, message);
		return;
	}
	cr_expect_str_not_empty(message, "%s fails without a word", call);
	cr_expect_str_neq(message, planted, "%s keeps the sentence before it", call);
}

static void plant(struct perfmon_session *session)
{
	cr_assert_lt(perfmon_session_program(session, 98765, "dummy"), 0);
	snprintf(planted, sizeof(planted), "%s", session_message_of(session));
	cr_assert_str_not_empty(planted);
}

/* Makes CALL on `s`, of which the call before has failed. */
#define TRY(call)                                                                        \
	do {                                                                             \
		long result_;                                                            \
                                                                                         \
		plant(s);                                                                \
		result_ = (long)(call);                                                  \
		expect_own_sentence(#call, result_, session_message_of(s));              \
	} while (0)

static void while_detached(struct perfmon_session *s)
{
	struct perfmon_set set = {.id = 1};
	struct perfmon_sampling sampling = {.size = sizeof(sampling),
					    .format = PERFMON_FORMAT_DEFAULT};
	struct perfmon_overflow overflow = {.size = 1};
	uint64_t number;

	TRY(perfmon_session_add_events(s, "dummy"));
	TRY(perfmon_session_add_events(s, "no-such-event"));
	TRY(perfmon_session_program(s, 0, "task-clock:u"));
	TRY(perfmon_session_start(s));
	TRY(perfmon_session_stop(s));
	TRY(perfmon_session_control(s, "dummy", NULL, 0));
	TRY(perfmon_session_detach(s));
	TRY(perfmon_session_detach_target(s, PERFMON_TARGET_KIND_THREAD, 0));
	TRY(perfmon_set_create(s, &set, 1, sizeof(set)));
	TRY(perfmon_set_add_events(s, 7, "dummy"));
	TRY(perfmon_set_start(s, 1));
	TRY(perfmon_set_overflowed(s, 0, NULL, 0));
	TRY(perfmon_set_overflowed(s, 7, NULL, 0));
	TRY(perfmon_set_list(s, NULL, 0));
	TRY(perfmon_set_delete(s, &set, 1, sizeof(set)));
	TRY(perfmon_set_delete(s, &set, 1, sizeof(set)));
	TRY(perfmon_overflow_program(s, 0, NULL));
	TRY(perfmon_overflow_program(s, 0, &overflow));
	TRY(perfmon_overflow_period(s, 1, 0, 0));
	TRY(perfmon_overflow_period(s, 1, 1000000, PERFMON_OVERFLOW_SAMPLE));
	TRY(perfmon_overflow_signal(s, 0));
	TRY(perfmon_overflow_signal(s, 9999));
	TRY(perfmon_overflow_handler(s, SIGRTMIN, NULL));
	TRY(perfmon_overflow_block(s, 9999));
	TRY(perfmon_overflow_last_reset(s, 0, &number, &number));
	TRY(perfmon_overflow_last_reset(s, 99, &number, &number));
	TRY(perfmon_overflow_restart(s));
	TRY(perfmon_sampling_fields(s, &number));
	TRY(perfmon_sampling_counts(s, &number, &number));
	TRY(perfmon_sampling_throttled(s, &number));
	TRY(perfmon_sampling_buffer(s, NULL) ? 0 : -1);
	TRY(perfmon_sampling_enter(s));
	TRY(perfmon_sampling_leave(s));
	TRY(perfmon_sampling_log(s, "/dev/null", -1, 0));
	TRY(perfmon_sampling_log_flush(s));
	TRY(perfmon_sampling_log_user(s, 1, "x", 1));
	TRY(perfmon_sampling_log_close(s));
	TRY(perfmon_sampling_set_up(s, &sampling));
	TRY(perfmon_sampling_set_up(s, &sampling));
	TRY(perfmon_sampling_buffer(s, NULL) ? 0 : -1);
	TRY(perfmon_sampling_counts(s, &number, &number));
	TRY(perfmon_sampling_tear_down(s));
}

static void while_attached(struct perfmon_session *s)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};
	struct perfmon_set_info set = {.id = 0};
	struct perfmon_target self = {.kind = PERFMON_TARGET_KIND_THREAD};
	struct perfmon_estimate estimate = {.index = 0};
	struct perfmon_value value = {.index = 0};
	struct perfmon_write write = {.index = 0};
	const struct perfmon_reader *reader;
	struct perfmon_message message;

	TRY(perfmon_session_attach(s, PERFMON_TARGET_KIND_THREAD, -1));
	TRY(perfmon_session_attach(s, PERFMON_TARGET_KIND_THREAD, 0));
	TRY(perfmon_session_attach_targets(s, &self, 1, sizeof(self), 0));
	TRY(perfmon_session_start(s));
	TRY(perfmon_session_read(s, &value, 1, sizeof(value), 0));
	TRY(perfmon_session_read(s, &value, 1, sizeof(value), 64));
	TRY(perfmon_session_write(s, &write, 1, sizeof(write), 0));
	TRY(perfmon_session_write(s, &write, 1, 1, 0));
	TRY(perfmon_session_swap(s, &value, 1, sizeof(value), 0));
	TRY(perfmon_session_get_counter(s, 0, &info));
	TRY(perfmon_session_get_counter(s, 99, &info));
	TRY(perfmon_session_reader_layout(s, PERFMON_READER_LAYOUT, &reader));
	TRY(perfmon_session_reader_layout(s, 0, &reader));
	TRY(perfmon_session_reader_layout(s, PERFMON_READER_LAYOUT, NULL));
	TRY(perfmon_set_get_info(s, &set, 1, sizeof(set)));
	TRY(perfmon_set_estimate(s, &estimate, 1, sizeof(estimate)));
	TRY(perfmon_overflow_descriptor(s));
	TRY(perfmon_overflow_read(s, &message, 0, sizeof(message)));
	TRY(perfmon_session_stop(s));
	TRY(perfmon_session_detach_target(s, PERFMON_TARGET_KIND_THREAD, 0));
	TRY(perfmon_session_detach(s));
}

/* Those that are no calls on a session that is there, or ask for its sentence. Reads by
 * perfmon/inline.h, which take no lock, leave it as it is. */
static const char *const others[] = {
	"perfmon_session_create", "perfmon_session_close",     "perfmon_session_message",
	"perfmon_session_state",  "perfmon_session_of_thread", "perfmon_session_counters",
};

static void expect_walked(const char *name)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i]))
			return;
	}
	strcat(strcpy(planted, name), "(");
	cr_expect(strstr(walked, planted), "%s is not in this test", name);
}

Test(sentences, each_call_on_a_session_sets_or_clears_it)
{
	struct perfmon_session *session = session_with("task-clock:u", 0);
	const char *srcdir = getenv("srcdir");
	char path[4096], name[128];
	FILE *map;

	while_detached(session);
	while_attached(session);
	perfmon_session_close(session);
	snprintf(path, sizeof(path), "%s/src/libperfmon.map", srcdir ? srcdir : ".");
	map = fopen(path, "r");
	if (!map)
		cr_skip_test("the sources, which name all calls, are not here");
	while (fscanf(map, " %127[^; \n]%*[; \n]", name) == 1) {
		if (!strncmp(name, "perfmon_session_", 16) ||
		    !strncmp(name, "perfmon_set_", 12) ||
		    !strncmp(name, "perfmon_overflow_", 17) ||
		    !strncmp(name, "perfmon_sampling_", 17))
			expect_walked(name);
	}
	fclose(map);
}

/* What asks for it, or only looks at the state, leaves it. */
Test(sentences, it_stays_until_the_next_call)
{
	struct perfmon_session *session = session_with("dummy", 0);

	plant(session);
	cr_expect_geq(perfmon_session_state(session), 0);
	cr_expect_geq(perfmon_session_counters(session), 0);
	cr_expect_str_eq(session_message_of(session), planted);
	perfmon_session_close(session);
}

Test(sentences, of_perfmon2_and_of_cpus)
{
	struct perfmon_placement *everywhere;
	struct perfmon_cpuwide *cpuwide;
	struct pfarg_setinfo info = {.set_id = 0};
	char message[1000];
	int fd = pfm_create_context(0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(pfm_start(fd, 0), -1);
	cr_assert_gt(pfm_message(fd, message, sizeof(message)), 0);
	cr_expect_eq(pfm_getinfo_evtsets(fd, &info, sizeof(info)), 0);
	cr_expect_eq(pfm_message(fd, message, sizeof(message)), 0, "%s", message);
	cr_expect_null(pfm_smpl_buffer(fd, NULL));
	cr_expect_gt(pfm_message(fd, message, sizeof(message)), 0);
	close(fd);

	cr_assert_eq(perfmon_placement_parse(&everywhere, "all", NULL, 0), 0);
	if (perfmon_cpuwide_open(&cpuwide, everywhere, "dummy", 0, message,
				 sizeof(message))) {
		perfmon_placement_free(everywhere);
		cr_skip_test("no events of CPUs: %s", message);
	}
	cr_expect_eq(perfmon_cpuwide_read(cpuwide, "nonsense", 0, NULL, NULL), -EINVAL);
	cr_expect_gt(perfmon_cpuwide_message(cpuwide, message, sizeof(message)), 0);
	cr_expect_eq(perfmon_cpuwide_start(cpuwide), 0);
	cr_expect_eq(perfmon_cpuwide_message(cpuwide, message, sizeof(message)), 0);
	perfmon_cpuwide_close(cpuwide);
	perfmon_placement_free(everywhere);
}
