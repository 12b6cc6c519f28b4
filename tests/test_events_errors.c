/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong is refused, with a sentence that says what and where; and no text,
 * however broken, makes the parser crash, hang or leak. */
#include "events_dump.h"
#include "tree.h"
#include "core/kernel/kernel.h"

static void machine(void)
{
	tree_unpack("server");
}

TestSuite(events_errors, .init = machine, .fini = tree_remove);

struct error_case {
	const char *text;
	int error;
	const char *parts[3]; /* what the sentence must contain */
};

static void check(const struct error_case *c)
{
	struct pm_event_list *list = (struct pm_event_list *)&list;
	struct pm_diag diag = {0};
	int err = pm_events_parse(c->text, 0, &list, &diag);

	cr_expect_eq(err, c->error, "'%s' gave %d, not %d: %s", c->text, err, c->error,
		     diag.text);
	cr_expect_eq(diag.error, c->error);
	cr_expect_eq((void *)list, (void *)&list, "'%s' touched the result", c->text);
	for (size_t i = 0; i < 3 && c->parts[i]; i++)
		cr_expect(strstr(diag.text, c->parts[i]), "'%s': '%s' lacks '%s'",
			  c->text, diag.text, c->parts[i]);
	cr_expect(!strchr(diag.text, '\n'));
	/* a sentence is not obligatory */
	cr_expect_eq(pm_events_parse(c->text, 0, &list, NULL), c->error);
}

static void check_all(const struct error_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&cases[i]);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(cases[0]))

Test(events_errors, a_misspelt_name_is_answered_with_the_nearest)
{
	static const struct error_case cases[] = {
		{"cycles,instrctions",
		 -EINVAL,
		 {"unknown event 'instrctions' at character 8 of 'cycles,instrctions'",
		  "did you mean 'instructions'?"}},
		{"cycless", -EINVAL, {"unknown event 'cycless'"}},
		{"cs2", -EINVAL, {"unknown event 'cs2'"}},
		{"cpu/event2=1/", -EINVAL, {"no term or event 'event2'"}},
		{"cpu2/event=1/", -ENOENT, {"no PMU 'cpu2'"}},
		{"cyclse", -EINVAL, {"unknown event 'cyclse': did you mean 'cycles'?"}},
		{"brunch-misses:u", -EINVAL, {"did you mean 'branch-misses'?"}},
		{"L1-dcash-load-misses",
		 -EINVAL,
		 {"did you mean 'L1-dcache-load-misses'?"}},
		{"context-swiches", -EINVAL, {"did you mean 'context-switches'?"}},
		/* names that only sysfs has: bare on the core PMU, with the PMU
		 * elsewhere */
		{"el-abrt", -EINVAL, {"did you mean 'el-abort'?"}},
		{"energy-pgk", -EINVAL, {"did you mean 'power/energy-pkg/'?"}},
		{"energy-pkg", -EINVAL, {"did you mean 'power/energy-pkg/'?"}},
		{"iTLB-stores", -EINVAL, {"unknown event 'iTLB-stores'"}},
		{"LLC-loads-misses-refs", -EINVAL, {"unknown event"}},
		{"LLC-", -EINVAL, {"unknown event"}},
		{"somethingelsealtogether", -EINVAL, {"have no similar name"}},
		{"power/energy-pgk/", -EINVAL, {"did you mean 'energy-pkg'?"}},
		{"cpu/evnt=1/",
		 -EINVAL,
		 {"'cpu' has no term or event 'evnt'", "did you mean 'event'?", "umask"}},
		{"pwer/energy-pkg/",
		 -ENOENT,
		 {"this machine has no PMU 'pwer'", "did you mean 'power'?"}},
		{"gpu_7/x/", -ENOENT, {"it has breakpoint, cpu, msr, power, software"}},
		{"sched:sched_swich",
		 -EINVAL,
		 {"no tracepoint 'sched_swich' in 'sched'",
		  "did you mean 'sched_switch'?"}},
		{"shed:sched_switch", -EINVAL, {"unknown event 'shed'"}},
	};

	CHECK_ALL(cases);
}

