/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fast read on pages of our own making, with counters of every width, and with the
 * page changing under it at each of its steps. The library's own source, compiled here
 * for a CPU whose counters are variables.
 *
 * Row: PC-10 sum + (now - start) from mapped state, with retry
 * Row: PC-11 narrow counters never lose a wrap
 * Row: PM-05 every counter is 64 bits wide whatever the hardware's width
 */
#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct perfmon_counter_view;

#define PERFMON_ARCH_HEADER	      "../../tests/fake_cpu.h"
#define PERFMON_READ_HOOK(step, view) hook(step, view)
static void hook(int step, const struct perfmon_counter_view *view);

#include "fastpath/view.c"

static struct perf_event_mmap_page page;
static struct perfmon_counter_view view;

/* What the page does between two steps of the read. */
static void (*action)(void);
static int action_step;
static unsigned int action_times; /* so many more times */
static unsigned int steps[PERFMON_READ_STORING + 1];

static void hook(int step, const struct perfmon_counter_view *at)
{
	(void)at;
	steps[step]++;
	if (action && step == action_step && action_times) {
		action_times--;
		action();
	}
}

static void at(int step, unsigned int times, void (*what)(void))
{
	action_step = step;
	action_times = times;
	action = what;
}

/* As perf_event_update_userpage() does it. */
static void write_page(uint32_t index, int64_t offset, unsigned int width)
{
	page.lock++;
	page.index = index;
	page.offset = offset;
	page.pmc_width = (uint16_t)width;
	page.lock++;
}

static void begin(void)
{
	memset(&page, 0, sizeof(page));
	memset(fake_counters, 0, sizeof(fake_counters));
	memset(steps, 0, sizeof(steps));
	action = NULL;
	fake_reads = 0;
	fake_now = 0;
	page.cap_user_rdpmc = 1;
	pm_view_init(&view, &page, 0);
}

TestSuite(read, .init = begin);

static uint64_t width_mask(unsigned int width)
{
	return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* A counter of WIDTH bits that the kernel set to -PERIOD when the event had counted
 * BEFORE, and that has counted N since: the page says offset = before + period. */
static void check_width(unsigned int width, uint64_t period, uint64_t before, uint64_t n)
{
	uint64_t value = 0;

	write_page(3, (int64_t)(before + period), width);
	fake_counters[2] = (n - period) & width_mask(width);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, before + n,
		     "width %u, period %#llx, before %#llx, n %#llx: %#llx", width,
		     (unsigned long long)period, (unsigned long long)before,
		     (unsigned long long)n, (unsigned long long)value);
}

Test(read, every_width_is_extended_by_its_sign)
{
	for (unsigned int width = 2; width <= 64; width++) {
		/* The kernel programs half the range, so that an interrupt comes in
		 * time. */
		uint64_t half = UINT64_C(1) << (width - 1);
		uint64_t counts[] = {
			0, 1, half / 2, half - 1, half, half + half / 2, 2 * half - 1};

		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			if (width == 64 && i >= 4)
				break; /* the rest would need 2^63 events */
			check_width(width, half, 0, counts[i]);
			check_width(width, half, 1000, counts[i]);
			check_width(width, half, UINT64_C(1) << 62, counts[i]);
		}
		/* The bit above the width is not ours to count. */
		write_page(3, 0, width);
		fake_counters[2] = half - 1;
		uint64_t value;
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(value, half - 1);
	}
}

Test(read, one_bit_is_a_width_too)
{
	uint64_t value;

	write_page(1, 10, 1);
	fake_counters[0] = 1;
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, 9, "one bit of two's complement is 0 or -1");
}

/* The upper bits of a narrow counter may be set: arm64 biases a 32-bit event that sits on
 * the 64-bit cycle counter. */
Test(read, bits_above_the_width_are_not_looked_at)
{
	uint64_t value;

	write_page(1, 100, 32);
	fake_counters[0] = UINT64_C(0xffffffff00000005);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, 105);
}

Test(read, offsets_near_2_63_add_without_overflow)
{
	uint64_t value;

	write_page(1, INT64_MAX, 48);
	fake_counters[0] = 10;
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, (UINT64_C(1) << 63) + 9);

	write_page(1, INT64_MIN, 48);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, (UINT64_C(1) << 63) + 10);

	/* A base on top, as a session has it. */
	pm_view_init(&view, &page, UINT64_MAX - 5);
	write_page(1, -3, 48);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, 1);
}

