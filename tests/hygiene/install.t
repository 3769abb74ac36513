#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install.t - "make install" puts everything below DESTDIR, and "make uninstall" takes it away again

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

need scdoc
# (The environment's MAKEFLAGS say how it was built.)
if [ ! -x "${BUILD:-build}/qnetback" ]; then
    echo "1..0 # SKIP nothing is built that could be installed"
    exit 0
fi

to=$scratch/to
# shellcheck disable=SC2317 # called through ok
files_left() {
    find "$to" ! -type d ! -path '*/etc/*' | grep .
}

mkdir -p "$to/usr/local/bin" "$to/usr/local/share/doc/another"
touch "$to/usr/local/bin/another"
ok "make install" make PREFIX=/usr/local SYSCONFDIR=/usr/local/etc DESTDIR="$to" install
for file in sbin/qnetback bin/qnetctl share/man/man8/qnetback.8 share/man/man1/qnetctl.1 \
    lib/systemd/system/qnetback.service \
    share/doc/qnetback/{README.md,LICENSE,xenstore-schema/README.md}; do
    ok "$file is there" test -s "$to/usr/local/$file"
done
ok "make uninstall" make PREFIX=/usr/local SYSCONFDIR=/usr/local/etc DESTDIR="$to" uninstall
ok "leaves what it did not put there" test "$(files_left)" = "$to/usr/local/bin/another"
ok "and no directory of its own" test ! -e "$to/usr/local/share/doc/qnetback"
done_testing
