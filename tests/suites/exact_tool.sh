#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The Valgrind tool of exact/ counts what is known of blocks of instructions, in threads and
# over fork, exec and signals; its totals and its refusals.
. "$PM_TOP/scripts/suite.sh"

exact_tree exact_tool tests/programs/exact_truth
truth=$build/tests/programs/exact_truth
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
export VALGRIND_LIB=$build/exact/valgrind
tool() { valgrind -q --tool=perfmon --trace-children=yes "$@"; }

all=instructions,loads,stores,load-bytes,store-bytes,cond-branches,calls,sp-flops,dp-flops
# Each event alone too: what is not counted is not instrumented.
for events in "$all" ${all//,/ }; do
	name=${events/$all/all events}
	tool --events="$events" "$truth" >"$here/results" 2>"$here/differs" || true
	sed -n "s/^\(ok\|not ok\) - /&$name: /p" "$here/results"
	cat "$here/differs" >&2
	if ! grep -q '^ok' "$here/results"; then
		not_ok "$name: nothing was told"
	fi
done

try "outside of the tool it is not found" both 2 err "the tool does not run" "$truth"
nor_there() { both 2 err "the tool does not run" env -u VALGRIND_LIB valgrind -q --tool=none "$truth"; }
try "nor under another tool" nor_there

# --- totals -------------------------------------------------------------------------------

totals() { # WANT ARGUMENT...: runs the program, and leaves the lines in "totals"
	local want=$1
	shift
	rm -f "$here/totals"
	status "$want" valgrind -q --tool=perfmon --trace-children=yes --totals="$here/totals" \
		--events=instructions,loads "$@" && sed -i '/^$/d' "$here/totals"
	cat "$here/totals"
}
lines() { # PATTERN...: one for each line, in order
	local pattern n=0
	for pattern; do
		n=$((n + 1))
		sed -n "${n}p" "$here/totals" | grep -E "^$pattern\$" || return 1
	done
	[ "$(wc -l <"$here/totals")" -eq "$n" ]
}
counts='[0-9]+ instructions=[1-9][0-9]* loads=[1-9][0-9]* .*exact_truth'
at_end() {
	totals 0 "$truth" print && lines "end $counts" &&
		# The line has what the program asked for, and what exit() executes.
		awk -v asked="$(cat "$here/out")" '{ sub(/.*instructions=/, ""); more = $1 - asked
			exit !(more > 0 && more < 20000) }' "$here/totals"
}
try "a process's line, at its end" at_end
with_exec() { totals 0 "$truth" exec "$truth" print && lines "exec $counts" "end $counts"; }
try "a line before an exec" with_exec
after_exec() {
	totals 0 "$truth" print && cp "$here/totals" "$here/alone" &&
		totals 0 "$truth" exec "$truth" print &&
		awk '{ sub(/.*instructions=/, ""); print int($1 / 1000) }' "$here/alone" >"$here/a" &&
		awk '/^end/ { sub(/.*instructions=/, ""); print int($1 / 1000) }' "$here/totals" >"$here/b" &&
		cmp "$here/a" "$here/b"
}
try "a program's count begins at its exec" after_exec
failed_exec() { totals 0 "$truth" fail && lines "exec $counts" "noexec $counts" "end $counts" &&
	[ "$(sed -n 's/^exec//p' "$here/totals")" = "$(sed -n 's/^noexec//p' "$here/totals")" ]; }
try "an exec that fails is taken back" failed_exec
killed() { totals 143 "$truth" kill && lines "end $counts"; }
try "a signal ends it" killed
several() {
	totals 0 sh -c "'$truth' print; '$truth' print & wait; cd /; '$truth' print; exit 0" &&
		[ "$(grep -c "^end.*exact_truth\$" "$here/totals")" -eq 3 ]
}
try "several processes, in other folders" several

odd_name() {
	cp "$truth" "$here/odd
end 1 instructions=9 loads=9 exact_truth" && totals 0 "$here/odd
end 1 instructions=9 loads=9 exact_truth" print && lines "end $counts"
}
try "a program's name is no line of its own" odd_name
of_unknown() { totals 132 "$truth" unknown && lines "end $counts" "unknown $counts"; }
try "a line of who ended at an instruction that Valgrind does not know" of_unknown

# --- names and limits ---------------------------------------------------------------------

comm() {
	# shellcheck disable=SC2016 # for the shell
	status 0 valgrind -q --tool=perfmon --trace-children=yes sh -c 'cat /proc/$$/comm; cat /proc/self/comm; :' &&
		[ "$(cat "$here/out")" = "sh
cat" ]
}
try "a process has its program's name" comm
try "600 threads run at once" both 0 out ok "$perfmon" run --exact -o none "$truth" threads 600
try "too many threads end with a sentence" both 1 err "limited to 19 threads at a time" \
	valgrind -q --tool=perfmon --max-threads=20 "$truth" threads 20
as_many() { both 0 out ok valgrind -q --tool=perfmon --max-threads=20 "$truth" threads 18; }
try "as many as are said run" as_many
try "a bad address in a request is refused" both 0 out 0 valgrind -q --tool=perfmon "$truth" address

# --- refusals -----------------------------------------------------------------------------

refuses() { both 1 err "$1" valgrind -q --tool=perfmon "${@:2}" "$truth" print; }
try "refuses an unknown event" refuses "'nonsense' is no event" --events=instructions,nonsense
try "refuses an empty event" refuses "'' is no event" --events=loads,
try "refuses no event" refuses "'' is no event" --events=
try "refuses totals that cannot be written" refuses "'/nonexistent/x' cannot be written" \
	--totals=/nonexistent/x
fifo() { rm -f "$here/fifo" && mkfifo "$here/fifo" && refuses "cannot be written" --totals="$here/fifo"; }
try "refuses a FIFO that nobody reads" fifo
unknown() {
	both 132 err "does not know the instruction at" valgrind -q --tool=perfmon "$truth" unknown &&
		says err "compile the program with -march="
}
try "says which instruction Valgrind does not know" unknown
handled() { status 0 valgrind -q --tool=perfmon "$truth" handled && nothing cat "$here/err"; }
try "unless the program handles it" handled
silent() { status 0 valgrind -q --tool=perfmon "$truth" && nothing cat "$here/err"; }
try "says nothing of reads" silent
