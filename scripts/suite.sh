# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For suites (scripts/suites/*.sh, tests/suites/*.sh), which scripts/check runs.
#
# A suite is a program that prints TAP on stdout: "ok - name", "not ok - name",
# "ok - name # SKIP reason". Its stderr is its log. It finds in its environment
#   PM_TOP        the source tree, in which it starts
#   PM_SUITE_DIR  a folder of its own, kept from run to run
#   PM_JOBS       how many processes it may keep busy
#   PM_LONG       1 with scripts/check --long, else empty; tests see PERFMON_TEST_LONG=1
# A suite named *.long.sh runs with --long only. Three suites run at the same time, except
# one with a line "# Runs alone". Sourcing this file is optional.
set -euo pipefail
# Suites empty folders below it: without it that would be folders of the root.
: "${PM_SUITE_DIR:?run suites by scripts/check NAME}"
# shellcheck source-path=SCRIPTDIR
. "$PM_TOP/scripts/lib.sh"

ok() { printf 'ok - %s\n' "$1"; }
not_ok() { printf 'not ok - %s\n' "$*"; }
skip() { # NAME REASON
	printf 'ok - %s # SKIP %s\n' "$1" "$2"
}

# try NAME COMMAND...: a test that passes when the command succeeds. A shell function of
# more than one line goes through in_shell, since "if" would make it run on after an error.
try() {
	local name=$1
	shift
	if "$@" >"$PM_SUITE_DIR/try.out" 2>&1 </dev/null; then
		ok "$name"
	else
		not_ok "$name"
		printf -- '--- %s: %s\n' "$name" "$*" >&2
		cat "$PM_SUITE_DIR/try.out" >&2
		tried=1
	fi
}
# must NAME COMMAND...: the same, and without it the rest of the suite makes no sense.
must() {
	tried=
	try "$@"
	[ -z "$tried" ] || exit 0
}
in_shell() {
	local status
	set +e
	(
		set -e
		"$@"
	)
	status=$?
	set -e
	return "$status"
}

# status WANT COMMAND...: ends with that status, in the folder "here"; keeps out and err
# there.
# shellcheck disable=SC2154 # the suite sets it
status() {
	local want=$1 got=0
	shift
	(cd "$here" && timeout 60 "$@") >"$here/out" 2>"$here/err" </dev/null || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got, not $want"
		cat "$here/out" "$here/err"
		return 1
	}
}
# shellcheck disable=SC2154
says() { # FILE TEXT
	grep -qF -- "$2" "$here/$1" || {
		echo "'$2' is not in $1:"
		cat "$here/$1"
		return 1
	}
}
both() { # WANT FILE TEXT COMMAND...
	local want=$1 file=$2 text=$3
	shift 3
	status "$want" "$@" && says "$file" "$text"
}

# native_tree TARGET...: the native suite's tree, with these made; sets "build".
# shellcheck disable=SC2034 # "build" is for the suite
native_tree() {
	build=$PM_NATIVE
	if ! in_shell pm_native "$@"; then
		not_ok "the native tree does not build"
		exit 0
	fi
}

# installed_tree: installs the native suite's tree, for the suite alone; sets "root" and "prefix".
# Also what is in .libs is tried from here where a moment without it would be a failure: while
# another suite installs, libtool takes the hooks away to link them again.
# shellcheck disable=SC2034 # for the suite
installed_tree() {
	root=$PM_SUITE_DIR/root
	prefix=$root/perfmon
	rm -rf "$root"
	must installs in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" install DESTDIR="$root"
}

# exact_tree NAME PROGRAM...: native_tree for the suite NAME, which needs the command ($perfmon) and
# the tool of exact/: skips it where these cannot be built.
exact_tree() {
	local name=$1
	shift
	native_tree all "$@"
	perfmon=$build/perfmon
	if [ -x "$perfmon" ] && command -v valgrind >/dev/null &&
		[ -n "$(find "$build/exact/valgrind" -name 'perfmon-*-linux' 2>/dev/null)" ]; then
		return 0
	fi
	if [ -x "$perfmon" ] && pkg-config --exists valgrind; then
		not_ok "$name: Valgrind's development files are here, and the tool was not built"
	else
		skip "$name" "the command or the tool was not built: ncurses or valgrind is missing"
	fi
	exit 0
}

