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
	include/perfmon/region.h \
	include/perfmon/report.h \
	include/perfmon/sample.h \
	include/perfmon/sampling.h \
	include/perfmon/session.h \
	include/perfmon/set.h \
	include/perfmon/control.h \
	include/perfmon/spread.h \
	include/perfmon/version.h

# Everything, with hidden symbols: what the shared library is linked from, and what
# tests of the inside link.
noinst_LTLIBRARIES += libperfmon_all.la
libperfmon_all_la_SOURCES = \
	src/arch/aarch64.h src/arch/arch.h src/arch/counters.c src/arch/generic.h \
	src/arch/riscv64.h src/arch/syscall.h src/arch/x86_64.h \
	src/fastpath/read.h src/fastpath/region.c src/fastpath/region.h \
	src/fastpath/thread.h src/fastpath/view.c src/fastpath/view.h \
	src/core/affinity.c src/core/affinity.h \
	src/core/clock.c src/core/clock.h \
	src/core/cpu_kind.c src/core/cpu_kind.h \
	src/core/cpus.c src/core/cpus.h \
	src/core/cover.c src/core/cover.h src/core/cover_parts.h \
	src/core/cover_settle.c src/core/cover_threads.c src/core/cover_witness.c \
	src/core/diag.c src/core/diag.h \
	src/core/events.c src/core/events.h src/core/events_api.c \
	src/core/events_auto.c src/core/events_generic.c src/core/events_internal.h \
	src/core/events_list.c src/core/events_modifiers.c src/core/events_pfm.c \
	src/core/events_pmu.c src/core/events_resolve.c src/core/events_terms.c src/core/events_text.c \
	src/core/events_text.h src/core/events_trace.c \
	src/core/export_struct.h \
	src/core/export.h src/core/group.c src/core/group.h src/core/instance.c src/core/instance.h \
	src/core/fold.c src/core/fold.h \
	src/core/format.c src/core/format.h src/core/format_default.c \
	src/core/handler.c src/core/handler.h \
	src/core/hash.h src/core/info.c src/core/info.h src/core/info_counters.c \
	src/core/info_try.c \
	src/core/kernel.c src/core/kernel.h \
	src/core/bytes.h src/core/log_decode.c src/core/log_format.h src/core/log_head.c \
	src/core/log_index.c src/core/log_internal.h src/core/log_output.c \
	src/core/log_process.c src/core/log_read.c src/core/log_read.h \
	src/core/log_write.c src/core/log_write.h \
	src/core/machine_id.c src/core/machine_id.h \
	src/core/merge.c src/core/merge.h src/core/merge_nodes.c src/core/merge_notes.c \
	src/core/merge_call.c src/core/merge_parts.h src/core/merge_ranges.c \
	src/core/metric.c src/core/metric.h \
	src/core/options.c src/core/options.h \
	src/core/refusal.c src/core/refusal.h \
	src/core/reader.c src/core/recovery.c \
	src/core/session.c src/core/session.h src/core/session_program.c \
	src/core/servant.c src/core/servant.h \
	src/core/session_attach.c \
	src/core/session_block.c \
	src/core/session_breakpoint.c \
	src/core/session_busy.c src/core/session_busy.h \
	src/core/lock.h \
	src/core/session_control.c \
	src/core/session_estimate.c \
	src/core/session_loss.c \
	src/core/session_notice.c src/core/session_notice.h \
	src/core/session_overflow.c \
	src/core/session_period.c \
	src/core/session_sampling.c src/core/session_sampling.h \
	src/core/session_set.c \
	src/core/session_process.c \
	src/core/session_target.c \
	src/core/session_value.c \
	src/core/pairs.c src/core/pairs.h src/core/paths.c src/core/paths.h \
	src/core/placement.c src/core/placement.h \
	src/core/placement_api.c src/core/placement_parse.c \
	src/core/plan.c src/core/plan.h \
	src/core/process.c src/core/process.h \
	src/core/process_maps.c src/core/process_maps.h \
	src/core/profile.c src/core/profile.h \
	src/core/profile_file.c src/core/profile_file.h \
	src/core/profile_place.c src/core/profile_place.h \
	src/core/copies.c src/core/copies.h \
	src/core/locks.c src/core/locks.h \
	src/core/stack.c src/core/stack.h \
	src/core/registry.c src/core/registry.h \
	src/core/regions.c src/core/regions.h src/core/reread.c \
	src/core/report.c src/core/report.h src/core/report_call.c src/core/report_csv.c \
	src/core/report_exit.c src/core/report_file.c src/core/report_file.h \
	src/core/report_formats.h src/core/report_frame.c \
	src/core/report_groups.c src/core/report_groups.h src/core/report_json.c \
	src/core/report_judge.c \
	src/core/report_metric.c \
	src/core/report_stride.c \
	src/core/report_model.c src/core/report_model.h src/core/report_out.c \
	src/core/report_out.h src/core/report_roles.c src/core/report_text.c \
	src/core/report_cells.c src/core/report_cells.h \
	src/core/report_ranks.c src/core/report_tree.c \
	src/core/ring.c src/core/ring.h \
	src/core/sample.c src/core/sample.h \
	src/core/snapshot.c src/core/snapshot.h \
	src/core/snapshot_pack.c src/core/snapshot_pack.h \
	src/core/snapshot_records.c src/core/snapshot_walk.h \
	src/core/spread.c src/core/spread.h src/core/spread_api.c \
	src/core/sysfs.c src/core/sysfs.h \
	src/core/thread.c src/core/thread.h \
	src/core/topology.c src/core/topology.h \
	src/core/topology_cache.c src/core/topology_load.h \
	src/core/version.c \
	src/compat/perfmon2.c src/compat/perfmon2.h \
	src/compat/perfmon2_context.c src/compat/perfmon2_overflow.c \
	src/compat/perfmon2_registers.c src/compat/perfmon2_section9.c \
	src/compat/perfmon2_sets.c
libperfmon_all_la_CPPFLAGS = $(AM_CPPFLAGS) $(URCU_CFLAGS) $(HWLOC_CFLAGS)
libperfmon_all_la_LIBADD = $(URCU_LIBS) $(HWLOC_LIBS) $(PFM_LIBS) -lm

lib_LTLIBRARIES += libperfmon.la
libperfmon_la_SOURCES =
libperfmon_la_LIBADD = libperfmon_all.la
libperfmon_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(PERFMON_ABI) -no-undefined \
	-Wl,--version-script=$(srcdir)/src/libperfmon.map -Wl,-z,nodelete -Wl,-z,now
libperfmon_la_DEPENDENCIES = libperfmon_all.la src/libperfmon.map
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
