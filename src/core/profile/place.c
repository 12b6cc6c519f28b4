/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/kernel/machine_id.h"

/* The number of names that are tried. */
#define NAMES_MOST 1000

/* Makes name number N for process PID (see place.h). */
static int name(struct pm_profile_place *place, const struct pm_options *options,
		const char *host, int pid, int n)
{
	int length = pm_options_expand(options->profile_path, pid, options->rank, host,
				       place->path, sizeof(place->path) - 32);

	if (length < 0)
		return length;
	place->wanted = (size_t)length;
	if (n == 1)
		sprintf(place->path + length, ".%d", pid);
	else if (n > 1)
		sprintf(place->path + length, ".%d.%d", pid, n);
	return 0;
}

enum found { NO_FILE, NOT_THEIRS, THEIRS };

/* Looks at the file at PATH. If it is a profile of process PID that began at START_TIME
 * on SELF's boot, sets *IMAGE to the profile's. */
static enum found look(const char *path, const struct perfmon_profile_header *self,
		       uint32_t pid, uint64_t start_time, uint32_t *image)
{
	int fd = pm_kernel_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct perfmon_profile_header other;
	struct stat st;
	bool theirs;

	if (fd < 0)
		return fd == -ENOENT ? NO_FILE : NOT_THEIRS;
	theirs = !pm_kernel_fstat(fd, &st) && S_ISREG(st.st_mode) &&
		 pm_kernel_pread(fd, &other, sizeof(other), 0) == sizeof(other) &&
		 other.magic == PERFMON_PROFILE_MAGIC &&
		 other.version == PERFMON_PROFILE_VERSION && other.pid == pid &&
		 other.start_time == start_time &&
		 other.pid_namespace == self->pid_namespace &&
		 !memcmp(other.boot_id, self->boot_id, sizeof(other.boot_id));
	pm_kernel_close(fd);
	if (theirs)
		*image = other.image;
	return theirs ? THEIRS : NOT_THEIRS;
}

static void link_to(struct perfmon_profile_header *self, enum perfmon_profile_link link,
		    uint32_t pid, uint64_t start_time, uint32_t image)
{
	self->parent_link = link;
	self->parent_pid = pid;
	self->parent_start_time = start_time;
	self->parent_image = image;
}

/*
 * Links SELF to the parent process's latest profile, if its name follows the same rule.
 */
static void find_parent(const struct pm_options *options, const char *host,
			struct perfmon_profile_header *self)
{
	struct pm_profile_place place;
	struct pm_life parent;
	pid_t pid = pm_kernel_getppid();

	if (pid <= 0 || pm_life_read(pid, &parent))
		return;
	for (int n = 0; n < NAMES_MOST; n++) {
		enum found found;
		uint32_t image;

		if (name(&place, options, host, pid, n))
			return;
		found = look(place.path, self, (uint32_t)pid, parent.start_ticks, &image);
		if (found == NO_FILE)
			return;
		if (found == THEIRS)
			link_to(self, PERFMON_PROFILE_LINK_SPAWN, (uint32_t)pid,
				parent.start_ticks, image);
	}
}

int pm_profile_place_open(struct pm_profile_place *place,
			  const struct pm_options *options,
			  struct perfmon_profile_header *self, struct pm_diag *diag)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, err = -EEXIST;
	char host[sizeof(self->host)] = "";

	pm_machine_host(host, sizeof(host));
	for (int n = 0; err == -EEXIST && n < NAMES_MOST; n++) {
		uint32_t image;

		err = name(place, options, host, (int)self->pid, n);
		if (err)
			break;
		err = pm_kernel_open(place->path, flags, 0600);
		if (err == -ENOENT && options->profile_folder &&
		    !pm_options_make_folder(place->path))
			err = pm_kernel_open(place->path, flags, 0600);
		if (err != -EEXIST || look(place->path, self, self->pid, self->start_time,
					   &image) != THEIRS)
			continue;
		link_to(self, PERFMON_PROFILE_LINK_EXEC, self->pid, self->start_time,
			image);
		self->image = image + 1;
	}
	if (err < 0) {
		place->path[0] = '\0';
		return pm_diag_set(diag, err,
				   "cannot keep the profile in '%s' (%s): the profile is "
				   "kept in memory, and lost if the program is killed",
				   options->profile_path, strerror(-err));
	}
	place->fd = err;
	if (!self->parent_link)
		find_parent(options, host, self);
	return 0;
}

const char *pm_profile_place_network(int fd)
{
	/*
	 * The values of f_type are those of statfs(2) and of the kernel's sources (fs/,
	 * include/uapi/linux/magic.h). FUSE may be anything, but is mostly sshfs and the
	 * like.
	 */
	static const struct {
		uint32_t type;
		const char *name;
	} known[] = {
		{0x00006969, "NFS"},   {0x0000517b, "SMB"},	 {0xff534d42, "CIFS"},
		{0xfe534d42, "SMB"},   {0x0bd00bd0, "Lustre"},	 {0x01021997, "9p"},
		{0x65735546, "FUSE"},  {0x00c36400, "Ceph"},	 {0x47504653, "GPFS"},
		{0x5346414f, "AFS"},   {0x6b414653, "AFS"},	 {0x73757245, "Coda"},
		{0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},	 {0x19830326, "BeeGFS"},
		{0xaad7aaea, "PanFS"}, {0x20030528, "OrangeFS"},
	};
	uint64_t type;

	if (pm_kernel_filesystem(fd, &type))
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == (uint32_t)type)
			return known[i].name;
	return NULL;
}
