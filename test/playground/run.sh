#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Serves the playground, sends requests that it must refuse, and types into its page and into the static one in
# headless Chromium.
set -eu
cd "$(dirname "$0")/../.."
scripts/playground-editor.sh --check
. test/browser.sh
skript=${SKRIPT:-$PWD/target/release/skript}
out=$PWD/out/playground
rm -rf "$out" && mkdir -p "$out/tmp"
TMPDIR=$out/tmp NODE_PATH="$modules/node_modules" node test/playground/requests.js "$skript"
TMPDIR=$out/tmp NODE_PATH="$modules/node_modules" node test/playground/page.js "$skript" "$out"
if javascript/build.sh; then
  python3 scripts/playground_page.py "$out/static.html"
  NODE_PATH="$modules/node_modules" node test/playground/static.js "$skript" "$out"
else
  [ $? = 3 ] || exit 1
  echo "skipped: the static playground: Rust's target for WebAssembly cannot be installed"
fi
# The servers have ended, and removed their files.
if ls "$out"/tmp | grep -q skript-playground; then
  echo "playground: files remain in $out/tmp"
  exit 1
fi
