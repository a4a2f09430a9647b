#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of pages: installs the npm package playwright-core, which drives Chromium, and sets `modules` to its folder. If a
# requirement is missing, the test ends with a message that it is skipped.
version=1.65.1
integrity=hqPpz7blSMPxWVdoeE1yiBSzXsKiVOd2k+kjCvmUywD2GPO2Dd9HfcWnq9NN0GHbNZDFgZ9JfBFr+X5/BLo0qw==
for program in chromium node curl; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: pages in a browser: $program is not installed (scripts/setup.sh)"
    exit 0
  fi
done
# playwright-core requires this version.
if [ "$(node -p 'process.versions.node.split(".")[0] >= 20')" != true ]; then
  echo "skipped: pages in a browser: node $(node -p process.versions.node) is older than 20"
  exit 0
fi
modules=$PWD/build/playwright-$version
mkdir -p "$PWD/build"
if [ ! -d "$modules" ]; then
  package=$(mktemp -d "$PWD/build/playwright.XXXXXX")
  trap 'rm -rf "$package"' EXIT
  if ! curl -sSf -o "$package/package.tgz" "https://registry.npmjs.org/playwright-core/-/playwright-core-$version.tgz"; then
    echo "skipped: pages in a browser: playwright-core $version cannot be fetched"
    exit 0
  fi
  echo "$(openssl dgst -sha512 -binary "$package/package.tgz" | base64 -w 0)" | grep -qxF "$integrity" || {
    echo "pages in a browser: playwright-core $version has another checksum"
    exit 1
  }
  mkdir "$package/node_modules"
  tar -xzf "$package/package.tgz" -C "$package/node_modules"
  mv "$package/node_modules/package" "$package/node_modules/playwright-core"
  rm "$package/package.tgz"
  mv "$package" "$modules"
fi
