#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 50-publish.t - the daemon dies between writing responses into a ring and publishing them
#
# The simulator kills it behind the N-th store to a ring's entries, so responses lie over requests
# that nobody has been told of. The next daemon loses nothing of it: streams arrive byte for byte, and
# the guest gets each response once.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ "$(uname -m)" != x86_64 ]; then
    echo "1..0 # SKIP stores are counted on x86-64 only"
    exit 0
fi

in_guest() {
    ip netns exec guest "$@"
}

listening() { # PORT: in the guest
    in_guest ss -Hltn | grep -q ":$1 "
}

died() {
    ! kill -0 "$daemon_pid" 2>/dev/null
}

killed=0
# dies N...: behind the N-th store from now on, and is started again
dies() {
    local n
    for n in "$@"; do
        xensim fail "$daemon_pid" "entry:+$n"
        wait_for 20 died || return 1
        wait "$daemon_pid" 2>/dev/null || true
        killed=$((killed + 1))
        daemon_start
    done
}

said() {
    grep -c "killed behind a store to a ring's entries" "$daemon_log" || true
}

# --- with packets both ways ---

bridge xenbr0
ip address add 10.0.0.1/24 dev xenbr0
daemon_start
guest_add 1
ip netns add guest
start front ip netns exec guest xensim as 1 qnetfront --json --mode tap --tap eth0
backend_becomes 1 0 4
wait_for 10 in_guest ip link show eth0
in_guest ip address add 10.0.0.2/24 dev eth0
in_guest ip link set lo up
in_guest ip link set eth0 up
wait_for 10 ping -c 1 -W 1 10.0.0.2
head -c 50000000 /dev/urandom >$work/content
start echo ip netns exec guest socat TCP-LISTEN:7000,reuseaddr EXEC:cat
wait_for 10 listening 7000
# shellcheck disable=SC2016 # expanded by that shell
start stream bash -c 'set -o pipefail
    socat -t 60 - TCP:10.0.0.2:7000 <"$1" | cmp - "$1"' - $work/content
start ping ping -i 0.01 10.0.0.2
ok "it dies behind a store, again and again" dies 1 2 3 4 5 6 7 8 13 21 34 55 89 144
is "between writing and publishing" "$(said)" $killed
ok "the stream of bytes arrives whole" finish stream
finish ping INT >/dev/null || true
is "each daemon adopted the vif, with its journal" \
    "$(grep -c 'adopted: ' "$daemon_log") $(grep -c 'without its journal' "$daemon_log" || true)" \
    "$killed 0"
is "the guest is connected" "$(backend_state 1 0)" 4
ok "and ends" finish front TERM
is "it has seen nothing strange" "$(field front failure)" ""

# --- with messages on the control ring ---

guest_add 2
start front xensim as 2 qnetfront --json --mode idle --ctrl "add-gref 0 g0-g9 = ok; windows" \
    --ctrl-loop "add-gref 0 g10-g19 = ok; add-gref 0 g10 = invalid; del-gref 0 g10-g19 = ok 10;
        get-flags = ok 15; key default = ok"
ok "a guest with a control ring" wait_for 10 mapped_is 13
before=$(said)
killed=0
ok "it dies behind each half of a response" dies 1 2 3 4 5 6 7 8 9 10 11 12
is "so it is" $(($(said) - before)) $killed
ok "what was mapped is mapped" wait_for 10 mapped_is 13
ok "the guest has had each response once" finish front TERM
is "nothing stays mapped" "$(mapped)" 0
daemon_ends
done_testing
