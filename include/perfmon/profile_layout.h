/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout of a profile: the memory in which threads accumulate their regions, as it
 * stands in a memfd or a file. doc/profile-layout.md is the prose of this header.
 *
 * This is a format, for readers in other languages and for tools that cannot link the
 * library. It declares no function, and perfmon/perfmon.h does not include it. A program
 * that reads profiles by the library uses perfmon/profile.h, which does not change when
 * the layout does.
 *
 * The layout is little-endian and made of records, each led by its type and size, so
 * that a reader can pass over what it does not know. The first record is the header, at
 * offset 0. Offsets count from the start of the profile; 0 means none. Records never
 * move. All sizes are multiples of 8.
 *
 * Who writes what, and under what order:
 *
 *   field                       writer                      order for a reader
 *   header.used                 any thread, one at a time   acquire: records below are whole
 *   header.aggregate_sequence   any thread, one at a time   odd while threads are added up
 *   totals.total                any thread, one at a time   relaxed
 *   header.private_*            any thread, one at a time   before a used beyond it
 *   thread.node_count           the thread                  acquire: nodes below are whole
 *   thread.state, .lost_*,      the thread (lost_*: also    relaxed
 *   .left_out                   its signal handlers)
 *   node.sequence               the thread                  see struct perfmon_profile_node
 *   node.entered                the thread                  relaxed, outside the sequence
 *   stride.skipped              the thread                  relaxed, outside the sequence
 *   steps.count                 the thread                  acquire: marks below are whole
 *   steps.flags                 the thread                  acquire: all its marks are there
 *   everything else             written before the record   covered by the acquires above
 *                               or node is published
 */
#ifndef PERFMON_PROFILE_LAYOUT_H
#define PERFMON_PROFILE_LAYOUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERFMON_PROFILE_MAGIC	UINT64_C(0x464f52504e4d4650) /* "PFMNPROF" */
#define PERFMON_PROFILE_VERSION 3

/* Most counters that one event set may have in regions. */
#define PERFMON_PROFILE_COUNTERS_MAX 32
/* Bins of a node's histogram of time: bin i holds visits of 2^i to 2^(i+1) - 1 ticks, the
 * first also those of 0, the last also all longer ones. */
#define PERFMON_PROFILE_BINS 48
/* CPUs below this are told apart in a thread's record. */
#define PERFMON_PROFILE_CPUS_MAX 1024
/* Regions may be nested this deep; deeper visits are counted as lost. */
#define PERFMON_PROFILE_DEPTH_MAX 256
/* Longer names of regions are cut to so many bytes. */
#define PERFMON_PROFILE_NAME_MAX 1000

/* Declares the array behind a record's fields. C++ has no flexible array members, and
 * reaches the array by the size of the structure. */
#ifdef __cplusplus
#define PERFMON_PROFILE_TAIL_(declaration)
#else
#define PERFMON_PROFILE_TAIL_(declaration) declaration
#endif

enum perfmon_profile_type {
	PERFMON_PROFILE_TYPE_HEADER = 1,
	PERFMON_PROFILE_TYPE_PLAN = 2,
	PERFMON_PROFILE_TYPE_REGION = 3,
	PERFMON_PROFILE_TYPE_THREAD = 4,
	PERFMON_PROFILE_TYPE_NODES = 5,
	PERFMON_PROFILE_TYPE_NOTE = 6,
	PERFMON_PROFILE_TYPE_FREE = 7,
	PERFMON_PROFILE_TYPE_MACHINE = 8,
	PERFMON_PROFILE_TYPE_UNMATCHED = 9,
	PERFMON_PROFILE_TYPE_TOTALS = 10,
	PERFMON_PROFILE_TYPE_ARGUMENTS = 11,
	PERFMON_PROFILE_TYPE_RUN_NOTE = 13,
	PERFMON_PROFILE_TYPE_JOINED = 14,
	PERFMON_PROFILE_TYPE_PACKAGES = 15,
	PERFMON_PROFILE_TYPE_STEPS = 16,
	PERFMON_PROFILE_TYPE_CODE = 17
};

