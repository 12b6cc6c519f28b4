#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon stat, on every bed: counts that are known, whatever the machine has.
# Row: PC-13, PC-14, HW-17
# shellcheck disable=SC2317 # functions that "try" calls
# shellcheck disable=SC2016 # for the shells of commands

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
work=./tests/programs/stat_work
get=./tests/programs/json_get
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset NO_COLOR
touched=mem:0x30000000/8:w

# As "try", with what a program of the thread sanitizer's does not have: its own faults and
# signals come on top.
if grep -q __tsan_init "$work"; then
	exactly() { skip "$1" "the thread sanitizer adds faults and signals of its own"; }
else
	exactly() { try "$@"; }
fi

# stat ARGUMENT...: leaves status, out and err.
stat() {
	"$perfmon" stat "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
}
ends() { # STATUS ARGUMENT...
	want=$1
	shift
	stat "$@"
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
}
says() { grep -qF -- "$1" "$here/err"; }
ends_and_says() { # STATUS TEXT ARGUMENT...
	text=$2
	want=$1
	shift 2
	ends "$want" "$@" && says "$text"
}
# count EVENT: the number in front of it in err, without commas.
count() { sed -n "s/^ *\([0-9,]*\)  *\(+-[^%]*%  *\)*$1\( .*\)*\$/\1/p" "$here/err" | tr -d ,; }
field() { # NAME ROW: of a CSV line in err that is about ROW
	awk -F, -v name="$1" -v row="$2" '
		{ sub(/\r$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$3 == row { print $column; exit }' "$here/err"
}
between() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ]; }

# --- what is wrong with the words -----------------------------------------------------

try "needs a command" ends_and_says 2 "no command" -e none
try "quotes an unknown event" ends_and_says 2 "'cycels'" -e cycels true
try "names --exact where that counts an event" ends_and_says 2 "'perfmon stat --exact' count it" -e loads true
try "quotes a bad number" ends_and_says 2 "'0'" -r 0 true
try "quotes a bad number with a unit" ends_and_says 2 "'1s'" -I 1s true
try "quotes a bad list of threads" ends_and_says 2 "'1,,2'" -t 1,,2
try "quotes a bad format" ends_and_says 2 "'xml'" -f xml true
try "refuses --repeat with --interval" ends_and_says 2 exclude -r 2 -I 10 true
try "refuses --descendants with --no-inherit" ends_and_says 2 exclude -i --descendants true
try "refuses threads with processes" ends_and_says 2 exclude -t 1 -p 1
try "refuses --append alone" ends_and_says 2 "--append needs" --append true

# --- the command's end ----------------------------------------------------------------

try "passes an exit status on" ends 7 -e none "$work" exit 7
try "says 128 + n for a signal" ends_and_says 143 "ended by signal 15" -e none "$work" raise 15
try "says 127 for no such command" ends_and_says 127 "cannot run './nosuch'" -e none ./nosuch
try "says 126 for what cannot be executed" ends_and_says 126 "cannot run" -e none /dev/null
reads_again() {
	seq 1000 >"$here/input" && "$perfmon" stat -e none -r 3 sh -c 'read -r first; wc -l >>"$0"; echo "$first" >>"$0"' \
		"$here/lines" <"$here/input" 2>"$here/err" && [ "$(sort -u "$here/lines" | tr -d ' ' | tr '\n' ,)" = 1,999, ] &&
		! says "is a pipe"
}
try "each run reads the same input" reads_again
from_its_place() {
	{
		read -r _ && "$perfmon" stat -e none -r 2 sh -c 'read -r first; echo "$first" >>"$0"' "$here/places"
	} <"$here/input" 2>"$here/err" && [ "$(sort -u "$here/places")" = 2 ]
}
try "from where it stood" from_its_place
stops() {
	ends 0 -e none -r 3 sh -c 'trap "" TERM; echo run >>"$0"; kill "$PPID"' "$here/runs" &&
		[ "$(wc -l <"$here/runs")" -eq 1 ] && says "1 of 3 runs"
}
try "begins no other run after a signal" stops
of_a_pipe() { seq 10 | "$perfmon" stat -e none "$@" cat >/dev/null 2>"$here/err"; }
pipes() { of_a_pipe -r 2 && says "standard input is a pipe" && of_a_pipe && ! says "is a pipe"; }
try "says that a pipe is read once" pipes
# The report goes to a pipe that is full, and nobody reads it.
stuck() {
	mkfifo "$here/pipe" && exec 9<>"$here/pipe"
	timeout 1 cat /dev/zero >&9
	timeout -k 10 1 "$perfmon" stat -e none -o "$here/pipe" true 2>"$here/err"
	status=$?
	exec 9>&-
	# busybox's timeout tells the signal instead.
	[ "$status" -eq 124 ] || [ "$status" -eq 143 ]
}
try "ends by a signal while it writes its report" stuck
options_after() { ends 0 -e none sh -c 'exit "$1"' sh 0 -e nonsense; }
try "leaves the options of the command alone" options_after
the_same() { # SCRIPT: prints the same without us
	sh -c "$1" >"$here/without" 2>"$here/err" </dev/null
	ends 0 -e none sh -c "$1" && cmp "$here/without" "$here/out" 2>>"$here/err"
}
exactly "leaves the command's signals alone" the_same "grep -E '^Sig(Blk|Ign)' /proc/self/status"
try "leaves no descriptor to the command" the_same 'ls /proc/self/fd | wc -l'
try "leaves the command's limits alone" the_same 'ulimit -n'

