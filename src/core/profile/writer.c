/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "core/kernel/clock.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/machine_id.h"
#include "core/profile/memory.h"
#include "core/settings/job.h"
#include "core/valgrind/exact.h"
#include "fastpath/fastpath.h"

#define NOTES_MOST 64

/* The notes that are already in the profile. */
static struct {
	uint64_t at[NOTES_MOST]; /* offsets */
	unsigned int count;
} notes;

/* The counts of the whole process, where the Valgrind tool counts. */
static struct {
	struct perfmon_profile_totals *record; /* NULL: there is none */
	const struct perfmon_profile_plan *plan;
} totals;

/* NULL: no event of a package is counted. */
static struct perfmon_profile_packages *packages;

/* The profile of the process that forked this one. */
static struct {
	uint32_t pid, image;
	uint64_t start_time;
} parent;

/* Sets the identity of this process and of the one that forked it. */
static void identify(struct perfmon_profile_header *self)
{
	self->pid = (uint32_t)pm_kernel_getpid();
	self->start_time = pm_machine_start_time();
	self->pid_namespace = pm_machine_pid_namespace();
	pm_machine_boot_id(self->boot_id, sizeof(self->boot_id));
	pm_machine_host(self->host, sizeof(self->host));
	pm_machine_program(self->program, sizeof(self->program));
	pm_job_id(self->job, sizeof(self->job));
	if (!parent.pid)
		return;
	self->parent_link = PERFMON_PROFILE_LINK_FORK;
	self->parent_pid = parent.pid;
	self->parent_start_time = parent.start_time;
	self->parent_image = parent.image;
}

static void write_header(const struct perfmon_profile_header *self,
			 const struct pm_options *options)
{
	struct perfmon_profile_header *header = pm_profile_header();
	struct perfmon_profile_record lead = header->record;

	*header = *self;
	header->record = lead;
	header->magic = PERFMON_PROFILE_MAGIC;
	header->version = PERFMON_PROFILE_VERSION;
	header->state = PERFMON_PROFILE_STATE_RUNNING;
	header->rank = options->rank;
	header->ranks = options->ranks;
	header->clock = pm_clock.monotonic ? PERFMON_PROFILE_CLOCK_MONOTONIC
					   : PERFMON_PROFILE_CLOCK_TIMESTAMP;
	header->ticks_hz = pm_clock.hz;
	header->begin_ticks = pm_clock.begin_ticks;
	header->begin_ns = pm_clock.begin_ns;
	header->begin_realtime_ns = pm_clock.begin_realtime_ns;
	pm_profile_clock_renew();
}

/* Maps FD (-1: private memory) and makes room for the header. FD becomes the profile's;
 * ALLOCATED bytes of it are already there. */
static int begin(int fd, uint64_t allocated)
{
	int err = pm_memory_map(fd, allocated);

	if (err) {
		if (fd >= 0)
			pm_kernel_close(fd);
		return err;
	}
	if (pm_profile_reserve(PERFMON_PROFILE_TYPE_HEADER,
			       sizeof(struct perfmon_profile_header)))
		return 0;
	pm_kernel_munmap(pm_profile_memory.base, pm_profile_memory.space);
	pm_memory_leave();
	return -ENOMEM;
}

/* Begins the profile in the file of OPTIONS. Removes the file if it has no room for a
 * header. */
static int begin_in_file(const struct pm_options *options,
			 struct perfmon_profile_header *self, struct pm_diag *diag)
{
	const char *network;
	int err = pm_profile_place_open(&pm_profile_memory.place, options, self, diag);

	if (err)
		return err;
	err = pm_memory_allocate(pm_profile_memory.place.fd, 0, PM_MEMORY_STEP);
	if (err)
		pm_kernel_close(pm_profile_memory.place.fd);
	else
		err = begin(pm_profile_memory.place.fd, PM_MEMORY_STEP);
	if (err) {
		pm_diag_set(diag, err,
			    "cannot keep the profile in '%s' (%s): the profile is kept "
			    "in memory, and lost if the program is killed",
			    pm_profile_memory.place.path, strerror(-err));
		pm_kernel_unlink(pm_profile_memory.place.path);
		pm_profile_memory.place.path[0] = '\0';
		return err;
	}
	network = pm_profile_place_network(pm_profile_memory.file.fd);
	if (network)
		pm_diag_set(
			diag, 0,
			"the profile in '%s' is on a network file system (%s): writes "
			"are slow, other machines may see the profile late, and a server "
			"failure may end the program by SIGBUS; use a local path",
			pm_profile_memory.place.path, network);
	return 0;
}

/* Notes where the profile is if its file has another name than requested. Children and
 * later programs of the process get other names, so no note is needed there. */
static void note_place(const struct perfmon_profile_header *self)
{
	const struct pm_profile_place *place = &pm_profile_memory.place;
	struct pm_diag diag = {0};

	if (!place->path[0] || !place->path[place->wanted] || self->parent_link)
		return;
	pm_diag_set(&diag, 0, "the profile is in '%s': there was a file '%.*s' before",
		    place->path, (int)place->wanted, place->path);
	pm_profile_note(diag.text);
}

