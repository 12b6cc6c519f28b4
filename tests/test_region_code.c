/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon_region_code(): where the code of a region is, as its profile says. */
#include "region_probe.h"
#include "kernel_calls.h"

#include <errno.h>

#include "perfmon/region.h"

TestSuite(region_code, .init = probe_quiet, .timeout = 60);

#define BUILD_ID "00ff1234"

static struct perfmon_region *region_called(const char *name)
{
	static struct perfmon_region regions[8];
	static int count;

	regions[count] = (struct perfmon_region)PERFMON_REGION_INIT(name);
	return &regions[count++];
}

/* Returns what SNAPSHOT says of the region NAME, or NULL. */
static const struct pm_snapshot_code *code_in(const struct pm_snapshot *s,
					      const char *name)
{
	for (uint32_t id = 1; s->codes && id <= s->region_count; id++)
		if (!strcmp(s->regions[id], name))
			return s->codes[id];
	return NULL;
}

static bool is_code(const struct pm_snapshot *s, const char *name, const char *path,
		    const char *build_id, uint64_t offset)
{
	const struct pm_snapshot_code *code = code_in(s, name);

	return code && !strcmp(code->path, path) && !strcmp(code->build_id, build_id) &&
	       code->offset == offset;
}

Test(region_code, a_profile_has_it)
{
	char path[PERFMON_PROFILE_PATH_MAX + 1], build[PERFMON_PROFILE_BUILD_ID_MAX + 1];
	struct pm_snapshot *s;

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memset(build, 'b', sizeof(build) - 1);
	build[sizeof(build) - 1] = '\0';
	cr_assert_eq(perfmon_region_code(region_called("before its first visit"),
					 "/bin/p", BUILD_ID, 0x1234),
		     0);
	PERFMON_REGION_BEGIN("visited");
	cr_assert_eq(perfmon_region_code(region_called("visited"), "/bin/p", NULL, 1), 0);
	PERFMON_REGION_END("visited");
	cr_assert_eq(perfmon_region_code(region_called("no build id"), "/bin/p", "",
					 UINT64_MAX),
		     0);
	cr_assert_eq(perfmon_region_code(region_called("the longest"), path, build, 2),
		     0);
	/* The texts are copied. */
	path[0] = build[0] = '0';
	s = probe_take();
	cr_assert(is_code(s, "before its first visit", "/bin/p", BUILD_ID, 0x1234));
	cr_assert(is_code(s, "visited", "/bin/p", "", 1));
	cr_assert(is_code(s, "no build id", "/bin/p", "", UINT64_MAX));
	path[0] = 'p';
	build[0] = 'b';
	cr_assert(is_code(s, "the longest", path, build, 2));
	pm_snapshot_free(s);
}

Test(region_code, what_says_nothing_is_refused)
{
	char path[PERFMON_PROFILE_PATH_MAX + 2], build[PERFMON_PROFILE_BUILD_ID_MAX + 2];
	struct perfmon_region *region = region_called("refused");
	struct pm_snapshot *s;

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memset(build, 'b', sizeof(build) - 1);
	build[sizeof(build) - 1] = '\0';
	cr_expect_eq(perfmon_region_code(NULL, "/bin/p", BUILD_ID, 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region_called(NULL), "/bin/p", BUILD_ID, 0),
		     -EINVAL);
	cr_expect_eq(perfmon_region_code(region, NULL, BUILD_ID, 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region, "", BUILD_ID, 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region, path, BUILD_ID, 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region, "/bin/p", build, 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region, "/bin/p", "00FF", 0), -EINVAL);
	cr_expect_eq(perfmon_region_code(region, "/bin/p", "0x1", 0), -EINVAL);
	cr_expect_eq(region->key, 0, "it is not even a region yet");
	PERFMON_REGION_BEGIN("refused");
	PERFMON_REGION_END("refused");
	s = probe_take();
	cr_expect_null(code_in(s, "refused"));
	pm_snapshot_free(s);
}

