#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library in another project's tree, by the recipes of contrib/embedding, and its parts as
# other package managers ask for them.
# Row: HM-10
. "$PM_TOP/scripts/suite.sh"

here=$PM_SUITE_DIR/here
rm -rf "$here"
mkdir -p "$here"
must "makes configure" in_shell pm_generate

# --- Spack -------------------------------------------------------------------------------

# What the recipe gives configure, with all variants and without: by the real class, on stand-ins
# for what Spack's modules give.
cat >"$here/recipe.py" <<'END'
import sys
import types

variants = {}
class Package:
    def enable_or_disable(self, name):
        return [f"--{'enable' if variants[name] else 'disable'}-{name}"]
    def with_or_without(self, name, variant=None):
        return [f"--{'with' if variants[variant or name] else 'without'}-{name}"]
class Spec:
    def satisfies(self, text):
        return variants[text[1:]] == (text[0] == "+")
    def __getitem__(self, name):
        return types.SimpleNamespace(mpicc="mpicc", prefix=types.SimpleNamespace(
            libexec=types.SimpleNamespace(valgrind="/valgrind")))
def variant(name, default, description):
    assert isinstance(default, bool) and description
    variants[name] = default
spack = types.ModuleType("spack.package")
spack.variant = variant
for name in ("license", "version", "depends_on", "requires", "conflicts"):
    setattr(spack, name, lambda *args, **named: None)
autotools = types.ModuleType("autotools")
autotools.AutotoolsPackage = Package
for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["spack.package"] = spack
sys.modules["spack_repo.builtin.build_systems.autotools"] = autotools
recipe = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
package = recipe["Perfmon"]()
package.spec = Spec()
for value in (True, False):
    for name in variants:
        variants[name] = value
    print(*package.configure_args())
END
recipe_options() { python3 "$here/recipe.py" contrib/spack/package.py >"$here/options" && cat "$here/options"; }
known_to_configure() {
	local options
	while read -ra options; do
		./configure --enable-option-checking=fatal "${options[@]}" --help >/dev/null || return
	done <"$here/options"
	! ./configure --enable-option-checking=fatal --with-no-such-part --help >/dev/null
}
# configure's own options, but for those of developers and of who embeds the archive.
not_in_recipe() {
	sed -n -E 's/.*AC_ARG_(ENABLE|WITH)\(\[([^]]*)\].*/\2/p' configure.ac |
		grep -vxE 'werror|sanitizer|hidden-symbols|valgrind-files|pythondir' |
		while read -r name; do grep -q -e "-$name\b" "$here/options" || echo "$name"; done
}
if command -v python3 >/dev/null; then
	must "Spack: the recipe gives options" in_shell recipe_options
	try "Spack: configure knows them" in_shell known_to_configure
	try "Spack: the recipe has each option" nothing not_in_recipe
else
	skip "Spack: the recipe" "python3 is missing"
fi

# --- the library alone -------------------------------------------------------------------

embedding=$PM_TOP/contrib/embedding
# source_tree DIR: the tree as another project has it, without what was built here.
source_tree() {
	local file
	mkdir -p "$1"
	for file in "$PM_TOP"/*; do
		case ${file##*/} in
		build | perfmon-*) [ -f "$file" ] || continue ;;
		esac
		ln -s "$file" "$1/"
	done
}
reports_work() { # PROGRAM
	PERFMON_EVENTS=none "$1" >"$here/out" 2>&1 && grep -E '^work +1 ' "$here/out"
}
needs_liburcu_alone() { # PROGRAM
	nothing sh -c "objdump -p '$1' | awk '\$1 == \"NEEDED\" { print \$2 }' | grep -vE '^(libc|libm|libgcc_s|liburcu.*|ld-linux.*)\.so'"
}
hides() { # FILE: exports none of our names
	nothing sh -c "nm -D --defined-only '$1' | grep -E ' (perfmon|pfm|pm)_'"
}
# Without optimisation: the compiler is faster.
export CFLAGS=-O0 CXXFLAGS=-O0

