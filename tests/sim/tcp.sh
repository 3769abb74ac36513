# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tcp.sh - guests that are network namespaces, and streams of known content between them
#
# Each guest's eth0 is a tap that qnetfront joins to its rings; the host is domain 0. A test sources
# this in the place of lib.sh.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# By domain.
ipv4=(10.0.0.1 10.0.0.2 10.0.0.3)
ipv6=(fd00::1 fd00::2 fd00::3)

# The host in its role as domain 0: a bridge, and a name for its network namespace.
tcp_host() { # MTU
    echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
    echo 0 >/proc/sys/net/ipv6/conf/default/disable_ipv6
    ip netns attach domain0 $$
    bridge xenbr0 "$1"
    add_addresses 0 xenbr0
}

# in_domain DOMID COMMAND...
in_domain() {
    ip netns exec "domain$1" "${@:2}"
}

add_addresses() { # DOMID INTERFACE
    in_domain "$1" ip address add "${ipv4[$1]}/24" dev "$2"
    in_domain "$1" ip address add "${ipv6[$1]}/64" dev "$2" nodad
    in_domain "$1" ip link set "$2" up
}

# guest_connect DOMID [OPTION...]: the driver of a guest whose vif exists; ended by finish front$DOMID.
guest_connect() {
    local domid=$1
    shift
    [ -e "/run/netns/domain$domid" ] || ip netns add "domain$domid"
    limit=600 start "front$domid" ip netns exec "domain$domid" xensim as "$domid" \
        qnetfront --json --mode tap --tap eth0 "$@"
    backend_becomes "$domid" 0 4 || return 1
    wait_for 10 in_domain "$domid" ip link show eth0 || return 1
    in_domain "$domid" ip link set eth0 mtu "$(cat "/sys/class/net/vif$domid.0/mtu")"
    add_addresses "$domid" eth0
    wait_for 10 link_up "vif$domid.0"
}

# make_content MEGABYTES: random, but no block like another, so that one in the wrong place shows.
make_content() {
    local block
    head -c $((1024 * 1024 - 16)) /dev/urandom >$work/block
    for ((block = 0; block < $1; block++)); do
        printf '%016d' $block
        cat $work/block
    done >$work/content
    [ "$(stat -c %s $work/content)" -eq $(($1 * 1024 * 1024)) ]
}

listening() { # DOMID PORT
    in_domain "$1" ss -Hltn | grep -q ":$2 "
}

# sends FROM TO [IPVERSION [PORT]]: the content, by TCP
sends() {
    local from=$1 to=$2 version=${3-4} port=${4-7000} status=0 there name=$1-$2
    case $version in
    4) there=${ipv4[to]} ;;
    6) there=[${ipv6[to]}] ;;
    esac
    # shellcheck disable=SC2016 # expanded by that shell
    start "$name.receiver" ip netns exec "domain$to" bash -c 'set -o pipefail
        socat -u "TCP$1-LISTEN:$2,reuseaddr" STDOUT | cmp - "$3"' - "$version" "$port" $work/content
    wait_for 10 listening "$to" "$port"
    start "$name.sender" ip netns exec "domain$from" \
        socat -u "OPEN:$work/content" "TCP$version:$there:$port,connect-timeout=10"
    finish "$name.sender" || status=$?
    finish "$name.receiver" || status=$?
    return $status
}

# at_once NAME... : these functions, each in its own process
at_once() {
    local one pid status=0 pids=()
    for one in "$@"; do
        # shellcheck disable=SC2086 # a function and its arguments
        $one &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$?
    done
    return $status
}
