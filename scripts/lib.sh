# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What the scripts share. Sourced by bash with "set -euo pipefail" in force.

# shellcheck disable=SC2034 # used by those who source this
PM_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PM_BUILD=$PM_TOP/build
PM_JOBS=${PM_JOBS:-2}
# The tree of this machine that scripts share; scripts/check has its own, and its options.
PM_NATIVE=${PM_NATIVE:-$PM_BUILD/native}
PM_NATIVE_OPTIONS=${PM_NATIVE_OPTIONS:-}
PM_NAME=${0##*/}
# configure would choose bash, in which libtool takes half as long again.
[ -n "${CONFIG_SHELL-}" ] || [ ! -x /bin/dash ] || export CONFIG_SHELL=/bin/dash

# Everything a script says about itself goes to stderr: stdout is for results.
pm_say() { printf '%s: %s\n' "$PM_NAME" "$*" >&2; }
pm_die() {
	pm_say "$*"
	exit 1
}

# pm_packages GROUP...: the packages of these groups, one a line.
pm_packages() {
	local group
	for group; do
		awk -v group="$group" '$1 == group { print $2 }' "$PM_TOP/scripts/packages"
	done | sort -u
}

# pm_missing PACKAGE...: those that are not installed.
pm_missing() {
	local have
	have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p') || true
	printf '%s\n' "$@" | grep -vxF -e "$have" || true
}

# pm_need GROUP...: installs what is missing of these groups. Quick when nothing is.
pm_need() {
	"$PM_TOP/scripts/install-packages" "$@"
}

# pm_logged LOG COMMAND...: runs a command with its output in LOG, of which the end is
# shown when it fails.
pm_logged() {
	local log=$1 status=0
	shift
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		pm_say "failed ($status): $*"
		pm_say "the end of $log:"
		tail -n "${PM_TAIL:-40}" "$log" >&2
	fi
	return "$status"
}

# pm_generate: makes ./configure, unless it is there and newer than its source.
pm_generate() {
	if [ "$PM_TOP/configure" -nt "$PM_TOP/configure.ac" ] && [ -e "$PM_TOP/Makefile.in" ]; then
		return 0
	fi
	pm_logged "$PM_BUILD/autoreconf.log" env -C "$PM_TOP" autoreconf -i
}

# pm_configure DIR OPTION...: brings DIR to a state where make can be run in it, from
# whatever state it and the source tree are in. Several scripts may do so at once. By a
# relative path, so that what is compiled names its source as "make distcheck" does: see
# PM_CCACHE in scripts/check.
pm_configure() {
	local dir=$1 options packages
	shift
	mkdir -p "$dir"
	# What configure found last time may have been installed since.
	options="$* ${CC:-} ${CXX:-} ${CFLAGS:-} ${CXXFLAGS:-} ${LDFLAGS:-} ${CPPFLAGS:-}"
	options+=" ${CRITERION_CFLAGS:-} without:"
	mapfile -t packages < <(pm_packages build bench check)
	options+=$(pm_missing "${packages[@]}" | tr '\n' ' ')
	[ ! -e "$PM_TOP/config.status" ] ||
		pm_die "the source tree itself is configured: run 'make distclean' in it first"
	(
		# configure and Makefile.in are shared by all build trees, and make would
		# regenerate them from each tree at the same time. Who only reads them shares the lock.
		flock 9
		pm_generate
		if [ "$(cat "$dir/.options" 2>/dev/null)" = "$options" ] && [ -e "$dir/Makefile" ] &&
			make -C "$dir" -s am--refresh >"$dir/configure.log" 2>&1 </dev/null; then
			exit 0
		fi
		# Also where the rules name a file that has since been removed.
		[ ! -e "$dir/Makefile" ] ||
			pm_logged "$PM_BUILD/autoreconf.log" env -C "$PM_TOP" autoreconf -i
		flock -s 9
		pm_logged "$dir/configure.log" env -C "$dir" \
			"$(realpath --relative-to="$dir" "$PM_TOP")/configure" "$@"
		printf '%s\n' "$options" >"$dir/.options"
	) 9>"$PM_BUILD/.source.lock"
}

# pm_native TARGET...: the tree PM_NATIVE, with these made.
pm_native() {
	local options
	[ -e "$PM_NATIVE/Makefile" ] || pm_say "building in ${PM_NATIVE#"$PM_TOP/"} (once)"
	read -ra options <<<"$PM_NATIVE_OPTIONS"
	pm_configure "$PM_NATIVE" ${options+"${options[@]}"}
	pm_make "$PM_NATIVE" "$PM_NATIVE/make.log" "$@"
}

# pm_cached COMMAND...: with the compilers that scripts/check wants, if any.
pm_cached() {
	PATH=${PM_CCACHE:+$PM_CCACHE:}$PATH "$@"
}

# pm_make DIR LOG ARGUMENT...
pm_make() {
	local dir=$1 log=$2
	shift 2
	(
		flock 9
		pm_logged "$log" pm_cached make -C "$dir" -j "$PM_JOBS" "$@" 9>&-
	) 9>"$dir/.make.lock"
}

# pm_standin DIR COMPILER...: has DIR, which is to be configured, take the stand-in for
# Criterion (see scripts/standin). Its tests compile in half the time, and each starts as a
# small process.
pm_standin() {
	local dir=$1 standin=$PM_TOP/scripts/standin
	local object=$dir/standin.o
	shift
	export CRITERION_CFLAGS=-I$standin CRITERION_LIBS="$object -lm"
	[ "$standin/standin.c" -nt "$object" ] ||
		[ "$standin/criterion/criterion.h" -nt "$object" ] || return 0
	mkdir -p "$dir"
	pm_logged "$dir/standin.log" "$@" -std=gnu11 -O1 -g -Wall -Wextra -Werror -c \
		-I"$standin" "$standin/standin.c" -o "$object"
	# make does not know what they are linked with.
	[ ! -d "$dir/tests" ] ||
		find "$dir/tests" -maxdepth 1 -name 'test_*' ! -name '*.*' -type f -delete
}

# pm_words DIR VARIABLE: the words of a variable of a build tree's Makefile, one a line.
pm_words() {
	# shellcheck disable=SC2016 # for make to expand
	printf 'include Makefile\npm-words:\n\t@printf "%%s\\n" $(%s)\n' "$2" |
		make -s -C "$1" -f - pm-words | sed 's|^\./||; /^$/d'
}

# pm_tests DIR: the tests of a build tree, as tests/NAME.
pm_tests() { pm_words "$1" TESTS; }

# pm_programs DIR: the programs and modules that were built to be tried, not installed.
pm_programs() {
	(cd "$1" && for dir in tests examples bench; do
		[ ! -d "$dir" ] || find "$dir" -type f \( -perm -100 -o -name '*.so*' \) \
			! -name '*.o' ! -name '*.la' ! -name '*.lo' ! -name '*.a' ! -name '*.log' \
			! -name '*.trs' ! -name 'lt-*'
	done)
}

# pm_stage DIR ROOT: puts what DIR, configured with --prefix=/perfmon, has built into
# ROOT/perfmon, such that it runs there without the build tree: see scripts/guest.
pm_stage() {
	local dir=$1 root=$2 file folder real
	rm -rf "$root"
	mkdir -p "$root/perfmon/source/scripts"
	pm_make "$dir" "$dir/install.log" install DESTDIR="$root"
	pm_programs "$dir" | while read -r file; do
		folder=${file%/*}
		real=$file
		case $file in
		*/.libs/*.so*)
			# A module: where the build has it, and beside the programs.
			mkdir -p "$root/perfmon/$folder"
			cp "$dir/$file" "$root/perfmon/$folder/"
			folder=${folder%/.libs}
			;;
		*/.libs/*) continue ;;
		*)
			# libtool leaves a wrapper here and keeps the program in .libs.
			[ ! -f "$dir/$folder/.libs/${file##*/}" ] ||
				real=$folder/.libs/${file##*/}
			;;
		esac
		mkdir -p "$root/perfmon/$folder"
		cp "$dir/$real" "$root/perfmon/$folder/${file##*/}"
	done
	# Scripts and data that tests read.
	cp -r "$PM_TOP/tests" "$root/perfmon/source/"
	cp "$PM_TOP/scripts/run-test" "$root/perfmon/source/scripts/"
	pm_tests "$dir" | while read -r file; do
		if [ -e "$root/perfmon/$file" ]; then
			printf '%s\n' "$file"
		else
			printf 'source/%s\n' "$file"
		fi
	done >"$root/perfmon/tests.list"
}
