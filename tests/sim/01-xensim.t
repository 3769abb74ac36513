#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 01-xensim.t - what the simulator promises beside the contract: faults, counters, deaths, toolstack
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] || exec "$here/../xensim/xensim-run" --tap "${BASH_SOURCE[0]}" --inside

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/sim/probe.sh
. "$here/probe.sh"

counter() {
    xensim stats "${probe_pid[$1]}" "$2"
}

dump_lines() {
    xensim dump | grep -c "$1" || true
}

# --- failures and counters ---

toolstack domain-add 1
start_probe guest 1
start_probe host 0
ref=$(ask guest share 0 1)
other_ref=$(ask guest share 0 1)
ok "a page is shared" test "$ref" -ge 8
is "and mapped" "$(ask host map 1 "$ref")" ok
is "calls are counted: map" "$(counter host map)" 1
is "pages mapped now are counted" "$(counter host mapped_pages)" 1
is "copy of 20 segments" "$(ask host copy 1 "$ref" 20)" "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
is "calls are counted: copy" "$(counter host copy)" 1
is "calls are counted: segment" "$(counter host segment)" 20
is "unmapped" "$(ask host unmap "$ref")" 0
is "then none is mapped" "$(counter host mapped_pages)" 0

xensim fail "${probe_pid[host]}" "map:+2:ENOMEM,copy:+1:EFAULT,segment:+3,bind:+1+:EAGAIN"
is "the next map is to succeed" "$(ask host map 1 "$ref")" ok
is "the one after is to fail" "$(ask host map 1 "$ref")" ENOMEM
is "and no other" "$(ask host map 1 "$ref")" ok
is "a failed map maps nothing" "$(counter host mapped_pages)" 2
is "a copy call fails" "$(ask host copy 1 "$ref" 2)" EFAULT
is "the third segment after it fails" "$(ask host copy 1 "$ref" 4)" "0 0 -1 0"
is "each bind fails" "$(ask host alloc 1)$(ask host alloc 1)$(ask host alloc 1)" EAGAINEAGAINEAGAIN
is "injected failures are counted" "$(counter host bind_failed)" 3
xensim fail "${probe_pid[host]}" ""
has "without rules nothing fails" "$(ask host alloc 1)" '^[0-9]+$'
fails "a rule with an unknown call is refused" xensim fail "${probe_pid[host]}" "frobnicate:1"
has "so is one in the environment" "$(XENSIM_FAIL=map:0 probe </dev/null 2>&1 || true)" \
    "XENSIM_FAIL: 'map:0'"
is "failures from the environment" \
    "$(XENSIM_FAIL=gnttab_open:1:ENOENT,evtchn_open:1:EMFILE probe <<<$'map 1 8\nalloc 1\nalloc 1' |
        head -n 2 | xargs)" "ENOENT EMFILE"
is "without gntalloc there is no sharing" "$(XENSIM_GNTALLOC_LIMIT=0 probe <<<"share 0 1")" ENOENT
is "gntalloc's limit" "$(XENSIM_GNTALLOC_LIMIT=4 probe <<<$'share 0 3\nshare 0 2\nshare 0 1' |
    cut -d' ' -f1 | xargs)" "ok ENOSPC ok"
start_ns=$(date +%s%N)
XENSIM_SEG_NS=1000000 probe <<<"copy 1 $ref 50" >/dev/null
ok "a segment can be made to take a millisecond" test $(($(date +%s%N) - start_ns)) -ge 50000000

# --- deaths ---

event=$(ask guest alloc 0)
ask host bind 1 "$event" >/dev/null
is "two pages of the guest's are mapped" "$(dump_lines "^map d1 ref $ref ")" 2
kill_probe host
is "after a kill -9 none is" "$(dump_lines "^map d1")" 0
has "and its event channel's other end is unbound" "$(xensim dump)" "evtchn d1/$event unbound"
is "the counters of a dead process stay" "$(counter host map)" 4

start_probe host 0
ask host die-locked >/dev/null
stop_probe host
start_probe host 0
is "the world goes on when a process dies holding its lock" "$(ask host map 1 "$ref")" ok

xenstore-watch -n 3 @releaseDomain >/run/released &
watcher=$!
wait_for 5 grep -q releaseDomain /run/released
xensim kill 1
ok "the processes of a killed domain are killed" wait_for 5 probe_is_gone guest
ok "xenstored tells of it" wait_for 5 sh -c "tail -n +2 /run/released | grep releaseDomain"
kill "$watcher" 2>/dev/null || true
has "a mapped page keeps it dying" "$(xensim dump)" "domain 1 dying shared-pages 0 mapped-by-others 1"
is "a new domain cannot have its number yet" "$(xensim mkdom 1 2>&1 || true)" \
    "xensim: cannot create domain 1: its predecessor is still dying (pages are mapped)"
xenstore-rm /local/domain/1
has "xl shows it as (null)" "$(toolstack xl list)" '\(null\) +1 .*d '
is "nothing more can be mapped" "$(ask host map 1 "$other_ref")" EINVAL
is "the mapping can be undone" "$(ask host unmap "$ref")" 0
is "then it is gone: copy says bad_domain" "$(ask host copy 1 "$ref" 1)" -2
stop_probe host
stop_probe guest

for domid in 1 2 3 4; do
    xensim mkdom "$domid"
done
while read -r line; do
    case $line in
    'ok '* | 'not ok '*) tap_point "$([[ $line = ok* ]] && echo 0 || echo 1)" "stress: ${line#* - }" '' ;;
    '#'*) echo "$line" ;;
    esac
