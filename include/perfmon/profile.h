/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles: reads what the regions of a process have counted, from the file that the
 * process keeps (environment variable PERFMON_PROFILE) or from the running process.
 *
 *	struct perfmon_profile *profile;
 *	struct perfmon_profile_info info = {.size = sizeof(info)};
 *	char message[256];
 *
 *	if (perfmon_profile_open(&profile, "run.profile", 0, message, sizeof(message)))
 *		...
 *	perfmon_profile_get_info(profile, &info);
 *	for (uint32_t t = 0; t < info.threads; t++) {
 *		struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
 *
 *		perfmon_profile_get_thread(profile, t, &thread);
 *		if (thread.kind > PERFMON_PROFILE_THREAD_KIND_SUM)
 *			continue; // other runs, and steps of paths
 *		for (uint32_t n = 1; n < thread.nodes; n++) {
 *			struct perfmon_profile_node_info node = {.size = sizeof(node)};
 *
 *			perfmon_profile_get_node(profile, t, n, &node);
 *			...
 *		}
 *	}
 *	perfmon_profile_close(profile);
 *
 * Opening takes a copy of the profile: all calls show this one moment until
 * perfmon_profile_refresh() takes another copy. Nothing in a profile is trusted: what is
 * cut off, damaged or made up gives an error, or leaves a part out and says so.
 *
 * The values are those that were counted: they are not scaled, and no bias is subtracted.
 * perfmon report does that, and doc/report-formats.md says how. Values are inclusive, with
 * nested regions; beside them stand the exclusive ones, without, and the bias. The layout of the file is
 * in perfmon/profile_layout.h, for readers in other languages.
 *
 * Structures that a call fills in begin with their size, which the caller sets. Fields
 * that a newer program knows and this library does not must be zero (-E2BIG), and stay
 * zero. Functions return 0 or a count, or a negative errno, and leave out-parameters
 * untouched on failure. -EINVAL stands for a NULL, an index that does not exist, and a
 * size below the first version's.
 *
 * Threads: one at a time for each profile. Only opening, refreshing and closing enter the
 * kernel or allocate. No call is for signal handlers.
 */
#ifndef PERFMON_PROFILE_H
#define PERFMON_PROFILE_H

#include <perfmon/value.h>
#include <perfmon/vector.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_profile;

/**
 * perfmon_profile_open() - opens the profile in the file at PATH, of a program that runs
 * or has ended. *PROFILE is the caller's, who ends it with perfmon_profile_close(). FLAGS
 * must be 0.
 *
 * MESSAGE gets one sentence that says what is wrong, or what is missing in the profile,
 * or "". It may be NULL with MESSAGE_SIZE 0. A longer sentence is cut.
 *
 * Return: 0, or
 * -EINVAL: also for a file that is no regular file or no profile, and FLAGS that are
 *	not 0
 * -ENODATA: the program has not begun its profile yet
 * -EISDIR
 * -ENOMEM
 * - what open(2), fstat(2), mmap(2) and pread(2) give
 */
int perfmon_profile_open(struct perfmon_profile **profile, const char *path,
			 uint32_t flags, char *message, size_t message_size);

/**
 * perfmon_profile_open_process() - the same for the running process PID, wherever it keeps
 * its profile. The calling process may be PID itself.
 *
 * Return: as perfmon_profile_open(), and
 * -ESRCH: there is no such process
 * -EACCES: the caller may not inspect it (ptrace(2), PTRACE_MODE_READ_FSCREDS)
 * -ENOENT: it has no profile, or one in private memory
 */
int perfmon_profile_open_process(struct perfmon_profile **profile, pid_t pid,
				 uint32_t flags, char *message, size_t message_size);

/**
 * perfmon_profile_refresh() - takes a new copy of the profile. The strings and indices of
 * the copy before are no longer valid. On failure the copy before stays.
 *
 * 0; errors as perfmon_profile_open(); perfmon_profile_message() has the sentence.
 */
int perfmon_profile_refresh(struct perfmon_profile *profile);

