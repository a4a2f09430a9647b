# SPDX-License-Identifier: Apache-2.0
"""Writes a model with narrow ints, and arrays whose values fit or do not fit them."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = pathlib.Path(sys.argv[1])
KINDS = {"x": TensorProto.UINT8, "s": TensorProto.INT8, "u": TensorProto.UINT64}
inputs = [helper.make_tensor_value_info(name, kind, [3]) for name, kind in KINDS.items()]
outputs = [helper.make_tensor_value_info(f"{name}2", kind, [3]) for name, kind in KINDS.items()]
nodes = [helper.make_node("Add", [name, name], [f"{name}2"]) for name in KINDS]
graph = helper.make_graph(nodes, "ints", inputs, outputs)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "ints.onnx")
for name, array in dict(x=np.array([1, 200, 255], np.uint8), wide=np.array([1, 200, 255]), s=np.array([-128, 127, 3], np.int8),
                        u=np.array([2**63 + 1, 2**64 - 1, 3], np.uint64), large=np.array([1, 256, 255]), low=np.array([-128, 127, -129]),
                        negative=np.array([1, -1, 2])).items():
    np.save(folder / f"{name}.npy", array)
