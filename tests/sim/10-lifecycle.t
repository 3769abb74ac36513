#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 10-lifecycle.t - vifs come, connect, reconnect, fail and go, and nothing is left behind
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] || exec "$here/../xensim/xensim-run" --tap "${BASH_SOURCE[0]}" --inside

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/sim/daemon.sh
. "$here/daemon.sh"

ip link add xenbr0 type bridge
ip link set xenbr0 up

# --- what the daemon says when it cannot start ---

# refuses NAME PATTERN COMMAND...: exit status 1, one line that matches.
refuses() {
    local name=$1 pattern=$2 output status=0
    shift 2
    output=$(timeout 10 "$@" 2>&1 </dev/null) || status=$?
    if [ "$status" -ne 1 ] || [ "$(wc -l <<<"$output")" -ne 1 ]; then
        tap_point 1 "$name" "status $status, said: $output"
    else
        has "$name" "$output" "$pattern"
    fi
}

refuses "an unknown option" "--frob" qnetback --frob
refuses "an argument too many" "unexpected 'x'" qnetback x
refuses "no workers" "--workers is 0, not 1" qnetback --workers 0
refuses "workers that are no number" "--workers" qnetback --workers two
refuses "no queues" "--max-queues is 0, not 1..8" qnetback --max-queues 0
refuses "more queues than a vif can have" "--max-queues is 9, not 1..8" qnetback --max-queues 9
refuses "unknown buffers" "--buffers is 'huge'" qnetback --buffers huge
refuses "an unknown log level" "--log-level is 'loud'" qnetback --log-level loud
refuses "a relative control socket" "absolute" qnetback --control ctl.sock
refuses "no xenstore" "no Xen here: cannot reach xenstored" env XENSTORED_PATH=/nonexistent qnetback
refuses "no grant device" "/dev/xen/gntdev" env XENSIM_FAIL=gnttab_open:1+:ENOENT qnetback
refuses "no permission" "run as root" setpriv --reuid 65534 --clear-groups qnetback
refuses "no /dev/net/tun" "/dev/net/tun.*load the module tun" \
    unshare --mount sh -c 'mount -t tmpfs tmpfs /dev/net && exec qnetback'
refuses "the kernel's netback is loaded" "rmmod xen_netback.*install xen-netback /bin/false" \
    unshare --mount sh -c 'mount -t tmpfs tmpfs /sys/module && mkdir /sys/module/xen_netback && exec qnetback'
refuses "beside the kernel's netback, which would take new vifs" \
    "echo 0 > /sys/bus/xen-backend/drivers_autoprobe" unshare --mount sh -c '
        mount -t tmpfs tmpfs /sys/bus && mkdir /sys/bus/xen-backend &&
        echo 1 >/sys/bus/xen-backend/drivers_autoprobe && exec qnetback --beside-netback'
fails "all these left no directory" test -e /run/qnetback
refuses "a journal below a directory that is not there" "cannot create the directory /nonexistent/x/journal: No such" \
    qnetback --journal /nonexistent/x/journal
refuses "a control socket there" "/nonexistent/x/ctl.sock" qnetback --control /nonexistent/x/ctl.sock
fails "these made no directory, either" test -e /nonexistent
is "--version" "$(qnetback --version | sed 's/[0-9.]*$/N/')" "qnetback N"
has "--help has its dots in UTF-8" "$(LC_ALL=C.UTF-8 qnetback --help)" "qnetback .OPTION…"
has "--help says what it is" "$(qnetback --help)" "in the place.of the kernel's xen-netback"

# A journal on a disk, where the build is on one.
disk=$(mktemp -d "$BUILD/journal.XXXXXX")
if [[ $(stat --file-system --format %T "$disk") = @(tmpfs|ramfs) ]]; then
    echo "# the build is not on a disk: no journal tried there"
else
    daemon_start --journal "$disk/journal"
    ok "a journal on a disk is used" test -d "$disk/journal"
    has "and warned of" "$(cat "$daemon_log")" "warning: the journal's directory $disk/journal is not on a tmpfs"
    daemon_stop || true
    : >"$daemon_log"
fi
rm -rf "$disk"

# --- one vif ---

daemon_start --max-queues 4
refuses "a second daemon" "another qnetback is running" qnetback
descriptors_empty=$(descriptors)
store_before=$(xenstore-ls -f)
toolstack domain-add 1

