#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that are marked for others, without a change: LIKWID's markers, PAPI's high-level calls,
# and Kokkos. Each is linked with the drop-in library, or runs under perfmon run --hooks.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip hooks_marked "the command was not built: ncurses is missing"
	exit 0
fi
installed_tree
perfmon=$prefix/bin/perfmon
export LD_LIBRARY_PATH=$prefix/lib
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"

# A row of the report: path and visits.
row() { # PATH VISITS
	grep -qE "^all,([^,]*,)*$1,[^,]*,[0-9]*,$2," "$here/report" || {
		echo "no row $1 with $2 visits:"
		cat "$here/report"
		return 1
	}
}
flags() { # PACKAGE, to "answer"
	read -r -a answer <<<"$(pkg-config --cflags --libs "$1")"
	[ "${#answer[@]}" -gt 2 ]
}
# reports STATUS COMMAND...: a program that is linked with the drop-in library.
reports() { rm -f "$here/report" && status "$1" env PERFMON_EVENTS=page-faults PERFMON_OUTPUT=report PERFMON_FORMAT=csv "${@:2}"; }
# hooked HOOKS STATUS COMMAND...
hooked() { rm -f "$here/report" && status "$2" "$perfmon" run "--hooks=$1" -e page-faults -o report -f csv "${@:3}"; }
strict=(-O1 -Wall -Wextra -Wpedantic -Werror)

# --- LIKWID ---------------------------------------------------------------------------------

cat >"$here/likwid.c" <<'END'
#include <likwid-marker.h>
#include <stdio.h>
#include <string.h>

static double work(int n)
{
	volatile double sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}
int main(int argc, char **argv)
{
	double sum = 0;

	LIKWID_MARKER_INIT;
#pragma omp parallel num_threads(2)
	{
		LIKWID_MARKER_THREADINIT;
		LIKWID_MARKER_REGISTER("sweep");
	}
	LIKWID_MARKER_START("solve");
	for (int k = 0; k < 10; k++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		{
			LIKWID_MARKER_START("sweep");
			sum += work(1000);
			LIKWID_MARKER_STOP("sweep");
		}
	}
	LIKWID_MARKER_STOP("solve");
	if (argc > 1 && !strcmp(argv[1], "overlap")) {
		LIKWID_MARKER_START("first");
		LIKWID_MARKER_START("second");
		LIKWID_MARKER_STOP("first");
		LIKWID_MARKER_STOP("second");
	}
	if (argc > 1 && !strcmp(argv[1], "get")) {
		double events[4] = {-1, -1, -1, -1}, time = -1;
		int count = 4, visits = -1;

		LIKWID_MARKER_GET("sweep", &count, events, &time, &visits);
		printf("%d visits, %s, %d events, %s %s\n", visits, time > 0 && time < 60 ? "some time" : "no time",
		       count, events[0] >= 0 ? "a count" : "none", events[1] < 0 ? "alone" : "more");
		count = 4;
		LIKWID_MARKER_GET("nowhere", &count, events, &time, &visits);
		printf("%d visits, %g s, %d events\n", visits, time, count);
		LIKWID_MARKER_SWITCH;
		LIKWID_MARKER_SWITCH;
		LIKWID_MARKER_RESET("sweep");
	}
	LIKWID_MARKER_CLOSE;
	printf("%g\n", sum);
	return 4;
}
END
likwid_builds() {
	flags perfmon-likwid && gcc "${strict[@]}" -fopenmp -DLIKWID_PERFMON "$here/likwid.c" -o "$here/likwid" "${answer[@]}"
}
must "LIKWID: a marked program compiles with the drop-in header" in_shell likwid_builds
# Row: HM-07
linked() { reports 4 ./likwid && says out 9.99e+06 && row solve 1 && row 'solve;sweep' 10 && row sweep 10; }
try "LIKWID: linked, markers are regions in each thread" linked
team() { hooked openmp 4 ./likwid && row 'solve;[^;,]*;sweep' 20; }
try "LIKWID: with --hooks=openmp, the workers' are below solve" team
get() {
	reports 4 ./likwid get && says out '10 visits, some time, 1 events, a count alone' && says out '0 visits, 0 s, 0 events' &&
		[ "$(grep -c 'likwid_markerNextGroup() does nothing' "$here/err")" -eq 1 ] &&
		[ "$(grep -c 'likwid_markerResetRegion() does nothing' "$here/err")" -eq 1 ]
}
try "LIKWID: a thread reads its values; what is not there is said once" get
# loses TEXT COMMAND...: the report as text says so.
loses() { status "$2" "$perfmon" run --hooks=kokkos -e none -o lost "${@:3}" && says lost "$1"; }
overlap() {
	reports 4 ./likwid overlap && row first 1 && row 'first;second' 0 &&
		loses "lost: 1 visit without an END: 'second', inside first" 4 ./likwid overlap &&
		says lost "lost: 1 END without a BEGIN: 'second'"
}
try "LIKWID: tags that overlap are counted as lost" overlap
cat >"$here/own.c" <<'END'
#include <stdlib.h>
void likwid_markerInit(void) { abort(); }
void likwid_markerThreadInit(void) { abort(); }
void likwid_markerClose(void) { abort(); }
void likwid_markerNextGroup(void) { abort(); }
int likwid_markerRegisterRegion(const char *tag) { (void)tag; abort(); }
int likwid_markerStartRegion(const char *tag) { (void)tag; abort(); }
int likwid_markerStopRegion(const char *tag) { (void)tag; abort(); }
int likwid_markerResetRegion(const char *tag) { (void)tag; abort(); }
void likwid_markerGetRegion(const char *tag, int *n, double *e, double *t, int *v)
{
	(void)tag; (void)n; (void)e; (void)t; (void)v;
	abort();
}
void papif_hl_region_begin_(const char *name, int *check, int length) { (void)name; (void)length; *check = -99; }
END
# A program that was built for LIKWID's own library.
preloaded() {
	gcc -shared -fPIC "$here/own.c" -o "$here/libown.so" &&
		gcc -O1 -fopenmp -DLIKWID_PERFMON "$here/likwid.c" -o "$here/built" "$(pkg-config --cflags perfmon-likwid | tr ' ' '\n' | grep compat)" \
			-L"$here" -lown -Wl,-rpath,"$here" &&
		hooked likwid,openmp 4 ./built && says out 9.99e+06 && row 'solve;[^;,]*;sweep' 20
}
try "LIKWID: a program of LIKWID's own library, under --hooks=likwid" in_shell preloaded

