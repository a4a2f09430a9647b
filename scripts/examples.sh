#!/usr/bin/env bash
# Runs the examples through every engine and pipeline, and compares the answers.
set -eu
cd "$(dirname "$0")/.."
out=out/examples
rm -rf "$out" && mkdir -p "$out"
skript=target/release/skript
.venv/bin/python examples/perceptron/points.py "$out/points.npy"
$skript run examples/perceptron --engine=reference --input points="$out/points.npy" --output-dir "$out/reference"
for pipeline in linalg affine scf; do
  $skript run examples/perceptron --pipeline=$pipeline --input points="$out/points.npy" --output-dir "$out/$pipeline"
  cmp "$out/reference/inside.npy" "$out/$pipeline/inside.npy"
done
.venv/bin/python - "$out/points.npy" "$out/linalg/inside.npy" <<'PY'
import sys
import numpy as np
points, inside = np.load(sys.argv[1]), np.load(sys.argv[2])[:, 0]
assert np.array_equal(inside, (np.hypot(points[:, 0], points[:, 1]) < 1).astype(np.float32)), inside
PY
$skript check examples/alexnet
echo "examples: the perceptron is right through the evaluator and three pipelines; AlexNet checks"
