/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions: named stretches of a program's own code, counted per thread and per path.
 *
 *	PERFMON_REGION_BEGIN("solve");
 *	...
 *	PERFMON_REGION_END("solve");
 *
 * Nothing has to be initialised, per process or per thread, and nothing finalised: a
 * thread sets itself up at its first region, and the report is written when the process
 * exits (environment variable PERFMON_OUTPUT). With -DPERFMON_DISABLE the macros and the
 * calls that begin and end regions compile to nothing. Regions nest; a region below a
 * region is a path of its own.
 *
 * All calls here may be made by any thread at any time, also from signal handlers,
 * destructors and before main(). They do not fail: what could not be counted is counted
 * as lost, and the report says how much and why. None of them touches errno, and none is
 * a cancellation point.
 *
 * Warm -- the thread is set up and has seen this path -- BEGIN and END take no lock,
 * allocate nothing and make no system call, as long as the counters are readable from
 * user space; otherwise each makes two system calls per group of counters that is not
 * (one proves the descriptor, one reads). An event that the kernel refuses at the first
 * region of the process is not asked for again and costs nothing; one that is refused in a
 * single thread costs no call there, but the longer way. The first pass of a thread and of
 * a path allocates and enters the kernel.
 *
 * Programs and libraries that are shipped with regions in them are compiled with
 * -DPERFMON_QUIET: regions of theirs alone make no report at exit, unless the user asks
 * for one by PERFMON_OUTPUT (perfmon/report.h has a call with the same effect for a whole
 * process).
 *
 * Between vfork(2) and exec(3) no region may be used.
 */
#ifndef PERFMON_REGION_H
#define PERFMON_REGION_H

#include <perfmon/value.h>
#include <perfmon/vector.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct perfmon_region - what a place in the code knows of its region.
 *
 * Initialise it with PERFMON_REGION_INIT(name), where NAME is a string that lives as long
 * as the object; its text is copied at the first pass. Visits of an object without a name,
 * or whose key is reserved for a later version (2), are counted as lost. One object may be shared by
 * threads and by several BEGINs and ENDs; objects of equal names are the same region. The
 * object may vanish (dlclose) when no BEGIN on it is open.
 */
struct perfmon_region {
	/* The library's: one of these until the first pass has registered the name. */
	uint64_t key;
	const char *name;
};

/* The library's: a region that asks for a report at exit, and one that does not. */
#define PERFMON_REGION_KEY_REPORT_ 0
#define PERFMON_REGION_KEY_QUIET_  1
/* Reserved for an object of a later version, which may be longer and whose NAME may be no
 * string. This library does not look into such an object: its visits are counted as lost. */
#define PERFMON_REGION_KEY_LATER_ 2
#ifdef PERFMON_QUIET
#define PERFMON_REGION_KEY_ PERFMON_REGION_KEY_QUIET_
#else
#define PERFMON_REGION_KEY_ PERFMON_REGION_KEY_REPORT_
#endif

#ifdef __cplusplus
#define PERFMON_REGION_INIT(region_name)                                                 \
	{                                                                                \
		PERFMON_REGION_KEY_, region_name                                         \
	}
#else
#define PERFMON_REGION_INIT(region_name)                                                 \
	{                                                                                \
		.key = PERFMON_REGION_KEY_, .name = region_name                          \
	}
#endif

/*
 * While regions are armed these point to the code that begins and ends one, chosen for
 * the number of counters; disarmed they are NULL. For other languages, and for the macros
 * where perfmon_region_calls has no code for the CPU: then a region costs one load and one
 * branch when disarmed. Read-only for programs.
 */
extern void (*perfmon_region_begin_armed)(struct perfmon_region *region);
extern void (*perfmon_region_end_armed)(struct perfmon_region *region);

/* Other compilers than gcc and clang, front ends of GPUs, and functions in the streaming mode of
 * SME make ordinary calls. */
#if defined(PERFMON_ORDINARY_CALLS) || !defined(__GNUC__) || defined(__NVCOMPILER) ||    \
	defined(__INTEL_COMPILER) || defined(__CUDACC__) || defined(__HIP__) ||          \
	defined(__SYCL_DEVICE_ONLY__) || defined(__ARM_FEATURE_SME)
