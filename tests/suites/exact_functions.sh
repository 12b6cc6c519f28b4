#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Row: QU-02: functions without regions are counted exactly, and a program without regions has a profile.
. "$PM_TOP/scripts/suite.sh"

exact_tree exact_functions tests/programs/exact_functions
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here/tmp"
program=$build/tests/programs/exact_functions
unset PERFMON_OUTPUT PERFMON_FORMAT PERFMON_PROFILE
export TMPDIR=$here/tmp
chosen=(--function all --function leaf --function recurse --function even --function odd --function 'tail*'
	--function jumps --function deep --function catches --function throws --function 'signals_*'
	--function returns --function leaves --function thread --function 'shapes::*')

# --- what counts where ---------------------------------------------------------------------

ways() {
	status 0 "$perfmon" run --exact "${chosen[@]}" -f csv -o "$here/report" "$program" &&
		awk -f "$PM_TOP/tests/exact_functions.awk" "$here/report"
}
try "a function counts what it executes, however it begins and ends" ways
field() { # FILE PATH COLUMN
	awk -F, -v path="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["thread"] == "all" && $at["path"] == path { print $at[column]; found = 1 }
		END { exit !found }' "$here/$1"
}
# The bytes of the same runs, by a count of another kind.
events() {
	status 0 "$perfmon" run --exact -e calls,instructions --function leaf --function recurse \
		-f csv -o "$here/calls" "$program" &&
		[ "$(field calls '(program);recurse' exact::calls)" = 4 ] &&
		[ "$(field calls '(program);recurse' visits)" = 5 ] &&
		[ "$(field calls '(program);leaf' exact::calls)" = 0 ]
}
try "each event of the tool is counted" events
# A program of C with one function in two copies of the source: N times 1,000 instructions more.
cat >"$here/work.c" <<'EOT'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef MORE
#define MORE 0
#endif
#define NOPS(n) __asm__ volatile(".rept " #n "\n\tnop\n\t.endr")
#define NO __attribute__((noinline))
static NO void solve_small(void)
{
	NOPS(100);
}
static inline __attribute__((always_inline)) void clamp(void)
{
	NOPS(7);
}
static void twice(void)
{
	NOPS(3);
}
void (*kept)(void) = twice;
NO void solve(int n)
{
	for (int i = 0; i < n; i++) {
		NOPS(10000);
		if (MORE)
			NOPS(10);
		solve_small();
	}
}
int main(int argc, char **argv)
{
	clamp();
	clamp();
	twice();
	kept();
	solve(20);
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (!fork()) {
			solve(3);
			_exit(0);
		}
		wait(NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execl(argv[0], argv[0], "again", (char *)NULL);
	return argc > 1 && !strcmp(argv[1], "fail") ? 3 : 0;
}
EOT
must "a program compiles" gcc -g -O2 "$here/work.c" -o "$here/work"
must "and changed" gcc -g -O2 -DMORE=1 "$here/work.c" -o "$here/more"
run() { # OPTION... -- COMMAND
	status 0 "$perfmon" run --exact "$@"
}
# files NAME: how many files have names that begin so.
files() { find "$here" -type f -path "$here/$1*" | wc -l; }
no_rest() { nothing ls "$here/tmp"; }
to_the_instruction() {
	run --function solve --function solve_small -f csv -o "$here/one" -- ./work &&
		run --function solve --function solve_small -f csv -o "$here/two" -- ./more && no_rest &&
		[ "$(field one '(program);solve;solve_small' visits)" = 20 ] &&
		[ $(($(field two '(program);solve' exact::instructions.exclusive) - \
			$(field one '(program);solve' exact::instructions.exclusive))) = 200 ] &&
		[ "$(field one '(program);solve;solve_small' exact::instructions)" = \
			"$(field two '(program);solve;solve_small' exact::instructions)" ]
}
try "a change of ten instructions is a difference of ten" to_the_instruction
sums() {
	run --functions=0 -f csv -o "$here/all" -- ./work && awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["thread"] != "all" { next }
		$at["path"] == "(program)" { total = $at["exact::instructions"] }
		$at["region"] == "(outside regions)" { outside = $at["exact::instructions"] }
		$at["id"] != "" { sum += $at["exact::instructions.exclusive"]; nodes++ }
		END { print sum, total, outside, nodes; exit sum != total || outside + 0 != 0 || nodes < 20 }' "$here/all"
}
try "all functions add up to the program's total" sums
shares() {
	run --functions=5% -f csv -o "$here/large" -- ./work &&
		[ "$(field large '(program)' exact::instructions)" = "$(field all '(program)' exact::instructions)" ] &&
		field large '(program);main;solve' visits && ! field large '(program);main;solve;solve_small' visits &&
		[ "$(field large '(program);main;solve' exact::instructions.exclusive)" = \
			"$(field all '(program);main;solve' exact::instructions)" ]
}
try "a smaller function counts in its caller" shares
like() {
	rm -f "$here"/base* && run --functions=5% -o none -P "$here/base" -- ./work &&
		run --functions=@"$here/base" -f csv -o "$here/same" -- ./more &&
		[ "$(cut -d, -f6 "$here/same")" = "$(cut -d, -f6 "$here/large")" ]
}
try "an earlier profile names the functions" like
forked() {
	local ours childs
	run --function solve -f csv -o "$here/parent" -- ./work fork && mv "$here"/parent.* "$here/child" &&
		ours=$(field parent '(program);solve' exact::instructions) &&
		childs=$(field child '(program);solve' exact::instructions) && echo "$ours $childs" &&
		[ "$(field child '(program);solve' visits)" = 1 ] && [ "$ours" -ge 202000 ] && [ "$ours" -lt 203000 ] &&
		[ "$childs" -ge 30300 ] && [ "$childs" -lt 30600 ]
}
try "a forked child counts for itself" forked
executed() {
	rm -f "$here"/exec.profile* && run --function solve -o none -P "$here/exec.profile" -- ./work exec &&
		[ "$(files exec.profile)" = 2 ] &&
		both 0 out "solve" "$perfmon" report "$here/exec.profile"
}
try "a program and what it executes each have a profile" executed
status_of() { status 3 "$perfmon" run --exact --function solve -o none ./work fail && no_rest; }
try "the exit status is the program's" status_of

cat >"$here/fibre.c" <<'EOT'
#include <ucontext.h>
static ucontext_t main_context, fibre;
static char stack[1 << 16];
__attribute__((noinline)) void on_fibre(void)
{
	__asm__ volatile(".rept 1000\n\tnop\n\t.endr");
	swapcontext(&fibre, &main_context);
}
int main(void)
{
	getcontext(&fibre);
	fibre.uc_stack.ss_sp = stack;
	fibre.uc_stack.ss_size = sizeof(stack);
	makecontext(&fibre, on_fibre, 0);
	swapcontext(&main_context, &fibre);
	return 0;
}
EOT
must "a program with a fibre compiles" gcc -g -O1 "$here/fibre.c" -o "$here/fibre"
fibres() {
	run --function on_fibre -- ./fibre && says err "changes between stacks" &&
		run "${chosen[@]}" -- "$program" && ! grep "changes between stacks" "$here/err"
}
try "a program with several stacks is told of" fibres

# --- names ---------------------------------------------------------------------------------

refused() { # TEXT OPTION...
	both 1 err "$1" "$perfmon" run --exact -o none "${@:2}" ./work && no_rest
}
wrong() { # TEXT OPTION...
	both 2 err "$1" "$perfmon" run "${@:2}" ./work && no_rest
}
not_called() {
	both 0 err "'never_called' was not called" "$perfmon" run --exact -o none --function never_called "$program"
}
inlined() {
	refused "'clamp' has no code of its own: the compiler inlined 'clamp' in 2 places" --function clamp &&
		both 1 err "in 2 places" "$perfmon" run --exact -o none --function clamp ./work fork
}
# The tool has a function begins(), which is none of the program.
of_the_tool() { refused "no function matches 'begins'" --function begins; }
in_part() {
	run --function twice --function solve -- ./work && says err "'twice' is inlined in 1 place, too"
}
cat >"$here/chosen.c" <<'EOT'
#include <setjmp.h>
__attribute__((noinline)) int variant(int x) { return x * 3; }
static void *choose(void) { return variant; }
int stands_for(int) __attribute__((ifunc("choose")));
static jmp_buf back;
/* The compiler cuts it into two parts, and puts the first one where it was. */
static void handle(int number)
{
	static volatile int calls;

	calls += number;
	if (calls % 2)
		longjmp(back, 1);
}
void (*volatile handler)(int) = handle;
static inline __attribute__((always_inline)) int small_one(int x) { return x + 1; }
static inline __attribute__((always_inline)) int small_two(int x) { return x + 2; }
int main(int argc, char **argv)
{
	(void)argv;
	if (!setjmp(back))
		handler(argc);
	return small_one(stands_for(argc)) + small_two(argc) == 0;
}
EOT
must "a program with an ifunc compiles" gcc -g -O2 -rdynamic "$here/chosen.c" -o "$here/chosen"
variants() {
	both 1 err "'stands_for' stands for variants" "$perfmon" run --exact -o none --function stands_for ./chosen &&
		run --function variant -f csv -o "$here/variant" -- ./chosen &&
		[ "$(field variant '(program);variant' visits)" = 1 ] &&
		run --function variant --function strlen -- ./chosen && says err "'strlen' also stands for variants"
}
in_itself() {
	run --function handle -- ./chosen && says err "  handle " && ! grep -F "'handle' is inlined" "$here/err"
}
several_inlined() {
	both 1 err "' and others in 2 places" "$perfmon" run --exact -o none --function 'small_*' ./chosen
}
near() { refused "no function matches 'slove': did you mean 'solve'?" --function slove; }
if pkg-config --exists libdw; then
	try "a name that nothing has is quoted with one that is alike" near
	try "a function that is inlined everywhere is refused" inlined
	try "one that is inlined in some places is counted, with a note" in_part
	try "one that is not called is no mistake" not_called
	try "a name that stands for variants is told of" variants
	try "a function that is cut into parts is not inlined by that" in_itself
	try "those of a pattern are counted together" several_inlined
	try "functions of the tool are none of the program" of_the_tool
else
	skip "what is said of names" "libdw is missing"
fi
try "a share that is none is quoted" wrong "'much' is no share" --exact --functions=much
try "an empty name is refused" wrong "expects the name of a function" --exact --function=
try "without --exact functions are refused" wrong "need --exact" --functions
try "a profile that is none is quoted" refused "cannot open 'no/such'" --functions=@no/such
stripped() {
	strip -o "$here/stripped" "$here/work" && both 1 err "no symbols" "$perfmon" run --exact -o none --function solve ./stripped &&
		both 0 err "'./stripped' has no symbols (it is stripped)" "$perfmon" run --exact --functions=0 ./stripped
}
in_part_stripped() {
	strip -o "$here/part" "$here/chosen" &&
		both 0 err "'./part' names only functions that other files may call" "$perfmon" run --exact --functions=0 ./part &&
		run --functions=0 -- ./chosen && ! grep -F "names only" "$here/err"
}
try "a program without symbols is told of" stripped
if pkg-config --exists libdw; then
	try "and one with exported ones alone" in_part_stripped
fi

# --- profiles ------------------------------------------------------------------------------

kept() {
	rm -f "$here"/kept* && run --function solve --note size=3 -o none -P "$here/kept" -- ./work &&
		both 0 out '"region":"solve"' "$perfmon" report -f json "$here/kept" && says out '"exact":true' &&
		both 0 out "solve" "$perfmon" report --html "$here/kept" &&
		both 0 out "(program);solve" "$perfmon" export -f folded "$here/kept" &&
		both 0 out "solve" "$perfmon" report --by size "$here/kept"
}
try "a profile of functions is one as any other" kept
cat >"$here/regions.c" <<'EOT'
#include <perfmon/region.h>
__attribute__((noinline)) void solve(void)
{
	__asm__ volatile(".rept 1000\n\tnop\n\t.endr");
}
int main(void)
{
	PERFMON_REGION_BEGIN("step");
	solve();
	PERFMON_REGION_END("step");
	return 0;
}
EOT
must "a program with regions compiles" gcc -g -O2 -std=gnu11 -Iinclude "$here/regions.c" -o "$here/regions" \
	-L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
beside() {
	rm -rf "$here"/both* && run --function solve -o none -P "$here/both" -- ./regions &&
		both 0 out "step" "$perfmon" report "$here/both.regions" && ! grep -q solve "$here/out" &&
		both 0 out "solve" "$perfmon" report "$here/both" && says out "the program has regions of its own" &&
		mkdir "$here/both.d" && run --function solve -o none -P "$here/both.d" -- ./regions &&
		[ "$(files both.d/)" = 1 ] && [ "$(files both.d.regions/)" = 1 ]
}
try "regions of the program have a profile beside it" beside
whole() {
	rm -f "$here"/whole* && run -o none -P "$here/whole" -- sh -c './work; ./work' && no_rest &&
		[ "$(files whole)" = 1 ] &&
		both 0 out "(program)" "$perfmon" report "$here/whole" && says out "the sum of 3 processes"
}
try "a program without regions has a profile of the whole" whole
# A process that another one kills, and one that goes on after the command.
missing() {
	rm -f "$here"/missing*
	# shellcheck disable=SC2016 # for the command's shell
	run -o none -P "$here/missing" -- bash -c '
		(trap "" USR1; (: >"$0/began"; while :; do :; done) &
			until [ -e "$0/began" ]; do :; done
			kill -9 $!
			wait $!)
		(exec sleep 30) & echo $! >"$0/pid"
		./work' "$here" && no_rest &&
		both 0 out "2 more processes left no counts: killed by SIGKILL, or still running" "$perfmon" report "$here/missing"
	local result=$?
	kill "$(cat "$here/pid")"
	return $result
}
try "the sum says what processes are missing in it" missing
none_missing() { both 0 out "the sum of 3 processes" "$perfmon" report "$here/whole" && ! grep -F "left no counts" "$here/out"; }
try "... and only then" none_missing
regions_alone() {
	rm -f "$here"/alone* && run -o none -P "$here/alone" -- ./regions && [ "$(files alone)" = 1 ] &&
		both 0 out "step" "$perfmon" report "$here/alone" && ! grep -qF "(program)" "$here/out"
}
try "one with regions has theirs" regions_alone
same() {
	rm -f "$here"/same.* && run -o none -P "$here/same.one" -- ./work && run -o none -P "$here/same.two" -- ./work &&
		both 0 out "0 more, 0 less, 2 the same" "$perfmon" diff -A --only exact::instructions "$here/same.one" "$here/same.two"
}
try "two runs of it are the same" same
limited() {
	(ulimit -f 2 && both 1 err "cannot be written to '$here/limited': File too large" "$perfmon" run --exact -o none -P "$here/limited" true) &&
		[ ! -e "$here/limited" ] && no_rest
}
try "a profile for which there is no room is an error" limited
killed() {
	# shellcheck disable=SC2016 # for the command's shell
	both 137 err "left no counts" "$perfmon" run --exact -o none -P "$here/killed" sh -c '(kill -9 $$); :' && no_rest
}
try "a program that was killed has left no counts" killed
killed_later() {
	# shellcheck disable=SC2016 # for the command's shells
	both 137 err "left no counts" "$perfmon" run --exact --functions=50% sh -c 'exec sh -c "(kill -9 \$\$); :"' &&
		no_rest && ! grep -F "(program)" "$here/err"
}
try "nor has one that was killed after an exec" killed_later
ended_by_signal() {
	# shellcheck disable=SC2016 # for the command's shell
	both 143 err "(program)" "$perfmon" run --exact --functions=50% sh -c 'kill -TERM $$' && no_rest
}
try "one that a signal has ended has a report, and leaves no folder" ended_by_signal
compare() { # STATUS FUNCTIONS BEFORE AFTER
	status "$1" env PATH="$build:$PATH" FUNCTIONS="$2" "$PM_TOP/examples/ci/compare" "$3" "$4"
}
gate() {
	compare 0 5% ./work ./work && compare 1 5% ./work ./more && grep -qE '^solve +exact::instructions .* more$' "$here/out" &&
		[ "$(grep -c ' more$' "$here/out")" = 2 ] && compare 1 "" ./work ./more &&
		grep -qE '^\(program\) +exact::instructions .* more$' "$here/out" && compare 0 "" ./more ./work
}
try "the example for continuous integration names the function that counts more" gate
