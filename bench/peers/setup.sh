#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the other engines into build/peers-venv, if any is missing.
set -eu
cd "$(dirname "$0")/../.."
requirements=bench/peers/requirements.txt environment=build/peers-venv
# `$environment/requirements.txt` is a copy of the requirements that the environment was built from.
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  echo "peers: installing the packages of $requirements into $environment"
  [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