# Until the command that runs has come to its "ready".
wait_ready() {
	rounds=0
	while [ ! -e "$here/ready" ]; do
		rounds=$((rounds + 1))
		[ "$rounds" -lt 3000 ] || return 1
		sleep 0.02
	done
}
# A signal that comes while the command runs.
signalled() { # STATUS SIGNAL WORD...
	expected=$1
	signal=$2
	shift 2
	rm -f "$here/ready"
	"$perfmon" stat -e none "$work" "$@" ready "$here/ready" wait exit 5 >"$here/out" 2>"$here/err" &
	pid=$!
	wait_ready || return 1
	kill -s "$signal" "$pid"
	wait "$pid"
	status=$?
	[ "$status" -eq "$expected" ] && says elapsed
}
try "passes SIGTERM on and still reports" signalled 143 TERM
try "passes on what the command catches" signalled 42 TERM catch 15
try "passes SIGUSR1 on" signalled 42 USR1 catch 10
ignores() {
	rm -f "$here/ready"
	"$perfmon" stat -e none "$work" ignore 15 ready "$here/ready" sleep 100 exit 6 >"$here/out" 2>"$here/err" &
	pid=$!
	wait_ready || return 1
	kill -s TERM "$pid"
	wait "$pid"
	status=$?
	[ "$status" -eq 6 ] && says elapsed
}
try "waits for a command that ignores the signal" ignores
try "ends the command at a time-out" ends 143 -e none --timeout 50 "$work" wait

# --- output ---------------------------------------------------------------------------

in_file() { ends 0 -e none -o "$here/file" true && [ ! -s "$here/err" ] && grep -q elapsed "$here/file"; }
try "writes to a file" in_file
appended() {
	ends 0 -e none -o "$here/file" --append true && [ "$(grep -c elapsed "$here/file")" -eq 2 ] &&
		ends 0 -e none -o "$here/file" true && [ "$(grep -c elapsed "$here/file")" -eq 1 ]
}
try "appends to a file, or begins it anew" appended
# WHAT-STANDS-THERE OPTION...: of a command that does not exist.
left_alone() {
	echo precious >"$here/before"
	rm -f "$here/file"
	[ "$1" = nothing ] || cp "$here/before" "$here/file"
	shift
	ends 127 -e none -o "$here/file" "$@" /nosuch/command || return 1
	[ ! -e "$here/file" ] || cmp -s "$here/file" "$here/before"
}
try "leaves the file alone if the command cannot be run" left_alone text
try "so with intervals" left_alone text -I 10
try "and with --append" left_alone text --append
no_file() { left_alone nothing && [ ! -e "$here/file" ]; }
try "and leaves none where there was none" no_file
# A link that another user has put into a sticky folder, and a shell's way through it.
another_users_link() {
	mkdir -m 1777 "$here/sticky" && echo precious >"$here/victim" && ln -s ../victim "$here/sticky/link" &&
		chown -h 54321 "$here/sticky/link" 2>"$here/err" && ! (: >>"$here/sticky/link") 2>"$here/err"
}
refused() { # SUBCOMMAND ARGUMENT...
	"$perfmon" "$@" -o "$here/sticky/link" "$here/profile" >"$here/out" 2>"$here/err" && return 1
	says "sticky/link': Permission denied" && [ "$(cat "$here/victim")" = precious ]
}
through_own_link() {
	ln -s ../victim "$here/sticky/own" && "$perfmon" report -f csv -o "$here/sticky/own" "$here/profile" 2>"$here/err" &&
		[ -L "$here/sticky/own" ] && grep -q work "$here/victim"
}
if ! another_users_link; then
	skip "follows no link of another user in a sticky folder" "needs root, and fs.protected_symlinks=1"
