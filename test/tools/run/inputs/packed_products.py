# SPDX-License-Identifier: Apache-2.0
"""Products with low-bit weights, in documents of their own, with outputs from the dequantization of the package `gguf`.

    packed_products.py write FOLDER ROWS [rounded]       writes a model folder for each format; ROWS may be `n|300`
    packed_products.py check FOLDER [rounded]

`rounded`: the other factor is rounded to 8-bit integers with scales.
"""
import json
import os
import struct
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

SIZE, DEPTH = 24, 512
# The positions of the 16-bit scales in a block.
SCALES = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q2_K: [80, 82], Type.Q3_K: [108],
          Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208], Type.IQ4_NL: [0], Type.MXFP4: [], Type.NVFP4: [], Type.TQ1_0: [52],
          Type.TQ2_0: [64]}
DOCUMENT = """import format;
import nn;

graph G {
    @input { x: real[%s,%d]; }
    @variable { weight: int[%d,%d,%d]; }
    @output { y: real[%s,%d]; }
    @compose {
        w = format.%s(weight);
        y = nn.linear(%s, w);
    }
}
"""


def blocks(kind):
    random = np.random.default_rng(int(kind))
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (SIZE, DEPTH // elements, size), dtype=np.uint8)
    for at in SCALES[kind]:
        scales = random.normal(size=blocks.shape[:2]).astype("<f2")
        blocks[..., at:at + 2] = scales[..., None].view(np.uint8)
    if kind == Type.NVFP4:
        blocks[..., :4] = random.integers(40, 80, (*blocks.shape[:2], 4))
    if kind == Type.MXFP4:
        blocks[..., 0] = random.integers(118, 130, blocks.shape[:2])
    return blocks


def write(folder, kind, rows):
    os.makedirs(folder)
    data = blocks(kind)
    count = "n" if "|" in rows else rows
    document = DOCUMENT.replace("        w =", "        a = format.rounded(x);\n        w =") if ROUNDED else DOCUMENT
    with open(folder + "/main.sknd", "w") as file:
        file.write(document % (rows, DEPTH, *data.shape, count, SIZE, kind.name.lower(), "a" if ROUNDED else "x"))
    entry = {"dtype": "i8", "shape": data.shape, "skript": "main.G.weight"}
    with open(folder + "/import.json", "w") as file:
        json.dump({"int": "i64", "producer": "GGUF", "real": "f32", "version": 1, "variables": [entry]}, file)
    header = json.dumps({"main.G.weight": {"dtype": "I8", "shape": data.shape, "data_offsets": [0, data.size]}}).encode()
    with open(folder + "/main.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data.tobytes())
    for count in [1, 5, 13] if "|" in rows else [int(rows)]:
        x = np.random.default_rng(count).normal(size=(count, DEPTH)).astype(np.float32)
        np.save("%s/x%d.npy" % (folder, count), x)


def rounded(x):
    """Multiples of a 127th of the largest magnitude of each block; halves are rounded away from zero."""
    blocks = x.reshape(len(x), -1, 8)
    scale = np.abs(blocks).max(-1, keepdims=True) / np.float32(127)
    quotient = (blocks / scale).astype(np.float64)
    return (scale * np.float32(np.sign(quotient) * np.floor(np.abs(quotient) + 0.5))).reshape(x.shape)


def check(folder, kind):
    weights = gguf.quants.dequantize(blocks(kind).reshape(SIZE, -1), kind).astype(np.float64)
    found = 0
    for count in (1, 5, 13):
        if os.path.exists("%s/y%d/y.npy" % (folder, count)):
            x = np.load("%s/x%d.npy" % (folder, count))
            x = (rounded(x) if ROUNDED else x).astype(np.float64)
            expected, y = x @ weights.T, np.load("%s/y%d/y.npy" % (folder, count))
            # The sum of the magnitudes bounds the error of any order of additions.
            bound = np.abs(x) @ np.abs(weights).T * 2.0 ** -20
            assert y.shape == expected.shape and (np.abs(y - expected) <= bound).all(), (kind, count, np.abs(y - expected).max())
            found += 1
    assert found, "no results of " + kind.name


ROUNDED = sys.argv[-1] == "rounded"
for kind in SCALES:
    folder = "%s/%s" % (sys.argv[2], kind.name.lower())
    write(folder, kind, sys.argv[3]) if sys.argv[1] == "write" else check(folder, kind)
