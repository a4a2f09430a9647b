#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the tools of releases into build/release-tools, from PyPI, with pinned hashes; with --zig, also zig.
set -eu
cd "$(dirname "$0")/../.."
tools=build/release-tools
# `$tools/*.txt` are copies of the requirements that were installed into the environment.
if ! cat python/requirements.txt scripts/release/requirements.txt | cmp -s - "$tools/requirements.txt"; then
  echo "release: installing the packages of scripts/release/requirements.txt into $tools"
  [ -x "$tools/bin/python" ] || python3 -m venv "$tools"
  for requirements in python/requirements.txt scripts/release/requirements.txt; do
    "$tools/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$requirements"
  done
  cat python/requirements.txt scripts/release/requirements.txt >"$tools/requirements.txt"
fi
if [ "${1:-}" = --zig ] && ! cmp -s scripts/release/zig.txt "$tools/zig.txt"; then
  "$tools/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r scripts/release/zig.txt
  cp scripts/release/zig.txt "$tools/zig.txt"
fi
