#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the code that two compilers generate: scripts/same-code.sh REV|FOLDER [options of same_code.py]. FOLDER has the binaries of the
# compiler before a change; those of a revision are built in build/same-code.
set -eu
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
before=${1:?usage: scripts/same-code.sh REV|FOLDER [--formats obj,ptx,spv] [--sample N]}
shift
if [ ! -x "$before/skript" ]; then
  revision=$(git rev-parse --verify --quiet "$before^{commit}") || { echo "same-code: $before is neither a revision nor a folder with skript"; exit 2; }
  tree=build/same-code/tree
  before=build/same-code/$revision
  if [ ! -x "$before/skript" ]; then
    [ -d "$tree" ] || git worktree add --detach --force "$tree" "$revision"
    git -C "$tree" checkout --quiet --detach "$revision"
    (cd "$tree" && cargo build --release --package skript-tools --target-dir ../target)
    mkdir -p "$before"
    cp build/same-code/target/release/skript build/same-code/target/release/skript-driver "$before"
  fi
fi
cargo build --release --package skript-tools
exec .venv/bin/python scripts/same_code.py "$before" target/release "$@"
