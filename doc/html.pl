#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# html.pl SOURCE FOLDER VERSION: writes README.md, NEWS.md, doc/, the manual pages and the public
# headers of the tree SOURCE as pages into FOLDER, with links between them and an index for the
# search. Needs cmark-gfm and mandoc. Nothing in the pages needs a network.
use strict;
use warnings;
use open qw(:std :utf8);

my ($source, $folder, $version) = @ARGV;
my @pages;    # in the order of the menu: {file, name, title, kind, body}
my %page_of;  # a name that stands in text, such as doc/stat.md or perfmon_session_read(3)
my %call;     # the manual page of a function or macro

sub text_of {
	my ($file) = @_;

	open my $in, '<', $file or die "html.pl: $file: $!\n";
	local $/;
	return <$in>;
}

sub output_of {
	my @command = @_;

	open my $in, '-|', @command or die "html.pl: $command[0]: $!\n";
	my $text = do { local $/; <$in> };
	close $in or die "html.pl: '@command' failed\n";
	return $text;
}

sub escaped {
	my ($text) = @_;

	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	$text =~ s/"/&quot;/g;
	return $text;
}

sub plain {
	my ($html) = @_;

	$html =~ s/<[^>]*>//g;
	$html =~ s/&lt;/</g;
	$html =~ s/&gt;/>/g;
	$html =~ s/&quot;/"/g;
	$html =~ s/&amp;/&/g;
	$html =~ s/\s+/ /g;
	$html =~ s/^ | $//g;
	return $html;
}

# The anchor of a heading, as GitHub makes it.
sub anchor {
	my ($heading, $used) = @_;
	my $id = lc plain($heading);

	$id =~ s/[^\w\- ]//g;
	$id =~ s/ /-/g;
	$id .= '-' . $used->{$id} while $used->{$id}++;
	return $id;
}

