#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# configure.t - configure and install-packages name what is missing, and do no harm

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS LDFLAGS PKG_CONFIG
mkdir "$scratch/src" "$scratch/bin"
cp configure "$scratch/src"

ok "configure succeeds" "$scratch/src/configure" --prefix=/opt/qnetback
ok "it writes config.mak" grep -q '^PREFIX = /opt/qnetback$' "$scratch/src/config.mak"
cp "$scratch/src/config.mak" "$scratch/before"

fails "an unknown option is refused" "unknown option '--wrong'" "$scratch/src/configure" --wrong
fails "a missing library is named with its package" "xengnttab +MISSING, from the Debian package libxen-dev" \
    env PKG_CONFIG=false "$scratch/src/configure"
fails "the packages of all are in one line for root" \
    "apt-get install --no-install-recommends (--reinstall )?libglib2.0-dev libjson-glib-dev libmnl-dev [a-z0-9. -]*libxen-dev$" \
    env PKG_CONFIG=false "$scratch/src/configure"
fails "so is pkg-config" "MISSING, from the Debian package pkg-config" \
    env PKG_CONFIG=/nonexistent/pkg-config "$scratch/src/configure"
fails "a compiler that does not work is named" "nonexistent-cc cannot compile" \
    env CC=nonexistent-cc "$scratch/src/configure"
ok "a failure leaves config.mak as it was" cmp "$scratch/before" "$scratch/src/config.mak"
rm "$scratch/src/config.mak"
fails "a failure on the first run" "missing, see above" env PKG_CONFIG=false "$scratch/src/configure"
ok "leaves no config.mak" test ! -e "$scratch/src/config.mak"
ok "and nothing else" test "$(ls -A "$scratch/src")" = configure

# A machine with few packages, and apt-get that only tells how it was called.
fake() { # name; the program on stdin
    { echo '#!/bin/sh' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
# shellcheck disable=SC2317 # called through ok and fails
install_packages() {
    PATH="$scratch/bin:$PATH" scripts/install-packages "$@"
}
# shellcheck disable=SC2317 # called through ok
silent() {
    [ -z "$("$@" 2>&1)" ]
}

# shellcheck disable=SC2317 # called through ok
calls() { # number, pattern
    [ "$(grep -c -- "$2" "$scratch/calls")" = "$1" ]
}
fake dpkg-query <<<"echo 'installed gcc'; echo 'config-files pkg-config'; exit 1"
fake apt-get <<<"echo \"\$@\" >>'$scratch/calls'"
fake id <<<"echo 1000"

fails "as an ordinary user it prints the line for root" \
    "apt-get install --no-install-recommends libc6-dev pkg-config " install_packages build
ok "packages that are only useful are no reason to fail" install_packages --optional build
fails "the line has these, too, when others are needed" \
    "apt-get install --no-install-recommends libc6-dev pkg-config .* qemu-system-x86 " \
    install_packages build --optional xen
ok "and apt-get was not called" test ! -e "$scratch/calls"
fails "an unknown group is refused" "no group 'wrong'" install_packages wrong
fake id <<<"echo 0"
ok "root installs what is missing" install_packages build
ok "without recommended packages" calls 1 'Timeout=300 install --no-install-recommends libc6-dev pkg-config '
# The lists are fetched when apt-get cannot find a package in those it has.
fake apt-get <<<"echo \"\$@\" >>'$scratch/calls'; case \"\$*\" in *install*) grep -q update '$scratch/calls' ;; esac"
rm "$scratch/calls"
ok "root fetches the package lists when they are missing" install_packages build
ok "once" calls 1 update
fake apt-get <<<"exit 100"
fails "a failing apt-get is an error" "could not install: libc6-dev" install_packages build
fake dpkg-query <<'END'
for package; do
    case $package in -*) ;; *) echo "installed $package" ;; esac
done
END
ok "with everything there it says nothing" silent install_packages build test
done_testing
