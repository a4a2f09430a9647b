#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the PTX assembler into build/gpu-venv. Fast if it is installed.
set -eu
cd "$(dirname "$0")/../.."
requirements=test/gpu/requirements.txt
venv=build/gpu-venv
if ! cmp -s "$requirements" $venv/requirements.txt; then
  [ -x $venv/bin/python ] || python3 -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r "$requirements"
  cp "$requirements" $venv/requirements.txt
fi
chmod +x $venv/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas
