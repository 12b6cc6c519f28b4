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
	include/perfmon/overlap.h \
	include/perfmon/profile.h \
	include/perfmon/profile_layout.h \
	include/perfmon/quantity.h \
	include/perfmon/region.h \
	include/perfmon/report.h \
	include/perfmon/sample.h \
	include/perfmon/sampling.h \
	include/perfmon/session.h \
	include/perfmon/set.h \
	include/perfmon/task.h \
	include/perfmon/team.h \
	include/perfmon/control.h \
	include/perfmon/cpuwide.h \
	include/perfmon/value.h \
	include/perfmon/vector.h \
	include/perfmon/version.h
# The C++ interface: headers alone, above these.
pminclude_HEADERS += include/perfmon/count.hpp include/perfmon/error.hpp \
	include/perfmon/perfmon.hpp include/perfmon/region.hpp include/perfmon/session.hpp \
	include/perfmon/team.hpp include/perfmon/value.hpp

# With options of its own: see src/fastpath/kept.c.
noinst_LTLIBRARIES += libperfmon_kept.la
libperfmon_kept_la_SOURCES = src/fastpath/kept.c
libperfmon_kept_la_CFLAGS = $(AM_CFLAGS) $(KEPT_CFLAGS)

# With hidden symbols: all but what uses a library that is loaded when it is needed.
noinst_LTLIBRARIES += libperfmon_core.la
libperfmon_core_la_SOURCES = \
	src/arch/aarch64.h src/arch/arch.h src/arch/counters.c src/arch/generic.h \
	src/arch/exact.h src/arch/exact_names.h src/arch/keep_call.S src/arch/keep.c src/arch/keep.h src/arch/riscv64.h src/arch/syscall.h src/arch/x86_64.h \
	src/fastpath/fastpath.h src/fastpath/forms.h src/fastpath/read.h src/fastpath/region.c \
	src/fastpath/region.h src/fastpath/slow.S src/fastpath/thread.h \
	src/fastpath/view.c src/fastpath/view.h \
	src/core/text/bytes.h src/core/kernel/clock.c src/core/kernel/clock.h src/core/text/diag.c src/core/text/diag.h \
	src/core/valgrind/exact.c src/core/valgrind/exact.h \
	src/core/api/export.h src/core/api/export_struct.h src/core/kernel/files.c src/core/kernel/files.h src/core/text/grow.h \
	src/core/kernel/handler.c src/core/kernel/handler.h src/core/text/hash.h src/core/session/helper/helper.c src/core/session/helper/helper.h \
	src/core/kernel/kernel.c src/core/kernel/kernel.h src/core/kernel/library.c src/core/kernel/library.h \
	src/core/kernel/life.c src/core/kernel/life.h src/core/kernel/owned.c src/core/kernel/owned.h src/core/kernel/poller.c src/core/kernel/poller.h \
	src/core/kernel/lock.h src/core/kernel/locks.c src/core/kernel/locks.h src/core/kernel/machine_id.c src/core/kernel/machine_id.h \
	src/core/settings/job.c src/core/settings/job.h src/core/api/message.h src/core/settings/options.c src/core/settings/options.h src/core/settings/options_paths.c \
	src/core/settings/options_filters.c \
	src/core/profile/pairs.c src/core/profile/steps.c src/core/report/steps.c \
	src/core/profile/pairs.h src/core/kernel/process_maps.c src/core/kernel/process_maps.h src/core/kernel/stack.c \
	src/core/kernel/stack.h src/core/text/statistics.c \
	src/core/text/statistics.h src/core/text/text.c src/core/text/text.h src/core/settings/run_note.c src/core/settings/run_note.h \
	src/core/settings/variables.c \
	src/core/settings/variables.h src/core/api/version.c \
	src/core/events/api.c src/core/events/events.c src/core/events/events.h \
	src/core/events/exact.c \
	src/core/events/generic.c src/core/events/internal.h src/core/events/modifiers.c \
	src/core/events/pmu.c src/core/events/resolve.c src/core/events/sources.c src/core/events/sysfs.c \
	src/core/events/sysfs.h src/core/events/terms.c src/core/events/topdown.c src/core/events/trace.c \
	src/core/topology/cache.c src/core/topology/cpu_kind.c src/core/topology/cpu_kind.h \
	src/core/topology/cpus.c src/core/topology/cpus.h src/core/topology/levels.c src/core/topology/load.h \
	src/core/topology/machine.c src/core/topology/machine.h src/core/topology/placement.c \
	src/core/topology/placement.h src/core/topology/placement_api.c \
	src/core/topology/placement_parse.c src/core/topology/topology.h \
	src/core/counters/counters.h src/core/counters/diagnosis.c src/core/counters/diagnosis.h \
	src/core/counters/exact.c src/core/counters/exact.h \
	src/core/counters/group.c src/core/counters/group.h src/core/counters/instance.c \
	src/core/counters/instance.h src/core/counters/recovery.c src/core/counters/user_mode.c \
	src/core/counters/user_mode.h \
	src/core/named/find.c src/core/named/join.c src/core/named/named.h \
	src/core/packages/packages.c src/core/packages/packages.h \
	src/core/info/info.c src/core/info/info.h src/core/info/try.c \
	src/core/profile/file.c src/core/profile/file.h src/core/profile/memory.c \
	src/core/profile/memory.h src/core/profile/node.c src/core/profile/node.h src/core/profile/pack.c \
	src/core/profile/place.c src/core/profile/place.h src/core/profile/profile.h \
	src/core/profile/reader.c src/core/profile/reader_sums.c src/core/profile/reader_sums.h \
	src/core/profile/records.c src/core/profile/snapshot.h src/core/profile/take.c \
	src/core/profile/threads.c src/core/profile/times.c src/core/profile/walk.h \
	src/core/profile/writer.c src/core/profile/writer.h \
	src/core/report/merge/alike.c src/core/report/merge/alike.h \
	src/core/report/merge/join.c src/core/report/merge/join.h src/core/report/merge/merge.c src/core/report/merge/merge.h \
	src/core/report/merge/nodes.c src/core/report/merge/notes.c \
	src/core/report/merge/packed.c src/core/report/merge/parts.h \
	src/core/report/merge/processes.c src/core/report/merge/ranges.c \
	src/core/report/model/change.c src/core/report/model/cost.c src/core/report/model/event_name.c \
	src/core/report/model/event_name.h src/core/report/model/groups.c src/core/report/model/groups.h \
	src/core/report/model/path.c src/core/report/model/path.h src/core/report/model/top.c \
	src/core/report/model/formula.c src/core/report/model/formula.h \
	src/core/report/model/grammar.c src/core/report/model/metric.c \
	src/core/report/model/metric.h src/core/report/model/metric_columns.c \
	src/core/report/model/model.c src/core/report/model/model.h \
	src/core/report/model/quantity.c src/core/report/model/rest.c src/core/report/model/sanity.c src/core/report/model/stride.c \
	src/core/report/model/topdown.c src/core/report/model/times.c src/core/report/model/times.h \
	src/core/report/model/tree.c src/core/report/model/tree.h \
	src/core/report/model/tree_build.h src/core/report/model/tree_node.c \
	src/core/report/model/tree_thread.c src/core/report/model/value.c \
	src/core/report/model/value.h src/core/report/output/escape.c \
	src/core/report/output/escape.h src/core/report/output/file.c src/core/report/output/file.h \
	src/core/report/output/json.c src/core/report/output/json.h src/core/report/output/number.c \
	src/core/report/output/number.h src/core/report/output/out.c src/core/report/output/out.h \
	src/core/report/output/row.c src/core/report/output/row.h \
	src/core/report/output/utf8.c src/core/report/output/utf8.h src/core/report/cells.c \
	src/core/report/cells.h src/core/report/csv.c \
	src/core/report/formats.h src/core/report/frame.c src/core/report/imbalance.c src/core/report/json.c \
	src/core/report/json_nodes.c src/core/report/notes.c src/core/report/ranks.c src/core/report/report.c \
	src/core/report/report.h src/core/report/scale.c src/core/report/spread.c \
	src/core/report/table.c src/core/report/table.h src/core/report/text.c \
	src/core/regions/threads/aggregate.c src/core/regions/threads/aggregate.h \
	src/core/regions/threads/exclude.c src/core/regions/threads/exclude.h \
	src/core/regions/threads/names.c src/core/regions/threads/names.h \
	src/core/regions/threads/package.c src/core/regions/threads/package.h \
	src/core/regions/threads/paths.c src/core/regions/threads/paths.h \
	src/core/regions/threads/recycle.c src/core/regions/threads/recycle.h \
	src/core/regions/threads/registry.c src/core/regions/threads/registry.h \
	src/core/regions/threads/state.c src/core/regions/threads/state.h \
	src/core/regions/threads/steps.c src/core/regions/threads/steps.h \
	src/core/regions/threads/stride.c \
	src/core/regions/threads/tasks.c src/core/regions/threads/tasks.h \
	src/core/regions/threads/thread.c src/core/regions/threads/thread.h \
	src/core/regions/threads/unmatched.c src/core/regions/threads/unmatched.h \
	src/core/regions/slow/cost.c \
	src/core/regions/slow/filter.c src/core/regions/slow/plan.c \
	src/core/regions/slow/prepare.h src/core/regions/slow/run_note.c \
	src/core/regions/slow/setup.c src/core/regions/slow/setup.h src/core/regions/slow/slow.c \
	src/core/regions/slow/slow.h src/core/regions/slow/stale.c src/core/regions/slow/stale.h \
	src/core/regions/adopt.c src/core/regions/adopt.h src/core/regions/calls.c \
	src/core/regions/merge_call.c src/core/regions/overlap.c src/core/regions/quantity.c \
	src/core/regions/report_call.c src/core/regions/task.c src/core/regions/task.h src/core/regions/task_forms.c src/core/regions/team.c \
	src/core/samples/format.c src/core/samples/format.h src/core/samples/log_format.h \
	src/core/samples/log_head.c src/core/samples/log_index.c src/core/samples/log_internal.h \
	src/core/samples/log_output.c src/core/samples/log_read.c src/core/samples/log_read.h \
	src/core/samples/log_write.c src/core/samples/log_write.h src/core/samples/ring.c src/core/samples/ring.h \
	src/core/samples/sample.c src/core/samples/sample.h src/core/samples/samples.h \
	src/core/session/attach.c src/core/session/calls.h src/core/session/check.c \
	src/core/session/control.c src/core/session/enter.c src/core/session/helper.c \
	src/core/session/info.c src/core/session/overflow.c src/core/session/program.c \
	src/core/session/read.c src/core/session/reader.c src/core/session/sampling.c \
	src/core/session/session.c src/core/session/sets.c src/core/session/signals.c \
	src/core/session/start.c src/core/session/write.c \
	src/core/session/core/arm_state.c src/core/session/core/arm_state.h \
	src/core/session/core/armed.h src/core/session/core/busy.c \
	src/core/session/core/busy.h src/core/session/core/collect.h \
	src/core/session/core/core.h src/core/session/core/on.c \
	src/core/session/core/plan.c src/core/session/core/plan.h \
	src/core/session/core/readings.c src/core/session/core/state.h \
	src/core/session/core/time.c src/core/session/core/value.c \
	src/core/session/overflow/arm.c src/core/session/overflow/drain.c \
	src/core/session/overflow/notices.h src/core/session/overflow/overflow.h \
	src/core/session/overflow/period.c src/core/session/overflow/period.h \
	src/core/session/overflow/queue.c src/core/session/overflow/reset.c \
	src/core/session/overflow/reset.h src/core/session/overflow/stopped.c \
	src/core/session/overflow/stopped.h src/core/session/run/breakpoint.c \
	src/core/session/run/build.c src/core/session/run/install.c \
	src/core/session/run/loss.c src/core/session/run/run.c src/core/session/run/run.h \
	src/core/session/sampling/fields.c src/core/session/sampling/sampling.c \
	src/core/session/sampling/sampling.h src/core/session/sets/estimate.c \
	src/core/session/sets/sets.h src/core/session/sets/switch.c \
	src/core/session/targets/exclusive.c src/core/session/targets/process.c \
	src/core/session/targets/target.c src/core/session/targets/targets.h \
	src/core/session/targets/watch.c src/core/session/threads/parts.h \
	src/core/session/threads/probe.c src/core/session/threads/scan.c \
	src/core/session/threads/wait.c src/core/session/threads/threads.c \
	src/core/session/threads/threads.h \
	src/core/cpuwide/api.c src/core/cpuwide/cpuwide.c src/core/cpuwide/cpuwide.h \
	src/compat/compat.h src/compat/context.c src/compat/messages.c \
	src/compat/registers.c src/compat/section9.c \
	src/compat/session.c src/compat/sets.c