Test(events_errors, syntax)
{
	static const struct error_case cases[] = {
		{"", -EINVAL, {"empty"}},
		{" \t\n", -EINVAL, {"empty"}},
		{",", -EINVAL, {"an event is missing at character 1"}},
		{"cycles,", -EINVAL, {"an event is missing at the end"}},
		{"cycles,,cs", -EINVAL, {"an event is missing at character 8"}},
		{"cycles;", -EINVAL, {"an event is missing"}},
		{";cycles", -EINVAL, {"an event is missing at character 1"}},
		{"{}", -EINVAL, {"an event is missing at character 2"}},
		{"{cycles", -EINVAL, {"'{' without its '}' at character 1"}},
		{"cs,{cycles;cs}", -EINVAL, {"'{' without its '}' at character 4"}},
		{"{cycles,{cs}}", -EINVAL, {"'{' inside a group at character 9"}},
		{"cycles}", -EINVAL, {"'}' without its '{' at character 7"}},
		{"{cycles}}", -EINVAL, {"'}' without its '{' at character 9"}},
		{"cycles{cs}", -EINVAL, {"a ',' is missing before the '{'"}},
		{"{cs}{cs}", -EINVAL, {"a ',' is missing before the '{'"}},
		{"cpu/event=1", -EINVAL, {"'/' without the closing '/' at character 4"}},
		{"cs,cpu/event=1;cs",
		 -EINVAL,
		 {"'/' without the closing '/' at character 7"}},
		{"cpu//", -EINVAL, {"is not an event of the PMU"}},
		{"cpu/event=1,/", -EINVAL, {"an empty term"}},
		{"cpu/event=/", -EINVAL, {"an empty term"}},
		{"cpu/=1/", -EINVAL, {"an empty term"}},
		{"/event=1/", -ENOENT, {"no PMU ''"}},
		{"cycles cs",
		 -EINVAL,
		 {"a space or a character not allowed in event names", "character 7"}},
		{"cyc\x01les", -EINVAL, {"character 4 of 'cyc?les'"}},
		{"cycles\xc3\xa4", -EINVAL, {"character 7"}},
	};

	CHECK_ALL(cases);
}

Test(events_errors, modifiers)
{
	static const struct error_case cases[] = {
		{"cycles:z",
		 -EINVAL,
		 {"unknown modifier 'z' in 'cycles:z' at character 8", "u (user)"}},
		{"cs,cycles:uS",
		 -EINVAL,
		 {"unknown modifier 'S' in 'cycles:uS' at character 12 "
		  "of 'cs,cycles:uS'"}},
		{"cycles:", -EINVAL, {"no modifier after 'cycles:'"}},
		{"cycles:u:k", -EINVAL, {"unknown modifier ':'"}},
		{"cycles:pppp", -EINVAL, {"more than three p"}},
		{"cycles:U", -EINVAL, {"unknown modifier 'U'"}},
		{"cpu/event=1/w", -EINVAL, {"unknown modifier 'w'"}},
		{"cpu/event=1/:", -EINVAL, {"no modifier"}},
		{"{cycles,cs}:z",
		 -EINVAL,
		 {"unknown modifier 'z' in ':z' at character 13"}},
		{"{cycles,cs}:", -EINVAL, {"no modifier"}},
		{"r1a8:x", -EINVAL, {"unknown modifier 'x'"}},
		{"mem:0x10:rw:z", -EINVAL, {"unknown modifier 'z'"}},
		{"sched:sched_switch:z", -EINVAL, {"unknown modifier 'z'"}},
		{"{cs,cycles:D}", -EINVAL, {"only the first event of a group"}},
		{"{cs,cycles:e}", -EINVAL, {"modifier e"}},
	};

	CHECK_ALL(cases);
}

Test(events_errors, values)
{
	static const struct error_case cases[] = {
		{"cpu/event=0x100/",
		 -ERANGE,
		 {"value 0x100 of term 'event'", "character 11", "0 to 0xff"}},
		{"cpu/edge=2/", -ERANGE, {"0 to 0x1"}},
		{"cpu/offcore_rsp=0x10000000000000000/", -ERANGE, {"more than 64 bits"}},
		{"cpu/config=0x10000000000000000/", -ERANGE, {"more than 64 bits"}},
		{"r10000000000000000", -ERANGE, {"more than 64 bits"}},
		{"cpu/event=12x/",
		 -EINVAL,
		 {"'12x' for term 'event'", "is not a number"}},
		{"cpu/event=-1/", -EINVAL, {"is not a number"}},
		{"cpu/event=0x/", -EINVAL, {"is not a number"}},
		{"cpu/event=ff/", -EINVAL, {"is not a number"}},
		{"cpu/event=1,event=2/", -EINVAL, {"term 'event' is given twice"}},
		{"cpu/config=1,umask=2/", -EINVAL, {"'umask' is given twice"}},
		{"cpu/name=a,name=b,event=1/", -EINVAL, {"'name' is given twice"}},
		{"cpu/instructions,mem-loads/", -EINVAL, {"are both events"}},
		{"cpu/event=1,period=1000/",
		 -EINVAL,
		 {"'period'", "an option of sampling"}},
		{"cpu/nosuch=1/",
		 -EINVAL,
		 {"no term or event 'nosuch'", "event, frontend"}},
		{"mem:", -EINVAL, {"is not an address"}},
		{"mem:main",
		 -EINVAL,
		 {"'main' in 'mem:main' at character 5 is not an address"}},
		{"mem:0x10000000000000000", -ERANGE, {"is not an address"}},
		{"mem:0x10/0", -ERANGE, {"1 to 8 bytes"}},
		{"mem:0x10/9", -ERANGE, {"length '9'", "1 to 8 bytes"}},
		{"mem:0x10/", -ERANGE, {"1 to 8 bytes"}},
		{"mem:0x10:rr", -EINVAL, {"'r' twice"}},
		{"mem:0x10:", -EINVAL, {"no modifier"}},
		{"perf::PERF_COUNT_HW_CPU_CYCLES:period=1000",
		 -EINVAL,
		 {"an option of sampling"}},
		{"perf::PERF_COUNT_HW_CPU_CYCLES:freq=10",
		 -EINVAL,
		 {"an option of sampling"}},
	};

	CHECK_ALL(cases);
}