toolstack vif-write 1 0
ok "a vif whose guest is silent reaches state 2" backend_becomes 1 0 2 5
is "its interface is there" "$(taps)" "vif1.0 "
is "with the address of Xen's backend interfaces" "$(cat /sys/class/net/vif1.0/address)" \
    fe:ff:ff:ff:ff:ff
for feature in feature-rx-copy=1 feature-rx-flip=0 feature-sg=1 feature-gso-tcpv4=1 \
    feature-gso-tcpv6=1 feature-no-csum-offload=0 feature-ipv6-csum-offload=1 \
    feature-split-event-channels=1; do
    is "$feature" "$(xenstore-read "$(backend_of 1 0)/${feature%=*}")" "${feature#*=}"
done

xensim as 1 qnetfront --mode idle --vif 0 --wait 20 >/dev/null 2>&1 &
front_pid=$!
ok "the frontend says Connected" store-wait "$(frontend_of 1 0)/state" 4 10
fails "state 4 waits for the hotplug script" backend_becomes 1 0 4 1
xenstore-write "$(backend_of 1 0)/hotplug-status" almost-connected
fails "and for nothing but the word connected" backend_becomes 1 0 4 1
toolstack vif-remove 1 0
front_stop
toolstack vif-add 1 0
connects "a frontend connects" 1 0
is "two pages are mapped" "$(mapped)" 2
ok "the interface has a carrier" wait_for 5 grep -q 1 /sys/class/net/vif1.0/carrier
front_stop
ok "it closes" backend_becomes 1 0 6
is "nothing is mapped" "$(mapped)" 0
is "the interface has no carrier" "$(cat /sys/class/net/vif1.0/carrier)" 0
connects "it connects again, with one event channel" 1 0 --event-channels single
front_stop

# hotplug-status is written once in a vif's life: reconnecting must not depend on it.
reconnect_often() {
    local try
    for ((try = 0; try < 30; try++)); do
        front_start 1 0 || return 1
        front_stop
        # As a guest does: the next one would take this one's state 4 for its own.
        backend_becomes 1 0 6 || return 1
    done
}
backend_becomes 1 0 6
descriptors_before=$(descriptors)
ok "30 reconnects" reconnect_often
ok "and it is closed" backend_becomes 1 0 6
is "no descriptor leaks" "$(descriptors)" "$descriptors_before"
is "no mapping leaks" "$(mapped)" 0

# --- a frontend that dies, or starts over ---

front_start 1 0
front_kill
xenstore-write "$(frontend_of 1 0)/state" 1
ok "a frontend that starts over without closing gets state 2" backend_becomes 1 0 2
is "and its old pages are unmapped" "$(mapped)" 0
connects "then it connects" 1 0
front_stop

# --- removal ---

front_start 1 0
# (The watch's first line says that it is there; the last one, that all before has been told.)
xenstore-watch "$(backend_of 1 0)" >/run/changes &
watch_pid=$!
wait_for 5 test -s /run/changes
xenstore-write "$(backend_of 1 0)/online" 0 "$(backend_of 1 0)/state" 5
ok "a live vif that is to go closes" backend_becomes 1 0 6
xenstore-write "$(backend_of 1 0)/last" 1
wait_for 5 grep -q /last /run/changes
kill $watch_pid
is "its state is written twice, by the toolstack and by the daemon" "$(grep -c /state$ /run/changes)" 2
ok "detaching it" toolstack vif-remove 1 0
is "its directory is gone" "$(backend_state 1 0)" gone
ok "its interface too" wait_for 5 test ! -e /sys/class/net/vif1.0
front_stop

toolstack vif-add 1 0
front_start 1 0
kill -STOP "$front_pid"
start=$EPOCHREALTIME
ok "detaching a vif whose frontend is silent" toolstack vif-remove 1 0
took=$(awk "BEGIN { print int($EPOCHREALTIME - $start) }")
ok "takes less than the toolstack's 10 s" test "$took" -lt 9
is "nothing is mapped" "$(mapped)" 0
kill -CONT "$front_pid"
front_stop

toolstack vif-add 1 0
front_start 1 0
start=$EPOCHREALTIME
ok "forced removal of a live vif" toolstack vif-remove 1 0 --force
took=$(awk "BEGIN { print int($EPOCHREALTIME - $start) }")
ok "waits for nobody" test "$took" -lt 3
front_stop

toolstack vif-add 1 0
ok "removing a vif that was never connected" toolstack vif-remove 1 0

