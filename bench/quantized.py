#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks of int8 beside onnxruntime and OpenVINO: bench/quantized.py [--rounds N] [--threads N] [--folder DIR] [NAME…]

The networks are built here, with random weights: ResNet-50 and MobileNet-v2 as converters write them, with QuantizeLinear and
DequantizeLinear around each operator, weights of int8 with a scale for each channel, and tensors of uint8. Rounds alternate between
the engines; the least time of each counts. Run it with the Python of build/peers-venv (bench/peers/setup.sh).
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
SKRIPT = os.path.join(HERE, "..", "target", "release", "skript")


class Network:
    """Nodes and initializers of one ONNX graph. A quantized tensor is its name with its scale."""

    def __init__(self):
        self.nodes, self.initializers, self.random = [], [], numpy.random.default_rng(0)

    def constant(self, values):
        name = "c%d" % len(self.initializers)
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def node(self, operator, *inputs, **attributes):
        name = "t%d" % len(self.nodes)
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def quantized(self, x, scale, zero):
        parameters = self.constant(numpy.float32(scale)), self.constant(numpy.uint8(zero))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *parameters), *parameters), scale

    def weights(self, shape, terms):
        """Weights of int8, with a scale for each channel of the result."""
        values = self.random.standard_normal(shape) * terms**-0.5
        scales = numpy.abs(values).reshape(shape[0], -1).max(1) / 127
        integers = numpy.round(values / scales.reshape(-1, *[1] * (len(shape) - 1)))
        zeros = self.constant(numpy.zeros(shape[0], numpy.int8))
        scales = scales.astype(numpy.float32)
        return self.node("DequantizeLinear", self.constant(integers.astype(numpy.int8)), self.constant(scales), zeros, axis=0), scales

    def bias(self, scales):
        values = numpy.round(self.random.standard_normal(len(scales)) * 0.1 / scales)
        zeros = self.constant(numpy.zeros(len(scales), numpy.int32))
        return self.node("DequantizeLinear", self.constant(values.astype(numpy.int32)), self.constant(scales), zeros, axis=0)

    def conv(self, x, channels, size, stride=1, groups=1, most=None, follows=True):
        """A convolution of `x`, which is the tensor, its scale and its channels, then a rectifier, quantized."""
        tensor, scale, own = x
        weights, scales = self.weights((channels, own // groups, size, size), own // groups * size * size / (2 if follows else 1))
        bias = self.bias(numpy.float32(scale) * scales)
        y = self.node("Conv", tensor, weights, bias, pads=[size // 2] * 4, group=groups, strides=[stride] * 2)
        if most:
            y = self.node("Clip", y, self.constant(numpy.float32(0)), self.constant(numpy.float32(most)))
        elif follows:
            y = self.node("Relu", y)
        return *self.quantized(y, *((0.025, 0) if follows else (0.04, 128))), channels

    def head(self, x):
        tensor, _, channels = x
        y, scale = self.quantized(self.node("GlobalAveragePool", tensor), 0.02, 0)
        weights, scales = self.weights((1000, channels), channels)
        y = self.node("Gemm", self.node("Flatten", y), weights, self.bias(numpy.float32(scale) * scales), transB=1)
        return self.quantized(y, 0.05, 128)[0]

    def save(self, path, output):
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "network", [value("x", [1, 3, 224, 224])], [value(output, [1, 1000])], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def resnet50(net):
    x = net.conv((*net.quantized("x", 0.02, 128), 3), 64, 7, 2)
    x = (net.node("MaxPool", x[0], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), *x[1:])
    for width, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for stride in [first] + [1] * (blocks - 1):
            y = net.conv(net.conv(net.conv(x, width, 1), width, 3, stride), 4 * width, 1, follows=False)
            shortcut = x if x[2] == 4 * width else net.conv(x, 4 * width, 1, stride, follows=False)
            x = (*net.quantized(net.node("Relu", net.node("Add", y[0], shortcut[0])), 0.04, 0), 4 * width)
    return net.head(x)


def mobilenet_v2(net):
    x = net.conv((*net.quantized("x", 0.02, 128), 3), 32, 3, 2, most=6)
    for factor, width, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for stride in [first] + [1] * (blocks - 1):
            y = x if factor == 1 else net.conv(x, factor * x[2], 1, most=6)
            y = net.conv(net.conv(y, y[2], 3, stride, y[2], most=6), width, 1, follows=False)
            if stride == 1 and x[2] == width:
                y = (*net.quantized(net.node("Add", y[0], x[0]), 0.05, 128), width)
            x = y
    return net.head(net.conv(x, 1280, 1, most=6))


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}


def least(call, seconds=1.0):
    """The least time of a call, in ms."""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def onnxruntime_call(path, threads, x):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options)
    return lambda: session.run(None, {"x": x})


def openvino_call(path, threads, x):
    import openvino

    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    return lambda: request.infer({"x": x})


def our_time(path, threads):
    """The least time of our calls, in ms."""
    text = subprocess.run([SKRIPT, "bench", path, "--quantize=integer", "--threads", str(threads)], check=True, capture_output=True, text=True)
    number, unit = next(line.split()[1:3] for line in text.stdout.splitlines() if line.startswith("call"))
    return float(number) * {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", help="where the networks are written")
    parser.add_argument("networks", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            sys.exit("no network is called %s" % name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        x = numpy.random.default_rng(1).standard_normal((1, 3, 224, 224), numpy.float32)
        for name in arguments.networks or NETWORKS:
            path, net = os.path.join(folder, name + ".onnx"), Network()
            net.save(path, NETWORKS[name](net))
            peers = {"onnxruntime": onnxruntime_call(path, arguments.threads, x), "openvino": openvino_call(path, arguments.threads, x)}
            times = {}
            for _ in range(arguments.rounds):
                found = {"ours": our_time(path, arguments.threads), **{peer: least(call) for peer, call in peers.items()}}
                times = {engine: min(own, times.get(engine, own)) for engine, own in found.items()}
            best = min(own for engine, own in times.items() if engine != "ours")
            print(name, *("%s %.2f ms" % pair for pair in times.items()), "ratio %.2f" % (times["ours"] / best), flush=True)


if __name__ == "__main__":
    main()