Test(events_errors, libpfm4)
{
	static const struct error_case cases[] =
	{ {"nosuchpmu::EVENT", -ENOENT, {"libpfm4 has no PMU 'nosuchpmu'"}},
	  {"perf::PERF_COUNT_HW_CPU_CYCLE",
	   -EINVAL,
	   {"PMU 'perf' has no event 'PERF_COUNT_HW_CPU_CYCLE'",
	    "did you mean 'PERF_COUNT_HW_CPU_CYCLES'?"}},
	  {"perf::PERF_COUNT_HW_CACHE_L1D:READ:NOSUCH",
	   -EINVAL,
	   {"libpfm4 says", "READ, WRITE, PREFETCH"}},
	  {"perf::PERF_COUNT_HW_CPU_CYCLES:nosuch",
	   -EINVAL,
	   {"libpfm4 says", "no unit masks"}},
	  {"perf::", -EINVAL, {"has no event ''"}},
	  {"::", -ENOENT, {"no PMU ''"}},
#if defined(__x86_64__)
	  {"arm_ac57::INST_RETIRED", -ENOENT, {"libpfm4 has no PMU 'arm_ac57'"}},
	  {"amd64_k8_revb::RETIRED_INSTRUCTIONS", -ENOENT, {"is not in this machine"}},
#elif defined(__aarch64__)
	  {"skl::INST_RETIRED", -ENOENT, {"libpfm4 has no PMU 'skl'"}},
	  {"arm_xgene::INST_RETIRED", -ENOENT, {"is not in this machine"}},
#endif
	};

	CHECK_ALL(cases);
}

Test(events_errors, tracefs_that_is_absent_or_closed)
{
	static const struct error_case absent = {
		"sched:sched_switch",
		-ENOENT,
		{"tracefs is not mounted", "mount -t tracefs"}};
	static const struct error_case misspelt = {
		"cyclse:u", -EINVAL, {"did you mean 'cycles'?"}};

	tree_remove();
	tree_new();
	check(&absent);
	check(&misspelt);
}

static int refuse_open(enum pm_kernel_call call)
{
	return call == PM_CALL_OPEN ? -EACCES : 0;
}

Test(events_errors, nothing_can_be_opened)
{
	static const struct error_case cases[] = {
		{"sched:sched_switch", -EACCES, {"cannot read the machine's PMUs"}},
		{"cycles", -EACCES, {"cannot read the machine's PMUs"}},
	};

	pm_kernel_fault = refuse_open;
	CHECK_ALL(cases);
	pm_kernel_fault = NULL;
}

Test(events_errors, too_much)
{
	struct pm_event_list *list;
	struct pm_diag diag;
	char *text = malloc(PM_EVENTS_TEXT_MAX + 2);
	size_t n = 0;

	memset(text, 'c', PM_EVENTS_TEXT_MAX + 1);
	text[PM_EVENTS_TEXT_MAX + 1] = '\0';
	cr_expect_eq(pm_events_parse(text, 0, &list, &diag), -E2BIG);
	text[PM_EVENTS_TEXT_MAX] = '\0';
	cr_expect_eq(pm_events_parse(text, 0, &list, &diag), -EINVAL);
	cr_expect_lt(strlen(diag.text), 300);

	for (int i = 0; i < PM_EVENTS_MAX; i++)
		n += (size_t)sprintf(text + n, "cs,");
	text[n - 1] = '\0';
	cr_assert_eq(pm_events_parse(text, 0, &list, &diag), 0, "%s", diag.text);
	cr_expect_eq(list->count, PM_EVENTS_MAX);
	pm_events_free(list);
	strcpy(text + n - 1, ",cs");
	cr_expect_eq(pm_events_parse(text, 0, &list, &diag), -E2BIG);
	cr_expect(strstr(diag.text, "more than 4096 events"), "%s", diag.text);
	/* in one go as well */
	n = 0;
	for (int i = 0; i < PM_EVENTS_MAX - 5; i++)
		n += (size_t)sprintf(text + n, "cs,");
	strcpy(text + n, "uncore_imc/clockticks/");
	cr_expect_eq(pm_events_parse(text, 0, &list, &diag), -E2BIG);
	free(text);
	pm_events_free(NULL);
}

