# SPDX-License-Identifier: LGPL-2.1-or-later
dist_man_MANS += man/perfmon_report_write.3
dist_man_MANS += man/perfmon_info.3
dist_man_MANS += man/perfmon_merge.3 man/perfmon_profile.3
dist_man_MANS += man/perfmon-profile.5 man/perfmon-environment.7 man/perfmon-exact.7
dist_man_MANS += man/perfmon_placement.3
dist_man_MANS += man/perfmon_session.3 man/perfmon_set.3
dist_man_MANS += man/perfmon_overflow.3 man/perfmon_sampling.3
dist_man_MANS += man/perfmon_event.3 man/perfmon_region.3
dist_man_MANS += man/perfmon_reader.3 man/perfmon_recovery.3 man/perfmon_control.3
dist_man_MANS += man/perfmon_cpuwide.3 man/perfmon_overlap.3 man/perfmon_quantity.3 man/perfmon_task.3 man/perfmon_team.3
dist_man_MANS += man/perfmon_format.3 man/perfmon_log.3 man/perfmon_sample.3
dist_man_MANS += man/perfmon.hpp.3 man/perfmon.f90.3
dist_man_MANS += man/pfm_create_context.3 man/pfm_create_session.3
if HAVE_COMMAND
dist_man_MANS += man/perfmon.1 man/perfmon-diff.1 man/perfmon-export.1 \
	man/perfmon-report.1 man/perfmon-roofline.1 man/perfmon-top.1 man/perfmon-truth.1
else
EXTRA_DIST += man/perfmon.1 man/perfmon-diff.1 man/perfmon-export.1 \
	man/perfmon-report.1 man/perfmon-roofline.1 man/perfmon-top.1 man/perfmon-truth.1
endif

# A page for each name that the pages have under NAME: ".so" leads to the one with the text.
EXTRA_DIST += man/aliases
install-data-hook:
	@cd $(srcdir) && man/aliases $(dist_man_MANS) | while read -r name page; do \
		section=$${page##*.}; dir="$(DESTDIR)$(mandir)/man$$section"; \
		echo ".so man$$section/$$page" >"$$dir/$$name.$$section" || exit; \
	done
uninstall-hook:
	@cd $(srcdir) && man/aliases $(dist_man_MANS) | while read -r name page; do \
		section=$${page##*.}; rm -f "$(DESTDIR)$(mandir)/man$$section/$$name.$$section"; \
	done
