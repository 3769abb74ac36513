# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scenario-lib.sh - what scenarios in the test machine's dom0 have in common
#
# Four parts: TAP, waiting, guests, the daemon.  Under emulation each fork costs some 10 ms of the
# only CPU, so what is polled is polled with shell builtins where that is possible.

# What run-machine --set has set.
# shellcheck source=/dev/null
. ./settings

daemon_log=/out/qnetback.log
daemon_pid=
# shellcheck disable=SC2034 # for the scenarios
vif_tree=/local/domain/0/backend/vif

# --- TAP: one line a fact; why a fact does not hold comes as comments below it ---

tap_count=0
tap_failed=0

say() { # TEXT...: a comment in the TAP
    printf '%s\n' "$*" | sed 's/^/# /'
}

pass() { # WHAT
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $*"
}

fail() { # WHAT [DETAIL...]
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    shift
    [ $# = 0 ] || say "$@"
    # The state of the whole machine explains the first failures; it would bury later ones.
    [ "$tap_failed" -gt 2 ] || show_state
}

is() { # WHAT SEEN EXPECTED
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "expected: $3"$'\n'"seen:     $2"
    fi
}

at_most() { # WHAT SEEN LIMIT
    if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -le "$3" ]; then
        pass "$1 ($2 <= $3)"
    else
        fail "$1" "expected: at most $3"$'\n'"seen:     $2"
    fi
}

at_least() { # WHAT SEEN LIMIT
    if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ]; then
        pass "$1 ($2 >= $3)"
    else
        fail "$1" "expected: at least $3"$'\n'"seen:     $2"
    fi
}

check() { # WHAT COMMAND...: the command succeeds; what it printed is in $output
    local what=$1 status=0
    shift
    output=$("$@" 2>&1) || status=$?
    if [ $status = 0 ]; then
        pass "$what"
    else
        fail "$what" "command:  $*"$'\n'"status:   $status"$'\n'"printed:  $output"
        return 1
    fi
}

subtest() { # WHAT COMMAND...: a TAP program's points, indented, and one point for all of it
    local what=$1
    shift
    if "$@" 2>&1 | sed 's/^/    /' && [ "${PIPESTATUS[0]}" = 0 ]; then
        pass "$what"
    else
        fail "$what" "its own points stand above; command: $*"
    fi
}

finish() { # ends the scenario
    stop_daemon > /dev/null
    echo "1..$tap_count"
    [ $tap_failed = 0 ]
    exit $?
}

give_up() { # WHY: nothing after this can work
    echo "Bail out!  $*"
    show_state
    exit 1
}

show_state() {
    say "--- qnetback's log, last lines"
    [ ! -e $daemon_log ] || say "$(tail -n 30 $daemon_log)"
    say "--- xenstore, vifs"
    say "$(xenstore-ls -f | grep -E '^/local/.*/vif(/|$| )' | head -n 120)"
    say "--- domains, network devices"
    say "$(xl list 2>&1)"
    say "$(ip -br link 2>&1)"
    local log
    for log in /var/log/xen/guest-*.log; do
        [ -e "$log" ] || continue
        say "--- console of $log, last lines"
        say "$(tail -n 12 "$log" | tr -d '\r')"
    done
    if [ -s /var/log/xen/xen-hotplug.log ]; then
        say "--- hotplug scripts, last lines"
        say "$(tail -n 10 /var/log/xen/xen-hotplug.log)"
    fi
    say "--- dom0's kernel, last lines"
    say "$(dmesg | tail -n 8)"
}

# --- Waiting: always for something, always with a bound ---

exec {never}<> <(:)
pause() { # SECONDS, without a fork
    read -r -t "$1" -u "$never" || true
}

wait_for() { # SECONDS COMMAND...: until the command succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@" > /dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        pause 0.2
    done
}

gone() { # COMMAND...: the command fails
    ! "$@" > /dev/null 2>&1
}

