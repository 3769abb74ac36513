#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# service.t - the files that make the daemon a service are right, and it may do no more than it needs

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"
need systemd-analyze systemd

# The most that systemd may say against the unit, in tenths.
exposure_limit=20

unit=$scratch/qnetback.service
sed 's,@SBINDIR@/qnetback,/bin/true,' contrib/systemd/qnetback.service.in >"$unit"

# shellcheck disable=SC2317 # called through ok and fails
verify() { # UNIT
    local output
    output=$(systemd-analyze verify --man=no --recursive-errors=no "$1" 2>&1) || true
    echo "$output"
    ! grep -q "^$1\|${1##*/}:" <<<"$output"
}
# shellcheck disable=SC2317 # called through ok and fails
exposed_too_much() { # UNIT
    systemd-analyze security --offline=true --no-pager --threshold=$exposure_limit "$1"
}

sed 's/^Restart=on-failure/Restart=sometimes/' "$unit" >"$scratch/bad.service"
fails "a wrong line in a unit is found" "sometimes" verify "$scratch/bad.service"
ok "the unit has no wrong line" verify "$unit"
sed 's/^DevicePolicy=.*//; s/^User=.*//; s/^CapabilityBoundingSet=.*//' "$unit" >"$scratch/bad.service"
fails "a unit that may do too much is found" "Overall exposure" exposed_too_much "$scratch/bad.service"
ok "the unit may do little (systemd-analyze security)" exposed_too_much "$unit"

mkdir -p "$scratch/root/etc"
ok "sysusers makes the user" systemd-sysusers --root="$scratch/root" "$PWD/contrib/systemd/sysusers.conf"
ok "that the unit runs as" grep -q "^$(sed -n 's/^User=//p' "$unit"):" "$scratch/root/etc/passwd"
ok "and the group that may use Xen's devices" grep -q "^$(
    sed -n 's/.*GROUP="\([a-z]*\)".*/\1/p' contrib/udev/60-qnetback.rules
):" "$scratch/root/etc/group"

# The daemon's devices are in the unit, and those of Xen in the udev rule.
while read -r device; do
    ok "the unit allows $device" grep -q "^DeviceAllow=$device rw" "$unit"
done < <(grep -rhoE '"/dev/[a-z/-]+"' hw/xen-net --include='*.c' --exclude='sandbox.c' | tr -d '"' | sort -u)
while read -r device; do
    ok "the udev rule knows $device" grep -q "${device#/dev/}" contrib/udev/60-qnetback.rules
done < <(sed -n 's,^DeviceAllow=\(/dev/xen/[a-z]*\) rw,\1,p' "$unit")

if command -v modprobe >/dev/null; then
    modprobe --showconfig --config contrib/modprobe/qnetback.conf >"$scratch/modprobe" 2>&1 || true
    ok "no device takes netback" grep -q '^blacklist xen_netback' "$scratch/modprobe"
    ok "nor does modprobe" grep -q '^install xen_netback /bin/false' "$scratch/modprobe"
    ok "and gives gntalloc its pages" grep -q '^options xen_gntalloc limit=4096' "$scratch/modprobe"
fi
done_testing
