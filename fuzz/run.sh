#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets and runs them: fuzz/run.sh [SECONDS [TARGET…]]. It needs neither cargo-fuzz nor a nightly compiler: the
# compiler of the project instruments the crates. The first inputs are those of test/hostile. Corpora are in target/fuzz/corpus,
# findings beside them. The target stablehlo, which links MLIR, runs only if it is named.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- parse format compose onnx gguf arrays artifact language_server
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR=$PWD/../target/fuzz RUSTC_BOOTSTRAP=1
coverage="-sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares"
flags="-Cpasses=sancov-module --cfg fuzzing -Cdebug-assertions"
for option in $coverage; do flags="$flags -Cllvm-args=$option"; done
targets=() features=
for target in "$@"; do
  targets+=(--bin "$target")
  if [ "$target" = stablehlo ]; then features=mlir; fi
done
# Build scripts are not instrumented if there is a target.
RUSTFLAGS=$flags cargo build --quiet --release --target "$host" --features "$features" "${targets[@]}"
cd ../target/fuzz
# Some targets write a file in each execution.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm
TIMEFORMAT="   %U s of processor time"
for target in "$@"; do
  mkdir -p "corpus/$target"
  python3 ../../fuzz/seeds.py "$target" "corpus/$target"
  echo "== $target"
  # The timeout is wall-clock time, of instrumented code.
  time "$host/release/$target" "corpus/$target" -max_len=16384 -timeout=60 -rss_limit_mb=4096 -max_total_time="$seconds" -print_final_stats=1 \
    -verbosity=0
done
