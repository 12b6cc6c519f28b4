/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event loop, whose requests wait for their clients. Each request is a task: its visits are suspended
 * when it has nothing to do, and go on with the next event that is for it. So "request" has what was done
 * for a request, however many others came between, and not the time for which it waited.
 *
 *   cc -O2 loop.c -o loop $(pkg-config --cflags --libs perfmon)
 *   ./loop [requests [lines]]
 *
 * The clients are the other ends of pipes. The number of lines is checked at the end.
 */
#include <perfmon/region.h>
#include <perfmon/task.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	struct perfmon_task task;
	int client, fd;
	int sent, lines;
};

/* Parses one line of a request. Returns whether it was the last one. */
static int handle_line(struct request *request)
{
	char line[64];
	ssize_t length = read(request->fd, line, sizeof(line));

	if (length <= 0)
		return 1;
	PERFMON_REGION_BEGIN("parse");
	for (ssize_t i = 0; i < length; i++)
		request->lines += line[i] == '\n';
	PERFMON_REGION_END("parse");
	return 0;
}

static void begin(struct request *request)
{
	perfmon_task_begin(&request->task);
	PERFMON_REGION_BEGIN("request");
	perfmon_task_suspend(&request->task);
}

/* An event of REQUEST. Returns whether it has ended. */
static int go_on(struct request *request)
{
	int ended;

	perfmon_task_resume(&request->task);
	ended = handle_line(request);
	if (ended) {
		PERFMON_REGION_END("request");
		perfmon_task_end(&request->task);
	} else {
		perfmon_task_suspend(&request->task);
	}
	return ended;
}

/* The client's part: one more line, or the end. */
static void send_line(struct request *request, int lines)
{
	static const char line[] = "key = value\n";

	if (request->client < 0)
		return;
	if (request->sent++ < lines &&
	    write(request->client, line, strlen(line)) == (ssize_t)strlen(line))
		return;
	close(request->client);
	request->client = -1;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20, lines = argc > 2 ? atoi(argv[2]) : 50;
	struct request *requests = calloc((size_t)count, sizeof(*requests));
	struct pollfd *events = calloc((size_t)count, sizeof(*events));
	int left = requests && events ? count : 0, right = left == count;

	PERFMON_REGION_BEGIN("loop");
	for (int i = 0; right && i < count; i++) {
		int ends[2];

		if (pipe(ends))
			return 1;
		requests[i].fd = ends[0];
		requests[i].client = ends[1];
		events[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
		begin(&requests[i]);
	}
	while (left) {
		for (int i = 0; i < count; i++)
			send_line(&requests[i], lines);
		if (poll(events, (nfds_t)count, -1) < 0)
			return 1;
		for (int i = 0; i < count; i++) {
			if (!events[i].revents || !go_on(&requests[i]))
				continue;
			close(requests[i].fd);
			events[i].fd = -1;
			left--;
		}
	}
	PERFMON_REGION_END("loop");
	for (int i = 0; i < count; i++)
		right = right && requests[i].lines == lines;
	printf("loop: %d requests, %d lines: %s\n", count, lines,
	       right ? "right" : "WRONG");
	free(events);
	free(requests);
	return !right;
}
