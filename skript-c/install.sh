#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the library and its header: skript-c/install.sh DIR writes DIR/lib/libskript-c.so and DIR/include/skript.h.
set -eu
cd "$(dirname "$0")/.."
to=$1
mkdir -p "$to/lib" "$to/include"
cp "${CARGO_TARGET_DIR:-target}/release/libskript_c.so" "$to/lib/libskript-c.so"
cp skript-c/include/skript.h "$to/include/"