Test(read, random_histories_of_a_narrow_counter_never_lose_a_wrap)
{
	srandom(1);
	for (int round = 0; round < 2000; round++) {
		unsigned int width = 8 + (unsigned int)random() % 56;
		uint64_t half = UINT64_C(1) << (width - 1);
		uint64_t truth = (uint64_t)random(), previous = 0, counter = -half;

		begin();
		write_page(1, (int64_t)(truth + half), width);
		for (int i = 0; i < 50; i++) {
			uint64_t step = (uint64_t)random() % (half / 4 + 1), value = 0;

			truth += step;
			counter += step;
			fake_counters[0] = counter & width_mask(width);
			cr_assert_eq(pm_view_read(&view, &value), 0);
			cr_assert_eq(value, truth);
			cr_assert_geq(value, previous);
			previous = value;
			if (counter < half) { /* past zero: the interrupt sets it again */
				counter = -half;
				fake_counters[0] = counter & width_mask(width);
				write_page(1, (int64_t)(truth + half), width);
			}
		}
	}
}

Test(read, a_counter_that_is_not_on_the_hardware_is_left_to_the_system_call)
{
	uint64_t value = 77;

	write_page(0, 12345, 48);
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(value, 77, "untouched");
	cr_assert_eq(fake_reads, 0);
	pm_view_init_none(&view);
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
}

Test(read, what_no_accessor_can_read_is_refused)
{
	uint64_t value = 77;

	write_page(65, 0, 48);
	cr_assert_eq(pm_view_read(&view, &value), -EOPNOTSUPP);
	write_page(1, 0, 0);
	cr_assert_eq(pm_view_read(&view, &value), -EOPNOTSUPP);
	write_page(1, 0, 65);
	cr_assert_eq(pm_view_read(&view, &value), -EOPNOTSUPP);
	cr_assert_eq(value, 77);
	cr_assert_eq(fake_reads, 0);
}

Test(read, a_warm_view_is_not_refreshed)
{
	uint64_t value;

	write_page(1, 5, 48);
	for (int i = 0; i < 10; i++)
		cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(steps[PERFMON_READ_LOCKED], 1);
	cr_assert_eq(steps[PERFMON_READ_SAMPLED], 10);
}

/* --- the page changes under the read ------------------------------------------------ */

/* The thread moved to another CPU: another counter number, another start value. */
static void migrate(void)
{
	fake_counters[0] = 0xdead; /* some other event's by now */
	fake_counters[7] = 50;
	write_page(8, 1000, 48);
}

/* The counter overflowed: the kernel folded it and set it anew. */
static void wrap(void)
{
	fake_counters[0] = width_mask(48) - 9; /* -10 */
	write_page(1, 1060, 48);
}

static void rotate_out(void)
{
	fake_counters[0] = 0xdead;
	write_page(0, 1050, 48);
}

/* The page is caught in the middle of a write, which ends at the next step. */
static void half_written(void)
{
	page.lock++;
	page.offset = 99999;
	action_step = PERFMON_READ_COPIED;
	action_times = 1;
	action = NULL;
}

Test(read, a_change_at_any_step_is_seen)
{
	static const int all[] = {PERFMON_READ_CHECKED, PERFMON_READ_SAMPLED,
				  PERFMON_READ_LOCKED, PERFMON_READ_COPIED};

	for (size_t i = 0; i < 4; i++) {
		for (int warm = 0; warm < 2; warm++) {
			uint64_t value = 77;

			/* The refresh's steps come only where something moved before. */
			if (warm && i >= 2)
				continue;
			begin();
			write_page(1, 1000, 48);
			fake_counters[0] = 50;
			if (warm)
				cr_assert_eq(pm_view_read(&view, &value), 0);
			at(all[i], 1, migrate);
			cr_assert_eq(pm_view_read(&view, &value), 0);
			cr_assert_eq(value, 1050, "step %zu: %llu", i,
				     (unsigned long long)value);

			begin();
			write_page(1, 1000, 48);
			fake_counters[0] = 50;
			if (warm)
				cr_assert_eq(pm_view_read(&view, &value), 0);
			at(all[i], 1, wrap);
			cr_assert_eq(pm_view_read(&view, &value), 0);
			cr_assert_eq(value, 1050, "step %zu", i);

			begin();
			write_page(1, 1000, 48);
			fake_counters[0] = 50;
			if (warm)
				cr_assert_eq(pm_view_read(&view, &value), 0);
			value = 77;
			at(all[i], 1, rotate_out);
			cr_assert_eq(pm_view_read(&view, &value), -EAGAIN, "step %zu", i);
			cr_assert_eq(value, 77, "untouched");
		}
	}
}