toolstack vif-add 1 0
front_start 1 0
xenstore-rm "$(backend_of 1 0)"
ok "a directory that is just deleted: the interface goes" wait_for 5 test ! -e /sys/class/net/vif1.0
is "it is not made again" "$(backend_state 1 0)" gone
is "and nothing is mapped" "$(mapped)" 0
front_stop
xenstore-rm "$(frontend_of 1 0)"
xenstore-rm /libxl/1/device/vif/0

# --- frontends that write nonsense ---

toolstack vif-add 1 0
toolstack vif-add 1 1
front_start 1 1
other_pid=$front_pid

# bad_key KEY=VALUE PATTERN [OPTION...]: is refused with the reason.
bad_key() {
    local key=$1 pattern=$2
    shift 2
    # The last frontend's keys are still there.
    xenstore-rm "$(frontend_of 1 0)/${key%=*}" 2>/dev/null || true
    refused "$key" 1 0 "$pattern" --features "$key" "$@"
    is "$key: the reason stands where the kernel's drivers put it" \
        "$(xenstore-read /local/domain/0/error/backend/vif/1/0/error)" "$(backend_error 1 0)"
    is "$key: nothing is mapped but the other vif" "$(mapped)" 2
}

bad_key tx-ring-ref= "tx-ring-ref is missing"
bad_key rx-ring-ref= "rx-ring-ref is missing"
bad_key tx-ring-ref=8x "tx-ring-ref is '8x', not a number 0..4294967295"
bad_key rx-ring-ref=4294967296 "rx-ring-ref is '4294967296'"
bad_key tx-ring-ref=60000 "guest_tx ring.*60000"
bad_key event-channel-tx= "event-channel-tx is missing"
bad_key event-channel-rx=0 "event-channel-rx is '0', not a number 1..131071"
bad_key event-channel=none "event-channel is 'none'" --event-channels single
bad_key event-channel-tx=1000 "event channel.*1000"
bad_key multi-queue-num-queues=0 "multi-queue-num-queues is '0', not a number 1..8"
bad_key multi-queue-num-queues=8 "multi-queue-num-queues is 8, but 4 is the most"
bad_key multi-queue-num-queues=-1 "multi-queue-num-queues is '-1'"
bad_key request-rx-copy=0 "request-rx-copy is not 1"
bad_key request-rx-copy= "request-rx-copy is not 1"
bad_key feature-sg=yes "feature-sg is 'yes', not 0 or 1"

connects "after all that, a sound frontend connects" 1 0
is "and the reason is gone" "$(backend_error 1 0)" none
fails "in both places" xenstore-exists /local/domain/0/error
front_stop

# What fails on the host's side, at each step of connecting.
for step in evtchn_open:+1 map:+1 map:+2 bind:+1 bind:+2; do
    xensim fail "$daemon_pid" "$step"
    refused "$step fails" 1 0 "cannot connect: .+"
    is "$step fails: all is undone" "$(mapped)" 2
    xensim fail "$daemon_pid" ''
    connects "$step fails: then it connects" 1 0
    front_stop
done

for state in 2 8 9 word; do
    front_start 1 0
    xensim as 1 xenstore-write "$(frontend_of 1 0)/state" "$state"
    ok "frontend state $state: closed" backend_becomes 1 0 6
    has "frontend state $state: the reason" "$(backend_error 1 0)" "state"
    front_kill
    xensim as 1 xenstore-write "$(frontend_of 1 0)/state" 6
    connects "frontend state $state: then it connects" 1 0
    front_stop
done

is "the other vif did not notice" "$(backend_state 1 1)" 4
ok "the daemon lives" daemon_lives
kill -TERM "$other_pid"
wait "$other_pid" 2>/dev/null || true

# --- a toolstack that writes nonsense ---

toolstack vif-write 1 7 mac=nonsense
ok "a vif without a sound mac reaches state 2" backend_becomes 1 7 2
xenstore-write "$(backend_of 1 7)/hotplug-status" connected
refused "but does not connect" 1 7 "mac is 'nonsense', not a MAC address"
ok "it can be removed" toolstack vif-remove 1 7

back=$(backend_of 1 8)
xenstore-write "$back/frontend" "$(frontend_of 1 8)" "$back/frontend-id" 2 "$back/online" 1 "$back/state" 1
ok "a directory in the wrong place is closed" backend_becomes 1 8 6
has "with the reason" "$(backend_error 1 8)" "frontend-id is 2 in the directory of domain 1"
xenstore-rm "$back"
xenstore-write /local/domain/0/backend/vif/1/x/state 1 /local/domain/0/backend/vif/one/0/state 1
ok "names that are no numbers are left alone" daemon_lives
xenstore-rm /local/domain/0/backend/vif/1/x
xenstore-rm /local/domain/0/backend/vif/one

