/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ends in the way it is told to, after three visits of "work" inside of an open "outer". */
#include <perfmon/perfmon.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void three(void)
{
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
	}
}

/* Before main(), and before the constructors of what is linked later. */
__attribute__((constructor)) static void early(void)
{
	PERFMON_REGION_BEGIN("constructor");
	PERFMON_REGION_END("constructor");
}

__attribute__((destructor)) static void late(void)
{
	PERFMON_REGION_BEGIN("destructor");
	PERFMON_REGION_END("destructor");
}

static void in_atexit(void)
{
	PERFMON_REGION_BEGIN("atexit");
	PERFMON_REGION_END("atexit");
}

static void exit_in_handler(int signal)
{
	(void)signal;
	exit(0);
}

static void exit_at_a_bad_moment(void)
{
	char name[] = "name 00000";

	signal(SIGALRM, exit_in_handler);
	ualarm(3000, 0);
	for (unsigned int i = 0;; i++) {
		unsigned int n = i % 100000;

		for (int digit = 9; digit > 4; digit--, n /= 10)
			name[digit] = (char)('0' + n % 10);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
}

int main(int count, char **arguments)
{
	const char *way = count > 1 ? arguments[1] : "return";

	atexit(in_atexit);
	PERFMON_REGION_BEGIN("outer");
	three();
	if (!strcmp(way, "exit"))
		exit(0);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "kill"))
		raise(SIGKILL);
	if (!strcmp(way, "exec"))
		execl("/proc/self/exe", arguments[0], "return", (char *)NULL);
	if (!strcmp(way, "handler"))
		exit_at_a_bad_moment();
	PERFMON_REGION_END("outer");
	return 0;
}
