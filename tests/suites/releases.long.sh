#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A new user of each other release of Debian: on a fresh system, scripts/demo and then the suites that
# its compilers, libraries and Valgrind can fail, from a copy of this tree. Nothing is left behind.
# Row: HM-11
. "$PM_TOP/scripts/suite.sh"
. "$PM_TOP/scripts/systems.sh"

# Those of the guest and of the sanitizers are the same on each release.
suites=(native headers abi layers regions pair install languages python hooks hooks_mpi hooks_marked
	exact exact_diff exact_run exact_tool exact_functions cli profiles documents pages completion
	roofline top dist)

copy_tree() { # SYSTEM
	local tree=$1/user/upper/root/perfmon
	mkdir -p "$tree"
	# What a clone would have, with the changes that are not committed yet.
	git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | xargs -0 cp --parents -t "$tree"
}
prepare() { # SYSTEM RELEASE
	strap "$1" "$2"
	copy_tree "$1"
	apt_get "$1" user update
}
in_tree() { # SYSTEM COMMAND...
	in_root "$1" user env -C /root/perfmon "PM_JOBS=$PM_JOBS" "${@:2}"
}
demo() { # SYSTEM
	local word
	in_tree "$1" scripts/demo >"$PM_SUITE_DIR/demo.out" 2>&1 || {
		cat "$PM_SUITE_DIR/demo.out"
		return 1
	}
	for word in triad naive blocked; do
		grep -qw "$word" "$PM_SUITE_DIR/demo.out"
	done
}
# The results of the suites in the system, each a test here; what they say is in the log.
results() { # SYSTEM RELEASE
	local name line out=$PM_SUITE_DIR/$2.out
	in_tree "$1" scripts/check "${suites[@]}" >"$out" 2>&1 </dev/null || true
	cat "$out" >&2
	for name in "${suites[@]}"; do
		line=$(grep -E "^$name +[0-9]+ ok " "$out" || true)
		case $line in
		*' 0 bad '*) ok "$2: $name ($(awk '{ print $2 }' <<<"$line") tests)" ;;
		*) not_ok "$2: $name: ${line:-no result}" ;;
		esac
	done
}
release() { # RELEASE
	local system=$PM_SUITE_DIR/$1
	step "$1: a fresh system" in_shell prepare "$system" "$1" &&
		step "$1: scripts/demo prints its reports" in_shell demo "$system" || return 0
	results "$system" "$1"
}
nothing_mounted() { nothing grep -F "$PM_SUITE_DIR" /proc/mounts; }

if ! git rev-parse --git-dir >/dev/null 2>&1; then
	skip releases "not a clone: the suite copies what git knows"
	exit 0
fi
this=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
for name in "${releases[@]}"; do
	[ "$name" != "$this" ] || continue
	why=$(obstacle "$name")
	if [ -n "$why" ]; then
		skip "$name: a new user" "$why"
		continue
	fi
	release "$name"
	rm -rf "${PM_SUITE_DIR:?}/$name"
	try "$name: nothing is left" nothing_mounted
done
rm -rf "$cache"
