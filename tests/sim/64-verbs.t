#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 64-verbs.t - each verb of qnetctl, when something is wrong; and the doctor, who says what

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0

# How each verb is called, with VIF where it takes one. Those that end by themselves do so soon.
calls=('list' 'show VIF' 'top --batch --rounds 1 --delay 0.05' 'stats' 'stats VIF' 'events --count 1'
    'set VIF gso on' 'capture VIF --seconds 1 --write /run/test/capture.pcap' 'rings VIF' 'kick VIF'
    'log-level' 'log-level info' 'drain' 'restart')
verbs=$(qnetctl --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | grep -v '^qnetctl' | sort -u)
covered=$(printf '%s\n' "${calls[@]%% *}" counters doctor | sort -u)
is "every verb is tried" "$covered" "$verbs"

# ends NAME STATUS PATTERN CALL: with this status, and one line that matches.
ends() {
    local name=$1 wanted=$2 pattern=$3 status=0 said
    local -a words
    read -ra words <<<"$4"
    said=$(timeout 20 qnetctl "${words[@]}" 2>&1 >/dev/null </dev/null) || status=$?
    if [ "$status" -eq "$wanted" ] && [[ $said =~ ^qnetctl:\ [^$'\n']*${pattern}[^$'\n']*$ ]]; then
        tap_point 0 "$name: $4" ''
    else
        tap_point 1 "$name: $4" "status $status instead of $wanted, said: $said"
    fi
}

for call in "${calls[@]}"; do
    ends "no daemon" 3 'no daemon listens at .*; is qnetback running' "${call//VIF/vif1.0}"
done
ends "no daemon, for the doctor, is a finding" 8 'problems? w' doctor

# A daemon that is there and goes away before it answers, as in a restart.
mkdir -p /run/qnetback
gone=$work/gone.sock
socat UNIX-LISTEN:"$gone",fork EXEC:true 2>/dev/null &
gone_pid=$!
ok "a daemon that is about to go" wait_for 5 test -S "$gone"
for call in "${calls[@]}" doctor; do
    ends "the daemon goes" 6 'being restarted, try again' "--control $gone ${call//VIF/vif1.0}"
done
kill "$gone_pid"
wait "$gone_pid" 2>/dev/null || true

daemon_start --max-queues 2
guest_add 1
for call in "${calls[@]}"; do
    if [[ $call = *VIF* ]]; then
        ends "unknown vif" 4 "there is no vif 'vif7.7'" "${call//VIF/vif7.7}"
        ends "no vif at all" 4 "there is no vif 'frob'" "${call//VIF/frob}"
    fi
    case $call in
    stats | log-level) ;; # they take one word more
    *) ends "too many words" 2 "unexpected 'frob'" "${call//VIF/vif1.0} frob" ;;
    esac
done
for verb in show set capture rings kick; do
    ends "too few words" 2 "usage: qnetctl $verb" "$verb"
done
ends "an option that does not exist" 2 'Unknown option --frob' "list --frob"
ends "a setting that does not exist" 1 "there is no setting 'mac'" "set vif1.0 mac 1"
ends "a value that cannot be" 1 "gso is 'maybe', but must be on or off" "set vif1.0 gso maybe"
ends "a level that does not exist" 1 "the log level is 'loud'" "log-level loud"
ends "no rings yet" 1 'vif1.0 has no rings: it is not connected' "rings vif1.0"
ends "nothing to kick" 1 'vif1.0 has no rings' "kick vif1.0"
ends "a domain without vifs" 4 'domain 7 has no vif here' "doctor 7"
ends "no domain" 2 "'frob' is no domain's number" "doctor frob"

# Nobody reads what they print.
for call in list 'show vif1.0' 'stats' 'top --batch --rounds 1 --delay 0.05' counters 'log-level' doctor; do
    read -ra words <<<"$call"
    exec {pipe}> >(exit)
    wait $!
    status=0
    said=$(timeout 20 qnetctl "${words[@]}" 2>&1 >&"$pipe" </dev/null) || status=$?
    exec {pipe}>&-
    is "no reader: $call" "$status $said" "7 "
done

# Whoever may not.
if setpriv --reuid 5 --regid 6 --clear-groups true 2>/dev/null; then
    for call in "${calls[@]}" doctor; do
        read -ra words <<<"${call//VIF/vif1.0}"
        status=0
        said=$(timeout 20 setpriv --reuid 5 --regid 6 --clear-groups qnetctl "${words[@]}" 2>&1 >/dev/null </dev/null) || status=$?
        has "no permission: $call" "$status $said" '^5 qnetctl: no permission to talk to the daemon at .*; run as root$'
    done
fi

# --- the doctor ---

finds() { # PATTERN
    [[ $(qnetctl doctor 2>/dev/null) =~ $1 ]]
}
has "doctor: a guest that has no driver" "$(qnetctl doctor 2>/dev/null || true)" 'vif1.0: .note. the guest.s frontend is silent'
front_start 1 0 --features feature-gso-tcpv6=0
has "doctor: an offload, and who switched it off" "$(qnetctl doctor 1 2>/dev/null || true)" \
    'gso_tcpv6 is off: the frontend does not write feature-gso-tcpv6'
ip link set vif1.0 down
ok "doctor: an interface that is down" wait_for 5 finds 'the interface vif1.0 is down; run .ip link set up'
ends "that is a problem" 8 'problems? w' "doctor 1"
ip link set vif1.0 up
has "doctor: JSON" "$(qnetctl doctor --json 2>/dev/null || true)" '^\[\{"subject":"[a-z0-9.]+","severity":"(problem|note)"'

ok "the daemon lives on" daemon_lives
front_stop
daemon_ends
done_testing
