#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 22-offloads.t - checksums and super-frames are right for whatever the two ends have agreed on
#
# Frames of known content first, of which the receiver checks each checksum against what the flags say
# of it, then Linux's TCP with guests that can do less and less.

# shellcheck source=tests/sim/tcp.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp.sh"

max_mtu=65521
megabytes=64
step=61
if [ -n "${SANITIZE-}" ]; then
    megabytes=16
    step=251
fi
# No bridge is to know them from other frames.
addresses=(--to 02:72:00:00:00:02 --from 02:72:00:00:00:01)
# The shortest frame that every kind of headers fits in, with two VLAN tags.
sizes=86:9000:$step

# carried NAME RECEIVER-FIELD VALUE: about the last transfer
carried() {
    is "$1" "$(field offload.receiver "$2")" "$3"
}

frames() {
    field offload.sender frames_sent
}

quiet_network
bridge xenbr0 $max_mtu
daemon_start
guest_add 1 mtu=$max_mtu
guest_add 2 mtu=$max_mtu
ip link add wire0 mtu $max_mtu type veth peer name wire1 mtu $max_mtu
ip link set wire0 master xenbr0 up
ip link set wire1 up

# --- from the guest: blank checksums stay blank, and whoever completes them finds the right place ---

for vlan in 0 1 2; do
    for kind in udp4 tcp4 udp6 tcp6; do
        name="guest_tx, $kind, $vlan VLAN tags"
        options=(--frames "$kind" --vlan "$vlan" --size "$sizes" "${addresses[@]}")
        ok "$name: checksums pass as they are" \
            guest_to_wire offload 1 vif1.0 "${options[@]}" --csum mixed --expect-csum same
        ethtool -K wire0 tx off >/dev/null
        ok "$name: blank ones are completed by an interface that must" \
            guest_to_wire offload 1 wire1 "${options[@]}" --csum blank --expect-csum complete
        carried "$name: all of them" frames_csum_complete "$(frames)"
        ethtool -K wire0 tx on >/dev/null
    done
done
ok "guest_tx: frames that are not IP" \
    guest_to_wire offload 1 vif1.0 --frames raw --csum blank --size 14:9000:$step
for kind in tcp4 tcp6; do
    for vlan in 0 1 2; do
        ok "guest_tx: super-frames, $kind, $vlan VLAN tags" \
            guest_to_wire offload 1 vif1.0 --frames $kind --gso 1400 --vlan $vlan --size 1600:65535:997
        carried "all of them are" frames_gso "$(frames)"
    done
done

# --- to the guest: what it has asked for, and nothing else ---

# to_guest NAME FEATURES OPTION...: also with VLAN tags, behind which no guest completes a checksum
to_guest() {
    local name=$1 features=$2 vlan
    shift 2
    ok "guest_rx, $name" wire_to_guest offload 1 vif1.0 --features "$features" --size $sizes "$@"
    for vlan in 1 2; do
        ok "guest_rx, $name; $vlan VLAN tags: complete" wire_to_guest offload 1 vif1.0 \
            --features "$features" --vlan $vlan --size $sizes "$@" --expect-csum complete
    done
}

none=feature-no-csum-offload=1,feature-ipv6-csum-offload=0
for kind in udp tcp; do
    to_guest "$kind, all offloads: as they are" feature-sg=1 --frames ${kind}4,${kind}6 --expect-csum same
    to_guest "$kind, no checksum offload: complete" $none --frames ${kind}4,${kind}6 --csum blank \
        --expect-csum complete
    to_guest "$kind, only IPv4's: IPv4" feature-ipv6-csum-offload= --frames ${kind}4 --csum blank \
        --expect-csum same
    to_guest "$kind, only IPv4's: IPv6" feature-ipv6-csum-offload= --frames ${kind}6 --csum blank \
        --expect-csum complete
    to_guest "$kind, only IPv6's: IPv4" feature-no-csum-offload=1 --frames ${kind}4 --csum blank \
        --expect-csum complete
    to_guest "$kind, only IPv6's: IPv6" feature-no-csum-offload=1 --frames ${kind}6 --csum blank \
        --expect-csum same
