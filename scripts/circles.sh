#!/usr/bin/env bash
# Finds circles between the files of a crate: files that depend on each other, directly or through other files.
#
#   scripts/circles.sh             prints the number of files of each, and fails if scripts/circles.txt does not allow one
#   scripts/circles.sh --edges     prints the dependencies inside each circle
#
# A file depends on another one if it uses a name that the other file defines: `use crate::a::X`, `super::X`, `a::f()` of a child. A
# `pub use` only re-exports a name, so it is no dependency: a use of the name depends on the file that defines it. Tests inside files do
# not count.
set -euo pipefail
cd "$(dirname "$0")/.."
exec perl - "$@" <<'PERL'
use strict;
use warnings;
my $option = shift // '';
die "scripts/circles.sh: unknown option $option (expected --edges)\n" unless $option =~ /^(--edges)?$/;
my $allowance = 'scripts/circles.txt';

# The paths of a use tree such as `a::{b, c::{d as e}}`, each with its local name.
sub paths {
    my ($tree, @before) = @_;
    $tree =~ s/^\s+|\s+$//g;
    if ($tree =~ /^\{(.*)\}$/s) {
        my ($depth, $part, @parts) = (0, '');
        for my $c (split //, $1) {
            $depth += $c eq '{' ? 1 : $c eq '}' ? -1 : 0;
            if ($c eq ',' && $depth == 0) { push @parts, $part; $part = ''; next }
            $part .= $c;
        }
        return map { paths($_, @before) } grep { /\S/ } @parts, $part;
    }
    return paths($2, @before, $1) if $tree =~ /^(\w+)\s*::\s*(.*)$/s;
    my ($name, $new) = $tree =~ /^(\w+|\*)(?:\s+as\s+(\w+))?$/ or return;
    return paths($before[-1], @before[0 .. $#before - 1]) if $name eq 'self' && @before;
    return [$new // $name, @before, $name];
}

my %circles;
for my $crate (grep { -d "$_/src" } '.', sort glob('accel-* gradbench examples/adbench benches/common')) {
    my (%file, %code, %defined, %passed, %imported, %only_tests);
    for (split /\n/, `find $crate/src -name '*.rs' | sort`) {
        my $module = s{^\Q$crate\E/src/}{}r =~ s{(/mod)?\.rs$}{}r =~ s{/}{::}gr;
        $module = '' if $module =~ /^(lib|main)$/;
        $file{$module} = $_ =~ s{^\./}{}r;
        open my $in, '<', $_ or die "$_: $!\n";
        local $/;
        my $text = <$in>;
        # Strings first, since a string can contain `//`.
        $text =~ s{r(#+)".*?"\1|"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|'(?:\\.[^']*|[^'\\])'}{$& =~ m{^/} ? '' : '""'}gse;
        $only_tests{$module eq '' ? $_ : "${module}::$_"} = 1 for $text =~ /#\[cfg\(test\)\]\s*mod\s+(\w+)\s*;/g;
        $text =~ s/#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+\w+\s*\{.*//s;
        # In a module without its own file, `super` is this file.
        $text =~ s/\bmod\s+\$?\w+\s*(\{(?:[^{}]++|(?1))*\})/$1 =~ s{(?<!::)\bsuper\b}{self}gr/ge;
        $defined{$module}{$_} = 1 for $text =~ /\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)/g;
        while ($text =~ s/\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);//s) {
            my ($pub, $tree) = ($1, $2);
            push @{ ($pub ? \%passed : \%imported)->{$module} }, paths($tree);
        }
        $code{$module} = $text;
    }

    delete @file{ grep { $only_tests{ s/::.*//r } || $only_tests{$_} } keys %file };

    # The module to which a path in `from` leads, and the rest of the path.
    my $walk = sub {
        my ($from, @path) = @_;
        my $at = $from;
        my $rooted = 0;
        while (@path) {
            if ($path[0] eq 'crate') { $at = '' }
            elsif ($path[0] eq 'self') { }
            elsif ($path[0] eq 'super') { $at =~ s/(^|::)\w+$// }
            else { last }
            $rooted = 1;
            shift @path;
        }
        while (@path) {
            my $child = $at eq '' ? $path[0] : "${at}::$path[0]";
            last unless exists $file{$child};
            $at = $child;
            $rooted = 1;
            shift @path;
        }
        return $rooted ? ($at, @path) : ();
    };
    # The modules that define the name of a path, through re-exports.
    my $resolve;
    $resolve = sub {
        my ($seen, $from, @path) = @_;
        my ($at, @rest) = $walk->($from, @path) or return;
        return if $seen->{"$at @rest"}++;
        return ($at) if !@rest || $defined{$at}{ $rest[0] };
        if ($rest[0] eq '*') {
            return ($at, map { my ($new, @to) = @$_; $resolve->($seen, $at, @to) } @{ $passed{$at} // [] });
        }
        for (@{ $passed{$at} // [] }) {
            my ($new, @to) = @$_;
            next unless $new eq $rest[0] || $new eq '*';
            pop @to if $new eq '*';
            my @found = $resolve->($seen, $at, @to, $new eq '*' ? @rest : @rest[1 .. $#rest]);
            @found = grep { $defined{$_}{ $rest[0] } } @found if $new eq '*';
            return @found if @found;
        }
        # A private import that children can use, or a name that a macro defines.
        for (@{ $imported{$at} // [] }) {
            my ($new, @to) = @$_;
            return $resolve->($seen, $at, @to) if $new eq $rest[0];
        }
        return ($at);
    };

    my %needs;
    for my $module (keys %file) {
        my @named = map { my ($new, @to) = @$_; [@to] } @{ $imported{$module} // [] };
        push @named, [split /\s*::\s*/, $1] while $code{$module} =~ /(?<![\w:])((?:\w+\s*::\s*)+\w+)/g;
        for (@named) {
            $needs{$module}{$_} = 1 for grep { $_ ne $module } $resolve->({}, $module, @$_);
        }
    }

    # Modules that depend on each other.
    my %reach;
    for my $start (keys %file) {
        my @todo = $start;
        while (defined(my $at = pop @todo)) {
            push @todo, grep { !$reach{$start}{$_}++ } keys %{ $needs{$at} // {} };
        }
    }
    my %done;
    for my $m (sort keys %file) {
        next if $done{$m} || !$reach{$m}{$m};
        my @circle = grep { $reach{$m}{$_} && $reach{$_}{$m} } sort keys %file;
        $done{$_} = 1 for @circle;
        my $name = join ' ', map { $file{$_} } @circle;
        $circles{$name} = 1;
        printf "%s: %d files\n", $crate, scalar @circle;
        next unless $option eq '--edges';
        my %in = map { $_ => 1 } @circle;
        for my $from (@circle) {
            my @to = map { $file{$_} } grep { $in{$_} } sort keys %{ $needs{$from} };
            print "    $file{$from} -> @to\n";
        }
    }
}

# A circle is allowed if a line of the list contains all of its files.
my @allowed;
if (open my $in, '<', $allowance) { @allowed = map { chomp; +{ map { $_ => 1 } split / / } } grep { !/^#/ } <$in> }
my $failed = 0;
for my $circle (sort keys %circles) {
    my @files = split / /, $circle;
    next if grep { my $a = $_; !grep { !$a->{$_} } @files } @allowed;
    print STDERR "scripts/circles.sh: a new circle: $circle\n";
    $failed = 1;
}
exit $failed;
PERL
