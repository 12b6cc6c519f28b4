/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quantities: what a program says about the work of its regions, such as bytes moved, operations,
 * or elements.
 *
 *	PERFMON_REGION_BEGIN("triad");
 *	for (size_t i = 0; i < n; i++)
 *		a[i] = b[i] + s * c[i];
 *	PERFMON_REGION_ADD("bytes", "B", 3 * n * sizeof(double));
 *	PERFMON_REGION_ADD("flops", "", 2 * n);
 *	PERFMON_REGION_END("triad");
 *
 * A quantity belongs to the innermost open visit of the thread, or to the path that it has adopted
 * (perfmon/team.h). Reports have a column for it, as for an event, and formulas of metrics take its
 * name: those named "bytes" and "flops" give GB/s, GFLOP/s and FLOP/B without a formula. Inclusive
 * sums have what nested regions said; a region where nothing was said, in it or below it, has no
 * value. Values are whole numbers: for smaller ones choose a smaller unit. A report shows 32 quantities at
 * most.
 *
 * Outside of regions a value is lost, and a note of the report says so; while regions are disarmed it
 * is ignored. With PERFMON_STRIDE values of all visits count, also of those that are not measured.
 * None of the calls fails, and none touches errno. Any thread, also signal handlers: in one that
 * interrupted a region call the value is counted as a lost visit. Warm, they take no lock, allocate
 * nothing and do not enter the kernel; the first one of a path may. With -DPERFMON_DISABLE they
 * compile to nothing.
 */
#ifndef PERFMON_QUANTITY_H
#define PERFMON_QUANTITY_H

#include <perfmon/region.h>
#include <stdint.h>

/* Nothing is added, or in code of a GPU. */
#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PERFMON_QUANTITY_NONE_ 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How the values of a quantity are put together: those of a visit, of several visits, and of
 * several threads. */
enum perfmon_quantity_kind {
	PERFMON_QUANTITY_KIND_SUM,
	PERFMON_QUANTITY_KIND_MAXIMUM, /* the largest */
	PERFMON_QUANTITY_KIND_LAST /* the last one of a thread's path; of several the largest */
};

/**
 * struct perfmon_quantity - what a place in the code knows of its quantity.
 *
 * Initialise it with PERFMON_QUANTITY_INIT(name, unit), where both are strings that live as long as
 * the object; "" is no unit. A unit may have a prefix: values in "kB" are shown as such. Name and unit
 * together have at most 1,000 bytes. One object may be shared by threads and places; objects of equal
 * name and unit are the same quantity.
 */
struct perfmon_quantity {
	uint64_t key; /* the library's */
	const char *name;
	const char *unit;
};

#ifdef __cplusplus
#define PERFMON_QUANTITY_INIT(quantity_name, quantity_unit)                              \
	{                                                                                \
		0, quantity_name, quantity_unit                                          \
	}
#else
#define PERFMON_QUANTITY_INIT(quantity_name, quantity_unit)                              \
	{                                                                                \
		.key = 0, .name = quantity_name, .unit = quantity_unit                   \
	}
#endif

/**
 * perfmon_region_add() - adds VALUE to QUANTITY in the innermost open visit of the calling thread.
 * perfmon_region_maximum() - raises it to VALUE, if that is more.
 * perfmon_region_last() - sets it to VALUE.
 *
 * They are different columns, also with the same QUANTITY. One that is NULL, or has no name, is
 * ignored.
 */
void perfmon_region_add(struct perfmon_quantity *quantity, uint64_t value);
void perfmon_region_maximum(struct perfmon_quantity *quantity, uint64_t value);
void perfmon_region_last(struct perfmon_quantity *quantity, uint64_t value);

/**
 * perfmon_region_quantity_name() - the same for a name known only at run time, and for other
 * languages. Looks the name up at each call.
 * @kind: enum perfmon_quantity_kind; others are ignored
 * @unit: NULL is no unit
 */
void perfmon_region_quantity_name(const char *name, const char *unit, uint32_t kind,
				  uint64_t value);

