# SPDX-License-Identifier: LGPL-2.1-or-later
noinst_PROGRAMS += examples/stream examples/matmul
examples_stream_SOURCES = examples/stream.c
examples_stream_LDADD = libperfmon.la -lm
examples_matmul_SOURCES = examples/matmul.c
examples_matmul_LDADD = libperfmon.la
noinst_PROGRAMS += examples/heat
examples_heat_SOURCES = examples/heat.c
examples_heat_LDADD = libperfmon.la
noinst_PROGRAMS += examples/cpus
examples_cpus_SOURCES = examples/cpus.c
examples_cpus_LDADD = libperfmon.la
