#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# quotes.pl PAGE DIAGNOSIS SOURCE...: what of the messages that PAGE quotes, as lines that
# begin with "> ", no string of the sources has; and what of the sentences in DIAGNOSIS, one of
# the sources, no message of PAGE has. "..." in a message stands for anything. What is between
# two of them must stand in one string, between two of its conversions.
use strict;
use warnings;

my ($page, $diagnosis, @sources) = @ARGV;
my $conversion = qr/%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]/;
my $literal = qr/"(?:[^"\\\n]|\\.)*"/;

# The strings of a source, as the compiler joins them, in pieces between conversions.
sub pieces {
	my ($file) = @_;
	my @all;

	open my $in, '<', $file or die "$file: $!\n";
	my $text = do { local $/; <$in> };
	# Neither comments nor characters: a '"' begins no string.
	$text =~ s{($literal)|/\*.*?\*/|^#include[^\n]*|'(?:[^'\\\n]|\\.)'}{$1 // ''}gmse;
	while ($text =~ /($literal(?:\s+(?:PRI[a-z]+\d+\s*)?$literal|\s+PRI[a-z]+\d+)*)/g) {
		my $string = $1;

		$string =~ s/"\s*PRI[a-z]+\d+\s*"?/u/g;
		$string =~ s/"\s*"//g;
		$string =~ s/^"|"$//g;
		$string =~ s/\\n/ /g;
		$string =~ s/\\(.)/$1/g;
		$string =~ s/%%/\0/g;
		push @all, map { s/\0/%/gr } split /$conversion/, $string;
	}
	return @all;
}

my (%message, @quoted);
open my $in, '<', $page or die "$page: $!\n";
while (<$in>) {
	chomp;
	push @quoted, [$., $_] if s/^> //;
}
my $sources = join "\n", map { pieces($_) } @sources;
my $said = join "\n", map { $_->[1] } @quoted;

print "$page quotes no message\n" if !@quoted;
for my $quote (@quoted) {
	for my $part (split /\.\.\./, $quote->[1]) {
		$part =~ s/^\s+|\s+$//g;
		print "$page:$quote->[0]: no message has \"$part\"\n"
			if length $part > 2 && index($sources, $part) < 0;
	}
}
# Four words or more are a sentence, or a part of one that says something.
for my $piece (pieces($diagnosis)) {
	$piece =~ s/^\W+|\W+$//g;
	print "$page: nothing on \"$piece\"\n"
		if $piece =~ /\w+ \w+ \w+ \w+/ && index($said, $piece) < 0;
}
