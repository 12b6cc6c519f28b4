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

struct pm_profile_memory pm_profile_memory = {.file = PM_OWNED_NONE};

bool pm_profile_exists(void)
{
	/* Pairs with the release when memory is backed: before that there is no header, which a region in a
	 * program's own madvise(2) would write to. */
	return __atomic_load_n(&pm_profile_memory.backed, __ATOMIC_ACQUIRE) != 0;
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

/* Daemons close all descriptors that they do not know, so the file is opened again. */
static bool open_again(void)
{
	struct pm_profile_memory *memory = &pm_profile_memory;
	int fd = -1;

	if (memory->place.path[0])
		fd = pm_kernel_open(memory->place.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK,
				    0);
	memory->file.fd = fd;
	if (!pm_owned_check(&memory->file))
		return true;
	if (fd >= 0)
		pm_kernel_close(fd);
	memory->file = PM_OWNED_NONE;
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

/* Maps FD, or private memory if it is -1, over the bytes FROM to UPTO. A child must not
 * write into its parent's profile. */
static int map_over(uint64_t from, uint64_t upto, int fd)
{
	int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	char *at = pm_profile_memory.base + from;
	int err = pm_kernel_mmap_fixed(at, upto - from, PROT_READ | PROT_WRITE,
				       flags | MAP_NORESERVE, fd,
				       fd >= 0 ? (off_t)from : 0);

	if (!err)
		pm_kernel_madvise(at, upto - from, MADV_DONTFORK);
	return err;
}

/*
 * Under a translator such as Valgrind, the file is mapped part by part as it grows:
 * memory checkers read all that is mapped, and each word behind the end of the file is a
 * fault.
 */
static int map_part(uint64_t from, uint64_t upto)
{
	return pm_is_translated() ? map_over(from, upto, pm_profile_memory.file.fd) : 0;
}

static int grow_file(uint64_t upto)
{
	struct pm_profile_memory *memory = &pm_profile_memory;
	int err = -EBADF;

	if (!pm_owned_check(&memory->file) || open_again())
		err = pm_memory_allocate(memory->file.fd, memory->backed, upto);
	return err ?: map_part(memory->backed, upto);
}

/* Continues the profile in private memory at the same addresses, because of ERROR. The
 * file ends here. */
static int continue_privately(int error)
{
	struct pm_profile_memory *memory = &pm_profile_memory;
	int err;

	if (memory->reserved) {
		pm_profile_header()->private_error = (uint32_t)-error;
		pm_profile_header()->private_from = memory->backed;
	}
	snprintf(memory->news, sizeof(memory->news),
		 "the profile's memory could not grow beyond %llu KiB (%s): the profile "
		 "continues in private memory, invisible to other processes",
		 (unsigned long long)memory->backed >> 10, strerror(-error));
	pm_owned_close(&memory->file);
	err = map_over(memory->backed, memory->space, -1);
	if (err)
		memory->space = memory->backed;
	return err;
}

int pm_memory_back(uint64_t end)
{
	struct pm_profile_memory *memory = &pm_profile_memory;
	uint64_t upto = (end + PM_MEMORY_STEP - 1) / PM_MEMORY_STEP * PM_MEMORY_STEP;
	int err = 0;

	if (end <= memory->backed)
		return 0;
	if (upto > memory->space)
		upto = memory->space;
	if (end > upto)
		return -ENOSPC;
	if (memory->file.fd >= 0)
		err = grow_file(upto);
	if (err)
		err = continue_privately(err);
	if (!err)
		__atomic_store_n(&memory->backed, upto, __ATOMIC_RELEASE);
	return err;
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
	struct pm_profile_memory *memory = &pm_profile_memory;
	int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	uint64_t space = space_wanted();
	struct pm_owned file = PM_OWNED_NONE;
	void *base;
	int err = fd >= 0 ? pm_owned_learn(&file, fd) : 0;

	if (err)
		return err;
	do
		err = pm_kernel_mmap(&base, space, PROT_READ | PROT_WRITE,
				     flags | MAP_NORESERVE, fd, 0);
	while (err && (space /= 2) >= SPACE_LEAST);
	if (err)
		return err;
	memory->space = space;
	memory->base = base;
	memory->file = file;
	if (fd >= 0 && pm_is_translated()) {
		err = pm_kernel_mmap_fixed(base, space, PROT_NONE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
					   -1, 0);
		if (!err && allocated)
			err = map_part(0, allocated);
	}
	if (err) {
		pm_kernel_munmap(base, space);
		memory->base = NULL;
		memory->file = PM_OWNED_NONE;
		return err;
	}
	pm_kernel_madvise(base, space, MADV_DONTFORK);
	memory->reserved = 0;
	/* Pairs with the acquire in pm_profile_exists(), as in pm_memory_back(). */
	__atomic_store_n(&memory->backed, allocated, __ATOMIC_RELEASE);
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
	pm_owned_close(&pm_profile_memory.file);
	pm_profile_memory.base = NULL;
	pm_profile_memory.space = pm_profile_memory.backed = pm_profile_memory.reserved =
		0;
	pm_profile_memory.news[0] = '\0';
}
