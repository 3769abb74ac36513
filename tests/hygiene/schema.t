#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# schema.t - the list of xenstore keys is sound, its table is fresh, and no key goes past it

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

# A copy of the generator with a schema of its own.
with_schema() { # line of the schema
    mkdir -p "$scratch/schema"
    cp xenstore-schema/generate "$scratch/schema/"
    printf '%s\n' "$1" >"$scratch/schema/test.schema"
    "$scratch/schema/generate" header
}

# shellcheck disable=SC2317 # called through ok
table_is_fresh() {
    xenstore-schema/generate readme >"$scratch/README.md"
    diff -u xenstore-schema/README.md "$scratch/README.md" || {
        echo "run: make schema"
        return 1
    }
}

# Keys by name in the daemon's source, other than the generated ones.
# shellcheck disable=SC2317 # called through ok
no_key_goes_past_the_schema() { # directory
    ! grep -rnE '"/?(feature-|request-|multi-queue|event-channel|hotplug-|[a-z]+-ring-ref|frontend-id)' "$1"
}

# shellcheck disable=SC2317 # called through ok
every_key_is_used() {
    local name unused=''
    while read -r name; do
        grep -rqE "\\b$name(_read|_write)?\\b" hw/xen-net || unused="$unused $name"
    done < <(xenstore-schema/generate header | sed -n 's/^static const struct XnKey \([a-z0-9_]*\) .*/\1/p' |
        grep -v '^key_own_domid$')
    echo "in the schema but not in the source:$unused"
    [ -z "$unused" ]
}

ok 'the table in README.md is what "make schema" writes' table_is_fresh
ok 'every key of the schema is read or written' every_key_is_used
ok 'the daemon names no key but through the schema' no_key_goes_past_the_schema hw/xen-net

mkdir "$scratch/source"
echo 'store_read(store, "feature-sg", error);' >"$scratch/source/a.c"
fails 'a key that goes past the schema is found' 'a.c:1' no_key_goes_past_the_schema "$scratch/source"
fails 'a line with too few columns is refused' 'columns' with_schema 'backend | a | b | reads | flag | | 0'
fails 'an unknown type is refused' 'type' with_schema 'backend | a | b | reads | float | | 0 | m'
fails 'an unknown directory is refused' 'directory' with_schema 'elsewhere | a | b | reads | flag | | 0 | m'
fails 'a number without a range is refused' 'range' with_schema 'backend | a | b | reads | number | | 0 | m'
fails 'a key that is listed twice is refused' 'twice' with_schema 'backend | a | b | reads | flag | | 0 | m
backend | a | b | reads | flag | | 0 | m'

done_testing