done < <(stress events 20000 && stress deaths 20250131 400)
for domid in 1 2 3 4; do
    xensim kill "$domid"
done

# --- a domain's xenstore connection ---

toolstack domain-add 32000
is "domain ids may be large" "$(xensim as 32000 xenstore-read domid)" 32000
xensim as 32000 xenstore-write data/x 1
fails "a guest cannot write dom0's nodes" xensim as 32000 xenstore-write /local/domain/0/x 1
left=0
for ((i = 0; i < 130; i++)); do
    [ "$(xensim as 32000 probe <<<$'watch data\ntransaction' | head -n 1)" = ok ] || left=1
done
is "watches and transactions of clients that are gone are ended" "$left" 0
xensim as 32000 xenstore-watch -n 3 data >/run/first &
first=$!
xensim as 32000 xenstore-watch -n 3 data >/run/second &
second=$!
wait_for 5 grep -q data /run/first && wait_for 5 grep -q data /run/second
xensim as 32000 xenstore-write data/x 2
xensim as 32000 xenstore-write data/y 3
wait "$first" "$second"
is "two clients each get all their events" "$(sort /run/first /run/second | xargs)" "data data data/x data/x data/y data/y"
toolstack domain-destroy 32000

# --- the toolstack's part, with a shell as backend and the real script ---

back=/local/domain/0/backend/vif/5/0
front=/local/domain/5/device/vif/0

# Does what a backend must: tap, state 2, then state 6 when told 5.
shell_backend() {
    store-wait "$back/state" 1
    ip tuntap add dev vif5.0 mode tap
    xenstore-write "$back/state" 2
    store-wait "$back/state" 5 60
    xenstore-write "$back/state" 6
    store-wait "$back" --gone 60
    ip link delete vif5.0
}

ip link add xenbr0 type bridge
ip link set xenbr0 up
toolstack domain-add 5
shell_backend &
ok "vif-add" toolstack vif-add 5 0 mac=00:16:3e:01:02:03 rate=1000,50000
is "the script says connected" "$(xenstore-read "$back/hotplug-status")" connected
has "the tap is in the bridge" "$(bridge link show dev vif5.0)" "master xenbr0"
has "with a backend's MAC" "$(ip link show vif5.0)" "fe:ff:ff:ff:ff:ff"
has "the backend's permissions" "$(xenstore-ls -p /local/domain/0/backend/vif/5)" \
    $'^0 = ""[ .]*\\(n0,r5\\)\n'
is "keys as libxl writes them: backend" "$(xenstore-list "$back" | sort | xargs)" \
    "bridge frontend frontend-id handle hotplug-status mac online rate script state type"
is "keys as libxl writes them: frontend" "$(xensim as 5 xenstore-list device/vif/0 | sort | xargs)" \
    "backend backend-id handle mac mtu state trusted"
ok "the guest may write its frontend" xensim as 5 xenstore-write device/vif/0/state 1
fails "but not its mtu" xensim as 5 xenstore-write device/vif/0/mtu 9000
ok "vif-remove" toolstack vif-remove 5 0
wait
fails "the backend's node is gone" xenstore-exists "$back"
fails "with its empty parents" xenstore-exists /local/domain/0/backend
fails "the frontend's node is gone" xenstore-exists "$front"

shell_backend &
ip link set xenbr0 down
ip link delete xenbr0
has "vif-add without the bridge fails with the script's words" \
    "$(toolstack vif-add 5 0 2>&1 || true)" "Could not find bridge device xenbr0"
is "the script says error" "$(xenstore-read "$back/hotplug-status")" error
ip link add xenbr0 type bridge
ip link set xenbr0 up
ok "vif-remove then" toolstack vif-remove 5 0
wait

has "vif-add without a backend gives up" \
    "$(TOOLSTACK_INIT_TIMEOUT=0.3 toolstack vif-add 5 0 2>&1 || true)" "did not reach state 2"
has "vif-remove without a backend forces, and gives up" \
    "$(TOOLSTACK_DESTROY_TIMEOUT=0.3 toolstack vif-remove 5 0 2>&1 || true)" "even by force"
fails "forcing takes the frontend away" xenstore-exists "$front"
xenstore-rm -t "$back"
xenstore-rm -t /libxl/5/device/vif/0

toolstack xl-prepare 5
has "xl list" "$(toolstack xl list)" "guest5 +5 "
shell_backend &
ok "xl network-attach" toolstack xl network-attach 5 mac=00:16:3e:01:02:04 bridge=xenbr0
is "keys as our toolstack writes them: backend" "$(xenstore-list "$back" | sort | xargs)" \
    "bridge frontend frontend-id handle hotplug-status mac online script state type"
is "keys as our toolstack writes them: frontend" "$(xenstore-list "$front" | sort | xargs)" \
    "backend backend-id handle mac mtu state trusted"
has "xl network-list" "$(toolstack xl network-list 5)" "00:16:3e:01:02:04"
ok "xl network-detach" toolstack xl network-detach 5 0
wait
fails "xl removes the nodes too" xenstore-exists "$back"

shell_backend &
toolstack vif-add 5 0
ok "domain-destroy" toolstack domain-destroy 5
wait
fails "the domain's nodes are gone" xenstore-exists /local/domain/5
is "no process of a domain is left" "$(dump_lines 'domain [1-9]')" 0

done_testing
