#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheels, installs them into a new environment, and runs the tests there. The system's LLVM packages must not be loaded.
set -eu
cd "$(dirname "$0")/../.."
python/wheels.sh
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh/venv"
"$fresh/venv/bin/python" -m pip install -q --disable-pip-version-check build/wheels/skript*.whl
limit() { [ "$(stat -c %s $1)" -le "$2" ] || { echo "$1 is larger than $2 bytes"; exit 1; }; }
limit "build/wheels/skript-[0-9]*.whl" 115000000
limit "build/wheels/skript_runtime-*.whl" 5000000
# Wheels of equal binaries have equal bytes.
python3 -c 'import sys, zipfile
for wheel in sys.argv[1:]:
    times = {entry.date_time for entry in zipfile.ZipFile(wheel).infolist()}
    if len(times) > 1:
        sys.exit("%s: its files have the times %s" % (wheel, sorted(times)))' build/wheels/skript*.whl
here=$PWD
cd "$fresh"
venv/bin/python "$here/test/python/package.py" --installed
venv/bin/python "$here/test/python/imported.py" --installed
venv/bin/python "$here/test/python/alone.py"
venv/bin/python "$here/test/python/device.py" --installed
venv/bin/skript --version
venv/bin/skript check "$here/examples/perceptron"
