#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the crates with unsafe code that do not link MLIR under AddressSanitizer. The sanitizer is part of the stable
# toolchain, but its flag is not stable. The standard library is not instrumented.
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${SKRIPT_SANITIZER_DIR:-target/sanitize} RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0
export RUSTFLAGS="-Zsanitizer=address -Copt-level=1"
# Leaks are not errors.
export ASAN_OPTIONS=detect_leaks=0
# Build scripts are not instrumented if there is a target.
cargo test --quiet --target "$(rustc -vV | sed -n 's/^host: //p')" -p skript-tensor -p skript-host -p skript-runtime --lib --tests --no-fail-fast