int pm_profile_open(const struct pm_options *options, struct pm_diag *diag)
{
	struct perfmon_profile_header self = {0};
	struct pm_diag first = {0};
	uint64_t soft, hard;
	bool is_private = false;
	int err = -ENOENT;

	pm_clock_init();
	identify(&self);
	if (options->profile_path)
		err = begin_in_file(options, &self, &first);
	if (err) {
		int fd = pm_memory_make_file();

		err = begin(fd, 0);
		is_private = fd < 0 || err;
		if (err && fd >= 0)
			err = begin(-1, 0);
	}
	if (err) {
		pm_diag_set(diag, err, "no address space for a profile (%s)",
			    strerror(-err));
		if (!pm_kernel_getrlimit(RLIMIT_AS, &soft, &hard) &&
		    soft != RLIM_INFINITY)
			pm_diag_add(diag,
				    "; RLIMIT_AS is %" PRIu64 " kB, raise it (ulimit -v)",
				    soft / 1024);
		return err;
	}
	write_header(&self, options);
	pm_profile_publish();
	if (first.text[0])
		pm_profile_note(first.text);
	note_place(&self);
	if (is_private)
		pm_profile_note("the profile is in private memory, invisible to other "
				"processes: memfd_create was refused");
	return 0;
}

void pm_profile_forget(void)
{
	notes.count = 0;
	totals.record = NULL;
	packages = NULL;
	pm_memory_leave();
	pm_profile_memory.place.path[0] = '\0';
}

void pm_profile_remember_parent(void)
{
	const struct perfmon_profile_header *header = pm_profile_header();

	if (!pm_profile_exists())
		return;
	parent.pid = header->pid;
	parent.start_time = header->start_time;
	parent.image = header->image;
}

void *pm_profile_reserve(uint32_t type, size_t size)
{
	struct perfmon_profile_record *record;

	size = (size + 7) & ~(size_t)7;
	if (!pm_profile_memory.base || pm_memory_back(pm_profile_memory.reserved + size))
		return NULL;
	record = pm_profile_at(pm_profile_memory.reserved);
	pm_profile_memory.reserved += size;
	record->type = type;
	record->size = size;
	return record;
}

void pm_profile_publish(void)
{
	/* The release orders the record before the size that includes it. Pairs with the
	 * acquire load of header.used in pm_walk_find(). */
	__atomic_store_n(&pm_profile_header()->used, pm_profile_memory.reserved,
			 __ATOMIC_RELEASE);
	pm_profile_clock_later();
	if (pm_profile_memory.news[0]) {
		char news[sizeof(pm_profile_memory.news)];

		memcpy(news, pm_profile_memory.news, sizeof(news));
		pm_profile_memory.news[0] = '\0';
		pm_profile_note(news);
	}
}

static bool noted(const char *text, size_t length)
{
	for (unsigned int i = 0; i < notes.count; i++) {
		const struct perfmon_profile_note *note = pm_profile_at(notes.at[i]);

		if (note->length == length && !memcmp(note->text, text, length))
			return true;
	}
	return false;
}

void pm_profile_note(const char *text)
{
	size_t length = strlen(text);
	struct perfmon_profile_note *note;

	if (!pm_profile_memory.base || notes.count >= NOTES_MOST || noted(text, length))
		return;
	note = pm_profile_reserve(PERFMON_PROFILE_TYPE_NOTE, sizeof(*note) + length + 1);
	if (!note)
		return;
	note->length = (uint32_t)length;
	memcpy(note->text, text, length + 1);
	notes.at[notes.count++] = pm_profile_offset(note);
	pm_profile_publish();
}

void pm_profile_machine(void)
{
	/* Kept for the process and the children that it forks. */
	static struct pm_cpu_kinds kinds;
	static bool asked;
	struct perfmon_profile_machine *machine;

	if (!asked)
		pm_cpu_kinds_here(&kinds);
	asked = true;
	if (!kinds.count)
		return;
	machine = pm_profile_reserve(PERFMON_PROFILE_TYPE_MACHINE,
				     sizeof(*machine) +
					     kinds.count * sizeof(machine->kind[0]));
	if (!machine)
		return;
	machine->kinds = kinds.count;
	machine->slots = kinds.slots;
	pm_pack_kinds(machine->kind, &kinds);
	pm_profile_publish();
}

void pm_profile_arguments(void)
{
	struct perfmon_profile_arguments *arguments;
	char text[PERFMON_PROFILE_ARGUMENTS_MAX + 2];
	ssize_t length = pm_file_text("/proc/self/cmdline", text, sizeof(text));
	bool cut = length > PERFMON_PROFILE_ARGUMENTS_MAX;

	if (length <= 0)
		return;
	if (cut)
		length = PERFMON_PROFILE_ARGUMENTS_MAX;
	arguments = pm_profile_reserve(PERFMON_PROFILE_TYPE_ARGUMENTS,
				       sizeof(*arguments) + (size_t)length);
	if (!arguments)
		return;
	arguments->length = (uint32_t)length;
	arguments->flags = cut ? PERFMON_PROFILE_ARGUMENTS_CUT : 0;
	memcpy(arguments->text, text, (size_t)length);
	pm_profile_publish();
}

