#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The completion of the command in bash and in zsh: subcommands, options, values, events.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip completion "the command was not built: ncurses is missing"
	exit 0
fi
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here/dir"
touch "$here/solver.profile"
ln -s "$build/perfmon" "$here/perfmon"

# bash_completes LINE: what bash offers at the end of LINE, one a line.
cat >"$here/complete.bash" <<'END'
# Outside of a completion there are no options to set.
compopt() { :; }
. "$PM_TOP/completion/perfmon"
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_perfmon
[ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
END
# The same of zsh, whose own functions are replaced by some that print what they are given.
cat >"$here/complete.zsh" <<'END'
_describe() { print -rl -- ${${(P)2}%%:*} }
compadd() {
	local skip=1
	while [[ $argv[skip] != -- ]]; do (( skip++ )); done
	print -rl -- ${(M)argv[skip+1,-1]:#$PREFIX*}
}
compset() { PREFIX=${PREFIX##$~2} }
_files() { print -rl -- *(N) }
_command_names() { print -rl -- ${(k)commands} }
_pids() { print -r -- $$ }
words=(${(z)1})
[[ $1 != *' ' ]] || words+=('')
CURRENT=$#words PREFIX=$words[-1]
complete() { . $PM_TOP/completion/_perfmon }
complete
END
completes() { # SHELL LINE
	local shell=$1
	(cd "$here" && PATH=$here:$PATH "$shell" "$here/complete.$shell" "$2") >"$here/out" 2>"$here/err" </dev/null
	nothing cat "$here/err"
}
offers() { # SHELL LINE WORD...: these among others
	completes "$1" "$2" || return 1
	local word
	for word in "${@:3}"; do
		grep -qxF -- "$word" "$here/out" || {
			echo "'$word' is not offered:"
			cat "$here/out"
			return 1
		}
	done
}
offers_only() { # SHELL LINE WORD...
	completes "$1" "$2" && printf '%s\n' "${@:3}" | diff - <(sort -u "$here/out")
}

try "shellcheck completion/perfmon" shellcheck completion/perfmon
for shell in bash zsh; do
	if ! command -v $shell >/dev/null; then
		skip "completion of $shell" "$shell is not there"
		continue
	fi
	try "$shell: subcommands" offers $shell "perfmon " diff export help info list report run stat top
	try "$shell: options" offers $shell "perfmon run -" -e --events -o --output -P --profile --fence --help
	try "$shell: those of each subcommand" offers $shell "perfmon diff --" --alpha --min-effect
	try "$shell: formats" offers_only $shell "perfmon run -f " csv flat json text
	try "$shell: formats of report" offers_only $shell "perfmon report --format " csv flat html json text
	try "$shell: formats of stat" offers_only $shell "perfmon stat -f " csv json text
	try "$shell: hooks" offers_only $shell "perfmon run --hooks " kokkos likwid mpi openmp papi-hl threads
	try "$shell: formats of export" offers_only $shell "perfmon export -f " callgrind chrome folded json-split pprof
	try "$shell: levels" offers $shell "perfmon report -l " core numa package
	try "$shell: subcommands of help" offers $shell "perfmon help " export stat
	try "$shell: events" offers $shell "perfmon run -e " auto none page-faults task-clock
	try "$shell: events of --exact" offers_only $shell "perfmon run --exact -e s" sp-flops store-bytes stores
	try "$shell: those of stat" offers_only $shell "perfmon stat -x -r 2 -e load" load-bytes loads
	try "$shell: events of list" offers $shell "perfmon list " page-faults task-clock
	try "$shell: files for profiles" offers $shell "perfmon report " solver.profile dir
	try "$shell: files for the output" offers $shell "perfmon report -o " solver.profile dir
	try "$shell: commands to run" offers $shell "perfmon run " ls sed
done
try "bash: what has been typed" offers_only bash "perfmon re" report
try "bash: subcommands of help that begin so" offers_only bash "perfmon help ex" export
try "bash: the events that begin so" offers_only bash "perfmon run -e page-fau" page-faults
try "bash: the next hook" offers_only bash "perfmon run --hooks openmp,t" openmp,threads
try "bash: the next event" offers_only bash "perfmon stat -e task-clock,{page-fau" "task-clock,{page-faults"
try "bash: commands after options" offers_only bash "perfmon stat -e none -a seq" seq
try "bash: commands after --" offers_only bash "perfmon stat -- seq" seq
try "bash: the command's own arguments" offers_only bash "perfmon run cat solv" solver.profile
try "bash: what takes no argument" offers_only bash "perfmon report --html solv" solver.profile
try "bash: processes" offers bash "perfmon stat -p " "$$"
if command -v zsh >/dev/null; then
	try "zsh: it is correct" zsh -n completion/_perfmon
	try "zsh: the next hook" offers_only zsh "perfmon run --hooks openmp,t" threads
	try "zsh: the next event" offers_only zsh "perfmon stat -e task-clock,page-fau" page-faults
	try "zsh: what the options are for" grep -qx -- '-f' <(completes zsh "perfmon info -" && cat "$here/out")
fi