/* --- random texts ------------------------------------------------------------------- */

static const char *const seeds[] = {
	"{cycles:u,instructions}:kD;cs,mem:0x1000/8:rw:u,r1a8",
	"cpu/event=0xc0,umask=1,edge,name=x/ukp,uncore_imc/cas_count_read/",
	"uncore_cha_0/llc_state,filter_tid=5,config2=0x3/,sched:sched_switch:k",
	"perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS:k,L1-dcache-load-misses:P",
	"msr/tsc/,power/energy-pkg/;uncore_*/event=1/,cpu/cycles/,perf_raw::r8",
	"cpu/mem-loads,ldlat=30/P , task-clock ; { faults , dummy:G } : H",
};
static const char *const words[] = {
	"{",
	"}",
	"/",
	";",
	",",
	"::",
	"=",
	":",
	"cpu/",
	"event=",
	"mem:",
	"perf::",
	"cycles",
	"0x",
	"uncore_",
	"*",
	"config3=",
	"?",
	"[",
	"name=",
	"18446744073709551616",
	"ffffffffffffffff",
	"L1-dcache-",
	"-",
	" ",
	"r",
	"sched:",
	":u",
};

/* The same on every machine and in every run. */
static uint64_t state = 88172645463325252u;
static uint32_t chance(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

static void mutate(char *text, size_t size)
{
	size_t n = strlen(text), at = n ? chance((uint32_t)n) : 0;
	const char *word = words[chance(sizeof(words) / sizeof(words[0]))];
	size_t length = strlen(word);

	switch (chance(5)) {
	case 0: /* leave some out */
		length = chance(5);
		if (at + length > n)
			length = n - at;
		memmove(text + at, text + at + length, n - at - length + 1);
		break;
	case 1: /* put a word in */
		if (n + length + 1 < size) {
			memmove(text + at + length, text + at, n - at + 1);
			memcpy(text + at, word, length);
		}
		break;
	case 2: /* another character */
		if (n)
			text[at] = (char)(1 + chance(255));
		break;
	case 3: /* double a part */
		length = chance(12);
		if (at + length <= n && n + length + 1 < size)
			memmove(text + at + length, text + at, n - at + 1);
		break;
	case 4: /* cut */
		text[at] = '\0';
		break;
	}
}

Test(events_errors, random_texts_are_parsed_or_refused)
{
	const char *wish = getenv("PERFMON_TEST_LONG");
	const int few = getenv("PERFMON_TEST_SHORT") ? 200 : 1000;
	const int rounds = wish && *wish && *wish != '0' ? 200000 : few;
	int good = 0, bad = 0;

	for (int round = 0; round < rounds; round++) {
		char text[400];
		struct pm_event_list *list = NULL;
		struct pm_diag diag = {0};
		int err;

		strcpy(text, seeds[chance(sizeof(seeds) / sizeof(seeds[0]))]);
		for (uint32_t i = chance(4); i < 4; i++)
			mutate(text, sizeof(text));
		err = pm_events_parse(text, chance(2), &list, &diag);
		if (err) {
			cr_assert(!list && diag.error == err && diag.text[0], "'%s'",
				  text);
			bad++;
			continue;
		}
		cr_assert(list->count && list->count <= PM_EVENTS_MAX, "'%s'", text);
		cr_assert(list->logical_count <= list->count &&
				  list->group_count <= list->logical_count,
			  "'%s'", text);
		for (size_t i = 0; i < list->count; i++) {
			struct pm_event *event = &list->events[i];
			struct pm_event_list *again = NULL;

			cr_assert(event->name[0] && event->label[0] && event->pmu[0],
				  "'%s'", text);
			if (i > 2)
				continue;
			err = pm_events_parse(event->name, 0, &again, &diag);
			cr_assert(!err, "'%s' of '%s': %s", event->name, text, diag.text);
			pm_events_free(again);
		}
		pm_events_free(list);
		good++;
	}
	/* else the mutations are too wild, or too tame, to test anything */
	cr_expect_gt(good, rounds / 50);
	cr_expect_gt(bad, rounds / 10);
}
