# SPDX-License-Identifier: LGPL-2.1-or-later
pmincludedir = $(includedir)/perfmon
pminclude_HEADERS = \
	include/perfmon/event.h \
	include/perfmon/format.h \
	include/perfmon/info.h \
	include/perfmon/inline.h \
	include/perfmon/log.h \
	include/perfmon/merge.h \
	include/perfmon/overflow.h \
	include/perfmon/perfmon.h \
	include/perfmon/perfmon2.h \
	include/perfmon/perfmon2_section9.h \
	include/perfmon/placement.h \
	include/perfmon/profile.h \
	include/perfmon/profile_layout.h \
	include/perfmon/region.h \
	include/perfmon/report.h \
	include/perfmon/sample.h \
	include/perfmon/sampling.h \
	include/perfmon/session.h \
	include/perfmon/set.h \
	include/perfmon/control.h \
	include/perfmon/cpuwide.h \
	include/perfmon/vector.h \
	include/perfmon/version.h

# With hidden symbols: all but what uses a library that is loaded when it is needed.
noinst_LTLIBRARIES += libperfmon_core.la
libperfmon_core_la_SOURCES = \
	src/arch/aarch64.h src/arch/arch.h src/arch/counters.c src/arch/generic.h \
	src/arch/exact.h src/arch/riscv64.h src/arch/syscall.h src/arch/x86_64.h \
	src/fastpath/fastpath.h src/fastpath/read.h src/fastpath/region.c \
	src/fastpath/region.h src/fastpath/thread.c src/fastpath/thread.h \
	src/fastpath/view.c src/fastpath/view.h \
	src/os/bytes.h src/os/clock.c src/os/clock.h src/os/diag.c src/os/diag.h \
	src/os/exact.c src/os/exact.h \
	src/os/export.h src/os/export_struct.h src/os/files.c src/os/files.h src/os/grow.h \
	src/os/handler.c src/os/handler.h src/os/hash.h src/os/helper.c src/os/helper.h \
	src/os/kernel.c src/os/kernel.h src/os/library.c src/os/library.h \
	src/os/life.c src/os/life.h src/os/owned.c src/os/owned.h src/os/poller.c src/os/poller.h \
	src/os/lock.h src/os/locks.c src/os/locks.h src/os/machine_id.c src/os/machine_id.h \
	src/os/job.c src/os/job.h src/os/message.h src/os/options.c src/os/options.h src/os/options_paths.c \
	src/os/options_paths.h src/os/os.h src/os/pairs.c \
	src/os/pairs.h src/os/process_maps.c src/os/process_maps.h src/os/stack.c \
	src/os/stack.h src/os/standard.c src/os/standard.h src/os/statistics.c \
	src/os/statistics.h src/os/text.c src/os/text.h src/os/variables.c \
	src/os/variables.h src/os/version.c \
	src/events/api.c src/events/auto.c src/events/events.c src/events/events.h \
	src/events/exact.c \
	src/events/generic.c src/events/internal.h src/events/modifiers.c \
	src/events/pmu.c src/events/resolve.c src/events/sources.c src/events/sysfs.c \
	src/events/sysfs.h src/events/terms.c src/events/trace.c \
	src/topology/cache.c src/topology/cpu_kind.c src/topology/cpu_kind.h \
	src/topology/cpus.c src/topology/cpus.h src/topology/levels.c src/topology/load.h \
	src/topology/machine.c src/topology/machine.h src/topology/placement.c \
	src/topology/placement.h src/topology/placement_api.c \
	src/topology/placement_parse.c src/topology/topology.h \
	src/counters/counters.h src/counters/diagnosis.c src/counters/diagnosis.h \
	src/counters/exact.c src/counters/exact.h \
	src/counters/group.c src/counters/group.h src/counters/instance.c \
	src/counters/instance.h src/counters/recovery.c src/counters/user_mode.c \
	src/counters/user_mode.h \
	src/info/free.c src/info/info.c src/info/info.h src/info/try.c \
	src/profile/affinity.c src/profile/affinity.h src/profile/copies.c \
	src/profile/copies.h src/profile/file.c src/profile/file.h src/profile/memory.c \
	src/profile/memory.h src/profile/node.c src/profile/node.h src/profile/pack.c \
	src/profile/pack.h src/profile/place.c src/profile/place.h src/profile/profile.h \
	src/profile/reader.c src/profile/records.c src/profile/snapshot.h \
	src/profile/take.c src/profile/take.h \
	src/profile/threads.c src/profile/times.c src/profile/walk.h \
	src/profile/writer.c src/profile/writer.h \
	src/report/cells.c src/report/cells.h src/report/cost.c \
	src/report/csv.c src/report/derived.c \
	src/report/file.c src/report/file.h src/report/flat.c src/report/formats.h \
	src/report/frame.c src/report/groups.c src/report/groups.h src/report/hottest.c src/report/json.c \
	src/report/json_nodes.c src/report/json_out.c src/report/json_out.h \
	src/report/merge.c src/report/merge.h src/report/merge_nodes.c \
	src/report/merge_notes.c src/report/merge_parts.h src/report/merge_processes.c \
	src/report/merge_ranges.c src/report/metric.c src/report/metric.h \
	src/report/model.c src/report/model.h src/report/out.c src/report/out.h \
	src/report/print.c src/report/print.h src/report/ranks.c src/report/report.h \
	src/report/roles.c src/report/sanity.c src/report/scale.c src/report/spread.c \
	src/report/rest.c src/report/stride.c src/report/sums.c src/report/table.c src/report/table.h \
	src/report/text.c src/report/times.c src/report/tree.c src/report/tree_build.h \
	src/report/tree_node.c src/report/tree_thread.c \
	src/report/unclosed.c src/report/values.c src/report/width.c src/report/width.h \
	src/regions/aggregate.c src/regions/aggregate.h src/regions/cost.c \
	src/regions/cost.h src/regions/calls.c src/regions/exclude.c src/regions/exclude.h src/regions/exit.c src/regions/exit.h \
	src/regions/merge_call.c src/regions/names.c src/regions/names.h \
	src/regions/paths.c src/regions/paths.h src/regions/plan.c src/regions/plan.h \
	src/regions/recycle.c src/regions/recycle.h src/regions/regions.h \
	src/regions/registry.c src/regions/registry.h src/regions/report_call.c \
	src/regions/setup.c src/regions/setup.h src/regions/slow.c src/regions/slow.h \
	src/regions/stale.c src/regions/stride.c src/regions/stride.h \
	src/regions/state.c src/regions/state.h src/regions/thread.c \
	src/regions/thread.h src/regions/unmatched.c src/regions/unmatched.h \
	src/samples/format.c src/samples/format.h src/samples/format_default.c \
	src/samples/log_decode.c src/samples/log_format.h src/samples/log_head.c \
	src/samples/log_index.c src/samples/log_internal.h src/samples/log_output.c \
	src/samples/log_process.c src/samples/log_read.c src/samples/log_read.h \
	src/samples/log_write.c src/samples/log_write.h src/samples/ring.c \
	src/samples/ring.h src/samples/sample.c src/samples/sample.h src/samples/samples.h \
	src/session/session.c \
	src/session/core/busy.c src/session/core/busy.h src/session/core/control.c \
	src/session/core/core.h src/session/core/enter.c src/session/core/hooks.h \
	src/session/core/install.c src/session/core/plan.c src/session/core/plan.h \
	src/session/core/program.c src/session/core/reader.c src/session/core/readings.c \
	src/session/core/readings.h src/session/core/record.c src/session/core/record.h \
	src/session/core/run.c src/session/core/time.c src/session/core/value.c \
	src/session/overflow/arm.c src/session/overflow/armed.h \
	src/session/overflow/breakpoint.c src/session/overflow/drain.c \
	src/session/overflow/notices.h src/session/overflow/overflow.h \
	src/session/overflow/period.c src/session/overflow/period.h \
	src/session/overflow/program.c src/session/overflow/queue.c \
	src/session/overflow/queue.h src/session/overflow/reset.c src/session/overflow/reset.h \
	src/session/overflow/restart.c \
	src/session/overflow/restart.h src/session/overflow/signals.c \
	src/session/overflow/slots.c src/session/overflow/slots.h \
	src/session/overflow/state.c src/session/overflow/state.h \
	src/session/overflow/wait.c src/session/overflow/wait.h \
	src/session/sampling/fields.c src/session/sampling/fields.h \
	src/session/sampling/log.c src/session/sampling/sampling.c \
	src/session/sampling/sampling.h \
	src/session/sets/estimate.c src/session/sets/sets.c src/session/sets/sets.h \
	src/session/sets/switch.c \
	src/session/targets/attach.c src/session/targets/detach.c \
	src/session/targets/exclusive.c src/session/targets/helper.c \
	src/session/targets/loss.c src/session/targets/process.c \
	src/session/targets/target.c src/session/targets/targets.h \
	src/session/targets/watch.c \
	src/session/threads/parts.h src/session/threads/probe.c src/session/threads/scan.c \
	src/session/threads/settle.c src/session/threads/threads.c \
	src/session/threads/threads.h \
	src/cpuwide/api.c src/cpuwide/cpuwide.c src/cpuwide/cpuwide.h \
	src/compat/compat.h src/compat/context.c src/compat/map.c src/compat/messages.c \
	src/compat/overflow.c src/compat/registers.c src/compat/section9.c \
	src/compat/session.c src/compat/sets.c
