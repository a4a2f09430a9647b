#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the examples in every engine and pipeline, and compares the results.
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
.venv/bin/python examples/contrast/expected.py make "$out/image.npy"
for how in --engine=reference --pipeline=linalg --pipeline=affine --pipeline=scf; do
  $skript run examples/contrast $how --input image="$out/image.npy" --output-dir "$out/contrast"
  .venv/bin/python examples/contrast/expected.py check "$out/image.npy" "$out/contrast/result.npy"
done
mkdir -p "$out/weights"
.venv/bin/python examples/own-format/expected.py make "$out/weights"
$skript run examples/own-format --int=i8 --weights "$out/weights/weights.safetensors" --input x="$out/weights/x.npy" --output-dir "$out/own-format"
.venv/bin/python examples/own-format/expected.py check "$out/weights" "$out/own-format/y.npy"
.venv/bin/python examples/operators/check.py --skript "$skript"
# docs/adding-an-operator.md contains the operator of this example.
diff <(sed -n '/^operator/,/^}/p' examples/contrast/main.sknd) <(sed -n '/^operator/,/^}/p' docs/adding-an-operator.md)
$skript check examples/alexnet
echo "examples: perceptron, contrast and the operators are right through the evaluator and three pipelines; the format of weights is right; AlexNet checks"