elif ! PERFMON_EVENTS=none PERFMON_OUTPUT=none PERFMON_PROFILE=$here/profile ./tests/programs/diff_work 10 7 3; then
	not_ok "makes a profile"
else
	try "report follows no link of another user in a sticky folder" refused report
	try "nor does report --html" refused report --html
	try "nor does export" refused export -f folded
	try "nor does stat" eval 'ends_and_says 1 "Permission denied" -o "$here/sticky/link" true'
	try "but it follows one of its own" through_own_link
fi
on_stdout() { ends 0 -e none -o - true && grep -q elapsed "$here/out" && [ ! -s "$here/err" ]; }
try "writes to stdout" on_stdout
try "says why it cannot write" ends_and_says 1 "'/nosuch/file': No such file" -e none -o /nosuch/file true
try "does not run the command then" ends 1 -o /nosuch/file "$work" ready "$here/was_run"
try "indeed not" [ ! -e "$here/was_run" ]
full() { "$perfmon" stat -e none -o /dev/full true 2>"$here/err"; [ $? -eq 1 ] && says "No space"; }
try "notices a full disk" full
limited() { # the command's status, not that of SIGXFSZ
	{
		(ulimit -f 0 && exec "$perfmon" stat -e none -o "$here/limited" "$work" exit 3)
		echo "status $?"
	} 2>&1 | cat >"$here/err"
	says "File too large" && says "status 3"
}
# The thread sanitizer writes files.
exactly "survives a limit on files" limited
broken() { { "$perfmon" stat -e none -o - "$work" exit 9; echo $? >"$here/out"; } 2>"$here/err" | true
	[ "$(cat "$here/out")" = 9 ]; }
try "keeps the status though nobody reads" broken

# A terminal, where there is a program that makes one.
escapes() { # VARIABLE=VALUE...: how many lines have colours
	env "$@" SHELL=/bin/sh script -qec "stty cols 60; '$perfmon' stat -e dummy true" /dev/null \
		</dev/null >"$here/err" 2>/dev/null
	grep -c "$(printf '\033')" "$here/err"
}
coloured() { [ "$(escapes TERM=xterm)" -gt 0 ]; }
plain() { [ "$(escapes TERM=xterm NO_COLOR=1)" -eq 0 ] && [ "$(escapes TERM=dumb)" -eq 0 ]; }
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	try "has colours on a terminal" coloured
	try "has none for those who want none" plain
	fits() {
		env TERM=dumb SHELL=/bin/sh script -qec "stty cols 60; '$perfmon' stat -e context-switches:u sleep 0" \
			/dev/null </dev/null >"$here/err" 2>/dev/null
		says "note:" && awk '{ sub(/\r$/, "") } length($0) > 60 { exit 1 }' "$here/err"
	}
	try "fits the terminal" fits
	interrupted() {
		rm -f "$here/ready"
		{
			wait_ready
			printf '\003'
			sleep 0.2
		} | env SHELL=/bin/sh script -qec "trap : INT
			'$perfmon' stat -e none '$work' catch 2 ready '$here/ready' wait
			echo status \$?" /dev/null >"$here/err" 2>/dev/null
		says "status 42" && says elapsed
	}
	try "leaves Ctrl-C to the command, and reports" interrupted
else
	skip "a terminal" "script(1) is not here, or no pseudo-terminal"
fi

# --- counts ---------------------------------------------------------------------------

stat -e "$touched" "$work" touch 100
opened=
watch=
if says "never opened"; then
	why=$(sed -n 's/^  note: //p' "$here/err" | head -n 1)