libperfmon_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(URCU_CFLAGS)
libperfmon_core_la_LIBADD = $(URCU_LIBS) -lm

# Of these the archive has objects of its own: it is linked with the libraries that the
# shared library loads (src/os/library.h). A convenience library would hand it the same.
LOADERS = src/events/pfm.c src/topology/load.c
LOADERS_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
LOADERS_LIBADD = libperfmon_core.la $(HWLOC_LINKED) $(PFM_LINKED)

# Everything: what tests of the inside and the command link.
noinst_LTLIBRARIES += libperfmon_all.la
libperfmon_all_la_SOURCES = $(LOADERS)
libperfmon_all_la_CPPFLAGS = $(LOADERS_CPPFLAGS)
libperfmon_all_la_LIBADD = $(LOADERS_LIBADD)

lib_LTLIBRARIES += libperfmon.la
libperfmon_la_SOURCES = $(LOADERS)
libperfmon_la_CPPFLAGS = $(LOADERS_CPPFLAGS)
libperfmon_la_LIBADD = $(LOADERS_LIBADD)
# What a program pays that only links the library is the loader's work: one library more, and
# each name that it looks up. Its own names the library has itself; and of the compiler's
# runtime it needs the unwinder, as an archive.
libperfmon_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(PERFMON_ABI) -no-undefined \
	-Wl,--version-script=$(srcdir)/src/libperfmon.map -Wl,-z,nodelete -Wl,-z,now \
	-Wl,-Bsymbolic-functions -XCClinker -static-libgcc
