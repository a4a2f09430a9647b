#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs AlexNet on an image, then a perceptron that defines its operators.
set -eu
cd "$(dirname "$0")/.."
out=out/demo
mkdir -p "$out"
echo "AlexNet: weights from a seeded generator (about 230 MB, once), input examples/alexnet/image.png"
.venv/bin/python examples/alexnet/generate.py weights examples/alexnet
.venv/bin/python examples/alexnet/generate.py image examples/alexnet/image.png "$out/image.npy"
target/release/skript run examples/alexnet --input input="$out/image.npy" --output-dir "$out/alexnet" --stats "$out/alexnet.json"
.venv/bin/python scripts/show_classes.py "$out/alexnet/output.npy" "$out/alexnet.json"
echo
echo "Perceptron: operators defined in examples/perceptron/main.sknd, no library"
.venv/bin/python examples/perceptron/points.py "$out/points.npy"
target/release/skript run examples/perceptron --input points="$out/points.npy" --output-dir "$out/perceptron"
.venv/bin/python examples/perceptron/points.py "$out/points.npy" "$out/perceptron/inside.npy"