Test(read, retries_are_counted)
{
	uint64_t value;

	write_page(1, 1000, 48);
	at(PERFMON_READ_COPIED, 5, migrate);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, 1050);
	cr_assert_eq(view.retries, 5);
}

Test(read, a_page_that_never_holds_still_is_given_up)
{
	uint64_t value = 77;

	write_page(1, 1000, 48);
	at(PERFMON_READ_COPIED, UINT32_MAX, migrate);
	cr_assert_eq(pm_view_read(&view, &value), -EBUSY);
	cr_assert_eq(value, 77);

	/* A writer that never ends. */
	begin();
	write_page(1, 1000, 48);
	half_written();
	cr_assert_eq(pm_view_read(&view, &value), -EBUSY);
	cr_assert_eq(value, 77);
	cr_assert_eq(view.lock_index, PERFMON_VIEW_STALE);
}

/* A signal handler that reads by the same view while a read is under way: right, or left
 * to the system call. */
static uint64_t inner;
static int inner_error;

static void read_inside(void)
{
	inner_error = pm_view_read(&view, &inner);
}

static void migrate_and_read(void)
{
	action = NULL;
	migrate();
	read_inside();
}

Test(read, a_handler_may_read_by_the_view_at_any_step)
{
	for (int step = PERFMON_READ_CHECKED; step <= PERFMON_READ_STORING; step++) {
		bool refreshing = step >= PERFMON_READ_LOCKED;
		uint64_t value = 0;

		begin();
		write_page(1, 1000, 48);
		fake_counters[0] = 50;
		at(step, 1, migrate_and_read);
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(inner_error, refreshing ? -EBUSY : 0, "step %d", step);
		cr_assert(refreshing || inner == 1050, "step %d", step);
		cr_assert_eq(value, 1050, "step %d: %llu", step,
			     (unsigned long long)value);
		cr_assert_eq(view.taker, 0);
	}
}

static void migrate_and_read_later(void)
{
	migrate_and_read();
	at(PERFMON_READ_STORING, 1, read_inside);
}

Test(read, a_second_handler_never_reads_half_of_two_views)
{
	for (int step = PERFMON_READ_LOCKED; step <= PERFMON_READ_STORING; step++) {
		uint64_t value = 0;

		begin();
		write_page(1, 1000, 48);
		fake_counters[0] = 50;
		at(step, 1, migrate_and_read_later);
		inner = 1050;
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(action_times, 0, "step %d: the second one came", step);
		cr_assert_eq(inner, 1050, "step %d: %llu", step,
			     (unsigned long long)inner);
		cr_assert_eq(value, 1050);
	}
}

static jmp_buf out;

static void leave_by_a_jump(void)
{
	longjmp(out, 1);
}

static __attribute__((noinline)) int read_once(uint64_t *value)
{
	return pm_view_read(&view, value);
}

Test(read, a_refresh_left_by_a_jump_is_taken_up_again_from_the_same_place)
{
	volatile bool left = false;
	uint64_t value = 0;

	write_page(1, 1000, 48);
	fake_counters[0] = 50;
	at(PERFMON_READ_STORING, 1, leave_by_a_jump);
	left = setjmp(out) != 0;
	cr_assert_eq(read_once(&value), 0);
	cr_assert(left);
	cr_assert_eq(value, 1050);
	cr_assert_eq(view.taker, 0);
}

static void set_to_7(void)
{
	pm_view_rebase(&view, 7 - (uint64_t)1050);
}

Test(read, a_value_set_during_a_refresh_is_the_one_that_is_read)
{
	for (int step = PERFMON_READ_CHECKED; step <= PERFMON_READ_STORING; step++) {
		uint64_t value = 0;

		begin();
		write_page(1, 1000, 48);
		fake_counters[0] = 50;
		at(step, 1, set_to_7);
		cr_assert_eq(pm_view_read(&view, &value), 0);
		/* What has been sampled by then is what it was before. */
		cr_assert(value == 7 || (step <= PERFMON_READ_SAMPLED && value == 1050),
			  "step %d: %llu", step, (unsigned long long)value);
		cr_assert_eq(pm_view_read(&view, &value), 0);
		cr_assert_eq(value, 7, "step %d: %llu", step, (unsigned long long)value);
	}
}