#ifndef PERFMON_QUANTITY_NONE_
/*
 * The library's: the part of a thread's state that PERFMON_REGION_ADD uses, and an entry of its
 * table of paths. This is layout 1. A library with another layout exports its threads under
 * another name, and keeps this name for a thread that never opens: then the macro calls the
 * library, as it does wherever it does not find the value at once. Not for programs.
 *
 *	field		writer			order
 *	top		its thread		0 while a call works on the thread: a signal handler
 *						finds it closed. One aligned word
 *	entries, shift	its thread		while the thread is closed
 *	path		its thread; any other	one aligned word. From a disarm until the thread
 *			one that disarms	knows of it, what is there is the key of no path
 */
struct perfmon_quantity_thread {
	char *top; /* behind the innermost visit; NULL: closed */
	void *reserved_1;
	uint64_t reserved_2;
	const struct perfmon_quantity_entry *entries;
	uint64_t shift; /* 64 less the logarithm of their number */
	uint32_t reserved_3[7];
	void *reserved_4[3];
	uint64_t reserved_5;
	uint32_t reserved_6;
	int32_t path; /* where the key of the innermost path is, from top */
};
struct perfmon_quantity_entry {
	uint64_t key; /* the path's and the quantity's */
	char *node;
	uint64_t reserved_1;
	uint32_t reserved_2[2];
};
extern __thread struct perfmon_quantity_thread *perfmon_quantity_thread_one
	__attribute__((tls_model("initial-exec")));

/* Where a node has the value of its quantity. */
#define PERFMON_QUANTITY_VALUE_ 16

typedef uint64_t __attribute__((may_alias)) perfmon_quantity_word_;

/* Load or store one word once, in program order. ThreadSanitizer needs an atomic. */
#if defined(__SANITIZE_THREAD__)
#define PERFMON_QUANTITY_ATOMIC_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PERFMON_QUANTITY_ATOMIC_ 1
#endif
#endif
#ifdef PERFMON_QUANTITY_ATOMIC_
#define PERFMON_QUANTITY_GET_(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define PERFMON_QUANTITY_PUT_(field, value)                                              \
	__atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#else
#define PERFMON_QUANTITY_GET_(field)                                                     \
	__extension__({                                                                  \
		const volatile __typeof__(field) *perfmon_at_ = &(field);                \
		*perfmon_at_;                                                            \
	})
#define PERFMON_QUANTITY_PUT_(field, value)                                              \
	do {                                                                             \
		volatile __typeof__(field) *perfmon_to_ = &(field);                      \
		*perfmon_to_ = (value);                                                  \
	} while (0)
#endif

/* Closes THREAD, and returns where the innermost visit has the quantity with KEY. *TOP gets what
 * opens the thread again. Returns NULL, with nothing changed, if that is not found at once. */
static inline __attribute__((always_inline)) perfmon_quantity_word_ *
perfmon_quantity_open_(struct perfmon_quantity_thread *thread, uint64_t key, char **top)
{
	char *open = PERFMON_QUANTITY_GET_(thread->top);
	const struct perfmon_quantity_entry *entry;
	void *at;

	if (__builtin_expect(!open, 0))
		return NULL;
	at = open + PERFMON_QUANTITY_GET_(thread->path);
	PERFMON_QUANTITY_PUT_(thread->top, NULL);
	/* A signal handler that comes before this may replace the table. */
	__asm__ __volatile__("" : "+m"(thread->entries), "+m"(thread->shift));
#ifdef __cplusplus
	key += *static_cast<perfmon_quantity_word_ *>(at);
#else
	key += *(perfmon_quantity_word_ *)at;
#endif
	entry = thread->entries + (key >> thread->shift);
	__asm__("" : "+r"(entry)); /* one address for both fields */
	if (__builtin_expect(entry->key != key, 0)) {
		PERFMON_QUANTITY_PUT_(thread->top, open);
		return NULL;
	}
	*top = open;
	at = entry->node + PERFMON_QUANTITY_VALUE_;
#ifdef __cplusplus
	return static_cast<perfmon_quantity_word_ *>(at);
#else
	return at;
#endif
}

