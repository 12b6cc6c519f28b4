/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Information: what this machine has to count with, what the kernel lets this user and an
 * unprivileged one do with it, and what the library itself has done so far.
 *
 * Structures begin with their size, which the caller sets; what a newer program knows and
 * this library does not must be zero (-E2BIG), and stays so. Functions return 0 or a
 * count, or a negative errno, and leave out-parameters untouched on failure, but for the
 * sizes of masks. All but perfmon_info_get_statistics() enter the kernel and allocate; some
 * open events of the calling thread for a moment, to find out by trying. Any thread; not
 * in a signal handler.
 */
#ifndef PERFMON_INFO_H
#define PERFMON_INFO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of perfmon_info.features. */
#define PERFMON_INFO_FEATURE_HARDWARE  0x1u /* hardware events open, for this user, now */
#define PERFMON_INFO_FEATURE_USER_READ 0x2u /* and are read without a system call */
#define PERFMON_INFO_FEATURE_OVERFLOW                                                    \
	0x4u /* and interrupt on overflow: sampling, signals */
#define PERFMON_INFO_FEATURE_TIMESTAMP                                                   \
	0x8u /* time comes from the CPU's timestamp counter */
#define PERFMON_INFO_FEATURE_THREAD_TIME                                                 \
	0x10u /* a thread's CPU time without a system call */
#define PERFMON_INFO_FEATURE_PRIVILEGED 0x20u /* CAP_PERFMON or CAP_SYS_ADMIN */
#define PERFMON_INFO_FEATURE_SECCOMP	0x40u /* a system call filter is on */
#define PERFMON_INFO_FEATURE_EXACT                                                       \
	0x80u /* the program is counted by translation: perfmon run --exact */

/* Bits of perfmon_info.allows and user_allows: what kernel.perf_event_paranoid lets. */
#define PERFMON_INFO_ALLOWS_USER   0x1u /* own threads, user mode */
#define PERFMON_INFO_ALLOWS_KERNEL 0x2u /* own threads, kernel mode */
#define PERFMON_INFO_ALLOWS_CPU	   0x4u /* whole CPUs, uncore PMUs */
#define PERFMON_INFO_ALLOWS_RAW	   0x8u /* raw samples of tracepoints */

#define PERFMON_INFO_UNLIMITED UINT64_MAX

struct perfmon_info {
	size_t size;	       /* in: sizeof(struct perfmon_info) */
	char cpu_model[128];   /* "" if the machine does not tell */
	char architecture[32]; /* that the library was built for */
	char kernel[80];       /* its release */
	uint32_t packages;     /* with online CPUs; 0: not known; so the next two */
	uint32_t cores;
	uint32_t cpus;
	uint32_t pmus;		 /* that perfmon_info_pmus() shows */
	uint32_t core_pmus;	 /* of these, how many count what CPUs execute */
	uint32_t features;	 /* PERFMON_INFO_ bits that are so, */
	uint32_t features_known; /* of those that could be found out: without any hardware
				  * event nobody knows how it would be read */
	uint32_t allows;	 /* PERFMON_INFO_ALLOWS_ bits for the caller, */
	uint32_t user_allows;	 /* and for an unprivileged user */
	int32_t paranoid;	 /* kernel.perf_event_paranoid; 2 if it can't be read */
	int32_t max_stack;	 /* kernel.perf_event_max_stack, or -1 */
	int32_t max_sample_rate; /* kernel.perf_event_max_sample_rate a second, or -1 */
	int64_t mlock_kb;	 /* kernel.perf_event_mlock_kb per CPU and user, or -1 */
	uint64_t memlock_soft;	 /* RLIMIT_MEMLOCK in bytes, or PERFMON_INFO_UNLIMITED */
	uint64_t memlock_hard;
	uint64_t files_soft; /* RLIMIT_NOFILE: a descriptor per counter and thread */
	uint64_t files_hard;
	uint64_t timestamp_hz; /* of the timestamp counter, 0 if not known */
};

/**
 * perfmon_info_get() - fills in what is known of the machine and of what is allowed.
 *
 * Return: 0, or
 * -EINVAL: NULL, or a size below the first version's
 * -E2BIG
 * -ENOMEM
 *
 * Source: perfctr, struct perfctr_info; hwpmc, pmc_cpuinfo(3).
 */
int perfmon_info_get(struct perfmon_info *info);

enum perfmon_pmu_kind {
	PERFMON_PMU_KIND_OTHER,	 /* software, tracepoints, MSRs and the like */
	PERFMON_PMU_KIND_CORE,	 /* counts what its CPUs execute */
	PERFMON_PMU_KIND_UNCORE, /* counts for a package, die or node */
};

/* Bits of perfmon_pmu_info.capabilities. */
#define PERFMON_PMU_CAPABILITY_OPENS	 0x1u /* one of its events opens for this user, now */
#define PERFMON_PMU_CAPABILITY_USER_READ 0x2u /* and is read without a system call */
#define PERFMON_PMU_CAPABILITY_OVERFLOW	 0x4u /* and interrupts on overflow */
#define PERFMON_PMU_CAPABILITY_MODES	 0x8u /* and tells user from kernel mode */

/* One PMU. The strings last as long as the visit. */
struct perfmon_pmu_info {
	size_t size;
	const char *name; /* in sysfs */
	const char *cpus; /* a list like 0-3,8: those it counts on, or for an uncore PMU
			   * its agents; "" if it has none: all CPUs */
	uint32_t type;	  /* perf_event_attr.type */
	uint32_t kind;	  /* enum perfmon_pmu_kind */
	uint32_t named_events;
	uint32_t capabilities;	     /* PERFMON_PMU_ bits; of core PMUs alone */
	uint32_t capabilities_known; /* those that could be found out */
	uint32_t max_precise;	     /* the highest precise_ip; 0: none, or not known */
	/* Core PMUs only: the number of events that open together in one group. -1: not
	 * known (nothing opens, or another limit came first). Fixed counters are those on
	 * which cycles, instructions or ref-cycles still open beside a full set of
	 * others. */
	int32_t programmable;
	int32_t fixed;
	/* Bits of a counter as the kernel's page tells, -1 where it does not. */
	int32_t width_bits;
	int32_t fixed_width_bits; /* of the one that cycles are on */
};

