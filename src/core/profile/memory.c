/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/kernel/kernel.h"
#include "core/valgrind/exact.h"

/* The address space for a profile. It is less if it is limited or not available. */
#define SPACE_MOST  (UINT64_C(1) << 30)
#define SPACE_LEAST (UINT64_C(1) << 20)
/* A call that signals interrupt is repeated this often. */
#define INTERRUPTIONS 1000
#define PART_LEAST    4096

struct pm_profile_memory pm_profile_memory = {.fd = -1};

bool pm_profile_exists(void)
{
	/* Pairs with the release when it is mapped: the space is known. */
	return __atomic_load_n(&pm_profile_memory.base, __ATOMIC_ACQUIRE) != NULL;
}

struct perfmon_profile_header *pm_profile_header(void)
{
	return (struct perfmon_profile_header *)(void *)pm_profile_memory.base;
}

uint64_t pm_profile_offset(const void *record)
{
	return (uint64_t)((const char *)record - pm_profile_memory.base);
}

void *pm_profile_at(uint64_t offset)
{
	return pm_profile_memory.base + offset;
}

/* Returns whether the descriptor is still ours. Another file must be neither grown nor
 * closed. */
static bool fd_is_ours(void)
{
	struct stat st;

	return pm_profile_memory.fd >= 0 && !pm_kernel_fstat(pm_profile_memory.fd, &st) &&
	       st.st_dev == pm_profile_memory.device &&
	       st.st_ino == pm_profile_memory.inode;
}

static void close_fd(void)
{
	if (fd_is_ours())
		pm_kernel_close(pm_profile_memory.fd);
	pm_profile_memory.fd = -1;
}

/* Daemons close all descriptors that they do not know, so the file is opened again. */
static bool open_again(void)
{
	if (!pm_profile_memory.place.path[0])
		return false;
	pm_profile_memory.fd = pm_profile_place_again(&pm_profile_memory.place);
	if (fd_is_ours())
		return true;
	if (pm_profile_memory.fd >= 0)
		pm_kernel_close(pm_profile_memory.fd);
	pm_profile_memory.fd = -1;
	return false;
}

/* For file systems that cannot allocate: writing a page allocates it. */
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

int pm_memory_allocate(int fd, uint64_t at, uint64_t size)
{
	uint64_t soft, hard;
	uint64_t part = size - at;
	int err = 0, tries = INTERRUPTIONS;

	if (!pm_kernel_getrlimit(RLIMIT_FSIZE, &soft, &hard) && size > soft)
		return -EFBIG;
	/* A signal makes the kernel undo the whole call. With frequent signals, only
	 * small steps succeed. */
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

/*
 * Under a translator such as Valgrind, the file is mapped part by part as it grows:
 * memory checkers read all that is mapped, and each word behind the end of the file is a
 * fault.
 */
static int map_part(uint64_t from, uint64_t upto)
{
	uint8_t *at = (uint8_t *)pm_profile_memory.base + from;
	int err;

	if (!pm_is_translated())
		return 0;
	err = pm_kernel_mmap_fixed(at, upto - from, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_NORESERVE, pm_profile_memory.fd,
				   (off_t)from);
	if (!err)
		pm_kernel_madvise(at, upto - from, MADV_DONTFORK);
	return err;
}

int pm_memory_back(uint64_t end)
{
	uint64_t upto = (end + PM_MEMORY_STEP - 1) / PM_MEMORY_STEP * PM_MEMORY_STEP;
	void *at = pm_profile_memory.base + pm_profile_memory.backed;
	int err = -ENOTSUP;

	if (end <= pm_profile_memory.backed)
		return 0;
	if (upto > pm_profile_memory.space)
		upto = pm_profile_memory.space;
	if (end > upto)
		return -ENOSPC;
	if (pm_profile_memory.fd >= 0) {
		err = fd_is_ours() || open_again()
			      ? pm_memory_allocate(pm_profile_memory.fd,
						   pm_profile_memory.backed, upto)
			      : -EBADF;
		if (!err)
			err = map_part(pm_profile_memory.backed, upto);
		if (err) {
			if (pm_profile_memory.reserved) {
				pm_profile_header()->private_error = (uint32_t)-err;
				pm_profile_header()->private_from =
					pm_profile_memory.backed;
			}
			/* The rest of the profile continues in private memory at the same
			 * addresses, and the file ends here. */
			snprintf(pm_profile_memory.news, sizeof(pm_profile_memory.news),
				 "the profile's memory could not grow beyond %llu KiB "
				 "(%s): "
				 "the profile continues in private memory, invisible to "
				 "other processes",
				 (unsigned long long)pm_profile_memory.backed >> 10,
				 strerror(-err));
			close_fd();
			err = pm_kernel_mmap_fixed(
				at, pm_profile_memory.space - pm_profile_memory.backed,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (err) {
				pm_profile_memory.space = pm_profile_memory.backed;
				return err;
			}
			pm_kernel_madvise(
				at, pm_profile_memory.space - pm_profile_memory.backed,
				MADV_DONTFORK);
			pm_profile_memory.backed = upto;
			return 0;
		}
	}
	pm_profile_memory.backed = upto;
	return 0;
}

/* Returns at most a sixteenth of the process's limits. */
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

int pm_memory_map(int fd, uint64_t allocated)
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
			pm_profile_memory.space = space;
			/* Pairs with the acquire in pm_profile_exists(). */
			__atomic_store_n(&pm_profile_memory.base, base, __ATOMIC_RELEASE);
		}
	}
	if (err)
		return err;
	pm_profile_memory.fd = fd;
	if (fd >= 0 && pm_is_translated()) {
		err = pm_kernel_mmap_fixed(base, pm_profile_memory.space, PROT_NONE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
					   -1, 0);
		if (!err && allocated)
			err = map_part(0, allocated);
	}
	if (err) {
		pm_kernel_munmap(base, pm_profile_memory.space);
		pm_profile_memory.base = NULL;
		pm_profile_memory.fd = -1;
		return err;
	}
	/* A child must not write into its parent's profile. */
	pm_kernel_madvise(pm_profile_memory.base, pm_profile_memory.space, MADV_DONTFORK);
	pm_profile_memory.backed = allocated;
	pm_profile_memory.reserved = 0;
	pm_profile_memory.device = st.st_dev;
	pm_profile_memory.inode = st.st_ino;
	return 0;
}

int pm_memory_make_file(void)
{
	int fd = pm_kernel_memfd_create("perfmon-profile",
					MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0)
		pm_kernel_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	return fd;
}

void pm_memory_leave(void)
{
	close_fd();
	pm_profile_memory.base = NULL;
	pm_profile_memory.space = pm_profile_memory.backed = pm_profile_memory.reserved =
		0;
	pm_profile_memory.news[0] = '\0';
}
