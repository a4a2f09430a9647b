# SPDX-License-Identifier: Apache-2.0
"""Writes a small ONNX network, and variants with a changed attribute, a changed weight, and an inserted layer."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def written(path, pads=1, change=0.0, inserted=False, prefix="", batch=1):
    random = np.random.default_rng(1)
    weights = {"conv.weight": random.standard_normal((4, 3, 3, 3)), "fc.weight": random.standard_normal((4, 2))}
    weights["fc.weight"][1, 1] += change
    names = [prefix + name for name in ("c", "r", "p", "f")]
    nodes = [helper.make_node("Conv", ["x", "conv.weight"], [names[0]], name="conv", kernel_shape=[3, 3], pads=[pads] * 4),
             helper.make_node("Relu", [names[0]], [names[1]], name="relu"),
             helper.make_node("GlobalAveragePool", [names[1]], [names[2]], name="pool"),
             helper.make_node("Flatten", [names[2]], [names[3]], name="flatten"),
             helper.make_node("MatMul", [names[3], "fc.weight"], ["y"], name="fc")]
    if inserted:
        nodes.insert(2, helper.make_node("Sigmoid", [names[1]], ["s"], name="gate"))
        nodes[3].input[0] = "s"
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 2])],
                              [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


folder = sys.argv[1]
written(folder + "/first.onnx")
written(folder + "/renamed.onnx", prefix="tensor_")
written(folder + "/attribute.onnx", pads=0)
written(folder + "/weight.onnx", change=0.5)
written(folder + "/layer.onnx", inserted=True)
written(folder + "/dynamic.onnx", batch="n")