/* Leads every record. */
struct perfmon_profile_record {
	uint32_t type;
	uint32_t reserved;
	uint64_t size; /* in bytes, this lead included */
};

enum perfmon_profile_clock {
	PERFMON_PROFILE_CLOCK_TIMESTAMP = 1, /* the CPU's timestamp counter */
	PERFMON_PROFILE_CLOCK_MONOTONIC = 2  /* CLOCK_MONOTONIC: a tick is a nanosecond */
};

enum perfmon_profile_state {
	PERFMON_PROFILE_STATE_RUNNING = 1,
	PERFMON_PROFILE_STATE_ENDED = 2
};

/* How a profile came after its parent's, which keeps it apart from those of other
 * processes that had the same pid, and of other programs of the same process. */
enum perfmon_profile_link {
	PERFMON_PROFILE_LINK_NONE = 0,
	PERFMON_PROFILE_LINK_FORK = 1, /* the process was forked from the parent */
	PERFMON_PROFILE_LINK_EXEC =
		2, /* the process executed another program: its pid stayed */
	PERFMON_PROFILE_LINK_SPAWN =
		3 /* the parent process has a file of the same naming */
};

struct perfmon_profile_header {
	struct perfmon_profile_record record;
	uint64_t magic;
	uint32_t version;
	uint32_t state;		     /* enum perfmon_profile_state */
	uint64_t used;		     /* bytes in whole records */
	uint64_t aggregate_sequence; /* see above */

	/* whose profile it is */
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t start_time; /* of pid since boot, in clock ticks: /proc/PID/stat 22 */
	uint64_t parent_start_time;
	char boot_id[40]; /* /proc/sys/kernel/random/boot_id */
	char host[64];
	char program[256]; /* /proc/self/exe, its end if it is longer */
	int32_t rank;	   /* of an MPI launcher, -1 if there is none */
	int32_t ranks;

	/* ticks to nanoseconds: two moments at which both clocks were read */
	uint32_t clock; /* enum perfmon_profile_clock */
	uint32_t clock_flags;
	uint64_t ticks_hz; /* where the CPU says it, else 0: use the moments */
	uint64_t begin_ticks;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t begin_realtime_ns;
	uint64_t
		end_ticks; /* renewed at each report, when threads end and at times else */
	uint64_t end_ns;

	/* whole-process quality */
	uint64_t lost_first_in_handler; /* visits dropped: a first use in a handler,
					 * or in a function that the library called */
	uint64_t lost_threads;		/* threads that could not be set up */

	uint32_t parent_link;  /* enum perfmon_profile_link */
	uint32_t parent_image; /* of the parent's profile: see image */
	uint32_t image; /* profiles of this process before: exec(2) keeps the pid */
	uint32_t
		private_error; /* positive errno that refused the file more room, or 0: */
	uint64_t private_from; /* from here on the profile is where no reader sees it */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid, 0 if it is not known */
	uint64_t lacking;     /* offset of the note that says what is missing in all, 0 */
	uint64_t clock_error; /* ticks by which the moments may be apart, 0: not told */
	uint64_t unmatched_ends;   /* in threads that had begun no region */
	char job[64];		   /* "LAUNCHER:ID" of a launcher or batch system, "" */
	uint64_t left_out_regions; /* regions that are left out by their names */
	uint64_t reserved[9];
};

#define PERFMON_PROFILE_COUNTER_HARDWARE 1u /* counts on a core PMU */
#define PERFMON_PROFILE_COUNTER_KERNEL_ONLY                                              \
	2u /* happens in the kernel: nothing in user mode */
#define PERFMON_PROFILE_COUNTER_USER_READ                                                \
	4u /* was read from user space where it was tried */
#define PERFMON_PROFILE_COUNTER_REFUSED                                                  \
	8u /* did not open where it was tried: see error */
#define PERFMON_PROFILE_COUNTER_EXACT                                                    \
	16u /* counted by translation (perfmon run --exact): all or none of a plan */
#define PERFMON_PROFILE_COUNTER_PACKAGE                                                  \
	32u /* counts for packages: read once for all threads. A node's sum is of the time  \
	       in which some thread had a visit open; it stands in the thread that ended  \
	       the last of them, and that of all regions in node number 1 */
