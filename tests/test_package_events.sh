#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Events of packages in the command: perfmon stat beside the events of threads, perfmon list and
# perfmon info. A folder in the place of sysfs's has a PMU of energy that is the clock of CPU 0, one
# Joule a second.
# Row: QU-06
# shellcheck disable=SC2317 # functions that "try" calls
# shellcheck disable=SC2016 # for the shell in the namespace

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
get=./tests/programs/json_get
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset NO_COLOR
pkg=power/energy-pkg/

says() { grep -qF -- "$1" "$here/$2"; }

# --- without such a PMU ----------------------------------------------------------------

refused() {
	if "$perfmon" stat -e uncore_imc_9999/x/ true >"$here/out" 2>"$here/err"; then return 1; fi
	says "on other machines an administrator may add it by 'modprobe intel-uncore'" err
}
try "says what may add the PMU of a package" refused

# --- with one ---------------------------------------------------------------------------

# with COMMAND...: runs it where the PMU is.
mkdir -p "$here/devices/power/events" "$here/devices/power/format"
for device in /sys/bus/event_source/devices/*; do
	[ "${device##*/}" = power ] || ln -s "$(readlink -f "$device")" "$here/devices/"
done
echo 1 >"$here/devices/power/type"
echo 0 >"$here/devices/power/cpumask"
echo config:0-63 >"$here/devices/power/format/event"
echo event=0x00 >"$here/devices/power/events/energy-pkg"
echo 1e-9 >"$here/devices/power/events/energy-pkg.scale"
echo Joules >"$here/devices/power/events/energy-pkg.unit"
with() {
	unshare -m sh -c 'mount --bind "$0" /sys/bus/event_source/devices && exec "$@"' \
		"$here/devices" "$@" >"$here/out" 2>"$here/err"
}
if ! with "$perfmon" stat -C 0 -e "$pkg" true; then
	skip "counts for packages" "no mount and no event on a CPU: $(tail -n 1 "$here/err")"
	tap_end
fi

# In hundredths of a second. Not all of date(1) have nanoseconds.
now() { awk '{ print int($1 * 100) }' /proc/uptime; }

# The clock of a CPU counts all of the time in which the command ran, and no more than perfmon took.
counts() {
	before=$(now)
	with "$perfmon" stat -f json -e "task-clock,$pkg" -- sleep 0.2 || return
	ran=$(($(now) - before + 1))
	joules=$("$get" "$here/err" events.1.count)
	echo "# $joules J in $ran / 100 s"
	[ "$("$get" "$here/err" events.1.status)" = counted ] &&
		awk "BEGIN { exit !($joules >= 0.2 * 0.999 && $joules <= $ran / 100 * 1.001) }"
}
"$get" /dev/null nothing >/dev/null 2>&1
if [ $? -eq 77 ]; then
	skip "stat counts beside the events of threads" "jansson is missing"
else
	try "stat counts beside the events of threads" counts
fi
whose() {
	with "$perfmon" stat -e "$pkg" -- sleep 0.01
	says "'$pkg' counts what all processes do on " err && says "moves about every 1 ms" err
}
try "stat says whose it is" whose
listed() {
	with "$perfmon" list energy
	says "$pkg" out
}
try "list has its name" listed
informed() {
	with "$perfmon" info
	grep -A 3 '^events of packages' "$here/out" | grep -q 'power .*yes, once for all threads'
}
try "info says that it counts" informed
run() {
	with "$perfmon" run -e "$pkg" -o "$here/report" -- ./tests/programs/stat_work
}
try "run takes its name" run
tap_end
