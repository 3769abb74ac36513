#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 00-contract.t - the contract suite on the simulated host, in two domains
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] || exec "$here/../xensim/xensim-run" --tap "${BASH_SOURCE[0]}" --inside

toolstack domain-add 1
exec contract --peer "exec xensim as 1 contract --serve"
