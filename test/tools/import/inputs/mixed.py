# SPDX-License-Identifier: Apache-2.0
"""Writes models with f16 and f32."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])
HALF, FLOAT = TensorProto.FLOAT16, TensorProto.FLOAT
node, value = helper.make_node, helper.make_tensor_value_info


def save(name, nodes, inputs, outputs, arrays):
    weights = [numpy_helper.from_array(array, key) for key, array in arrays.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")


ones = np.zeros((8, 16), np.float16)
ones[0] = 1
save("mixed",
     [node("Cast", ["x"], ["h"], to=HALF), node("MatMul", ["h", "w"], ["p"]), node("Relu", ["p"], ["s"]), node("Cast", ["s"], ["z"], to=FLOAT),
      node("Add", ["z", "z"], ["y"])],
     [value("x", FLOAT, [4, 8])], [value("y", FLOAT, [4, 16]), value("s", HALF, [4, 16])], {"w": ones})
np.save(folder / "x.npy", np.full((4, 8), 2049, np.float32))

step = helper.make_graph(
    [node("Add", ["s", "x"], ["s1"]), node("Identity", ["c"], ["c1"])], "step",
    [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("s", HALF, [6])],
    [value("c1", TensorProto.BOOL, []), value("s1", HALF, [6])])
save("steps",
     [node("Loop", ["m", "", "x"], ["o"], body=step), node("Cast", ["o"], ["f"], to=FLOAT), node("Mul", ["f", "k"], ["y"])],
     [value("x", HALF, [6]), value("m", TensorProto.INT64, [])], [value("y", FLOAT, [6])], {"k": np.full(6, 0.1, np.float32)})