cat >"$here/likwid_f.f90" <<'END'
program marked
	use likwid
	implicit none
	integer :: i, events, visits
	double precision :: counts(2), time
	character(20) :: padded = "sweep"
	call likwid_markerInit()
	call likwid_markerThreadInit()
	call likwid_markerRegisterRegion("solve")
	call likwid_markerStartRegion("solve")
	do i = 1, 5
		call likwid_markerStartRegion("sweep")
		call likwid_markerStopRegion(padded)
	end do
	call likwid_markerStopRegion("solve   ")
	events = 2
	call likwid_markerGetRegion("sweep", events, counts, time, visits)
	call likwid_markerClose()
	print *, visits, "visits", events, "events"
end program
END
papi_program() { # FIRST LINES; the marks stand in the columns of both forms
	cat <<END
      program marked
$1
      integer check, i
      call PAPIF_hl_region_begin("solve", check)
      if (check .ne. PAPI_OK) stop 1
      do i = 1, 5
      call PAPIF_hl_region_begin("sweep", check)
      call PAPIF_hl_read("sweep", check)
      call PAPIF_hl_region_end("sweep ", check)
      end do
      call PAPIF_hl_region_end("solve", check)
      if (check .ne. PAPI_OK) stop 2
      call PAPIF_hl_stop(check)
      print *, check
      end program
END
}
papi_program "      include 'f77papi.h'" >"$here/papi77.f"
papi_program "      include 'f90papi.h'" >"$here/papi90.f90"
papi_program '#include "fpapi.h"' >"$here/papi.F90"
fortran() { # STATUS SOURCE... with the flags of "answer"
	(cd "$here" && gfortran -O1 -J. "${@:2}" -o marked_f "${answer[@]}") && reports "$1" ./marked_f &&
		row solve 1 && row 'solve;sweep' 5 && mv "$here/out" "$here/said" && status "$1" env PERFMON_EVENTS=none PERFMON_OUTPUT=lost ./marked_f &&
		says lost sweep && nothing grep lost: "$here/lost"
}
likwid_fortran() {
	flags perfmon-likwid && fortran 0 "$prefix/include/perfmon-compat/likwid/likwid.f90" likwid_f.f90 &&
		[ "$(tr -s ' ' <"$here/said")" = " 5 visits 1 events" ]
}
if command -v gfortran >/dev/null; then
	try "LIKWID: Fortran, padded names are the same region" in_shell likwid_fortran