# openmpi_anywhere: has Open MPI start more ranks than there are CPUs, also for root. From version 5
# on another program places the ranks.
openmpi_anywhere() {
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_rmaps_base_oversubscribe=1
	export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# nothing COMMAND...: succeeds when the command prints nothing; what it prints is shown.
nothing() {
	local out
	out=$("$@") || true
	printf '%s' "$out"
	[ -z "$out" ]
}

# prints TEXT COMMAND...: succeeds when TEXT is in what the command prints, which is shown.
prints() {
	local out
	out=$("${@:2}") || return 1
	printf '%s\n' "$out"
	[ -n "$out" ] && grep -qF -- "$1" <<<"$out"
}
# sees NAME ARGUMENT...: a test that the suite's function "seen" finds what is wrong.
sees() { try "sees $1" seen "${@:2}"; }

# taps DIR: the results that run-test left there, each under its program's name. How long
# each program took is added to the suite's file "seconds", for scripts/check.
taps() {
	local tap
	for tap in "$1"/*.tap; do
		[ -e "$tap" ] || continue
		[ ! -s "${tap%.tap}.seconds" ] || printf '%6d %s %s\n' "$(cat "${tap%.tap}.seconds")" \
			"$(basename "$PM_SUITE_DIR")/$(basename "$1")" "$(basename "$tap" .tap)" \
			>>"$PM_SUITE_DIR/seconds"
		sed -n -E "s/^(ok|not ok)( [0-9]+)? (- )?/\1 - $(basename "$tap" .tap) /p" "$tap"
		# What failed, for the log.
		! grep -q '^not ok' "$tap" || cat "$tap" "${tap%.tap}.log" >&2
	done
}

# all_ran DIR TESTS...: a test that left no result at all has failed.
all_ran() {
	local dir=$1 test
	shift
	for test; do
		[ -e "$dir/$(basename "$test").tap" ] || not_ok "$test left no result"
	done
}

# bed_tests BED DIR: the tests of DIR that run on BED, by the table tests/beds. With --long
# all do, but the guest's two machines for root go on sharing them.
bed_tests() {
	local bed=$1 dir=$2
	pm_tests "$dir" | awk -v bed="$bed" -v long="$PM_LONG" '
		NR == FNR {
			if ($1 !~ /^#/)
				beds[$1] = $0 " "
			next
		}
		{
			name = $0
			sub(/.*\//, "", name)
			of = beds[name]
			chosen = bed == "native" || index(of, " " bed " ")
			if (long) {
				chosen = chosen || bed != "guest-others"
				if (bed == "guest-root" && index(of, " guest-others "))
					chosen = 0
				if (bed ~ /^guest/ && index(of, " no-guest "))
					chosen = 0
			}
			if (chosen)
				print
		}' "$PM_TOP/tests/beds" -
}

# bed_programs BED DIR: what make is to build of DIR for the tests of BED alone, with what tests
# run, and without the benchmarks. What has no thread needs no command and no hook either.
bed_programs() {
	local bed=$1 dir=$2
	bed_tests "$bed" "$dir" >"$PM_SUITE_DIR/bed"
	[ "$bed" = tsan ] && [ -z "$PM_LONG" ] || echo all
	{
		pm_words "$dir" check_PROGRAMS | grep -v -e '^bench/' -e '^tests/[^/]*$'
		pm_words "$dir" check_LTLIBRARIES | grep -v '^bench/'
		pm_words "$dir" noinst_PROGRAMS
		grep -v '\.sh$' "$PM_SUITE_DIR/bed"
	} | sort -u
}

# check_tree BED DIR OPTION...: configures and builds DIR and runs the tests of BED in it,
# PM_JOBS programs at once. All is built, or what $programs, a command, prints; with $test_flags,
# what is no test is built before, with the tree's own flags.
check_tree() {
	local bed=$1 dir=$2 taps=$PM_SUITE_DIR/taps tests targets=(check TESTS=)
	shift 2
	rm -rf "$taps"
	mkdir -p "$taps"
	must configures in_shell pm_configure "$dir" "$@"
	[ -z "${programs-}" ] || mapfile -t targets < <("$programs" "$bed" "$dir")
	[ -z "${test_flags-}" ] ||
		must "builds the library" in_shell pm_make "$dir" "$PM_SUITE_DIR/make.log" all
	must builds in_shell pm_make "$dir" "$PM_SUITE_DIR/make.log" "${targets[@]}" ${test_flags+"CFLAGS=$test_flags"}
	mapfile -t tests < <(bed_tests "$bed" "$dir")
	# Not "check", which would build the rest of the programs.
	PM_TAP_DIR=$taps make -C "$dir" -k -j "$PM_JOBS" check-TESTS TESTS="${tests[*]}" \
		check_PROGRAMS= check_LTLIBRARIES= LOG_COMPILER="$PM_TOP/scripts/run-test" \
		SH_LOG_COMPILER="$PM_TOP/scripts/run-test" >&2 </dev/null || true
	taps "$taps"
	all_ran "$taps" ${tests+"${tests[@]}"}
}

# check_sanitized BED LIST: check_tree with -fsanitize=LIST, and with the stand-in for
# Criterion.
check_sanitized() {
	must "builds the stand-in" in_shell pm_standin "$PM_SUITE_DIR/build" gcc
	pm_standin "$PM_SUITE_DIR/build" gcc
	# At -O1 the compiler takes half the time, and less with lines alone, which is what reports
	# of sanitizers show. It then warns of what cannot happen, so that warnings are errors in
	# the other trees only.
	programs=bed_programs check_tree "$1" "$PM_SUITE_DIR/build" --disable-static --enable-sanitizer="$2" \
		CFLAGS="-g1 -O1" CXXFLAGS="-g1 -O1"
}