# Where hwloc, libpfm4 and ncurses are not installed, as pkg-config and the compiler see it.
mkdir -p "$here/pkgconfig" "$here/alone"
cp "$(pkg-config --variable=pcfiledir liburcu-cds)"/liburcu*.pc "$here/pkgconfig/"
bare() { env -C "$here/alone" PKG_CONFIG_LIBDIR="$here/pkgconfig" PKG_CONFIG_PATH='' ac_cv_header_perfmon_pfmlib_perf_event_h=no "$@"; }
alone() {
	bare "$PM_TOP/configure" --disable-command --disable-shared --with-pic --enable-hidden-symbols \
		--prefix="$here/alone/root"
	grep -E 'hwloc +no' "$here/alone/config.log" || true
	pm_cached make -C "$here/alone" -j "$PM_JOBS"
	make -C "$here/alone" install
}
refuses() { # TEXT OPTION...
	mkdir -p "$here/refused"
	if env -C "$here/refused" bash -c 'exec "$@"' - "${@:2}" >"$here/out" 2>&1; then return 1; fi
	grep -F -e "$1" "$here/out"
}
must "the library alone, with liburcu and no more" in_shell alone
installed_alone() {
	(cd "$here/alone/root" && find . -type f ! -name '*.h' ! -name '*.hpp' | sort) >"$here/installed"
	printf './lib/%s\n' cmake/perfmon/perfmon-config{,-version}.cmake libperfmon.{a,la} \
		pkgconfig/perfmon{-static,}.pc | sort | diff - "$here/installed"
}
try "it installs the archive, headers and what builds read" in_shell installed_alone
program() { # OUTPUT OPTION...
	local flags
	read -ra flags < <(PKG_CONFIG_PATH=$here/alone/root/lib/pkgconfig pkg-config --cflags --libs perfmon-static)
	gcc -O2 "${@:2}" -o "$1" "${flags[@]}"
}
try "a program is linked with it" in_shell program "$here/work" "$embedding/work.c"
try "it reports its region" reports_work "$here/work"
try "it needs liburcu alone" needs_liburcu_alone "$here/work"
names_what_is_missing() {
	PERFMON_EVENTS=skl::INST_RETIRED "$here/work" >"$here/out" 2>&1 || true
	grep "libperfmon was built without libpfm4" "$here/out"
}
try "a name of libpfm4 says what the build has not" in_shell names_what_is_missing
try "hidden symbols are for the archive" refuses "add --disable-shared" "$PM_TOP/configure" --enable-hidden-symbols
try "what was asked for by name must be there" refuses "missing: hwloc" env \
	PKG_CONFIG_LIBDIR="$here/pkgconfig" PKG_CONFIG_PATH= "$PM_TOP/configure" --disable-command --with-hwloc
try "a release archive has all parts" refuses "configure without --disable-command" make -C "$here/alone" dist

# --- two copies in one process -----------------------------------------------------------

cat >"$here/plugin.c" <<'END'
#include <perfmon/perfmon.h>
void work(int visits);
void work(int visits)
{
	for (int i = 0; i < visits; i++) {
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
	}
}
END
cat >"$here/host.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
		void (*work)(int) = plugin ? (void (*)(int))dlsym(plugin, "work") : NULL;
		if (!work)
			return 1;
		work(10 * i);
	}
	return 0;
}
END
two_copies() {
	gcc "$here/host.c" -o "$here/host"
	for copy in one two; do
		program "$here/$copy.so" -fPIC -shared "$here/plugin.c"
		hides "$here/$copy.so"
	done
	PERFMON_EVENTS=none PERFMON_OUTPUT="$here/copies" "$here/host" "$here/one.so" "$here/two.so"
	grep -hE '^work ' "$here/copies" "$here/copies.2" | awk '{ print $2 }' | sort | tr '\n' ' ' | grep -x '10 20 '
}
try "two copies in a process: each hides its names and counts its own regions" in_shell two_copies

# --- the recipes -------------------------------------------------------------------------

project() { # NAME PLACE: the recipe, with the library at PLACE
	mkdir -p "$here/$1"
	cp -r "$embedding/$1/." "$embedding/work.c" "$here/$1/"
	source_tree "$here/$1/$2"
}
with_cmake() {
	project cmake perfmon
	pm_cached cmake -S "$here/cmake" -B "$here/cmake/build"
	pm_cached cmake --build "$here/cmake/build" -j "$PM_JOBS"
}
with_meson() {
	project meson subprojects/perfmon
	cp "$here/meson/subprojects/packagefiles/perfmon/meson.build" "$here/meson/subprojects/perfmon/"
	pm_cached meson setup "$here/meson/build" "$here/meson"
	pm_cached ninja -C "$here/meson/build" -j "$PM_JOBS"
}
with_autotools() {
	project autotools perfmon
	mkdir -p "$here/autotools/m4" "$here/autotools/build"
	cd "$here/autotools"
	# Its own: perfmon/ has configure.
	aclocal --install -I m4 && libtoolize --copy && autoconf && automake --add-missing --copy
	cd build
	pm_cached ../configure
	pm_cached make -j "$PM_JOBS"
}
recipe() { # NAME PROGRAM TOOL...
	local tool
	for tool in "${@:3}"; do
		command -v "$tool" >/dev/null || { skip "$1: the recipe" "$tool is missing" && return; }
	done
	tried=
	try "$1: the library is built with the project" in_shell "with_$1"
	[ -z "$tried" ] || return 0
	try "$1: the program reports its region" reports_work "$here/$1/$2"
	try "$1: it needs liburcu alone" needs_liburcu_alone "$here/$1/$2"
}
recipe cmake build/work cmake
recipe meson build/work meson ninja
recipe autotools build/work autoconf automake libtoolize
