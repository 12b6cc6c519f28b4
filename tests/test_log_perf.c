/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs and the real perf: it reads what we write, and we read what it writes. */
#include "breakpoints.h"
#include "helpers.h"
#include "log_files.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "core/samples/samples.h"
#include "messages.h"

static struct perfmon_log_record got;

static int next(struct perfmon_log *log)
{
	got.size = sizeof(got);
	return perfmon_log_next(log, &got);
}

TestSuite(log_perf, .init = log_setup, .fini = log_teardown);

/* Runs a command in the shell; its output, or NULL with a status other than 0. */
static char *__attribute__((format(printf, 1, 2))) output_of(const char *format, ...)
{
	static char output[1 << 20];
	char command[1024];
	va_list arguments;
	size_t used;
	FILE *pipe;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	used = fread(output, 1, sizeof(output) - 1, pipe);
	output[used] = '\0';
	return pclose(pipe) ? NULL : output;
}

static void need_perf(void)
{
	if (!output_of("perf --version 2>&1"))
		log_skip("perf is not installed");
}

/* An event of this thread with a ring. */
struct sampled {
	struct perf_event_attr attr;
	struct pm_ring ring;
	uint64_t id;
	int fd;
};

static void open_sampled(struct sampled *s, uint32_t pages)
{
	int err;

	s->attr.size = sizeof(s->attr);
	s->attr.exclude_kernel = 1;
	s->attr.exclude_hv = 1;
	s->attr.disabled = 1;
	s->attr.sample_id_all = 1;
	s->fd = pm_kernel_perf_event_open(&s->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd == -EACCES || s->fd == -EPERM)
		log_skip("kernel.perf_event_paranoid forbids sampling");
	if (s->fd == -ENOENT || s->fd == -ENOSPC || s->fd == -EOPNOTSUPP ||
	    s->fd == -ENODEV)
		log_skip("this machine does not sample that event: %s", strerror(-s->fd));
	cr_assert_geq(s->fd, 0, "%s", strerror(-s->fd));
	cr_assert_eq(ioctl(s->fd, PERF_EVENT_IOC_ID, &s->id), 0);
	err = pm_ring_map(&s->ring, s->fd, pages);
	if (err == -EPERM)
		log_skip("kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK forbid the ring");
	cr_assert_eq(err, 0, "%s", strerror(-err));
}

static void close_sampled(struct sampled *s)
{
	pm_ring_unmap(&s->ring);
	close(s->fd);
}

static uint64_t head_of(const struct sampled *s)
{
	return ((volatile struct perf_event_mmap_page *)s->ring.page)->data_head;
}

/* perf must find these two by name. */
static void __attribute__((noinline))
log_burner_inner(const struct sampled *s, uint64_t until)
{
	while (head_of(s) < until)
		for (int i = 0; i < 1000; i++)
			__asm__ volatile(""); /* nothing that a sanitizer adds to */
}

static void __attribute__((noinline)) log_burner(const struct sampled *s, uint64_t until)
{
	log_burner_inner(s, until);
	__asm__ volatile(""); /* so that it comes back here */
}

#define CLOCK_SAMPLES 200

/* The samples of a task clock in a log at log_path or FD, with what perf needs to name
 * functions; how many. */