libperfmon_la_DEPENDENCIES = libperfmon_core.la src/libperfmon.map
EXTRA_DIST += src/libperfmon.map

# The fast read, for perfmon/inline.h: the library compiles the same files.
archincludedir = $(pmincludedir)/arch
archinclude_HEADERS = src/arch/aarch64.h src/arch/arch.h src/arch/generic.h \
	src/arch/riscv64.h src/arch/x86_64.h
fastpathincludedir = $(pmincludedir)/fastpath
fastpathinclude_HEADERS = src/fastpath/read.h

# One report of all ranks of an MPI program. Compiled and linked by MPI's own compiler, which
# alone knows how.
EXTRA_DIST += src/mpi/finalize.c
CLEANFILES += src/mpi/libperfmon-mpi.so
src/mpi/libperfmon-mpi.so: src/mpi/finalize.c include/perfmon/merge.h libperfmon.la
	$(AM_V_GEN)$(MKDIR_P) src/mpi && $(MPICC) -std=gnu11 $(CFLAGS) $(PM_WARN) -fPIC -shared \
		-Wl,-soname,libperfmon-mpi.so -I$(top_srcdir)/include \
		$(srcdir)/src/mpi/finalize.c -o $@ -L.libs -lperfmon
if HAVE_MPI
mpilibdir = $(libdir)
mpilib_SCRIPTS = src/mpi/libperfmon-mpi.so
endif