#define PERFMON_PROFILE_COUNTER_MACHINE                                                  \
	64u /* with the flag above: of the whole machine, or its packages are not known */

/* Which parts of a cost have been measured. */
#define PERFMON_PROFILE_COST_USER    1u
#define PERFMON_PROFILE_COST_CALL    2u
#define PERFMON_PROFILE_COST_SKIPPED 4u
#define PERFMON_PROFILE_COST_OVERLAP 8u

/*
 * The cost that measuring adds to one visit, in counts or in ticks of time. It is measured at
 * start-up for the plan in force, and is the least of several. UINT32_MAX: that or more. The
 * bias lies between the reads of BEGIN and END. The rest of a visit's cost lies around them,
 * and only the enclosing visits have it. A CPU that waits for results of the program's own
 * executes much of a pair meanwhile: `overlapped` is what a pair adds to a chain of
 * multiplications, each of which waits for the last.
 */
struct perfmon_profile_cost {
	uint32_t known;	     /* PERFMON_PROFILE_COST_ */
	uint32_t bias;	     /* to the visit itself, read in user space */
	uint32_t call_bias;  /* the same, read by read(2) */
	uint32_t pair;	     /* to each enclosing visit, read in user space, */
	uint32_t call_pair;  /* read by read(2), */
	uint32_t skipped;    /* and passed over by a stride */
	uint32_t overlapped; /* as `pair`, beside work that waits; of time alone */
	uint32_t reserved;
};

/* One counter of a plan. */
struct perfmon_profile_counter {
	char name[104]; /* as reports show it */
	char pmu[32];
	char unit[16];	/* "" for a plain count */
	double scale;	/* value * scale is in unit */
	uint32_t type;	/* of perf_event_attr, with config, config1, config2 */
	uint32_t flags; /* PERFMON_PROFILE_COUNTER_ */
	uint64_t config[3];
	int32_t error;	  /* negative errno that refused it, 0 */
	uint32_t logical; /* counters of one logical event (hybrid CPUs) are summed */
	struct perfmon_profile_cost cost;
};

/* The events that regions count, from one moment on. */
struct perfmon_profile_plan {
	struct perfmon_profile_record record;
	uint32_t generation;
	uint32_t counters;
	struct perfmon_profile_cost time; /* in ticks */
	PERFMON_PROFILE_TAIL_(struct perfmon_profile_counter counter[];)
};

/* A region's name; ids count from 1. */
struct perfmon_profile_region {
	struct perfmon_profile_record record;
	uint32_t id;
	uint32_t length; /* of name, without its NUL */
	PERFMON_PROFILE_TAIL_(char name[];)
};

#define PERFMON_PROFILE_BUILD_ID_MAX 128  /* hexadecimal digits */
#define PERFMON_PROFILE_PATH_MAX     4095 /* bytes */

/* Where the code of a region is whose name says less than could be known of it: a reader may find a better
 * name there. Of several records of one region the last holds. */
struct perfmon_profile_code {
	struct perfmon_profile_record record;
	uint32_t region;       /* its id */
	uint32_t build_length; /* of the file's build id, 0: it has none */
	uint64_t offset;       /* of the code, as the file's own addresses are */
	uint32_t path_length;  /* 0: the region's name is that of several places */
	uint32_t reserved;
	PERFMON_PROFILE_TAIL_(
		char text[];) /* the build id in hexadecimal, the file's path behind it */
};

/* A sentence for the reader of the report: what is missing, why, and what would help. */
struct perfmon_profile_note {
	struct perfmon_profile_record record;
	uint32_t length;
	uint32_t reserved;
	PERFMON_PROFILE_TAIL_(char text[];)
};

/* So many kinds of unmatched ENDs are told apart. */
#define PERFMON_PROFILE_UNMATCHED_MAX 16

/* ENDs of a region that came without a BEGIN at one place. */
struct perfmon_profile_unmatched {
	struct perfmon_profile_record record;
	uint64_t count;	       /* written while the program runs, relaxed */
	uint32_t name_length;  /* of the region's name, which begins text */
	uint32_t place_length; /* of the names around it, with " > " between, behind it */
	PERFMON_PROFILE_TAIL_(char text[];)
};

