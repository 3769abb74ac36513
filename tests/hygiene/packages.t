#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# packages.t - the source archive is reproducible; the Debian packages build, are clean, install and go

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

version=$(sed -n 's/^VERSION := //p' Makefile)

# --- the source archive ---

ok "the source is packed" scripts/make-dist "$version" "$scratch/one.tar.xz"
sleep 1.1
ok "once more" env TZ=Asia/Tokyo LC_ALL=C scripts/make-dist "$version" "$scratch/two.tar.xz"
ok "with the same bytes" cmp "$scratch/one.tar.xz" "$scratch/two.tar.xz"
mkdir "$scratch/dist"
tar -x -C "$scratch/dist" -f "$scratch/one.tar.xz"
ok "it has each file of the tree" diff <(scripts/list-files all | LC_ALL=C sort) \
    <(cd "$scratch/dist/qnetback-$version" && find . -type f -printf '%P\n' | LC_ALL=C sort)
(
    cd "$scratch/dist/qnetback-$version"
    SOURCE_DATE_EPOCH=1 scripts/make-dist "$version" "$scratch/three.tar.xz"
)
SOURCE_DATE_EPOCH=1 scripts/make-dist "$version" "$scratch/four.tar.xz"
ok "packed from the archive it is the same again" cmp "$scratch/three.tar.xz" "$scratch/four.tar.xz"
ok "the Debian changelog is of this version" grep -q "^qnetback ($version-" <(head -n 1 debian/changelog)
# shellcheck disable=SC2317 # called through ok
changelog_knows_version() {
    grep -q "^## \[$version\]" CHANGELOG.md || grep -q '^## \[Unreleased\]' CHANGELOG.md
}
ok "so is ours, or it has what is not released yet" changelog_knows_version

# --- the packages ---

# What every Debian machine that builds packages has, and what names another package there.
# shellcheck disable=SC2317 # called through ok
build_depends_are_those_of() { # FILE
    diff <(awk '$1 == "build" { print $2 }' "$1" | grep -vxE 'gcc|libc6-dev' | LC_ALL=C sort) \
        <(sed -n '/^Build-Depends:/,/^[^ ]*:/p' debian/control | grep -oE '^(Build-Depends:)? +[a-z0-9.+-]+' |
            sed 's/.* //' | grep -v '^debhelper' | LC_ALL=C sort)
}
printf 'build gcc why\nbuild libnew-dev why\n' >"$scratch/list"
fails "a library that is not in debian/control is found" "libnew-dev" build_depends_are_those_of "$scratch/list"
ok "debian/control has what scripts/packages has to build with" build_depends_are_those_of scripts/packages

skip_rest() { # REASON
    echo "ok $((tap_count += 1)) - the Debian packages # SKIP $*"
    done_testing
    exit 0
}
for tool in dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian fakeroot:fakeroot; do
    command -v "${tool%:*}" >/dev/null || skip_rest "${tool%:*} is not installed (Debian package ${tool#*:})"
done

# (The unit tests have been run, as a part of make check.)
debs=$scratch/debs
ok "the packages build" env DEB_BUILD_OPTIONS=nocheck scripts/build-deb "$version" "$debs"
[ -n "$(find "$debs" -name '*.deb' -print -quit)" ] || {
    done_testing
    exit 0
}
cp debian/tests/packages "$debs/autopkgtest"
ok "lintian has nothing to say" lintian --fail-on error,warning --allow-root "$debs"/*.changes

# Installed into a root of their own, without scripts: what they hold works where it lies.
root=$scratch/root
for package in qnetback qnetback-tools qnetback-tests; do
    dpkg-deb -x "$debs/${package}_$version-"*_amd64.deb "$root"
done
ok "the installed daemon starts" "$root/usr/sbin/qnetback" --version
# shellcheck disable=SC2317 # called through ok
each_has_page() {
    local program
    for program in "$root"/usr/sbin/* "$root"/usr/bin/*; do
        ls "$root"/usr/share/man/man[18]/"${program##*/}".[18].gz || return 1
    done
}
ok "each program has a page of the manual" each_has_page
ok "the unit's program is there" test -x "$root$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' \
    "$root/lib/systemd/system/qnetback.service")"