static uint64_t log_clock(int fd, uint64_t flags)
{
	struct sampled clock = {.attr = {.type = PERF_TYPE_SOFTWARE,
					 .config = PERF_COUNT_SW_TASK_CLOCK,
					 .sample_period = 200000,
					 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							PERF_SAMPLE_TIME |
							PERF_SAMPLE_CPU |
							PERF_SAMPLE_PERIOD | flags}};
	struct pm_log_event event = {
		.attr = &clock.attr, .name = "the-clock", .id_count = 1};
	struct pm_diag diag = {0};
	struct pm_log *log;
	uint64_t count;
	int moved;

	open_sampled(&clock, 16);
	event.ids = &clock.id;
	cr_assert_eq(
		pm_log_create(&log, fd < 0 ? log_path : NULL, fd, &event, 1, NULL, &diag),
		0, "%s", diag.text);
	cr_assert_eq(pm_log_process(log, getpid()), 0);
	cr_assert_eq(pm_log_user(log, 0, 1, "before", 6), 0);
	ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
	log_burner(&clock, CLOCK_SAMPLES * 48);
	ioctl(clock.fd, PERF_EVENT_IOC_DISABLE, 0);
	moved = pm_log_drain(log, &clock.ring, NULL, NULL);
	cr_assert_gt(moved, 0);
	cr_assert_not(pm_ring_pending(&clock.ring));
	cr_assert_eq(pm_log_round(log), 0);
	cr_assert_eq(pm_log_user(log, 0, 2, "after", 5), 0);
	count = clock.ring.records;
	cr_assert_eq(clock.ring.lost, 0);
	cr_assert_eq(pm_log_close(log), 0);
	close_sampled(&clock);
	return count;
}

/* What perf script says of each sample against what we read. */
static void compare_script(void)
{
	struct perfmon_log *log = log_reopen(log_path);
	char *script, *line, *rest;
	uint64_t count = 0, named = 0;

	script = output_of("perf script -i '%s' -F tid,cpu,time,period,event,ip,sym --ns "
			   "2>/dev/null",
			   log_path);
	cr_assert_not_null(script, "perf script refuses the log");
	line = strtok_r(script, "\n", &rest);
	while (next(log) == 1) {
		uint64_t seconds, ns, period, ip;
		char event[64], symbol[256];
		unsigned int tid, cpu;

		if (got.type != PERFMON_LOG_TYPE_SAMPLE)
			continue;
		count++;
		cr_assert_not_null(line, "perf shows fewer samples than %" PRIu64, count);
		cr_assert_eq(sscanf(line,
				    " %u [%u] %" SCNu64 ".%" SCNu64 ": %" SCNu64
				    " %63[^ ] %" SCNx64 " %255s",
				    &tid, &cpu, &seconds, &ns, &period, event, &ip,
				    symbol),
			     8, "'%s'", line);
		cr_expect_eq((pid_t)tid, got.tid);
		cr_expect_eq(cpu, got.sample->cpu);
		cr_expect_eq(seconds * 1000000000 + ns, got.sample->time_ns);
		cr_expect_eq(period, got.sample->period);
		cr_expect_eq(ip, got.sample->ip);
		cr_expect_str_eq(event, "the-clock:");
		named += !strncmp(symbol, "log_burner", 10);
		line = strtok_r(NULL, "\n", &rest);
	}
	cr_assert_null(line, "perf shows more than %" PRIu64 " samples: '%s'", count,
		       line);
	cr_expect_gt(named, count / 2);
	perfmon_log_close(log);
}

/* Row: HW-11 (in the perf.data format, which perf reads: the file) */
Test(log_perf, perf_reads_our_file)
{
	uint64_t count;
	char *report;

	need_perf();
	count = log_clock(-1, 0);
	cr_assert_geq(count, CLOCK_SAMPLES / 2);
	compare_script();
	report = output_of("perf report --stdio -i '%s' 2>&1", log_path);
	cr_assert_not_null(report);
	cr_expect_not_null(strstr(report, "log_burner_inner"), "%s", report);
	cr_expect_not_null(strstr(report, "the-clock"));
	cr_expect_null(strstr(report, "WARNING"), "%s", report);
	report = output_of("perf report --header-only -i '%s' 2>&1", log_path);
	cr_assert_not_null(report);
	cr_expect_not_null(strstr(report, "# perf version : libperfmon"), "%s", report);
	cr_expect_not_null(strstr(report, "# cmdline : "));
	cr_expect_not_null(strstr(report, "# time of last sample"));
}

