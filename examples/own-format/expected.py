# SPDX-License-Identifier: Apache-2.0
"""Weights in the example's format, and the product by numpy:

    expected.py make FOLDER                    writes weights.safetensors and x.npy
    expected.py check FOLDER RESULT.npy
"""
import json
import struct
import sys

import numpy as np

LEVELS = np.array([-1.0, -0.72, -0.53, -0.39, -0.28, -0.18, -0.09, 0.0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0], dtype=np.float32)
ROWS, BLOCKS, BYTES = 4096, 64, 33


def inputs():
    random = np.random.default_rng(11)
    blocks = random.integers(0, 256, (ROWS, BLOCKS, BYTES), dtype=np.uint8)
    blocks[..., 0] = random.integers(130, 150, (ROWS, BLOCKS))
    return blocks, random.normal(size=(1, 64 * BLOCKS)).astype(np.float32)


blocks, x = inputs()
if sys.argv[1] == "make":
    header = json.dumps({"main.Product.weight": {"dtype": "I8", "shape": blocks.shape, "data_offsets": [0, blocks.size]}}).encode()
    with open(sys.argv[2] + "/weights.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + blocks.tobytes())
    np.save(sys.argv[2] + "/x.npy", x)
else:
    scale = 2.0 ** ((blocks[..., :1].astype(np.float64) - 160) / 4)
    halves = np.concatenate([blocks[..., 1:] % 16, blocks[..., 1:] // 16], axis=-1)
    weights = (scale * LEVELS[halves]).reshape(ROWS, -1)
    expected = x.astype(np.float64) @ weights.T
    np.testing.assert_allclose(np.load(sys.argv[3]), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
