#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What differs between CPUs compiles for each of them, warnings being errors: the files of
# src/arch and src/fastpath; with the generic fallback what uses the thread pointer, and with
# --long natively the whole library.
. "$PM_TOP/scripts/suite.sh"

flags=(-std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -ftls-model=initial-exec -pthread -O2
	-Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wundef
	-Wformat=2 -Wvla -Werror -Iinclude -Isrc)
compile() { # COMPILER FILE OPTION...
	local compiler=$1 file=$2
	shift 2
	"$compiler" "${flags[@]}" "$@" -c "$file" -o "$PM_SUITE_DIR/$(basename "$file" .c).o"
}
for file in src/arch/*.c src/fastpath/*.c; do
	[ -e "$file" ] || continue
	for compiler in riscv64-linux-gnu-gcc aarch64-linux-gnu-gcc gcc; do
		try "$file $compiler" compile "$compiler" "$file"
	done
	try "$file gcc generic" compile gcc "$file" -DPERFMON_ARCH_GENERIC
	try "$file riscv64-linux-gnu-gcc generic" \
		compile riscv64-linux-gnu-gcc "$file" -DPERFMON_ARCH_GENERIC
done
# A compiler that has no thread pointer for its CPU.
mapfile -t files < <(grep -rl perfmon_arch_thread_pointer src --include='*.c')
for file in "${files[@]}"; do
	try "$file gcc generic without a thread pointer" compile gcc "$file" -DPERFMON_ARCH_GENERIC \
		'-D__builtin_thread_pointer()=no_thread_pointer'
done
# What prints 64-bit words, with the kernel's types as they are on ppc64le: long there.
mapfile -t files < <(grep -rlE '%[-#0-9.*]*ll[dux]' src/core src/compat --include='*.c' |
	xargs grep -L '"config\.h"')
for file in "${files[@]}"; do
	try "$file gcc with long types of the kernel" compile gcc "$file" -D_ASM_GENERIC_INT_LL64_H \
		-include asm-generic/int-l64.h
done
[ -n "$PM_LONG" ] || exit 0
build=$PM_SUITE_DIR/build
# Without optimisation: what differs between CPUs has been compiled with it above.
must "configures for the generic CPU" in_shell pm_configure "$build" --enable-werror \
	--disable-static CPPFLAGS=-DPERFMON_ARCH_GENERIC CFLAGS=-O0 CXXFLAGS=-O0
try "builds for the generic CPU" in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" all
