#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# layers.t - the source tree keeps its rules, and every rule can fail

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $top = dirname($0) . '/../..';
my $checker = "$top/scripts/check-layers";

sub run {
    my ($dir) = @_;
    my $output = `$checker $dir 2>&1`;
    return ($? >> 8, $output);
}

# Writes one file into a fresh tree, and runs the checker on that tree.
sub check_source {
    my ($path, $source) = @_;
    my $dir = tempdir(CLEANUP => 1);

    make_path(dirname("$dir/$path"));
    open my $file, '>', "$dir/$path" or die "$path: $!";
    print $file $source;
    close $file;
    return run($dir);
}

sub rejects {
    my ($rule, $path, $source, $line) = @_;
    my ($status, $output) = check_source("hw/xen-net/$path", $source);
    my @findings = split /\n/, $output;
    my $where = $line // 1;

    ok($status == 1 && @findings == 1 && $findings[0] =~ m{^hw/xen-net/\Q$path\E:$where: \Q$rule\E: },
        "$rule: rejected in $path: " . $source =~ s/\n.*//sr)
        or diag("status $status\n$output");
}

sub accepts {
    my ($path, $source, $why) = @_;
    my ($status, $output) = check_source("hw/xen-net/$path", $source);

    ok($status == 0 && $output eq '', "accepted in $path: $why") or diag("status $status\n$output");
}

my ($status, $output) = run($top);
ok($status == 0 && $output eq '', 'the source tree keeps the rules') or diag($output);

# Who sees whom.
my %sees = (
    base    => 'base',
    netif   => 'base netif',
    xen     => 'base xen',
    port    => 'base port',
    data    => 'base netif xen port data',
    control => 'base netif xen port data control',
    tools   => 'base tools',
);
for my $from (sort keys %sees) {
    for my $to (sort keys %sees) {
        my $source = "#include \"$to/a.h\"\n";
        if (grep { $_ eq $to } split / /, $sees{$from}) {
            accepts("$from/a.c", $source, "$from sees $to");
        } else {
            rejects('include', "$from/a.c", $source);
        }
    }
    rejects('include', "$from/a.c", "#include \"options.h\"\n");
}
accepts('main.c', "#include \"options.h\"\n#include \"control/backend.h\"\n", 'main sees everything');
rejects('include', 'main.c', "#include \"tools/a.h\"\n");
rejects('include', 'data/a.c', "#include \"../control/vif.h\"\n");
rejects('include', 'data/a.c', "#include \"guest-tx.h\"\n");
rejects('include', 'data/a.c', "#include \"xenstore-keys.h\"\n");
rejects('include', 'novel/a.c', "int a;\n");
accepts('control/a.c', "#include \"xenstore-keys.h\"\n", 'control reads the schema');

# Xen's headers.
rejects('xen-library', 'data/a.c', "#include <$_.h>\n")
    for qw(xenstore xengnttab xenevtchn xentoollog xenctrl xs libxl xenforeignmemory);
accepts('xen/a.c', "#include <xenstore.h>\n#include <xen/grant_table.h>\n", 'xen/ wraps the libraries');
accepts('netif/a.h', "#include <xen/io/netif.h>\n#include <xen/xen.h>\n", 'public headers');
accepts('control/a.c', "#include <xen/io/xenbus.h>\n", 'the states of a device');
rejects('xen-header', 'data/a.c', "#include <xen/io/netif.h>\n");
rejects('xen-header', 'control/a.c', "#include <xen/io/netif.h>\n");

# Shared rings.
rejects('sring', 'data/a.c', "int f(void)\n{\n    return ring->sring->rsp_prod;\n}\n", 3);
rejects('sring', 'netif/slots.c', "int a = sring->req_prod;\n");
accepts('netif/ring.h', "int a = ring->sring->req_prod;\n", 'the one file that may');
accepts('data/a.c', "/* ring->sring-> is for netif/ring.h */\nchar *a = \"sring->\";\n", 'words about it');

# Allocation.
for my $call ('g_new0(int, 1)', 'g_new (int, 1)', 'g_malloc(4)', 'malloc(4)', 'calloc(1, 4)', 'g_strdup(b)',
    'g_try_malloc0(4)', 'realloc(b, 4)', 'posix_memalign(&b, 4, 4)', 'g_array_append_vals(b, c, 1)') {
    rejects('allocation', 'data/a.c', "int f(void)\n{\n    return $call;\n}\n", 3);
}
rejects('allocation', 'netif/a.c', "void a_create(void)\n{\n}\n\nvoid b(void)\n{\n    malloc(1);\n}\n", 7);
rejects('allocation', 'data/a.c', "void a_create_now(void)\n{\n    malloc(1);\n}\n", 3);
accepts('data/a.c', "struct A *a_create(int a,\n                   int b)\n{\n    return g_new0(A, 1);\n}\n",
    'in a constructor');
accepts('data/a.c', "static A *a_new(void)\n{\n    if (x) {\n    }\n    return malloc(1);\n}\n",
    'in a constructor');
accepts('control/a.c', "void a(void)\n{\n    malloc(1);\n}\n", 'the control plane allocates');

# What lower layers know.
for my $layer (qw(base netif data)) {
    rejects('main-loop', "$layer/a.c", "GMainLoop *a;\n");
    rejects('main-loop', "$layer/a.c", "GMainContext *a;\n");
    rejects('main-loop', "$layer/a.c", "GSource *a;\n");
    rejects('main-loop', "$layer/a.c", "int a = g_timeout_add(1, b, c);\n");
    rejects('xenstore', "$layer/a.c", "char *a = xs_read(h, t, p, n);\n");
    rejects('xenstore', "$layer/a.c", "struct XnStore *a;\n");
    rejects('options', "$layer/a.c", "GOptionContext *a;\n");
    rejects('options', "$layer/a.c", "struct XnOptions *a;\n");
}
accepts('control/a.c', "GMainLoop *a;\nstruct XnStore *b;\n", 'the control plane knows both');

# Directions.
rejects('direction', 'data/a.c', "int $_;\n") for qw(tx rx tx_count RX_MAX XnTx XnQueueRx queue_tx rx0 wire_tx);
rejects('direction', 'base/a.c', "int guest_tx, rx_bytes;\n");
accepts('data/a.c', "int $_;\n", $_) for qw(
    guest_tx guest_rx_count XN_GUEST_TX_MAX XnGuestRxEntry netif_tx_request_t netif_rx_back_ring_t NETRXF_data_validated
    NETTXF_csum_blank XEN_NETIF_EXTRA_TYPE_GSO NETIF_RSP_OKAY text context prefix ctx next_text xrx);
accepts('data/a.c', "/* bare tx */\nchar *a = \"tx-ring-ref\";\n", 'words and key names');

# Comments, dead code, promises.
rejects('line-comment', 'base/a.c', "int a; // a\n");
accepts('base/a.c', "char *a = \"http://b\"; /* http://b */\n", 'slashes that begin no comment');
rejects('if-0', 'base/a.c', "#if 0\n#endif\n");
accepts('base/a.c', "#if 01\n#endif\n", 'another condition');
rejects('marker', 'base/a.c', "/* $_: later */\n") for 'TO' . 'DO', 'FIX' . 'ME', 'XX' . 'X';
accepts('base/a.c', "char *a = \"/tmp/XX" . "XXXX\";\n", 'a template of mktemp');
rejects('length', 'base/a.c', "int a;\n" x 701, 700);
accepts('base/a.c', "int a;\n" x 700, '700 lines');

# Rules for all C files hold outside the daemon, too; its own rules do not.
($status, $output) = check_source('tests/a/a.c', "int tx = 1; // a\n");
ok($status == 1 && $output =~ m{^tests/a/a\.c:1: line-comment: [^\n]*\n$}, 'tests are looked at, too')
    or diag($output);

done_testing();
