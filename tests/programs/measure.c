/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command N times, its output to /dev/null, and prints the least of its times in
 * milliseconds, which the least was added to by others, and the most memory that it had
 * at once, in KiB. Fails if the command does.
 *
 *   measure N COMMAND [ARGUMENT]...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double least = 0;
	long memory = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: measure N COMMAND [ARGUMENT]...\n");
		return 2;
	}
	for (int i = 0; i < atoi(argv[1]); i++) {
		double begin = now_ms(), took;
		struct rusage usage;
		int status;
		pid_t pid = fork();

		if (!pid) {
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
			execvp(argv[2], argv + 2);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status) {
			fprintf(stderr, "%s failed\n", argv[2]);
			return 1;
		}
		took = now_ms() - begin;
		if (!i || took < least)
			least = took;
		if (usage.ru_maxrss > memory)
			memory = usage.ru_maxrss;
	}
	printf("%.0f %ld\n", least, memory);
	return 0;
}
