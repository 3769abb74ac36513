#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 00-contract-xenstored.t - the contract suite once more, with the xenstore daemon that is written in C
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] ||
    exec "$here/../xensim/xensim-run" --tap --store xenstored "${BASH_SOURCE[0]}" --inside

toolstack domain-add 1
exec contract --peer "exec xensim as 1 contract --serve"
