# SPDX-License-Identifier: LGPL-2.1-or-later
dist_man_MANS += man/perfmon_report_print.3 man/perfmon_report_write.3
dist_man_MANS += man/perfmon_info.3
dist_man_MANS += man/perfmon_placement.3
if HAVE_COMMAND
dist_man_MANS += man/perfmon.1
else
EXTRA_DIST += man/perfmon.1
endif
EXTRA_DIST += doc/profile-layout.md doc/report-formats.md
