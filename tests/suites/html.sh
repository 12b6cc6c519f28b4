#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The documents as pages for a browser (make html): every link leads somewhere, every page has a
# title, and the search finds what is there.
. "$PM_TOP/scripts/suite.sh"

for needed in cmark-gfm mandoc perl; do
	if ! command -v "$needed" >/dev/null; then
		skip html "$needed is missing"
		exit 0
	fi
done
native_tree all
pages=$PM_SUITE_DIR/html
must "the pages are made" in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" html
rm -rf "$pages"
cp -r "$build/html" "$pages"

missing() {
	local file name
	for file in doc/*.md man/*.[1-8] include/perfmon/*.h include/perfmon/*.hpp; do
		name=$(basename "$file" .md).html
		case $file in include/*) name=header-$name ;; esac
		[ -s "$pages/$name" ] || echo "$file has no $name"
	done
}
try "a page for each document, manual page and header" nothing missing
# Addresses in the pages and in the index: a file, and in it what the anchor names.
loose() {
	perl -e '
	my (%ids, %links);
	for my $file (glob "$ARGV[0]/*.html") {
		my ($name) = $file =~ m{([^/]+)$};
		open my $in, "<", $file or die;
		local $/;
		my $text = <$in>;
		$ids{$name}{$1} = 1 while $text =~ /\bid="([^"]*)"/g;
		$ids{$name} //= {};
		while ($text =~ /\b(?:href|src)="(?!https?:)(#?)([^"]*)"/g) {
			$links{$1 ? "$name#$2" : $2}{$name} = 1;
		}
	}
	open my $in, "<", "$ARGV[0]/index.js" or die;
	while (<$in>) { $links{$1}{"index.js"} = 1 if /^\["[^"]*","([^"]*)"/ }
	print "few links\n" if keys %links < 300;
	for my $link (sort keys %links) {
		my ($file, $id) = split /#/, $link;
		print join(" ", $link, sort keys %{$links{$link}}), "\n"
			if !-e "$ARGV[0]/$file" || defined $id && !$ids{$file}{$id};
	}' "$pages"
}
try "every link leads somewhere" nothing loose
untitled() {
	local page
	for page in "$pages"/*.html; do
		grep -q '<title>..* - perfmon [0-9]' "$page" || echo "$page"
	done
	grep -h '<title>' "$pages"/*.html | sort | uniq -d
}
try "each page has a title of its own" nothing untitled
try "the pages need no network" nothing grep -lE '(src|href)="(https?:)?//[^"]*\.(js|css|png)' "$pages"/*.html

browser=$(command -v chromium-headless-shell || command -v chromium || true)
# found WORDS ADDRESS: the search for WORDS shows a link to ADDRESS.
found() {
	timeout 120 "$browser" --no-sandbox --disable-gpu --virtual-time-budget=5000 \
		--user-data-dir="$PM_SUITE_DIR/browser" --dump-dom \
		"file://$pages/index.html?q=$1" >"$PM_SUITE_DIR/found.html" 2>/dev/null
	sed -n '/id="found"/,/<\/section>/p' "$PM_SUITE_DIR/found.html" | grep -F "<a href=\"$2\">"
}
found_nothing() {
	! found zzyzzyx index.html && grep -q "Nothing found" "$PM_SUITE_DIR/found.html"
}
if [ -n "$browser" ]; then
	try "the search finds a call" found perfmon_session_read perfmon_session.3.html
	try "the search finds it in its header" found perfmon_session_read \
		"header-session.h.html#perfmon_session_read"
	try "the search finds a message" found "watchdog" "troubleshooting.html#not-counted"
	try "the search finds nothing for nonsense" found_nothing
else
	skip "the search" "there is no browser"
fi
