/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pool of threads. Each job carries the path of the thread that submitted it, and the worker that
 * runs it goes on below that path. So "sort" stands below "load" or below "query", in all workers.
 *
 *   cc -O2 -pthread pool.c -o pool $(pkg-config --cflags --libs perfmon)
 *   ./pool [jobs [workers]]
 */
#include <perfmon/region.h>
#include <perfmon/team.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 20000

struct job {
	struct job *next;
	void (*run)(void *argument);
	void *argument;
	struct perfmon_token path; /* where the work belongs */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *jobs;
static int open_jobs, closed;

static void submit(struct job *job)
{
	perfmon_region_token(&job->path);
	pthread_mutex_lock(&lock);
	job->next = jobs;
	jobs = job;
	open_jobs++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&lock);
	while (open_jobs)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct job *job = jobs;

		if (!job && closed)
			break;
		if (!job) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		jobs = job->next;
		pthread_mutex_unlock(&lock);
		perfmon_region_adopt(&job->path);
		job->run(job->argument);
		perfmon_region_leave();
		pthread_mutex_lock(&lock);
		open_jobs--;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void sort(void *argument)
{
	int *numbers = argument;
	unsigned int x = 1;

	PERFMON_REGION_BEGIN("sort");
	for (int i = 0; i < NUMBERS; i++) {
		x = x * 1103515245u + 12345u;
		numbers[i] = (int)(x >> 8);
	}
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
	PERFMON_REGION_END("sort");
}

static int is_sorted(const int *numbers)
{
	for (int i = 1; i < NUMBERS; i++)
		if (numbers[i - 1] > numbers[i])
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 8, workers = argc > 2 ? atoi(argv[2]) : 2;
	struct job *all = calloc((size_t)count, sizeof(*all));
	int *numbers = malloc((size_t)count * NUMBERS * sizeof(*numbers));
	pthread_t *threads = calloc((size_t)workers, sizeof(*threads));
	int right = all && numbers && threads;

	for (int i = 0; right && i < workers; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; right && i < count; i++)
		all[i] = (struct job){.run = sort,
				      .argument = numbers + (size_t)i * NUMBERS};

	/* The first half belongs to one phase of the program, the second to another. */
	PERFMON_REGION_BEGIN("load");
	for (int i = 0; right && i < count / 2; i++)
		submit(&all[i]);
	wait_for_all();
	PERFMON_REGION_END("load");
	PERFMON_REGION_BEGIN("query");
	for (int i = count / 2; right && i < count; i++)
		submit(&all[i]);
	wait_for_all();
	PERFMON_REGION_END("query");

	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; right && i < workers; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; right && i < count; i++)
		right = is_sorted(numbers + (size_t)i * NUMBERS);
	printf("pool: %d jobs, %d workers: %s\n", count, workers,
	       right ? "right" : "WRONG");
	free(threads);
	free(numbers);
	free(all);
	return !right;
}
