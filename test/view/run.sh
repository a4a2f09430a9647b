#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens pages of `skript view` in headless Chromium. Debian's chromium, nodejs and npm are not among the packages of
# scripts/setup.sh: without them, the test is skipped.
set -eu
cd "$(dirname "$0")/../.."
for program in chromium node npm; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: pages in a browser: $program is not installed (apt-get install chromium nodejs npm)"
    exit 0
  fi
done
skript=${SKRIPT:-$PWD/target/release/skript}
out=$PWD/out/view
modules=$PWD/build/view-test
rm -rf "$out" && mkdir -p "$out" "$modules"
if ! cmp -s test/view/package-lock.json "$modules/package-lock.json"; then
  cp test/view/package.json "$modules/"
  (cd "$modules" && cp "$OLDPWD/test/view/package-lock.json" . && npm ci --no-audit --no-fund --silent) || {
    rm -f "$modules/package-lock.json"
    echo "skipped: pages in a browser: npm cannot install playwright-core"
    exit 0
  }
fi
python3 test/view/long.py >"$out/long.sknd"
cd test/view/inputs
"$skript" view . --weights random:1 --profile profile.json -o "$out/net.html"
"$skript" view . --weights random:1 --profile profile.json -o "$out/again.html"
cmp "$out/net.html" "$out/again.html"
"$skript" view "$out/long.sknd" -o "$out/long.html"
cd ../../..
NODE_PATH="$modules/node_modules" node test/view/page.js "$out"
