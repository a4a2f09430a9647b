#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains the network: train.sh FOLDER. SKRIPT and PYTHON select the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
skript=${SKRIPT:-skript}
"${PYTHON:-python3}" "$here/data.py" "$1/data"
"$skript" train "$here" --graph Training --of loss --weights random:1 --data "$1/data/train.npz" \
  --validation "$1/data/test.npz" --batch 32 --epochs 30 --optimizer 'optim.adamw{rate=3e-3, decay=0.01}' \
  --schedule 'optim.cosine{steps=1320, warmup=44}' -o "$1/model" --force
"$skript" run "$1/model" --input image="$1/data/image.npy" --output-dir "$1/out"
