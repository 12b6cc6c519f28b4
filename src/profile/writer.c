/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profile/affinity.h"
#include "os/os.h"
#include "profile/place.h"

/* Address space kept for a profile; less where it is limited or refused. */
#define SPACE_MOST  (UINT64_C(1) << 30)
#define SPACE_LEAST (UINT64_C(1) << 20)
/* Memory is asked for in steps of this, so that few threads pay for a system call. */
#define STEP	   (UINT64_C(128) << 10)
#define NOTES_MOST 64
/* How often a call is made again that signals interrupt. */
#define INTERRUPTIONS 1000
#define PART_LEAST    4096

static struct {
	char *base;
	uint64_t space;	   /* bytes mapped */
	uint64_t backed;   /* bytes that may be touched */
	uint64_t reserved; /* bytes handed out */
	int fd;		   /* -1: private memory */
	dev_t device;	   /* of fd: programs close descriptors that are not theirs */
	ino_t inode;
	struct pm_profile_place place; /* of the file, while there is one */
	uint64_t note[NOTES_MOST];     /* offsets */
	unsigned int notes;
	char news[200]; /* a note that waits until the record under way is whole */
	/* Of the process that was forked, by its profile. */
	uint32_t parent_pid, parent_image;
	uint64_t parent_start_time;
} profile = {.fd = -1};

bool pm_profile_exists(void)
{
	return __atomic_load_n(&profile.base, __ATOMIC_ACQUIRE) != NULL;
}

struct perfmon_profile_header *pm_profile_header(void)
{
	return (struct perfmon_profile_header *)(void *)profile.base;
}

uint64_t pm_profile_offset(const void *record)
{
	return (uint64_t)((const char *)record - profile.base);
}

void *pm_profile_at(uint64_t offset)
{
	return profile.base + offset;
}

/* Whether the descriptor is still ours: another file's must be neither grown nor closed. */
static bool fd_is_ours(void)
{
	struct stat st;

	return profile.fd >= 0 && !pm_kernel_fstat(profile.fd, &st) &&
	       st.st_dev == profile.device && st.st_ino == profile.inode;
}

static void close_fd(void)
{
	if (fd_is_ours())
		pm_kernel_close(profile.fd);
	profile.fd = -1;
}

/* Daemons close all descriptors that they do not know: the file may be opened again. */
static bool open_again(void)
{
	if (!profile.place.path[0])
		return false;
	profile.fd = pm_profile_place_again(&profile.place);
	if (fd_is_ours())
		return true;
	if (profile.fd >= 0)
		pm_kernel_close(profile.fd);
	profile.fd = -1;
	return false;
}

/* For file systems that cannot allocate: what has been written once has its place. */
static int write_zeros(int fd, uint64_t at, uint64_t size)
{
	static const char zeros[PART_LEAST];
	int tries = INTERRUPTIONS;

	while (at < size) {
		size_t part =
			size - at < sizeof(zeros) ? (size_t)(size - at) : sizeof(zeros);
		ssize_t n = pm_kernel_pwrite(fd, zeros, part, at);

		if (n > 0)
			at += (uint64_t)n;
		else if (n != -EINTR || !tries--)
			return n ? (int)n : -ENOSPC;
	}
	return 0;
}

/* Room in the file FD, which has AT bytes, up to SIZE. A size above RLIMIT_FSIZE would be
 * answered with a signal that ends the program. */
static int allocate(int fd, uint64_t at, uint64_t size)
{
	uint64_t soft, hard;
	uint64_t part = size - at;
	int err = 0, tries = INTERRUPTIONS;

	if (!pm_kernel_getrlimit(RLIMIT_FSIZE, &soft, &hard) && size > soft)
		return -EFBIG;
	/* A signal makes the kernel undo the whole call: where the program has them at a high
	 * rate, only small steps get through. */
	while (at < size && (!err || (err == -EINTR && tries--))) {
		if (part > size - at)
			part = size - at;
		err = pm_kernel_fallocate(fd, 0, (off_t)at, (off_t)part);
		if (!err)
			at += part;
		else if (part > PART_LEAST)
			part /= 2;
	}
	return err == -EOPNOTSUPP || err == -ENOSYS ? write_zeros(fd, at, size) : err;
}

/* Makes the profile usable up to END. Pages are allocated before they are touched: a
 * store to a page for which there is no room is SIGBUS. */