enum perfmon_profile_maker {
	PERFMON_PROFILE_MAKER_UNKNOWN = 0,
	PERFMON_PROFILE_MAKER_INTEL =
		1, /* family and model as CPUID's signature has them */
	PERFMON_PROFILE_MAKER_AMD = 2,
	PERFMON_PROFILE_MAKER_ARM = 3 /* implementer and part of MIDR_EL1 */
};

/* One kind of CPU that the machine has. */
struct perfmon_profile_kind {
	uint32_t maker;	 /* enum perfmon_profile_maker */
	uint32_t family; /* or implementer */
	uint32_t model;	 /* or part */
	uint32_t reserved;
};

/* Whose CPUs have counted: written once, where the machine tells. */
struct perfmon_profile_machine {
	struct perfmon_profile_record record;
	uint32_t kinds;
	uint32_t slots; /* most operations a cycle that its PMUs tell of (arm64:
			   PMMIR_EL1.SLOTS), 0 */
	PERFMON_PROFILE_TAIL_(struct perfmon_profile_kind kind[];)
};

/*
 * The counts of the whole process, for a plan whose counters are exact
 * (PERFMON_PROFILE_COUNTER_EXACT): all threads since the program began or was forked, also
 * outside of regions. Its total is written at each report and at the program's end; a
 * program that was killed leaves zeros, or the totals of its last report.
 */
struct perfmon_profile_totals {
	struct perfmon_profile_record record;
	uint32_t counters;			 /* as many as the plan has */
	uint32_t generation;			 /* of the plan */
	PERFMON_PROFILE_TAIL_(uint64_t total[];) /* one per counter */
};

/*
 * The packages whose events a plan has (PERFMON_PROFILE_COUNTER_PACKAGE), and the CPU time
 * there since the first region. The times are written at each report and at the program's
 * end; before, both are 0.
 */
struct perfmon_profile_packages {
	struct perfmon_profile_record record;
	uint64_t own_ns;  /* of this process */
	uint64_t busy_ns; /* of all processes; 0: not known */
	char place[48];	  /* "packages 0-1", "" if they are not known */
};

/* In flags of struct perfmon_profile_arguments: the rest was left out. */
#define PERFMON_PROFILE_ARGUMENTS_CUT 1u
#define PERFMON_PROFILE_ARGUMENTS_MAX 4096

/* The arguments that the program was started with, from its name on. */
struct perfmon_profile_arguments {
	struct perfmon_profile_record record;
	uint32_t length; /* at most PERFMON_PROFILE_ARGUMENTS_MAX */
	uint32_t flags;
	PERFMON_PROFILE_TAIL_(char text[];) /* each has a NUL at its end, but one that was
					     * cut */
};

/* The program or its user says this of the run: a key and its value. If several records have one
 * key, the last one holds. */
struct perfmon_profile_run_note {
	struct perfmon_profile_record record;
	uint32_t key_length;		    /* 1 to 63: letters, digits, '_', '-', '.' */
	uint32_t value_length;		    /* 1 to 255, without control characters */
	PERFMON_PROFILE_TAIL_(char text[];) /* the key, and the value behind it */
};

enum perfmon_profile_thread_state {
	PERFMON_PROFILE_THREAD_STATE_LIVE = 1,
	PERFMON_PROFILE_THREAD_STATE_ENDED =
		2, /* kept apart on request (PERFMON_THREADS=keep) */
	PERFMON_PROFILE_THREAD_STATE_AGGREGATE =
		3, /* the sum of threads that have ended */
	PERFMON_PROFILE_THREAD_STATE_UNUSED =
		4 /* added up; its memory waits for another thread */
};

/* How a counter stands in one thread: a positive value, or the negative errno of the
 * call that refused it there; 0 is a counter that the plan does not have. */
enum perfmon_profile_counter_status {
	PERFMON_PROFILE_COUNTER_STATUS_USER = 1,   /* read from user space */
	PERFMON_PROFILE_COUNTER_STATUS_SYSCALL = 2 /* read by read(2) */
};

