#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The layers: which file includes what, who makes system calls, what is exported.
. "$PM_TOP/scripts/suite.sh"

native_tree all

work=$PM_SUITE_DIR/work
rm -rf "$work"
mkdir -p "$work"

# --- rooms: what src/rooms says, and what the files do ---------------------------------

# The objects of the library and of the command, with their sources below src/.
objects() {
	find "$build/src" -name '*.o' ! -path '*/.libs/*' ! -name 'libperfmon_la-*' | sort | while read -r object; do
		source=${object#"$build/src/"}
		source=${source%.o}.c
		source=${source/libperfmon_core_la-/}
		source=${source/libperfmon_all_la-/}
		source=${source/perfmon-/}
		[ ! -e "src/$source" ] || printf '%s %s\n' "$object" "$source"
	done
}
edges() {
	find src -mindepth 2 -name '*.[ch]' | sed 's|^src/|file |' | sort
	grep -ohE '\bpm_[a-z_]+' src/fastpath/region.h src/fastpath/thread.h | sort -u | sed 's/^/upward /'
	grep -nE '^[[:space:]]*#[[:space:]]*include "' -r src --include='*.[ch]' |
		sed -E 's/^src\/([^:]*):[0-9]*:.*"([^"]*)".*/\1 \2/' |
		while read -r file header; do
			[ ! -e "src/$header" ] || printf 'include %s %s\n' "$file" "$header"
		done
	objects >"$work/objects"
	cut -d ' ' -f 1 "$work/objects" | xargs nm -A >"$work/symbols"
	awk '
	FNR == NR { source[$1] = $2; next }
	{ sub(/:.*/, "", $1) }
	$(NF - 1) ~ /^[TDBRVW]$/ { where[$NF] = source[$1] }
	$(NF - 1) == "U" { used[source[$1] " " $NF] = 1 }
	END {
		for (u in used) {
			split(u, pair, " ")
			if (pair[2] in where && where[pair[2]] != pair[1])
				print "symbol", pair[1], where[pair[2]], pair[2]
		}
	}' "$work/objects" "$work/symbols"
	tables
}
# "wanted STRUCT" for what tests/tables allows, and "table FILE NAME STRUCT HEADER" for each
# constant table of functions whose struct a header declares.
tables() {
	sed -n 's/^\([a-z_]*\) | .*/wanted \1/p' tests/tables
	sed -n 's/.* T \(pm_.*\)/function \1/p' "$work/symbols" >"$work/functions"
	cut -d ' ' -f 1 "$work/objects" | xargs objdump -tr | awk -f tests/tables.awk |
		awk '
		FILENAME ~ /functions$/ { functions[$2] = 1; next }
		FILENAME ~ /objects$/ { source[$1] = $2; next }
		$3 ~ /^\.text/ || $3 in functions { print source[$1], $2 }
		' "$work/functions" "$work/objects" - | sort -u |
		while read -r file name; do
			struct=$(sed -nE "s/.*\bstruct ([a-z0-9_]+) $name\b.*[={].*/\1/p" "src/$file" | sort -u)
			header=$(grep -lE "^struct ${struct:-none} \{" -r src include --include='*.h' || true)
			[ -z "$header" ] || printf 'table %s %s %s %s\n' "$file" "$name" "$struct" "${header#src/}"
		done
}
edges >"$work/edges"
rooms() { # TABLE EDGES
	awk -f tests/rooms.awk "$1" "$2"
}
try "$(grep -c '^include' "$work/edges") includes, $(grep -c '^symbol' "$work/edges") uses and $(grep -c '^table' "$work/edges") tables keep to src/rooms" \
	nothing rooms src/rooms "$work/edges" || true

# Each way to break it is seen.
seen() { # TEXT EDGE...
	local text=$1
	shift
	{
		cat "$work/edges"
		printf '%s\n' "$@"
	} >"$work/broken"
	prints "$text" rooms src/rooms "$work/broken"
}
sees "a file in no room" "attic/old.c is in no room" "file attic/old.c"
sees "an include upward" "core/kernel may not use core/events" \
	"include core/kernel/kernel.c core/events/events.h"
sees "an include of what is no face" "not the face of core/events" \
	"include core/counters/group.c core/events/internal.h"
sees "a use upward" "core/events may not use core/session" \
	"symbol core/events/pfm.c core/session/enter.c pm_session_enter"
sees "a call of the fast path that is not declared" "fastpath may not use core/regions" \
	"symbol fastpath/region.c core/regions/threads/thread.c pm_thread_forget"
sees "a ring of two files" "a ring of files: core/events/ring.c needs core/events/pfm.c" \
	"symbol core/events/pfm.c core/events/ring.c a" \
	"symbol core/events/ring.c core/events/pfm.c b"
sees "a ring of three files" "a ring of files: core/text/three.c needs core/text/one.c" \
	"symbol core/text/one.c core/text/two.c a" "symbol core/text/two.c core/text/three.c b" "symbol core/text/three.c core/text/one.c c"
sees "a ring of headers" "a ring of files: core/text/two.h needs core/text/one.h" \
	"include core/text/one.h core/text/two.h" "include core/text/two.h core/text/one.h"
upward_table() {
	sed 's/^core\/text (\(.*\)) | \([^|]*\) |/core\/text (\1) | \2 core\/events |/' src/rooms >"$work/rooms"
	rooms "$work/rooms" "$work/edges" | grep -qF "src/rooms: core/text names core/events, which does not stand above"
}
try "sees a table that is out of order" upward_table || true

# Row: DC-09: src/ has the six folders that the project was asked for, and beside it stand the
# others.
folders() {
	diff <(printf '%s\n' src/{arch,cli,compat,core,fastpath,mpi}) <(find src -mindepth 1 -maxdepth 1 -type d | sort) &&
		ls -d include/perfmon examples bench tests configure.ac Makefile.am >/dev/null
}
try "src/ has six folders" folders || true

try "sees a table that calls upward" seen "core/session/session.c has a table of struct pm_session_hooks" \
	"table core/session/session.c hooks pm_session_hooks core/session/core/hooks.h" || true
try "sees a table of a public struct" seen "core/report/csv.c has a table of struct perfmon_writer" \
	"table core/report/csv.c writer perfmon_writer include/perfmon/report.h" || true
try "sees a table that is no more" seen "tests/tables has struct pm_gone" "wanted pm_gone" || true
# The relocations are read: a table is planted.
planted() {
	printf 'struct hooks { int (*call)(void); };\nextern int pm_there(void);\n%s\n%s\n' \
		'static int here(void) { return 0; }' \
		'static const struct hooks hooks[] = {{here}, {pm_there}}; const void *f(void) { return hooks; }' |
		gcc -fPIC -c -x c - -o "$work/planted.o"
	objdump -tr "$work/planted.o" | awk -f tests/tables.awk
	[ "$(objdump -tr "$work/planted.o" | awk -f tests/tables.awk | cut -d ' ' -f 2-)" = $'hooks .text\nhooks pm_there' ]
}
try "sees what a constant table points to" planted || true
state_is_moved() {
	grep -rnE 'session->state = ' src --include='*.[ch]' >"$work/moves"
	cat "$work/moves"
	[ "$(wc -l <"$work/moves")" -eq 1 ]
}
try "one function changes a session's state" state_is_moved || true

# CONTRIBUTING shows the same table.
# shellcheck disable=SC2016 # Markdown has backquotes
shown() {
	diff <(sed -n '/^[a-z].* | .* | /p' src/rooms) \
		<(sed -n 's/^| `\([a-z].*\)` | \(.*\) |$/\1 | \2/p' CONTRIBUTING.md)
}
try "CONTRIBUTING.md shows src/rooms" shown || true

# PATTERN FILE...: these files of the library alone have lines that match it.
only() {
	local pattern=$1 found
	shift
	found=$(grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" src | sort) || true
	printf 'includes %s: %s\n' "$pattern" "${found//$'\n'/ }"
	[ "$found" = "$(printf '%s\n' "$@")" ]
}
try "one file includes libpfm4" only 'perfmon/(pfmlib|perf_event\.h)' src/core/events/pfm.c || true
try "one file includes liburcu's table" only 'urcu/(flavor|rcu.*)' src/core/regions/threads/registry.c || true
try "one file includes hwloc" only 'hwloc' src/core/topology/load.c || true
try "one file includes ncurses" only 'n?curses' src/cli/top/screen.c || true

# within FILE... PATTERN: the lines in them that match
within() {
	grep -rnE "${@: -1}" "${@:1:$#-1}"
}
try "the library has no use for the command's libraries" nothing within \
	src/arch src/fastpath src/core src/compat \
	'#include <(jansson|n?curses)' || true

# Locks: those of the process in locks.c, those of objects where CONTRIBUTING.md has them.
locked() { # PATTERN FILE...
	local pattern=$1 found
	shift
	found=$(grep -rlE "$pattern" src --include='*.[ch]' | sort) || true
	printf '%s: %s\n' "$pattern" "${found//$'\n'/ }"
	[ "$found" = "$(printf '%s\n' "$@")" ]
}
try "the locks of the process and the fork handlers are in one file" locked \
	'PTHREAD_[A-Z_]*(INITIALIZER|ONCE_INIT)|pthread_once|pthread_atfork' src/core/kernel/locks.c || true
try "the locks of objects are those that are known" locked \
	'^[[:space:]](pthread_(mutex|rwlock|spinlock)_t|struct pm_lock) [a-z_]+;' \
	src/compat/compat.h src/core/kernel/locks.c src/core/samples/log_internal.h \
	src/core/session/core/core.h src/core/session/targets/exclusive.c || true

# What reaches the kernel, by a call of its own or through libc's files and processes. The
# region path reads the clock itself: through the vDSO, and it cannot be refused.
calls='ioctl|mmap(64)?|munmap|mremap|madvise|mprotect|mlock2?|munlock|open(at)?(64)?|read|pread(64)?'
calls+='|write|pwrite(64)?|close|syscall|prctl|l?f?stat(at)?(64)?|statx|f?truncate(64)?'
calls+='|posix_fallocate(64)?|fallocate(64)?|memfd_create|readlink|fcntl(64)?|[gs]etrlimit(64)?'
calls+='|prlimit(64)?|sigaction|signal|sigprocmask|pthread_sigmask|getcwd|poll|ppoll|select|epoll_.*'
calls+='|fork|vfork|_Fork|clone|exec[a-z]*|kill|socket|opendir|readdir(64)?|scandir(64)?|f?open(64)?'
calls+='|fdopen|freopen(64)?|popen|system|access|getpid|gettid|getppid|sched_.*|unlink|rename|mkstemp(64)?'
calls+='|clock_gettime|gettimeofday|time|nanosleep|usleep|isatty|uname|gethostname|set[ug]id|timer_.*'
calls+='|getenv|secure_getenv|setenv'
# What a library must not do to the program it is in.
calls+='|v?f?printf|puts|fputs|fwrite|perror|exit|_exit|quick_exit|abort|__assert_fail'
calls+='|__v?f?printf_chk|pthread_setaffinity_np|setlocale|srand|rand'
calls_of() { # OBJECT
	nm -u "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$calls" || true
}
allowed() { # OBJECT NAME
	case ${1##*/src/}:$2 in
	core/kernel/*-kernel.o:printf | core/kernel/*-kernel.o:puts | core/kernel/*-kernel.o:exit | core/kernel/*-kernel.o:abort) return 1 ;;
	core/kernel/*-kernel.o:*) return 0 ;;
	fastpath/*-region.o:clock_gettime) return 0 ;;
	core/settings/*-variables.o:secure_getenv) return 0 ;;
	esac
	return 1
}
checked=0
# src/mpi/ and src/cli/code/ are not in the library. Hooks compile them.
mapfile -t objects < <(find "$build/src" -name 'libperfmon_*_la-*.o' ! -path '*/.libs/*' ! -name 'libperfmon_mpi_regions_la-*' \
	! -name 'libperfmon_openmp_la-*')
for object in "${objects[@]}"; do
	checked=$((checked + 1))
	for name in $(calls_of "$object"); do
		allowed "$object" "$name" || not_ok "${object#"$build"/} calls $name"
	done
done
try "$checked objects, of which kernel.o alone enters the kernel" test "$checked" -gt 20 || true
try "the check sees kernel.o's calls" test -n \
	"$(calls_of "$build/src/core/kernel/libperfmon_core_la-kernel.o")" || true

slow='malloc|calloc|realloc|free|pthread_(mutex|rwlock|spin|cond)_.*|strcmp|strncmp|strlen|memcmp'
slow_calls() { # OBJECT...
	nm -u "$@" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$slow"
}
try "the fast path does not allocate, lock or compare strings" nothing slow_calls \
	"$build"/src/fastpath/libperfmon_core_la-*.o || true

# The export map, the library and the headers name the same.
sed -n '/global:/,/local:/s/^[[:space:]]*\(p[a-z]*_[a-z0-9_]*\);.*/\1/p' src/libperfmon.map |
	sort >"$work/map"
nm -D --defined-only "$build/.libs/libperfmon.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$work/library"
try "the library exports what its map says" diff "$work/map" "$work/library" || true
# The calls of perfmon/perfmon2.h have perfmon2's names.
try "every name is perfmon_<noun>_<verb>" in_shell eval \
	"! grep -vE '^(perfmon_[a-z]+|pfm|pfm_section9)_[a-z_]+$' '$work/map'" || true
pfm=$(gcc -print-file-name=libpfm.so)
try "no name is libpfm4's ($pfm)" test -z "$(nm -D --defined-only "$pfm" |
	awk '{ sub(/@.*/, "", $3); print $3 }' | sort | comm -12 - "$work/map")" || true
declared() {
	local name
	while read -r name; do
		grep -qE "\b$name\b" include/perfmon/*.h || {
			echo "no header declares $name"
			return 1
		}
	done <"$work/map"
}
try "every exported name stands in a public header" in_shell declared || true
# The other way round: what a program can call by a header can be linked.
cat include/perfmon/*.h | gcc -fsyntax-only -Iinclude -aux-info "$work/prototypes" -x c - 2>/dev/null || true
sed -n 's/.*extern .*\b\(\(perfmon\|pfm\)_[a-z0-9_]*\) (.*/\1/p' "$work/prototypes" | sort -u >"$work/declared"
# shellcheck disable=SC2016
sed -n 's/^| `\(p[a-z0-9_]*\)` |.*/\1/p' doc/api.md | sort >"$work/listed"
try "doc/api.md lists what is exported, each once" diff "$work/map" "$work/listed" || true
try "every declared function is exported" test -z "$(comm -23 "$work/declared" "$work/map")" || true

# A constant of an enum begins with the name of its enum.
stray_constants() {
	awk 'FNR == 1 { prefix = "" }
		/^enum perfmon_[a-z0-9_]+ \{/ { prefix = toupper($2) "_" }
		prefix {
			line = $0
			gsub(/\/\*.*/, "", line)
			sub(/^enum [a-z0-9_]+ \{/, "", line)
			while (match(line, /PERFMON_[A-Z0-9_]+/)) {
				name = substr(line, RSTART, RLENGTH)
				if (index(name, prefix) != 1)
					print FILENAME ": " name " is not " prefix
				line = substr(line, RSTART + RLENGTH)
			}
		}
		/\}/ { prefix = "" }' include/perfmon/*.h
}
try "constants begin with the names of their enums" nothing stray_constants || true

soname=$(objdump -p "$build/.libs/libperfmon.so" | awk '$1 == "SONAME" { print $2 }')
abi=$(sed -n 's/^AC_SUBST(\[PERFMON_ABI\], \[\([0-9]*\):[0-9]*:\([0-9]*\)\]).*/\1 \2/p' configure.ac)
read -r current age <<<"$abi"
try "the soname is libperfmon.so.$((current - age))" \
	test "$soname" = "libperfmon.so.$((current - age))" || true
try "the library is never unloaded" in_shell eval \
	"readelf -d '$build/.libs/libperfmon.so' | grep -q NODELETE" || true
try "its thread state is initial-exec" in_shell eval \
	"readelf -d '$build/.libs/libperfmon.so' | grep -q STATIC_TLS" || true
