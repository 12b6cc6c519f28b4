#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What README.md and doc/ print is what a reader gets who types their commands, in the order of
# README's table and in one folder: each command ends as it should, and its output has a line
# for each line that is printed there. Numbers are the machine's, and so are notes.
. "$PM_TOP/scripts/suite.sh"

# The messages that doc/troubleshooting.md explains are those of the program.
mapfile -t sources < <(find src \( -name '*.c' -o -name '*.h' \) | sort)
try "each message is the program's" nothing \
	tests/quotes.pl doc/troubleshooting.md src/core/counters/diagnosis.c "${sources[@]}"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip documents "the command was not built: ncurses is missing"
	exit 0
fi
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here" "$PM_SUITE_DIR/blocks"
rm -f "$PM_SUITE_DIR"/blocks/*
installed_tree
export PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib
export PYTHONPATH=$prefix/share/perfmon/python PYTHONDONTWRITEBYTECODE=1
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
openmpi_anywhere

# What a reader has who follows a document's word: the examples, built beside it.
examples() {
	cp -r "$prefix"/share/doc/perfmon/examples/* "$here/" && make -C "$here"
}
must "the examples build" in_shell examples
exact=$(echo "$prefix"/libexec/perfmon/valgrind/perfmon-*)
make -C "$here" openmp >"$PM_SUITE_DIR/openmp.log" 2>&1 || true
make -C "$here" googlebench >"$PM_SUITE_DIR/googlebench.log" 2>&1 || true

# In the order of README's table, and each of them.
mapfile -t documents < <(echo README.md && grep -o 'doc/[a-z-]*\.md' README.md | awk '!seen[$0]++')
unread() { printf '%s\n' doc/*.md | grep -vxF -f <(printf '%s\n' "${documents[@]}"); }
try "README names each document" nothing unread

# The programs, each under the name that the text before it ends with, and the commands of each
# block: NUMBER.sh, the lines that are printed for them: NUMBER.N, and where it is: NUMBER.at.
awk -v here="$here" -v blocks="$PM_SUITE_DIR/blocks" '
FNR == 1 { name = ""; inside = 0 }
/^```/ {
	inside = !inside
	kind = inside ? substr($0, 4) : ""
	program = kind == "c" || kind == "cpp" || kind == "fortran" || kind == "python"
	file = program && name != "" ? here "/" name : ""
	if (kind == "c before") {
		file = sprintf("%s/before%02d.c", blocks, ++befores)
		print "/* " FILENAME ":" FNR " */" >file
	}
	begun = 0
	if (inside && name == "" && program)
		print FILENAME ":" FNR ": a program without a name before it" >(blocks "/unnamed")
	if (program && file != "")
		printf "" >file
	next
}
!inside {
	while (match($0, /`[a-z_]+\.(cc?|f90|py)`/)) {
		name = substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, RSTART + RLENGTH)
	}
	next
}
file != "" { print >file; next }
kind == "" && /^\$ / {
	if (!begun) {
		script = sprintf("%s/%03d", blocks, ++number)
		print FILENAME ":" FNR >(script ".at")
		command = 0
	}
	begun = 1
	more = 0
	close(script "." command)
	# The status of the command before is what it was.
	print "status=$?; echo \"@ " ++command "\"; (exit $status)\n" substr($0, 3) >(script ".sh")
	printf "" >(script "." command)
	print substr($0, 3) >(script "." command ".command")
	next
}
begun && /^> / && !more { print substr($0, 3) >(script ".sh"); next }
begun { more = 1; print >(script "." command) }
' "${documents[@]}"

try "each program has a name" nothing cat "$PM_SUITE_DIR/blocks/unnamed"

# Programs that use another library (doc/migration.md), where it is installed.
for program in "$PM_SUITE_DIR"/blocks/before*.c; do
	name=$(sed -n '1s|/\* \(.*\) \*/|\1|p' "$program")
	header=$(sed -n 's/^#include <\(.*\)>/\1/p' "$program" | head -n 1)
	if echo "#include <$header>" | gcc -E - >/dev/null 2>&1; then
		try "$name compiles" gcc -Wall -Wextra -Werror -Wno-unknown-pragmas -fsyntax-only "$program"
	else
		skip "$name compiles" "$header is missing"
	fi
done
# Calls, types and variables that a document names.
unknown_names() {
	grep -ohE '\b(perfmon|pfm)_[a-z0-9_]*[a-z0-9]\b' "${documents[@]}" | sort -u |
		grep -vxF -f <(grep -rohE '\b(perfmon|pfm)_[a-z0-9_]*[a-z0-9]\b' include cmake | sort -u)
}
try "each call that is named exists" nothing unknown_names

