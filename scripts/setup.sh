#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing Debian packages and the Python environment of the tests. Fast if nothing is missing.
set -eu
cd "$(dirname "$0")/.."
packages=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 libclang-22-dev cmake ninja-build
  g++ pkg-config zlib1g-dev libzstd-dev python3-venv curl ca-certificates
  libvulkan1 mesa-vulkan-drivers spirv-tools
  lld-22 qemu-user qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross nodejs
  chromium fonts-dejavu-core)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=
  if [ "$(id -u)" != 0 ]; then as_root=sudo; fi
  echo "setup: installing ${missing[*]}"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

export PATH="$HOME/.cargo/bin:$PATH"
if ! command -v cargo >/dev/null; then
  echo "setup: cargo not found: install Rust from https://rustup.rs; rust-toolchain.toml names the version" >&2
  exit 1
fi

# The target of the static playground and of the npm package. rustup installs it; other Rust installations may lack it.
if [ ! -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ] && command -v rustup >/dev/null; then
  echo "setup: installing Rust's target wasm32-unknown-unknown"
  rustup target add wasm32-unknown-unknown
fi

# `.venv/requirements.txt` is a copy of the requirements from which the environment was created.
requirements=scripts/requirements.txt
if ! cmp -s "$requirements" .venv/requirements.txt; then
  echo "setup: installing the packages of $requirements into .venv"
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -m pip install -q --no-cache-dir --disable-pip-version-check --require-hashes -r "$requirements"
  cp "$requirements" .venv/requirements.txt
fi
