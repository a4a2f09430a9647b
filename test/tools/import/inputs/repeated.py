# SPDX-License-Identifier: Apache-2.0
"""Writes repeated.onnx: four layers with two weights each, a scale that all layers share, and a batch of any size; and x.npy."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(3)
weights = [numpy_helper.from_array(random.standard_normal(6).astype(np.float32), "scale")]
nodes, x = [], "x"
for layer in range(4):
    name = f"/net/layer.{layer}"
    for weight in ("first", "second"):
        array = random.standard_normal((6, 6)).astype(np.float32) / 4
        weights.append(numpy_helper.from_array(array, f"net.layer.{layer}.{weight}.weight"))
    steps = [("MatMul", [x, f"net.layer.{layer}.first.weight"]), ("Relu", []), ("Mul", ["scale"]),
             ("MatMul", [f"net.layer.{layer}.second.weight"]), ("Add", [x])]
    value = None
    for operator, inputs in steps:
        result = f"{name}/{operator}_{len(nodes)}_output_0"
        nodes.append(helper.make_node(operator, ([value] if value else []) + inputs, [result], f"{name}/{operator}_{len(nodes)}"))
        value = result
    x = value
nodes.append(helper.make_node("Softmax", [x], ["y"], "/net/Softmax"))
graph = helper.make_graph(nodes, "repeated", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 6])], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder + "/repeated.onnx")
np.save(folder + "/x.npy", random.standard_normal((3, 6)).astype(np.float32))
