#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mutation testing: scripts/mutants.sh [CRATE…] [-- options of cargo-mutants]. Changes each function in a copy of the tree, one change
# at a time, runs the tests of its crate, and prints the changes that no test detects. The results are in build/mutants/CRATE.
# The crate skript-passes means its recognizer, which links MLIR and compiles slowly. .cargo/mutants.toml lists changes that no
# test can detect. The documentation's examples are not run. The first call installs cargo-mutants into build/cargo-mutants.
#
#   scripts/mutants.sh skript-symbolic -- --shard 0/12      a twelfth of the changes
set -eu
cd "$(dirname "$0")/.."
version=27.1.0
crates=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  crates+=("$1")
  shift
done
[ $# -eq 0 ] || shift
[ ${#crates[@]} -gt 0 ] || crates=(skript-symbolic skript-semantics skript-tensor)
if ! build/cargo-mutants/bin/cargo-mutants mutants --version 2>/dev/null | grep -qx "cargo-mutants $version"; then
  echo "mutants: installing cargo-mutants $version into build/cargo-mutants, once"
  target=$(mktemp -d)
  trap 'rm -rf "$target"' EXIT
  root=$PWD/build/cargo-mutants
  (cd / && cargo install --quiet --locked --root "$root" --target-dir "$target" --version $version cargo-mutants)
fi
# The tests compute functions on many arguments.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=${CARGO_PROFILE_DEV_OPT_LEVEL:-1}
failed=0
for crate in "${crates[@]}"; do
  files=()
  if [ "$crate" = skript-passes ]; then files=(--file "passes/src/structure/**"); fi
  mkdir -p "build/mutants/$crate"
  # Status 2: some changes were not detected.
  build/cargo-mutants/bin/cargo-mutants mutants --package "$crate" ${files[@]+"${files[@]}"} --gitignore true --jobs 1 --timeout 120 --no-shuffle \
    --sharding round-robin --colors never --cargo-test-arg=--lib --cargo-test-arg=--tests --output "build/mutants/$crate" "$@" || failed=$?
done
exit $failed