int pm_profile_run_note(const struct pm_run_note *note)
{
	size_t key = strlen(note->key), value = strlen(note->value);
	struct perfmon_profile_run_note *record = pm_profile_reserve(
		PERFMON_PROFILE_TYPE_RUN_NOTE, sizeof(*record) + key + value);

	if (!record)
		return -ENOMEM;
	record->key_length = (uint32_t)key;
	record->value_length = (uint32_t)value;
	memcpy(record->text, note->key, key);
	memcpy(record->text + key, note->value, value);
	pm_profile_publish();
	return 0;
}

void pm_profile_totals(const struct perfmon_profile_plan *plan)
{
	struct perfmon_profile_totals *record = pm_profile_reserve(
		PERFMON_PROFILE_TYPE_TOTALS,
		sizeof(*record) + plan->counters * sizeof(record->total[0]));

	totals.record = record;
	totals.plan = plan;
	if (!record)
		return;
	record->counters = plan->counters;
	record->generation = plan->generation;
	pm_profile_publish();
}

void pm_profile_totals_renew(void)
{
	uint64_t all[PM_EXACT_EVENT_COUNT];

	if (!totals.record || !pm_exact_totals(all))
		return;
	for (uint32_t i = 0; i < totals.record->counters; i++)
		__atomic_store_n(&totals.record->total[i],
				 all[totals.plan->counter[i].config[0]],
				 __ATOMIC_RELAXED);
}

void pm_profile_packages(const char *place)
{
	packages = pm_profile_reserve(PERFMON_PROFILE_TYPE_PACKAGES, sizeof(*packages));
	if (!packages)
		return;
	memcpy(packages->place, place, strnlen(place, sizeof(packages->place) - 1));
	pm_profile_publish();
}

void pm_profile_packages_time(uint64_t own_ns, uint64_t busy_ns)
{
	if (!packages)
		return;
	__atomic_store_n(&packages->own_ns, own_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&packages->busy_ns, busy_ns, __ATOMIC_RELAXED);
}

void pm_profile_clock_renew(void)
{
	struct perfmon_profile_header *header = pm_profile_header();
	uint64_t ticks, ns, error = pm_clock_both(&ticks, &ns);

	/* The present reading is better than one that failed. */
	if (!ns && header->end_ns)
		return;
	__atomic_store_n(&header->end_ticks, ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&header->end_ns, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&header->clock_error, error + pm_clock.begin_error,
			 __ATOMIC_RELAXED);
}

void pm_profile_clock_later(void)
{
	const struct perfmon_profile_header *header = pm_profile_header();
	uint64_t end = __atomic_load_n(&header->end_ticks, __ATOMIC_RELAXED), now;

	if (pm_clock.hz)
		return;
	now = pm_clock_ticks();
	if (now > end && now - end > (end - header->begin_ticks) / 8)
		pm_profile_clock_renew();
}

void pm_affinity_add(uint64_t cpus[PM_AFFINITY_WORDS], pid_t tid)
{
	uint64_t now[PM_AFFINITY_WORDS] = {0};

	if (pm_kernel_affinity(tid, now, sizeof(now)) < 0)
		return;
	for (int i = 0; i < PM_AFFINITY_WORDS; i++)
		PM_PUT(cpus[i], cpus[i] | now[i]);
}

/* Adds the CPUs to which live threads have been bound since their first region. */
static void add_cpus(struct pm_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		struct perfmon_profile_thread *record = &snapshot->threads[i].record;

		if (record->state == PERFMON_PROFILE_THREAD_STATE_LIVE)
			pm_affinity_add(record->cpus, (pid_t)record->tid);
	}
}

static void take_totals(struct pm_snapshot *snapshot)
{
	const struct perfmon_profile_totals *record = totals.record;

	if (!record || record->generation != snapshot->generation)
		return;
	for (uint32_t i = 0; i < record->counters; i++)
		snapshot->totals[i] =
			__atomic_load_n(&record->total[i], __ATOMIC_RELAXED);
	snapshot->has_totals = true;
}

int pm_profile_snapshot(struct pm_snapshot **out, struct pm_diag *diag)
{
	int err;

	pm_profile_clock_renew();
	/* The memory up to header.used is backed, also while it grows. */
	err = pm_snapshot_take(
		pm_profile_memory.base,
		__atomic_load_n(&pm_profile_memory.space, __ATOMIC_RELAXED), out, diag);
	if (err)
		return err;
	/* Read after the nodes, so that the totals include them. */
	pm_profile_totals_renew();
	take_totals(*out);
	pm_snapshot_set_writer(*out, PM_WRITER_RUNS);
	pm_snapshot_tell_rate(*out);
	add_cpus(*out);
	return 0;
}
