#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 24-quirks.t - frontends that do less than Linux's: few buffers, no events, one channel, no features

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start
guest_add 1

# A key that an earlier frontend has written stays, unless it is taken away.
plain=feature-rx-notify=1,feature-sg=1,feature-gso-tcpv4=1,feature-gso-tcpv6=1
plain+=,feature-ipv6-csum-offload=1,feature-no-csum-offload=

both() { # NAME OPTION...
    local name=$1
    shift
    ok "$name, to the guest" wire_to_guest rx 1 vif1.0 --count 500 --size 60:1514 "$@"
    ok "$name, to the wire" guest_to_wire tx 1 vif1.0 --count 500 --size 60:1514 "$@"
}

both "iPXE: 32 buffers" --rx-slots 32 --features $plain,feature-no-csum-offload=1
both "one buffer" --rx-slots 1 --features $plain
both "FreeBSD: one event channel" --event-channels single --features $plain
both "mini-os: no features at all" --event-channels single \
    --features feature-rx-notify=,feature-sg=,feature-gso-tcpv4=,feature-gso-tcpv6=,feature-ipv6-csum-offload=
both "an event each time, asked for or not" --always-kick --features $plain
# It is looked for new buffers ten times a second.
ok "no event ever, to the guest" wire_to_guest rx 1 vif1.0 --count 200 --rx-slots 32 --window 16 \
    --no-notify --features $plain,feature-rx-notify=
ok "32 buffers and large frames" wire_to_guest rx 1 vif1.0 --count 200 --size 65535 --gso 1448 \
    --frames tcp4,tcp6 --rx-slots 32 --features $plain
# The ids of qnetfront use all 16 bits.
ok "65536 ids" guest_to_wire tx 1 vif1.0 --count 70000 --features $plain
is "in order" "$(field tx.sender guest_tx_wrong_id)" 0

daemon_ends
done_testing
