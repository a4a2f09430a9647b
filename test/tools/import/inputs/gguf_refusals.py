# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF files that the import refuses, next to the valid ones: gguf_refusals.py FOLDER"""
import os
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

import gguf_models

folder = sys.argv[1]
valid = os.path.join(folder, "q4_k.gguf")


def copy(name, architecture="llama", replaced=(), added=()):
    """Writes the valid file with other tensors: (name, data, type)."""
    reader = gguf.GGUFReader(valid)
    writer = gguf.GGUFWriter(os.path.join(folder, name + ".gguf"), architecture)
    for key, field in reader.fields.items():
        if key.startswith("llama."):
            writer.add_key_value(key, field.contents(), field.types[0])
    tensors = {tensor.name: (tensor.data, tensor.tensor_type) for tensor in reader.tensors}
    tensors.update({tensor: (data, kind) for tensor, data, kind in [*replaced, *added]})
    for tensor, (data, kind) in tensors.items():
        writer.add_tensor(tensor, np.ascontiguousarray(data), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


random = np.random.default_rng(1)
copy("architecture", architecture="mamba")
copy("unused", added=[("blk.0.extra.weight", np.zeros((1, 4), np.float32), Type.F32)])
copy("shape", replaced=[("blk.0.attn_k.weight", gguf_models.matrix(random, 64, 256, Type.Q4_0), Type.Q4_0)])
copy("type", replaced=[("blk.0.attn_k.weight", np.zeros((128, 136), np.uint8), Type.IQ4_XS)])
with open(valid, "rb") as file, open(os.path.join(folder, "cut.gguf"), "wb") as cut:
    cut.write(file.read()[:-1000])
