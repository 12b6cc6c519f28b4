# SPDX-License-Identifier: LGPL-2.1-or-later
# Installed beside README.md, from where README.md names them.
docfilesdir = $(docdir)/doc
dist_docfiles_DATA = doc/api.md doc/ci.md doc/compare.md doc/costs.md doc/embedding.md doc/events.md doc/first-hour.md doc/hooks.md doc/languages.md doc/limits.md \
	doc/metrics.md doc/migration.md doc/mpi.md doc/packages.md doc/page.png doc/profile-layout.md doc/profiles.md doc/python.md doc/regions.md \
	doc/report-formats.md doc/reports.md doc/roofline.md doc/rules.md doc/sessions.md doc/stat-formats.md \
	doc/stat.md doc/troubleshooting.md
dist_doc_DATA = README.md NEWS.md

# The same as pages for a browser, with a search: make html.
EXTRA_DIST += doc/html.pl doc/html.css doc/html.js
html-local:
	@command -v cmark-gfm >/dev/null && command -v mandoc >/dev/null || \
		{ echo "make html needs the packages cmark-gfm and mandoc" >&2; exit 1; }
	rm -rf html
	perl $(srcdir)/doc/html.pl $(srcdir) html $(PACKAGE_VERSION)
	@echo "open html/index.html in a browser"
mostlyclean-local:
	rm -rf html
