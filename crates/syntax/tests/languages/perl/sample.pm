#!/usr/bin/perl
# Reads and writes the guest book.
package Guestbook::Store;

use strict;
use warnings;
use parent qw(Guestbook::Base Exporter);
use List::Util qw(first sum);
require Guestbook::Entry;

our $VERSION = '1.02';
our @EXPORT_OK = qw(read_entries);
my %cache = ();
my ($root, $depth) = ('/var/guestbook', 2);

use constant MAX_ENTRIES => 500;
use constant {
    RETRIES => 3,
    TIMEOUT => 30,
};

=head1 NAME

Guestbook::Store - keeps guest book entries

=head1 METHODS

=head2 new

Makes a store in a folder.

=cut

sub new {
    my ($class, %args) = @_;
    my $self = bless { path => $args{path} || $root }, $class;
    $self->_load if -e $self->path;
    return $self;
}

# The folder of the store.
sub path { $_[0]{path} }

sub add ($self, $entry, $position = 0) {
    my $id = $entry->id;
    die Guestbook::Error->new("full") if @{ $self->{entries} } >= MAX_ENTRIES;
    push @{ $self->{entries} }, $entry;
    return $self->save($id);
}

sub read_entries {
    my $file = shift;
    open(my $fh, '<', $file) or die "no $file: $!";
    local $_;
    my @rows = map { parse_row($_) } <$fh>;
    close $fh;
    return sort { $a->{at} <=> $b->{at} } @rows;
}

my $format = sub {
    my $row = shift;
    return join "\t", @$row;
};

*list = \&read_entries;

BEGIN {
    $cache{ready} = 1;
}

package Guestbook::Error {
    use overload '""' => sub { shift->message };

    sub message { "guest book: " . $_[0]{text} }
}

package Guestbook::Format;

sub format_row {
    return Guestbook::Store::read_entries(@_);
}

package Guestbook::Page;

has 'plain';
has [qw(first last)] => (is => 'ro');
has ['width', "height"];
around save => sub ($next, $self) { $self->$next };
before 'close' => sub { flush_rows() };
method grow($by) { return $by }

subtest 'keeps rows' => sub {
    ok(1);
};

class Guestbook::Point :isa(Guestbook::Shape) {
    field $x = 1;
    field @marks :param;
    method area($scale) { return $x * $scale }
}

1;

__END__

=head1 AUTHOR

The guest book people.