sub markdown {
	my ($path, $file) = @_;
	my $body = output_of('cmark-gfm', '-e', 'table', '-e', 'autolink', "$source/$path");
	my %used;

	$body =~ s/<!-- raw HTML omitted -->\n?//g;
	$body =~ s{<h([1-6])>(.*?)</h\1>}{
		my ($level, $heading) = ($1, $2);
		my $id = anchor($heading, \%used);
		qq(<h$level id="$id">$heading</h$level>)
	}ges;
	$body =~ s/<table>/<div class="wide"><table>/g;
	$body =~ s{</table>}{</table></div>}g;
	my ($title) = $body =~ m{<h1[^>]*>(.*?)</h1>}s;
	push @pages, {file => $file, name => $path, title => plain($title // $path),
		kind => 'Documents', body => $body};
	$page_of{$path} = $file;
	$page_of{$path =~ s{^doc/}{}r} = $file;
}

sub manual {
	my ($path) = @_;
	my ($name, $section) = $path =~ m{([^/]+)\.(\d)$};
	my $body = output_of('mandoc', '-T', 'html', '-O', 'fragment', "$source/$path");
	my $file = "$name.$section.html";

	$body =~ s{<table class="(head|foot)">.*?</table>}{}gs;
	$body =~ s{<(/?)h2\b}{<$1h3}g;
	$body =~ s{<(/?)h1\b}{<$1h2}g;
	my ($about) = $body =~ m{<h2[^>]*id="NAME".*?<p[^>]*>.*? - (.*?)</p>}s;
	push @pages, {file => $file, name => "$name($section)", kind => 'Manual pages',
		title => "$name($section)", about => plain($about // ''),
		body => "<h1>$name($section)</h1>\n$body"};
	$page_of{"$name($section)"} = $file;
}

# A public header, with an anchor at each function, structure, enum and macro.
sub header {
	my ($path) = @_;
	my ($name) = $path =~ m{include/(.*)$};
	my $file = 'header-' . ($name =~ s{^perfmon/}{}r) . '.html';
	my $body = escaped(text_of("$source/$path"));
	my %used;

	$body =~ s{^((?:\#define |(?:struct|enum) |[a-z][\w \*]*?\*?)
		((?:perfmon|pfm|pfarg|PERFMON|PFM)_\w+)(?=[\s(]))}{
		$used{$2}++ ? $1 : qq(<a id="$2"></a>$1)
	}gmex;
	push @pages, {file => $file, name => $name, title => $name, kind => 'Headers',
		body => "<h1>$name</h1>\n<pre class=\"header\">$body</pre>\n",
		symbols => [sort keys %used]};
	$page_of{$name} = $file;
}

# Links from what the text of a page names: documents, manual pages, headers and calls.
sub linked {
	my ($page) = @_;
	my $to = sub {
		my ($name, $shown) = @_;
		my $file = $page_of{$name};

		return $shown if !defined $file || $file =~ /^\Q$page->{file}\E(?:#|$)/;
		return qq(<a href="$file">$shown</a>);
	};
	my $body = $page->{body};

	# Links that the text has itself.
	$body =~ s{(<(?:a|img)\b[^>]*\b(?:href|src)=")([^"#:]*)(#[^"]*)?"}{
		my ($head, $file, $rest) = ($1, $2, $3 // '');
		$file = $page_of{$file} // ($file =~ s{^doc/}{}r) if $file ne '';
		qq($head$file$rest")
	}ge;
	$body =~ s{<code>((?:doc/)?[\w-]+\.md|[A-Z]+\.md|perfmon/\w+\.h(?:pp)?)</code>}{
		'<code>' . $to->($1, $1) . '</code>'
	}ge;
	$body =~ s{<code>([\w-]+)\((\d)\)</code>}{'<code>' . $to->("$1($2)", "$1($2)") . '</code>'}ge;
	$body =~ s{<code>((?:perfmon|pfm|PERFMON)_\w+)(\(\)|\(&quot;[^<]*)?</code>}{
		my ($name, $rest) = ($1, $2 // '');
		'<code>' . (defined $call{$name} ? $to->($call{$name}, $name) : $name) . "$rest</code>"
	}ge;
	# man's: a bold name before its section; a call before (); a document in italics.
	$body =~ s{<b>([\w-]+)</b>\((\d)\)}{$to->("$1($2)", "<b>$1</b>($2)")}ge;
	$body =~ s{<b>(\w+)</b>\(\)}{
		(defined $call{$1} ? $to->($call{$1}, "<b>$1</b>") : "<b>$1</b>") . '()'
	}ge;
	$body =~ s{<i>(doc/[\w-]+\.md)</i>}{'<i>' . $to->($1, $1) . '</i>'}ge;
	$body =~ s{(&lt;)?\b(perfmon/\w+\.h(?:pp)?)\b(&gt;)?(?![^<]*</a>)(?!</code>)}{
		($1 // '') . $to->($2, $2) . ($3 // '')
	}ge if $page->{kind} ne 'Documents';
	return $body;
}

sub menu {
	my ($here) = @_;
	my ($kind, $html) = ('', '');

	for my $page (@pages) {
		if ($page->{kind} ne $kind) {
			$kind = $page->{kind};
			$html .= ($html ? "</ul>\n" : '') . "<h2>$kind</h2>\n<ul>\n";
		}
		my $mark = $page == $here ? ' aria-current="page"' : '';
		my $title = escaped($page->{title});
		$html .= qq(<li><a href="$page->{file}"$mark>$title</a></li>\n);
	}
	return "$html</ul>\n";
}

sub page_text {
	my ($page) = @_;
	my ($title, $body, $menu) = (escaped($page->{title}), linked($page), menu($page));

	return <<EOT;
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title - perfmon $version</title>
<link rel="stylesheet" href="html.css">
</head>
<body>
<header>
<a class="home" href="index.html">perfmon $version</a>
<form id="search" role="search" action="index.html">
<input name="q" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
</form>
<details class="narrow"><summary>All pages</summary>
<nav>
$menu</nav>
</details>
</header>
<div class="columns">
<nav class="side">
$menu</nav>
<main>
<section id="found" aria-live="polite" hidden></section>
<article>
$body</article>
</main>
</div>
<script src="html.js"></script>
</body>
</html>
EOT
}

# The index: title, address, heading and words of each section; and each call by its name.
sub index_text {
	my @entries = map { [$call{$_}, $page_of{$call{$_}}, $_, 'manual page'] } sort keys %call;

	for my $page (@pages) {
		my ($heading, $address) = ('', $page->{file});

		for my $part (split /(?=<h[1-6]\b)/, $page->{kind} eq 'Headers' ? '' : $page->{body}) {
			if ($part =~ s{^<h[1-6]([^>]*)>(.*?)</h[1-6]>}{}s) {
				($heading, my $attributes) = (plain($2), $1);
				$address = $page->{file} . ($attributes =~ /\bid="([^"]*)"/ ? "#$1" : '');
			}
			push @entries, [$page->{title}, $address, $heading, plain($part)];
		}
		push @entries, map { [$page->{title}, "$page->{file}#$_", $_, ''] }
			@{$page->{symbols} // []};
	}
	return "var PERFMON_INDEX = [\n" . join(",\n", map {
		'[' . join(',', map {
			my $text = $_ // '';
			$text =~ s/([\\"])/\\$1/g;
			$text =~ s/</\\u003c/g;
			"\"$text\""
		} @$_) . ']'
	} @entries) . "\n];\n";
}

sub write_file {
	my ($name, $text) = @_;

	open my $out, '>', "$folder/$name" or die "html.pl: $folder/$name: $!\n";
	print $out $text;
	close $out or die "html.pl: $folder/$name: $!\n";
}

sub copy {
	my ($from, $name) = @_;

	open my $in, '<:raw', $from or die "html.pl: $from: $!\n";
	open my $out, '>:raw', "$folder/$name" or die "html.pl: $folder/$name: $!\n";
	local $/;
	print {$out} scalar <$in>;
}

die "usage: html.pl SOURCE FOLDER VERSION\n" if @ARGV != 3;
mkdir $folder;
markdown('README.md', 'index.html');
# In the order of README's table.
my @rows = grep { /^\| `doc/ } split /\n/, text_of("$source/README.md");
markdown($_, s{^doc/(.*)\.md$}{$1.html}r) for map { m{`(doc/[\w-]+\.md)`}g } @rows;
markdown('NEWS.md', 'news.html');
my @manuals = map { s{^\Q$source\E/}{}r } sort glob "$source/man/*.[1-8]";
manual($_) for @manuals;
header(s{^\Q$source\E/}{}r) for sort glob "$source/include/perfmon/*.{h,hpp}";
for (split /\n/, output_of("$source/man/aliases", map { "$source/$_" } @manuals)) {
	my ($name, $page) = split;
	my ($base, $section) = $page =~ /^(.*)\.(\d)$/;

	$page_of{"$name($section)"} //= "$base.$section.html";
	$call{$name} = "$base($section)" if $section == 3;
}
write_file($_->{file}, page_text($_)) for @pages;
write_file('index.js', index_text());
copy("$source/doc/$_", $_) for qw(html.css html.js page.png);
