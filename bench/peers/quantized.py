# SPDX-License-Identifier: Apache-2.0
"""8-bit quantized networks and layers, in the form that converters write to ONNX.

QuantizeLinear and DequantizeLinear surround each operator; tensors are uint8 with fixed scales, weights int8 with a scale for
each channel, biases int32. Every engine rounds each tensor once, so the results of engines differ by a few quantization steps.
"""
import hashlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from network import IR_VERSION, Array

OPSET = 17
# Scale and zero point: of inputs, of results of ReLU, and of other results (`ANY` and `LAST`).
INPUT, POSITIVE, ANY, LAST = (0.02, 128), (0.025, 0), (0.04, 128), (0.05, 128)


class Tensor:
    """A quantized tensor: the name of the dequantized tensor, the scale, the shape."""

    def __init__(self, name, scale, shape):
        self.name, self.scale, self.shape = name, scale, list(shape)


class QuantizedNetwork:
    """Nodes and initializers of one ONNX model with random weights. There is no SkriptND document: our compiler imports the model."""

    # The maximum difference between two engines, relative to the largest element: a few of 256 quantization steps.
    tolerance = 0.04
    variables = {}

    def __init__(self, name, add):
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
        self.random = numpy.random.default_rng(seed)
        self.inputs, self.nodes, self.initializers = {}, [], []
        self.result = add(self)

    def text(self):
        return None

    def torch(self):
        return None

    def constant(self, values):
        name = "c%d" % len(self.initializers)
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def node(self, operator, *inputs, **attributes):
        name = "t%d" % len(self.nodes)
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def input(self, shape):
        """An input of normally distributed reals, quantized."""
        name = "x%d" % len(self.inputs)
        values = self.random.standard_normal(shape, dtype=numpy.float32)
        self.inputs[name] = Array(shape, lambda: values)
        return self.quantized(name, shape, INPUT)

    def quantized(self, name, shape, kind):
        parameters = self.constant(numpy.float32(kind[0])), self.constant(numpy.uint8(kind[1]))
        name = self.node("DequantizeLinear", self.node("QuantizeLinear", name, *parameters), *parameters)
        return Tensor(name, kind[0], shape)

    def weights(self, shape, terms, axis=0):
        """Adds weights with a scale per output channel (dimension `axis`); returns the name and the scales."""
        values = self.random.standard_normal(shape) * terms**-0.5
        others = tuple(at for at in range(len(shape)) if at != axis)
        scales = numpy.abs(values).max(others, keepdims=True) / 127
        integers = self.constant(numpy.round(values / scales).astype(numpy.int8))
        scales = scales.reshape(-1).astype(numpy.float32)
        zeros = self.constant(numpy.zeros(len(scales), numpy.int8))
        return self.node("DequantizeLinear", integers, self.constant(scales), zeros, axis=axis), scales

    def bias(self, scales):
        values = numpy.round(self.random.standard_normal(len(scales)) * 0.1 / scales)
        zeros = self.constant(numpy.zeros(len(scales), numpy.int32))
        return self.node("DequantizeLinear", self.constant(values.astype(numpy.int32)), self.constant(scales), zeros, axis=0)

    def onnx(self):
        def port(name, shape):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        inputs = [port(name, array.shape) for name, array in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "main", inputs, [port(self.result.name, self.result.shape)], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model


def conv(net, x, channels, size, stride=1, groups=1, clip_at=None, with_relu=True):
    """A convolution, followed by ReLU if `with_relu`. The extents of the result are those of x divided by the stride."""
    terms = x.shape[1] // groups * size * size
    weights, scales = net.weights([channels, x.shape[1] // groups, size, size], terms / (2 if with_relu else 1))
    bias = net.bias(numpy.float32(x.scale) * scales)
    y = net.node("Conv", x.name, weights, bias, pads=[size // 2] * 4, group=groups, strides=[stride] * 2)
    if clip_at:
        y = net.node("Clip", y, net.constant(numpy.float32(0)), net.constant(numpy.float32(clip_at)))
    elif with_relu:
        y = net.node("Relu", y)
    extents = [(n + size // 2 * 2 - size) // stride + 1 for n in x.shape[2:]]
    return net.quantized(y, [x.shape[0], channels, *extents], POSITIVE if with_relu else ANY)


def linear(net, x, channels):
    """A fully connected layer, x · wᵀ + b."""
    weights, scales = net.weights([channels, x.shape[1]], x.shape[1])
    y = net.node("Gemm", x.name, weights, net.bias(numpy.float32(x.scale) * scales), transB=1)
    return net.quantized(y, [x.shape[0], channels], LAST)


def product(net, x, channels):
    """A matrix product, x · w, with constant weights."""
    weights, _ = net.weights([x.shape[-1], channels], x.shape[-1], axis=1)
    return net.quantized(net.node("MatMul", x.name, weights), [*x.shape[:-1], channels], LAST)


def add(net, x, y, with_relu=True):
    """The sum of tensors, followed by ReLU if `with_relu`."""
    z = net.node("Add", x.name, y.name)
    return net.quantized(net.node("Relu", z) if with_relu else z, x.shape, (0.04, 0) if with_relu else LAST)


def max_pool(net, x):
    """Max pooling with windows of 3 × 3 and a stride of 2, which keeps the scale of its operand."""
    name = net.node("MaxPool", x.name, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return Tensor(name, x.scale, [*x.shape[:2], *((n - 1) // 2 + 1 for n in x.shape[2:])])


def head(net, x):
    x = net.quantized(net.node("GlobalAveragePool", x.name), [*x.shape[:2], 1, 1], (0.02, 0))
    return linear(net, Tensor(net.node("Flatten", x.name), x.scale, x.shape[:2]), 1000)


def resnet50(net):
    x = max_pool(net, conv(net, net.input([1, 3, 224, 224]), 64, 7, 2))
    for width, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for stride in [first] + [1] * (blocks - 1):
            y = conv(net, conv(net, conv(net, x, width, 1), width, 3, stride), 4 * width, 1, with_relu=False)
            shortcut = x if x.shape == y.shape else conv(net, x, 4 * width, 1, stride, with_relu=False)
            x = add(net, y, shortcut)
    return head(net, x)


def mobilenet_v2(net):
    x = conv(net, net.input([1, 3, 224, 224]), 32, 3, 2, clip_at=6)
    for factor, width, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for stride in [first] + [1] * (blocks - 1):
            y = x if factor == 1 else conv(net, x, factor * x.shape[1], 1, clip_at=6)
            y = conv(net, y, y.shape[1], 3, stride, y.shape[1], clip_at=6)
            y = conv(net, y, width, 1, with_relu=False)
            x = add(net, y, x, with_relu=False) if y.shape == x.shape else y
    return head(net, conv(net, x, 1280, 1, clip_at=6))


def layer(shape, add, *geometry, **more):
    return lambda net: add(net, net.input(shape), *geometry, **more)


WORKLOADS = [
    ("int8 ResNet-50", resnet50),
    ("int8 MobileNet-v2", mobilenet_v2),
    ("int8 conv 3×3, 64→64, 56²", layer([1, 64, 56, 56], conv, 64, 3)),
    ("int8 conv 3×3, 256→256, 14²", layer([1, 256, 14, 14], conv, 256, 3)),
    ("int8 conv 3×3, 37→53, 31×29", layer([1, 37, 31, 29], conv, 53, 3)),
    ("int8 conv 1×1, 256→512, 28²", layer([1, 256, 28, 28], conv, 512, 1)),
    ("int8 first layer 7×7/2, 3→64, 224²", layer([1, 3, 224, 224], conv, 64, 7, 2)),
    ("int8 depthwise 3×3, 128, 112²", layer([1, 128, 112, 112], conv, 128, 3, groups=128)),
    ("int8 depthwise 5×5/2, 240, 28²", layer([1, 240, 28, 28], conv, 240, 5, 2, groups=240)),
    ("int8 GEMM 128×768×3072", layer([128, 768], product, 3072)),
    ("int8 GEMM 512³", layer([512, 512], product, 512)),
    ("int8 linear 1×4096→4096", layer([1, 4096], linear, 4096)),
]
