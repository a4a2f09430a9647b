#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small models in the form of typical exporters, compared with onnxruntime. Usage: networks.py [--skript FILE] [--only PART]"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Builder:
    """Adds nodes, weights and constants; a node's result is its name."""

    def __init__(self):
        self.random = np.random.default_rng(7)
        self.nodes, self.weights = [], []

    def weight(self, *shape, scale=0.2):
        name = f"weight.{len(self.weights)}"
        array = (self.random.standard_normal(shape) * scale).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value, kind=np.int64):
        name = f"constant.{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def op(self, operator, *inputs, outputs=1, **attributes):
        name = f"/{operator}_{len(self.nodes)}"
        names = [f"{name}_output_{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, inside, outside, size, stride=1, groups=1):
        w = self.weight(outside, inside // groups, size, size)
        return self.op("Conv", x, w, self.weight(outside), strides=[stride] * 2, pads=[size // 2] * 4, group=groups)

    def normalized(self, x, channels):
        variance = numpy_helper.from_array(self.random.uniform(0.5, 2, channels).astype(np.float32), f"variance.{len(self.weights)}")
        self.weights.append(variance)
        return self.op("BatchNormalization", x, self.weight(channels), self.weight(channels), self.weight(channels), variance.name)

    def linear(self, x, inside, outside):
        return self.op("Add", self.op("MatMul", x, self.weight(inside, outside)), self.weight(outside))


def residual(b):
    x = b.op("Relu", b.normalized(b.conv("x", 3, 8, 7, 2), 8))
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = b.op("Relu", b.normalized(b.conv(x, 8, 8, 3), 8))
    x = b.op("Relu", b.op("Add", b.normalized(b.conv(y, 8, 8, 3), 8), x))
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    return b.op("Gemm", x, b.weight(10, 8), b.weight(10), transB=1), [2, 3, 32, 32]


def inverted(b):
    x = b.op("HardSwish", b.conv("x", 3, 8, 3, 2))
    y = b.op("Clip", b.conv(x, 8, 8, 3, groups=8), b.constant(0, np.float32), b.constant(6, np.float32))
    gate = b.op("HardSigmoid", b.conv(b.op("ReduceMean", y, axes=[2, 3]), 8, 8, 1), alpha=1 / 6, beta=0.5)
    return b.op("Add", b.op("Mul", y, gate), x), [1, 3, 16, 16]


def shuffled(b):
    left, right = b.op("Split", b.conv("x", 4, 8, 1), outputs=2, axis=1)
    x = b.op("Concat", left, b.op("Relu", b.conv(right, 4, 4, 3, groups=4)), axis=1)
    x = b.op("Reshape", x, b.constant([0, 2, 4, 8, 8]))
    return b.op("Reshape", b.op("Transpose", x, perm=[0, 2, 1, 3, 4]), b.constant([0, -1, 8, 8])), [1, 4, 8, 8]


def attention(b):
    shape = b.op("Shape", "x")
    batch = b.op("Unsqueeze", b.op("Gather", shape, b.constant(0)), b.constant([0]))
    time = b.op("Unsqueeze", b.op("Gather", shape, b.constant(1)), b.constant([0]))
    split = b.op("Concat", batch, time, b.constant([2]), b.constant([8]), axis=0)
    def heads(perm):
        return b.op("Transpose", b.op("Reshape", b.linear("x", 16, 16), split), perm=perm)
    scores = b.op("Mul", b.op("MatMul", heads([0, 2, 1, 3]), heads([0, 2, 3, 1])), b.constant(8 ** -0.5, np.float32))
    mixed = b.op("MatMul", b.op("Softmax", scores, axis=-1), heads([0, 2, 1, 3]))
    mixed = b.op("Reshape", b.op("Transpose", mixed, perm=[0, 2, 1, 3]), b.op("Concat", batch, time, b.constant([16]), axis=0))
    x = b.op("LayerNormalization", b.op("Add", mixed, "x"), b.weight(16), b.weight(16), axis=-1)
    x = b.op("Add", x, b.linear(b.op("Gelu", b.linear(x, 16, 32)), 32, 16))
    return x, ["batch", "time", 16]


def decomposed(b):
    """Normalization, GELU and RMS normalization in the form of older exporters."""
    centred = b.op("Sub", "x", b.op("ReduceMean", "x", axes=[-1]))
    variance = b.op("ReduceMean", b.op("Pow", centred, b.constant(2, np.float32)), axes=[-1])
    x = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.constant(1e-5, np.float32))))
    gate = b.op("Add", b.op("Erf", b.op("Div", x, b.constant(2 ** 0.5, np.float32))), b.constant(1, np.float32))
    return b.op("Mul", b.op("Mul", x, gate), b.constant(0.5, np.float32)), [3, 5, 8]


def segmented(b):
    x = b.op("Relu", b.conv("x", 3, 4, 3, 2))
    x = b.op("Resize", x, "", "", b.constant([1, 4, 16, 16]), mode="linear", coordinate_transformation_mode="half_pixel")
    up = b.op("ConvTranspose", x, b.weight(4, 2, 2, 2), strides=[2, 2])
    return b.op("Sigmoid", up), [1, 3, 16, 16]


def grouped(b):
    x = b.conv("x", 4, 8, 3)
    shaped = b.op("Reshape", x, b.constant([0, 2, -1]))
    x = b.op("InstanceNormalization", shaped, b.constant([1, 1], np.float32), b.constant([0, 0], np.float32))
    x = b.op("Reshape", x, b.constant([1, 8, 8, 8]))
    return b.op("Mul", x, b.op("Sigmoid", x)), [1, 4, 8, 8]


def recurrent(b):
    y, h, c = b.op("LSTM", "x", b.weight(2, 24, 4), b.weight(2, 24, 6), b.weight(2, 48), outputs=3, hidden_size=6, direction="bidirectional")
    y = b.op("Reshape", b.op("Transpose", y, perm=[0, 2, 1, 3]), b.constant([0, 0, -1]))
    z, last = b.op("GRU", y, b.weight(1, 15, 12), b.weight(1, 15, 5), b.weight(1, 30), outputs=2, hidden_size=5, linear_before_reset=1)
    return b.op("Squeeze", z, b.constant([1])), [7, 2, 4]


def windows(b):
    """Rolled and cut maps, as in Swin."""
    x = b.op("Concat", b.op("Slice", "x", b.constant([2]), b.constant([2 ** 63 - 1]), b.constant([1])),
             b.op("Slice", "x", b.constant([0]), b.constant([2]), b.constant([1])), axis=1)
    x = b.op("Reshape", x, b.constant([1, 2, 4, 2, 4, 6]))
    return b.op("Reshape", b.op("Transpose", x, perm=[0, 1, 3, 2, 4, 5]), b.constant([-1, 16, 6])), [1, 8, 8, 6]


def quantized(b):
    scale, zero = b.constant(0.05, np.float32), b.constant(128, np.uint8)
    x = b.op("DequantizeLinear", b.op("QuantizeLinear", "x", scale, zero), scale, zero)
    return b.op("Relu", b.conv(x, 3, 4, 3)), [1, 3, 8, 8]


def swin(b):
    """Windows of a rolled map, attention with relative positions and a mask, and back."""
    def rolled(x, cut, axis):
        end = b.constant([2 ** 63 - 1])
        return b.op("Concat", b.op("Slice", x, b.constant([cut]), end, b.constant([axis])),
                    b.op("Slice", x, b.constant([0]), b.constant([cut]), b.constant([axis])), axis=axis)
    x = rolled(rolled("x", 2, 1), 2, 2)
    x = b.op("Transpose", b.op("Reshape", x, b.constant([1, 2, 4, 2, 4, 8])), perm=[0, 1, 3, 2, 4, 5])
    x = b.op("Reshape", x, b.constant([-1, 16, 8]))
    qkv = b.op("Transpose", b.op("Reshape", b.linear(x, 8, 24), b.constant([4, 16, 3, 2, 4])), perm=[2, 0, 3, 1, 4])
    q, k, v = (b.op("Gather", qkv, b.constant(at), axis=0) for at in range(3))
    scores = b.op("Mul", b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2])), b.constant(0.5, np.float32))
    ys, xs = np.divmod(np.arange(16), 4)
    index = (ys[:, None] - ys + 3) * 7 + xs[:, None] - xs + 3
    bias = b.op("Transpose", b.op("Reshape", b.op("Gather", b.weight(49, 2), b.constant(index.ravel())), b.constant([16, 16, 2])), perm=[2, 0, 1])
    mask = np.where(np.arange(4)[:, None, None] + (np.arange(16) // 8)[:, None] == np.arange(16) // 8, 0, -100)
    mask = b.op("Unsqueeze", b.op("Unsqueeze", b.constant(mask, np.float32), b.constant([1])), b.constant([0]))
    scores = b.op("Add", b.op("Reshape", b.op("Add", scores, b.op("Unsqueeze", bias, b.constant([0]))), b.constant([1, 4, 2, 16, 16])), mask)
    mixed = b.op("MatMul", b.op("Softmax", b.op("Reshape", scores, b.constant([-1, 2, 16, 16])), axis=-1), v)
    mixed = b.op("Reshape", b.op("Transpose", mixed, perm=[0, 2, 1, 3]), b.constant([4, 16, 8]))
    back = b.op("Transpose", b.op("Reshape", b.linear(mixed, 8, 8), b.constant([1, 2, 2, 4, 4, 8])), perm=[0, 1, 3, 2, 4, 5])
    return b.op("Add", rolled(rolled(b.op("Reshape", back, b.constant([1, 8, 8, 8])), 6, 1), 6, 2), "x"), [1, 8, 8, 8]


def size(b, x, axis):
    return b.op("Unsqueeze", b.op("Gather", b.op("Shape", x), b.constant(axis)), b.constant([0]))


def cached(b):
    """A step of GPT-2: keys and values of a cache, and a part of a causal table."""
    batch, time, past = size(b, "x", 0), size(b, "x", 1), size(b, "key", 2)
    split = b.op("Concat", batch, time, b.constant([2, 8]), axis=0)
    def heads():
        return b.op("Transpose", b.op("Reshape", b.linear("x", 16, 16), split), perm=[0, 2, 1, 3])
    k, v = b.op("Concat", "key", heads(), axis=-2), b.op("Concat", "value", heads(), axis=-2)
    scores = b.op("Div", b.op("MatMul", heads(), b.op("Transpose", k, perm=[0, 1, 3, 2])), b.constant(8 ** 0.5, np.float32))
    total = size(b, k, 2)
    table = b.constant(np.tril(np.ones((1, 1, 32, 32))), bool)
    table = b.op("Slice", table, past, total, b.constant([2]))
    table = b.op("Slice", table, b.constant([0]), total, b.constant([3]))
    weights = b.op("Softmax", b.op("Where", table, scores, b.constant(-1e9, np.float32)), axis=-1)
    mixed = b.op("Transpose", b.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    mixed = b.op("Reshape", mixed, b.op("Concat", batch, time, b.constant([16]), axis=0))
    return mixed, {"x": ["batch", "time", 16], "key": ["batch", 2, "past", 8], "value": ["batch", 2, "past", 8]}


def relative(b):
    """The buckets of relative positions of T5."""
    time = b.op("Gather", b.op("Shape", "x"), b.constant(1))
    steps = b.op("Range", b.constant(0), time, b.constant(1))
    distance = b.op("Sub", b.op("Unsqueeze", steps, b.constant([0])), b.op("Unsqueeze", steps, b.constant([1])))
    side = b.op("Mul", b.op("Cast", b.op("Greater", distance, b.constant(0)), to=INT64), b.constant(8))
    far = b.op("Abs", distance)
    log = b.op("Log", b.op("Div", b.op("Cast", b.op("Max", far, b.constant(1)), to=FLOAT), b.constant(4, np.float32)))
    log = b.op("Mul", b.op("Div", log, b.constant(np.log(16 / 4), np.float32)), b.constant(4, np.float32))
    large = b.op("Min", b.op("Add", b.op("Cast", log, to=INT64), b.constant(4)), b.constant(7))
    bucket = b.op("Add", side, b.op("Where", b.op("Less", far, b.constant(4)), far, large))
    bias = b.op("Unsqueeze", b.op("Transpose", b.op("Gather", b.weight(16, 2, scale=1), bucket), perm=[2, 0, 1]), b.constant([0]))
    split = b.op("Concat", size(b, "x", 0), size(b, "x", 1), b.constant([2, 4]), axis=0)
    def heads(perm):
        return b.op("Transpose", b.op("Reshape", b.linear("x", 8, 8), split), perm=perm)
    scores = b.op("Add", b.op("MatMul", heads([0, 2, 1, 3]), heads([0, 2, 3, 1])), bias)
    return b.op("MatMul", b.op("Softmax", scores, axis=-1), heads([0, 2, 1, 3])), ["batch", "time", 8]


def unet(b):
    down = b.op("Relu", b.conv("x", 3, 8, 3))
    deep = b.op("Relu", b.conv(b.op("MaxPool", down, kernel_shape=[2, 2], strides=[2, 2]), 8, 12, 3))
    bottom = b.op("Relu", b.conv(b.op("AveragePool", deep, kernel_shape=[2, 2], strides=[2, 2]), 12, 12, 3))
    up = b.op("ConvTranspose", bottom, b.weight(12, 12, 2, 2), b.weight(12), strides=[2, 2])
    x = b.op("Relu", b.conv(b.op("Concat", up, deep, axis=1), 24, 8, 3))
    x = b.op("Resize", x, "", b.constant([1, 1, 2, 2], np.float32), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = b.conv(b.op("Concat", x, down, axis=1), 16, 4, 1)
    return b.op("Resize", x, "", b.constant([1, 1, 1.3, 0.6], np.float32), mode="linear", coordinate_transformation_mode="pytorch_half_pixel"), [1, 3, 16, 16]


def excited(b):
    """A block of EfficientNet with squeeze and excitation."""
    def swish(x):
        return b.op("Mul", x, b.op("Sigmoid", x))
    x = swish(b.normalized(b.conv("x", 4, 16, 1), 16))
    x = swish(b.normalized(b.conv(x, 16, 16, 5, groups=16), 16))
    gate = b.op("GlobalAveragePool", x)
    gate = b.op("Sigmoid", b.conv(swish(b.conv(gate, 16, 4, 1)), 4, 16, 1))
    return b.op("Add", b.normalized(b.conv(b.op("Mul", x, gate), 16, 4, 1), 4), "x"), [2, 4, 8, 8]


def disentangled(b):
    """Scores of contents and positions, gathered as in DeBERTa."""
    q, k = b.linear("x", 8, 8), b.linear("x", 8, 8)
    positions = b.linear(b.weight(12, 8), 8, 8)
    time = b.op("Gather", b.op("Shape", "x"), b.constant(1))
    steps = b.op("Range", b.constant(0), time, b.constant(1))
    distance = b.op("Sub", b.op("Unsqueeze", steps, b.constant([1])), b.op("Unsqueeze", steps, b.constant([0])))
    index = b.op("Clip", b.op("Add", distance, b.constant(6)), b.constant(0), b.constant(11))
    shape = b.op("Concat", size(b, "x", 0), size(b, "x", 1), size(b, "x", 1), axis=0)
    index = b.op("Expand", b.op("Unsqueeze", index, b.constant([0])), shape)
    to_positions = b.op("GatherElements", b.op("MatMul", q, b.op("Transpose", positions, perm=[1, 0])), index, axis=2)
    to_contents = b.op("GatherElements", b.op("MatMul", k, b.op("Transpose", positions, perm=[1, 0])), index, axis=2)
    scores = b.op("Add", b.op("MatMul", q, b.op("Transpose", k, perm=[0, 2, 1])), b.op("Add", to_positions, b.op("Transpose", to_contents, perm=[0, 2, 1])))
    return b.op("MatMul", b.op("Softmax", scores, axis=-1), "x"), ["batch", "time", 8]


NETWORKS = [residual, inverted, shuffled, attention, decomposed, segmented, grouped, recurrent, windows, quantized, swin, cached,
            relative, unet, excited, disentangled]


def written(network, folder):
    """Writes the model of a network; the path, its builder and the shapes of its inputs."""
    b = Builder()
    result, shapes = network(b)
    shapes = shapes if isinstance(shapes, dict) else {"x": shapes}
    b.nodes.append(helper.make_node("Identity", [result], ["y"]))
    inputs = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", FLOAT, None)]
    graph = helper.make_graph(b.nodes, network.__name__, inputs, outputs, b.weights)
    opset = 20 if network is attention else 17
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    path = folder / f"{network.__name__}.onnx"
    onnx.save(model, path)
    return path, b, shapes


def compare(network, skript, folder):
    path, b, shapes = written(network, folder)
    sizes = {"past": 5}
    arrays = {name: b.random.standard_normal([sizes.get(d, 3) if isinstance(d, str) else d for d in shape]).astype(np.float32)
              for name, shape in shapes.items()}
    expected = onnxruntime.InferenceSession(str(path)).run(None, arrays)[0]
    command = [skript, "run", str(path), "--output-dir", str(folder), "--engine", "compiled"]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder / name}.npy"]
    dimensions = {d for shape in shapes.values() for d in shape if isinstance(d, str)}
    command += [word for d in sorted(dimensions) for word in ("--bound", f"{d}=16")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    if done.returncode != 0:
        return done.stderr.strip()
    got = np.load(folder / "y.npy")
    if got.shape != expected.shape:
        return f"shape {got.shape}, not {expected.shape}"
    error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30)
    return None if error < 1e-4 else f"differs by {error:.2g} of the largest element"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wrong = 0
    for network in NETWORKS:
        if options.only not in network.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            problem = compare(network, options.skript, pathlib.Path(folder))
        if problem:
            wrong += 1
            print(f"{network.__name__}: {problem}")
    print(f"{len(NETWORKS) - wrong} of {len(NETWORKS)} networks equal onnxruntime")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
