/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/kernel/machine_id.h"
#include "core/kernel/process_maps.h"
#include "core/profile/memory.h"
#include "core/text/text.h"

/* pm_profile_open() makes no larger profile. */
#define SIZE_MOST (UINT64_C(1) << 30)
/* A snapshot is taken again this often because the profile has outgrown it. */
#define GROWTHS 10

struct pm_profile_file {
	int fd;
	struct stat status;
	bool may_map; /* no other user can make it shorter */
	bool here;    /* it was begun on this boot, and its PID is one of ours */
	pid_t pid;    /* of the writer, as the caller sees it */
	void *map;
	size_t map_size;
	struct perfmon_profile_header header;
	char name[256]; /* for messages */
};

/* Opens PATH for reading if it is a regular file. The type is checked before the file is
 * opened, since opening a device, or a FIFO that a process waits for, has an effect. */
static int open_regular(const char *path, const char *name, struct stat *st,
			struct pm_diag *diag)
{
	char again[64];
	int fd = pm_kernel_open(path, O_PATH, 0), err;
	const char *kind = NULL;

	if (fd < 0)
		return pm_diag_set(diag, fd, "cannot open %s: %s", name, strerror(-fd));
	err = pm_kernel_fstat(fd, st);
	if (err) {
		pm_diag_set(diag, err, "cannot open %s: %s", name, strerror(-err));
		goto out;
	}
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		break;
	case S_IFDIR:
		kind = "a directory";
		break;
	case S_IFIFO:
		kind = "a FIFO";
		break;
	case S_IFSOCK:
		kind = "a socket";
		break;
	default:
		kind = "a device";
	}
	if (kind) {
		err = pm_diag_set(diag, S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL,
				  "%s is %s, not a profile", name, kind);
		goto out;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	err = pm_kernel_open(again, O_RDONLY, 0);
	if (err < 0)
		pm_diag_set(diag, err, "cannot read %s: %s", name, strerror(-err));
out:
	pm_kernel_close(fd);
	return err;
}

/*
 * Returns whether the file FD can be mapped without the risk that another process
 * shortens it. root's own files are not mapped: a daemon may have given up its rights
 * since it opened one.
 */
static bool may_map(int fd, const struct stat *st)
{
	int seals = pm_kernel_fcntl(fd, F_GET_SEALS, 0);
	uid_t user = pm_kernel_user();

	if (seals >= 0 && seals & F_SEAL_SHRINK)
		return true;
	return user && st->st_uid == user && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes a FILE from FD, which it closes on failure. ST is fd's status. */
static int make(int fd, const struct stat *st, const char *name,
		struct pm_profile_file **out, struct pm_diag *diag)
{
	struct pm_profile_file *file = calloc(1, sizeof(*file));
	char boot_id[sizeof(file->header.boot_id)];
	struct pm_diag why = {0};
	ssize_t n = -ENOMEM;
	int err;

	if (file)
		n = pm_file_read_at(fd, &file->header, sizeof(file->header), 0);
	/* The header may have been written during the first read. If its end was read,
	 * then its start is there now. */
	if (n == (ssize_t)sizeof(file->header) && file->header.used)
		n = pm_file_read_at(fd, &file->header, sizeof(file->header), 0);
	if (n < 0) {
		err = pm_diag_set(diag, (int)n, "cannot read %s: %s", name,
				  strerror((int)-n));
		goto failed;
	}
	err = pm_snapshot_check(
		&file->header,
		(size_t)n < sizeof(file->header) ? (size_t)n : (size_t)st->st_size, &why);
	if (err) {
		pm_diag_set(diag, err, "%s: %s", name, why.text);
		goto failed;
	}
	snprintf(file->name, sizeof(file->name), "%s", name);
	pm_machine_boot_id(boot_id, sizeof(boot_id));
	file->header.boot_id[sizeof(boot_id) - 1] = '\0';
	file->header.host[sizeof(file->header.host) - 1] = '\0';
	file->header.job[sizeof(file->header.job) - 1] = '\0';
	file->header.program[sizeof(file->header.program) - 1] = '\0';
	file->here = boot_id[0] && !strcmp(boot_id, file->header.boot_id) &&
		     (!file->header.pid_namespace ||
		      file->header.pid_namespace == pm_machine_pid_namespace());
	file->pid = (pid_t)file->header.pid;
	file->fd = fd;
	file->status = *st;
	file->may_map = may_map(fd, st);
	*out = file;
	return 0;
failed:
	free(file);
	pm_kernel_close(fd);
	return err;
}

int pm_profile_file_open(const char *path, struct pm_profile_file **out,
			 struct pm_diag *diag)
{
	char name[256];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "'%.*s%s'", pm_text_cut(path, 200), path,
		 strlen(path) > 200 ? "..." : "");
	fd = open_regular(path, name, &st, diag);
	return fd < 0 ? fd : make(fd, &st, name, out, diag);
}

