#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens pages of `skript view` in headless Chromium.
set -eu
cd "$(dirname "$0")/../.."
. test/browser.sh
skript=${SKRIPT:-$PWD/target/release/skript}
out=$PWD/out/view
rm -rf "$out" && mkdir -p "$out"
python3 test/view/long.py >"$out/long.sknd"
cd test/view/inputs
"$skript" view . --weights random:1 --profile profile.json -o "$out/net.html"
"$skript" view . --weights random:1 --profile profile.json -o "$out/again.html"
cmp "$out/net.html" "$out/again.html"
"$skript" view "$out/long.sknd" -o "$out/long.html"
cd ../../..
NODE_PATH="$modules/node_modules" node test/view/page.js "$out"
