# SPDX-License-Identifier: LGPL-2.1-or-later
dist_man_MANS += man/perfmon_report_print.3 man/perfmon_report_write.3
dist_man_MANS += man/perfmon_info.3
dist_man_MANS += man/perfmon_merge.3 man/perfmon_profile.3
dist_man_MANS += man/perfmon-profile.5 man/perfmon-environment.7
dist_man_MANS += man/perfmon_placement.3
dist_man_MANS += man/perfmon_session.3 man/perfmon_set.3
dist_man_MANS += man/perfmon_overflow.3 man/perfmon_sampling.3
dist_man_MANS += man/perfmon_event.3 man/perfmon_region.3
dist_man_MANS += man/perfmon_reader.3 man/perfmon_recovery.3 man/perfmon_control.3
dist_man_MANS += man/perfmon_cpuwide.3
dist_man_MANS += man/perfmon_format.3 man/perfmon_log.3 man/perfmon_sample.3
dist_man_MANS += man/pfm_create_context.3 man/pfm_create_session.3 man/pfm_create_evtsets.3 \
	man/pfm_delete_evtsets.3 man/pfm_getinfo_evtsets.3 man/pfm_load_context.3 \
	man/pfm_message.3 man/pfm_read_msg.3 man/pfm_read_pmds.3 man/pfm_smpl_buffer.3 man/pfm_start.3 \
	man/pfm_stop.3 man/pfm_unload_context.3 man/pfm_write_pmcs.3 man/pfm_write_pmds.3
if HAVE_COMMAND
dist_man_MANS += man/perfmon.1 man/perfmon-diff.1 man/perfmon-export.1 \
	man/perfmon-report.1 man/perfmon-top.1
else
EXTRA_DIST += man/perfmon.1 man/perfmon-diff.1 man/perfmon-export.1 \
	man/perfmon-report.1 man/perfmon-top.1
endif
EXTRA_DIST += doc/api.md doc/compare.md doc/costs.md doc/events.md doc/limits.md doc/metrics.md doc/mpi.md \
	doc/page.png doc/profile-layout.md doc/profiles.md doc/regions.md doc/report-formats.md \
	doc/reports.md doc/rules.md doc/sessions.md doc/stat-formats.md doc/stat.md
