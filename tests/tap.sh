# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
#
# For tests that are shell scripts, of any bed: "try" what is to succeed, and end with
# "tap_end". Commands leave what a failure is to show in out, err and csv of the folder
# "here", which is gone at the end.

here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
export LC_ALL=C

number=0
failed=0
ok() {
	number=$((number + 1))
	printf 'ok %d - %s\n' "$number" "$1"
}
not_ok() {
	number=$((number + 1))
	failed=1
	printf 'not ok %d - %s\n' "$number" "$1"
	cat "$here/out" "$here/err" "$here/csv" 2>/dev/null | head -n 100 | sed 's/^/# /'
}
skip() { # NAME REASON
	number=$((number + 1))
	printf 'ok %d - %s # SKIP %s\n' "$number" "$1" "$2"
}
try() { # NAME COMMAND...
	name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name"; fi
}
# Whether hardware breakpoints fire here: see tests/breakpoints.h. Sets "why" if not.
breakpoints_fire() {
	# shellcheck disable=SC2034 # "why" is for the test
	why=$(./tests/programs/breakpoints)
	[ $? -ne 77 ]
}
tap_end() {
	printf '1..%d\n' "$number"
	exit "$failed"
}
