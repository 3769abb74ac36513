# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scenario-crowd.sh - many small guests, which are made and destroyed at once
#
# For scenarios that have sourced scenario-lib.sh and scenario-checks.sh.

# shellcheck disable=SC2154 # variables of scenario-lib.sh

crowd=()

# The smallest root that brings up a network.
crowd_ramdisk() {
    [ ! -e /tmp/tiny.cpio ] || return 0
    mkdir -p /tmp/tiny
    (
        cd /tmp/tiny || exit
        busybox cpio -i -d 2> /dev/null < /boot/guest.cpio
        rm -rf usr/bin/{iperf3,ping} usr/sbin/* usr/lib/x86_64-linux-gnu usr/lib64/*
        find . -name '*.ko' ! -name xen-netfront.ko -delete
        find . | busybox cpio -o -H newc -R 0:0 2> /dev/null
    ) > /tmp/tiny.cpio
    rm -r /tmp/tiny
}

crowd_member() { # NUMBER: makes the configuration of crowd$NUMBER; every second one is PVH
    local type=pv
    [ $(($1 % 2)) = 0 ] || type=pvh
    guest_config "crowd$1" $type "10.0.0.$((100 + $1))/24" \
        "'mac=00:16:3e:00:01:$(printf %02x "$1"),bridge=xenbr0'" /tmp/tiny.cpio "memory = 96"
}

crowd_come() { # COUNT: they are made two at a time, and start all at once
    local i pids=()
    crowd=()
    crowd_ramdisk
    for ((i = 1; i <= $1; i++)); do
        crowd_member $i
        xl create -p "/tmp/crowd$i.cfg" > "/tmp/crowd$i.create" 2>&1 &
        pids[i]=$!
        if [ $((i % 2)) = 0 ]; then
            wait "${pids[@]}"
        fi
    done
    wait "${pids[@]}"
    for ((i = 1; i <= $1; i++)); do
        crowd[i]=$(xl domid "crowd$i" 2> /dev/null)
        [ -n "${crowd[i]}" ] || say "crowd$i: $(< "/tmp/crowd$i.create")"
    done
    is "crowd: guests created" "$(xargs -n 1 <<< "${crowd[*]}" | grep -c .)" "$1"
    for ((i = 1; i <= $1; i++)); do
        xl unpause "crowd$i"
    done
    for ((i = 1; i <= $1; i++)); do
        check "crowd: guest $i answers" wait_for 300 ping -q -c 1 -W 1 "10.0.0.$((100 + i))"
    done
}

crowd_go() { # all at once
    local i pids=() pid status
    # So many xl on the only CPU, slow as it is, keep the others from answering in libxl's ten seconds.
    for pid in "$(< /run/xen/xenstored.pid)" "$daemon_pid"; do
        busybox renice -n -15 -p "$pid" > /dev/null
    done
    for i in "${!crowd[@]}"; do
        xl destroy "crowd$i" > "/tmp/crowd$i.destroy" 2>&1 &
        pids[i]=$!
    done
    for i in "${!crowd[@]}"; do
        status=0
        wait "${pids[i]}" || status=$?
        # (Twenty hotplug scripts at once may take longer there than the 40 s that libxl gives them.)
        is "crowd: guest $i: xl destroy ends well, and has nothing to say of the back end" \
            "$status $(grep -v 'async_exec_timeout: killing execution of .*/vif-bridge offline' "/tmp/crowd$i.destroy")" "0 "
    done
    check "crowd: all their taps are gone" wait_for 30 crowd_gone
    is "crowd: all their parts of xenstore are gone" \
        "$(xenstore-ls -f | grep -E "/(domain|libxl|vif)/($(IFS='|'; echo "${crowd[*]}"))(/| )")" ''
    check "crowd: no dead domain that somebody holds pages of" wait_for 30 no_dead_domains
}

# shellcheck disable=SC2317 # wait_for calls it
crowd_gone() {
    local id
    for id in "${crowd[@]}"; do
        [ ! -e "/sys/class/net/vif$id.0" ] || return 1
    done
}