/* --- user access taken away --------------------------------------------------------- */

Test(read, user_access_taken_under_a_running_event_leaves_the_system_call)
{
	uint64_t value = 77;

	write_page(1, 1000, 32);
	fake_counters[0] = 50;
	cr_assert_eq(pm_view_read(&view, &value), 0);
	/* arm64 from the next update on; the offset stays what it was, and stale. */
	write_page(0, 1000, 32);
	value = 77;
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(value, 77, "the stale offset is not taken for a count");
}

static void revoke(void)
{
	pm_view_revoke_all();
	view.lock_index = PERFMON_VIEW_STALE; /* as if a handler refused the sample */
	page.lock += 2;
}

Test(read, revoked_views_are_not_refreshed_and_new_ones_are)
{
	uint64_t value = 77;

	write_page(1, 1000, 48);
	at(PERFMON_READ_CHECKED, 1, revoke);
	cr_assert_eq(pm_view_read(&view, &value), -EAGAIN);
	cr_assert_eq(value, 77);
	pm_view_init(&view, &page, 0);
	cr_assert_eq(pm_view_read(&view, &value), 0);
	cr_assert_eq(value, 1000);
}

/* --- times -------------------------------------------------------------------------- */

Test(read, times_come_from_the_page_s_clock)
{
	uint64_t value, enabled, running;

	page.time_mult = 3;
	page.time_shift = 1; /* 1.5 ns a tick */
	page.time_enabled = 10000;
	page.time_running = 7000;
	page.time_offset = (uint64_t)-1500;
	fake_now = 1001; /* 1501.5 ns */
	write_page(1, 1000, 48);
	cr_assert_eq(pm_view_read_times(&view, &value, &enabled, &running), -EOPNOTSUPP);
	page.cap_user_time = 1;
	cr_assert_eq(pm_view_read_times(&view, &value, &enabled, &running), 0);
	cr_assert_eq(value, 1000);
	cr_assert_eq(enabled, 10001);
	cr_assert_eq(running, 7001);
	fake_now = 2000;
	cr_assert_eq(pm_view_read_times(&view, &value, &enabled, &running), 0);
	cr_assert_eq(enabled, 11500);
	cr_assert_eq(running, 8500);
	cr_assert_eq(pm_view_page_enabled(&page, &enabled), 0);
	cr_assert_eq(enabled, 11500);
	page.lock++;
	cr_assert_eq(pm_view_page_enabled(&page, &enabled), -EBUSY);
}

Test(read, a_short_clock_is_extended)
{
	page.time_mult = 1;
	page.time_shift = 0;
	cr_assert_eq(pm_view_clock_ns(&page, 5), 5);
	page.cap_user_time_short = 1;
	page.time_mask = 0xff;
	page.time_cycles = 0x1fe;
	cr_assert_eq(pm_view_clock_ns(&page, 0x03), 0x203, "wrapped since time_cycles");
	cr_assert_eq(pm_view_clock_ns(&page, 0xff), 0x1ff);
}

Test(read, differences_are_modulo_the_width)
{
	for (unsigned int width = 8; width <= 64; width++) {
		write_page(1, 0, width);
		cr_assert_eq(pm_view_refresh(&view), 0);
		cr_assert_eq(perfmon_view_difference(&view, 3, width_mask(width) - 1), 5);
		cr_assert_eq(perfmon_view_extend(&view, width_mask(width)), -1);
	}
}

Test(read, raw_samples_follow_the_same_rules)
{
	uint64_t raw = 77;

	write_page(1, 1000, 48);
	fake_counters[0] = 50;
	cr_assert_eq(perfmon_view_sample(&view, &raw), 1, "it was never refreshed");
	cr_assert_eq(pm_view_refresh(&view), 0);
	cr_assert_eq(perfmon_view_sample(&view, &raw), 0);
	cr_assert_eq(raw, 50);
	at(PERFMON_READ_SAMPLED, 1, migrate);
	cr_assert_eq(perfmon_view_sample(&view, &raw), 1);
}
