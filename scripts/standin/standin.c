/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the tests of a program one after the other: see criterion/criterion.h. */
#define _GNU_SOURCE
#include "criterion/criterion.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a test's process tells its parent. */
struct verdict {
	bool failed;
	bool skipped;
	char reason[512];
};

static struct standin_test *tests;
static struct verdict *verdict;
static sigset_t ends, mask; /* SIGCHLD, which main() blocks; the tests' mask */

void standin_register(struct standin_test *test)
{
	struct standin_test **end = &tests;

	while (*end)
		end = &(*end)->next;
	*end = test;
}

static void note(const char *file, int line, const char *what, const char *format,
		 va_list args)
{
	fprintf(stderr, "%s:%d: failed: %s: ", file, line, what);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	verdict->failed = true;
}

void standin_soft(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note(file, line, what, format, args);
	va_end(args);
}

void standin_fatal(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note(file, line, what, format, args);
	va_end(args);
	_exit(1);
}

/* What is to be done when the test that runs has ended, or is skipped midway. */
static const struct criterion_test_extra_data *after[2];

static void finish(void)
{
	for (int i = 0; i < 2; i++) {
		const struct criterion_test_extra_data *options = after[i];

		after[i] = NULL;
		if (options && options->fini)
			options->fini();
	}
}

void standin_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict->reason, sizeof(verdict->reason), format, args);
	va_end(args);
	verdict->skipped = true;
	finish();
	exit(0);
}

void standin_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const struct criterion_test_extra_data *suite_of(const struct standin_test *test)
{
	static const struct criterion_test_extra_data none;
	const struct standin_test *suite;

	for (suite = tests; suite; suite = suite->next)
		if (!suite->name && strcmp(suite->suite, test->suite) == 0)
			return &suite->options;
	return &none;
}

static void child(const struct standin_test *test,
		  const struct criterion_test_extra_data *suite)
{
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (suite->init)
		suite->init();
	if (test->options.init)
		test->options.init();
	after[0] = &test->options;
	after[1] = suite;
	test->run();
	finish();
	/* Here a sanitizer says what it found, and the program's own exit handlers run. */
	exit(0);
}

/* Waits for the end of PID, at most that long, without running meanwhile: a test may count
 * what others do on its CPU. */
static bool ends_within(pid_t pid, double seconds)
{
	double end = now() + seconds, left;
	siginfo_t info = {0};

	while ((left = end - now()) > 0) {
		struct timespec time = {
			.tv_sec = (time_t)left,
			.tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};

		if (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
		    info.si_pid)
			return true;
		sigtimedwait(&ends, NULL, &time);
	}
	return false;
}

static bool one(const struct standin_test *test, FILE *tap)
{
	const struct criterion_test_extra_data *suite = suite_of(test);
	double limit =
		test->options.timeout != 0 ? test->options.timeout : suite->timeout;
	int want_signal = test->options.signal ? test->options.signal : suite->signal;
	int want_exit =
		test->options.exit_code ? test->options.exit_code : suite->exit_code;
	int status = 0;
	bool late;
	bool good;
	pid_t pid;

	if (test->options.disabled || suite->disabled) {
		fprintf(tap, "ok - %s::%s  # SKIP disabled\n", test->suite, test->name);
		return true;
	}
	memset(verdict, 0, sizeof(*verdict));
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		fprintf(tap, "not ok - %s::%s cannot fork\n", test->suite, test->name);
		return false;
	}
	if (pid == 0)
		child(test, suite);
	/* A sanitizer makes all slower, by ten and more. */
	late = limit > 0 && !ends_within(pid, 10 * limit);
	if (late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);

	if (WIFSIGNALED(status))
		good = WTERMSIG(status) == want_signal;
	else
		good = want_signal == 0 && WEXITSTATUS(status) == want_exit;
	good = good && !late && !verdict->failed;
	if (good && verdict->skipped)
		fprintf(tap, "ok - %s::%s  # SKIP %s\n", test->suite, test->name,
			verdict->reason);
	else if (good)
		fprintf(tap, "ok - %s::%s\n", test->suite, test->name);
	else
		fprintf(tap, "not ok - %s::%s %s (wait status 0x%x)\n", test->suite,
			test->name, late ? "took too long" : "failed",
			(unsigned int)status);
	fflush(tap);
	return good;
}

int main(void)
{
	const char *outputs = getenv("CRITERION_OUTPUTS");
	const struct standin_test *test;
	FILE *tap = stdout;
	int count = 0;
	bool good = true;

	if (outputs && strncmp(outputs, "tap:", 4) == 0)
		tap = fopen(outputs + 4, "we");
	verdict = mmap(NULL, sizeof(*verdict), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!tap || verdict == MAP_FAILED) {
		perror("standin");
		return 1;
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, &mask);
	for (test = tests; test; test = test->next)
		count += test->name != NULL;
	fprintf(tap, "TAP version 13\n1..%d\n", count);
	for (test = tests; test; test = test->next)
		if (test->name)
			good = one(test, tap) && good;
	fclose(tap);
	return good ? 0 : 1;
}