/* It is the same region wherever an object of this name is. */
Test(region_code, a_region_of_several_places_has_none)
{
	struct perfmon_region *one = region_called("two"), *other = region_called("two");
	struct pm_snapshot *s;

	cr_assert_eq(perfmon_region_code(one, "/bin/p", BUILD_ID, 1), 0);
	cr_assert_eq(perfmon_region_code(one, "/bin/p", BUILD_ID, 1), 0);
	s = probe_take();
	cr_assert(is_code(s, "two", "/bin/p", BUILD_ID, 1));
	pm_snapshot_free(s);
	cr_assert_eq(perfmon_region_code(other, "/bin/p", BUILD_ID, 2), 0);
	s = probe_take();
	cr_assert(is_code(s, "two", "", "", 0));
	pm_snapshot_free(s);
	/* And so it stays. */
	cr_assert_eq(perfmon_region_code(one, "/bin/p", BUILD_ID, 1), 0);
	s = probe_take();
	cr_assert(is_code(s, "two", "", "", 0));
	pm_snapshot_free(s);
}

Test(region_code, places_differ_by_file_and_by_build_id)
{
	struct perfmon_region *files = region_called("files"),
			      *builds = region_called("builds");
	struct pm_snapshot *s;

	cr_assert_eq(perfmon_region_code(files, "/bin/p", BUILD_ID, 1), 0);
	cr_assert_eq(perfmon_region_code(files, "/bin/q", BUILD_ID, 1), 0);
	cr_assert_eq(perfmon_region_code(builds, "/bin/p", BUILD_ID, 1), 0);
	cr_assert_eq(perfmon_region_code(builds, "/bin/p", "", 1), 0);
	s = probe_take();
	cr_assert(is_code(s, "files", "", "", 0));
	cr_assert(is_code(s, "builds", "", "", 0));
	pm_snapshot_free(s);
}

Test(region_code, of_a_region_that_is_left_out_nothing_is_kept)
{
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "skipped", 1);
	PERFMON_REGION_BEGIN("kept");
	cr_assert_eq(perfmon_region_code(region_called("skipped"), "/bin/p", "", 1), 0);
	PERFMON_REGION_END("kept");
	s = probe_take();
	cr_assert_null(code_in(s, "skipped"));
	cr_assert_null(s->codes);
	pm_snapshot_free(s);
}

/* --- without memory, and without regions ---------------------------------------------- */

/* Says a place whose path is as long as may be. */
static int fill_one(struct perfmon_region *region, uint64_t offset)
{
	char path[PERFMON_PROFILE_PATH_MAX + 1];

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	return perfmon_region_code(region, path, BUILD_ID, offset);
}

/* Says places of new regions until that fails. Returns the number of the one that failed. */
static int fill(int *err)
{
	struct perfmon_region region;
	char name[32];
	int i = 0;

	do {
		snprintf(name, sizeof(name), "number %d", ++i);
		region = (struct perfmon_region)PERFMON_REGION_INIT(name);
		*err = fill_one(&region, (uint64_t)i);
	} while (!*err && i < 10000);
	return i;
}

Test(region_code, without_memory)
{
	struct perfmon_region region;
	struct pm_snapshot *s;
	char name[32];
	int err, at;

	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	fail_calls(PM_CALL_MMAP, -ENOMEM, 0);
	at = fill(&err);
	unwatch_calls();
	cr_assert_eq(err, -ENOMEM, "number %d: %d", at, err);
	snprintf(name, sizeof(name), "number %d", at);
	region = (struct perfmon_region)PERFMON_REGION_INIT(name);
	cr_assert_eq(perfmon_region_code(&region, "/bin/p", BUILD_ID, 7), 0);
	PERFMON_REGION_BEGIN("last");
	PERFMON_REGION_END("last");
	s = probe_take();
	cr_assert(is_code(s, name, "/bin/p", BUILD_ID, 7), "what failed left nothing");
	cr_assert_not_null(code_in(s, "number 1"));
	pm_snapshot_free(s);
}

