/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests use of Criterion, to run them under sanitizers, with which Criterion
 * itself does not get along: under the thread sanitizer it does not start (it maps its
 * arena where the shadow memory is), and it does not look at how a test's process
 * ended, so a leak or a race that is told at exit passes. Here each test is a fork of a
 * process with one thread, and passes only if it exits as it should.
 */
#ifndef STANDIN_CRITERION_H
#define STANDIN_CRITERION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct criterion_test_extra_data {
	void (*init)(void);
	void (*fini)(void);
	int signal;
	int exit_code;
	bool disabled;
	const char *description;
	double timeout;
	void *data;
};

struct standin_test {
	const char *suite;
	const char *name; /* of the suite itself: NULL */
	void (*run)(void);
	struct criterion_test_extra_data options;
	struct standin_test *next;
};

void standin_register(struct standin_test *test);
void standin_soft(const char *file, int line, const char *what, const char *format, ...);
void standin_fatal(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((noreturn));
void standin_skip(const char *format, ...) __attribute__((noreturn));
void standin_log(const char *format, ...);

#ifdef __cplusplus
}
#endif

#define STANDIN_REGISTER(symbol, suite_, name_, function, ...)                           \
	static struct standin_test symbol##_test = {                                     \
		suite_, name_, function, {__VA_ARGS__}, NULL};                           \
	__attribute__((constructor)) static void symbol##_register(void)                 \
	{                                                                                \
		standin_register(&symbol##_test);                                        \
	}

#define Test(suite, name, ...)                                                           \
	static void suite##_##name##_impl(void);                                         \
	STANDIN_REGISTER(suite##_##name, #suite, #name, suite##_##name##_impl,           \
			 __VA_ARGS__)                                                    \
	static void suite##_##name##_impl(void)
#define TestSuite(suite, ...)                                                            \
	STANDIN_REGISTER(suite##_suite, #suite, NULL, NULL, __VA_ARGS__)

/* The message is optional and a literal, so it can follow an empty one. */
#define STANDIN_CHECK(how, holds, what, ...)                                             \
	((holds) ? (void)0 : standin_##how(__FILE__, __LINE__, what, "" __VA_ARGS__))

#define cr_assert(x, ...)     STANDIN_CHECK(fatal, (x), #x, __VA_ARGS__)
#define cr_expect(x, ...)     STANDIN_CHECK(soft, (x), #x, __VA_ARGS__)
#define cr_assert_not(x, ...) STANDIN_CHECK(fatal, !(x), "not " #x, __VA_ARGS__)
#define cr_expect_not(x, ...) STANDIN_CHECK(soft, !(x), "not " #x, __VA_ARGS__)
#define cr_assert_fail(...)   STANDIN_CHECK(fatal, false, "unreachable", __VA_ARGS__)
#define cr_expect_fail(...)   STANDIN_CHECK(soft, false, "unreachable", __VA_ARGS__)
#define cr_fatal(...)	      cr_assert_fail(__VA_ARGS__)
#define cr_fail(...)	      cr_expect_fail(__VA_ARGS__)
#define cr_skip_test(...)     standin_skip("" __VA_ARGS__)
#define cr_skip(...)	      standin_skip("" __VA_ARGS__)
#define cr_log_info(...)      standin_log("" __VA_ARGS__)
#define cr_log_warn(...)      standin_log("" __VA_ARGS__)
#define cr_log_error(...)     standin_log("" __VA_ARGS__)

#define STANDIN_OP(how, a, op, b, ...)                                                   \
	STANDIN_CHECK(how, (a)op(b), #a " " #op " " #b, __VA_ARGS__)
#define cr_assert_eq(a, b, ...)	   STANDIN_OP(fatal, a, ==, b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...)   STANDIN_OP(fatal, a, !=, b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...)	   STANDIN_OP(fatal, a, <, b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...)   STANDIN_OP(fatal, a, <=, b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...)	   STANDIN_OP(fatal, a, >, b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...)   STANDIN_OP(fatal, a, >=, b, __VA_ARGS__)
#define cr_assert_null(a, ...)	   STANDIN_OP(fatal, a, ==, NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...) STANDIN_OP(fatal, a, !=, NULL, __VA_ARGS__)
#define cr_expect_eq(a, b, ...)	   STANDIN_OP(soft, a, ==, b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...)   STANDIN_OP(soft, a, !=, b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...)	   STANDIN_OP(soft, a, <, b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...)   STANDIN_OP(soft, a, <=, b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...)	   STANDIN_OP(soft, a, >, b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...)   STANDIN_OP(soft, a, >=, b, __VA_ARGS__)
#define cr_expect_null(a, ...)	   STANDIN_OP(soft, a, ==, NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...) STANDIN_OP(soft, a, !=, NULL, __VA_ARGS__)

#define STANDIN_STR(how, a, op, b, ...)                                                  \
	STANDIN_CHECK(how, strcmp((a), (b)) op 0, #a " " #op " " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)  STANDIN_STR(fatal, a, ==, b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) STANDIN_STR(fatal, a, !=, b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)  STANDIN_STR(soft, a, ==, b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) STANDIN_STR(soft, a, !=, b, __VA_ARGS__)
#define cr_assert_str_empty(a, ...)                                                      \
	STANDIN_CHECK(fatal, !*(a), #a " is empty", __VA_ARGS__)
#define cr_expect_str_empty(a, ...)                                                      \
	STANDIN_CHECK(soft, !*(a), #a " is empty", __VA_ARGS__)
#define cr_assert_str_not_empty(a, ...)                                                  \
	STANDIN_CHECK(fatal, *(a), #a " is not empty", __VA_ARGS__)
#define cr_expect_str_not_empty(a, ...)                                                  \
	STANDIN_CHECK(soft, *(a), #a " is not empty", __VA_ARGS__)

#define STANDIN_ARR(how, a, op, b, size, ...)                                            \
	STANDIN_CHECK(how, memcmp((a), (b), (size)) op 0, #a " " #op " " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)  STANDIN_ARR(fatal, a, ==, b, size, __VA_ARGS__)
#define cr_assert_arr_neq(a, b, size, ...) STANDIN_ARR(fatal, a, !=, b, size, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...)  STANDIN_ARR(soft, a, ==, b, size, __VA_ARGS__)
#define cr_expect_arr_neq(a, b, size, ...) STANDIN_ARR(soft, a, !=, b, size, __VA_ARGS__)

#define STANDIN_FLOAT(how, a, b, within, ...)                                            \
	STANDIN_CHECK(how, fabs((double)(a) - (double)(b)) <= (within), #a " = " #b,     \
		      __VA_ARGS__)
#define cr_assert_float_eq(a, b, within, ...)                                            \
	STANDIN_FLOAT(fatal, a, b, within, __VA_ARGS__)
#define cr_expect_float_eq(a, b, within, ...)                                            \
	STANDIN_FLOAT(soft, a, b, within, __VA_ARGS__)

#endif
