#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 50-adoption.t - the daemon is killed and started again under load, and no guest notices
#
# Throughout, state 4 stands on both sides, one iperf3 runs each way, and streams of known content
# arrive byte for byte. Kills come at random moments; the seed is printed.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kills=100
leaves=10
if [ -n "${SANITIZE-}" ]; then
    kills=20
fi
seed=${SEED:-$RANDOM}
echo "# seed $seed (SEED=$seed repeats it), $kills kills"
RANDOM=$seed
backend=$(backend_of 1 0)
frontend=$(frontend_of 1 0)

in_guest() {
    ip netns exec guest "$@"
}

listening() { # PORT: in the guest
    in_guest ss -Hltn | grep -q ":$1 "
}

# A pause of up to 0.1 s: where in its work the daemon is hit is a matter of chance.
pause() {
    sleep "0.0$((RANDOM % 90 + 10))"
}

restart() { # SIGNAL
    kill "-$1" "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    daemon_start
}

# stream_start PORT: known content from the host to the guest and back
stream_start() {
    start echo ip netns exec guest socat "TCP-LISTEN:$1,reuseaddr" EXEC:cat
    wait_for 10 listening "$1"
    # shellcheck disable=SC2016 # expanded by that shell
    start stream bash -c 'set -o pipefail
        socat -t 60 - "TCP:10.0.0.2:$1" <"$2" | cmp - "$2"' - "$1" $work/content
}

states() { # what both ends' state nodes have read since the last call
    sort -u $work/states | tr '\n' ' '
    : >$work/states
}

# The longest time without an answer, in ms, that ping saw: it numbers what it sends every 10 ms.
longest_gap() {
    awk -F'[= ]' '/icmp_seq=/ { for (i = 1; i < NF; i++) if ($i == "icmp_seq") n = $(i + 1)
        if (n - last - 1 > gap) gap = n - last - 1
        last = n } END { print gap * 10 }' "$1"
}

bridge xenbr0
ip address add 10.0.0.1/24 dev xenbr0
daemon_start
toolstack domain-add 1
toolstack vif-add 1 0
ip netns add guest
limit=600 start front ip netns exec guest xensim as 1 qnetfront --json --mode tap --tap eth0
backend_becomes 1 0 4
wait_for 10 in_guest ip link show eth0
in_guest ip address add 10.0.0.2/24 dev eth0
in_guest ip link set lo up
in_guest ip link set eth0 up
wait_for 10 ping -c 1 -W 1 10.0.0.2
: >$work/states
(xenstore-watch "$backend/state" "$frontend/state" | while read -r path; do
    xenstore-read "$path" >>$work/states
done) &
head -c 100000000 /dev/urandom >$work/content

# --- killed, under load both ways ---
limit=300 start server1 ip netns exec guest iperf3 --server --port 5201
limit=300 start server2 ip netns exec guest iperf3 --server --port 5202
wait_for 10 listening 5201
wait_for 10 listening 5202
limit=300 start to_guest iperf3 --client 10.0.0.2 --port 5201 --time 200
limit=300 start from_guest iperf3 --client 10.0.0.2 --port 5202 --time 200 --reverse
limit=300 stream_start 7000
limit=300 start ping ping -i 0.01 -W 1 10.0.0.2
descriptors_before=$(descriptors)
restarted=0
for ((i = 0; i < kills; i++)); do
    pause
    restart KILL
    restarted=$((restarted + 1))
done
is "killed and started" "$restarted" "$kills"
ok "the stream of bytes arrived whole" finish stream
ok "iperf3 to the guest still runs" running to_guest
ok "iperf3 from the guest still runs" running from_guest
is "neither end's state was ever another than 4" "$(states)" "4 "
is "no reason to close" "$(backend_error 1 0)" none
finish ping INT >/dev/null || true
gap=$(longest_gap $work/ping.out)
echo "# longest time without a ping answered, over $kills kills: $gap ms"
between "no ping was lost for 3 s" 0 "$gap" 2999
is "each daemon adopted it, with its journal" \
    "$(grep -c 'adopted: ' "$daemon_log") $(grep -c 'without its journal' "$daemon_log")" "$kills 0"
between "no descriptors are left over" 1 "$(descriptors)" "$descriptors_before"
is "only the rings are mapped" "$(mapped)" 2

# --- restarted as planned ---
start ping ping -i 0.01 -W 1 10.0.0.2
for ((i = 0; i < leaves; i++)); do
    pause
    restart USR2
done
finish ping INT >/dev/null || true
gap=$(longest_gap $work/ping.out)
echo "# longest time without a ping answered, over $leaves planned restarts: $gap ms"
# With sanitizers a start alone takes longer.
between "a planned restart costs less than 200 ms" 0 "$gap" $((${SANITIZE:+2000} + 199))
ok "iperf3 to the guest still runs" running to_guest
ok "iperf3 from the guest still runs" running from_guest
is "the state was never another than 4" "$(states)" ""
finish to_guest TERM >/dev/null || true
finish from_guest TERM >/dev/null || true

# --- with journals that are of no use ---
journal=/run/qnetback/journal/1.0.0
spoil() { # HOW
    case $1 in
    missing) rm $journal ;;
    empty) : >$journal ;;
    other) printf 'X' | dd of=$journal bs=1 seek=40 conv=notrunc status=none ;;
    noise) head -c "$(stat -c %s $journal)" /dev/urandom >$journal.new && mv $journal.new $journal ;;
    link) mv $journal $journal.old && ln -s $journal.old $journal ;;
    esac
}
for how in missing empty other noise link; do
    daemon_kill
    spoil $how
    daemon_start
    ok "journal $how: the guest is served on" wait_for 10 ping -c 1 -W 1 10.0.0.2
    is "journal $how: its state stays" "$(backend_state 1 0)" 4
done
rm -f $journal.old
is "each was adopted without it" "$(grep -c 'without its journal' "$daemon_log")" 5

# --- things change while no daemon runs ---
daemon_kill
kill -KILL "${job_pid[front]}"
wait "${job_pid[front]}" 2>/dev/null || true
daemon_start
toolstack vif-remove 1 0
ok "a guest that died meanwhile is closed" wait_for 10 gone ip link show vif1.0
is "no journal is left" "$(ls /run/qnetback/journal)" ""
toolstack vif-add 1 0
front_start 1 0
daemon_kill
toolstack vif-remove 1 0 --force &
remover=$!
daemon_start
ok "a vif removed while no daemon ran is closed" wait $remover
ok "and its interface is gone" wait_for 10 gone ip link show vif1.0
is "and its journal" "$(ls /run/qnetback/journal)" ""
touch /run/qnetback/journal/7.0.0
daemon_kill
daemon_start
is "nor that of a guest that nobody knows" "$(ls /run/qnetback/journal)" ""
front_kill
daemon_ends
done_testing