/* Row: HW-11 (perf passes over records of the program's own; the stream) */
Test(log_perf, perf_reads_our_stream)
{
	char *report;
	int fd;

	need_perf();
	fd = open(log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	log_clock(fd, 0);
	close(fd);
	compare_script();
	report = output_of("perf report --stdio -i - <'%s' 2>&1", log_path);
	cr_assert_not_null(report);
	cr_expect_not_null(strstr(report, "log_burner_inner"), "%s", report);
	cr_expect_not_null(strstr(report, "the-clock"), "%s", report);
	cr_expect_null(strstr(report, "unknown"), "%s", report);
	cr_expect_null(strstr(report, "ailed"), "%s", report);
}

/* Row: HW-09 (call chains reach the log, and perf sees the same addresses in them) */
Test(log_perf, call_chains)
{
	struct perfmon_log *log;
	char *script, *line, *rest;
	uint64_t ours = 0, theirs = 0, sum = 0;

	need_perf();
	log_clock(-1, PERF_SAMPLE_CALLCHAIN);
	log = log_reopen(log_path);
	while (next(log) == 1) {
		if (got.type != PERFMON_LOG_TYPE_SAMPLE)
			continue;
		cr_assert_eq(got.sample->call_chain[0], PERFMON_SAMPLE_CONTEXT_USER);
		for (uint64_t i = 1; i < got.sample->call_chain_count; i++) {
			ours++;
			sum += got.sample->call_chain[i];
		}
	}
	perfmon_log_close(log);
	cr_assert_gt(ours, 0);
	script = output_of("perf script -i '%s' -F ip,sym 2>/dev/null", log_path);
	cr_assert_not_null(script);
	for (line = strtok_r(script, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		theirs++;
		sum -= strtoull(line, NULL, 16);
	}
	cr_expect_eq(theirs, ours);
	/* It shows where they stand in their files. */
	cr_expect_eq(sum % 4096, 0);
}

/* Calls itself so often before it burns; this file is compiled with frame pointers. */
static void __attribute__((noinline))
burn_deep(const struct sampled *s, uint64_t until, unsigned int depth)
{
	if (depth)
		burn_deep(s, until, depth - 1);
	else
		log_burner_inner(s, until);
	__asm__ volatile(""); /* so that it comes back here */
}

/* Row: HW-09 (their depth is limited) */
Test(log_perf, call_chains_of_limited_depth)
{
	for (unsigned int limited = 0; limited < 2; limited++) {
		struct sampled clock = {.attr = {.type = PERF_TYPE_SOFTWARE,
						 .config = PERF_COUNT_SW_TASK_CLOCK,
						 .sample_period = 100000,
						 .sample_max_stack = limited ? 6 : 0,
						 .sample_type = PERF_SAMPLE_CALLCHAIN}};
		const struct perf_event_header *record;
		struct perfmon_sample sample;
		uint64_t longest = 0;

		open_sampled(&clock, 16);
		ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
		burn_deep(&clock, 2048, 30);
		ioctl(clock.fd, PERF_EVENT_IOC_DISABLE, 0);
		while (pm_ring_next(&clock.ring, &record) > 0) {
			if (record->type != PERF_RECORD_SAMPLE)
				continue;
			cr_assert_eq(pm_sample_decode(&clock.attr, record, &sample), 0);
			if (sample.call_chain_count > longest)
				longest = sample.call_chain_count;
		}
		/* The marker does not count. */
		if (limited)
			cr_expect_eq(longest, 7);
		else
			cr_expect_gt(longest, 30);
		close_sampled(&clock);
	}
}

/* Row: HW-11 (what was flushed is there, whatever becomes of the writer) */
Test(log_perf, a_killed_writer_leaves_its_log)
{
	struct perfmon_log *log;
	uint64_t count = 0;
	char *script;
	int status, err;
	pid_t writer;

	need_perf();
	writer = fork();
	if (!writer) {
		struct pm_log *killed = log_begin(log_path, -1, 0);
		struct record record;

		for (uint64_t i = 0; i < 1000; i++) {
			log_make_sample(&record, 0, i);
			if (pm_log_append(killed, &record.header))
				_exit(1);
		}
		if (pm_log_flush(killed))
			_exit(2);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(writer, &status, 0), writer);
	cr_assert(WIFSIGNALED(status), "%d", status);
	log = log_reopen(log_path);
	while ((err = next(log)) == 1)
		count++;
	cr_assert_eq(err, -EAGAIN, "nobody has said that it is all");
	cr_assert_eq(count, 1000);
	perfmon_log_close(log);
	script = output_of("perf script -i '%s' -F time 2>/dev/null | grep -c .",
			   log_path);
	cr_assert_not_null(script);
	cr_expect_eq(atoi(script), 1000, "'%s'", script);
}

/* What perf record makes of a shell that counts; false if it may not. */
static bool record_shell(const char *options, const char *to)
{
	return output_of(
		"perf record -q --no-buildid-cache --no-bpf-event %s -o %s -- "
		"sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; true' 2>&1",
		options, to);
}

/* Each event's samples as perf script counts them against what we read. */
static void compare_counts(void)
{
	struct perfmon_log *log = log_reopen(log_path);
	struct perfmon_log_event event = {.size = sizeof(event)};
	uint64_t counts[2] = {0}, times = 0, maps = 0, names = 0;
	int err;

	while ((err = next(log)) == 1) {
		/* a shell without shared libraries maps itself */
		maps += got.type == PERFMON_LOG_TYPE_MAP2 && got.name[0] == '/';
		names += got.type == PERFMON_LOG_TYPE_NAME && !strcmp(got.name, "sh");
		if (got.type != PERFMON_LOG_TYPE_SAMPLE)
			continue;
		cr_assert_lt(got.event, 2);
		cr_assert_not_null(got.sample);
		counts[got.event]++;
		times ^= got.sample->time_ns;
		cr_assert_eq(!!(got.sample->present & PERFMON_SAMPLE_ADDRESS), 1);
	}
	cr_assert_eq(err, 0, "%s", log_message_of(log));
	cr_expect_gt(maps, 0);
	cr_expect_gt(names, 0);
	for (uint32_t i = 0; i < 2; i++) {
		char *script, *line, *rest;
		uint64_t seen = 0;

		cr_assert_eq(perfmon_log_get_event(log, i, &event), 0);
		cr_assert(!strcmp(event.name, "task-clock:u") ||
				  !strcmp(event.name, "page-faults:u"),
			  "'%s'", event.name);
		script = output_of("perf script -i '%s' -F event,time --ns 2>/dev/null",
				   log_path);
		cr_assert_not_null(script);
		for (line = strtok_r(script, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			uint64_t seconds, ns;

			if (!strstr(line, event.name))
				continue;
			seen++;
			cr_assert_eq(sscanf(line, " %" SCNu64 ".%" SCNu64, &seconds, &ns),
				     2, "'%s'", line);
			times ^= seconds * 1000000000 + ns;
		}
		cr_expect_eq(seen, counts[i], "%s", event.name);
		cr_expect_gt(seen, 0);
	}
	cr_expect_eq(times, 0, "the same samples");
	perfmon_log_close(log);
}

/* Row: HW-18 (a log of perf's, of two events) */
Test(log_perf, we_read_perfs_file)
{
	need_perf();
	if (!record_shell("-d -e task-clock:u,page-faults:u", log_path))
		log_skip("perf record may not sample here");
	compare_counts();
}

Test(log_perf, we_read_perfs_stream)
{
	need_perf();
	if (!output_of("perf record -q --no-buildid-cache --no-bpf-event -d -e "
		       "task-clock:u,page-faults:u -o - "
		       "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; true' "
		       "2>/dev/null >'%s'",
		       log_path))
		log_skip("perf record may not sample here");
	compare_counts();
}

/* Everything that perf record can be asked for in software is taken apart. */
Test(log_perf, we_read_all_that_perf_asks_for)
{
	static const char *const options[] = {
		"-e task-clock:u -g",
		"-e task-clock:u --call-graph dwarf,1024",
		"-e '{task-clock:u,page-faults:u}:S'",
		"-e task-clock:u --user-regs=ip,sp --switch-events -s -T",
		"-e page-faults:u --all-cgroups --data-page-size --code-page-size",
		"-e task-clock:u -c 100000 --phys-data --weight",
	};
	unsigned int read = 0;

	need_perf();
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct perfmon_log *log;
		uint64_t samples = 0;
		int err;

		if (!record_shell(options[i], log_path)) {
			cr_log_info("perf record refuses %s", options[i]);
			continue;
		}
		read++;
		log = log_reopen(log_path);
		while ((err = next(log)) == 1)
			samples += got.type == PERFMON_LOG_TYPE_SAMPLE && got.sample;
		cr_expect_eq(err, 0, "%s: %s", options[i], log_message_of(log));
		cr_expect_gt(samples, 0, "%s", options[i]);
		perfmon_log_close(log);
	}
	if (!read)
		log_skip("perf record may not sample here");
}

static volatile uint64_t watched;

static void __attribute__((noinline)) write_watched(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		watched = i;
}

static struct perf_event_attr breakpoint(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = 2,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_READ,
		.size = sizeof(struct perf_event_attr),
		.disabled = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* Row: HW-07 (each process that exits has its own count logged) */
Test(log_perf, counts_at_exit)
{
	if (!breakpoints_fire())
		log_skip("%s", BREAKPOINTS_SILENT);
	struct perf_event_attr attr = breakpoint();
	struct pm_log_event event = {.attr = &attr, .name = "watched"};
	struct perfmon_log *reader;
	uint64_t ids[64], counts[3] = {0};
	struct pm_ring rings[64];
	struct pm_log *log;
	pid_t children[3];
	int fds[64], cpus = 0, status, pin;

	/* With an event that is not inherited the kernel does not exchange the events of
	 * parent and child: one that ends with its parent's would leave no record. */
	pin = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	attr.inherit = 1;
	attr.inherit_stat = 1;
	attr.task = 1;
	/* The kernel wants a ring for each CPU where children inherit. */
	for (int cpu = 0; cpu < 64 && cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		int err;

		fds[cpus] = pm_kernel_perf_event_open(&attr, 0, cpu, -1,
						      PERF_FLAG_FD_CLOEXEC);
		if (fds[cpus] == -ENODEV)
			continue; /* it is offline */
		if (fds[cpus] < 0)
			log_skip("no breakpoint that children inherit here: %s",
				 strerror(-fds[cpus]));
		cr_assert_eq(ioctl(fds[cpus], PERF_EVENT_IOC_ID, &ids[cpus]), 0);
		err = pm_ring_map(&rings[cpus], fds[cpus], 2);
		if (err)
			log_skip("no ring that children inherit here: %s",
				 strerror(-err));
		ioctl(fds[cpus], PERF_EVENT_IOC_ENABLE, 0);
		cpus++;
	}
	event.ids = ids;
	event.id_count = (size_t)cpus;
	cr_assert_eq(pm_log_create(&log, log_path, -1, &event, 1, NULL, NULL), 0);
	for (unsigned int i = 0; i < 3; i++) {
		children[i] = fork();
		if (!children[i]) {
			write_watched(10 * (i + 1));
			_exit(0);
		}
		cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		cr_assert_geq(pm_log_drain(log, &rings[cpu], NULL, NULL), 0);
		pm_ring_unmap(&rings[cpu]);
		close(fds[cpu]);
	}
	close(pin);
	cr_assert_eq(pm_log_close(log), 0);

	reader = log_reopen(log_path);
	while (next(reader) == 1) {
		struct perfmon_sample_value value = {.size = sizeof(value)};

		if (got.type != PERFMON_LOG_TYPE_READ)
			continue;
		cr_assert_eq(perfmon_sample_get_value(got.sample, 0, &value), 0);
		for (unsigned int i = 0; i < 3; i++)
			if (got.pid == children[i])
				counts[i] += value.value;
	}
	for (unsigned int i = 0; i < 3; i++)
		cr_expect_eq(counts[i], 10 * (i + 1), "child %u: %" PRIu64, i, counts[i]);
	perfmon_log_close(reader);
}

/* Row: HW-08 (at each context switch the counts are logged) */
Test(log_perf, counts_at_switches)
{
	if (!breakpoints_fire())
		log_skip("%s", BREAKPOINTS_SILENT);
	struct sampled switches = {
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
			 .sample_period = 1,
			 .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
			 .context_switch = 1,
			 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					PERF_SAMPLE_TIME | PERF_SAMPLE_READ}};
	struct perf_event_attr attr = breakpoint();
	struct pm_log_event event = {
		.attr = &switches.attr, .name = "switches", .id_count = 1};
	struct perfmon_log *reader;
	struct pm_log *log;
	unsigned int stops = 0, outs = 0, ins = 0;
	int to_child[2], to_parent[2], counter;
	uint64_t id, last = 0;
	pid_t partner;
	char byte = 0;

	/* A switch happens in the kernel. */
	switches.attr.size = sizeof(switches.attr);
	switches.attr.sample_id_all = 1;
	switches.attr.disabled = 1;
	switches.fd = pm_kernel_perf_event_open(&switches.attr, 0, -1, -1,
						PERF_FLAG_FD_CLOEXEC);
	if (switches.fd < 0)
		log_skip("kernel.perf_event_paranoid forbids to count switches: %s",
			 strerror(-switches.fd));
	attr.disabled = 0;
	counter = pm_kernel_perf_event_open(&attr, 0, -1, switches.fd,
					    PERF_FLAG_FD_CLOEXEC);
	if (counter < 0)
		log_skip("no hardware breakpoint here: %s", strerror(-counter));
	cr_assert_eq(ioctl(switches.fd, PERF_EVENT_IOC_ID, &switches.id), 0);
	cr_assert_eq(ioctl(counter, PERF_EVENT_IOC_ID, &id), 0);
	cr_assert_eq(pm_ring_map(&switches.ring, switches.fd, 8), 0);
	event.ids = &switches.id;
	cr_assert_eq(pm_log_create(&log, log_path, -1, &event, 1, NULL, NULL), 0);
	cr_assert_eq(pipe2(to_child, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(to_parent, O_CLOEXEC), 0);
	partner = fork();
	if (!partner) {
		for (int i = 0; i < 5; i++) {
			if (read(to_child[0], &byte, 1) != 1)
				_exit(1);
			let_time_pass_ms(1);
			if (write(to_parent[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	ioctl(switches.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned int i = 0; i < 5; i++) {
		write_watched(7);
		cr_assert_eq(write(to_child[1], &byte, 1), 1);
		/* The partner sleeps before it answers: this waits. */
		cr_assert_eq(read(to_parent[0], &byte, 1), 1);
	}
	ioctl(switches.fd, PERF_EVENT_IOC_DISABLE, 0);
	cr_assert_eq(waitpid(partner, NULL, 0), partner);
	cr_assert_gt(pm_log_drain(log, &switches.ring, NULL, NULL), 0);
	cr_assert_eq(pm_log_close(log), 0);

	reader = log_reopen(log_path);
	while (next(reader) == 1) {
		struct perfmon_sample_value value = {.size = sizeof(value)};

		outs += got.type == PERFMON_LOG_TYPE_SWITCH &&
			got.misc & PERFMON_LOG_MISC_SWITCH_OUT;
		ins += got.type == PERFMON_LOG_TYPE_SWITCH &&
		       !(got.misc & PERFMON_LOG_MISC_SWITCH_OUT);
		if (got.type != PERFMON_LOG_TYPE_SAMPLE)
			continue;
		cr_assert_eq(got.sample->read_count, 2);
		cr_assert_eq(perfmon_sample_get_value(got.sample, 1, &value), 0);
		cr_assert_eq(value.id, id);
		cr_assert_geq(value.value, last);
		if (value.value > last && value.value % 7 == 0)
			stops++;
		last = value.value;
	}
	cr_expect_eq(last, 35, "after the last writes it was switched, too: %" PRIu64,
		     last);
	cr_expect_geq(stops, 1);
	cr_expect_geq(outs, 5);
	cr_expect_geq(ins, 5);
	perfmon_log_close(reader);
	close_sampled(&switches);
	close(counter);
}