file_has() { # FILE TEXT [LINES-TO-SKIP]
    local lines
    [ -e "$1" ] || return 1
    mapfile -t -s "${3:-0}" lines < "$1" 2> /dev/null
    [[ "${lines[*]}" == *"$2"* ]]
}

node_is() { # XENSTORE-PATH VALUE
    [ "$(xenstore-read "$1" 2> /dev/null)" = "$2" ]
}

# The values that `state` in a directory of xenstore has had, from xenstored's log of accesses; a
# value written twice in a row counts once.  (A guest's own accesses are relative to its home.)
states_written() { # DIRECTORY
    local domid=${1#/local/domain/}
    domid=${domid%%/*}
    local home=/local/domain/$domid/
    sed -nE -e "s:.*[ (]${1}/state ([0-9]) ?\)?\$:\1:p" \
        -e "s:.* D${domid}[. ].*[ (]${1#"$home"}/state ([0-9]) ?\)?\$:\1:p" \
        /var/log/xen/xenstored-access.log | uniq | xargs
}

# --- Guests: made by the unmodified xl, spoken to over their consoles ---

command_number=0

# The log has the name that the guest had when its domain was made, which a migration changes.
declare -A console_name

console_log() { # GUEST
    echo "/var/log/xen/guest-${console_name[$1]-$1}.log"
}

# The root of a guest or of a driver domain with programs of ours beside its own; for guest_config.
guest_ramdisk() { # RAMDISK /boot/guest.cpio|/boot/driver-domain.cpio PROGRAM...
    local ramdisk=$1 base=$2
    shift 2
    mkdir -p "$ramdisk.root/usr/bin"
    cp "$@" "$ramdisk.root/usr/bin/"
    {
        cat "$base"
        (cd "$ramdisk.root" && find . | busybox cpio -o -H newc -R 0:0 2> /dev/null)
    } > "$ramdisk"
    rm -r "$ramdisk.root"
}

# GUEST TYPE ADDRESS/LEN|none VIF-LIST [RAMDISK [LINE...]]: makes /tmp/GUEST.cfg, with these lines at
# its end.  With "none" the guest's own netfront is left out.
guest_config() {
    local network=qnb.ip=$3
    [ "$3" != none ] || network=qnb.nonet=1
    # (tsc_mode: with the default, each rdtsc of the guest would trap.)
    cat > "/tmp/$1.cfg" << CONFIG
name = "$1"
type = "$2"
kernel = "/boot/guest-vmlinux"
ramdisk = "${5:-/boot/guest.cpio}"
memory = 192
vcpus = 1
tsc_mode = "native"
extra = "console=hvc0 mitigations=off random.trust_cpu=on panic=-1 loglevel=4 $network"
on_poweroff = "destroy"
on_reboot = "destroy"
on_crash = "destroy"
vif = [ $4 ]
CONFIG
    printf '%s\n' "${@:6}" >> "/tmp/$1.cfg"
}

wait_guest() { # GUEST SECONDS [LINES-TO-SKIP]: until it reads commands
    wait_for "$2" file_has "$(console_log "$1")" "@guest ready" "${3:-0}"
}

guest() { # GUEST SECONDS COMMAND...: runs the command in the guest; its output and its status
    local name=$1 seconds=$2 id tty log skip tag lines line inside=false
    shift 2
    id=$(xl domid "$name" 2> /dev/null) || { echo "no guest $name"; return 125; }
    tty=$(xenstore-read "/local/domain/$id/console/tty") || return 125
    # (From a subshell, as in $(guest ...), the number must still be a new one.)
    tag=c$((command_number += 1)).${EPOCHREALTIME/[.,]/}
    log=$(console_log "$name")
    skip=$(wc -l < "$log")
    echo "$tag $*" > "$tty"
    if ! wait_for "$seconds" file_has "$log" "@$tag end " "$skip"; then
        echo "no answer from $name in $seconds s to: $*"
        return 124
    fi
    while :; do
        mapfile -t -s "$skip" lines < "$log"
        for line in "${lines[@]}"; do
            line=${line%$'\r'}
            case $line in
                "@$tag begin") inside=true ;;
                "@$tag end "[0-9]*) return "${line##* }" ;;
                ?*) ! $inside || echo "$line" ;;
            esac
        done
        pause 0.1
        inside=false
    done
}

domain_listed() { # GUEST
    xl domid "$1"
}

no_dead_domains() { # xl shows domains that somebody still holds pages of as (null)
    ! xl list | grep -q '(null)'
}

# --- The daemon ---

# shellcheck disable=SC2120 # the scenarios give options, or none
start_daemon() { # OPTION...
    ./qnetback "$@" < /dev/null >> $daemon_log 2>&1 &
    daemon_pid=$!
}

# As its systemd unit does: a user of its own with one capability, to whom the devices of Xen belong.
start_daemon_as_service() {
    mkdir -p /run/qnetback
    chown -R 997:997 /run/qnetback
    for device in evtchn gntalloc gntdev xenbus; do
        chown root:997 /dev/xen/$device
        chmod 660 /dev/xen/$device
    done
    # (udev's own rules make this one everybody's; it asks for the capability.)
    chmod 666 /dev/net/tun
    setpriv --reuid 997 --regid 997 --clear-groups --inh-caps=-all,+net_admin \
        --ambient-caps=-all,+net_admin --bounding-set=-all,+net_admin \
        ./qnetback < /dev/null >> $daemon_log 2>&1 &
    daemon_pid=$!
}

daemon_runs() {
    [ -n "$daemon_pid" ] && [ -d "/proc/$daemon_pid" ]
}

stop_daemon() { # SIGTERM; its exit status in $daemon_status, 124 when it had to be killed
    daemon_status=0
    [ -n "$daemon_pid" ] || return 0
    kill -TERM "$daemon_pid" 2> /dev/null
    if ! wait_for 20 gone test -d "/proc/$daemon_pid/fd/."; then
        kill -KILL "$daemon_pid"
        daemon_status=124
    fi
    local status=0
    wait "$daemon_pid" || status=$?
    [ "$daemon_status" = 124 ] || daemon_status=$status
    daemon_pid=
}

daemon_fds() {
    local open=("/proc/$daemon_pid/fd/"*)
    echo "${#open[@]}"
}

mapped_pages() { # DEVICE: how many pages of it the daemon maps
    local pages=0 range path
    while read -r range _ _ _ _ path; do
        [ "$path" != "$1" ] || pages=$((pages + (16#${range#*-} - 16#${range%-*}) / 4096))
    done < "/proc/$daemon_pid/maps"
    echo $pages
}

daemon_mapped_grants() { # pages of guests
    mapped_pages /dev/xen/gntdev
}

daemon_self_granted() { # pages of its own, granted to itself
    mapped_pages /dev/xen/gntalloc
}

# How many of a guest's grants somebody has mapped, from Xen itself.  The first eight references are
# reserved; they are the console's and xenstore's.
xen_mapped_grants() { # DOMID
    xl dmesg -c > /dev/null
    xl debug-keys g
    xl dmesg | awk -v domid="d$1" '
        /grant-table for remote/ { inside = $5 == domid; if (inside) seen = 1 }
        inside && /\[0x[0-9a-f]+\]/ { if ($2 !~ /0x00[0-7]\]/) mapped++ }
        END { print seen ? mapped + 0 : "no such domain" }'
}

daemon_rss_kb() {
    awk '/^VmRSS:/ {print $2}' "/proc/$daemon_pid/status"
}

# Sum of one counter over all queues of one vif (or of all vifs), from qnetctl stats --json.
counter() { # NAME [VIF]
    ./qnetctl stats --json 2>&1 | jq -r --arg name "$1" --arg vif "${2-}" '
        [.vifs[] | select($vif == "" or .name == $vif) | .queues[] | .[$name]] | add'
}

counter_exceeds() { # VALUE NAME [VIF]
    local now
    now=$(counter "$2" "${3-}")
    [[ $now =~ ^[0-9]+$ ]] && [ "$now" -gt "$1" ]
}
