#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aarch64.sh WHEEL: loads a model in the wheel of skript-runtime for AArch64, under qemu, with Debian's Python for that processor,
# which debootstrap unpacks into build/python-aarch64. Needs root.
set -eu
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=$PWD/build/python-aarch64
if ! [ -x "$root/usr/bin/python3.11" ]; then
  rm -rf "$root"
  debootstrap --arch=arm64 --foreign --variant=minbase --include=python3-minimal,libpython3-stdlib bookworm "$root" >"$root.log"
  for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"; done
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m zipfile -e "$wheel" "$folder/site"
numpy=$(sed -n 's/^numpy==\([0-9.]*\).*/\1/p' scripts/requirements.txt)
.venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64 -d "$folder" "numpy==$numpy"
python3 -m zipfile -e "$folder"/numpy-*.whl "$folder/site"
echo 'import math; graph G { @input { x: real[n|8]; } @output { y: real[n]; } @compose { y = math.sqrt(x); } }' >"$folder/main.sknd"
target/release/skript compile "$folder/main.sknd" --target=aarch64-linux-gnu -o "$folder/model.skm"
PYTHONPATH=$folder/site PYTHONHOME=$root/usr qemu-aarch64 -L "$root" "$root/usr/bin/python3.11" - "$folder/model.skm" <<'PYTHON'
import platform, sys
import skript_runtime
result = skript_runtime.load(sys.argv[1])([4.0, 9.0]).tolist()
assert (result, platform.machine()) == ([2, 3], "aarch64"), result
print("skript-runtime on %s: %s" % (platform.machine(), result))
PYTHON
