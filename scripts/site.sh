#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site with the static playground in build/site/book. The first call installs mdBook into build/mdbook.
set -eu
cd "$(dirname "$0")/.."
version=0.5.4
if ! build/mdbook/bin/mdbook --version 2>/dev/null | grep -qx "mdbook v$version"; then
  export PATH="$HOME/.cargo/bin:$PATH"
  echo "site: installing mdbook $version into build/mdbook, once"
  # In a folder outside of the workspace, so that its .cargo/config.toml does not apply.
  target=$(mktemp -d)
  trap 'rm -rf "$target"' EXIT
  root=$PWD/build/mdbook
  # Without optimization: the site is small.
  (cd / && cargo install --quiet --debug --locked --root "$root" --target-dir "$target" --version $version --no-default-features --features search mdbook)
fi
javascript/build.sh || {
  status=$?
  [ $status = 3 ] || exit $status
  rm -f build/javascript/skriptnd.wasm
  echo "site: without the playground, because Rust's target for WebAssembly cannot be installed"
}
python3 scripts/site.py "$@"