else
	skip "LIKWID: Fortran" "gfortran is missing"
fi

# --- PAPI -----------------------------------------------------------------------------------

cat >"$here/papi.c" <<'END'
#include <papi.h>
#include <stdio.h>

int main(void)
{
	int bad = 0;

	bad += PAPI_hl_region_begin("solve") != PAPI_OK;
	for (int i = 0; i < 5; i++) {
		bad += PAPI_hl_region_begin("sweep") != PAPI_OK;
		bad += PAPI_hl_read("sweep") != PAPI_OK;
		bad += PAPI_hl_region_end("sweep") != PAPI_OK;
	}
	bad += PAPI_hl_region_end("solve") != PAPI_OK;
	bad += PAPI_hl_region_begin(NULL) != PAPI_EINVAL;
	bad += PAPI_hl_stop() != PAPI_OK;
	printf("%d\n", bad);
	return 6;
}
END
papi_linked() {
	flags perfmon-papi-hl && gcc "${strict[@]}" "$here/papi.c" -o "$here/papi" "${answer[@]}" && reports 6 ./papi && says out 0 &&
		row solve 1 && row 'solve;sweep' 5 && [ "$(grep -c 'PAPI_hl_read() does nothing' "$here/err")" -eq 1 ]
}
# Row: HM-08
must "PAPI: a program with the drop-in header, linked" in_shell papi_linked
# With PAPI's own header and library. Where there are no counters its own calls fail.
papi_preloaded() {
	gcc -O1 "$here/papi.c" -o "$here/built" -lpapi && hooked papi-hl 6 ./built && says out 0 && row solve 1 && row 'solve;sweep' 5
}
if echo '#include <papi.h>' | gcc -E -x c - >/dev/null 2>&1; then
	try "PAPI: a program of PAPI's own library, under --hooks=papi-hl" in_shell papi_preloaded
else
	skip "PAPI: a program of PAPI's own library" "papi.h is not installed"
fi
if command -v gfortran >/dev/null; then
	papi_fortran() { flags perfmon-papi-hl && fortran 0 "$1" && [ "$(tr -d ' ' <"$here/said")" = 0 ]; }
	for source in papi77.f papi90.f90 papi.F90; do
		try "PAPI: $source" in_shell papi_fortran "$source"
	done
	papi_fortran_preloaded() {
		(cd "$here" && gfortran -O1 "-I$prefix/include/perfmon-compat/papi-hl" papi90.f90 -o built_f -lpapi) &&
			hooked papi-hl 0 ./built_f && row 'solve;sweep' 5
	}
	! [ -e "$here/built" ] || ! ldd "$here/built" | grep -q libpapi ||
		try "PAPI: Fortran of PAPI's own library" in_shell papi_fortran_preloaded
else
	skip "PAPI: Fortran" "gfortran is missing"
fi

# --- Kokkos ---------------------------------------------------------------------------------

tool=$prefix/lib/libperfmon-kokkos.so.0
variables() {
	status 0 "$perfmon" run --hooks=kokkos env && says out "KOKKOS_TOOLS_LIBS=$tool" && says out "KOKKOS_PROFILE_LIBRARY=$tool" &&
		nothing grep LD_PRELOAD "$here/out" &&
		status 0 "$perfmon" run --hooks=kokkos "$perfmon" run --hooks=kokkos env && says out "KOKKOS_TOOLS_LIBS=$tool"
}
try "Kokkos: both variables name the tool" variables
for variable in KOKKOS_TOOLS_LIBS KOKKOS_PROFILE_LIBRARY; do
	try "Kokkos: the user's own $variable is quoted" both 1 err "$variable is set to '/own.so'" \
		env "$variable=/own.so" "$perfmon" run --hooks=kokkos true