static int back(uint64_t end)
{
	uint64_t upto = (end + STEP - 1) / STEP * STEP;
	void *at = profile.base + profile.backed;
	int err = -ENOTSUP;

	if (end <= profile.backed)
		return 0;
	if (upto > profile.space)
		upto = profile.space;
	if (end > upto)
		return -ENOSPC;
	if (profile.fd >= 0) {
		err = fd_is_ours() || open_again()
			      ? allocate(profile.fd, profile.backed, upto)
			      : -EBADF;
		if (err) {
			if (profile.reserved) {
				pm_profile_header()->private_error = (uint32_t)-err;
				pm_profile_header()->private_from = profile.backed;
			}
			/* The rest of the profile goes on in private memory, at the same
			 * addresses, and its file ends here. */
			snprintf(profile.news, sizeof(profile.news),
				 "the profile's memory could not grow beyond %llu KiB "
				 "(%s): "
				 "it goes on in private memory, which other processes "
				 "cannot see",
				 (unsigned long long)profile.backed >> 10,
				 strerror(-err));
			close_fd();
			err = pm_kernel_mmap_fixed(
				at, profile.space - profile.backed,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (err) {
				profile.space = profile.backed;
				return err;
			}
			pm_kernel_madvise(at, profile.space - profile.backed,
					  MADV_DONTFORK);
			profile.backed = upto;
			return 0;
		}
	}
	profile.backed = upto;
	return 0;
}

/* At most a sixteenth of what the process may have. */
static uint64_t space_wanted(void)
{
	static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
	uint64_t space = SPACE_MOST, soft, hard;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		while (space > SPACE_LEAST &&
		       !pm_kernel_getrlimit(limits[i], &soft, &hard) && space > soft / 16)
			space /= 2;
	}
	return space;
}

static int map(int fd)
{
	int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	struct stat st = {0};
	uint64_t space;
	void *base;
	int err = fd >= 0 ? pm_kernel_fstat(fd, &st) : 0;

	if (err)
		return err;
	err = -ENOMEM;
	for (space = space_wanted(); err && space >= SPACE_LEAST; space /= 2) {
		err = pm_kernel_mmap(&base, space, PROT_READ | PROT_WRITE,
				     flags | MAP_NORESERVE, fd, 0);
		if (!err) {
			profile.base = base;
			profile.space = space;
		}
	}
	if (err)
		return err;
	/* A child must not write into its parent's profile. */
	pm_kernel_madvise(profile.base, profile.space, MADV_DONTFORK);
	profile.backed = profile.reserved = 0;
	profile.notes = 0;
	profile.fd = fd;
	profile.device = st.st_dev;
	profile.inode = st.st_ino;
	return 0;
}

/* Who watches a process maps its profile, and must be sure that it does not shrink. */
static int make_memfd(void)
{
	int fd = pm_kernel_memfd_create("perfmon-profile",
					MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0)
		pm_kernel_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	return fd;
}

/* Who this process is, and what it was forked from. */
static void identify(struct perfmon_profile_header *self)
{
	self->pid = (uint32_t)pm_kernel_getpid();
	self->start_time = pm_machine_start_time();
	self->pid_namespace = pm_machine_pid_namespace();
	pm_machine_boot_id(self->boot_id, sizeof(self->boot_id));
	pm_machine_host(self->host, sizeof(self->host));
	pm_machine_program(self->program, sizeof(self->program));
	if (!profile.parent_pid)
		return;
	self->parent_link = PERFMON_LINK_FORK;
	self->parent_pid = profile.parent_pid;
	self->parent_start_time = profile.parent_start_time;
	self->parent_image = profile.parent_image;
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
	header->state = PERFMON_STATE_RUNNING;
	header->rank = options->rank;
	header->ranks = options->ranks;
	header->clock =
		pm_clock.monotonic ? PERFMON_CLOCK_MONOTONIC : PERFMON_CLOCK_TIMESTAMP;
	header->ticks_hz = pm_clock.hz;
	header->begin_ticks = pm_clock.begin_ticks;
	header->begin_ns = pm_clock.begin_ns;
	header->begin_realtime_ns = pm_clock.begin_realtime_ns;
	pm_profile_clock_renew();
}

/* There is no profile: none yet, or none any more. */
static void leave_none(void)
{
	close_fd();
	profile.base = NULL;
	profile.space = profile.backed = profile.reserved = 0;
	profile.news[0] = '\0';
}

/* Maps FD (-1: private memory), which is the profile's from now on and has ALLOCATED bytes
 * already, and makes room for the header. */
static int begin(int fd, uint64_t allocated)
{
	int err = map(fd);

	if (err) {
		if (fd >= 0)
			pm_kernel_close(fd);
		return err;
	}
	profile.backed = allocated;
	if (pm_profile_reserve(PERFMON_PROFILE_HEADER,
			       sizeof(struct perfmon_profile_header)))
		return 0;
	pm_kernel_munmap(profile.base, profile.space);
	leave_none();
	return -ENOMEM;
}

/* In the file of OPTIONS, which is removed again if not even a header has room. */
static int begin_in_file(const struct pm_options *options,
			 struct perfmon_profile_header *self, struct pm_diag *diag)
{
	const char *network;
	int err = pm_profile_place_open(&profile.place, options, self, diag);

	if (err)
		return err;
	err = allocate(profile.place.fd, 0, STEP);
	if (err)
		pm_kernel_close(profile.place.fd);
	else
		err = begin(profile.place.fd, STEP);
	if (err) {
		pm_diag_set(diag, err,
			    "the profile could not be kept in '%s' (%s): it is kept in "
			    "memory and lost if the program is killed",
			    profile.place.path, strerror(-err));
		pm_kernel_unlink(profile.place.path);
		profile.place.path[0] = '\0';
		return err;
	}
	network = pm_profile_place_network(profile.fd);
	if (network)
		pm_diag_set(
			diag, 0,
			"the profile is kept in '%s', on a network file system (%s): "
			"writing it back takes time, other machines may see it late or "
			"in parts, and if the server fails the program may end by "
			"SIGBUS; a local path is safer",
			profile.place.path, network);
	return 0;
}

