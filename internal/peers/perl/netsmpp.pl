#!/usr/bin/perl
# Net::SMPP as a client or an SMSC: perl netsmpp.pl client|smsc HOST:PORT. It takes requests of
# the tests, one line of JSON each, and prints the events that answer them.
use strict;
use warnings;
use Encode;
use IO::Select;
use JSON::PP;
use Net::SMPP;

my ($role, $address) = @ARGV;
my ($host, $port) = split /:/, $address;
my $json = JSON::PP->new->utf8;
my ($session, $listener, %asked, %waiting, $keys, $input);
my $wait = IO::Select->new(\*STDIN);
$| = 1;
binmode STDIN;

sub emit { print $json->encode({@_}), "\n" }

# body returns the fields of a message for the library, which wants octets.
sub body {
    my $m = shift;
    my $coding = $m->{coding} || 0;
    my $text = defined $m->{octets} ? pack('H*', $m->{octets})
        : encode($coding == 8 ? 'UTF-16BE' : 'gsm0338', defined $m->{text} ? $m->{text} : '');
    $text = pack('H*', $m->{udh}) . $text if $m->{udh};
    my @fields = (
        source_addr => $m->{from} || '', data_coding => $coding, esm_class => $m->{class} || 0,
        registered_delivery => $m->{registered} || 0, validity_period => $m->{validity} || '', async => 1,
    );
    push @fields, destination_addr => $m->{to} if $m->{to};
    push @fields, $m->{payload} ? (short_message => '', message_payload => $text) : (short_message => $text);
    my $tlvs = $m->{tlvs} || {};
    push @fields, hex($_) => hex($tlvs->{$_}) for keys %$tlvs; # it takes numbers
    return @fields;
}