/* In flags: behind the counts of each node stands a struct perfmon_profile_stride. The
 * other bits then tell settings of strides apart: nodes of threads whose flags differ cannot
 * be summed as if they had one stride. */
#define PERFMON_PROFILE_THREAD_STRIDE 1u

/* Why visits were left out on request. */
enum perfmon_profile_left_out {
	PERFMON_PROFILE_LEFT_OUT_NAME = 0,  /* PERFMON_ONLY, PERFMON_SKIP */
	PERFMON_PROFILE_LEFT_OUT_DEPTH = 1, /* PERFMON_DEPTH */
	PERFMON_PROFILE_LEFT_OUT_MEAN = 2,  /* PERFMON_MIN_MEAN */
	PERFMON_PROFILE_LEFT_OUT_KINDS = 3
};

/*
 * A thread of the profile. A record of type PERFMON_PROFILE_TYPE_JOINED has the same form. It is a
 * sum of threads of another run of the program (perfmon report --counts), of which the counts
 * alone are of interest: its visits and times are those of that run.
 */
struct perfmon_profile_thread {
	struct perfmon_profile_record record;
	uint32_t state; /* enum perfmon_profile_thread_state */
	uint32_t tid;
	char name[16];
	uint64_t begin_ticks;
	uint64_t end_ticks;  /* 0 while it lives */
	uint64_t nodes;	     /* offset of its first record of nodes */
	uint32_t node_count; /* nodes in use, over all its records of nodes */
	uint32_t node_size;  /* bytes from one node to the next */
	uint32_t generation; /* of its plan */
	uint32_t counters;
	uint32_t aggregated; /* threads that are summed here */
	uint32_t flags;	     /* PERFMON_PROFILE_THREAD_STRIDE */
	uint64_t
		lost_in_handler; /* visits from a handler that interrupted a region call */
	uint64_t lost_too_deep;	 /* visits below PERFMON_PROFILE_DEPTH_MAX */
	uint64_t lost_no_memory; /* visits of paths for which there was no memory */
	uint64_t lost_unnamed; /* visits of regions whose name could not be registered */
	uint64_t lost_other;   /* visits open when regions were disarmed, and the like */
	uint64_t unmatched_ends; /* ENDs without a BEGIN */
	int32_t status
		[PERFMON_PROFILE_COUNTERS_MAX]; /* enum perfmon_profile_counter_status */
	/* CPUs that it might run on at its first region or at its end: bit N % 64 of word
	 * N / 64. None: not known. The end of a thread that lived for less than 10 ms counts only
	 * if the thread had moved to another CPU. */
	uint64_t cpus[PERFMON_PROFILE_CPUS_MAX / 64];
	/* Visits that were left out, by enum perfmon_profile_left_out; written by the thread and its
	 * signal handlers. Older profiles do not have them. */
	uint64_t left_out[PERFMON_PROFILE_LEFT_OUT_KINDS];
};

struct perfmon_profile_count {
	uint64_t sum;	  /* over measured visits (see struct perfmon_profile_stride) */
	uint64_t lost_ns; /* time in those visits in which it was not on the hardware */
	/* The sum of squares, while a stride is on. With PERFMON_PROFILE_COUNTER_PACKAGE: the ns
	 * that SUM is of. */
	double squares;
};

/* In flags, of a sum over threads: the stride of some of them measured no visit. How far
 * off the totals may be is not known. */
#define PERFMON_PROFILE_NODE_UNMEASURED 1u
/*
 * The node is of a path that the thread has adopted from another one (perfmon/team.h): no visit has
 * begun in it, and it stands beside the node of the thread's own visits, if there is one. Its times
 * and counts are 0 in the profile, and in a reader the sums of the nodes below it.
 */
#define PERFMON_PROFILE_NODE_ADOPTED 2u
/*
 * The node is no path, but a quantity of its parent's visits (perfmon/quantity.h). Its region's name
 * is the quantity's, with " [UNIT]" behind it, "[]" without a unit. Its value is in time_ticks, which
 * changes outside of the sequence. Of its other fields `parent`, `region`, `flags` and `threads`
 * have a meaning.
 */