back=$(backend_of 1 9)
xenstore-write "$back/state" 1
xenstore-write "$back/online" 1
xenstore-write "$back/frontend" "$(frontend_of 1 9)"
fails "a vif that is written piece by piece is waited for" backend_becomes 1 9 2 1
xenstore-write "$back/frontend-id" 1
ok "and served when it is whole" backend_becomes 1 9 2
xenstore-rm "$back"

ip link add vif1.10 type bridge
toolstack vif-write 1 10
ok "a vif whose interface cannot be made is closed" backend_becomes 1 10 6
has "with the reason" "$(backend_error 1 10)" "vif1.10"
ip link del vif1.10
ok "it can be removed" toolstack vif-remove 1 10

# --- several guests, and the end of one ---

toolstack domain-add 2
toolstack vif-add 2 0
front_start 1 0
first_pid=$front_pid
front_start 2 0
second_pid=$front_pid
ok "a guest is destroyed" toolstack domain-destroy 1
others_only() { [ "$(taps)" = "vif2.0 " ]; }
ok "the interfaces of the others stay" wait_for 10 others_only
is "and their connections" "$(backend_state 2 0)" 4
wait "$first_pid" 2>/dev/null || true

# --- the daemon ends, and comes back ---

daemon_stop && status=0 || status=$?
is "the daemon ends" "$status" 0
is "the vif is closed in order" "$(backend_state 2 0)" 6
is "its interface stays in the bridge, for the next daemon" "$(taps)" "vif2.0 "
ok "(in the bridge)" in_bridge vif2.0
is "the control socket is gone" "$(ls /run/qnetback/*.sock 2>/dev/null)" ""
has "qnetctl says so" "$(qnetctl list 2>&1 || true)" "is qnetback running"
wait "$second_pid" 2>/dev/null || true
daemon_start
connects "the next daemon connects it without the toolstack" 2 0
ok "in the bridge still" in_bridge vif2.0
front_stop

daemon_kill
toolstack domain-add 3
toolstack vif-write 3 0
ok "without a daemon, a closed vif can be removed" toolstack vif-remove 2 0
daemon_start
ok "the daemon serves what came while it was away" backend_becomes 3 0 2
ok "and removes the interface of what went" wait_for 5 test ! -e /sys/class/net/vif2.0
toolstack domain-destroy 2
toolstack domain-destroy 3

# --- beside the kernel's netback ---

daemon_stop || true
mount -t tmpfs tmpfs /sys/bus
mkdir -p /sys/bus/xen-backend/devices/vif-5-0/driver /sys/bus/xen-backend/devices/vif-5-1
echo 0 >/sys/bus/xen-backend/drivers_autoprobe
daemon_start --beside-netback
toolstack domain-add 5
toolstack vif-write 5 0
toolstack vif-write 5 1
ok "a vif that the kernel knows but does not serve is served" backend_becomes 5 1 2
is "one that it serves is left alone" "$(backend_state 5 0) $(taps)" "1 vif5.1 "
daemon_stop || true
rmdir /sys/bus/xen-backend/devices/vif-5-0/driver
daemon_start --beside-netback
ok "until it serves it no longer" backend_becomes 5 0 2
toolstack domain-destroy 5
umount /sys/bus

# --- nothing is left ---

ok "no interface is left" wait_for 5 no_taps
is "nor a node" "$(diff <(xenstore-ls -f) - <<<"$store_before" || true)" ""
is "nothing is mapped" "$(mapped)" 0
ok "descriptors are as at the start" wait_for 5 test "$(descriptors)" -le "$descriptors_empty"

# --- xenstored dies: the last thing, since this host has no other ---

toolstack domain-add 4
toolstack vif-add 4 0
connects "one more guest" 4 0
kill "$(cat /run/xen/xenstored.pid)"
ok "the daemon notices the end of xenstored" wait_for 10 grep -q "connection to xenstored is lost" "$daemon_log"
is "and keeps the guest connected" "$(mapped)" 2
ok "it answers" daemon_lives
front_kill
daemon_stop && status=0 || status=$?
is "the daemon ends" "$status" 0
is "and said nothing of a sanitizer" "$(grep -E 'ERROR: |runtime error' "$daemon_log" || true)" ""

done_testing