done
ok "guest_rx: super-frames" wire_to_guest offload 1 vif1.0 --frames tcp4,tcp6 --gso 1400 --size 1600:65535:997
carried "all of them are" frames_gso "$(frames)"

# The segments are no longer frames that a sink knows: they are counted.
counted_packets() {
    [ "$(since vif1.0 guest_rx_packets)" -ge "$1" ]
}
start idle xensim as 1 qnetfront --json --mode idle
ok "a guest that takes whatever comes" lib_link_ready 1 vif1.0
mark vif1.0
ok "guest_rx: tagged super-frames" qnetfront --mode wire-send --interface vif1.0 --frames tcp4 \
    --gso 1400 --vlan 1 --size 30000 --count 10
segments=$((10 * ((30000 - 58 + 1399) / 1400)))
ok "come in segments" wait_for 10 counted_packets $segments
is "all of them are cut" "$(since vif1.0 guest_rx_segmented)" 10
ok "the guest goes" finish idle TERM
is "it saw as many segments as there must be" "$(field idle guest_rx_packets)" $segments
is "of the right size" "$(field idle guest_rx_length_most)" $((58 + 1400))

# Scatter-gather is what lets a packet have more than one slot.
ok "guest_rx without sg: up to a page" \
    wire_to_guest offload 1 vif1.0 --features feature-sg=0 --size 14:4096:3
carried "without sg: one slot each" guest_rx_slots_most 1
mark vif1.0
fails "guest_rx without sg: nothing longer" wire_to_guest offload 1 vif1.0 --features feature-sg=0 \
    --size 4097:4500:5 --window 1000 --frames raw
carried "no part of it either" guest_rx_packets 0
is "it is dropped and counted" "$(since vif1.0 guest_rx_drop_too_big)" "$(frames)"
ok "and the short ones go on" wire_to_guest offload 1 vif1.0 --features feature-sg=0 --size 64 --count 100

# --- from guest to guest ---

ok "guest to guest: everything as it is" guest_to_guest offload 1 2 --gso 1400 --size 86:65535:$step \
    --expect-csum same "${addresses[@]}"
ok "guest to a guest without checksum offload" guest_to_guest offload 1 2 --csum blank \
    --features $none --size $sizes --expect-csum complete "${addresses[@]}"
ip link del wire0

# --- TCP with guests that can do less ---

# poor NAME MTU LONGEST FEATURES: both directions, the host's stack has every offload
poor() {
    local name=$1 mtu=$2 longest=$3 features=$4 version
    toolstack vif-remove 1 0
    toolstack vif-add 1 0 "mtu=$mtu"
    ip link set xenbr0 mtu "$mtu"
    ok "TCP, $name: connects" guest_connect 1 --features "$features"
    for version in 4 6; do
        ok "TCP, $name: to the guest, IPv$version" sends 0 1 $version
        ok "TCP, $name: from the guest, IPv$version" sends 1 0 $version
    done
    is "TCP, $name: the guest saw no wrong checksum" \
        "$(in_domain 1 nstat -asz TcpInCsumErrors | awk '/^Tcp/ { print $2 }')" 0
    ok "TCP, $name: disconnects" finish front1 TERM
    between "TCP, $name: frames of up to $longest bytes" \
        $((longest - 1000)) "$(field front1 guest_rx_length_most)" "$longest"
}

ip link del xenbr0
tcp_host 1500
ok "content to send" make_content $megabytes
no_gso=feature-gso-tcpv4=0,feature-gso-tcpv6=0
poor "all features" 1500 65535 feature-sg=1
poor "no GSO: never more than the MTU" 1500 1514 $no_gso
poor "GSO for IPv4 only" 1500 65535 feature-gso-tcpv6=0
poor "no checksum offload, so no GSO" 1500 1514 $none
poor "no sg, so no GSO" 1500 1514 feature-sg=0
is "in one slot each" "$(field front1 guest_rx_slots_most)" 1
poor "no feature at all" 1500 1514 \
    "feature-sg=,feature-gso-tcpv4=,feature-gso-tcpv6=,feature-no-csum-offload=1,feature-ipv6-csum-offload="
poor "no GSO, MTU 9000" 9000 9014 $no_gso
is "in three slots" "$(field front1 guest_rx_slots_most)" 3

daemon_ends
done_testing