#define PERFMON_PROFILE_NODE_QUANTITY 4u
#define PERFMON_PROFILE_NODE_MAXIMUM                                                     \
	8u /* of a quantity: the largest value, not the sum */
#define PERFMON_PROFILE_NODE_LAST                                                        \
	16u /* the last value of a thread, the largest of several */
/* The node's visits turned out shorter than PERFMON_MIN_MEAN. It has those before that, and later
 * ones were left out. */
#define PERFMON_PROFILE_NODE_LEFT_OUT 32u
/* The node's visits overlap others (perfmon/overlap.h): they are in no sum over other nodes. */
#define PERFMON_PROFILE_NODE_OVERLAPPING 64u
/* In a joined record alone: the runs were not alike in this path. */
#define PERFMON_PROFILE_NODE_UNALIKE 128u
/* In a joined record alone: some threads of its run did not count an event. */
#define PERFMON_PROFILE_NODE_FEWER_THREADS 256u

/*
 * One path of one thread: a region below a node. Nodes of a thread are numbered from 1,
 * which is the thread itself (region 0, parent 0), and a parent's number is lower than
 * its children's.
 *
 * Writer, at the end of a visit: sequence odd (relaxed); store-store fence; fields
 * (relaxed); sequence even (release). That last store is the end of the visit:
 * sequence / 2 is the number of visits that have ended with all their values.
 * Reader: sequence (acquire), fields (relaxed), acquire fence, sequence and parts again; equal
 * and even is a whole node. A visit that is suspended adds its part to times and counts alone:
 * then the sequence is odd meanwhile and as before afterwards, and parts is one more. If the
 * writer is dead and the sequence odd, sequence / 2 and entered are right, and the other fields may
 * hold part of one more visit.
 */
struct perfmon_profile_node {
	uint64_t sequence;
	uint64_t entered;    /* visits begun */
	uint64_t time_ticks; /* sum over visits, children included */
	/* The sum of squares of ticks, and its high half. */
	uint64_t time_squares;
	uint64_t time_squares_high;
	/* The extremes are not kept where counters are exact: the histogram tells them. */
	uint64_t time_min;   /* UINT64_MAX before the first visit */
	uint64_t time_guard; /* the writer's: the largest of time_max that a bin holds */
	uint64_t time_max;
	uint64_t off_cpu_ns; /* of the time, the part off the CPU, where pages tell */
	uint32_t parent;
	uint32_t region;
	uint32_t flags; /* PERFMON_PROFILE_NODE_UNMEASURED and the others */
	/* These stay at UINT32_MAX once they have come there. */
	uint32_t fallback_reads; /* visits with a read(2) in place of a register read */
	uint32_t retries;    /* visits in which a page had moved and was read anew, also
			     in a visit inside of them */
	uint32_t migrations; /* visits that ended on another CPU */
	uint32_t mismatched_ends; /* visits closed by the END of an outer region */
	uint32_t dropped_counts; /* visits measured in time only: the plan had changed, or
				     a counter could not be read */
	uint32_t defects;	 /* negative differences, kept out of the sums */
	uint32_t spilled;	 /* visits that found their bin full */
	uint32_t threads;	 /* aggregated threads that have this path */
	uint32_t parts; /* of visits that were suspended (perfmon/task.h), modulo 2^32 */
	uint64_t thread_min_ticks; /* of time_ticks over those threads */
	uint64_t thread_max_ticks;
	uint32_t histogram[PERFMON_PROFILE_BINS];
	PERFMON_PROFILE_TAIL_(struct perfmon_profile_count
				      count[];) /* one per counter of the thread's plan */
};

/*
 * A node has this as well where a stride is on (PERFMON_STRIDE): of STRIDE visits in a row
 * one is measured, at random, and the node's times and counts are of the measured ones.
 * Visits that have ended are sequence / 2 + skipped.
 */
