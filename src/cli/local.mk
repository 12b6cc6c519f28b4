# SPDX-License-Identifier: LGPL-2.1-or-later
# The command links the inside of the library: it has no use for a stable interface.
if HAVE_COMMAND
bin_PROGRAMS += perfmon
perfmon_SOURCES = \
	src/cli/code/code.c src/cli/code/code.h src/cli/code/dw.c src/cli/code/dw.h \
	src/cli/code/elf.c src/cli/code/elf.h \
	src/cli/main.c \
	src/cli/common/child.c src/cli/common/common.h src/cli/common/complain.c src/cli/common/folder.c \
	src/cli/common/json_read.c src/cli/common/machine.c src/cli/common/options.c src/cli/common/output.c \
	src/cli/common/resolve.c src/cli/common/sources.c src/cli/common/terminal.c src/cli/common/texts.c \
	src/cli/ceilings/aarch64.c src/cli/ceilings/ceilings.h src/cli/ceilings/file.c \
	src/cli/ceilings/generic.c src/cli/ceilings/kernels.h src/cli/ceilings/machine.c \
	src/cli/ceilings/machine.h src/cli/ceilings/measure.c src/cli/ceilings/x86_64.c \
	src/cli/diff/bounds.c src/cli/diff/columns.c src/cli/diff/data.h src/cli/diff/decide.c src/cli/diff/diff.c src/cli/diff/diff.h src/cli/diff/json.c \
	src/cli/diff/load.c src/cli/diff/math.c src/cli/diff/math.h src/cli/diff/metrics.c src/cli/diff/notes.c src/cli/diff/order.c \
	src/cli/diff/shuffle.c src/cli/diff/stat_file.c src/cli/diff/text.c \
	src/cli/exact/events.c src/cli/exact/exact.h src/cli/exact/start.c \
	src/cli/export/callgrind.c src/cli/export/chrome.c src/cli/export/export.c \
	src/cli/export/export.h src/cli/export/folded.c src/cli/export/gzip.c src/cli/export/pprof.c \
	src/cli/export/split.c src/cli/export/table.c src/cli/export/weight.c \
	src/cli/functions/code.c src/cli/functions/code.h src/cli/functions/functions.c \
	src/cli/functions/functions.h src/cli/functions/names.c src/cli/functions/names.h \
	src/cli/functions/profile.c src/cli/functions/profile.h src/cli/functions/prune.c \
	src/cli/functions/read.c src/cli/functions/trees.h \
	src/cli/info/info.c src/cli/info/info.h src/cli/info/json.c \
	src/cli/join/join.c src/cli/join/join.h \
	src/cli/list/groups.c src/cli/list/list.c src/cli/list/list.h \
	src/cli/metrics/definition.c src/cli/metrics/definition.h src/cli/metrics/event.c src/cli/metrics/event.h \
	src/cli/metrics/expression.c src/cli/metrics/expression.h src/cli/metrics/file.c src/cli/metrics/formula.c \
	src/cli/metrics/formula.h src/cli/metrics/machine.c src/cli/metrics/machine.h src/cli/metrics/metrics.c \
	src/cli/metrics/named.c src/cli/metrics/named.h src/cli/metrics/perf.c \
	src/cli/report/by.c src/cli/report/by.h src/cli/report/by_data.c \
	src/cli/report/html.c src/cli/report/html.h src/cli/report/jobs.c \
	src/cli/report/jobs.h src/cli/report/report.c \
	src/cli/report/report.h \
	src/cli/roofline/chart.c src/cli/roofline/data.h src/cli/roofline/html.c \
	src/cli/roofline/json.c src/cli/roofline/load.c src/cli/roofline/points.c \
	src/cli/roofline/roofline.c src/cli/roofline/roofline.h src/cli/roofline/runs.c \
	src/cli/roofline/runs.h src/cli/roofline/text.c \
	src/cli/run/hooks.c src/cli/run/inside.h src/cli/run/passes.c \
	src/cli/run/plan.c src/cli/run/run.c src/cli/run/run.h \
	src/cli/stat/cell.c src/cli/stat/count.c \
	src/cli/stat/data.c src/cli/stat/derive.c \
	src/cli/stat/exact.c src/cli/stat/inside.h src/cli/stat/metric.c \
	src/cli/stat/options.c src/cli/stat/packages.c src/cli/stat/stat.c src/cli/stat/stat.h src/cli/stat/text.c \
	src/cli/top/data.c src/cli/top/screen.c src/cli/top/table.c src/cli/top/text.c \
	src/cli/top/top.c src/cli/top/top.h src/cli/top/watch.c \
	src/cli/truth/blocks.c src/cli/truth/blocks.h src/cli/truth/blocks_aarch64.h \
	src/cli/truth/blocks_generic.h src/cli/truth/blocks_riscv64.h src/cli/truth/blocks_x86_64.h \
	src/cli/truth/checks.h src/cli/truth/costs.c src/cli/truth/counter.c src/cli/truth/counter.h \
	src/cli/truth/data.c src/cli/truth/data.h src/cli/truth/decide.c src/cli/truth/decide.h \
	src/cli/truth/events.c src/cli/truth/json.c src/cli/truth/multiplex.c \
	src/cli/truth/names.c src/cli/truth/names.h src/cli/truth/overflow.c src/cli/truth/pick.c \
	src/cli/truth/reads.c src/cli/truth/software.c \
	src/cli/truth/text.c src/cli/truth/truth.c src/cli/truth/truth.h
perfmon_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/src $(NCURSES_CFLAGS) \
	-DBINDIR='"$(bindir)"' -DLIBDIR='"$(libdir)"' -DEXACTDIR='"$(libexecdir)/perfmon/valgrind"'
# Pages as the texts of C strings.
page_text = $(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' \
	$(srcdir)/$(@D)/page.html >$@.tmp && mv $@.tmp $@
src/cli/report/page_text.h: src/cli/report/page.html
	$(page_text)
src/cli/roofline/page_text.h: src/cli/roofline/page.html
	$(page_text)
src/cli/report/perfmon-html.$(OBJEXT): src/cli/report/page_text.h
src/cli/roofline/perfmon-html.$(OBJEXT): src/cli/roofline/page_text.h
CLEANFILES += src/cli/report/page_text.h src/cli/roofline/page_text.h
perfmon_LDADD = libperfmon_all.la $(NCURSES_LIBS) -lm
endif
EXTRA_DIST += src/cli/report/page.html src/cli/roofline/page.html
