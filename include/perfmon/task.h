/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks and coroutines: visits of regions that are suspended on one thread and go on, perhaps on
 * another one. What a thread begins between perfmon_task_begin() or perfmon_task_resume() and
 * perfmon_task_suspend() or perfmon_task_end() belongs to the task:
 *
 *	struct perfmon_task task = {0};
 *
 *	perfmon_task_begin(&task);
 *	PERFMON_REGION_BEGIN("request");
 *	perfmon_task_suspend(&task);
 *		... it waits; this thread and others work on something else, and then,
 *		... on any thread:
 *	perfmon_task_resume(&task);
 *	PERFMON_REGION_END("request");
 *	perfmon_task_end(&task);
 *
 * A visit that was suspended counts once, on the thread that ends it. Its time and its events are the
 * sums of its parts, each of which is counted on the thread that it ran on. The time for which it waits
 * is in none of them: nothing is counted meanwhile, and nothing is held. The shortest, the longest and
 * the spread of times are those of whole visits.
 *
 * The task's visits stand below the path of the thread that began it, on all threads. A thread that
 * resumes it inside of visits that this path does not go through does that work apart: it is in none of
 * these visits. So exclusive values add up to the total.
 *
 * All calls: any thread, but no signal handler, and for one task one at a time: the program hands the
 * task from thread to thread in an order, as by a lock. Tasks nest: one that begins or goes on inside of
 * another is suspended or ends first. When a thread has run a path of tasks before, no call takes a
 * lock, allocates or enters the kernel, unless counters are read by system calls. With
 * -DPERFMON_DISABLE the calls compile to nothing, and return 0.
 */
#ifndef PERFMON_TASK_H
#define PERFMON_TASK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A task of this process, which may be copied. 0 is none. */
struct perfmon_task {
	uint64_t id;
};

/**
 * perfmon_task_begin() - begins a task on the calling thread, at its path, and sets *TASK to it.
 * Until the task has ended it keeps 256 bytes, and more if it is suspended with more than 11 visits open;
 * later tasks use them again. The first task of a process maps 4 MB for 16,384 tasks, of which the kernel
 * gives the pages that are used. Tasks beyond that are resumed in a longer way, without a system call, too.
 *
 * Return: 0, also while regions are disarmed, when the task may be one that counts nothing; or, with
 * such a task in *TASK,
 * -EINVAL: TASK is NULL
 * -EOVERFLOW: visits are nested too deep
 * -ENOMEM: out of memory
 * -EBUSY: the call is in a signal handler that interrupted a region call, or the thread cannot be
 *	prepared for regions
 */
int perfmon_task_begin(struct perfmon_task *task);

/**
 * perfmon_task_suspend() - suspends TASK, which runs on the calling thread. The visits that it has open
 * are no longer open on the thread, which is where it was before the task began or went on there.
 * An END of one of them is an END without a BEGIN until the task goes on.
 *
 * Return: 0, or, with nothing changed and the call counted as lost,
 * -EINVAL: TASK is NULL, or was never begun
 * -ESTALE: TASK has ended, or is of the parent before fork(2)
 * -ENOENT: TASK does not run on this thread, or an adoption or another task inside of it has not ended
 * -EOVERFLOW, -EBUSY: as above
 */
int perfmon_task_suspend(const struct perfmon_task *task);

/**
 * perfmon_task_resume() - continues TASK on the calling thread, with the visits open that were
 * suspended. Visits that were suspended before regions were disarmed are dropped, as others are.
 *
 * Return: 0, or, with nothing changed and the call counted as lost,
 * -EINVAL, -ESTALE: as perfmon_task_suspend()
 * -EALREADY: TASK is not suspended
 * -EOVERFLOW, -ENOMEM, -EBUSY: as perfmon_task_begin()
 */
int perfmon_task_resume(const struct perfmon_task *task);

/**
 * perfmon_task_end() - ends TASK, and sets *TASK to none. It runs on the calling thread, or is suspended,
 * and then any thread may end it. Visits that it has begun and not ended never end: those of a task
 * that runs are reported as ended by another END, and those of a suspended one are counted as
 * lost.
 *
 * Return: 0, or, with nothing changed and the call counted as lost, as perfmon_task_suspend()
 */
int perfmon_task_end(struct perfmon_task *task);

/*
 * The library's: the code that suspends and resumes, chosen for the number of counters, and the state of
 * the calling thread. The calls reach them without a stub of the linker between. The pointers of the first
 * are never NULL, and TASK is not. Read-only for programs.
 */
struct perfmon_task_calls {
	int (*suspend)(const struct perfmon_task *task, void *thread);
	int (*resume)(const struct perfmon_task *task, void *thread);
};
extern struct perfmon_task_calls perfmon_task_calls;

#if !defined(PERFMON_DISABLE) && !defined(__CUDA_ARCH__) &&                              \
	!defined(__HIP_DEVICE_COMPILE__)
extern __thread void *perfmon_task_thread __attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline)) int
perfmon_task_suspend_(const struct perfmon_task *task)
{
	if (__builtin_expect(!task, 0))
		return perfmon_task_suspend(task);
	return __atomic_load_n(&perfmon_task_calls.suspend,
			       __ATOMIC_RELAXED)(task, perfmon_task_thread);
}

static inline __attribute__((always_inline)) int
perfmon_task_resume_(const struct perfmon_task *task)
{
	if (__builtin_expect(!task, 0))
		return perfmon_task_resume(task);
	return __atomic_load_n(&perfmon_task_calls.resume,
			       __ATOMIC_RELAXED)(task, perfmon_task_thread);
}
#endif

/* The library's: the calls where regions are compiled to nothing. */
static inline __attribute__((always_inline)) int
perfmon_task_nothing_(const struct perfmon_task *task)
{
	(void)task;
	return 0;
}

#ifdef __cplusplus
}
#endif

#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define perfmon_task_begin(task)   perfmon_task_nothing_(task)
#define perfmon_task_suspend(task) perfmon_task_nothing_(task)
#define perfmon_task_resume(task)  perfmon_task_nothing_(task)
#define perfmon_task_end(task)	   perfmon_task_nothing_(task)
#elif !defined(PERFMON_ORDINARY_CALLS)
#define perfmon_task_suspend(task) perfmon_task_suspend_(task)
#define perfmon_task_resume(task)  perfmon_task_resume_(task)
#endif

#endif
