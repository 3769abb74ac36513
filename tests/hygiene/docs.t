#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# docs.t - the documentation's links lead somewhere, its names exist, and its commands run
#
# Commands in blocks that are marked as sh are run here, in the top of the tree, with the build on PATH.
# Others need a Xen host; of those, the names are checked: verbs, options, settings, counters, files.

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

export BUILD=${BUILD:-$PWD/build}
if [ ! -x "$BUILD/qnetctl" ] || [ ! -x "$BUILD/qnetback" ]; then
    echo "1..0 # SKIP $BUILD has no programs yet: make programs"
    exit 0
fi
mapfile -t pages < <(scripts/list-files text | grep -E '\.md$')

# Prints the links of a page that lead nowhere in the tree.
dead_links() { # PAGE
    local target
    { grep -oE '\]\([^)#]+' "$1" || true; } | sed 's/^](//' | grep -vE '^(https?|mailto):' | sort -u | while read -r target; do
        [ -e "$(dirname "$1")/$target" ] || echo "$1: $target"
    done
}
# Prints the names in `code` that do not exist: counters, verbs, files.
# shellcheck disable=SC2016 # backquotes of Markdown
missing_names() { # PAGE
    local name
    { grep -oE '`guest_[tr]x_[a-z_]+`|`evtchn_[a-z]+`' "$1" || true; } | tr -d '`' | sort -u | while read -r name; do
        grep -rqw "$name" hw/xen-net || echo "$1: there is no $name"
    done
    { grep -oE '`qnetctl [a-z][a-z-]+' "$1" || true; } | sed 's/.*qnetctl //' | sort -u | while read -r name; do
        "$BUILD/qnetctl" --help | grep -qE "^ +$name( |$)" || echo "$1: qnetctl has no verb $name"
    done
    { grep -oE '`(hw|tests|scripts|contrib|docs|debian|xenstore-schema|netif|data|control|port|base)/[a-zA-Z0-9._/-]+`' "$1" || true; } |
        tr -d '`' | sort -u | while read -r name; do
        [ -e "$name" ] || [ -e "hw/xen-net/$name" ] || compgen -G "hw/xen-net/$name.*" >/dev/null || [[ $name = */name.t ]] || echo "$1: there is no $name"
    done
}
# shellcheck disable=SC2317 # called through ok
nothing() { # COMMAND...: prints nothing
    local output
    output=$("$@")
    echo "$output"
    [ -z "$output" ]
}

# shellcheck disable=SC2016 # backquotes of Markdown
printf '[a](nowhere.md) `guest_tx_nonsense` `data/nothing.c` `qnetctl frobnicate`\n' >"$scratch/bad.md"
ok "a dead link is found" test "$(dead_links "$scratch/bad.md" | wc -l)" = 1
ok "so are names that do not exist" test "$(missing_names "$scratch/bad.md" | wc -l)" = 3
for page in "${pages[@]}"; do
    ok "$page: links" nothing dead_links "$page"
    ok "$page: names" nothing missing_names "$page"
done

# The settings that pages name are settings.
# shellcheck disable=SC2317 # called through ok
settings_exist() {
    local name
    for name in workers max-queues guest-rx-drain guest-rx-stall log-level; do
        grep -q "^#$name = " contrib/qnetback.conf || return 1
    done
}
ok "the settings that docs/migration.md and docs/deployment.md name exist" settings_exist

# The blocks that are marked as commands.
blocks=0
PATH=$BUILD:$PATH
for page in "${pages[@]}"; do
    awk -v prefix="$scratch/block" '/^```sh$/ { file = prefix "." ++n; next } /^```/ { file = "" } file { print > file }' "$page"
    for block in "$scratch"/block.*; do
        [ -e "$block" ] || continue
        blocks=$((blocks + 1))
        ok "$page: $(head -n 1 "$block")" bash -euo pipefail "$block"
        rm "$block"
    done
done
ok "there are such blocks" test "$blocks" -ge 2
done_testing