/* The profile that a search among the mappings of a process looks for, and its result. */
struct search {
	pid_t pid;
	uint64_t start_time;
	char name[32];
	struct pm_profile_file *found;
	struct pm_diag diag; /* about the best candidate */
};

/* Opens the file of MAPPING: by the mapping itself, which needs rights, by a descriptor
 * of the process, or by its name. */
static int open_mapping(const struct search *search, const struct pm_process_map *mapping,
			struct stat *st, struct pm_diag *diag)
{
	char path[96], link[4200];
	char **fds;
	size_t count;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)search->pid, mapping->from, mapping->to);
	fd = open_regular(path, search->name, st, NULL);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)search->pid);
	fd = pm_dir_list(path, &fds, &count);
	if (!fd) {
		for (size_t i = 0; i < count; i++) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%.16s",
				 (int)search->pid, fds[i]);
			if (pm_kernel_readlink(path, link, sizeof(link)) < 0 ||
			    strcmp(link, mapping->path) != 0)
				continue;
			fd = open_regular(path, search->name, st, diag);
			if (fd >= 0 && !pm_process_map_is_of(mapping, st)) {
				pm_kernel_close(fd);
				continue;
			}
			free(fds);
			return fd;
		}
		free(fds);
	}
	fd = open_regular(mapping->path, search->name, st, diag);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (fd >= 0 && pm_process_map_is_of(mapping, st))
		return fd;
	if (fd >= 0)
		pm_kernel_close(fd);
	return pm_diag_set(diag, -ENOENT, "the profile of %s is no longer at '%s'",
			   search->name, mapping->path);
}

/* Reads SIZE bytes of PID's memory. An unreadable page is an error, not a signal. */
static bool read_memory(pid_t pid, uint64_t at, void *to, size_t size)
{
	char path[64];
	bool whole;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = pm_kernel_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	whole = pm_kernel_pread(fd, to, size, at) == (ssize_t)size;
	pm_kernel_close(fd);
	return whole;
}

/* Returns whether PID's memory at MAPPING begins as a profile does, if it can be read. A
 * failure to open any other file is of no interest. */
static bool holds_profile(pid_t pid, const struct pm_process_map *mapping)
{
	uint64_t magic, at = offsetof(struct perfmon_profile_header, magic);

	return read_memory(pid, mapping->from + at, &magic, sizeof(magic)) &&
	       magic == PERFMON_PROFILE_MAGIC;
}

/* Returns true when the search is over. */
static bool try_mapping(const struct pm_process_map *mapping, void *argument)
{
	struct search *search = argument;
	bool named = !strncmp(mapping->path, "/memfd:perfmon-profile", 22);
	struct pm_diag diag = {0};
	struct stat st;
	int fd;

	if (!mapping->writable || !mapping->shared || mapping->offset ||
	    mapping->path[0] != '/')
		return false;
	fd = open_mapping(search, mapping, &st, &diag);
	/* The writer maps the file before it allocates any of it. */
	if (fd >= 0 && st.st_size < (off_t)sizeof(struct perfmon_profile_header)) {
		pm_kernel_close(fd);
		fd = pm_diag_set(&diag, -ENODATA,
				 "%s: the profile is empty: the program is still at the "
				 "first region",
				 search->name);
	}
	if (fd < 0 || make(fd, &st, search->name, &search->found, &diag)) {
		if (named || holds_profile(search->pid, mapping))
			search->diag = diag;
		return false;
	}
	if (search->found->header.start_time == search->start_time)
		return true;
	pm_profile_file_close(search->found);
	search->found = NULL;
	return false;
}

