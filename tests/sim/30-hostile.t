#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 30-hostile.t - a guest misbehaves in every way that qnetfront knows, beside one that does not notice
#
# Guest 1 attacks, while frames come for it. All the time frames go to guest 2 and back from it, and none
# of them may be lost. After each attack a well-behaved frontend must be served in the attacker's place.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit=800
vif=vif1.0

# What the error node says about attacks that have the vif closed.
declare -A reason=(
    [guest-tx-jump-257]="guest_tx ring: more requests than"
    [guest-tx-jump-half]="guest_tx ring: more requests than"
    [guest-tx-jump-back]="guest_tx ring: more requests than"
    [guest-rx-jump-257]="guest_rx ring: more requests than"
    [guest-rx-jump-half]="guest_rx ring: more requests than"
    [guest-rx-jump-back]="guest_rx ring: more requests than"
    [crosses-page]="beyond the end of its page"
    [offset-huge]="beyond the end of its page"
    [second-crosses-page]="beyond the end of its page"
    [size-4097]="beyond the end of its page"
    [extra-type-0]="extra info has a type that does not exist"
    [extra-type-6]="extra info has a type that does not exist"
    [extra-type-255]="extra info has a type that does not exist"
    [extra-missing]="announces extra info that is not in the ring"
    [gso-size-0]="GSO extra info has no segment size"
    [unfinished]="announces a slot that is not in the ring"
    [slots-22]="more than 21 slots"
    [slots-40]="more than 21 slots"
    [ctrl-jump-129]="control ring: more requests than"
    [ctrl-jump-half]="control ring: more requests than"
    [ctrl-jump-back]="control ring: more requests than"
)

resident() { # kB
    awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}

# attack NAME [OPTION...]: four test points
attack() {
    local name=$1 status=0 expected answered
    shift
    answered=$(counter vif2.0 guest_tx_packets)
    timeout 60 xensim as 1 qnetfront --json --mode hostile --attack "$name" "$@" \
        >$work/attack.out 2>$work/attack.err || status=$?
    expected=$(field attack expected)
    tap_point $status "$name: the backend's answer is: $expected" "$(cat $work/attack.out $work/attack.err)"
    case $expected in
    refuse) has "$name: refused with the reason" "$(field attack backend_error)" "cannot connect: .+" ;;
    close) has "$name: closed with the reason" "$(field attack backend_error)" "${reason[$name]-?}" ;;
    *)
        # Each request has one answer, in order, of the right kind; a vif that is closed owes none.
        is "$name: every request is answered once" \
            "$(field attack guest_tx_wrong_id) $(field attack guest_tx_wrong_null) $(
                field attack guest_tx_strange) $(field attack guest_tx_dirty) $(unanswered)" "0 0 0 0 0"
        ;;
    esac
    ok "$name: the other guest is served" beside "$answered"
    ok "$name: so is a sound frontend in the same place" \
        guest_to_wire sound 1 $vif --size 90:2000:191 --gso 1000 --layout random --offset
}

unanswered() {
    if [ "$(field attack backend_state_after)" = 4 ]; then
        field attack guest_tx_unanswered
    else
        echo 0
    fi
}

# beside PACKETS: the other guest is connected and has answered more than so many frames
beside() {
    daemon_lives && [ "$(backend_state 2 0)" = 4 ] && running others.sender &&
        wait_for 10 more_than "$1"
}

more_than() { # PACKETS
    [ "$(counter vif2.0 guest_tx_packets)" -gt "$1" ]
}

quiet_network
# One bridge each: what the attacker sends is not to reach the other.
bridge xenbr0
bridge xenbr1
daemon_start
guest_add 1
guest_add 2 bridge=xenbr1

start others.echo xensim as 2 qnetfront --json --mode echo --vif 0
ok "the other guest is there" lib_link_ready 2 vif2.0
start others.receiver qnetfront --json --mode wire-receive --interface vif2.0 --seed 2 \
    --progress $work/others.progress
start others.sender qnetfront --json --mode wire-send --interface vif2.0 --seed 2 --rate 1000 \
    --seconds 1000 --size 90:1514:17 --progress $work/others.progress
start disturb qnetfront --json --mode wire-send --interface $vif --seed 3 --rate 200 --seconds 1000 \
    --size 60:1500:7
ok "frames come and go" wait_for 10 more_than 100

count=0
while read -r name _; do
    attack "$name"
    count=$((count + 1))
    if [ $count -eq 10 ]; then
        memory=$(resident)
        descriptors=$(descriptors)
    fi
done < <(qnetfront --mode hostile --attack list)
between "there were attacks" 70 $count 1000
for seed in 2 3 4 5 6; do
    attack rewritten --seed $seed
    attack rewritten-gently --seed $seed
done

# guest_rx buffers that grant nothing are answered with an error, and the frames are counted.
between "frames for bad guest_rx buffers were lost and counted" 1 \
    "$(counter $vif guest_rx_drop_bad_grant)" 100000

ok "only the other guest's rings are mapped" wait_for 5 mapped_is 2
ok "no descriptor leaks" wait_for 5 descriptors_are "$descriptors"
if [ -z "${SANITIZE-}" ]; then
    # Packet buffers count when they are first used.
    between "no memory leaks (kB)" 0 "$(resident)" $((memory + 2048))
fi
between "the log is bounded (lines)" 1 "$(wc -l <"$daemon_log")" $((count * 40))

ok "the sender ends" finish others.sender TERM
ok "the other guest has lost nothing, and every byte was right" finish others.receiver
is "all frames came back" "$(field others.receiver frames_good)" "$(field others.sender frames_sent)"
ok "the other guest ends" finish others.echo TERM
finish disturb TERM >/dev/null || true
daemon_ends
done_testing