/**
 * perfmon_info_pmus() - shows each PMU of the machine to a visitor.
 * @visit: anything but 0 that it returns ends the walk
 * @argument: handed to @visit
 *
 * For each core PMU some dozens of events are opened, for a moment.
 *
 * Return: 0, or
 * - what @visit returned
 * -EINVAL: @visit is NULL
 * -ENOMEM
 * - what reading /sys/bus/event_source gave
 */
int perfmon_info_pmus(int (*visit)(const struct perfmon_pmu_info *pmu, void *argument),
		      void *argument);

enum perfmon_info_counter_state {
	PERFMON_INFO_COUNTER_STATE_FREE, /* an event of the caller came on it at once */
	PERFMON_INFO_COUNTER_STATE_HELD, /* somebody else has it all the time */
	PERFMON_INFO_COUNTER_STATE_DISABLED, /* it exists, and so far nothing counts on any */
};

/* One counter of a core PMU. Grows at its end; the text lasts as long as the visit. */
struct perfmon_info_counter {
	size_t size;
	int32_t number;	   /* as perfmon_counter_info has it; -1: not known */
	uint32_t state;	   /* enum perfmon_info_counter_state */
	const char *event; /* the one event that it counts; "": any */
};

/**
 * perfmon_info_counters() - shows each counter of a core PMU, and whether it is free on
 * the CPU that the caller is on.
 * @pmu: the name of the PMU
 * @visit: anything but 0 that it returns ends the walk
 * @argument: handed to @visit
 *
 * Found by opening a pinned event for each counter, for a moment, on the calling thread.
 * Events of others that are not pinned give way for that moment, as they do when they are
 * multiplexed, and hold no counter. An NMI watchdog and another user's pinned event do.
 * Where the
 * kernel does not say which counter an event is on, there are as many of each state as
 * there are.
 *
 * Return: 0, or
 * - what @visit returned
 * -EINVAL: no name or no visitor
 * -ENOENT: no such PMU
 * -EOPNOTSUPP: it is no core PMU
 * -ENODATA: how many counters it has cannot be found out
 * -ENOMEM
 * - the errno with which the kernel refused to open its events
 *
 * Source: hwpmc, pmc_pmcinfo(3): dispositions.
 */
int perfmon_info_counters(const char *pmu,
			  int (*visit)(const struct perfmon_info_counter *counter,
				       void *argument),
			  void *argument);

enum perfmon_info_cpu_set {
	PERFMON_INFO_CPU_SET_ONLINE,
	PERFMON_INFO_CPU_SET_ALLOWED, /* of these, what cgroups leave to this process */
	PERFMON_INFO_CPU_SET_PMU,     /* where events of a PMU are opened */
	PERFMON_INFO_CPU_SET_FORBIDDEN, /* offline, not allowed, or not counted by the PMU */
};

/**
 * perfmon_info_get_cpus() - a set of CPUs, as a mask of a size not known beforehand.
 * @set: enum perfmon_info_cpu_set
 * @pmu: a PMU's name in sysfs, for the last two sets; NULL: any CPU that can be used
 * @mask, @size: as of perfmon_placement_get_cpus(): *@size bytes at @mask; always becomes the
 *	bytes that are needed
 *
 * Return: how many CPUs, or
 * -EOVERFLOW: @mask is too small and is untouched
 * -EINVAL: an unknown @set, or @size is NULL
 * -ENOENT: no such PMU
 * -ENOMEM
 * - what reading /sys gave
 *
 * Source: perfctr, struct perfctr_cpu_mask, perfctr_cpus_info (cpus, cpus_forbidden).
 */
int perfmon_info_get_cpus(uint32_t set, const char *pmu, void *mask, size_t *size);

/**
 * perfmon_info_environment() - shows what the environment says in vain to a visitor.
 * @visit: is given a sentence about each variable of libperfmon's prefix that has no
 *	meaning, and about each value that cannot be used, with what is used instead;
 *	anything but 0 that it returns ends the walk
 * @argument: handed to @visit
 *
 * For programs that write no report of regions, whose head has the same sentences. What
 * is read is the environment as it is now; at most 16 sentences, each as long as its visit.
 *
 * Return: 0, or
 * - what @visit returned
 * -EINVAL: @visit is NULL
 * -ENOMEM
 */
int perfmon_info_environment(int (*visit)(const char *sentence, void *argument),
			     void *argument);

/* Counts of the library's own work in this process, and in its parents before they
 * forked. They change where events are opened, not where they are read. */
struct perfmon_statistics {
	size_t size;
	uint64_t events_opened;
	uint64_t events_refused; /* opens that the kernel refused, trials included */
	uint64_t mappings_made; /* pages of events, and memory of profiles and sessions */
	uint64_t mappings_refused;
	uint64_t topology_loads; /* how often the machine was looked at */
};

/**
 * perfmon_info_get_statistics() - fills in the library's own statistics. No system call, no
 * allocation; also in a signal handler.
 *
 * Return: 0, or
 * -EINVAL: NULL, or a size below the first version's
 * -E2BIG
 *
 * Source: hwpmc, pmc_get_driver_stats(3).
 */
int perfmon_info_get_statistics(struct perfmon_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