int pm_profile_file_open_pid(pid_t pid, struct pm_profile_file **out,
			     struct pm_diag *diag)
{
	struct search search = {.pid = pid};
	struct pm_life life;
	int err;

	snprintf(search.name, sizeof(search.name), "process %d", (int)pid);
	if (pid <= 0 || pm_life_read(pid, &life) || life.is_over)
		return pm_diag_set(diag, -ESRCH, "there is no process %d", (int)pid);
	search.start_time = life.start_ticks;
	err = pm_process_maps(pid, try_mapping, &search);
	if (err == -EACCES || err == -EPERM)
		return pm_diag_set(diag, -EACCES,
				   "cannot inspect process %d (%s): you need the same "
				   "user or CAP_SYS_PTRACE",
				   (int)pid, strerror(-err));
	if (err < 0)
		return pm_diag_set(diag, err, "cannot list the memory of process %d: %s",
				   (int)pid, strerror(-err));
	if (search.found) {
		search.found->pid = pid;
		search.found->here = true;
		*out = search.found;
		return 0;
	}
	if (search.diag.error)
		return pm_diag_set(diag, search.diag.error, "%s", search.diag.text);
	return pm_diag_set(diag, -ENOENT,
			   "process %d has no profile: the program has not used a region "
			   "yet, does not use libperfmon, or keeps the profile in "
			   "private memory or in a removed file",
			   (int)pid);
}

static bool is_ours(const struct pm_process_map *mapping, void *argument)
{
	const struct pm_profile_file *file = argument;

	return mapping->shared && !mapping->offset &&
	       pm_process_map_is_of(mapping, &file->status);
}

static enum pm_snapshot_writer writer_of(const struct pm_profile_file *file)
{
	struct pm_life life;
	int err;

	if (!file->here)
		return PM_WRITER_UNKNOWN;
	err = pm_life_read(file->pid, &life);
	/* /proc may hide other users' processes (hidepid). */
	if (err && pm_kernel_kill(file->pid, 0) != -ESRCH)
		return PM_WRITER_UNKNOWN;
	if (err || life.is_over || life.start_ticks != file->header.start_time)
		return PM_WRITER_GONE;
	/* After exec(2) all of these still agree, but no process writes the profile. */
	err = pm_process_maps(file->pid, is_ours, (void *)(uintptr_t)file);
	return err > 0 || err == -EACCES || err == -EPERM ? PM_WRITER_RUNS
							  : PM_WRITER_GONE;
}

bool pm_profile_file_is_alive(const struct pm_profile_file *file)
{
	return writer_of(file) == PM_WRITER_RUNS;
}

/* ALIVE says that the profile may be written meanwhile. */
static int take_copy(struct pm_profile_file *file, uint64_t size, bool alive,
		     struct pm_snapshot **out, struct pm_diag *diag)
{
	void *copy = malloc(size + 1);
	ssize_t n;
	int err;

	if (!copy)
		return pm_diag_set(diag, -ENOMEM,
				   "no memory for the %" PRIu64
				   " bytes of the profile of %s",
				   size, file->name);
	n = pm_file_read_at(file->fd, copy, size, 0);
	if (n < 0)
		err = pm_diag_set(diag, (int)n, "cannot read %s: %s", file->name,
				  strerror((int)-n));
	else
		err = pm_snapshot_take_as(copy, (size_t)n,
					  PM_SNAPSHOT_FOREIGN |
						  (alive ? 0 : PM_SNAPSHOT_STILL),
					  alive ? file->fd : -1, out, diag);
	free(copy);
	return err;
}

static void unmap(struct pm_profile_file *file)
{
	if (file->map)
		pm_kernel_munmap(file->map, file->map_size);
	file->map = NULL;
	file->map_size = 0;
}

