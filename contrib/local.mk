# SPDX-License-Identifier: LGPL-2.1-or-later
# In the release archive, and not installed: what distributions build packages from.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/README.source debian/libperfmon-dev.install \
	debian/libperfmon-hooks0.install debian/libperfmon0.install debian/libperfmon0.symbols \
	debian/perfmon-doc.install debian/perfmon.install debian/perfmon.lintian-overrides \
	debian/python3-libperfmon.install debian/rules debian/source/format debian/tests/archive debian/tests/command \
	debian/tests/control debian/tests/exact debian/tests/hooks debian/tests/program
EXTRA_DIST += contrib/spack/package.py contrib/workflows/counters-arm64.yml

# The library in another project's tree: doc/embedding.md.
EXTRA_DIST += contrib/embedding/work.c contrib/embedding/autotools/Makefile.am \
	contrib/embedding/autotools/configure.ac contrib/embedding/cmake/CMakeLists.txt \
	contrib/embedding/meson/meson.build \
	contrib/embedding/meson/subprojects/packagefiles/perfmon/meson.build
