#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of Cargo. Libraries with unit tests are compiled a second time for these: large ones without optimization, which
# takes a third of the time (tests of skript-frontend limit times). Their dependencies are those of `cargo build --release`.
set -u
cd "$(dirname "$0")/.."
large=(skript-import skript-passes skript-runtime skript-stablehlo skript-tools)
status=0
excluded=() selected=()
tests() { cargo test --release --quiet --no-fail-fast "$@" || status=1; }
for package in "${large[@]}"; do
  excluded+=(--exclude "$package")
  selected+=(-p "$package")
  # skript-features selects the features with which `cargo build --workspace` builds dependencies.
  tests -p "$package" -p skript-features --lib --bins --config "profile.release.package.$package.opt-level=0"
done
tests --workspace "${excluded[@]}"
tests "${selected[@]}" --test '*'
tests "${selected[@]}" --doc
exit $status
