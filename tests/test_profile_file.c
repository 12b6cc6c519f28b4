/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles of other processes: by their file and by their pid, living and dead. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "core/kernel/kernel.h"
#include "core/kernel/process_maps.h"
#include "helpers.h"
#include "kept_probe.h"
#include "profile_builder.h"

TestSuite(profile_file, .init = kept_begin, .fini = kept_end, .timeout = 60);

/* A child that has done VISITS visits of "work" and does one more for each byte of its
 * orders, which it confirms. */
struct worker {
	pid_t pid;
	int orders, answers;
};

static struct worker start_worker(const char *profile, int visits)
{
	int orders[2], answers[2];
	struct worker worker;
	char byte = 'x';

	cr_assert(!pipe(orders) && !pipe(answers));
	fflush(NULL);
	worker.pid = fork();
	cr_assert_geq(worker.pid, 0);
	if (!worker.pid) {
		if (profile)
			setenv("PERFMON_PROFILE", profile, 1);
		close(orders[1]);
		do {
			while (visits-- > 0) {
				PERFMON_REGION_BEGIN("work");
				PERFMON_REGION_END("work");
			}
			visits = 1;
		} while (write(answers[1], &byte, 1) == 1 &&
			 read(orders[0], &byte, 1) == 1);
		_exit(0);
	}
	close(orders[0]);
	close(answers[1]);
	worker.orders = orders[1];
	worker.answers = answers[0];
	cr_assert_eq(read(worker.answers, &byte, 1), 1);
	return worker;
}

static void one_more(const struct worker *worker)
{
	char byte = 'x';

	cr_assert_eq(write(worker->orders, &byte, 1), 1);
	cr_assert_eq(read(worker->answers, &byte, 1), 1);
}

static void reap(struct worker *worker)
{
	close(worker->orders);
	close(worker->answers);
	cr_assert_eq(waitpid(worker->pid, NULL, 0), worker->pid);
}

static uint64_t visits_now(struct pm_profile_file *file)
{
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	uint64_t visits;

	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0, "%s", diag.text);
	cr_assert(!s->partial, "%s", s->problem);
	visits = probe_visits(s, "work");
	pm_snapshot_free(s);
	return visits;
}

/* Row: DC-02 (another process watches a program that runs) */
static void check_watching(const char *profile, bool by_pid)
{
	struct worker worker = start_worker(profile, 3);
	struct pm_profile_file *file;
	struct pm_diag diag = {0};

	cr_assert_eq(by_pid ? pm_profile_file_open_pid(worker.pid, &file, &diag)
			    : pm_profile_file_open(profile, &file, &diag),
		     0, "%s", diag.text);
	cr_assert_eq(pm_profile_file_header(file)->pid, (uint32_t)worker.pid);
	cr_assert(pm_profile_file_is_alive(file));
	cr_assert_eq(visits_now(file), 3);
	one_more(&worker);
	cr_assert_eq(visits_now(file), 4);
	/* Killed, and not even waited for. */
	kill(worker.pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)worker.pid, &(siginfo_t){0}, WEXITED | WNOWAIT),
		     0);
	cr_assert(!pm_profile_file_is_alive(file));
	cr_assert_eq(visits_now(file), 4);
	reap(&worker);
	cr_assert(!pm_profile_file_is_alive(file));
	cr_assert_eq(visits_now(file), 4);
	pm_profile_file_close(file);
}

Test(profile_file, a_file_is_read_while_its_program_runs_and_after)
{
	check_watching(in_folder("profile"), false);
}

Test(profile_file, a_process_with_a_file_is_watched)
{
	check_watching(in_folder("a name\nof two lines"), true);
}

Test(profile_file, a_process_without_a_file_is_watched)
{
	check_watching(NULL, true);
}

/* Of one that runs, who reads it has a later moment than it has left. */
Test(profile_file, a_running_program_is_measured_up_to_now)
{
	struct worker worker = start_worker(in_folder("profile"), 3);
	struct pm_profile_file *file;
	struct pm_snapshot *s;
	double rate;

	let_time_pass_ms(20);
	cr_assert_eq(pm_profile_file_open(in_folder("profile"), &file, NULL), 0);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, NULL), 0);
	if (!s->header.ticks_hz && s->header.clock == PERFMON_PROFILE_CLOCK_TIMESTAMP) {
		cr_assert_geq(s->rate_span_ns, 20000000);
		cr_assert_lt(s->header.end_ns - s->header.begin_ns, s->rate_span_ns);
		cr_assert_lt(s->tick_error, 0.0005);
		rate = s->tick_ns;
		pm_snapshot_free(s);
		let_time_pass_ms(20);
		cr_assert_eq(pm_profile_file_snapshot(file, &s, NULL), 0);
		cr_assert_float_eq(s->tick_ns / rate, 1, 0.001);
	}
	pm_snapshot_free(s);
	kill(worker.pid, SIGKILL);
	reap(&worker);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, NULL), 0);
	cr_assert(!s->rate_span_ns ||
		  s->rate_span_ns == s->header.end_ns - s->header.begin_ns);
	pm_snapshot_free(s);
	pm_profile_file_close(file);
}

