#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scripts themselves.
. "$PM_TOP/scripts/suite.sh"

mapfile -t files < <(git ls-files -co --exclude-standard scripts tests .ci 2>/dev/null || 
	find scripts tests .ci -type f)
for file in "${files[@]}"; do
	case $(head -n 1 "$file" 2>/dev/null):$file in
	'#!'*sh:* | *:*.sh) try "shellcheck $file" shellcheck -x -P SCRIPTDIR "$file" ;;
	esac
done

# What a script does when it is misused, and that it leaves nothing running.
status_is() { # STATUS COMMAND...
	local want=$1 status=0
	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ]
}
# The library tells of each variable of its prefix that it does not know.
try "check: has no variable with the library's prefix" status_is 1 \
	grep -q 'PERFMON_[A-Z]*JOBS' scripts/check scripts/lib.sh
# A quote in an argument and in the environment, and the status.
# shellcheck disable=SC2016 # for the guest's shell
try "guest: a user's command is passed on, and its status" status_is 7 scripts/guest --user \
	--env "A=it's" sh -c '[ "$A" = "it'\''s" ] && [ $(id -u) -ne 0 ] && exit 7'
try "guest: a time limit" status_is 124 \
	scripts/guest --no-build --timeout 8 sh -c 'while :; do :; done'
try "guest: an unknown command" status_is 127 scripts/guest --no-build no-such-command
out=$PM_SUITE_DIR/out
rm -rf "$out"
try "guest: files go in and out" status_is 0 scripts/guest --no-build --file README.md=/tmp/r \
	--out "$out" cp /tmp/r /out/
try "guest: the same file came back" cmp README.md "$out/r"
try "guest: a bad sysctl is an error" status_is 125 \
	scripts/guest --no-build --set no.such=1 true

# run-test: a program that fails the first time, for that reason.
cat >"$PM_SUITE_DIR/fails_once" <<'END'
#!/bin/sh
[ ! -e "$PM_TAP_DIR/again" ] || exit 0
touch "$PM_TAP_DIR/again"
[ -n "$SAYS" ] || exit 1
sh -c 'kill -s TRAP $$'
exit 1
END
chmod +x "$PM_SUITE_DIR/fails_once"
# runs_once WANT SAYS
runs_once() {
	rm -rf "$PM_SUITE_DIR/taps"
	mkdir "$PM_SUITE_DIR/taps"
	status_is "$1" env PM_TAP_DIR="$PM_SUITE_DIR/taps" SAYS="$2" scripts/run-test "$PM_SUITE_DIR/fails_once"
}
if grep -qw hypervisor /proc/cpuinfo; then
	try "run-test: a test that a lost breakpoint ended is run once more" runs_once 0 yes
else
	try "run-test: outside of a virtual machine no breakpoint is lost" runs_once 1 yes
fi
try "run-test: no other is" runs_once 1 ""
