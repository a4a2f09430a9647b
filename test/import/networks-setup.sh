#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs torch and networks into build/networks-venv. Fast if nothing is missing.
set -eu
cd "$(dirname "$0")/../.."
requirements=test/import/networks-requirements.txt environment=build/networks-venv
# `$environment/requirements.txt` is a copy of the requirements that were installed into the environment.
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  echo "networks: installing the packages of $requirements into $environment (several GB)"
  [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
