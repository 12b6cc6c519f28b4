#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later
# words.pl LIST FILE...: prints the words of LIST (tests/words) in the comments and identifiers
# of the files. Texts in quotes are not looked at.
use strict;
use warnings;

my ($list, @files) = @ARGV;
my @words;
open my $in, '<', $list or die "$list: $!\n";
while (<$in>) {
	chomp;
	next if /^#/ or !/\S/;
	my ($word, $instead, $except) = split /\t/;
	push @words, [qr/(?<![A-Za-z])(?:$word)(?![a-z])/i, $instead, split(/ /, $except // '')];
}
for my $file (@files) {
	open my $source, '<', $file or die "$file: $!\n";
	my $comment = 0;
	while (my $line = <$source>) {
		my $bare = $line;
		$bare =~ s/"(?:\\.|[^"\\])*"/""/g unless $comment || $bare =~ m{^\s*/\*};
		for (@words) {
			my ($pattern, $instead, @except) = @$_;
			next if grep { index($file, $_) == 0 } @except;
			print "$file:$.: $&: instead: $instead\n" if $bare =~ $pattern;
		}
		my $open = () = $line =~ m{/\*}g;
		my $close = () = $line =~ m{\*/}g;
		$comment += $open - $close;
	}
}
