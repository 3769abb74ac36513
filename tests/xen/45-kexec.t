#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 45-kexec.t - a PVH guest ends by kexec, and its domain is soft-reset

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
need_tools

# kexec wants a whole bzImage; the image has only the ELF file in it.  The package is still in the cache.
image=$("$here/build-image")
suite=${image##*/}
packages=${image%/*}/apt-${suite%-*}/single
build=${BUILD:-$(cd "$here/../.." && pwd)/build}
mkdir -p "$build/xen"
dpkg-deb --fsys-tarfile "$packages"/linux-image-*.deb |
    tar -x -O --wildcards './boot/vmlinuz-*' > "$build/xen/vmlinuz"
run_scenario kexec --memory 3072 --add "$build/xen/vmlinuz"