#define PERFMON_REGION_SITE_ 0
#elif defined(__x86_64__) && defined(__LP64__)
#define PERFMON_REGION_SITE_ 1
#elif defined(__aarch64__) && defined(__LP64__)
#define PERFMON_REGION_SITE_ 2
#else
#define PERFMON_REGION_SITE_ 0
#endif

#if PERFMON_REGION_SITE_
/*
 * The same for the macros' asm statements, on x86-64 and aarch64. These calls change no vector
 * register and few others, so that a compiler keeps its values where they are. So they must
 * not be called in another way. The pointers are never NULL: the code may run while
 * another thread disarms. Read-only for programs. With PERFMON_ORDINARY_CALLS defined the
 * macros make ordinary calls (clang needs that with -masm=intel).
 */
struct perfmon_region_calls {
	uint32_t armed; /* 0 while disarmed */
	uint32_t reserved;
	void (*begin)(struct perfmon_region *region);
	void (*end)(struct perfmon_region *region);
};
extern struct perfmon_region_calls perfmon_region_calls;
#endif

/**
 * perfmon_region_begin() - begins a visit of REGION in the calling thread.
 * perfmon_region_end() - ends it.
 *
 * The same as the macros, as functions: for names held in an object of the program's own
 * and for other languages. An END whose region is open further out ends the visits in
 * between as mismatched (an exception or longjmp jumped over their ENDs); one whose region
 * is not open at all is counted as unmatched and changes nothing. A visit of NULL is
 * counted as lost.
 */
