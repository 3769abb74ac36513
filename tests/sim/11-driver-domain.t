#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 11-driver-domain.t - the daemon in a driver domain: xenstore's permissions and quotas
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] || exec "$here/../xensim/xensim-run" --tap "${BASH_SOURCE[0]}" --inside

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/sim/daemon.sh
. "$here/daemon.sh"

toolstack domain-add 1
toolstack domain-add 2
backend_domid=2
daemon_start
store_before=$(xenstore-ls -f /local/domain/2)

# Domain 2's own toolstack (xl devd) would run the script there.
toolstack vif-add 1 0 backend=2
ok "a vif reaches state 2" backend_becomes 1 0 2
xenstore-write "$(backend_of 1 0)/hotplug-status" connected
connects "a guest connects to a driver domain" 1 0
front_stop
refused "nonsense is refused" 1 0 "tx-ring-ref is 'x'" --features tx-ring-ref=x
is "the reason stands below the driver domain's own error node" \
    "$(xenstore-read /local/domain/2/error/backend/vif/1/0/error)" "$(backend_error 1 0)"
connects "then it connects again" 1 0
is "and the reason is gone" "$(xenstore-ls -f /local/domain/2/error)" ""
ok "the error node that the toolstack made is not" xenstore-exists /local/domain/2/error
toolstack vif-remove 1 0
front_stop
ok "the interface is gone" wait_for 5 test ! -e /sys/class/net/vif1.0
is "and the driver domain's directory is as before" "$(xenstore-ls -f /local/domain/2)" "$store_before"

# An unprivileged domain may own 1000 nodes: that is enough for some forty vifs.
for ((devid = 0; devid < 60; devid++)); do
    toolstack vif-write 1 "$devid" backend=2
done
ok "the first of many vifs reaches state 2" backend_becomes 1 0 2
is "the last does not: the quota is used up" "$(backend_state 1 59)" 1
ok "the log says so" wait_for 5 grep -q "vif1.59: .*quota" "$daemon_log"
sleep 3
ok "and not again and again" test "$(grep -c "vif1.59: .*quota" "$daemon_log")" -le 3
for ((devid = 0; devid < 40; devid++)); do
    toolstack vif-remove 1 "$devid"
done
ok "when others are gone, it reaches state 2" backend_becomes 1 59 2
for ((devid = 40; devid < 60; devid++)); do
    toolstack vif-remove 1 "$devid"
done
is "nothing is left in the driver domain's directory" "$(xenstore-ls -f /local/domain/2)" "$store_before"
ok "nor an interface" wait_for 5 no_taps
daemon_stop && status=0 || status=$?
is "the daemon ends" "$status" 0
is "and said nothing of a sanitizer" "$(grep -E 'ERROR: |runtime error' "$daemon_log" || true)" ""

done_testing
