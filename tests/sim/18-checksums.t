#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 18-checksums.t - who says that a guest cannot complete checksums: the guest, or its administrator

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start
guest_add 1
back=$(backend_of 1 0)

# arrive NAME HOW KIND OPTION...: frames of that kind with blank checksums, to the guest
arrive() {
    local name=$1 how=$2 kind=$3
    shift 3
    ok "$name" wire_to_guest rx 1 vif1.0 --size 60:1514 --count 1500 --frames "$kind" \
        --csum blank --expect-csum "$how" "$@"
}

# A key that an earlier frontend has written stays, unless it is taken away.
plain=feature-no-csum-offload=,feature-ipv6-csum-offload=1,feature-sg=1

arrive "by default the guest completes them itself" same udp4,tcp4,udp6,tcp6 --features $plain
arrive "it says that it cannot for IPv4" complete udp4,tcp4 --features $plain,feature-no-csum-offload=1
arrive "which leaves IPv6" same udp6,tcp6 --features $plain,feature-no-csum-offload=1
arrive "it does not say that it can for IPv6" complete udp6,tcp6 \
    --features $plain,feature-ipv6-csum-offload=
arrive "which leaves IPv4" same udp4,tcp4 --features $plain,feature-ipv6-csum-offload=
arrive "a guest without scatter-gather, like mini-os, is not asked to" complete \
    udp4,tcp4,udp6,tcp6 --features $plain,feature-sg=

xenstore-write "$back/rx-csum" fill
arrive "rx-csum=fill: the guest gets complete checksums, whatever it says" complete \
    udp4,tcp4,udp6,tcp6 --features $plain
front_start 1 0 --features $plain
has "and no super-frames, whose checksums are never complete" "$(qnetctl stats vif1.0 --json)" \
    '"gso_tcpv4" *: *false,[[:space:]]*"gso_tcpv6" *: *false'
front_stop
arrive "nor does it get others with one queue of many" complete udp4,tcp4,udp6,tcp6 --queues 2 \
    --flows 16 --features $plain
xenstore-write "$back/rx-csum" offload
arrive "rx-csum=offload is the default" same udp4,tcp4,udp6,tcp6 --features $plain
xenstore-write "$back/rx-csum" "never"
arrive "so is a mistake" same udp4,tcp4,udp6,tcp6 --features $plain
is "which is said once" \
    "$(grep -c "rx-csum is 'never', not offload or fill; using offload" "$daemon_log")" 1
xenstore-rm "$back/rx-csum"
arrive "and no key" same udp4,tcp4,udp6,tcp6 --features $plain

daemon_ends
done_testing