static void check_refused(const char *path, int error, const char *text)
{
	struct pm_profile_file *file = NULL;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_profile_file_open(path, &file, &diag), error, "%s", diag.text);
	cr_assert(strstr(diag.text, path) && strstr(diag.text, text), "%s", diag.text);
	cr_assert(!file);
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

/* A FIFO is not opened: that would release who waits to write into it. */
Test(profile_file, what_is_no_profile_is_refused)
{
	static const char zeros[4096];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	check_refused(in_folder("nothing"), -ENOENT, "No such file");
	check_refused(folder, -EISDIR, "a directory");
	cr_assert_eq(mkfifo(in_folder("fifo"), 0600), 0);
	check_refused(in_folder("fifo"), -EINVAL, "a FIFO");
	check_refused("/dev/null", -EINVAL, "a device");
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s",
		 in_folder("socket"));
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	check_refused(in_folder("socket"), -EINVAL, "a socket");
	write_file(in_folder("empty"), "", 0);
	check_refused(in_folder("empty"), -EINVAL, "0 bytes");
	write_file(in_folder("text"), "text", 4);
	check_refused(in_folder("text"), -EINVAL, "4 bytes");
	write_file(in_folder("begun"), zeros, sizeof(zeros));
	check_refused(in_folder("begun"), -ENODATA, "the profile is empty");
	close(fd);
}

Test(profile_file, a_process_without_a_profile_is_told)
{
	struct pm_profile_file *file = NULL;
	struct pm_diag diag = {0};
	int status;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	cr_assert_eq(pm_profile_file_open_pid(pid, &file, &diag), -ENOENT, "%s",
		     diag.text);
	cr_assert(strstr(diag.text, "has not used a region"), "%s", diag.text);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(pm_profile_file_open_pid(pid, &file, &diag), -ESRCH);
	cr_assert(strstr(diag.text, "there is no process"), "%s", diag.text);
	cr_assert_eq(pm_profile_file_open_pid(-1, &file, &diag), -ESRCH);
	cr_assert_eq(pm_profile_file_open_pid(0, &file, &diag), -ESRCH);
	cr_assert(!file);
}

static int opens, open_fails;

static int fail_one_open(enum pm_kernel_call call)
{
	return call == PM_CALL_OPEN && ++opens == open_fails ? -EPERM : 0;
}

/* Its file has been removed, and its descriptor is closed: only who may look into its
 * mappings themselves can still read it. */
Test(profile_file, a_file_that_was_removed_is_told)
{
	struct pm_profile_file *file = NULL;
	struct pm_diag diag = {0};
	int orders[2], answers[2];
	bool told = false;
	char byte = 'x';
	pid_t pid;

	cr_assert(!pipe(orders) && !pipe(answers));
	pid = fork();
	if (!pid) {
		setenv("PERFMON_PROFILE", in_folder("profile"), 1);
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
		unlink(in_folder("profile"));
		for (int fd = 3; fd < 1024; fd++)
			if (fd != orders[0] && fd != answers[1])
				close(fd);
		_exit(write(answers[1], &byte, 1) != 1 || read(orders[0], &byte, 1) != 1);
	}
	cr_assert_eq(read(answers[0], &byte, 1), 1);
	/* The one open that needs rights is among these. */
	for (open_fails = 1; open_fails < 40 && !told; open_fails++) {
		opens = 0;
		pm_kernel_fault = fail_one_open;
		if (!pm_profile_file_open_pid(pid, &file, &diag))
			pm_profile_file_close(file);
		else
			told = strstr(diag.text, "no longer at") &&
			       strstr(diag.text, in_folder("profile"));
		pm_kernel_fault = NULL;
	}
	cr_assert(told, "%s", diag.text);
	cr_assert_eq(write(orders[1], &byte, 1), 1);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

/* The number of a dead writer may be another process's by now, or that of an image which
 * has been replaced. */
Test(profile_file, a_writer_is_known_by_more_than_its_number)
{
	struct profile_builder b;
	struct perfmon_profile_header *header;
	struct pm_profile_file *file;
	char path[256];
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("own");
	PERFMON_REGION_END("own");
	s = probe_take();
	snprintf(path, sizeof(path), "%s", in_folder("profile"));
	builder_begin(&b, 1 << 16);
	header = builder_header(&b);
	memcpy(header->boot_id, s->header.boot_id, sizeof(header->boot_id));
	header->state = PERFMON_PROFILE_STATE_RUNNING;
	header->pid = s->header.pid;
	header->start_time = s->header.start_time;
	pm_snapshot_free(s);
	write_file(path, b.base, builder_used(&b));
	cr_assert_eq(pm_profile_file_open(path, &file, NULL), 0);
	/* All three agree, but the process has not mapped this file. */
	cr_assert(!pm_profile_file_is_alive(file));
	{
		int fd = open(path, O_RDWR);
		void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		cr_assert(map != MAP_FAILED);
		cr_assert(pm_profile_file_is_alive(file));
		munmap(map, 4096);
		close(fd);
	}
	pm_profile_file_close(file);
	builder_end(&b);
}

/* Somebody cuts the file off. */
Test(profile_file, a_file_may_shrink)
{
	struct worker worker = start_worker(in_folder("profile"), 3);
	struct pm_profile_file *file;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	size_t header = sizeof(struct perfmon_profile_header);

	cr_assert_eq(pm_profile_file_open(in_folder("profile"), &file, NULL), 0);
	cr_assert_eq(visits_now(file), 3);
	kill(worker.pid, SIGKILL);
	reap(&worker);
	cr_assert_eq(truncate(in_folder("profile"), (off_t)header), 0);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0);
	cr_assert(s->partial);
	cr_assert(strstr(diag.text, "cut off"), "%s", diag.text);
	pm_snapshot_free(s);
	cr_assert_eq(truncate(in_folder("profile"), 10), 0);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "10 bytes"), "%s", diag.text);
	pm_profile_file_close(file);
	pm_profile_file_close(NULL);
}