int pm_profile_open(const struct pm_options *options, struct pm_diag *diag)
{
	struct perfmon_profile_header self = {0};
	struct pm_diag first = {0};
	uint64_t soft, hard;
	bool refused = false;
	int err = -ENOENT;

	pm_clock_init();
	identify(&self);
	if (options->profile_path)
		err = begin_in_file(options, &self, &first);
	if (err) {
		int fd = make_memfd();

		err = begin(fd, 0);
		refused = fd < 0 || err;
		if (err && fd >= 0)
			err = begin(-1, 0);
	}
	if (err) {
		pm_diag_set(diag, err, "there is no address space for a profile (%s)",
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
	if (refused)
		pm_profile_note(
			"the profile is in private memory, which other processes cannot "
			"see: memfd_create was refused");
	return 0;
}

void pm_profile_forget(void)
{
	leave_none();
	profile.place.path[0] = '\0';
}

void pm_profile_remember_parent(void)
{
	const struct perfmon_profile_header *header = pm_profile_header();

	if (!pm_profile_exists())
		return;
	profile.parent_pid = header->pid;
	profile.parent_start_time = header->start_time;
	profile.parent_image = header->image;
}

void *pm_profile_reserve(uint32_t type, size_t size)
{
	struct perfmon_profile_record *record;

	size = (size + 7) & ~(size_t)7;
	if (!profile.base || back(profile.reserved + size))
		return NULL;
	record = (struct perfmon_profile_record *)(void *)(profile.base +
							   profile.reserved);
	profile.reserved += size;
	record->type = type;
	record->size = size;
	return record;
}

void pm_profile_publish(void)
{
	/* The release orders the record before the size that covers it; its partner is the
	 * reader's acquire load of header.used. */
	__atomic_store_n(&pm_profile_header()->used, profile.reserved, __ATOMIC_RELEASE);
	pm_profile_clock_later();
	if (profile.news[0]) {
		char news[sizeof(profile.news)];

		memcpy(news, profile.news, sizeof(news));
		profile.news[0] = '\0';
		pm_profile_note(news);
	}
}

static bool noted(const char *text, size_t length)
{
	for (unsigned int i = 0; i < profile.notes; i++) {
		const struct perfmon_profile_note *note = pm_profile_at(profile.note[i]);

		if (note->length == length && !memcmp(note->text, text, length))
			return true;
	}
	return false;
}

void pm_profile_note(const char *text)
{
	size_t length = strlen(text);
	struct perfmon_profile_note *note;

	if (!profile.base || profile.notes >= NOTES_MOST || noted(text, length))
		return;
	note = pm_profile_reserve(PERFMON_PROFILE_NOTE, sizeof(*note) + length + 1);
	if (!note)
		return;
	note->length = (uint32_t)length;
	memcpy(note->text, text, length + 1);
	profile.note[profile.notes++] = pm_profile_offset(note);
	pm_profile_publish();
}

void pm_profile_machine(void)
{
	/* Of the process, and of those that it forks. */
	static struct pm_cpu_kinds kinds;
	static bool asked;
	struct perfmon_profile_machine *machine;

	if (!asked)
		pm_cpu_kinds_here(&kinds);
	asked = true;
	if (!kinds.count)
		return;
	machine = pm_profile_reserve(PERFMON_PROFILE_MACHINE,
				     sizeof(*machine) +
					     kinds.count * sizeof(machine->kind[0]));
	if (!machine)
		return;
	machine->kinds = kinds.count;
	machine->slots = kinds.slots;
	for (uint32_t i = 0; i < kinds.count; i++) {
		machine->kind[i].maker = kinds.kind[i].maker;
		machine->kind[i].family = kinds.kind[i].family;
		machine->kind[i].model = kinds.kind[i].model;
	}
	pm_profile_publish();
}

void pm_profile_clock_renew(void)
{
	struct perfmon_profile_header *header = pm_profile_header();
	uint64_t ticks, ns, error = pm_clock_both(&ticks, &ns);

	/* The moments that are there are better than one that could not be read. */
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

/* Threads that live may have been bound since their first region. */
static void add_cpus(struct pm_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		struct perfmon_profile_thread *record = &snapshot->threads[i].record;

		if (record->state == PERFMON_THREAD_LIVE)
			pm_affinity_add(record->cpus, (pid_t)record->tid);
	}
}

int pm_profile_snapshot(struct pm_snapshot **out, struct pm_diag *diag)
{
	int err;

	pm_profile_clock_renew();
	/* Whatever its header calls used is backed, also while it grows. */
	err = pm_snapshot_take(profile.base,
			       __atomic_load_n(&profile.space, __ATOMIC_RELAXED), out,
			       diag);
	if (err)
		return err;
	pm_snapshot_set_writer(*out, PM_WRITER_RUNS);
	pm_snapshot_tell_rate(*out);
	add_cpus(*out);
	return 0;
}
