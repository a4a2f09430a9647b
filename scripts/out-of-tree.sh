#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the dialect as a CMake package, and builds the tool of examples/out-of-tree with it.
set -eu
cd "$(dirname "$0")/.."
prefix=$(scripts/llvm/bin/llvm-config --prefix)
built=target/release/dialect-library/cmake
installed=$PWD/build/installed
cargo build --release --quiet -p skript-passes-c
rm -rf "$installed" build/out-of-tree
cmake --install "$built" --prefix "$installed" >/dev/null
cmake -S examples/out-of-tree -B build/out-of-tree -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER="$prefix/bin/clang" -DCMAKE_CXX_COMPILER="$prefix/bin/clang++" \
  -DCMAKE_PREFIX_PATH="$installed;$prefix" >/dev/null
cmake --build build/out-of-tree >build/out-of-tree/log || {
  cat build/out-of-tree/log >&2
  exit 1
}
target/release/skript compile examples/perceptron --emit=skript -o build/out-of-tree/model.mlir
said=$(build/out-of-tree/skript-kernels build/out-of-tree/model.mlir)
for line in '^operator main\.' '^formula sum: ' '^elementwise skript\.mul: '; do
  if ! grep -q "$line" <<<"$said"; then
    printf 'no line `%s` in\n%s\n' "$line" "$said" >&2
    exit 1
  fi
done

# The passes lower the model in a separate process with the same result as in the compiler.
pipeline=$(target/release/skript compile --print-pipeline --emit=llvm-dialect)
build/out-of-tree/skript-lower build/out-of-tree/model.mlir "$pipeline" >build/out-of-tree/lowered.mlir
target/release/skript compile examples/perceptron --emit=llvm-dialect --no-locations -o build/out-of-tree/compiled.mlir
diff build/out-of-tree/lowered.mlir build/out-of-tree/compiled.mlir
build/out-of-tree/skript-lower build/out-of-tree/model.mlir | grep -q linalg.generic

# The passes as a plugin for upstream's mlir-opt.
plugin=target/release/libSkriptPasses.so
passes='builtin.module(skript-to-linalg-tensors,one-shot-bufferize{bufferize-function-boundaries})'
"$prefix/bin/mlir-opt" --load-dialect-plugin=$plugin --load-pass-plugin=$plugin --pass-pipeline="$passes" \
  build/out-of-tree/model.mlir >build/out-of-tree/buffers.mlir
grep -q 'linalg.generic.*memref' build/out-of-tree/buffers.mlir
if grep -q 'skript\.formula\|tensor<' build/out-of-tree/buffers.mlir; then
  echo "the pipeline left formulas or tensors" >&2
  exit 1
fi
