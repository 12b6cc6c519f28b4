#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Reports by choice: what is shipped with regions in it reports only to those who ask.
. "$PM_TOP/scripts/suite.sh"

native_tree all
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
unset PERFMON_OUTPUT PERFMON_ARM PERFMON_PROFILE
export PERFMON_EVENTS=none

# Visits regions of its own, and of a library that it is linked with or opens.
cat >"$here/program.c" <<'END'
#include <perfmon/perfmon.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef LIBRARY
#ifdef __cplusplus
extern "C"
#endif
	void library(void);
void library(void)
{
	PERFMON_REGION_BEGIN("library");
	PERFMON_REGION_END("library");
}
#else
static void on_signal(int number)
{
	(void)number;
	perfmon_report_quiet();
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];
		void *handle;

		if (!strcmp(what, "macro")) {
			PERFMON_REGION_BEGIN("macro");
			PERFMON_REGION_END("macro");
		} else if (!strcmp(what, "scope")) {
			PERFMON_REGION_SCOPE("scope");
		} else if (!strcmp(what, "name")) {
			perfmon_region_begin_name(what);
			perfmon_region_end_name(what);
		} else if (!strcmp(what, "object")) {
			static struct perfmon_region object = PERFMON_REGION_INIT("object");

			perfmon_region_begin(&object);
			perfmon_region_end(&object);
		} else if (!strcmp(what, "own")) {
			static struct perfmon_region own;

			own.name = "own";
			perfmon_region_begin(&own);
			perfmon_region_end(&own);
		} else if (!strcmp(what, "quiet")) {
			perfmon_report_quiet();
		} else if (!strcmp(what, "signal")) {
			signal(SIGUSR1, on_signal);
			raise(SIGUSR1);
		} else if (!strcmp(what, "arm")) {
			perfmon_region_arm();
		} else if (!strcmp(what, "wanted")) {
			printf("%d\n", perfmon_report_wanted());
		} else if (!strcmp(what, "print")) {
			perfmon_report_print(NULL);
		} else if (!strcmp(what, "poor")) {
			struct rlimit none = {1 << 20, 1 << 20};

			setrlimit(RLIMIT_AS, &none);
		} else if (!strcmp(what, "fork")) {
			if (fork())
				wait(NULL);
		} else {
			void (*library)(void) = NULL;

			handle = dlopen(what, RTLD_NOW);
			if (!handle) {
				fprintf(stderr, "%s\n", dlerror());
				return 1;
			}
			*(void **)&library = dlsym(handle, "library");
			library();
		}
	}
	return 0;
}
#endif
END
cp "$here/program.c" "$here/program.cc"
libs=(-L"$build/.libs" -lperfmon -ldl "-Wl,-rpath,$build/.libs")
compile() { # COMPILER FILE TO OPTION...
	"$1" -Wall -Wextra -Iinclude -Isrc "$here/$2" -o "$here/$3" "${@:4}" "${libs[@]}"
}
must "a program compiles" compile gcc program.c loud -std=gnu11
must "a quiet one compiles" compile gcc program.c quiet -std=gnu11 -DPERFMON_QUIET
must "a quiet one in C++11 compiles" compile g++ program.cc quiet_cc -std=gnu++11 -DPERFMON_QUIET
must "a library compiles" compile gcc program.c loud.so -shared -fPIC -DLIBRARY
must "a quiet library compiles" compile gcc program.c quiet.so -shared -fPIC -DLIBRARY -DPERFMON_QUIET
must "a quiet library in C++11 compiles" compile g++ program.cc quiet_cc.so -std=gnu++11 -shared -fPIC \
	-DLIBRARY -DPERFMON_QUIET

silent() { # COMMAND...
	status 0 "$@" && nothing cat "$here/out" "$here/err"
}
for way in macro scope name object; do
	try "a region by $way reports" both 0 err $way ./loud $way
	try "a quiet region by $way does not" silent ./quiet $way $way
	try "nor in C++11" silent ./quiet_cc $way $way
