/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_check FILE: whether FILE is what viewers of the Chrome trace format take: an
 * object with traceEvents, of which each complete event has a name, a process, a thread,
 * a time and a duration, and lies wholly inside or outside of each other one of its
 * thread. The end of an asynchronous event follows its begin. Prints how many there are of a process, a thread, a depth, a name and a count
 * of visits, one line each. Without jansson it ends with status 77.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>

#define DEPTH 300

struct open {
	long long end_ns;
};

struct thread {
	json_int_t pid, tid;
	int depth;
	long long last_ns;
	struct open open[DEPTH];
};

static struct thread threads[100];
static int thread_count;

static int bad(const json_t *event, const char *why)
{
	char *text = json_dumps(event, JSON_COMPACT);

	fprintf(stderr, "%s: %s\n", why, text);
	free(text);
	return 1;
}

static struct thread *thread_of(json_int_t pid, json_int_t tid)
{
	for (int t = 0; t < thread_count; t++)
		if (threads[t].pid == pid && threads[t].tid == tid)
			return &threads[t];
	if (thread_count == 100)
		abort();
	threads[thread_count].pid = pid;
	threads[thread_count].tid = tid;
	return &threads[thread_count++];
}

/* Microseconds with three decimals, as exact nanoseconds. */
static long long ns(const json_t *number)
{
	return (long long)(json_number_value(number) * 1000 + 0.5);
}

static int check_complete(const json_t *event)
{
	const json_t *ts = json_object_get(event, "ts"),
		     *dur = json_object_get(event, "dur");
	const json_t *pid = json_object_get(event, "pid"),
		     *tid = json_object_get(event, "tid");
	const json_t *args = json_object_get(event, "args");
	const char *name = json_string_value(json_object_get(event, "name"));
	struct thread *t;
	long long begin, end;

	if (!name || !json_is_integer(pid) || !json_is_integer(tid) ||
	    !json_is_number(ts) || !json_is_number(dur) || !json_is_object(args) ||
	    !json_is_string(json_object_get(event, "cat")))
		return bad(event, "a member is missing");
	begin = ns(ts);
	end = begin + ns(dur);
	if (begin < 0 || end < begin)
		return bad(event, "a negative time");
	t = thread_of(json_integer_value(pid), json_integer_value(tid));
	if (begin < t->last_ns)
		return bad(event, "before the last one of its thread");
	t->last_ns = begin;
	while (t->depth && t->open[t->depth - 1].end_ns <= begin)
		t->depth--;
	if (t->depth && end > t->open[t->depth - 1].end_ns)
		return bad(event, "overlaps");
	if (t->depth == DEPTH)
		return bad(event, "too deep");
	t->open[t->depth++].end_ns = end;
	printf("%lld %lld %d %s %lld\n", (long long)t->pid, (long long)t->tid, t->depth,
	       name, (long long)json_integer_value(json_object_get(args, "visits")));
	return 0;
}

/* The begin of an asynchronous event whose end has not come. */
static const json_t *begun;

static int check_begin(const json_t *event)
{
	const json_t *visits = json_object_get(json_object_get(event, "args"), "visits");

	if (begun)
		return bad(begun, "no end follows");
	if (!json_is_string(json_object_get(event, "id")) || !json_is_integer(visits))
		return bad(event, "a member is missing");
	begun = event;
	printf("%lld %lld async %s %lld\n",
	       (long long)json_integer_value(json_object_get(event, "pid")),
	       (long long)json_integer_value(json_object_get(event, "tid")),
	       json_string_value(json_object_get(event, "name")),
	       (long long)json_integer_value(visits));
	return 0;
}

static int check_end(const json_t *event)
{
	static const char *const equal[] = {"id", "cat", "name", "pid", "tid"};

	for (int i = 0; i < 5; i++)
		if (!begun || !json_equal(json_object_get(begun, equal[i]),
					  json_object_get(event, equal[i])))
			return bad(event, "an end without its begin");
	if (ns(json_object_get(event, "ts")) < ns(json_object_get(begun, "ts")))
		return bad(event, "an end before its begin");
	begun = NULL;
	return 0;
}

static int check(const json_t *event)
{
	const char *ph = json_string_value(json_object_get(event, "ph"));

	if (!ph)
		return bad(event, "no phase");
	if (!strcmp(ph, "X"))
		return check_complete(event);
	if (!strcmp(ph, "b"))
		return check_begin(event);
	if (!strcmp(ph, "e"))
		return check_end(event);
	if (strcmp(ph, "M") || !json_is_string(json_object_get(event, "name")) ||
	    !json_is_integer(json_object_get(event, "pid")) ||
	    !json_is_object(json_object_get(event, "args")))
		return bad(event, "neither a complete event nor a name");
	return 0;
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *top =
		argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
	const json_t *events;
	int status = 0;
	size_t i;
	json_t *event;

	if (!top) {
		fprintf(stderr, "%s\n", argc > 1 ? error.text : "no file");
		return 1;
	}
	events = json_object_get(top, "traceEvents");
	if (!json_is_array(events)) {
		fputs("no traceEvents\n", stderr);
		status = 1;
	}
	json_array_foreach(events, i, event) status |= check(event);
	if (begun)
		status = bad(begun, "no end follows");
	json_decref(top);
	return status;
}
#else
int main(void)
{
	return 77;
}
#endif
