#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 13-rate.t - the keys rate and rx-rate hold within 5 %, at small and large frames, and change live

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start --max-queues 4
# 10 Mb/s as xl writes it, in one direction of each guest; rx-rate is written by hand.
guest_add 1 rate=62500,50000
toolstack domain-add 2
toolstack vif-write 2 0
xenstore-write /local/domain/0/backend/vif/2/0/rx-rate 62500,50000
backend_becomes 2 0 2
ip link set vif2.0 up
xenstore-write /local/domain/0/backend/vif/2/0/hotplug-status connected

said() { # PATTERN
    grep -q -- "$1" "$daemon_log"
}

key() { # DOMID KEY VALUE
    xenstore-write "/local/domain/0/backend/vif/$1/0/$2" "$3"
}

now_us() {
    echo "${EPOCHREALTIME/./}"
}

# sample NAME: what both directions have moved, and when.
declare -A sampled
sample() {
    sampled[$1.us]=$(now_us)
    sampled[$1.guest_tx]=$(counter vif1.0 guest_tx_bytes)
    sampled[$1.guest_rx]=$(counter vif2.0 guest_rx_bytes)
}

# rate FROM TO DIRECTION: in bytes per second
rate() {
    echo $(((sampled[$2.$3] - sampled[$1.$3]) * 1000000 / (sampled[$2.us] - sampled[$1.us])))
}

# holds NAME FROM TO DIRECTION WANTED: within 5 %
holds() {
    between "$1" $(($5 * 95 / 100)) "$(rate "$2" "$3" "$4")" $(($5 * 105 / 100))
}

# As fast as the rings and the interface take it; what the wire loses is the test's fault alone.
flood() { # OPTION...
    start guest_tx xensim as 1 qnetfront --json --mode generate --seconds 60 "$@"
    start sink xensim as 2 qnetfront --json --mode idle --seconds 60
    lib_link_ready 2 vif2.0
    start guest_rx qnetfront --json --mode wire-send --interface vif2.0 --seconds 60 "$@"
    backend_becomes 1 0 4
}

flood_end() {
    local job
    for job in guest_tx guest_rx sink; do
        finish "$job" TERM
    done
}

# Credit may have added up before the first sample: 128 KiB, which is a second's worth.
flood --size 1514 --frames udp4
sleep 1.5
sample small
sleep 10
sample small-end
holds "1514 bytes, guest_tx" small small-end guest_tx 1250000
holds "1514 bytes, guest_rx" small small-end guest_rx 1250000
ok "the rings are served in order" flood_end

# The limit is the vif's, not each queue's.
flood --size 65535 --frames tcp4 --gso 1448 --queues 4
sleep 1.5
sample large
sleep 10
sample large-end
holds "65535 bytes, guest_tx" large large-end guest_tx 1250000
holds "65535 bytes, guest_rx" large large-end guest_rx 1250000

# While the guest is connected, at another interval.
key 1 rate 40000,10000
key 2 rx-rate 40000,10000
ok "a change is noticed" wait_for 5 said 'guest_tx is limited to 40000 bytes in 10000 us'
ok "in both directions" wait_for 5 said 'guest_rx is limited to 40000 bytes in 10000 us'
sample changed
sleep 5
sample changed-end
holds "4 MB/s after that, guest_tx" changed changed-end guest_tx 4000000
holds "4 MB/s after that, guest_rx" changed changed-end guest_rx 4000000

# A mistake must not cut a guest off.
key 1 rate 10Mb/s
key 2 rx-rate ''
ok "a mistake is warned of" wait_for 5 said 'guest_tx is not limited: the rate .10Mb/s. is not'
ok "for each direction" wait_for 5 said "guest_rx is not limited: the rate '' is not"
key 1 online 1
sample unlimited
sleep 2
sample unlimited-end
between "then there is no limit, guest_tx" 8000000 "$(rate unlimited unlimited-end guest_tx)" 99999999999
between "then there is no limit, guest_rx" 8000000 "$(rate unlimited unlimited-end guest_rx)" 99999999999
is "and the warning is given once" "$(grep -c '10Mb/s' "$daemon_log")" 1

key 1 rate 62500,50000
ok "a right one counts again" wait_for 5 said 'guest_tx is limited to 62500 bytes in 50000 us'
xenstore-rm /local/domain/0/backend/vif/1/0/rate
ok "without the key there is no limit" wait_for 5 said 'guest_tx is not limited any more'
ok "the rings were served in order" flood_end

# Reconnecting gives no new credit beyond what a connection saves up.
key 1 rate 12500,50000
ok "a slow vif" wait_for 5 said 'guest_tx is limited to 12500 bytes'
reconnect() {
    local i
    for ((i = 0; i < 10; i++)); do
        xensim as 1 qnetfront --json --mode generate --size 1514 --frames udp4 --count 20
    done
}
mark vif1.0
before=$(now_us)
ok "ten connections with 20 frames each" reconnect
elapsed=$(($(now_us) - before))
between "share one allowance" 0 "$(since vif1.0 guest_tx_bytes)" \
    $((elapsed / 4 + 131072 + 1514))
between "and wait for it" 500000 $elapsed 10000000

daemon_ends
done_testing
