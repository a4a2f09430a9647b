#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the generated documents: scripts/docs.sh [--check]. With --check it prints the differences instead, and fails if there are any.
set -eu
cd "$(dirname "$0")/.."
prefix=$(scripts/llvm/bin/llvm-config --prefix)
check=${1:-}
stale=0

# document PATH COMMAND…: the command's output becomes the file.
document() {
  local path=$1 text
  shift
  text=$("$@")
  if [ "$check" != --check ]; then
    printf '%s\n' "$text" >"$path"
  elif ! diff -u "$path" <(printf '%s\n' "$text"); then
    echo "$path is out of date: run scripts/docs.sh"
    stale=1
  fi
}

dialect() {
  "$prefix/bin/mlir-tblgen" -gen-dialect-doc --dialect=skript -I dialect/include -I "$prefix/include" \
    dialect/include/skript/SkriptOps.td
}

stablehlo() {
  "$prefix/bin/mlir-tblgen" -gen-dialect-doc --dialect=stablehlo -I stablehlo/dialect/include -I "$prefix/include" \
    stablehlo/dialect/include/skript-stablehlo/StablehloOps.td
}

python=.venv/bin/python
built=${CARGO_TARGET_DIR:-target}/release

# The page contains output of skript-opt.
passes() {
  "$built/examples/passes_page"
}

# One build with the features of the whole workspace, so that crates that the tests have built are not built again.
cargo build --release --quiet --workspace --lib --bins --examples
document docs/dialect.md dialect
document docs/diagnostics.md "$built/skript" explain --all
document docs/stdlib.md "$built/skript" ops --markdown
document docs/status.md "$built/skript-tidy" status
document docs/stablehlo-dialect.md stablehlo
document docs/passes.md passes
document docs/onnx.md "$built/examples/onnx_page"
document docs/command-line.md "$python" scripts/reference.py command-line
document docs/python-api.md "$python" scripts/reference.py python
document docs/c-api.md "$python" scripts/reference.py c
document docs/pipelines.md python3 scripts/pipeline_shares.py
exit $stale