else
	opened=1
	! breakpoints_fire || watch=1
fi
if [ -z "$watch" ]; then
	for name in "counts exactly" "counts twice"; do skip "$name" "$why"; done
fi
touches() { # WANT ARGUMENT...
	touches=$1
	shift
	ends 0 -f csv -e "$touched" "$@" && awk -F, -v want="$touches" '
		/mem:/ { found = 1; if ($5 != want) { print "# counted " $5; wrong = 1 } }
		END { exit wrong || !found }' "$here/err"
}
if [ -n "$watch" ]; then
	try "counts exactly" touches 100 "$work" touch 100
	try "counts threads and children" touches 123 "$work" touch 100 thread 20 fork 3
	try "leaves them out" touches 100 -i "$work" touch 100 thread 20 fork 3
	try "counts on after another exec" touches 107 "$work" touch 100 again touch 7
	apart() {
		ends 0 --descendants -f csv -e "$touched" "$work" touch 100 thread 20 fork 3 &&
			grep -q ',123,counted,.*,100,23,,,' "$here/err"
	}
	try "counts them apart" apart
	try "averages runs" touches 50 -r 3 "$work" touch 50
	twice() { touches 5 -e "$touched" "$work" touch 5 && [ "$(grep -c mem: "$here/err")" -eq 2 ]; }
	try "counts what two -e say" twice
	sets() { touches 5 -e "page-faults;$touched" "$work" touch 5; }
	try "counts event sets" sets
	running() { # WANT OPTION...: the target goes on when counting has begun
		rm -f "$here/ready" "$here/go" "$here/done"
		"$work" touch 3 ready "$here/ready" until "$here/go" touch 40 thread 10 fork 5 \
			ready "$here/done" until "$here/never" &
		pid=$!
		wait_ready || return 1
		touches "$@" "$pid" "$work" ready "$here/go" until "$here/done"
		result=$?
		kill "$pid"
		wait "$pid" 2>/dev/null
		return "$result"
	}
	try "watches a thread" running 40 -t
	try "watches a process" running 55 -p
	try "watches a process without what it creates" running 50 -i -p
	process_apart() { running 55 --descendants -p && grep -q ',55,counted,.*,50,5,,,' "$here/err"; }
	try "watches a process and what it creates apart" process_apart
fi
if [ -n "$opened" ]; then
	meanwhile() {
		rm -f "$here/ready"
		"$work" ready "$here/ready" until "$here/never" &
		pid=$!
		wait_ready || return 1
		ends 3 -p "$pid" -e dummy "$work" exit 3
		result=$?
		kill "$pid"
		wait "$pid" 2>/dev/null
		return "$result"
	}
	try "watches as long as a command takes" meanwhile
fi

stat -e page-faults:u true
if says "never opened"; then
	skip "page faults" "$(sed -n 's/^  note: //p' "$here/err" | head -n 1)"
else
	faults() {
		ends 0 -f csv -e page-faults:u "$work" faults 1000 && with=$(field count page-faults:u) &&
			ends 0 -f csv -e page-faults:u "$work" exit 0 && without=$(field count page-faults:u) &&
			between $((without + 990)) "$with" $((without + 1300))
	}
	exactly "counts page faults" faults
	text() { ends 0 -e page-faults:u "$work" faults 2000 && between 2000 "$(count page-faults:u)" 6000; }
	exactly "prints a table" text
	repeats() {
		ends 0 -r 4 -f csv -e page-faults:u "$work" faults 10 &&
			[ "$(field runs page-faults:u)" -eq 4 ] && [ "$(field runs elapsed)" -eq 4 ] &&
			[ -n "$(field spread_percent elapsed)" ] &&
			[ "$(field min page-faults:u)" -le "$(field max page-faults:u)" ]
	}
	try "says how runs differ" repeats
	intervals() {
		ends 0 -I 10 -f csv -e page-faults:u "$work" faults 500 sleep 300 faults 500 &&
			awk -F, '/page-faults/ { n++; sum += $5; if ($1 <= last) exit 1; last = $1 }
				END { exit !(n >= 2 && sum >= 1000 && sum < 3000) }' "$here/err"
	}
	exactly "reports at intervals, which add up" intervals
	repeated_failure() { ends 3 -r 3 -e page-faults:u "$work" exit 3; }
	try "passes on the status of repeated runs" repeated_failure
	json() {
		ends 4 -f json -e page-faults:u,branches:u "$work" exit 4 || return 1
		[ "$("$get" "$here/err" exit_status)" = 4 ] &&
			[ "$("$get" "$here/err" command.1)" = exit ] &&
			[ "$("$get" "$here/err" events.0.event)" = page-faults:u ] &&
			[ "$("$get" "$here/err" events.0.status)" = counted ] &&
			[ "$("$get" "$here/err" events.0.count)" -gt 10 ]
	}
	lines() {
		ends 0 -I 10 -f json -e page-faults:u "$work" sleep 200 &&
			[ "$("$get" "$here/err" format | grep -c 1)" -ge 3 ]
	}
	if "$get" /dev/null x >/dev/null; then
		try "writes JSON" json
		try "writes a line of JSON for each interval" lines
	else
		skip "writes JSON" "there is no jansson to read it with"
	fi