libperfmon_core_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/src $(URCU_CFLAGS)
libperfmon_core_la_LIBADD = libperfmon_kept.la $(URCU_LIBS) -lm

# Of these the archive has objects of its own: it is linked with the libraries that the
# shared library loads (src/core/kernel/library.h). A convenience library would hand it the same.
if HAVE_PFM
LOADERS_PFM = src/core/events/pfm.c
else
LOADERS_PFM = src/core/events/without_pfm.c
endif
if HAVE_HWLOC
LOADERS_HWLOC = src/core/topology/load.c
else
LOADERS_HWLOC = src/core/topology/without_hwloc.c
endif
LOADERS = $(LOADERS_PFM) $(LOADERS_HWLOC)
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

# The tables of groups as the text of a C string, without comments. Families share many lines: one
# that has come before is "=" and its offset in the text. The table for all CPUs is last.
named_tables = \
	src/core/named/tables/amd-zen2.txt src/core/named/tables/amd-zen3.txt src/core/named/tables/amd-zen4.txt \
	src/core/named/tables/arm-cortex-a57.txt src/core/named/tables/arm-neoverse-n1.txt \
	src/core/named/tables/arm-neoverse-v1.txt src/core/named/tables/exact.txt \
	src/core/named/tables/intel-icelake.txt src/core/named/tables/intel-sapphire-rapids.txt \
	src/core/named/tables/intel-skylake.txt src/core/named/tables/intel-skylake-server.txt \
	src/core/named/tables/generic.txt