# seen returns what the library has made of a message.
sub seen {
    my $p = shift;
    my $octets = $p->{short_message};
    $octets = $p->{message_payload} if !length($octets // '');
    $octets //= '';
    my $text = ($p->{esm_class} || 0) & 0x40 ? substr($octets, ord($octets) + 1) : $octets;
    return (
        from => $p->{source_addr}, to => $p->{destination_addr}, octets => unpack('H*', $octets), class => $p->{esm_class},
        coding => $p->{data_coding}, text => decode(($p->{data_coding} || 0) == 8 ? 'UTF-16BE' : 'gsm0338', $text),
    );
}

sub send_request { my ($r, $command, @fields) = @_; $asked{$session->$command(@fields, async => 1)} = $r->{n} }

my %client = (
    bind => sub {
        my $r = shift;
        $session = Net::SMPP->new_connect($host, port => $port, smpp_version => 0x34) or die "cannot connect: $!";
        send_request($r, "bind_$r->{kind}", system_id => $r->{name}, password => $r->{password}, interface_version => $r->{version});
    },
    submit => sub { my $r = shift; send_request($r, 'submit_sm', body($r)) },
    data => sub {
        my $r = shift;
        send_request($r, 'data_sm', source_addr => $r->{from}, destination_addr => $r->{to}, message_payload => $r->{text});
    },
    multi => sub {
        my $r = shift;
        send_request($r, 'submit_multi', body($r), destination_addr => $r->{many}, map({ $_ => [(1) x @{$r->{many}}] } qw(dest_flag dest_addr_ton dest_addr_npi)));
    },
    query => sub { my $r = shift; send_request($r, 'query_sm', message_id => $r->{id}, source_addr => $r->{from}) },
    cancel => sub {
        my $r = shift;
        send_request($r, 'cancel_sm', message_id => $r->{id}, source_addr => $r->{from}, destination_addr => $r->{to});
    },
    replace => sub {
        my $r = shift;
        send_request($r, 'replace_sm', message_id => $r->{id}, source_addr => $r->{from}, short_message => $r->{text});
    },
    enquire => sub { send_request(shift, 'enquire_link') },
    unbind => sub { send_request(shift, 'unbind') },
);

my %smsc = (
    answer => sub {
        my $r = shift;
        my ($conn, $p, $command) = @{delete $waiting{$r->{key}}};
        my @fields = (seq => $p->{seq}, status => $r->{status} || 0);
        push @fields, message_id => $r->{id} || '' if $command ne 'cancel_sm';
        push @fields, message_state => $r->{state} || 0, final_date => '', error_code => 0 if $command eq 'query_sm';
        my $answer = "${command}_resp";
        $conn->$answer(@fields);
    },
    deliver => sub { my $r = shift; send_request($r, 'deliver_sm', body($r)) },
    enquire => sub { send_request(shift, 'enquire_link') },
    close => sub { $wait->remove($session); close $session },
);

# take handles a PDU.
sub take {
    my ($conn, $p) = @_;
    my $cmd = $p->{cmd};
    if ($cmd & 0x80000000) {
        my $n = delete $asked{$p->{seq}} or return;
        emit(event => 'done', n => $n, status => $p->{status}, id => $p->{message_id}, state => ($p->{message_state} || 0) + 0);
    } elsif ($cmd == Net::SMPP::CMD_enquire_link) {
        $conn->enquire_link_resp(seq => $p->{seq});
    } elsif ($cmd == Net::SMPP::CMD_unbind) {
        $conn->unbind_resp(seq => $p->{seq});
        emit(event => 'unbind');
    } elsif ($cmd == Net::SMPP::CMD_bind_transceiver) {
        $session = $conn;
        $conn->bind_transceiver_resp(seq => $p->{seq}, system_id => 'perl');
        emit(event => 'bound', name => $p->{system_id}, password => $p->{password});
    } elsif ($cmd == Net::SMPP::CMD_deliver_sm || $role eq 'client' && $cmd == Net::SMPP::CMD_data_sm) {
        my $command = $cmd == Net::SMPP::CMD_deliver_sm ? 'deliver_sm' : 'data_sm';
        my $answer = "${command}_resp";
        $conn->$answer(seq => $p->{seq}, message_id => '');
        emit(event => 'deliver', command => $command, seen($p));
    } else {
        my %names = (Net::SMPP::CMD_submit_sm() => 'submit_sm', Net::SMPP::CMD_data_sm() => 'data_sm', Net::SMPP::CMD_query_sm() => 'query_sm',
            Net::SMPP::CMD_cancel_sm() => 'cancel_sm');
        my $command = $names{$cmd} or return;
        $waiting{++$keys} = [$conn, $p, $command];
        emit(event => 'submit', command => $command, key => "$keys", id => $p->{message_id}, $command =~ /^(query|cancel)/ ? () : seen($p));
    }
}

# do_lines carries out the requests that have arrived.
sub do_lines {
    my $functions = shift;
    sysread(STDIN, $input, 65536, length($input // '')) or exit 0;
    while ($input =~ s/^(.*)\n//) {
        my $r = $json->decode($1);
        eval { ($functions->{$r->{do}} || die "not known\n")->($r); 1 } or emit(event => 'done', n => $r->{n}, error => "$r->{do}: $@");
    }
}

my $functions = $role eq 'client' ? \%client : \%smsc;
if ($role eq 'smsc') {
    $listener = Net::SMPP->new_listen($host, port => $port, smpp_version => 0x34) or die "cannot listen: $!";
    $wait->add($listener);
    emit(event => 'listening');
}
local $SIG{PIPE} = 'IGNORE';
local $SIG{__WARN__} = sub { print STDERR @_ if $_[0] !~ /premature eof/ };
while (1) {
    $wait->add($session) if $role eq 'client' && $session && $session->opened && !$wait->exists($session);
    for my $ready ($wait->can_read) {
        if ($ready == \*STDIN) {
            do_lines($functions);
        } elsif ($listener && $ready == $listener) {
            $wait->add($listener->accept);
        } elsif (my $p = $ready->opened && $ready->read_pdu) {
            take($ready, $p);
        } else {
            $wait->remove($ready);
            close $ready;
        }
    }
}
