#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a read and a region cost is within bench/limits.
# Runs alone: some limits are of time.
. "$PM_TOP/scripts/suite.sh"

# limits BED: "name most unit" of each.
limits() {
	awk -v bed="$1" '$1 == bed { print $2, $3, $4 }' "$PM_TOP/bench/limits"
}
# measured NAME UNIT FILE: its value, the least if there are several.
measured() {
	awk -v name="$1" -v unit="$2" '
		$1 == "BENCH" && $2 == name && $4 == unit && (least == "" || $3 < least) { least = $3 }
		END { print least }' "$3"
}
within() { # VALUE MOST
	awk -v value="$1" -v most="$2" 'BEGIN { exit !(value != "" && value + 0 <= most) }'
}
# check BED FILE
check() {
	local name most unit value
	while read -r name most unit; do
		value=$(measured "$name" "$unit" "$2")
		if within "$value" "$most"; then
			ok "$name is $value, at most $most $unit"
		else
			not_ok "$name is ${value:-not measured}, not at most $most $unit"
		fi
	done < <(limits "$1")
}
beyond() { # BED FILE: the names that are not within
	local name most unit
	while read -r name most unit; do
		within "$(measured "$name" "$unit" "$2")" "$most" || echo "$name"
	done < <(limits "$1")
}
# programs: of the names that it reads, what measures them
programs() {
	local name
	while read -r name; do
		case $name in
		region.path.* | region.kept.* | region.watched.* | region.kept_watched.*) echo bench_kept ;;
		region.first) echo bench_threads ;;
		region.pair.*.over.timestamp.pair | region.scaling) echo bench_time ;;
		region.*) echo bench_regions ;;
		read.*) echo bench_reads ;;
		session.*) echo bench_sessions ;;
		notify.*) echo bench_notify ;;
		*) echo "no-program-for-$name" ;;
		esac
	done | sort -u
}
# again BED FILE ATTEMPTS OPTION...: measures anew what is not within, as often as that
again() {
	local bed=$1 file=$2 attempts=$3 missing
	shift 3
	while [ "$attempts" -gt 0 ]; do
		mapfile -t missing < <(beyond "$bed" "$file" | programs)
		[ ${#missing[@]} -gt 0 ] || return 0
		echo "again: ${missing[*]}" >&2
		# The machine may be shared, and busy just now.
		sleep 3
		bench "$file" "$@" "${missing[@]}" || true
		attempts=$((attempts - 1))
	done
}

bench() { # FILE ARGUMENT...
	local file=$1
	shift
	"$PM_TOP/scripts/bench" "$@" >>"$file"
}

# Two runs: what user mode does alone is the same in both, to the instruction.
rm -f "$PM_SUITE_DIR"/guest*
mapfile -t exactly < <({ limits guest | sed 's/ .*//' && echo region.scaling; } | programs)
try "measures in the guest" in_shell bench "$PM_SUITE_DIR/guest.1" --guest || true
try "measures there again what is exact" in_shell bench "$PM_SUITE_DIR/guest.2" --guest "${exactly[@]}" || true
cat "$PM_SUITE_DIR/guest.1" "$PM_SUITE_DIR/guest.2" >&2
exact() {
	grep -E ' (read\.(inline|call)|region\.(pair|kept|watched|kept_watched|siblings|parents|deep|disarmed)|timestamp)' "$1" |
		grep -v papi | sort
}
try "the same in both runs" cmp <(exact "$PM_SUITE_DIR/guest.1") <(exact "$PM_SUITE_DIR/guest.2") || true
cat "$PM_SUITE_DIR/guest.1" "$PM_SUITE_DIR/guest.2" >"$PM_SUITE_DIR/guest"
check guest "$PM_SUITE_DIR/guest"
# Five attempts of what is not, with those two.
again guest-kernel "$PM_SUITE_DIR/guest" 4 --guest
check guest-kernel "$PM_SUITE_DIR/guest"
# Where the profile is, and whether somebody looks, costs nothing.
for way in kept watched kept_watched; do
	for counters in 0 4; do
		plain=$(measured region.pair.$counters instructions "$PM_SUITE_DIR/guest")
		try "region.$way.pair.$counters is region.pair.$counters, $plain" test -n "$plain" -a \
			"$plain" = "$(measured region.$way.pair.$counters instructions "$PM_SUITE_DIR/guest")" || true
	done
done

here=$PM_SUITE_DIR/here
: >"$here"
try "measures here" in_shell bench "$here" || true
[ "$(uname -m)" != x86_64 ] || check x86 "$here"
if [ "$(nproc)" -lt 2 ]; then
	skip "costs in time" "one CPU: two threads cannot run at the same time"
	exit 0
fi
again time "$here" 5
cat "$here" >&2
check time "$here"