EXTRA_DIST += $(named_tables)
src/core/named/tables_text.h: $(named_tables)
	$(AM_V_GEN)$(MKDIR_P) src/core/named && (cd $(srcdir) && cat $(named_tables)) | \
		sed -e '/^#/d' -e '/^$$/d' | LC_ALL=C $(AWK) \
		'{ text = $$0; if (text in at) text = "=" at[text]; else at[text] = used; used += length(text) + 1; print text }' | \
		sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' >$@.tmp && mv $@.tmp $@
# By a variable: automake has a rule of its own for the object.
named_table_object = src/core/named/libperfmon_core_la-find.lo
$(named_table_object): src/core/named/tables_text.h
CLEANFILES += src/core/named/tables_text.h

# The fast read, for perfmon/inline.h: the library compiles the same files.
archincludedir = $(pmincludedir)/arch
archinclude_HEADERS = src/arch/aarch64.h src/arch/arch.h src/arch/generic.h \
	src/arch/riscv64.h src/arch/x86_64.h
fastpathincludedir = $(pmincludedir)/fastpath
fastpathinclude_HEADERS = src/fastpath/read.h

# One report of all ranks of an MPI program. Compiled and linked by MPI's own compiler, which
# alone knows how.
mpi_files = src/mpi/finalize.c src/mpi/init.c
EXTRA_DIST += $(mpi_files) src/mpi/begun.h src/mpi/libperfmon-mpi.map
CLEANFILES += src/mpi/libperfmon-mpi.so src/mpi/libperfmon-mpi.so.0
src/mpi/libperfmon-mpi.so.0: $(mpi_files) src/mpi/begun.h src/mpi/libperfmon-mpi.map \
		include/perfmon/merge.h libperfmon.la
	$(AM_V_GEN)$(MKDIR_P) src/mpi && $(MPICC) -std=gnu11 $(CFLAGS) $(PM_WARN) -fPIC -shared \
		-Wl,-soname,libperfmon-mpi.so.0 -I$(top_srcdir)/include \
		-Wl,--version-script=$(srcdir)/src/mpi/libperfmon-mpi.map \
		$(addprefix $(srcdir)/,$(mpi_files)) -o $@ -L.libs -lperfmon
src/mpi/libperfmon-mpi.so: src/mpi/libperfmon-mpi.so.0
	$(AM_V_GEN)ln -sf libperfmon-mpi.so.0 $@
if HAVE_MPI
# "exec" in the name: installed before the hook.
mpiexecdir = $(libdir)
mpiexec_SCRIPTS = src/mpi/libperfmon-mpi.so.0 src/mpi/libperfmon-mpi.so
# In place of a copy.
install-exec-hook:
	ln -sf libperfmon-mpi.so.0 $(DESTDIR)$(libdir)/libperfmon-mpi.so
endif