static int take_live(struct pm_profile_file *file, uint64_t size,
		     struct pm_snapshot **out, struct pm_diag *diag)
{
	if (size > file->map_size) {
		int err;

		unmap(file);
		err = pm_kernel_mmap(&file->map, size, PROT_READ, MAP_SHARED, file->fd,
				     0);
		if (err)
			return pm_diag_set(diag, err, "cannot map the profile of %s: %s",
					   file->name, strerror(-err));
		file->map_size = size;
	}
	return pm_snapshot_take_as(file->map, size, PM_SNAPSHOT_FOREIGN, -1, out, diag);
}

/* Returns whether the running process of FILE has the caller's CLOCK_MONOTONIC. It has
 * another one in a time namespace of its own (Linux 5.6). */
static bool has_our_clocks(const struct pm_profile_file *file)
{
	char path[64], theirs[64], ours[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)file->pid);
	a = pm_kernel_readlink(path, theirs, sizeof(theirs));
	b = pm_kernel_readlink("/proc/self/ns/time", ours, sizeof(ours));
	if (a < 0 || b < 0)
		return a == -ENOENT && b == -ENOENT;
	return !strcmp(theirs, ours);
}

int pm_profile_file_snapshot(struct pm_profile_file *file, struct pm_snapshot **out,
			     struct pm_diag *diag)
{
	enum pm_snapshot_writer writer = writer_of(file);
	/* A writer that cannot be seen may write, too. */
	bool alive = writer != PM_WRITER_GONE;
	struct pm_snapshot *s = NULL;
	uint64_t size = 0, before;
	int tries = GROWTHS, err;

	if (!alive)
		unmap(file);
	do {
		struct stat st;

		before = size;
		err = pm_kernel_fstat(file->fd, &st);
		if (err) {
			pm_snapshot_free(s);
			return pm_diag_set(diag, err, "cannot read %s: %s", file->name,
					   strerror(-err));
		}
		size = (uint64_t)st.st_size < SIZE_MOST ? (uint64_t)st.st_size
							: SIZE_MOST;
		/* If nothing has been added, the last snapshot is as good as another would be. A
		 * copy is not of one moment: what was written meanwhile may be in it in part. */
		if (s && size <= before && (file->may_map || tries < GROWTHS - 1))
			break;
		pm_snapshot_free(s);
		s = NULL;
		pm_diag_clear(diag);
		err = alive && file->may_map ? take_live(file, size, &s, diag)
					     : take_copy(file, size, alive, &s, diag);
	} while (!err && alive && s->partial && tries--);
	if (err)
		return err;
	pm_snapshot_set_writer(s, writer);
	if (s->writer == PM_WRITER_RUNS && has_our_clocks(file))
		pm_snapshot_measure_rate(s);
	pm_snapshot_tell_rate(s);
	*out = s;
	return 0;
}

const struct perfmon_profile_header *
pm_profile_file_header(const struct pm_profile_file *file)
{
	return &file->header;
}

void pm_profile_file_close(struct pm_profile_file *file)
{
	if (!file)
		return;
	unmap(file);
	pm_kernel_close(file->fd);
	free(file);
}

static bool count_copy(const struct pm_process_map *map, void *argument)
{
	const struct perfmon_profile_header *own = pm_profile_header();
	struct perfmon_profile_header other;
	struct pm_copies *copies = argument;

	/* A read of a device's memory may change the device. */
	if (!map->shared || !map->writable || map->offset || map->path[0] != '/' ||
	    (!strncmp(map->path, "/dev/", 5) && strncmp(map->path, "/dev/shm/", 9)) ||
	    map->from == (uintptr_t)own)
		return false;
	if (!read_memory(pm_kernel_getpid(), map->from, &other, sizeof(other)) ||
	    other.magic != PERFMON_PROFILE_MAGIC || other.pid != own->pid ||
	    other.start_time != own->start_time)
		return false;
	copies->others++;
	if (other.begin_ns < own->begin_ns ||
	    (other.begin_ns == own->begin_ns && map->from < (uintptr_t)own))
		copies->before++;
	return false;
}

void pm_copies_find(struct pm_copies *copies)
{
	memset(copies, 0, sizeof(*copies));
	if (pm_profile_exists())
		pm_process_maps(pm_kernel_getpid(), count_copy, copies);
}