done
try "who asks gets the report" both 0 err " visits" env PERFMON_OUTPUT=auto ./quiet macro name
to_file() { silent env PERFMON_OUTPUT=asked ./quiet macro && says asked macro; }
try "and where it is asked for" to_file
try "an empty variable asks for nothing" silent env PERFMON_OUTPUT= ./quiet macro
try "auto is no name of a file" test ! -e "$here/auto"
by_rank() {
	silent env PMI_RANK=3 PERFMON_OUTPUT=auto ./quiet macro && says perfmon.3.txt macro
}
try "auto is a file of a rank" by_rank
if [ -x "$build/perfmon" ]; then
	try "who runs it by the command gets the report" both 0 err macro "$build/perfmon" run ./quiet macro
	try "the command leaves to say where" silent "$build/perfmon" run -o none ./quiet macro
fi
try "the child of a quiet program is quiet" silent ./quiet macro fork macro
try "a report that the program itself requests is written" both 0 err macro ./quiet macro print

try "an object without the macro is quiet, too" silent ./quiet own
try "in a program that is not, it reports" both 0 err own ./loud own
try "a quiet library does not silence the program" both 0 err library ./loud macro ./quiet.so
try "nor names known at run time" both 0 err library ./loud name ./quiet.so
try "a quiet library alone reports nothing" silent ./loud ./quiet.so
try "nor in C++11" silent ./loud ./quiet_cc.so
try "nor in a quiet program" silent ./quiet macro ./quiet.so
try "a library that is not quiet reports" both 0 err library ./quiet macro ./loud.so

try "a call silences the program" silent ./loud quiet macro
try "also after its regions" silent ./loud macro ./loud.so quiet
try "also in a signal handler" silent ./loud macro signal
try "who asks gets the report all the same" both 0 err macro env PERFMON_OUTPUT=stderr ./loud quiet macro

try "disarmed, nothing is printed" silent env PERFMON_ARM=0 ./loud macro name
no_file() { silent env PERFMON_ARM=0 PERFMON_OUTPUT=disarmed ./loud macro && [ ! -e "$here/disarmed" ]; }
try "nor written to a file" no_file
try "once armed there is a report" both 0 err macro env PERFMON_ARM=0 ./loud macro arm macro

try "without memory for a profile a line says so" both 0 err "regions are not counted" ./loud poor macro
try "a quiet program does not say so" silent ./quiet poor macro
try "a disarmed one does not say so" silent env PERFMON_ARM=0 ./loud poor macro

wanted() { # TEXT COMMAND...
	status 0 "${@:2}" && cat "$here/out" && [ "$(tr -d '\n' <"$here/out")" = "$1" ]
}
try "a program learns whether it will report" wanted 01 ./loud wanted macro wanted
try "a quiet one learns that it will not" wanted 0 ./quiet macro wanted
try "after a call it learns so" wanted 10 ./loud macro wanted quiet wanted
try "a disarmed one learns so" wanted 01 env PERFMON_ARM=0 ./loud macro wanted arm wanted
try "one that is asked learns so" wanted 1 env PERFMON_OUTPUT=auto ./quiet macro wanted
try "one that is to print nothing learns so" wanted 0 env PERFMON_OUTPUT=none ./loud macro wanted

if [ -e "$build/.libs/libperfmon.a" ]; then
	read -ra libs < <(sed -n 's/^Libs.private: //p' "$build/perfmon.pc")
	libs=("$build/.libs/libperfmon.a" "${libs[@]}")
	must "a quiet program compiles with the archive" compile gcc program.c static -pthread -DPERFMON_QUIET
	try "with the archive a quiet program reports nothing" silent ./static macro name
	try "and reports to those who ask" both 0 err macro env PERFMON_OUTPUT=auto ./static macro
else
	skip "quiet with the archive" "the library was built without an archive"
fi
