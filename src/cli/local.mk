# SPDX-License-Identifier: LGPL-2.1-or-later
# The command links the inside of the library: it has no use for a stable interface.
if HAVE_COMMAND
bin_PROGRAMS += perfmon
perfmon_SOURCES = src/cli/cli.h src/cli/info.c src/cli/list.c src/cli/main.c src/cli/run.c \
	src/cli/info_json.c src/cli/info_json.h \
	src/cli/machine.c src/cli/machine.h src/cli/metrics.c \
	src/cli/progress.c src/cli/progress.h \
	src/cli/report.c src/cli/report_sources.c src/cli/report_sources.h \
	src/cli/terminal.c src/cli/terminal.h
perfmon_SOURCES += src/cli/stat.c src/cli/stat.h src/cli/stat_child.c src/cli/stat_count.c \
	src/cli/stat_data.c src/cli/stat_derive.c src/cli/stat_events.c \
	src/cli/stat_options.c src/cli/stat_place.c src/cli/stat_process.c src/cli/stat_text.c
perfmon_SOURCES += src/cli/diff.c src/cli/diff.h src/cli/diff_json.c src/cli/diff_judge.c \
	src/cli/diff_load.c src/cli/diff_math.c src/cli/diff_math.h src/cli/diff_notes.c \
	src/cli/diff_text.c
perfmon_SOURCES += src/cli/output.c src/cli/output.h
perfmon_SOURCES += src/cli/export.c src/cli/export.h src/cli/export_chrome.c src/cli/export_folded.c
perfmon_SOURCES += src/cli/html.c src/cli/html.h
perfmon_SOURCES += src/cli/top.c src/cli/top.h src/cli/top_data.c src/cli/top_screen.c \
	src/cli/top_table.c src/cli/top_text.c src/cli/top_watch.c
perfmon_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/src $(SMARTCOLS_CFLAGS) $(NCURSES_CFLAGS)
# The page as the text of a C string.
src/cli/page_text.h: src/cli/page.html
	$(AM_V_GEN)$(MKDIR_P) src/cli && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' \
		$(srcdir)/src/cli/page.html >$@.tmp && mv $@.tmp $@
src/cli/perfmon-html.$(OBJEXT): src/cli/page_text.h
CLEANFILES += src/cli/page_text.h
perfmon_LDADD = libperfmon_all.la $(SMARTCOLS_LIBS) $(NCURSES_LIBS) -lm
endif
EXTRA_DIST += src/cli/page.html
