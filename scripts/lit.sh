#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the lit suites: scripts/lit.sh [--debug] [options of lit] [paths below test/]
# SKRIPT_BINARIES names the folder of skript, skript-opt, …; it is target/release, or target/debug with --debug.
set -eu
cd "$(dirname "$0")/.."
binaries=${SKRIPT_BINARIES:-$PWD/target/release}
if [ "${1:-}" = --debug ]; then
  binaries=$PWD/target/debug
  shift
fi
llvm=$(scripts/llvm/bin/llvm-config --prefix)/bin
paths=()
for argument in "$@"; do
  if [ -e "$argument" ]; then paths+=("$argument"); fi
done
[ ${#paths[@]} -gt 0 ] || set -- "$@" test
exec "$llvm/lit" --param binaries="$binaries" --param llvm="$llvm" -sv "$@"
