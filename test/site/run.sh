#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site, which checks its links, and opens pages in headless Chromium.
set -eu
cd "$(dirname "$0")/../.."
if ! scripts/site.sh; then
  [ -x build/mdbook/bin/mdbook ] && exit 1
  echo "skipped: documentation site: mdbook cannot be installed"
  exit 0
fi
. test/browser.sh
out=$PWD/out/site
rm -rf "$out" && mkdir -p "$out"
NODE_PATH="$modules/node_modules" node test/site/page.js build/site/book "$out"