/* The profile's file cannot grow, and there is no other memory for the rest of it. */
static int full(enum pm_kernel_call call)
{
	static bool was_file;
	bool is_rest = call == PM_CALL_MMAP && was_file;

	was_file = call == PM_CALL_FALLOCATE || (was_file && call != PM_CALL_MMAP);
	return call == PM_CALL_FALLOCATE ? -ENOSPC : is_rest ? -ENOMEM : 0;
}

Test(region_code, without_room_in_the_profile)
{
	struct perfmon_region region;
	struct pm_snapshot *s;
	char name[32];
	int err, at;

	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	pm_kernel_fault = full;
	at = fill(&err);
	pm_kernel_fault = NULL;
	cr_assert_eq(err, -ENOMEM, "number %d: %d", at, err);
	snprintf(name, sizeof(name), "number %d", at);
	region = (struct perfmon_region)PERFMON_REGION_INIT(name);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(fill_one(&region, (uint64_t)at), -ENOMEM,
			     "what is not in the profile is not said to be there");
	s = probe_take();
	cr_assert_null(code_in(s, name));
	cr_assert_not_null(code_in(s, "number 1"));
	pm_snapshot_free(s);
}

static int visits_a_region(enum pm_kernel_call call)
{
	if (call != PM_CALL_OPEN)
		return 0;
	PERFMON_REGION_BEGIN("of a library");
	PERFMON_REGION_END("of a library");
	return 0;
}

/* As a library of the program does that the set-up calls, such as one that replaces malloc. */
Test(region_code, its_set_up_may_visit_regions)
{
	struct perfmon_region *region = region_called("first");

	errno = ENOTTY;
	pm_kernel_fault = visits_a_region;
	cr_assert_eq(perfmon_region_code(region, "/bin/p", BUILD_ID, 1), 0);
	unwatch_calls();
	cr_assert_eq(errno, ENOTTY);
}

Test(region_code, where_no_regions_can_be_counted)
{
	struct perfmon_region *region = region_called("none");

	fail_calls(PM_CALL_MMAP, -ENOMEM, 0);
	cr_assert_lt(perfmon_region_code(region, "/bin/p", BUILD_ID, 1), 0);
	unwatch_calls();
	cr_assert_eq(perfmon_region_code(region, "/bin/p", BUILD_ID, 1), -EPERM);
}

/* --- fork(2) --------------------------------------------------------------------------- */

static int child_says_more(void)
{
	struct pm_snapshot *s;

	CHILD_CHECK(!perfmon_region_code(region_called("child's"), "/bin/c", "", 3));
	CHILD_CHECK(!perfmon_region_code(region_called("both"), "/bin/p", BUILD_ID, 2));
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(is_code(s, "parent's", "/bin/p", BUILD_ID, 1));
	CHILD_CHECK(is_code(s, "child's", "/bin/c", "", 3));
	CHILD_CHECK(is_code(s, "both", "", "", 0));
	pm_snapshot_free(s);
	return 0;
}

Test(region_code, a_child_knows_what_its_parent_said)
{
	struct pm_snapshot *s;

	cr_assert_eq(
		perfmon_region_code(region_called("parent's"), "/bin/p", BUILD_ID, 1), 0);
	cr_assert_eq(perfmon_region_code(region_called("both"), "/bin/p", BUILD_ID, 1),
		     0);
	cr_assert_eq(probe_child(child_says_more), 0);
	s = probe_take();
	cr_assert_null(code_in(s, "child's"));
	cr_assert(is_code(s, "both", "/bin/p", BUILD_ID, 1));
	pm_snapshot_free(s);
}

static int child_is_refused(void)
{
	CHILD_CHECK(perfmon_region_code(region_called("refused"), "/bin/p", "", 1) ==
		    -EPERM);
	return 0;
}

/* It is not in every libc. */
extern pid_t _Fork(void) __attribute__((weak));

/* A child that no fork handler has seen. */
Test(region_code, a_child_that_counts_nothing_is_refused)
{
	int status;
	pid_t pid;

	if (!_Fork)
		cr_skip_test("this libc has no _Fork()");
	cr_assert_eq(perfmon_region_code(region_called("parent's"), "/bin/p", "", 1), 0);
	pid = _Fork();
	if (!pid)
		_exit(child_is_refused());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}
