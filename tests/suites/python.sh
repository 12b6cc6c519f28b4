#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The module of Python, installed: regions, sessions and profiles, wrong use, and processes.
# Row: HM-03
. "$PM_TOP/scripts/suite.sh"

native_tree all tests/programs/profile_exact tests/programs/profile_marks
python=$(command -v python3) || {
	skip python "there is no python3"
	exit 0
}
# Of two, the one that has pandas.
"$python" -c "import pandas" 2>/dev/null || ! /usr/bin/python3 -c "import pandas" 2>/dev/null ||
	python=/usr/bin/python3
installed_tree
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"

export PYTHONDONTWRITEBYTECODE=1 PERFMON_OUTPUT=none
export PERFMON_TEST_PROGRAMS=$build/tests/programs PERFMON_COMMAND=$prefix/bin/perfmon
export PERFMON_CFLAGS=-I$prefix/include
unset LD_LIBRARY_PATH PYTHONPATH

# Where pkg-config says.
where() {
	local folder
	folder=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=pythondir perfmon) &&
		test -f "$root$folder/libperfmon.py"
}
try "pkg-config knows the folder" where
export PYTHONPATH=$prefix/share/perfmon/python

alone() {
	both 1 err "add its folder to LD_LIBRARY_PATH" env PYTHONPATH="$PM_TOP/lang/python" "$python" -c "import libperfmon"
}
if ldconfig -p 2>/dev/null | grep -q libperfmon; then
	skip "an import without the library says what to do" "libperfmon is installed on this machine"
else
	try "an import without the library says what to do" alone
fi

check=$PM_TOP/tests/python/python_check.py
for name in $("$python" "$check"); do
	got=0
	(cd "$here" && "$python" -W error "$check" "$name") >"$here/out" 2>&1 </dev/null || got=$?
	case $got in
	0) ok "${name//_/ }" ;;
	77) skip "${name//_/ }" "$(tail -n 1 "$here/out")" ;;
	*)
		not_ok "${name//_/ }"
		cat "$here/out" >&2
		;;
	esac
done

example() { both 0 out "in the middle 12.5371" env PERFMON_OUTPUT=stderr PERFMON_EVENTS=none "$python" "$prefix/share/doc/perfmon/examples/heat.py" &&
	says err "heat.py" && grep -qE '^  step  +20 ' "$here/err" && grep -qE '^    sweep  +40 ' "$here/err"; }
try "the example shows both threads below its step" in_shell example

# Each name of the module is on its page.
names() {
	"$python" -c "import libperfmon; print(*libperfmon.__all__, sep='\n')" | while read -r name; do
		grep -qE "\b$name\b" "$PM_TOP/doc/python.md" || echo "$name"
	done
}
try "the page has each name" nothing names
