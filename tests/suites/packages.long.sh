#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The packages of debian/, on each release of Debian that the mirror has: built from the release
# archive, read by lintian, installed on a fresh system, tried by their own tests, and removed.
# The test programs run there, too, with that release's compiler and libraries.
# Systems are folders here, whose mounts end with the commands that run in them.
# Row: HM-10
# Row: HM-11
. "$PM_TOP/scripts/suite.sh"
. "$PM_TOP/scripts/systems.sh"

arch=$(dpkg --print-architecture 2>/dev/null || true)

build_packages() { # SYSTEM
	local top=$1/build/upper/perfmon
	mkdir -p "$top"
	cp "$archive" "$top/perfmon_$version.orig.tar.xz"
	tar -x -C "$top" -f "$archive"
	apt_get "$1" build update
	apt_get "$1" build install dpkg-dev
	apt_get "$1" build build-dep -P nocheck "/perfmon/perfmon-$version"
	# The tests are the other suites'.
	in_root "$1" build env -C "/perfmon/perfmon-$version" DEB_BUILD_PROFILES=nocheck \
		DEB_BUILD_OPTIONS="nocheck parallel=$PM_JOBS" dpkg-buildpackage -us -uc
}
# In the tree that the packages were built from, and with what it has compiled.
test_programs_pass() { # SYSTEM
	apt_get "$1" build build-dep "/perfmon/perfmon-$version"
	in_root "$1" build env -C "/perfmon/perfmon-$version" ./configure --enable-werror --disable-static
	in_root "$1" build env -C "/perfmon/perfmon-$version" timeout 3600 make -k -j "$PM_JOBS" check
}
checked_by_lintian() { # SYSTEM
	apt_get "$1" build install lintian
	in_root "$1" build bash -c 'lintian --allow-root --fail-on error /perfmon/*.changes'
}
# What the tests of the packages need besides the packages.
test_needs() {
	sed -n 's/^Depends: //p' debian/tests/control | tr ',' '\n' | sed 's/ *|.*//; s/^ *//' |
		grep -v perfmon | sort -u
}
# netbase, which trixie's python3 brings, makes /etc/hosts and leaves it.
files_of() { # SYSTEM FILE: what is in the system, but for what apt and dpkg remember
	in_root "$1" try find /bin /etc /home /lib /opt /root /sbin /srv /usr /var -xdev \
		! -path '/var/lib/apt/*' ! -path '/var/lib/dpkg/*' ! -path '/var/cache/*' \
		! -path '/var/log/*' ! -path /etc/hosts | sort >"$2"
}
install_packages() { # SYSTEM
	local needs
	mapfile -t needs < <(test_needs)
	apt_get "$1" try update
	apt_get "$1" try install "${needs[@]}"
	files_of "$1" "$1/before"
	mkdir -p "$1/try/upper/packages"
	cp "$1/build/upper/perfmon/"*.deb "$1/try/upper/packages/"
	# shellcheck disable=SC2016 # for the inner shell
	in_root "$1" try sh -c 'rm -f /packages/*-dbgsym_*; exec apt-get -q -y --no-install-recommends \
		-o APT::Keep-Downloaded-Packages=true install /packages/*.deb'
}
package_test() { # SYSTEM TEST
	mkdir -p "$1/try/upper/tests" "$1/try/upper/tmp/$2"
	cp "$PM_TOP/debian/tests/$2" "$1/try/upper/tests/"
	in_root "$1" try env AUTOPKGTEST_TMP="/tmp/$2" timeout 300 "/tests/$2"
}
# The library asks for no more than it says.
needs_little() { # SYSTEM
	nothing sh -c "dpkg-deb -f '$1'/try/upper/packages/libperfmon0_*.deb Depends | tr ',' '\\n' |
		grep -v -E '^ *(libc6|liburcu[0-9a-z]*) '"
}
remove_packages() { # SYSTEM
	local ours
	mapfile -t ours < <(sed -n 's/^Package: //p' debian/control)
	rm -rf "$1/try/upper/packages" "$1/try/upper/tests"
	# What is there before may recommend a package that ours have brought, as trixie's does python3.
	apt_get "$1" try purge --autoremove -o APT::AutoRemove::RecommendsImportant=false \
		-o APT::AutoRemove::SuggestsImportant=false "${ours[@]}"
	files_of "$1" "$1/after"
	diff "$1/before" "$1/after"
}

release() { # RELEASE
	local system=$PM_SUITE_DIR/$1 test tests
	step "$1: a fresh system" in_shell strap "$system" "$1" &&
		step "$1: the packages are built" in_shell build_packages "$system" &&
		step "$1: lintian finds no error" in_shell checked_by_lintian "$system" &&
		step "$1: they are installed" in_shell install_packages "$system" || return 0
	try "$1: the library needs the C library and liburcu alone" needs_little "$system"
	read -ra tests <<<"$(sed -n 's/^Tests: //p' debian/tests/control | tr '\n' ' ')"
	for test in "${tests[@]}"; do
		case $test-$arch in
		exact-amd64 | exact-arm64 | [!e]*) try "$1: their test $test" in_shell package_test "$system" "$test" ;;
		*) skip "$1: their test $test" "Valgrind's tool is not built for $arch" ;;
		esac
	done
	try "$1: they are removed, and nothing is left" in_shell remove_packages "$system"
	try "$1: the test programs pass" in_shell test_programs_pass "$system"
}
build=$PM_SUITE_DIR/build
must configures in_shell pm_configure "$build" --disable-static
rm -f "$build"/perfmon-*.tar.*
must "makes the release archive" in_shell pm_make "$build" "$PM_SUITE_DIR/dist.log" dist
archive=$(echo "$build"/perfmon-*.tar.xz)
version=$(basename "$archive" .tar.xz)
version=${version#perfmon-}
for name in "${releases[@]}"; do
	why=$(obstacle "$name")
	if [ -n "$why" ]; then
		skip "$name: the packages" "$why"
		continue
	fi
	release "$name"
	rm -rf "${PM_SUITE_DIR:?}/$name"
done
