#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 02-runner.t - xensim-run gives back the command's status and leaves nothing behind, however it ends
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
run=$here/../xensim/xensim-run

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"

status=0
reason=$("$run" true 2>&1) || status=$?
if [ "$status" -eq 77 ]; then
    echo "1..0 # SKIP ${reason#xensim-run: }"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# In every process of a host that this test starts.
export XENSIM_TEST_MARK=$$.$RANDOM

# What may be left behind outside: processes, mounts, devices, files. Other programs come and go, so
# only what bears the mark, or cannot change by itself, is looked at.
marked_processes() {
    grep -lsz "^XENSIM_TEST_MARK=$XENSIM_TEST_MARK" /proc/[0-9]*/environ 2>/dev/null |
        cut -d/ -f3 | grep -vx "$$" | grep -vx "$BASHPID" || true
}

traces() {
    cut -d' ' -f1,2 /proc/mounts
    ls -d /sys/class/net/vif* /sys/class/net/xenbr* /sys/class/net/probe* 2>/dev/null || true
    ls -d /run/xensim /run/xenstored /run/xen /var/log/xen/* 2>/dev/null || true
}

all_gone() {
    local left pid
    left=$(marked_processes)
    for pid in $left; do
        # This function itself runs in subshells with the mark.
        if [[ $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) = *xensim* ]]; then
            return 1
        fi
    done
}

before=$(traces)

nothing_left() {
    ok "$1: no process is left" wait_for 10 all_gone
    is "$1: nothing else is left" "$(traces)" "$before"
}

# A command that makes a mess and stays.
cat >"$scratch/messy-xensim" <<'MESSY'
#!/bin/bash
ip link add xenbr0 type bridge
ip link set xenbr0 up
ip tuntap add dev vif1.0 mode tap
ip netns add guest
toolstack domain-add 1
setsid sleep 1000 &
setsid bash -c 'trap "" TERM INT HUP; exec -a xensim-stubborn sleep 1000' &
trap 'echo ended >"$1.ended"; exit 3' TERM
touch "$1.ready"
while :; do sleep 1000 & wait $!; done
MESSY
chmod +x "$scratch/messy-xensim"

# The runner, in the background, once its command is ready.
start_messy() {
    rm -f "$scratch/here.ready" "$scratch/here.ended"
    # A shell's background commands ignore SIGINT; this one is not to.
    env --default-signal=INT "$run" "$scratch/messy-xensim" "$scratch/here" 2>"$scratch/stderr" &
    runner=$!
    wait_for 20 test -e "$scratch/here.ready"
}

# Sets status to the runner's.
await_runner() {
    status=0
    wait "$runner" 2>/dev/null || status=$?
}

is "the status is the command's" "$("$run" sh -c 'exit 42' || echo $?)" 42
is "the output is the command's" "$("$run" xenstore-read /local/domain/0/name)" Domain-0
is "so is the input" "$("$run" cat <<<hello)" hello
is "a command that does not exist" "$("$run" /no/such/command 2>/dev/null || echo $?)" 127
nothing_left "after these"

start_messy
kill -TERM "$runner"
await_runner
is "TERM: the command is told, its status returned" "$status" 3
ok "TERM: it could end in its own way" test -e "$scratch/here.ended"
nothing_left "TERM"

start_messy
kill -INT "$runner"
await_runner
is "INT: the command is told to end, its status returned" "$status" 3
nothing_left "INT"

start_messy
{
    kill -KILL "$runner"
    await_runner
} 2>/dev/null
nothing_left "KILL of the runner"

start_messy
command_pid=$(pgrep -f "^/bin/bash $scratch/messy-xensim" | head -n 1)
kill -KILL "$command_pid"
await_runner
is "KILL of the command: the status says so" "$status" 137
nothing_left "KILL of the command"

# shellcheck disable=SC2016 # for the inner shell
"$run" sh -c 'xenstore-write /tool/one 1; while xenstore-write /tool/x 1; do
    [ -e "$1/go" ] && exec xenstore-read /tool/one; sleep 0.05; done' sh "$scratch" \
    >"$scratch/first" &
first=$!
is "two at the same time do not meet" \
    "$("$run" sh -c 'xenstore-exists /tool/one || echo alone')" alone
touch "$scratch/go"
wait "$first"
is "and each keeps its own" "$(cat "$scratch/first")" 1
nothing_left "two at the same time"

if "$run" --userns true 2>/dev/null; then
    is "in a user namespace" "$("$run" --userns sh -c 'toolstack domain-add 3 &&
        xensim as 3 xenstore-read domid')" 3
    nothing_left "in a user namespace"
else
    ok "in a user namespace # SKIP this machine allows none" true
fi

done_testing
