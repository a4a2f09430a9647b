#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generates the parser in src/ from grammar.js; `--check` compares instead. Uses the tree-sitter of the PATH if it has the pinned
# version, else installs it from crates.io into build/tree-sitter, which takes minutes; `--check` does not install it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
export PATH="$root/build/tree-sitter/bin:$PATH:$HOME/.cargo/bin"
version=$(sed -n 's/.*"tree-sitter-cli": "\(.*\)".*/\1/p' "$here/package.json")
if ! tree-sitter --version 2>/dev/null | grep -qw "$version"; then
  if [ "${1:-}" = --check ]; then
    echo "tree-sitter $version is not installed: editors/tree-sitter-sknd/generate.sh installs it"
    exit 0
  fi
  cargo install --quiet --locked --no-default-features --root "$root/build/tree-sitter" --version "$version" tree-sitter-cli
fi
output=$here/src
if [ "${1:-}" = --check ]; then
  output=$(mktemp -d)
  trap 'rm -rf "$output"' EXIT
fi
# Editors of current distributions read version 14.
(cd "$here" && tree-sitter generate --abi 14 --output "$output" grammar.js)
sha256sum < "$here/grammar.js" | cut -d' ' -f1 > "$output/grammar.sha256"
if [ "${1:-}" = --check ]; then diff -r "$here/src" "$output" && echo "tree-sitter $version generates the parser that is checked in"; fi
