#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The perfmon command, and the reports of programs that it runs.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip cli "the command was not built: ncurses is missing"
	exit 0
fi
perfmon=$build/perfmon
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"

cat >"$here/program.c" <<'END'
#include <perfmon/region.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "0";

	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_BEGIN("inner");
	PERFMON_REGION_END("inner");
	PERFMON_REGION_END("outer");
	if (!strcmp(how, "fork")) {
		if (!fork()) {
			PERFMON_REGION_BEGIN("child");
			PERFMON_REGION_END("child");
			return 0;
		}
		wait(NULL);
		return 0;
	}
	if (!strcmp(how, "kill"))
		raise(SIGTERM);
	return atoi(how);
}
END
must "a program compiles" gcc -std=gnu11 -Iinclude -Isrc "$here/program.c" \
	-o "$here/program" -L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
program=$here/program

try "no command is a usage error" both 2 err usage: "$perfmon"
try "--help helps" both 0 out usage: "$perfmon" --help
try "--version is the version" both 0 out "perfmon " "$perfmon" --version
try "an unknown command is quoted" both 2 err "'frobnicate' is not a command" "$perfmon" frobnicate
try "an unknown option is quoted" both 2 err "'--frob' is not an option" "$perfmon" --frob
mapfile -t commands < <("$perfmon" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p')
must "--help names the subcommands" test "${#commands[@]}" -ge 8
for command in "${commands[@]}"; do
	try "$command --help helps" both 0 out "usage: perfmon $command" "$perfmon" "$command" --help
	try "$command has a page of help" both 0 out "usage: perfmon $command" "$perfmon" help "$command"
	try "$command refuses an unknown option" both 2 err frob "$perfmon" "$command" --frob
done
try "help quotes an unknown command" both 2 err "'frobnicate' is not a command" "$perfmon" help frobnicate

# The options of all subcommands: "-f --format", or "- --html" for one without a letter.
for command in "${commands[@]}"; do
	"$perfmon" "$command" --help | sed -nE 's/^  (-[A-Za-z]), (--[a-z-]+).*/\1 \2/p; s/^      (--[a-z-]+).*/- \1/p'
done | sort -u >"$here/options"
one_meaning() {
	grep -qx -- '-o --output' "$here/options" && grep -qx -- '-f --format' "$here/options" &&
		grep -qx -- '-e --events' "$here/options" && grep -qx -- '-p --pid' "$here/options" &&
		grep -qx -- '-t --tid' "$here/options" && grep -qx -- '-m --metrics' "$here/options" &&
		nothing in_shell eval "grep -v '^- ' '$here/options' | cut -d ' ' -f 1 | uniq -d" &&
		nothing in_shell eval "cut -d ' ' -f 2 '$here/options' | sort | uniq -d"
}
try "a letter means one option in all subcommands" one_meaning
# --help behind them ends it before anything else happens.
known() {
	local letter name argument
	for command in "${commands[@]}"; do
		while read -r letter name argument; do
			for option in "$letter" "$name"; do
				[ "$option" != - ] || continue
				status 0 "$perfmon" "$command" "$option" ${argument:+1} --help ||
					status 2 "$perfmon" "$command" "$option" ${argument:+1} --help || return 1
				! grep -E "(invalid|unrecognized) option|requires an argument" "$here/err" || return 1
			done
		done < <("$perfmon" "$command" --help |
			sed -nE 's/^  (-[A-Za-z]), (--[a-z-]+) ?([A-Z]?).*/\1 \2 \3/p; s/^      (--[a-z-]+) ?([A-Z]?).*/- \1 \2/p')
	done
}
try "all options of the help are known" known

try "info answers" both 0 out kernel.perf_event_paranoid "$perfmon" info
try "info tries events" both 0 out "page-faults" "$perfmon" info
in_json() {
	status 0 "$perfmon" info --json && status 0 "$perfmon" info -f json && says out '"user_allows":' &&
		{ ! command -v jq >/dev/null || jq -e '.pmus | map(.name) | index("software")' "$here/out"; } &&
		{ ! command -v python3 >/dev/null || python3 -m json.tool <"$here/out" >/dev/null; }
}
try "info is JSON on request" in_json
try "info says what others may do" both 0 out "an unprivileged user may" "$perfmon" info
try "info has units for limits" both 0 out "16 kB, may be raised to 32 kB" \
	bash -c "ulimit -Sl 16 && ulimit -Hl 32 && exec '$perfmon' info"
try "info quotes the environment" both 0 out "PERFMON_FENCE=\"2\" is not one of 0, 1" \
	env PERFMON_FENCE=2 "$perfmon" info
try "info refuses an argument" both 2 err "'x'" "$perfmon" info x
try "a full disk is noticed" in_shell bash -c "! '$perfmon' info >/dev/full"
try "perfmon list says why it could not write" in_shell bash -c "'$perfmon' list 2>&1 >/dev/full | grep -q 'No space left'"

try "list lists" both 0 out task-clock "$perfmon" list
try "list takes a pattern" both 0 out page-faults "$perfmon" list 'page-*'
in_lines() { status 0 "$perfmon" list 'page-*' && ! grep -vqE $'^page-[^\t]*\t[^\t]*\t' "$here/out"; }
try "list is lines with tabs when piped" in_lines
try "list finds nothing" both 1 err "'nosuchevent'" "$perfmon" list nosuchevent

# on_terminal SETTING COMMAND: what a terminal of 60 columns would have shown, in shown.
on_terminal() {
	(cd "$here" && env TERM=xterm ${1:+"$1"} script -qec "stty cols 60 rows 20; $2" /dev/null \
		</dev/null | tr -d '\r' >"$here/shown")
}
is_table() {
	on_terminal PAGER=cat "$perfmon list 'c*'" && says shown "DESCRIPTION" && ! grep -q $'\t' "$here/shown" &&
		sed 's/\x1b\[[0-9;]*m//g' "$here/shown" | awk 'length > 60 { print; bad = 1 } END { exit bad }'
}
pages() { on_terminal "" "PAGER='sed s/^/@/' $perfmon list 'page-*'" && says shown "@page-faults"; }
pages_info() { on_terminal "" "PAGER='sed s/^/@/' NO_COLOR=1 $perfmon info" && says shown "@PMUs"; }
leaves() {
	on_terminal "" "PAGER='head -n 1' $perfmon list; echo left with \$?" && says shown "left with 0"
}
no_pager() { on_terminal "" "PAGER=/no/such/pager $perfmon list 'page-*'" && says shown "page-faults"; }
no_less() {
	mkdir -p "$here/bin" && ln -sf "$(command -v cat)" "$here/bin/" &&
		on_terminal "" "unset PAGER; PATH=$here/bin $perfmon list 'page-*'" && says shown "page-faults"
}
wrapped() {
	on_terminal NO_COLOR=1 "PAGER=cat $perfmon info" && says shown "descriptors (RLIMIT_NOFILE)" &&
		awk 'length > 60 { print; bad = 1 } END { exit bad }' "$here/shown"
}
coloured() { on_terminal PAGER=cat "$perfmon list 'page-*'" && grep -q $'\x1b\[1m' "$here/shown"; }
plain() { # SETTING
	on_terminal PAGER=cat "$1 $perfmon list 'page-*'" && says shown page-faults &&
		! grep -q $'\x1b' "$here/shown"
}
unpaged() { PAGER="sed s/^/@/" both 0 out page-faults "$perfmon" list 'page-*' && ! grep -q @ "$here/out"; }
if command -v script >/dev/null; then
	try "list is a table that fits a terminal" is_table
	try "list is paged on a terminal" pages
	try "info is paged on a terminal" pages_info
	try "info fits a terminal" wrapped
	try "a pager may be left early" leaves
	try "a missing pager is done without" no_pager
	try "without less there are no pages" no_less
	try "a terminal gets colours" coloured
	try "NO_COLOR is respected" plain NO_COLOR=1
	try "TERM=dumb is respected" plain TERM=dumb
else
	skip "the command on a terminal" "there is no script(1)"
fi
try "what is piped is not paged" unpaged

try "run needs a command" both 2 err "no command" "$perfmon" run
try "run passes the exit status on" status 7 "$perfmon" run "$program" 7
try "run passes a signal on" status 143 "$perfmon" run "$program" kill
try "run: no such command is 127" both 127 err "cannot run './nosuch'" "$perfmon" run ./nosuch
try "run: not executable is 126" both 126 err "cannot run" "$perfmon" run "$here/program.c"
try "run quotes an unknown event" both 2 err "'cycels'" "$perfmon" run -e cycels -- "$program"
try "run quotes an unknown format" both 2 err '"xml"' "$perfmon" run -f xml -- "$program"
try "run quotes a bad path" both 2 err '"out.%z"' "$perfmon" run -o out.%z -- "$program"
try "options after the command are the command's" status 0 "$perfmon" run true --help
try "run counts what it is told" both 0 err page-faults "$perfmon" run -e page-faults "$program"
try "run reports the tree" both 0 err "  inner" "$perfmon" run -e none "$program"
try "run reports to stdout" both 0 out "  inner" "$perfmon" run -o stdout -e none "$program"
silent() { status 0 "$perfmon" run -o none "$program" && [ ! -s "$here/out" ] && [ ! -s "$here/err" ]; }
try "run reports nothing on request" silent
try "run reports each thread" both 0 err "(program), " "$perfmon" run -T -e none "$program"
csv() { status 0 "$perfmon" run -f csv -o "out.%p.csv" "$program" && grep -q '^all,.*,outer;inner,' "$here"/out.*.csv; }
try "run writes a file" csv
json() {
	status 0 "$perfmon" run -f json -o stdout "$program" && says out '{"format":1,' &&
		{ ! command -v jq >/dev/null || jq -e '.nodes[1].region == "inner"' "$here/out"; }
}
try "run writes JSON" json
try "run shows a metric" both 0 err "  twice" "$perfmon" run -e none -m 'twice = 2 * visits' "$program"
missing() { both 0 err "no metric mpki: LLC-misses is not counted" "$perfmon" run -m "$1" "$program"; }
try "run says which event a metric lacks" missing 'mpki = LLC-misses / visits'
printf '# of a file\nnone\ntwice = 2 * visits\n' >"$here/metrics"
try "run takes metrics from a file" both 0 err "  twice" "$perfmon" run -e none -m @metrics "$program"
try "run quotes a bad metric with its place" both 2 err "at character 9 of 'x = 1 + )'" \
	"$perfmon" run -m 'x = 1 + )' "$program"
loses() { both 0 err "'x = 1 + )': using" env PERFMON_METRICS='x = 1 + )' "$program" && says err inner; }
try "a bad metric loses nothing" loses
visits() { status 0 "$perfmon" run -e none -s "$1" -f csv -o stdout "$program" && says out ",outer;inner,inner,1,1,"; }
try "run measures some visits only" visits 10
try "run measures some visits of a region only" visits inner=10
# Row: FO-08
try "run skips regions and says so" both 0 err "left out: 1 visit of 1 region" "$perfmon" run --skip 'in*' "$program"
try "run measures only what is named" both 0 err "PERFMON_ONLY=outer leaves visits out" \
	"$perfmon" run --only outer "$program"
try "run leaves out what is too deep" both 0 err "left out: 1 visit, by PERFMON_DEPTH" \
	"$perfmon" run --depth 1 "$program"
try "run quotes a bad list" both 2 err '"a,,b" has an empty item' "$perfmon" run --skip a,,b "$program"
try "run quotes a bad depth" both 2 err '"x" is not a number' "$perfmon" run --depth x "$program"
try "run quotes a depth beyond the bound" both 2 err '"257" is above the bound' "$perfmon" run --depth 257 "$program"
try "run quotes a bad time" both 2 err '"5 fortnights" is not a time' \
	"$perfmon" run --min-mean "5 fortnights" "$program"
# Row: FO-05
try "run shows the steps of a region" both 0 err "steps of outer > inner: " "$perfmon" run --steps 'in*' "$program"
try "run quotes a bad list of steps" both 2 err '"a,,b" has an empty item' "$perfmon" run --steps a,,b "$program"
try "run refuses steps of visits that are not measured" both 2 err "cannot be combined with PERFMON_STRIDE" \
	"$perfmon" run --steps inner -s 10 "$program"
try "run quotes a bad stride" both 2 err '"x=0"' "$perfmon" run -s x=0 "$program"

ranks() {
	for rank in 0 1; do
		status 0 env OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$program" fork &&
			cp "$here/err" "$here/err.$rank" &&
			grep -q "rank $rank of 2" "$here/perfmon.$rank.txt" || return 1
	done
}
try "each rank writes its own file" ranks
said_once() {
	[ ! -s "$here/err.1" ] &&
		[ "$(cat "$here/err.0")" = "perfmon: reports of 2 ranks: $here/perfmon.0.txt to perfmon.1.txt" ]
}
try "the first says where they are, once" said_once
try "also where their number is not known" both 0 err "reports of all ranks: $here/perfmon.0.txt" \
	env PMI_RANK=0 "$program"
says_nothing() { status 0 env PMI_RANK=0 PERFMON_OUTPUT="$1" "$program" && nothing cat "$here/err"; }
try "who has chosen the name is told nothing" says_nothing out.%r
try "who has chosen the folder is told nothing" says_nothing ranked/
try "who wants no report is told nothing" says_nothing none
forks() {
	status 0 env PERFMON_OUTPUT=forked "$program" fork && grep -q outer "$here/forked" &&
		grep -q child "$here"/forked.* && ! grep -q child "$here/forked"
}
try "a forked child has its own report" forks
lost() { both 0 err "/no/such/file' (No such file" env PERFMON_OUTPUT=/no/such/file "$program" && says err inner; }
try "an unwritable path loses nothing" lost
bad() { both 0 err 'PERFMON_FORMAT="xml"' env PERFMON_FORMAT=xml "$program" && says err inner; }
try "a bad variable loses nothing" bad
try "a closed stderr is survived" in_shell bash -c "'$program' 3 2>&-; [ \$? -eq 3 ]"
broken() { (trap - PIPE; "$program" 5 2> >(exec true); [ $? -eq 5 ]); }
try "a broken pipe does not change the exit status" broken

unknown() { both 0 err "PERFMON_EVENT is not a variable of libperfmon: did you mean PERFMON_EVENTS?" "$@" && says err inner; }
try "a report names a variable that has no meaning" unknown env PERFMON_EVENT=cycles "$program"
try "run names it, and runs" unknown env PERFMON_EVENT=cycles "$perfmon" run "$program"
run_names() {
	status 0 env PERFMON_EVENT=cycles "$perfmon" run -o none "$program" && says err "perfmon run: PERFMON_EVENT is not"
}
try "run names it also without a report" run_names
# Of a program that has no regions.
no_profile() { # COMMAND...
	both 0 err "perfmon run: no profile was written to '$here/none.profile': '$1' entered no region" \
		"$perfmon" run -P none.profile "$@" && [ ! -e "$here/none.profile" ]
}
try "run says that there is no profile, and what to do" no_profile true
a_profile() {
	rm -f "$here"/some.profile*
	for _ in 1 2; do
		status 0 "$perfmon" run -o none -P some.profile "$program" && [ ! -s "$here/err" ] || return 1
	done
	[ "$(find "$here" -name 'some.profile*' | wc -l)" -eq 2 ]
}
try "and nothing if there is one more" a_profile
elsewhere() {
	# shellcheck disable=SC2016 # for the command's shell
	status 0 "$perfmon" run -o none -P else.profile sh -c 'cd / && exec "$0"' "$program" &&
		[ ! -s "$here/err" ] && [ -e "$here/else.profile" ]
}
try "a profile's path begins where run does, not where the program goes" elsewhere
try "run ends as the command does" status 3 "$perfmon" run -o none -P %p.profile "$program" 3
# shellcheck disable=SC2016 # for the command's shell
try "by a signal, too" in_shell bash -c "'$perfmon' run -P '$here/none.profile' sh -c 'kill -USR1 \$\$'; [ \$? -eq 138 ]"
passed_on() {
	# shellcheck disable=SC2016 # for the command's shell
	"$perfmon" run -P "$here/none.profile" sh -c 'trap "exit 9" TERM; : >"$0"; while :; do sleep 0.01; done' \
		"$here/ready" 2>"$here/err" &
	while [ ! -e "$here/ready" ]; do sleep 0.01; done
	kill -TERM $! && { wait $!; [ $? -eq 9 ]; }
}
try "and passes signals on" passed_on
# The table of the source and the manual page have the same variables.
known_variables() {
	sed -n '/ names\[\] = {/,/};/p' src/core/settings/variables.c | grep -o '[A-Z_]*"' | sed -nE 's/(.+)"/PERFMON_\1/p' |
		sort >"$here/known"
	# That of libperfmon-mpi is no setting of the library.
	sed -nE 's/^\.B (PERFMON_[A-Z_]+)$/\1/p' man/perfmon-environment.7 | grep -v '^PERFMON_MPI_WAIT$' | sort -u |
		diff "$here/known" - &&
		[ -s "$here/known" ]
}
try "the manual page has all variables" known_variables

# What a folder is, for the variables and for the options alike.
folders() { # COMMAND...: writes to the folders f (there) and new/ (not there)
	local where
	rm -rf "$here/f" "$here/new" && mkdir "$here/f" || return 1
	for where in f f/ new/; do
		status 0 env PERFMON_EVENTS=none "${@//WHERE/$where}" || return 1
	done
	[ "$(find "$here/f" -name 'perfmon*' -type f -size +0 | wc -l)" -ge 1 ] &&
		[ "$(find "$here/new" -name 'perfmon*' -type f -size +0 | wc -l)" -eq 1 ] && [ ! -s "$here/err" ]
}
try "PERFMON_OUTPUT may be a folder" folders env PERFMON_OUTPUT=WHERE "$program"
try "PERFMON_PROFILE may be a folder" folders env PERFMON_OUTPUT=none PERFMON_PROFILE=WHERE "$program"
try "run takes folders for the report" folders "$perfmon" run -o WHERE "$program"
try "run takes folders for the profile" folders "$perfmon" run -o none -P WHERE "$program"
kept_here() { status 0 env PERFMON_OUTPUT=none PERFMON_PROFILE=kept "$program"; }
must "a profile is kept" kept_here
# 2,000,000 GB/s and 0.00002 flop/B are what they are.
units() {
	status 0 "$perfmon" report -m 'x [GB/s] = 2000000 + 0 * visits; y [flop/B] = 0.00002 + 0 * visits; z [B/s] = 2000000 + 0 * visits' kept &&
		says out " GB/s" && says out " flop/B" && says out " MB/s" && ! grep -E '[numkMGT](GB/s|flop/B)' "$here/out"
}
try "a unit that has a prefix gets no other" units
widest() { # COLUMNS: of a table in a file
	COLUMNS=$1 status 0 "$perfmon" report -m 'a = visits; b = visits; c = visits; d = visits; e = visits; f = visits' -o wide.txt kept &&
		awk '/^region/ { table = 1 } table && length > widest { widest = length } /^$/ { table = 0 } END { print widest }' \
			"$here/wide.txt" >"$here/width"
}
split() {
	local narrow
	widest 60 && narrow=$(cat "$here/width") && [ "$narrow" -le 60 ] && widest 200 &&
		[ "$(cat "$here/width")" -gt "$narrow" ]
}
try "COLUMNS says where tables in files are split" split
try "report writes into folders" folders "$perfmon" report -o WHERE kept
try "report writes pages into folders" folders "$perfmon" report -f html -o WHERE kept
try "export writes into folders" folders "$perfmon" export -f folded -o WHERE kept
try "stat writes into folders" folders "$perfmon" stat -e none -o WHERE true
try "a folder that cannot be made is quoted" both 1 err "'no/such/': No such file" \
	"$perfmon" report -o no/such/ kept
ranks_in_files() {
	for rank in 0 1; do
		status 0 env OMPI_COMM_WORLD_RANK=$rank PERFMON_OUTPUT=shared "$program" &&
			says "shared.$rank" inner || return 1
		[ "$rank" -ne 0 ] || says err "reports of all ranks: $here/shared.0" || return 1
	done
}
try "ranks do not share a file" ranks_in_files

secure() {
	cp "$program" "$here/secure" && chown 65534 "$here/secure" && chmod u+xs "$here/secure" &&
		status 0 env PERFMON_OUTPUT="$here/stolen" PERFMON_FORMAT=json "$here/secure" &&
		says err "  inner" && [ ! -e "$here/stolen" ]
}
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --clear-groups test -x "$build/.libs" &&
	! findmnt -nT "$here" -o OPTIONS 2>/dev/null | grep -q nosuid; then
	try "a set-user-ID program ignores the environment" secure
else
	skip "a set-user-ID program ignores the environment" "needs root and a tree that all may read"
fi
