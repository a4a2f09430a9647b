# SPDX-License-Identifier: Apache-2.0
"""Writes arrays as another framework would save them: of a graph, of a wrong one, and of an ONNX model."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = pathlib.Path(sys.argv[1])
x = np.arange(6, dtype=np.float32).reshape(2, 3)
a, b = x + 1, (x + 1) * 2
np.savez(folder / "good.npz", x=x, a=a, b=b, y=b.sum(1), other=x)
np.savez(folder / "none.npz", p=x, q=x)
np.savez(folder / "some.npz", a=a)
wrong = b.copy()
wrong[0, 1], wrong[1, 2] = 4.5, 20
(folder / "bad").mkdir()
for name, array in (("a", a), ("b", wrong)):
    np.save(folder / "bad" / f"{name}.npy", array)

nodes = [
    helper.make_node("Add", ["x", "x"], ["/layer.0/Add_output_0"]),
    helper.make_node("Mul", ["/layer.0/Add_output_0", "x"], ["y:0"]),
]
port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
graph = helper.make_graph(nodes, "g", [port("x")], [port("y:0")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
v = np.float32([1, 2])
np.savez(folder / "onnx.npz", **{"x": v, "/layer.0/Add_output_0": v + v, "y:0": (v + v) * v})