/* Adds to a value that only the calling thread writes. */
static inline __attribute__((always_inline)) void
perfmon_quantity_sum_(perfmon_quantity_word_ *at, uint64_t value)
{
#if defined(__x86_64__) && !defined(PERFMON_QUANTITY_ATOMIC_)
	/* gcc does not add in memory to what is volatile. */
	__asm__ __volatile__("{addq %1, %0|add %0, %1}" : "+m"(*at) : "er"(value) : "cc");
#else
	PERFMON_QUANTITY_PUT_(*at, PERFMON_QUANTITY_GET_(*at) + value);
#endif
}
#endif /* PERFMON_QUANTITY_NONE_ */

#ifdef __cplusplus
}
#endif

#ifdef PERFMON_QUANTITY_NONE_

#define PERFMON_QUANTITY_CALL_(function, name, unit, value) ((void)(value))
#define perfmon_region_add(quantity, value)		    ((void)(quantity), (void)(value))
#define perfmon_region_maximum(quantity, value)		    ((void)(quantity), (void)(value))
#define perfmon_region_last(quantity, value)		    ((void)(quantity), (void)(value))
#define perfmon_region_quantity_name(name, unit, kind, value)                            \
	((void)(name), (void)(unit), (void)(kind), (void)(value))

#else

/* The names of C++ are constant expressions. In C the static object refuses what is not constant. */
#ifdef __cplusplus
#define PERFMON_QUANTITY_OBJECT_(name, unit)                                             \
	static constexpr const char *perfmon_name_ = perfmon_region_name_(name);         \
	static constexpr const char *perfmon_unit_ = perfmon_region_name_(unit);         \
	static struct perfmon_quantity perfmon_quantity_ =                               \
		PERFMON_QUANTITY_INIT(perfmon_name_, perfmon_unit_)
#else
#define PERFMON_QUANTITY_OBJECT_(name, unit)                                             \
	static struct perfmon_quantity perfmon_quantity_ =                               \
		PERFMON_QUANTITY_INIT(name, unit)
#endif
#define PERFMON_QUANTITY_CALL_(function, name, unit, value)                              \
	do {                                                                             \
		PERFMON_QUANTITY_OBJECT_(name, unit);                                    \
		function(&perfmon_quantity_, value);                                     \
	} while (0)

#if PERFMON_REGION_SITE_
/* The library's: perfmon_region_add(), with what it does mostly compiled in. */
static inline __attribute__((always_inline)) void
perfmon_region_add_inline_(struct perfmon_quantity *quantity, uint64_t value)
{
	struct perfmon_quantity_thread *thread = perfmon_quantity_thread_one;
	perfmon_quantity_word_ *at;
	char *top;

	at = perfmon_quantity_open_(thread, PERFMON_QUANTITY_GET_(quantity->key), &top);
	if (__builtin_expect(!at, 0)) {
		perfmon_region_add(quantity, value);
		return;
	}
	perfmon_quantity_sum_(at, value);
	PERFMON_QUANTITY_PUT_(thread->top, top);
}
#else
#define perfmon_region_add_inline_ perfmon_region_add
#endif

#endif

/**
 * PERFMON_REGION_ADD() - adds VALUE to the quantity NAME, in UNIT ("" for none): string literals.
 * PERFMON_REGION_MAXIMUM() - raises it to VALUE, if that is more.
 * PERFMON_REGION_LAST() - sets it to VALUE.
 *
 * VALUE is evaluated once, also while regions are disarmed.
 */
#define PERFMON_REGION_ADD(name, unit, value)                                            \
	PERFMON_QUANTITY_CALL_(perfmon_region_add_inline_, name, unit, value)
#define PERFMON_REGION_MAXIMUM(name, unit, value)                                        \
	PERFMON_QUANTITY_CALL_(perfmon_region_maximum, name, unit, value)
#define PERFMON_REGION_LAST(name, unit, value)                                           \
	PERFMON_QUANTITY_CALL_(perfmon_region_last, name, unit, value)

#endif
