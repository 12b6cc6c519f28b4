#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The release archive: make distcheck, and a build inside of the unpacked tree, without autotools.
# Row: DC-01
# Row: HM-10
. "$PM_TOP/scripts/suite.sh"

build=$PM_SUITE_DIR/build
must configures in_shell pm_configure "$build"
rm -f "$build"/perfmon-*.tar.*
# All tests are built. Those that run are the ones that need files of the tree, and a few
# others: the native suite runs them all.
some=()
if [ -z "$PM_LONG" ]; then
	few="tests/test_events tests/test_events_machines tests/test_placement tests/test_report"
	few+=" tests/test_regions tests/test_diff.sh tests/test_examples.sh tests/test_export.sh"
	some=("TESTS=$few tests/test_stat.sh")
fi
# distcheck takes the tree's write permission away, and a broken run leaves it so.
distcheck() {
	chmod -R u+w "$build"/perfmon-*/ 2>/dev/null || true
	rm -rf "$build"/perfmon-*/
	# With the flags of the native suite, which has compiled most of it: see PM_CCACHE. What
	# is packed is unpacked at once, and need not be small.
	XZ_OPT=-0 pm_cached make -C "$build" -j "$PM_JOBS" distcheck \
		DISTCHECK_CONFIGURE_FLAGS="--enable-werror --disable-static" "${some[@]}"
}
must distcheck in_shell distcheck

# distcheck has built it beside the tree.
[ -n "$PM_LONG" ] || exit 0
rm -rf "$PM_SUITE_DIR/in-tree"
mkdir -p "$PM_SUITE_DIR/in-tree"
must "unpacks" tar -x -C "$PM_SUITE_DIR/in-tree" --strip-components=1 \
	-f "$(echo "$build"/perfmon-*.tar.xz)"
cd "$PM_SUITE_DIR/in-tree"
# Who builds the archive has none of these, and a rule that wants one would fail.
mkdir -p "$PM_SUITE_DIR/without"
for tool in aclocal autoconf autoheader autom4te automake autoreconf libtoolize; do
	for name in "$tool" $(compgen -c "$tool-" || true); do
		printf '#!/bin/sh\necho "%s is not here" >&2\nexit 1\n' "$name" >"$PM_SUITE_DIR/without/$name"
		chmod +x "$PM_SUITE_DIR/without/$name"
	done
done
export PATH=$PM_SUITE_DIR/without:$PATH
sees_none() { ! autoconf --version && ! automake --version; }
must "autotools are out of reach" in_shell sees_none
# Without optimisation: the compiler is faster.
must "configures in the tree" ./configure --enable-werror --disable-static CFLAGS=-O0 CXXFLAGS=-O0
try "builds in the tree" make -j "$PM_JOBS"