/**
 * perfmon_profile_message() - copies the sentence about the last call on PROFILE into
 * BUFFER of SIZE bytes: why it failed. If it did not: why the last refresh failed, or what
 * is missing in a partial profile. "" if there is nothing to say. BUFFER may be NULL with SIZE 0. Enters no kernel, allocates nothing.
 *
 * The length of the whole sentence, as snprintf(3) returns it; -EINVAL.
 */
int perfmon_profile_message(const struct perfmon_profile *profile, char *buffer,
			    size_t size);

/* The state of the program that writes a profile. */
enum perfmon_profile_writer {
	PERFMON_PROFILE_WRITER_UNKNOWN, /* it ran on another boot, or out of sight */
	PERFMON_PROFILE_WRITER_RUNS,
	PERFMON_PROFILE_WRITER_ENDED, /* by exit(), or by the end of main() */
	PERFMON_PROFILE_WRITER_GONE   /* killed, or by abort(), _exit() or exec() */
};

/* A profile. Grows at its end. The strings last until the next refresh or close. */
struct perfmon_profile_info {
	size_t size; /* in: sizeof(struct perfmon_profile_info) */
	const char *host;
	const char *program; /* the path of the executable */
	pid_t pid;
	pid_t parent_pid;
	int32_t rank; /* of an MPI launcher; -1: none */
	int32_t ranks;
	uint32_t writer;  /* enum perfmon_profile_writer */
	uint32_t partial; /* 1: parts are missing; perfmon_profile_message() says which */
	uint32_t events;  /* for perfmon_profile_get_event() */
	uint32_t threads; /* for perfmon_profile_get_thread() */
	uint32_t notes;	  /* for perfmon_profile_get_note() */
	uint32_t reserved;
	uint64_t begin_realtime_ns; /* CLOCK_REALTIME at the profile's beginning */
	uint64_t elapsed_ns;	    /* from there to the copy, or to the program's end */
	uint64_t lost_visits;	    /* a thread's first ones, in a signal handler */
	uint64_t lost_threads;	    /* that could not be set up */
	uint64_t unmatched_ends;    /* ENDs in threads that had begun no region */
	/* The program's arguments, from its name on. Each ends in a NUL, the last one in
	 * any case. NULL: the profile does not have them. */
	const char *arguments;
	size_t arguments_size;
	uint32_t run_notes; /* for perfmon_profile_get_run_note() */
	uint32_t reserved2;
	uint64_t
		left_out_regions; /* that are left out by their names (PERFMON_ONLY, PERFMON_SKIP) */
};

/** perfmon_profile_get_info() - fills INFO. 0; -EINVAL; -E2BIG. */
int perfmon_profile_get_info(const struct perfmon_profile *profile,
			     struct perfmon_profile_info *info);

/**
 * perfmon_profile_get_note() - copies note INDEX into BUFFER of SIZE bytes: a sentence
 * that says what the program could not count, and why.
 *
 * The length of the whole sentence, as snprintf(3) returns it; -EINVAL.
 */
int perfmon_profile_get_note(const struct perfmon_profile *profile, uint32_t index,
			     char *buffer, size_t size);

/* A note of the run: what the program or its user says of it. Grows at its end. The strings last until
 * the next refresh or close. */
struct perfmon_profile_run_note_info {
	size_t size; /* in: sizeof(struct perfmon_profile_run_note_info) */
	const char *key;
	const char *value;
};

/** perfmon_profile_get_run_note() - fills NOTE with note INDEX of the run, from 0, in the order in which
 * the keys were first given. 0; -EINVAL; -E2BIG. */
int perfmon_profile_get_run_note(const struct perfmon_profile *profile, uint32_t index,
				 struct perfmon_profile_run_note_info *note);

/* Bits of perfmon_profile_event.properties. */
#define PERFMON_PROFILE_EVENT_HARDWARE	  1u /* counts on a core PMU */
#define PERFMON_PROFILE_EVENT_KERNEL_ONLY 2u /* happens in kernel mode alone */
#define PERFMON_PROFILE_EVENT_EXACT	  4u /* counted by translation, not by a CPU */

/* The kinds of events. A later version may have further ones: skip the values of kinds that
 * you do not know. */
