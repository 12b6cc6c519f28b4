# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For the suites that compare what scripts/bench prints with bench/limits.
# shellcheck source-path=SCRIPTDIR/../scripts
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
# other_clock NAME: regions read another clock on this machine than the limit of NAME is for
other_clock() {
	local sources=/sys/devices/system/clocksource/clocksource0/available_clocksource
	case $1 in
	region.step.pair.* | region.pair.*.over.timestamp.pair) ;;
	*) return 1 ;;
	esac
	[ "$(uname -m)" = x86_64 ] && ! grep -qw tsc $sources
}
# check BED FILE
check() {
	local name most unit value
	while read -r name most unit; do
		value=$(measured "$name" "$unit" "$2")
		if other_clock "$name"; then
			skip "$name" "the kernel offers no clock source 'tsc' here: regions read CLOCK_MONOTONIC"
		elif within "$value" "$most"; then
			ok "$name is $value, at most $most $unit"
		else
			not_ok "$name is ${value:-not measured}, not at most $most $unit"
		fi
	done < <(limits "$1")
}
beyond() { # BED FILE: the names that are not within
	local name most unit
	while read -r name most unit; do
		other_clock "$name" || within "$(measured "$name" "$unit" "$2")" "$most" ||
			echo "$name"
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
		region.exact.* | exact.*) echo bench_exact ;;
		region.*) echo bench_regions ;;
		read.*) echo bench_reads ;;
		session.*) echo bench_sessions ;;
		notify.*) echo bench_notify ;;
		start.*) echo bench_start ;;
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