# The programs under EXAMPLES of the pages on calls: each page has one, which compiles and ends by
# itself. Some need what this machine may not have, and say so with status 1.
mkdir -p "$PM_SUITE_DIR/man" "$here/man"
rm -f "$PM_SUITE_DIR"/man/*
read -ra flags < <(pkg-config --cflags --libs perfmon)
compiles_and_ends() { # PROGRAM
	local status=0 compiler=(gcc)
	case $1 in
	*.cc) compiler=(g++ -std=c++11 -pthread) ;;
	*.f90) compiler=(gfortran -std=f2008 "-J$PM_SUITE_DIR/man" "$prefix/include/perfmon/perfmon.f90") ;;
	esac
	"${compiler[@]}" -Wall -Wextra -Werror "$1" -o "${1%.*}" "${flags[@]}" || return
	(cd "$here/man" && timeout 60 "${1%.*}") || status=$?
	[ "$status" -le 1 ]
}
for page in man/*.3; do
	case $page in
	*.hpp.3) program=cc ;;
	*.f90.3) program=f90 ;;
	*) program=c ;;
	esac
	if [ "$program" = f90 ] && ! command -v gfortran >/dev/null; then
		skip "$page: its example" "gfortran is missing"
		continue
	fi
	program=$PM_SUITE_DIR/man/$(basename "$page" .3).$program
	awk '/^\.SH/ { inside = $2 == "EXAMPLES" }
		/^\.EE/ { code = 0 }
		inside && code { gsub(/\\&/, ""); gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print }
		/^\.EX/ { code = 1 }' "$page" >"$program"
	try "$page: its example" compiles_and_ends "$program"
done

# What a line must share with a line that is printed: its first word that is no number or unit.
keys='
function key(line,    i, n, words) {
	sub(/never opened/, "", line)
	n = split(line, words, /[ \t,:;]+/)
	for (i = 1; i <= n; i++)
		if (words[i] ~ /^[a-zA-Z_.\/<-][^ ]*[a-zA-Z>][^ ]*$/ && words[i] !~ /^(ns|us|ms|s|[A-Z][a-z][a-z])$/)
			return words[i]
	return ""
}
'
# printed BLOCK N: what the document prints for command N and the run did not, as lines.
printed() {
	awk "$keys"'
	FNR == 1 { file++ }
	file == 1 { got[key($0)] = 1; next }
	/^ *note:/ { exit }
	# What a mark means, where there is one, and how long would do; the rest of a sentence on
	# lines of its own; what is counted where there is a PMU.
	/^\.\.\.$/ || /^  [^ ]?[^ ]  +[a-z]/ || /^  short:/ || /^    +[^ ]+( [^ ]+)*$/ || key($0) ~ /^(instructions|cycles)/ { next }
	key($0) != "" && !(key($0) in got) { print "no line \"" key($0) "\": " $0 }' \
		"$1.$2.out" "$1.$2"
}
block_runs() { # BLOCK
	local block=$1 n
	# Commands may go on in the background, and end with what their name says.
	(cd "$here" && timeout 120 bash "$block.sh" </dev/null >"$block.all" 2>&1)
	awk -v block="$block" '
		/^@ [0-9]+$/ { out = block "." $2 ".out"; printf "" >out; next }
		{ print >out }' "$block.all"
	for n in "$block".*.command; do
		n=${n%.command}
		printed "$block" "${n##*.}"
	done >"$block.missing"
	[ ! -s "$block.missing" ] || {
		cat "$block.missing" "$block.all"
		return 1
	}
}
for block in "$PM_SUITE_DIR"/blocks/*.sh; do
	block=${block%.sh}
	name="$(cat "$block.at"): $(head -n 1 "$block.1.command")"
	case $(cat "$block.sh") in
	*one-before*) skip "$name" "recorded in the emulated machine" && continue ;;
	*"stat -C"* | *./package*)
		needs="awk"
		[ "$(id -u)" -eq 0 ] || { skip "$name" "counting on CPUs needs root" && continue; }
		;;
	*mpicc*) needs=mpicc ;;
	*gfortran*) needs=gfortran ;;
	*"perf script"*) needs=perf ;;
	*openmp*) needs=$here/openmp ;;
	*--exact* | *ci/compare* | *exact.txt*) needs=$exact ;;
	*googlebench*) needs=$here/googlebench ;;
	*) needs="awk" ;;
	esac
	if ! command -v "$needs" >/dev/null; then
		skip "$name" "$needs is missing"
		continue
	fi
	try "$name" block_runs "$block"
done