fi

# Until what is watched ends, which happens when the first interval has been told.
until_the_end() { # OPTION
	rm -f "$here/ready" "$here/go" "$here/told"
	"$work" ready "$here/ready" until "$here/go" &
	target=$!
	wait_ready || return 1
	"$perfmon" stat "$1" "$target" -e dummy -I 10 -o "$here/told" >"$here/out" 2>"$here/err" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && ! grep -qs dummy "$here/told"; do sleep 0.02; done
	: >"$here/go"
	wait "$pid" && wait "$target"
}
stat -e dummy true
if says "never opened"; then
	skip "watches until the end" "$(sed -n 's/^  note: //p' "$here/err" | head -n 1)"
else
	try "watches a thread until it ends" until_the_end -t
	try "watches a process until it ends" until_the_end -p
fi

# --- what is refused ------------------------------------------------------------------

gone() { "$work" exit 0 & gone=$!; wait "$gone"; ends_and_says 1 "no such thread" -e page-faults:u -t "$gone"; }
try "says that there is no such thread" gone
gone_process() { "$work" exit 0 & gone=$!; wait "$gone"; ends_and_says 1 "no process" -e page-faults:u -p "$gone"; }
try "says that there is no such process" gone_process
stat -e instructions:u,page-faults:u true
if says "never opened"; then
	why=$(sed -n 's/^  note: //p' "$here/err" | head -n 1)
	skip "instructions" "$why"
	reason() { ends 0 -f csv -e instructions:u true && [ "$(field status instructions:u)" = "never opened" ] &&
		[ -z "$(field count instructions:u)" ] && [ -n "$(field why instructions:u)" ]; }
	try "what was never opened has no number, but a reason" reason
	once() { ends 0 -e instructions:u,cycles:u true && [ "$(grep -c 'note:' "$here/err")" -eq 1 ]; }
	try "says why once" once
	each() { ends 0 -v -e instructions:u,cycles:u true && [ "$(grep -c 'note:' "$here/err")" -eq 2 ]; }
	try "says why for each, if asked" each
else
	exact() {
		ends 0 -f csv -e instructions:u "$work" loop 1000000 && one=$(field count instructions:u) &&
			ends 0 -f csv -e instructions:u "$work" loop 3000000 &&
			three=$(field count instructions:u) && echo "# $one $three" &&
			# The emulator takes some of the kernel's for the user's (qemu 7.2), in either run.
			between 3990000 $((three - one)) 4010000
	}
	try "counts instructions exactly" exact
	per_cycle() { ends 0 -e instructions:u,cycles:u "$work" loop 1000000 && says "per cycle"; }
	try "says instructions per cycle" per_cycle
	rotates() {
		ends 0 -f csv -e instructions:u -e instructions:u -e instructions:u -e instructions:u \
			-e instructions:u -e instructions:u -e instructions:u -e instructions:u \
			-e instructions:u -e instructions:u "$work" loop 30000000 &&
			grep -q ',multiplexed,0\.' "$here/err" &&
			awk -F, '/instructions/ { if ($5 < 57000000 || $5 > 66000000) exit 1; n++ }
				END { exit n != 10 }' "$here/err"
	}
	try "estimates what takes turns" rotates
