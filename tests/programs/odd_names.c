/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions whose names mean something to formats: odd_names [WIDE]. In each of two threads
 * "plain" has one visit, with one below it of the first name, two of the second and so
 * on. With WIDE there are so many regions of one visit more, "wide 0" and on, below it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfmon/region.h>

static const char *const names[] = {
	"</script><script>document.title='owned'</script>",
	"a;b \"quoted\" & <b>bold</b>",
	"line\nbreak\ttab\\n",
	"gr\xc3\xb6\xc3\x9f\x65 \xe6\x97\xa5\xe6\x9c\xac",
	"bad\xff utf",
	"<!-- <script>",
	"__proto__",
	"'); DROP TABLE",
};

static long wide;

static void visit(const char *name, long steps)
{
	perfmon_region_begin_name(name);
	for (volatile long i = 0; i < steps; i++)
		;
	perfmon_region_end_name(name);
}

static void *thread(void *unused)
{
	PERFMON_REGION_BEGIN("plain");
	for (unsigned int n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (unsigned int v = 0; v <= n; v++)
			visit(names[n], 1000);
	for (long n = 0; n < wide; n++) {
		char name[32];

		snprintf(name, sizeof(name), "wide %ld", n);
		visit(name, 100);
	}
	PERFMON_REGION_END("plain");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1)
		wide = strtol(argv[1], NULL, 0);
	if (pthread_create(&other, NULL, thread, NULL))
		return 1;
	thread(NULL);
	pthread_join(other, NULL);
	return 0;
}