# What follows happens in a copy of this machine's own root that keeps its changes to itself.
cat >"$scratch/in-copy" <<'END'
#!/bin/bash
# usage: in-copy SCRATCH COMMAND...: in a mount namespace; what changes goes with it
set -euo pipefail
scratch=$1
shift
mount -t tmpfs tmpfs "$scratch/changes"
mkdir "$scratch/changes/upper" "$scratch/changes/work"
mount -t overlay -o "lowerdir=/,upperdir=$scratch/changes/upper,workdir=$scratch/changes/work" overlay "$scratch/copy"
mount --bind "$scratch/debs" "$scratch/copy/mnt"
mount --rbind /proc "$scratch/copy/proc"
mount --rbind /dev "$scratch/copy/dev"
mount -t tmpfs tmpfs "$scratch/copy/run"
mount -t tmpfs tmpfs "$scratch/copy/tmp"
printf '#!/bin/sh\nexit 101\n' >"$scratch/copy/usr/sbin/policy-rc.d"
chmod 755 "$scratch/copy/usr/sbin/policy-rc.d"
chroot "$scratch/copy" bash -euo pipefail -c "$@"
END
mkdir -p "$scratch/copy" "$scratch/changes"
# shellcheck disable=SC2317 # called through ok
in_copy() { # SCRIPT
    env -u BUILD unshare --mount bash "$scratch/in-copy" "$scratch" "$1"
}
if ! reason=$(in_copy true 2>&1); then
    skip_rest "installing them: no overlay of the root here: ${reason##*$'\n'}"
fi
# (Not every dependency is on this machine.)
install='cd /mnt && dpkg --force-depends -i qnetback_*.deb qnetback-tools_*.deb qnetback-tests_*.deb >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
'
ok "they can be installed" in_copy "$install
    qnetback --version
    getent passwd qnetback
    test -e /etc/systemd/system/multi-user.target.wants/qnetback.service"
ok "an installed unit test passes" in_copy "$install
    /usr/libexec/xen/tests/run-qnetback-tests /usr/libexec/xen/tests/qnetback-unit-netif-*"
ok "without Xen, the contract says that it skips" in_copy "$install
    cd /usr/libexec/xen/tests
    status=0; ./run-qnetback-tests ./qnetback-contract || status=\$?
    test \$status = 3 || test -c /dev/xen/gntdev"
ok "the simulated host is complete" in_copy "$install
    status=0; /usr/libexec/xen/tests/run-qnetback-tests /usr/libexec/xen/tests/qnetback-sim-15-service || status=\$?
    test \$status = 0 || test \$status = 3"
ok "the tests of autopkgtest pass" in_copy "$install
    bash /mnt/autopkgtest"
ok "they can be installed over themselves" in_copy "$install $install
    test -e /etc/qnetback/qnetback.conf"
ok "a changed setting survives an upgrade and a removal" in_copy "$install
    echo 'workers = 3' >>/etc/qnetback/qnetback.conf
    $install
    dpkg --force-depends -r qnetback >/tmp/log 2>&1
    grep 'workers = 3' /etc/qnetback/qnetback.conf
    test ! -e /lib/modprobe.d/qnetback.conf"
ok "a purge leaves nothing" in_copy "find / -xdev | sort >/run/before
    $install
    mkdir -p /run/qnetback/journal
    dpkg --force-depends -P qnetback-tests qnetback-tools qnetback >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
    find / -xdev | sort >/run/after
    diff /run/before /run/after | grep '^[<>]' | grep -vE '^[<>] /(var/(lib/(dpkg|systemd)|cache|log)|etc/(passwd|group|g?shadow|subuid|subgid)-|etc/\.pwd\.lock)' && exit 1
    test ! -e /run/qnetback
    ! getent passwd qnetback && ! getent group qnetback"
done_testing