enum perfmon_profile_event_kind {
	PERFMON_PROFILE_EVENT_KIND_KERNEL, /* of perf_event_open(2) */
	PERFMON_PROFILE_EVENT_KIND_EXACT,  /* counted by translation: type and config say
					    * nothing to the kernel */
	/* counted for packages, once in the process: the value of a path is the sum over its nodes in
	 * all threads, and no part of that sum has a meaning, nor has `exclusive` */
	PERFMON_PROFILE_EVENT_KIND_PACKAGE
};

/* An event. Grows at its end. The strings last until the next refresh or close. */
struct perfmon_profile_event {
	size_t size;	  /* in: sizeof(struct perfmon_profile_event) */
	const char *name; /* as reports show it */
	const char *pmu;
	const char *unit; /* "" for a plain count; value * scale is in this unit */
	double scale;
	/* Events of equal number within a thread's events are to be summed: one event on
	 * several kinds of cores. */
	uint32_t logical;
	uint32_t properties; /* PERFMON_PROFILE_EVENT_ bits */
	int32_t error;	     /* negative errno that refused it, or 0 */
	uint32_t type;	     /* of perf_event_attr */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint32_t kind; /* enum perfmon_profile_event_kind */
	uint32_t reserved;
};

/**
 * perfmon_profile_get_event() - fills EVENT with event INDEX. Events are numbered from 0
 * over the whole profile. Those of one thread follow each other; threads that counted
 * other events have other numbers. 0; -EINVAL; -E2BIG.
 */
int perfmon_profile_get_event(const struct perfmon_profile *profile, uint32_t index,
			      struct perfmon_profile_event *event);

/* The kinds of threads. A later version may have further ones: skip kinds that you do not
 * know, with all their nodes. */
enum perfmon_profile_thread_kind {
	PERFMON_PROFILE_THREAD_KIND_THREAD, /* one thread */
	PERFMON_PROFILE_THREAD_KIND_SUM,    /* the sum of threads that have ended */
	/* A sum of threads of another run of the program (perfmon report --counts, perfmon run
	 * --passes), of which the counts alone are of interest: they stand beside the values of the
	 * other threads, path by path. Visits and times are those of that run. */
	PERFMON_PROFILE_THREAD_KIND_OTHER_RUN,
	/* The steps of one path of the thread with this tid (PERFMON_STEPS): each node from 1 on is a
	 * step, of visits that other nodes have, too. */
	PERFMON_PROFILE_THREAD_KIND_STEPS
};

/* A thread, or the sum of several threads that have ended. Grows at its end. The strings
 * last until the next refresh or close. */
struct perfmon_profile_thread_info {
	size_t size;	      /* in: sizeof(struct perfmon_profile_thread_info) */
	const char *name;     /* "" for a sum */
	pid_t tid;	      /* 0 for a sum */
	uint32_t live;	      /* 1: the thread runs, or ran when the program was killed */
	uint32_t threads;     /* 1, or how many are summed */
	uint32_t nodes;	      /* for perfmon_profile_get_node() */
	uint32_t first_event; /* its events are this one and those behind it */
	uint32_t events;
	uint64_t lost_visits; /* visits that were not counted, for whatever reason */
	uint64_t unmatched_ends;
	uint32_t kind; /* enum perfmon_profile_thread_kind */
	uint32_t reserved;
	/* Visits that were left out on request: */
	uint64_t left_out_by_name;  /* PERFMON_ONLY, PERFMON_SKIP */
	uint64_t left_out_by_depth; /* PERFMON_DEPTH */
	uint64_t left_out_by_mean;  /* PERFMON_MIN_MEAN */
};

/** perfmon_profile_get_thread() - fills THREAD with thread INDEX, from 0. 0; -EINVAL;
 * -E2BIG. */
int perfmon_profile_get_thread(const struct perfmon_profile *profile, uint32_t index,
			       struct perfmon_profile_thread_info *thread);

