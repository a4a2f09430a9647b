# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models to a folder, among them good.onnx, bad.onnx and dynamic.onnx, and x.npy for good.onnx."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])


def save(name, nodes, inputs, outputs, weights=()):
    weights = [numpy_helper.from_array(array, key) for key, array in weights]
    values = [[helper.make_tensor_value_info(key, kind, shape) for key, kind, shape in group] for group in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *values, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / name)


x = ("x.1", TensorProto.FLOAT, [2, 3])
y = ("y", TensorProto.FLOAT, [2, 3])
save("good.onnx", [helper.make_node("Add", ["x.1", "b"], ["s"], name="/add/Add"), helper.make_node("Relu", ["s"], ["y"])], [x], [y],
     [("b", np.array([1, -2, 3], np.float32))])
save("bad.onnx", [helper.make_node("Frobnicate", ["x.1"], ["a"], name="/f"), helper.make_node("Blur", ["a"], ["b"]),
                  helper.make_node("ImageDecoder", ["x.1"], ["y"])], [x], [y])
save("wrong.onnx", [helper.make_node("Add", ["x.1", "d"], ["a"]), helper.make_node("Exp", ["x.1"], ["e"], depth=3),
                    helper.make_node("Exp", ["x.1"], ["y"])], [x, ("d", TensorProto.DOUBLE, [2, 3])], [("y", TensorProto.FLOAT, [2, 4])])
save("declared.onnx", [helper.make_node("Exp", ["x.1"], ["e"]), helper.make_node("Exp", ["e"], ["y"])], [x], [("y", TensorProto.FLOAT, [2, 4])])
declared = onnx.load(folder / "declared.onnx")
declared.graph.value_info.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, [2]))
onnx.save(declared, folder / "declared.onnx")
save("dynamic.onnx", [helper.make_node("Exp", ["x.1"], ["y"])], [("x.1", TensorProto.FLOAT, ["batch", 3])],
     [("y", TensorProto.FLOAT, ["batch", 3])])
save("bytes.onnx", [helper.make_node("Add", ["i", "i"], ["y"])], [("i", TensorProto.INT8, [2])], [("y", TensorProto.INT8, [2])])
np.save(folder / "x.npy", np.array([[0, 1, 2], [-5, 5, -5]], np.float32))
np.savez(folder / "x.npz", **{"x.1": np.array([[0, 1, 2], [-5, 5, -5]], np.float32)})
np.save(folder / "i.npy", np.array([100, -3], np.int8))

# A cache of keys with new ones; Reshape computes the number of heads.
kept, new = ("kept", TensorProto.FLOAT, [1, 12, "p", 64]), ("new", TensorProto.FLOAT, [1, 12, "q", 64])
lengths = [node for key in ("kept", "new") for node in (helper.make_node("Shape", [key], [key + "_shape"]), helper.make_node("Gather", [key + "_shape", "two"], [key + "_n"]))]
save("cache.onnx", lengths + [helper.make_node("Concat", ["kept", "new"], ["all"], axis=2), helper.make_node("Add", ["kept_n", "new_n"], ["n"]),
                              helper.make_node("Concat", ["rest", "n", "size"], ["shape"], axis=0), helper.make_node("Reshape", ["all", "shape"], ["heads"]),
                              helper.make_node("Transpose", ["heads"], ["turned"], perm=[0, 2, 1]), helper.make_node("MatMul", ["heads", "turned"], ["y"])],
     [kept, new], [("y", TensorProto.FLOAT, None)], [("two", np.array([2])), ("rest", np.array([-1])), ("size", np.array([64]))])

# An LSTM with dynamic steps and batches.
rng = np.random.default_rng(1)
save("lstm.onnx", [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=6)], [("x", TensorProto.FLOAT, ["s", "b", 4])],
     [("y", TensorProto.FLOAT, ["s", 1, "b", 6])],
     [("w", rng.standard_normal((1, 24, 4)).astype(np.float32)), ("r", rng.standard_normal((1, 24, 6)).astype(np.float32))])
np.save(folder / "sequence.npy", rng.standard_normal((5, 3, 4)).astype(np.float32))

# Each node doubles a list of extents.
doubled = [helper.make_node("Shape", ["x.1"], ["d0"])]
doubled += [helper.make_node("Concat", ["d%d" % n, "d%d" % n], ["d%d" % (n + 1)], axis=0) for n in range(40)]
save("doubled.onnx", doubled + [helper.make_node("Reshape", ["x.1", "d40"], ["y"])], [x], [y])
save("twice.onnx", [helper.make_node("Exp", ["x.1"], ["y"]), helper.make_node("Relu", ["x.1"], ["y"], name="/r")], [x], [y])
save("sign.onnx", [helper.make_node("Sign", ["x.1"], ["y"])], [x], [y])
save("names.onnx", [helper.make_node("Sub", ["a/b", "a_b"], ["y"])], [("a/b", TensorProto.FLOAT, [2]), ("a_b", TensorProto.FLOAT, [2])],
     [("y", TensorProto.FLOAT, [2])])
np.save(folder / "nan.npy", np.array([[0, np.nan, 2], [-5, 5, -np.inf]], np.float32))
np.save(folder / "two.npy", np.array([2, 2], np.float32))
np.save(folder / "five.npy", np.array([5, 5], np.float32))

# Negative padding that exceeds the dimension in some runs.
save("cut.onnx", [helper.make_node("Pad", ["x.1", "pads"], ["y"], name="/pad/Pad")], [("x.1", TensorProto.FLOAT, ["n", 3])],
     [("y", TensorProto.FLOAT, ["m", 3])], [("pads", np.array([0, 0, -4, 0]))])
