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

#ifdef __cplusplus
}
#endif

#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

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

#endif

/**
 * PERFMON_REGION_ADD() - adds VALUE to the quantity NAME, in UNIT ("" for none): string literals.
 * PERFMON_REGION_MAXIMUM() - raises it to VALUE, if that is more.
 * PERFMON_REGION_LAST() - sets it to VALUE.
 *
 * VALUE is evaluated once, also while regions are disarmed.
 */
#define PERFMON_REGION_ADD(name, unit, value)                                            \
	PERFMON_QUANTITY_CALL_(perfmon_region_add, name, unit, value)
#define PERFMON_REGION_MAXIMUM(name, unit, value)                                        \
	PERFMON_QUANTITY_CALL_(perfmon_region_maximum, name, unit, value)
#define PERFMON_REGION_LAST(name, unit, value)                                           \
	PERFMON_QUANTITY_CALL_(perfmon_region_last, name, unit, value)

#endif