struct perfmon_profile_stride {
	uint64_t skipped; /* visits that have ended unmeasured; outside the sequence */
	uint64_t stride;  /* 1: each visit is measured */
	uint64_t gap;	  /* the writer's: visits to skip until the next measured one */
	uint64_t left;	  /* the writer's: visits of its stride behind the last one */
	uint64_t random;  /* the writer's */
	/* The stride changes: a path's first visits are all measured. Each measured visit is
	 * worth as many as its stride had: sums hold it so many times. */
	uint64_t worth;	 /* of a visit that is measured now */
	uint64_t weight; /* sum of what measured visits were worth; 0: one each */
	uint64_t whole;	 /* of them, those before the first change: each was measured */
	uint64_t until;	 /* the writer's: measured visits until the stride is looked at */
	uint64_t looked; /* the writer's: ticks when it was looked at last, or bit 63 and
			  * the stride that follows the first visits */
	double time_cubes;		       /* sum of cubes of ticks */
	PERFMON_PROFILE_TAIL_(double cubes[];) /* likewise of counts, one per counter */
};

/*
 * Holds a node's sums when a visit began, in the fields of the same names. The difference of two
 * marks is what the visits between them have.
 */
struct perfmon_profile_mark {
	uint64_t ticks; /* when it was made */
	uint64_t sequence;
	uint64_t entered; /* without the visit that begins */
	uint64_t time_ticks;
	uint64_t time_squares;
	uint64_t time_squares_high;
	uint64_t time_max;
	uint64_t off_cpu_ns;
	uint32_t fallback_reads;
	uint32_t retries;
	uint32_t migrations;
	uint32_t mismatched_ends;
	uint32_t dropped_counts;
	uint32_t defects;
	/* One per counter of the thread's plan. */
	PERFMON_PROFILE_TAIL_(struct {
		uint64_t sum;
		uint64_t lost_ns;
	} count[];)
};

/* So many paths of a profile have steps, in so many parts with so many marks each. */
#define PERFMON_PROFILE_STEPS_MAX 256
#define PERFMON_PROFILE_PARTS_MAX 64
#define PERFMON_PROFILE_MARKS_MAX 128

/* In flags of struct perfmon_profile_steps: the thread has ended, and the last mark was made then. */
#define PERFMON_PROFILE_STEPS_ENDED 1u

/*
 * Steps: the marks of one path in the thread that was the first to visit it (PERFMON_STEPS). Part N, from
 * 0, has a mark before each visit that is 2^N behind the last one; a part that is full is followed by
 * the next. Behind the marks of a thread that has not ended come the sums of its node.
 */
struct perfmon_profile_steps {
	struct perfmon_profile_record record;
	uint64_t thread;   /* offset of the thread's record, which it has until it ends */
	uint32_t node;	   /* number of the thread's node, likewise */
	uint32_t series;   /* the same in all parts: 1 to PERFMON_PROFILE_STEPS_MAX */
	uint32_t part;	   /* from 0 */
	uint32_t flags;	   /* PERFMON_PROFILE_STEPS_ENDED */
	uint32_t count;	   /* marks */
	uint32_t capacity; /* for marks */
	uint32_t mark_size;  /* bytes from one mark to the next */
	uint32_t depth;	     /* regions of the path: at most PERFMON_PROFILE_DEPTH_MAX */
	uint32_t generation; /* of the thread's plan */
	uint32_t counters;
	uint32_t tid;
	uint32_t reserved;
	char name[16];				      /* the thread's */
	int32_t status[PERFMON_PROFILE_COUNTERS_MAX]; /* the thread's */
	/* The path from the top, in a multiple of 8 bytes; behind it the marks. */
	PERFMON_PROFILE_TAIL_(uint32_t region[];)
};

struct perfmon_profile_nodes {
	struct perfmon_profile_record record;
	uint64_t thread; /* offset of the thread's record */
	uint64_t next;	 /* offset of its next record of nodes */
	uint32_t first;	 /* number of the first node here */
	uint32_t capacity;
	uint32_t node_size;
	uint32_t reserved;
	PERFMON_PROFILE_TAIL_(uint64_t node[];) /* capacity nodes of node_size bytes */
};

#ifdef __cplusplus
}
#endif
#endif
