#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who may use what: the layers, and the one file for each thing of others.
. "$PM_TOP/scripts/suite.sh"

# outside FILE PATTERN: the lines in other files that match
outside() {
	grep -rnE "$2" src --include='*.[ch]' --exclude="$1"
}
try "libpfm4 is seen in one file" nothing outside events_pfm.c \
	'#include <perfmon/(pfmlib|perf_event\.h)'
try "hwloc is seen in one file" nothing outside topology.c '#include <hwloc'
try "liburcu is seen in one file" nothing outside registry.c '#include <urcu'
# within FOLDER PATTERN: the lines in it that match
within() {
	[ ! -d "$1" ] || grep -rnE "$2" "$1"
}
try "arch uses nothing above it" nothing within src/arch \
	'#include "(\.\./)?(fastpath|core|cli|compat)/'
try "fastpath uses nothing above it" nothing within src/fastpath \
	'#include "(\.\./)?(core|cli|compat)/'
try "core uses nothing above it" nothing within src/core '#include "(\.\./)?(cli|compat)/'
for folder in arch fastpath core; do
	try "$folder has no use for the command's libraries" nothing within "src/$folder" \
		'#include <(jansson|libsmartcols|n?curses)'
done

native_tree all

# What it calls says what it does.
calls() { # PATTERN FILE...
	local pattern=$1
	shift
	nm -u "$@" | awk '{ print $2 }' | sed 's/@.*//' | grep -xE "$pattern" | sort -u
}
memory='mmap|mmap64|munmap|mprotect|madvise|memfd_create|ftruncate|ftruncate64|fallocate|fallocate64'
files='open|open64|openat|openat64|read|pread|pread64|write|close|fcntl|fcntl64|poll|ioctl'
mapfile -t others < <(find "$build/src" -path '*.libs/*.o' ! -name '*-kernel.o')
try "system calls are made in one file" nothing calls \
	"$memory|$files|syscall|sigaction|prctl|getrlimit|getrlimit64" "${others[@]}"

allocates='malloc|calloc|realloc|free'
locks='pthread_(mutex|rwlock|spin|cond)_.*'
hashes='strcmp|strncmp|strlen|memcmp'
try "the fast path does not allocate, lock, call the kernel or compare strings" nothing calls \
	"$allocates|$locks|$memory|$files|syscall|$hashes" "$build"/src/fastpath/.libs/*.o
prints='printf|vprintf|puts|putchar|perror'
ends='exit|_exit|_Exit|abort|__assert_fail'
changes='signal|sched_setaffinity|pthread_setaffinity_np|setrlimit|setrlimit64|prlimit|prlimit64'
try "the library does not print, exit or change what it was not asked to" nothing calls \
	"$prints|$ends|$changes" "$build/.libs/libperfmon.so"
