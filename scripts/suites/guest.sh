#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests that the table tests/beds gives to the guest, on real counters: two machines for
# root, one for an unprivileged user, and one whose CPUs run in parallel, where instructions
# are not counted; all at the same time. After them, a machine with scalable vectors, and one
# with one CPU.
. "$PM_TOP/scripts/suite.sh"

must prepares "$PM_TOP/scripts/guest" --prepare

run() { # BED OPTION...: leaves results in PM_SUITE_DIR/BED
	local bed=$1 tests repeated=(--env PERFMON_TEST_SHORT=1)
	shift
	# What is repeated for its own sake is repeated less: an emulated machine is slow.
	[ -z "$PM_LONG" ] || repeated=(--env PERFMON_TEST_LONG=1)
	[ "$bed" != guest-user ] || repeated=(--env PERFMON_TEST_SHORT=1)
	# Without what the kernel does at each entry against attacks by speculation: there is
	# none, and each change of page tables takes the emulator long.
	[ -n "$PM_LONG" ] || repeated+=(--append kpti=off --append mitigations=off)
	rm -rf "${PM_SUITE_DIR:?}/$bed"
	mkdir -p "$PM_SUITE_DIR/$bed"
	mapfile -t tests < <(bed_tests "$bed" "$PM_BUILD/arm64")
	printf '%s\n' "${tests[@]##*/}" >"$PM_SUITE_DIR/$bed.tests"
	# What reads registers without leave comes first: the kernel leaves the access on when
	# the last process that had it has gone.
	# The time limits are the guest's own, where an instruction takes a nanosecond.
	# shellcheck disable=SC2016 # for the guest's shell
	"$PM_TOP/scripts/guest" --no-build --timeout $((${PM_LONG:-0} ? 6000 : 1700)) \
		--out "$PM_SUITE_DIR/$bed" --file "$PM_SUITE_DIR/$bed.tests=/chosen" \
		--env PM_TAP_DIR=/out --env PM_TEST_TIMEOUT=120 "${repeated[@]}" "$@" \
		/bin/sh -c 'while read -r name; do grep "/$name\$" tests.list; done </chosen >/tmp/tests
			sh source/scripts/run-test $(grep counter_read /tmp/tests) \
				$(grep -v counter_read /tmp/tests)' \
		>"$PM_SUITE_DIR/$bed.log" 2>&1 </dev/null
}
collect() { # BED
	local bed=$1 tests
	# What the machine itself had to say.
	tail -n 5 "$PM_SUITE_DIR/$bed.log" >&2
	taps "$PM_SUITE_DIR/$bed" | sed -E "s/^(ok|not ok) - /\1 - ${bed#guest-}: /"
	mapfile -t tests <"$PM_SUITE_DIR/$bed.tests"
	all_ran "$PM_SUITE_DIR/$bed" "${tests[@]}"
}
run guest-root &
run guest-user --user --set kernel.perf_event_paranoid=2 &
run guest-others &
# With --long it has all tests, and the processors to itself.
[ -n "$PM_LONG" ] || run guest-parallel --parallel --smp 4 &
wait
[ -z "$PM_LONG" ] || run guest-parallel --parallel --smp 4 || true
for bed in guest-root guest-user guest-others guest-parallel; do
	collect "$bed"
done

# The vectors have each length that this CPU offers.
scalable() {
	# Such a CPU signs pointers, by a cipher that takes an emulator long unless it may choose one.
	"$PM_TOP/scripts/guest" --no-build --cpu max,pauth-impdef=on /bin/sh -c \
		'grep -qw sve /proc/cpuinfo && tests/test_keep && tests/test_pair' \
		>"$PM_SUITE_DIR/scalable" 2>&1 &&
		grep -qx 'ok - keep::scalable_vectors_of_each_length' "$PM_SUITE_DIR/scalable"
}
try "calls of the slow path keep scalable vectors" in_shell scalable || true

# With two, the helper that switches event sets runs late: see CONTRIBUTING.md.
slices() {
	"$PM_TOP/scripts/guest" --no-build --smp 1 bin/perfmon truth >"$PM_SUITE_DIR/slices" 2>&1 || true
	grep -qE '^  time slices of event sets  exact ' "$PM_SUITE_DIR/slices"
}
try "estimates of event sets hold" in_shell slices || true