done

# What Kokkos calls where it runs kernels with OpenMP, in the order in which it does.
cat >"$here/kokkos.c" <<'END'
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct space { char name[64]; };
static void *tool;
static void call(const char *name) { ((void (*)(void))dlsym(tool, name))(); }
static void push(const char *name) { ((void (*)(const char *))dlsym(tool, "kokkosp_push_profile_region"))(name); }
static void pop(void) { call("kokkosp_pop_profile_region"); }
static void begin(const char *what, const char *label, uint64_t *id)
{
	((void (*)(const char *, uint32_t, uint64_t *))dlsym(tool, what))(label, 0, id);
}
static void end(const char *what, uint64_t id) { ((void (*)(uint64_t))dlsym(tool, what))(id); }
static void kernel(const char *label)
{
	uint64_t id;
	static double values[1000];

	begin("kokkosp_begin_parallel_for", label, &id);
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 1000; i++)
		values[i] += i;
	end("kokkosp_end_parallel_for", id);
}
int main(void)
{
	struct space host = {"HOST"};
	struct { bool fence, padding[255]; } settings = {.fence = true};
	void (*start)(uint32_t), (*stop)(uint32_t), (*destroy)(uint32_t);
	void (*create)(const char *, uint32_t *);
	uint32_t first, second;
	uint64_t id;
	char label[20];

	tool = dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW | RTLD_GLOBAL);
	if (!tool)
		return puts(dlerror()), 1;
	((void (*)(uint32_t, void *))dlsym(tool, "kokkosp_request_tool_settings"))(1, &settings);
	push("solve");
	for (int i = 0; i < 10; i++) {
		/* A label may be of the moment. */
		strcpy(label, i % 2 ? "odd" : "even");
		kernel(label);
	}
	kernel("Z4mainEUliE_");
	begin("kokkosp_begin_fence", "end", &id);
	end("kokkosp_end_fence", id);
	((void (*)(struct space, const char *, const void *, struct space, const char *, const void *, uint64_t))dlsym(
		tool, "kokkosp_begin_deep_copy"))(host, "y", label, host, "x", label, 8000);
	call("kokkosp_end_deep_copy");
	pop();
	create = (void (*)(const char *, uint32_t *))dlsym(tool, "kokkosp_create_profile_section");
	create("first", &first);
	create("second", &second);
	start = (void (*)(uint32_t))dlsym(tool, "kokkosp_start_profile_section");
	stop = (void (*)(uint32_t))dlsym(tool, "kokkosp_stop_profile_section");
	destroy = (void (*)(uint32_t))dlsym(tool, "kokkosp_destroy_profile_section");
	/* Each ends in another path than it began: region, section, and kernels cross. */
	for (int i = 0; i < 10; i++) {
		start(first);
		kernel("before");
		push("crossed");
		kernel("both");
		start(second);
		stop(first);
		begin("kokkosp_begin_parallel_for", "around", &id);
		stop(second);
		start(second);
		end("kokkosp_end_parallel_for", id);
		pop();
		kernel("after");
		stop(second);
	}
	/* By numbers that are used again. */
	for (int i = 0; i < 70000; i++) {
		create("again", &second);
		start(second);
		stop(second);
		destroy(second);
	}
	/* By mistake. */
	stop(second);
	stop(first);
	start(first);
	start(first);
	stop(first);
	for (int i = 0; i < 200; i++)
		push("deep");
	for (int i = 0; i < 200; i++)
		pop();
	pop();
	kernel("at the end");
	printf("%d\n", settings.fence);
	return 3;
}
END
must "Kokkos: what it calls compiles" gcc -O1 -fopenmp "$here/kokkos.c" -o "$here/kokkos"
called() { hooked kokkos,openmp 3 ./kokkos && says out 0; }
# Row: HM-06
must "Kokkos: the tool is loaded, and wants no fences" called
for rows in 'solve 1' 'solve;odd 5' 'solve;even 5' 'solve;end \(fence\) 1' 'solve;y = x \(copy\) 1' 'solve;odd;[^;,]*\(parallel[^;,]*\) 10'; do
	try "Kokkos: ${rows% *}" row "${rows% *}" "${rows##* }"