/* Marks of a node: what to know about its values. Reports have the same marks. */
#define PERFMON_PROFILE_NODE_IN_FLIGHT	0x001u /* has visits that have not ended */
#define PERFMON_PROFILE_NODE_TORN	0x002u /* values may hold part of one more visit */
#define PERFMON_PROFILE_NODE_SAMPLED	0x004u /* not all visits were measured */
#define PERFMON_PROFILE_NODE_MISMATCHED 0x008u /* visits closed by an outer END */
#define PERFMON_PROFILE_NODE_DROPPED	0x010u /* visits of which only time is known */
#define PERFMON_PROFILE_NODE_RETRIED	0x020u /* reads that were repeated */
#define PERFMON_PROFILE_NODE_FALLBACK	0x040u /* reads by a system call */
#define PERFMON_PROFILE_NODE_MIGRATED	0x080u /* visits that ended on another CPU */
#define PERFMON_PROFILE_NODE_DEFECT	0x100u /* negative differences, left out */
#define PERFMON_PROFILE_NODE_FIRST	0x200u /* the first visits alone: PERFMON_MIN_MEAN */
/* These two are of nodes of PERFMON_PROFILE_THREAD_KIND_OTHER_RUN: */
#define PERFMON_PROFILE_NODE_RUNS_DIFFER 0x400u /* the runs were not alike in this path */
#define PERFMON_PROFILE_NODE_SOME_THREADS                                                \
	0x800u /* some threads of its run lack an event */

/* The kinds of nodes. A later version may have further ones: skip kinds that you do not know,
 * with the nodes below them. */
enum perfmon_profile_node_kind {
	PERFMON_PROFILE_NODE_KIND_THREAD, /* node 0: the thread itself */
	PERFMON_PROFILE_NODE_KIND_REGION,
	/* A path that the thread adopted (perfmon/team.h), beside that of its own visits: it has
	 * no visits, and its values are the sums of the nodes below it. */
	PERFMON_PROFILE_NODE_KIND_ADOPTED,
	/* Holds what the program said of its parent's visits (perfmon/quantity.h): `quantity`. The
	 * name has " [UNIT]" behind it, "[]" without a unit. The node has no visits, times or events,
	 * and nothing of what was said in nested regions. */
	PERFMON_PROFILE_NODE_KIND_QUANTITY,
	/* Visits that overlap others (perfmon/overlap.h): their values are in those of no other node,
	 * and none of them is exclusive. */
	PERFMON_PROFILE_NODE_KIND_OVERLAPPING,
	/* A visit of a path, or some in a row: first_visit to last_visit. Its times and values are
	 * inclusive alone: the exclusive ones and the bias are 0. Of a step of several visits the
	 * minimum is 0, and the maximum too unless it is longer than in all steps before. */
	PERFMON_PROFILE_NODE_KIND_STEP
};

/* A path of a thread: a region below another node. Grows at its end. The string lasts
 * until the next refresh or close. */
struct perfmon_profile_node_info {
	size_t size;	  /* in: sizeof(struct perfmon_profile_node_info) */
	const char *name; /* of the region; "" for node 0 */
	uint32_t parent;  /* a lower number */
	uint32_t depth;	  /* 0 for node 0 */
	uint32_t marks;	  /* PERFMON_PROFILE_NODE_ bits */
	uint32_t threads; /* that have this path: 1, or of a sum of threads more */
	uint32_t kind;	  /* enum perfmon_profile_node_kind */
	uint32_t reserved;
	uint64_t visits;  /* that have ended */
	uint64_t entered; /* that have begun */
	/* Visits that were measured: the values below, and those of
	 * perfmon_profile_get_values(), are of these alone. */
	uint64_t measured;
	uint64_t time_ns;     /* wall time, nested regions included */
	uint64_t min_time_ns; /* of one visit; 0 without any */
	uint64_t max_time_ns;
	uint64_t off_cpu_ns; /* the part of time_ns off the CPU, where the kernel tells */
	/* Visits for which time_ns, off_cpu_ns and the counts' values stand: with
	 * PERFMON_STRIDE each measured visit counts as many times as its stride had
	 * visits; else as @measured. Times of all visits: time_ns * visits / weight. */
	uint64_t weight;
	/* The parts of time_ns and off_cpu_ns that were spent in no nested region. */
	uint64_t exclusive_time_ns;
	uint64_t exclusive_off_cpu_ns;
	/* The part of time_ns that measuring added: by these visits themselves, and by those
	 * of nested regions. 0 where the cost of a visit was not measured. */
	uint64_t bias_ns;
	uint64_t quantity;	/* the value of a quantity, else 0 */
	uint32_t quantity_kind; /* enum perfmon_quantity_kind (perfmon/quantity.h) */
	uint32_t reserved2;
	uint64_t first_visit; /* of a step, from 1, else 0 */
	uint64_t last_visit;
	uint64_t begin_ns; /* of a step: when it began, after the profile's beginning */
};