void perfmon_region_begin(struct perfmon_region *region);
void perfmon_region_end(struct perfmon_region *region);
#ifdef PERFMON_QUIET
/* The library's: an object that is initialised without the macro asks for a report. */
static inline void perfmon_region_begin_quiet_(struct perfmon_region *region)
{
	uint64_t key = PERFMON_REGION_KEY_REPORT_;

	if (region && __builtin_expect(region->key == key, 0))
		__atomic_compare_exchange_n(&region->key, &key, PERFMON_REGION_KEY_QUIET_,
					    0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	perfmon_region_begin(region);
}
#define perfmon_region_begin(region) perfmon_region_begin_quiet_(region)
#endif

/**
 * perfmon_region_begin_name() - begins a visit of the region called NAME.
 * perfmon_region_end_name() - ends it.
 *
 * For names known only at run time. The text is compared at each call (through a cache
 * of the calling thread), so NAME may be a buffer that changes. Costs more than the
 * macros, in proportion to the length of the name. Names longer than 1,000 bytes are cut
 * there; a NULL name is counted as lost.
 */
void perfmon_region_begin_name(const char *name);
void perfmon_region_end_name(const char *name);

/* Stands for perfmon_region_begin_name() with -DPERFMON_QUIET. */
void perfmon_region_begin_name_quiet(const char *name);
#ifdef PERFMON_QUIET
#define perfmon_region_begin_name(name) perfmon_region_begin_name_quiet(name)
#endif

/**
 * perfmon_region_code() - says where the code of a region is, in its profile.
 * @region: the region; its name need not tell
 * @path: the file that has the code, 1 to 4,095 bytes
 * @build_id: the build id of this file, up to 128 hexadecimal digits; NULL or "": it has none
 * @offset: the address of the code in the file: its address less that at which the file was loaded
 *
 * For tools that make regions of functions which they find while the program runs, and know by their
 * addresses alone. perfmon report names the region by the symbols and the debug information that it finds for
 * the file then: "solve:27 (parallel)" of "libsolver.so.1+0x1f30 (parallel)". What stands in the last brackets
 * of the name stays, up to a blank. A region that several places have keeps its name. The texts are
 * copied. May allocate and enter the kernel. Any thread, but no signal handler.
 *
 * Return: 0, or
 * -EINVAL: @region has no name, or @path or @build_id is none
 * -ENOMEM: there is no memory, or no room in the profile
 * -EPERM: this process counts no regions (PERFMON_DEBUG=1 says why)
 */
int perfmon_region_code(struct perfmon_region *region, const char *path,
			const char *build_id, uint64_t offset);

/**
 * perfmon_region_disarm() - makes BEGIN and END do nothing, in all threads.
 * perfmon_region_arm() - undoes one perfmon_region_disarm().
 *
 * Disarms nest: regions count again when as many arms have followed, by whichever thread.
 * So a library may disarm and arm around its own work, whatever the program has asked.
 * PERFMON_ARM=0 counts as one disarm at the start of the process. An arm without a disarm
 * before it does nothing, also for later disarms. A child of fork(2) begins with its
 * parent's disarms, those of threads that it does not have included.
 *
 * Visits that are open when regions are disarmed are dropped and counted as lost. ENDs
 * whose BEGIN ran while disarmed are unmatched. Both may be called by any thread, any
 * number of times; not from a signal handler. They may allocate and enter the kernel.
 */
void perfmon_region_disarm(void);
void perfmon_region_arm(void);

/**
 * perfmon_region_disarmed() - how many disarms no arm has undone yet: 0 while regions
 * count.
 *
 * Another thread may change the number at any time. Any thread; not from a signal
 * handler. It may allocate and enter the kernel.
 *
 * Return: the number, or
 * -EPERM: regions cannot be counted in this process (PERFMON_DEBUG=1 says why)
 */
int perfmon_region_disarmed(void);

/**
 * perfmon_region_configure() - sets from the program what a variable of the environment sets.
 * @name: the variable without PERFMON_, in any case: "events", "output", "format", "profile",
 *	"threads", "stride", "arm" and the others of perfmon-environment(7)
 * @value: the value, as the environment has it; NULL or "": as if it had not been set
 * @flags: must be 0
 * @message: gets one sentence that says what is wrong, or "" on success; may be NULL with
 *	@message_size 0
 * @message_size: its size in bytes; a longer sentence is cut
 *
 * Call it before the first region of the process. The environment wins: a variable that is
 * set there, and not empty, has its effect whatever the program says. The texts are copied.
 * Values are checked as those of the environment are, and one that has a note there is
 * refused here. Names of events, levels and formulas of metrics are looked up later: mistakes
 * in them are notes in the report. A forked child has its parent's settings. Allocates and
 * may enter the kernel; any thread, but no signal handler.
 *
 * Return: 0, or
 * -EINVAL: @name is NULL or no such variable, the value cannot be used, or @flags are
 *	not 0
 * -EBUSY: a region has been used, or perfmon_region_disarm() or its like has been
 *	called
 * -ENOMEM: out of memory
 */
int perfmon_region_configure(const char *name, const char *value, uint32_t flags,
			     char *message, size_t message_size);

/* A summary of what the calling thread has measured in one region, on all paths that end in
 * it. Grows at its end. With PERFMON_STRIDE all values but `entered` are of the measured
 * visits, and `visits` are those that the measured ones stand for. */
struct perfmon_region_summary {
	size_t size;	   /* in: sizeof(struct perfmon_region_summary) */
	uint32_t counters; /* how many counters the regions have */
	uint32_t reserved;
	uint64_t visits;  /* that have ended */
	uint64_t entered; /* visits that have begun */
	/* Inclusive wall time of the ended visits. A visit inside a visit of the same region
	 * (recursion) counts in the outer one only. */
	uint64_t time_ns;
};

/* The count of one counter in the region: an element of a vector. */
struct perfmon_region_count {
	uint64_t value;	 /* inclusive count of the ended visits, not scaled */
	uint32_t status; /* PERFMON_VALUE_ bits (perfmon/value.h) */
	uint32_t reserved;
};

/**
 * perfmon_region_read() - reads what the calling thread has measured in the region NAME.
 * @name: the region
 * @summary: gets the summary; the caller sets its size
 * @counts: gets the counts in the order of perfmon_region_counter(); may be NULL with
 *	@count 0. Elements behind the last counter are untouched
 * @count: the number of elements at @counts
 * @element_size: sizeof(counts[0])
 * @flags: must be 0
 *
 * A count with PERFMON_VALUE_MULTIPLEXED or PERFMON_VALUE_PARTIAL is a lower bound. An event of
 * packages is no thread's, and has PERFMON_VALUE_NEVER_OPENED. The call
 * makes no system call. It may allocate. @summary and @counts are untouched on failure.
 *
 * Return: 0, or
 * -EINVAL: @name or @summary is NULL, @counts is NULL with a @count, @flags are not 0, a size
 *	is below the first version's, or that of an element is twice this library's or more
 *	(perfmon/vector.h);
 * -E2BIG: @summary or an element is longer than this library's and not zero there;
 * -ENOENT: this thread has not visited a region of this name;
 * -EBUSY: the caller is a signal handler that interrupted a region call.
 */
int perfmon_region_read(const char *name, struct perfmon_region_summary *summary,
			struct perfmon_region_count *counts, size_t count,
			size_t element_size, uint32_t flags);

/**
 * perfmon_region_counter() - the name of counter I of the plan ("instructions:u").
 *
 * NULL if there is no such counter or no region has been used yet. The string lives as
 * long as the process. No system call, no allocation.
 */
const char *perfmon_region_counter(uint32_t i);

/*
 * The library's: calls FUNCTION, begin or end, for REGION. Nothing else in the program
 * changes for it than these registers, and memory.
 */
#if PERFMON_REGION_SITE_ == 1
/* The jump comes back to the address in rsi. A call would write into the red zone. */
#define PERFMON_REGION_CALL_FROM_(calls, function, region)                               \
	__asm__ __volatile__("{cmpl $0, %0|cmp %0, 0}\n\t"                               \
			     "je 1f\n\t"                                                 \
			     "{leaq %2, %%rdi|lea rdi, %2}\n\t"                          \
			     "{leaq 1f(%%rip), %%rsi|lea rsi, 1f[rip]}\n\t"              \
			     "{jmp *%1|jmp %1}\n"                                        \
			     "1:"                                                        \
			     :                                                           \
			     : "m"((calls).armed), "m"((calls).function), "m"(region)    \
			     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "cc",      \
			       "memory")
#define PERFMON_REGION_CALL_(function, region)                                           \
	PERFMON_REGION_CALL_FROM_(perfmon_region_calls, function, region)
#elif PERFMON_REGION_SITE_ == 2
/* A sanitizer adds a call to a load. The call must not come between the registers and the
 * statement. */
#define PERFMON_REGION_CALL_(function, region)                                           \
	do {                                                                             \
		if (__builtin_expect(__atomic_load_n(&perfmon_region_calls.armed,        \
						     __ATOMIC_RELAXED) != 0,             \
				     1)) {                                               \
			struct perfmon_region *perfmon_at_ = &(region);                  \
			void (*perfmon_to_)(struct perfmon_region *) = __atomic_load_n(  \
				&perfmon_region_calls.function, __ATOMIC_RELAXED);       \
			register struct perfmon_region *perfmon_object_ __asm__("x0") =  \
				perfmon_at_;                                             \
			register void (*perfmon_call_)(struct perfmon_region *) __asm__( \
				"x16") = perfmon_to_;                                    \
                                                                                         \
			__asm__ __volatile__(                                            \
				"blr %1"                                                 \
				: "+r"(perfmon_object_), "+r"(perfmon_call_)             \
				:                                                        \
				: "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x14", \
				  "x17", "x30", "cc", "memory");                         \
		}                                                                        \
	} while (0)
#else
/* The pointer is loaded once, since another thread may be disarming. The empty statement
 * keeps an END that is the last in its function from being a tail call: what the function
 * does at its end would count in the region. */
#define PERFMON_REGION_CALL_(function, region)                                           \
	do {                                                                             \
		void (*perfmon_call_)(struct perfmon_region *) = __atomic_load_n(        \
			&perfmon_region_##function##_armed, __ATOMIC_RELAXED);           \
                                                                                         \
		if (__builtin_expect(!!perfmon_call_, 1))                                \
			perfmon_call_(&(region));                                        \
		__asm__ __volatile__("");                                                \
	} while (0)
#endif

/* The library's: ends the region of a PERFMON_REGION_SCOPE. */
static inline __attribute__((always_inline)) void
perfmon_region_scope_end(struct perfmon_region **region)
{
	PERFMON_REGION_CALL_(end, **region);
}

#ifdef __cplusplus
}

/* The library's: a name that the macros take. A buffer that can change is none. */
constexpr const char *perfmon_region_name_(const char *name)
{
	return name;
}
const char *perfmon_region_name_(char *name) = delete;
constexpr bool perfmon_region_is_name_(const char *name)
{
	return name != nullptr;
}
#endif

/* Code of a GPU has no counters of ours. */
#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define PERFMON_REGION_BEGIN(name) ((void)0)
#define PERFMON_REGION_END(name)   ((void)0)
#define PERFMON_REGION_SCOPE(name) ((void)0)
#undef perfmon_region_begin
#undef perfmon_region_begin_name
#define perfmon_region_begin(region)	((void)(region))
#define perfmon_region_end(region)	((void)(region))
#define perfmon_region_begin_name(name) ((void)(name))
#define perfmon_region_end_name(name)	((void)(name))

#else

/*
 * Defines the object of one place in the code. It would keep the first of the names that
 * it meets, so a name known only at run time must not compile. Compilers that refuse one
 * show from which macro: its name is the hint.
 */
#ifdef __cplusplus
#define perfmon_region_begin_name_takes_names_known_at_run_time(region_name)             \
	static constexpr const char *perfmon_name_ = perfmon_region_name_(region_name);  \
	static_assert(perfmon_region_is_name_(perfmon_name_),                            \
		      "perfmon_region_begin_name() takes names known only at run time"); \
	static struct perfmon_region perfmon_region_ = PERFMON_REGION_INIT(perfmon_name_)
#else
/* C has no initialiser that refuses an array which can change: its address is constant. By
 * its type it is told from an array of const char, but not from a literal. */
#define perfmon_region_begin_name_takes_names_known_at_run_time(region_name)             \
	__extension__ _Static_assert(                                                    \
		!__builtin_types_compatible_p(__typeof__(1 ? (region_name) : 0),         \
					      char *) ||                                 \
			__builtin_constant_p(region_name) ||                             \
			__builtin_constant_p((region_name)[0]),                          \
		"perfmon_region_begin_name() takes names known only at run time");       \
	static struct perfmon_region perfmon_region_ = PERFMON_REGION_INIT(region_name)
#endif

/**
 * PERFMON_REGION_BEGIN() - begins a visit of the region NAME, a string literal or another
 * constant string (in C: an array of const char); perfmon_region_begin_name() takes all
 * others, which do not compile.
 *
 * PERFMON_REGION_END() - ends it. It may stand in another function than the BEGIN.
 *
 * In device code of CUDA and HIP they are empty.
 */
#define PERFMON_REGION_BEGIN(name)                                                       \
	do {                                                                             \
		perfmon_region_begin_name_takes_names_known_at_run_time(name);           \
		PERFMON_REGION_CALL_(begin, perfmon_region_);                            \
	} while (0)
#define PERFMON_REGION_END(name)                                                         \
	do {                                                                             \
		perfmon_region_begin_name_takes_names_known_at_run_time(name);           \
		PERFMON_REGION_CALL_(end, perfmon_region_);                              \
	} while (0)

#define PERFMON_REGION_PASTE_2_(a, b) a##b
#define PERFMON_REGION_PASTE_(a, b)   PERFMON_REGION_PASTE_2_(a, b)

/**
 * PERFMON_REGION_SCOPE() - a visit of the region NAME from here to the end of the block,
 * however the block is left: by its end, return, break, goto or a C++ exception (in C
 * code, one that passes through needs -fexceptions). A declaration: it ends in a
 * semicolon and cannot be the body of an unbraced if.
 *
 * The object stands in a block of its own: its linker name, in C++ functions that are
 * compiled more than once, must not hold the counter's value, which differs there.
 */
#define PERFMON_REGION_SCOPE(name)                                                       \
	__attribute__((cleanup(perfmon_region_scope_end),                                \
		       unused)) struct perfmon_region *                                  \
	PERFMON_REGION_PASTE_(perfmon_scope_, __COUNTER__) = __extension__({             \
		perfmon_region_begin_name_takes_names_known_at_run_time(name);           \
		PERFMON_REGION_CALL_(begin, perfmon_region_);                            \
		&perfmon_region_;                                                        \
	})

#endif /* PERFMON_DISABLE, code of a GPU */

#endif