done
copied() { grep -qE '^all,.*solve;y = x \(copy\),.*,8000,' "$here/report"; }
try "Kokkos: the bytes of a copy" copied
for rows in 'first \(overlapping\) 11' 'crossed;second \(overlapping\) 10' 'crossed;around;second \(overlapping\) 10' \
	'before 10' 'crossed 10' 'crossed;both 10' 'crossed;around 10' 'after 10' 'again \(overlapping\) 70000' 'at the end 1'; do
	try "Kokkos: sections cross regions and kernels: ${rows% *}" row "${rows% *}" "${rows##* }"
done
missing() { loses "lost: 73 visits are missing: their region could not be registered" 3 ./kokkos; }
# The hook keeps 128 of the 200 regions. One section was destroyed.
try "Kokkos: regions that are too deep are counted as lost" missing
try "Kokkos: so are a section that is stopped once more, and one that is started twice" says lost "lost: 2 visits are missing"
try "Kokkos: so is a pop too many" says lost "lost: 1 END without a BEGIN: 'popRegion()', outside of all regions"

cat >"$here/program.cc" <<'END'
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <cstdio>
int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	{
		Kokkos::View<double *> x("x", 1000), y("y", 1000);
		double sum = 0;
		uint32_t section;

		Kokkos::Profiling::createProfileSection("steps", &section);
		Kokkos::Profiling::pushRegion("solve");
		for (int k = 0; k < 10; k++) {
			Kokkos::Profiling::startSection(section);
			Kokkos::parallel_for("fill", 1000, KOKKOS_LAMBDA(int i) { x(i) = i + k; });
			Kokkos::parallel_for(1000, KOKKOS_LAMBDA(int i) { x(i) += 1; });
			Kokkos::deep_copy(y, x);
			Kokkos::parallel_reduce("dot", 1000, KOKKOS_LAMBDA(int i, double &s) { s += x(i) * y(i); }, sum);
			Kokkos::Profiling::stopSection(section);
		}
		Kokkos::Profiling::ProfilingSection crossing("crossing");
		crossing.start();
		Kokkos::Profiling::popRegion();
		crossing.stop();
		Kokkos::parallel_scan("scan", 1000, KOKKOS_LAMBDA(int i, double &s, bool last) { s += x(i); if (last) y(i) = s; });
		Kokkos::fence();
		std::printf("%g %g\n", sum, y(999));
	}
	Kokkos::finalize();
	return 5;
}
END
# The framework takes most of a minute to compile.
if [ -z "$PM_LONG" ]; then
	:
elif echo '#include <Kokkos_Core.hpp>' | g++ -E -std=c++17 -I/usr/include/trilinos -x c++ - >/dev/null 2>&1; then
	must "Kokkos: a program compiles" g++ -O1 -std=c++17 -I/usr/include/trilinos "$here/program.cc" -o "$here/program" -ltrilinos_kokkoscore -ldl
	kokkos() { status 5 ./program && mv "$here/out" "$here/without" && hooked kokkos 5 ./program && cmp "$here/out" "$here/without" && nothing cat "$here/err"; }
	try "Kokkos: the same output and status" kokkos
	for rows in 'solve 1' 'solve;steps \(overlapping\) 10' 'solve;fill 10' 'solve;dot 10' 'solve;y = x \(copy\) 10' \
		'solve;main::.lambda\(int\)#2. 10' 'scan 1' 'solve;crossing \(overlapping\) 1'; do
		try "Kokkos: a program's ${rows% *}" row "${rows% *}" "${rows##* }"
	done
else
	skip "a program of Kokkos" "libtrilinos-kokkos-dev is not installed"
fi
