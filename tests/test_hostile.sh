#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Profiles of strangers: what of their text reaches a terminal or a spreadsheet, and how long
# a command takes, and writes, whatever they hold.
# Row: DC-02
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
hostile=./tests/programs/profile_hostile
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"

# Each command that reads profiles, for profile FILE and its twin, by name.
run() { # NAME FILE
	case $1 in
	text) "$perfmon" report "$2" ;;
	flat) "$perfmon" report -b -f flat "$2" ;;
	threads) "$perfmon" report -T "$2" ;;
	csv) "$perfmon" report -T -f csv "$2" ;;
	json) "$perfmon" report -T -f json "$2" ;;
	html) "$perfmon" report --html "$2" ;;
	merged) "$perfmon" report "$2" "$2.twin" ;;
	merged_csv) "$perfmon" report -f csv "$2" "$2.twin" ;;
	merged_json) "$perfmon" report -f json "$2" "$2.twin" ;;
	metrics) "$perfmon" report -m 'x = nosuch / cycles; y = visits' "$2" ;;
	diff) "$perfmon" diff "$2" "$2.twin" ;;
	diff_json) "$perfmon" diff -f json "$2" "$2.twin" ;;
	top) "$perfmon" top -T --once "$2" ;;
	chrome) "$perfmon" export -f chrome "$2" ;;
	folded) "$perfmon" export -T -f folded "$2" ;;
	callgrind) "$perfmon" export -f callgrind "$2" ;;
	split) "$perfmon" export -f json-split "$2" ;;
	pprof) "$perfmon" export -T -f pprof "$2" ;;
	roofline) "$perfmon" roofline --quick -f json --timed "$2" ;;
	weight) "$perfmon" export -f folded -w nosuch "$2" ;;
	esac
}
all="text flat threads csv json html merged merged_csv merged_json metrics diff diff_json top
	chrome folded callgrind split pprof weight roofline"
make() { # KIND [MIB]
	"$hostile" "$1" "$here/$1" "${2:-1}" && cp "$here/$1" "$here/$1.twin"
}

# --- text -----------------------------------------------------------------------------

is_plain() { # NAME FILE
	run "$1" "$2" >"$here/out" 2>"$here/err" </dev/null
	# The texts of this one are in a message.
	if [ "$1" = pprof ]; then
		python3 "${srcdir:-.}/tests/export_check.py" pprof "$here/out" >"$here/texts" && mv "$here/texts" "$here/out" || return 1
	fi
	# Something is said, of one kind or the other.
	[ -s "$here/out" ] || [ -s "$here/err" ] || return 1
	case $1 in
	*csv) "$hostile" check csv <"$here/out" ;;
	*) "$hostile" check <"$here/out" ;;
	esac && "$hostile" check <"$here/err"
}
for kind in text partial exact; do
	make "$kind"
	run flat "$here/$kind" >"$here/out_of_$kind" 2>"$here/err"
	for name in $all; do
		[ "$name" != pprof ] || command -v python3 >/dev/null || continue
		try "$kind: $name is plain text" is_plain "$name" "$here/$kind"
	done
done
# What a visit takes in counts has the first event's name.
try "exact: reports have a line of the cost" grep -q "^  cost     a visit takes about 1000 =0+" "$here/out_of_exact"
named_plain() { # a file's name is foreign, too
	odd=$(printf '%s/x\033]0;y\007' "$here")
	echo text >"$odd"
	"$perfmon" report "$odd" "$odd.not" >"$here/out" 2>"$here/err" </dev/null
	[ -s "$here/err" ] && "$hostile" check <"$here/err"
}
try "a file's name is plain text" named_plain

# --- size -----------------------------------------------------------------------------

# What grows with the square of a file's size does not end here in an hour.
mib=1
[ -z "$PERFMON_TEST_LONG" ] || mib=64
ends() { # NAME FILE: and writes no more than so many times the file
	size=$(wc -c <"$2")
	{ run "$1" "$2" 2>"$here/err" </dev/null || echo "$?" >"$here/status"; } |
		head -c $((256 * size)) | wc -c >"$here/out"
	[ "$(cat "$here/out")" -lt $((256 * size)) ]
}
kinds="events plans deep dense threads"
[ -z "$PERFMON_TEST_SHORT" ] || kinds="deep dense"
for kind in $kinds; do
	make "$kind" "$mib"
	for name in $all; do
		try "$kind: $name ends" ends "$name" "$here/$kind"
	done
	rm "$here/$kind" "$here/$kind.twin"
done
tap_end