fi
# A set-user-ID program, for a user.
user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}
if [ "$(id -u)" -eq 0 ] && chmod 755 "$here" && cp "$work" "$here/plain" && cp "$work" "$here/secure" && chmod 4755 "$here/secure" &&
	cp "$(command -v "$perfmon")" "$here/perfmon" 2>/dev/null &&
	user "$here/perfmon" stat -f csv -e page-faults:u true 2>&1 | grep -q ',counted,' &&
	[ "$(user "$here/secure" euid 0)" = 0 ]; then
	let_go() {
		user "$here/perfmon" stat -e page-faults:u "$here/secure" loop 400000000 >"$here/out" 2>"$here/err" &&
			says "counting ended before the command" &&
			user "$here/perfmon" stat -e page-faults:u "$here/plain" loop 400000000 >"$here/out" 2>"$here/err" &&
			! says "counting ended"
	}
	try "says that a set-user-ID program is not counted" let_go
else
	skip "a set-user-ID program" "needs root, setpriv(1), events for users, and a file system that knows such programs"
fi
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ "$(id -u)" -ne 0 ] && [ "${paranoid:-2}" -gt 1 ]; then
	try "names the setting that refuses the kernel's part" ends_and_says 0 \
		kernel.perf_event_paranoid -e context-switches,page-faults true
else
	stat -e context-switches true
	if says "never opened"; then
		skip "counts context switches" "$(sed -n 's/^  note: //p' "$here/err" | head -n 1)"
	else
		switches() { ends 0 -f csv -e context-switches "$work" sleep 1 sleep 1 sleep 1 sleep 1 &&
			between 4 "$(field count context-switches)" 1000; }
		try "counts context switches" switches
	fi
fi
# Row: HW-03
stat -a -e dummy true
if [ "$status" -ne 0 ]; then
	try "names the setting that refuses whole CPUs" says kernel.perf_event_paranoid
	cpus=
else
	cpus=1
fi
if [ -n "$cpus" ]; then
	on_cpus() {
		ends 7 -f csv -a --per pu -e cpu-clock sh -c 'sleep 0.1; exit 7' &&
			awk -F, -v cpus="$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)" '
				/,cpu-clock,/ { if ($2 !~ /^pu:[0-9]+$/ || $5 < 50000000) exit 1; n++ }
				END { exit n < 1 || n > cpus }' "$here/err"
	}
	try "counts on each CPU" on_cpus
	machine() { ends 0 -f csv -a -e cpu-clock,dummy true && [ "$(grep -c 'dummy,' "$here/err")" -eq 1 ] &&
		[ -z "$(field place cpu-clock)" ]; }
	try "sums over CPUs" machine
	first() { ends 0 -f csv -C pu:0 --per machine -e dummy true && [ "$(field place dummy)" = machine:0 ]; }
	try "counts on a CPU" first
	ended() { ends 0 -a -e cpu-clock --timeout 30 && says cpu-clock; }
	try "counts CPUs for a time" ended
fi
# Taking a CPU away is for machines that are made for it.
switch=/sys/devices/system/cpu/cpu1/online
if [ -n "$cpus" ] && [ "$(hostname)" = guest ] && [ -w "$switch" ]; then
	# Row: PM-13
	away() {
		ends 0 -f csv -a --per pu -e cpu-clock sh -c "sleep 0.05; echo 0 >$switch"
		result=$?
		echo 1 >"$switch"
		[ "$result" -eq 0 ] && grep -q '^,pu:0,cpu-clock,.*,counted,' "$here/err" &&
			grep -q '^,pu:1,cpu-clock,.*,partial,' "$here/err"
	}
	try "marks what a CPU that went away has counted" away
fi
if [ -n "$cpus" ] && [ -n "$watch" ]; then
	everywhere() { ends 0 -f csv -a -e "$touched" "$work" touch 100 fork 20 &&
		awk -F, '/mem:/ { exit !($5 >= 120) }' "$here/err"; }
	try "counts whatever runs there" everywhere
fi
try "quotes an unknown place" ends_and_says 2 "'packet:0'" -C packet:0 true
try "quotes an unknown level" ends_and_says 2 "'floor'" -a --per floor true
try "refuses --per without CPUs" ends_and_says 2 "--per needs" --per core true

default() { ends 0 true && says elapsed && ! says "never opened" && ! says "not counted"; }
try "counts what is there, unasked" default

tap_end