/* Cuts the file off when its bytes have been read so many times. */
static int reads_left;

static int cut_off(enum pm_kernel_call call)
{
	if (call == PM_CALL_PREAD && !reads_left--)
		truncate(in_folder("profile"),
			 (off_t)sizeof(struct perfmon_profile_header));
	return 0;
}

static bool is_mapped(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, path) != NULL;
	fclose(maps);
	return found;
}

/* While its program runs and it is read: a mapping would be SIGBUS. Others may write it.
 * The program itself, which has it mapped, does not touch it any more. */
Test(profile_file, a_file_that_is_being_read_may_shrink)
{
	bool torn = false, whole = false;

	for (int cut = 0; !whole && cut < 100; cut++) {
		struct worker worker = start_worker(in_folder("profile"), 3);
		struct pm_profile_file *file;
		struct pm_snapshot *s;
		int err;

		cr_assert_eq(chmod(in_folder("profile"), 0666), 0);
		cr_assert_eq(pm_profile_file_open(in_folder("profile"), &file, NULL), 0);
		reads_left = cut;
		pm_kernel_fault = cut_off;
		err = pm_profile_file_snapshot(file, &s, NULL);
		pm_kernel_fault = NULL;
		cr_assert(!err || err == -EINVAL, "%d: %d", cut, err);
		cr_assert(!is_mapped(in_folder("profile")));
		if (!err) {
			whole = reads_left >= 0;
			for (uint32_t t = 0; t < s->thread_count; t++)
				torn |= s->threads[t].torn != 0;
			cr_assert(!whole ||
				  (!s->partial && probe_visits(s, "work") == 3));
			pm_snapshot_free(s);
		}
		pm_profile_file_close(file);
		kill(worker.pid, SIGKILL);
		reap(&worker);
		unlink(in_folder("profile"));
	}
	cr_assert(torn, "no node was cut off");
	cr_assert(whole, "no snapshot was whole");
}

static bool maps_this_file(const struct pm_process_map *map, void *unused)
{
	struct stat status;

	(void)unused;
	return map->inode && map->path[0] == '/' && !stat(map->path, &status) &&
	       major(map->device) && map->device == status.st_dev;
}

/* Numbers of inodes are each file system's own. Some tell maps and stat(2) different devices,
 * of which one or both have no major number. */
Test(profile_file, a_mapping_is_of_a_file_of_its_file_system)
{
	struct pm_process_map map = {.device = makedev(8, 1), .inode = 5};
	struct stat status = {.st_dev = makedev(8, 1), .st_ino = 5};

	cr_assert(pm_process_map_is_of(&map, &status));
	status.st_ino = 6;
	cr_assert(!pm_process_map_is_of(&map, &status));
	status.st_ino = 5;
	status.st_dev = makedev(8, 2);
	cr_assert(!pm_process_map_is_of(&map, &status));
	status.st_dev = makedev(0, 40);
	cr_assert(pm_process_map_is_of(&map, &status));
	map.device = makedev(0, 41);
	cr_assert(pm_process_map_is_of(&map, &status));
	cr_assert_geq(pm_process_maps(getpid(), maps_this_file, NULL), 0);
}

/* "x" and 120 times two bytes: the limit of a message is inside of one of these. */
Test(profile_file, a_long_path_is_cut_between_characters)
{
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	char path[242] = "x";

	for (size_t i = 1; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "\xc3\xa9", 3);
	cr_assert_eq(pm_profile_file_open(path, &file, &diag), -ENOENT);
	cr_assert(strstr(diag.text, "\xc3\xa9...'"), "%s", diag.text);
}
