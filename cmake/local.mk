# SPDX-License-Identifier: LGPL-2.1-or-later
# What find_package(perfmon) of CMake reads. The paths in it are relative to where it is
# installed, and known to make alone.
cmakedir = $(libdir)/cmake/perfmon
nodist_cmake_DATA = cmake/perfmon-config.cmake cmake/perfmon-config-version.cmake
EXTRA_DIST += cmake/perfmon-config.cmake.in cmake/perfmon-config-version.cmake.in
CLEANFILES += $(nodist_cmake_DATA)

# perfmon::perfmon_static links the same as perfmon-static.pc: a list, for CMake.
cmake/%.cmake: cmake/%.cmake.in Makefile libperfmon.la
	$(AM_V_GEN)$(MKDIR_P) cmake && \
	libs=`echo $(STATIC_LIBS) | $(SED) 's/  */;/g'` && soname=`. ./libperfmon.la && echo $$dlname` && \
	$(SED) -e "s|[@]LIBDIR@|`realpath -ms --relative-to=$(cmakedir) $(libdir)`|" \
		-e "s|[@]INCLUDEDIR@|`realpath -ms --relative-to=$(cmakedir) $(includedir)`|" \
		-e "s|[@]SONAME@|$$soname|" -e "s|[@]LIBS_PRIVATE@|$$libs|" \
		-e 's|[@]VERSION@|$(PACKAGE_VERSION)|' -e 's|[@]POINTER@|$(POINTER)|' \
		<$< >$@.new && mv $@.new $@