/** perfmon_profile_get_node() - fills NODE with node INDEX of thread THREAD. Node 0 is the
 * thread itself, and parents have lower numbers than their children. 0; -EINVAL; -E2BIG.
 */
int perfmon_profile_get_node(const struct perfmon_profile *profile, uint32_t thread,
			     uint32_t index, struct perfmon_profile_node_info *node);

/**
 * perfmon_profile_get_path() - copies the names of the regions from the top down to node
 * INDEX of thread THREAD into BUFFER of SIZE bytes, with `;` between them, and `\` before
 * a `;` or `\` inside a name. "" for node 0.
 *
 * The length of the whole path, as snprintf(3) returns it; -EINVAL.
 */
int perfmon_profile_get_path(const struct perfmon_profile *profile, uint32_t thread,
			     uint32_t index, char *buffer, size_t size);

/* The value of an event in a node: an element of a vector. */
struct perfmon_profile_value {
	uint32_t event;	     /* for perfmon_profile_get_event() */
	uint32_t status;     /* PERFMON_VALUE_ bits (perfmon/value.h) */
	uint64_t value;	     /* sum over the measured visits, not scaled */
	uint64_t exclusive;  /* the part of it that no nested region has */
	uint64_t bias;	     /* the part of value that measuring added, as bias_ns */
	uint64_t enabled_ns; /* time on the CPU in these visits */
	uint64_t running_ns; /* the part in which the event was on the hardware */
};

/**
 * perfmon_profile_get_values() - fills VALUES with what each event counted in node INDEX
 * of thread THREAD, in the order of the thread's events: COUNT elements at most.
 * @element_size: sizeof(values[0]); of a longer element the library sets the rest to zero
 *
 * The number of elements that there are; -EINVAL: also for an ELEMENT_SIZE below the first
 * version's, or of twice this library's or more (perfmon/vector.h), of which
 * perfmon_profile_message() says so; VALUES may be NULL with COUNT 0.
 */
int perfmon_profile_get_values(const struct perfmon_profile *profile, uint32_t thread,
			       uint32_t index, struct perfmon_profile_value *values,
			       size_t count, size_t element_size);

/**
 * perfmon_profile_note() - says something of this run in the profile that the calling process
 * writes: perfmon_profile_note("n", "128"). Reports show it, and perfmon report --by n compares
 * runs by it.
 * @key: 1 to 63 letters, digits, `_`, `-` and `.`
 * @value: 1 to 255 bytes without control characters. It replaces an earlier value of the key.
 *
 * The note is also in the profile if the process has used no region so far, but uses one later, and in
 * those of children that it forks later. The environment (PERFMON_NOTE, perfmon run --note) wins: a key
 * that it has keeps its value, and the call returns 0. A process has 32 notes at most, and changes them
 * 1,000 times at most. The texts are copied. May allocate and enter the kernel. Any thread, but no
 * signal handler.
 *
 * Return: 0, or
 * -EINVAL: @key or @value is NULL, or is none
 * -ENOSPC: there are too many notes, or changes
 * -ENOMEM: there is no room in the profile
 * -EPERM: this process counts no regions (PERFMON_DEBUG=1 says why)
 */
int perfmon_profile_note(const char *key, const char *value);

/** perfmon_profile_close() - frees PROFILE; NULL is accepted. */
void perfmon_profile_close(struct perfmon_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
