# SPDX-License-Identifier: Apache-2.0
"""Storage formats of weights: random blocks with the values of the package `gguf`, bit for bit in f32."""
import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from cases import BOTH, Case, StorageTypes, random

# The positions of the 16-bit floats in a block.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "MXFP4": [], "NVFP4": [], "TQ1_0": [52], "TQ2_0": [64], "F16": [0],
          "BF16": []}
# The positions of the bytes of exponents.
EXPONENT = {"MXFP4": 0, "NVFP4": 0, "BF16": 1}
# Zeros, subnormal and normal numbers at the ends of their ranges, infinities and NaN.
EXTREME = np.array([0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00], dtype="<u2")


def dequantized(blocks, name):
    with np.errstate(all="ignore"):
        if name == "F16":
            return blocks.view("<f2")[..., 0].astype(np.float32)
        rows = blocks.reshape(*blocks.shape[:-2], blocks.shape[-2] * blocks.shape[-1])
        return gguf.quants.dequantize(rows, GGMLQuantizationType[name])


def rounded(x, block):
    """Multiples of a 127th of the largest magnitude of each block; halves are rounded away from zero."""
    blocks = x.reshape(*x.shape[:-1], -1, block)
    with np.errstate(all="ignore"):
        scale = np.abs(blocks).max(-1, keepdims=True) / np.float32(127)
        quotient = (blocks / scale).astype(np.float64)
        level = np.nan_to_num(np.sign(quotient) * np.floor(np.abs(quotient) + 0.5), nan=0.0).clip(-127, 127)
        return (scale * level.astype(np.float32)).reshape(x.shape)


def rounded_cases():
    draw = random("format.rounded")
    for shape, block in [((8,), 8), ((3, 64), 32), ((2, 2, 24), 8), ((5, 6), 1)]:
        x = draw.real(shape).reshape(*shape[:-1], -1, block)
        with np.errstate(all="ignore"):
            distance = np.abs(np.abs(x / np.abs(x).max(-1, keepdims=True, initial=0) * 127) % 1 - 0.5)
        # Rounding errors of other types must not change a level.
        x = np.where(distance < 0.01, 0, x).astype(x.dtype).reshape(shape)
        yield Case("format.rounded", [x], rounded(x, block), attributes={} if block == 8 else {"block": block})
    if StorageTypes.real == "f32":
        blocks = [[0, 0, 0, 0], [np.inf, 1, -1, 0], [np.nan, 1, 2, 3], [-0.0, 1e-45, 0, 0], [3e38, -3e38, 1, 0]]
        blocks = np.array(blocks, dtype=np.float32)
        yield Case("format.rounded", [blocks], rounded(blocks, 4), attributes={"block": 4}, label="extreme")


def cases():
    yield from rounded_cases()
    draw = random("format")
    exact = StorageTypes.real == "f32"
    tolerance = {"rtol": 0.0 if exact else 2.0 ** -22, "atol": 0.0 if exact else 2.0 ** -40, "signed_zero": exact}
    for name, scales in SCALES.items():
        size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
        for shape in [(1,), (3, 2), (2, 1, 3), (len(EXTREME), 2)]:
            for signed in (False, True):
                blocks = draw.int((*shape, size), 0, 256).astype(np.uint8)
                # The other types cannot hold all of f32.
                if not exact:
                    for at in scales:
                        blocks[..., at + 1] = 0x20
                    if not scales:
                        blocks[..., EXPONENT[name]] = 0x7c if name == "MXFP4" else 0x3f
                elif shape[0] == len(EXTREME):
                    for at in scales:
                        blocks[..., at:at + 2] = draw.stream.permutation(EXTREME).view(np.uint8).reshape(len(EXTREME), 1, 2)
                    if not scales:
                        blocks[..., EXPONENT[name]] = np.array([0, 1, 2, 3, 126, 127, 128, 129, 252, 253, 254, 255])[:, None]
                bytes_ = blocks.view(np.int8) if signed else blocks
                yield Case("format." + name.lower(), [bytes_.astype(np.int64)], dequantized(blocks, name),
                           edition=BOTH[signed], label="signed" if signed else "", **tolerance)
