#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes AlexNet's weights (.dat beside main.sknd) and its input image (.npy) for the demo.

Weights are drawn from a seeded generator with He's scale (std = sqrt(2 / fan-in); He et al. 2015, arXiv:1502.01852),
so activations keep their size through the layers. The class numbers that come out mean nothing: nobody trained this
network. It is the computation that is real.

    generate.py weights FOLDER            about 230 MB, skipped where the files are complete
    generate.py image FILE.png OUT.npy    [1, 3, 224, 224] float32, normalized per channel
"""
import os
import struct
import sys

import numpy as np

SHAPES = {
    "kernel1": (64, 3, 11, 11), "bias1": (64,),
    "kernel2": (192, 64, 5, 5), "bias2": (192,),
    "kernel3": (384, 192, 3, 3), "bias3": (384,),
    "kernel4": (384, 384, 3, 3), "bias4": (384,),
    "kernel5": (256, 384, 3, 3), "bias5": (256,),
    "kernel6": (4096, 256, 5, 5), "bias6": (4096,),
    "kernel7": (4096, 4096), "bias7": (4096,),
    "kernel8": (1000, 4096), "bias8": (1000,),
}
SEED = 20


def header(shape, bytes_per_item=4):
    """The 128 bytes in front of the items of a .dat file: magic, version, size, rank, extents, bits, item type 0 (float)."""
    volume = int(np.prod(shape))
    extents = list(shape) + [0] * (8 - len(shape))
    head = b"N\xef" + bytes([1, 0]) + struct.pack("<II8III", volume * bytes_per_item, len(shape), *extents, 8 * bytes_per_item, 0)
    return head.ljust(128, b"\0")


def weights(folder):
    for index, (name, shape) in enumerate(SHAPES.items()):
        path = os.path.join(folder, "main.AlexNet.%s.dat" % name)
        size = 128 + 4 * int(np.prod(shape))
        if os.path.exists(path) and os.path.getsize(path) == size:
            continue
        generator = np.random.Generator(np.random.PCG64([SEED, index]))
        if name.startswith("bias"):
            values = np.zeros(shape, np.float32)
        else:
            fan_in = int(np.prod(shape[1:]))
            values = generator.standard_normal(shape, np.float32) * np.float32(np.sqrt(2.0 / fan_in))
        with open(path + ".part", "wb") as file:
            file.write(header(shape))
            file.write(values.tobytes())
        os.replace(path + ".part", path)


def image(source, target):
    from PIL import Image
    pixels = Image.open(source).convert("RGB").resize((224, 224), Image.BILINEAR)
    values = np.asarray(pixels, np.float32) / 255.0
    values = (values - np.array([0.485, 0.456, 0.406], np.float32)) / np.array([0.229, 0.224, 0.225], np.float32)
    np.save(target, np.ascontiguousarray(values.transpose(2, 0, 1)[None]))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "weights":
        weights(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "image":
        image(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
