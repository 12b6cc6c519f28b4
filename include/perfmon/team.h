/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Teams: regions that follow the work to other threads. A thread takes a token of its path, the
 * regions that it is in. Another thread adopts the token. What that thread begins then stands below
 * this path, until it leaves:
 *
 *	PERFMON_REGION_BEGIN("solve");
 *	perfmon_region_token(&token);
 *		... in each worker:
 *		perfmon_region_adopt(&token);
 *		PERFMON_REGION_BEGIN("part");
 *		PERFMON_REGION_END("part");
 *		perfmon_region_leave();
 *	PERFMON_REGION_END("solve");
 *
 * Reports put the counts and times of "part" in all threads below "solve". The inclusive values of
 * "solve" are what the main thread and its team did, and exclusive values add up to the total.
 *
 * Adoptions nest. What a thread does between an adoption and its end belongs to the adopted path, and
 * to the visits of the thread that this path goes through, but to none of its other visits.
 *
 * All calls: any thread, but no signal handler. A jump out of an adoption, such as longjmp(3), must be
 * followed by the calls that were jumped over: the thread stays in the adopted path until then.
 * Where a thread has no visit open, the second adoption of a path neither allocates nor enters the
 * kernel. With visits open an adoption takes a lock, and counters are read at both ends. With
 * -DPERFMON_DISABLE the calls and the macro compile to nothing, and return 0.
 */
#ifndef PERFMON_TEAM_H
#define PERFMON_TEAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A path of this process. It may be copied, and needs no end: it is valid as long as the process
 * lives. 0 is no path. */
struct perfmon_token {
	uint64_t path;
};

/**
 * perfmon_region_token() - sets TOKEN to the path of the calling thread: its innermost open visit,
 * or the adopted path that it is in, or the thread itself. A thread that has used no region is in
 * no path: TOKEN is 0, and nothing is prepared for regions.
 *
 * Return: 0, also while regions are disarmed, or, with TOKEN 0,
 * -EINVAL: TOKEN is NULL
 * -EOVERFLOW: visits are nested too deep
 * -ENOMEM: out of memory
 * -EBUSY: the call is in a signal handler that interrupted a region call
 */
int perfmon_region_token(struct perfmon_token *token);

/**
 * perfmon_region_adopt() - lets the calling thread continue below the path of TOKEN, until
 * perfmon_region_leave(). Adopting no path continues at the top.
 *
 * Return: 0, also while regions are disarmed, or, with nothing changed,
 * -EINVAL: TOKEN is NULL, or no token of perfmon_region_token()
 * -ESTALE: TOKEN is of another process, such as the parent before fork(2)
 * -EOVERFLOW: visits are nested too deep
 * -ENOMEM: out of memory
 * -EBUSY: the call is in a signal handler that interrupted a region call, or the thread cannot be
 *	prepared for regions
 */
int perfmon_region_adopt(const struct perfmon_token *token);

/**
 * perfmon_region_leave() - ends the innermost adoption. The thread is where it was before. Visits
 * that it has begun since, and not ended, end here, and are reported as ended by another END.
 *
 * Return: 0, or
 * -ENOENT: the thread has adopted nothing; counted as an END without a BEGIN, unless regions are
 *	disarmed, when it is 0
 * -EBUSY: the call is in a signal handler that interrupted a region call
 */
int perfmon_region_leave(void);

/**
 * perfmon_region_end_innermost() - ends the innermost open visit of the calling thread, whatever its
 * name, as perfmon_region_end_name() does by name.
 *
 * Return: 0, also while regions are disarmed, or
 * -ENOENT: no visit is open, or none since the innermost adoption; counted as an END without a
 *	BEGIN
 */
int perfmon_region_end_innermost(void);

/* The library's: ends a PERFMON_TEAM_SCOPE. */
static inline void perfmon_team_scope_end_(const int *adopted)
{
	if (!*adopted)
		perfmon_region_leave();
}

#define PERFMON_TEAM_PASTE_2_(a, b) a##b
#define PERFMON_TEAM_PASTE_(a, b)   PERFMON_TEAM_PASTE_2_(a, b)

/**
 * PERFMON_TEAM_SCOPE() - adopts the path of *TOKEN until the end of the enclosing block, also by
 * return, break, or a C++ exception. A declaration.
 */
#define PERFMON_TEAM_SCOPE(token)                                                        \
	__attribute__((cleanup(perfmon_team_scope_end_), unused)) const int              \
	PERFMON_TEAM_PASTE_(perfmon_team_, __COUNTER__) = perfmon_region_adopt(token)

/* The library's: the calls where regions are compiled to nothing. */
static inline __attribute__((always_inline)) int
perfmon_team_no_token_(struct perfmon_token *token)
{
	if (token)
		token->path = 0;
	return 0;
}
static inline __attribute__((always_inline)) int
perfmon_team_nothing_(const struct perfmon_token *token)
{
	(void)token;
	return 0;
}

#ifdef __cplusplus
}
#endif

#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define perfmon_region_token(token)    perfmon_team_no_token_(token)
#define perfmon_region_adopt(token)    perfmon_team_nothing_(token)
#define perfmon_region_leave()	       perfmon_team_nothing_(0)
#define perfmon_region_end_innermost() perfmon_team_nothing_(0)
#undef PERFMON_TEAM_SCOPE
#define PERFMON_TEAM_SCOPE(token) ((void)(token))
#endif

#endif
