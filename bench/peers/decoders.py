# SPDX-License-Identifier: Apache-2.0
"""Models with dynamic shapes, as exporters write them to ONNX: a residual network with a dynamic batch and size, one product with
dynamic rows, and one step of a decoder whose keys and values of earlier steps are inputs and outputs.

Each model is measured with code for its shapes, and with code for all shapes up to a bound.
"""
import collections
import hashlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from network import IR_VERSION

OPSET = 17
Array = collections.namedtuple("Array", "shape values")
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT32}
MICROSOFT = "com.microsoft"
WIDTH, HEADS, GROUPS, SIZE, INNER, LAYERS = 768, 12, 4, 64, 2048, 4


class DynamicModel:
    """Nodes and initializers of one ONNX model with random weights. There is no SkriptND document: our compiler imports the model.
    `bounds` are the upper bounds of dynamic dimensions; without them, the code is specialized to the shapes of the inputs."""

    variables = {}

    def __init__(self, name, add, bounds=None):
        self.random = numpy.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little"))
        self.inputs, self.ports, self.outputs, self.nodes, self.initializers = {}, [], [], [], []
        self.options = [part for name, bound in (bounds or {}).items() for part in ("--bound", "%s=%d" % (name, bound))]
        self.tolerance = 1e-3
        add(self)

    def text(self):
        return None

    def torch(self):
        return None

    def input(self, shape, dimensions, values=None):
        """An input. `dimensions` has the names of dynamic dimensions by axis."""
        name = "x%d" % len(self.inputs)
        values = self.random.standard_normal(shape, dtype=numpy.float32) if values is None else values
        self.inputs[name] = Array(shape, values)
        declared = [dimensions.get(at, n) for at, n in enumerate(shape)]
        self.ports.append(helper.make_tensor_value_info(name, TYPES[values.dtype.kind], declared))
        return name

    def output(self, name, shape):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, values):
        name = "c%d" % len(self.initializers)
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def weights(self, shape, terms):
        return self.constant(self.random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(terms**-0.5))

    def nodes_of(self, operator, count, *inputs, **attributes):
        names = ["t%d_%d" % (len(self.nodes), at) for at in range(count)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def node(self, operator, *inputs, **attributes):
        return self.nodes_of(operator, 1, *inputs, **attributes)[0]

    def onnx(self):
        graph = helper.make_graph(self.nodes, "main", self.ports, self.outputs, self.initializers)
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=sets, ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model


def dense(net, x, inputs, outputs):
    return net.node("MatMul", x, net.weights([inputs, outputs], inputs))


def packed(net, x, inputs, outputs):
    """A product with 4-bit weights, two in a byte, and a scale for each 32 of them."""
    weights = net.random.integers(0, 256, [outputs, inputs // 32, 16], dtype=numpy.uint8)
    scales = (0.2 + net.random.random(outputs * inputs // 32, dtype=numpy.float32)) * numpy.float32(0.2 * inputs**-0.5)
    attributes = {"K": inputs, "N": outputs, "bits": 4, "block_size": 32, "domain": MICROSOFT}
    return net.node("MatMulNBits", x, net.constant(weights), net.constant(scales), **attributes)


def normalized(net, x):
    square = net.node("Mul", x, x)
    mean = net.node("ReduceMean", square, axes=[-1])
    root = net.node("Sqrt", net.node("Add", mean, net.constant(numpy.float32(1e-5))))
    scaled = net.node("Div", x, root)
    return net.node("Mul", scaled, net.constant(net.random.random(WIDTH, dtype=numpy.float32)))


def shaped(net, x, shape):
    return net.node("Reshape", x, net.constant(numpy.int64(shape)))


def cached_attention(net, query, key, value, past):
    """Attention as Optimum exports it: keys and values are concatenated with those of earlier steps and repeated for groups of heads."""
    def heads(x, count):
        return net.node("Transpose", shaped(net, x, [0, 0, count, SIZE]), perm=[0, 2, 1, 3])

    def repeated(x):
        shape = net.node("Concat", net.constant(numpy.int64([1, GROUPS, HEADS // GROUPS])),
                         net.node("Slice", net.node("Shape", x), net.constant(numpy.int64([2])), net.constant(numpy.int64([4]))), axis=0)
        wide = net.node("Expand", net.node("Unsqueeze", x, net.constant(numpy.int64([2]))), shape)
        return shaped(net, wide, [0, HEADS, -1, SIZE])

    dimensions, names = {2: "past"}, []
    for x in (key, value):
        cache = net.input([1, GROUPS, past, SIZE], dimensions)
        names.append(net.node("Concat", cache, heads(x, GROUPS), axis=2))
        net.output(names[-1], [1, GROUPS, "total", SIZE])
    keys, values = (repeated(x) for x in names)
    scores = net.node("MatMul", heads(query, HEADS), net.node("Transpose", keys, perm=[0, 1, 3, 2]))
    weights = net.node("Softmax", net.node("Mul", scores, net.constant(numpy.float32(SIZE**-0.5))), axis=-1)
    mixed = net.node("Transpose", net.node("MatMul", weights, values), perm=[0, 2, 1, 3])
    return shaped(net, mixed, [0, 0, WIDTH])


def grouped_attention(net, query, key, value, past, lengths):
    """Attention as onnxruntime-genai writes it."""
    caches = [net.input([1, GROUPS, past, SIZE], {2: "past"}) for _ in range(2)]
    attributes = {"num_heads": HEADS, "kv_num_heads": GROUPS, "domain": MICROSOFT}
    mixed, *present = net.nodes_of("GroupQueryAttention", 3, query, key, value, *caches, *lengths, **attributes)
    for name in present:
        net.output(name, [1, GROUPS, "total", SIZE])
    return mixed


def decoder(past, product, grouped=False):
    """One token after `past` tokens."""
    def add(net):
        x = net.input([1, 1, WIDTH], {})
        lengths = grouped and [net.input([1], {}, numpy.int32([past])), net.constant(numpy.int32(past + 1))]
        for _ in range(LAYERS):
            y = normalized(net, x)
            query, key, value = (product(net, y, WIDTH, SIZE * count) for count in (HEADS, GROUPS, GROUPS))
            mixed = grouped_attention(net, query, key, value, past, lengths) if grouped else cached_attention(net, query, key, value, past)
            x = net.node("Add", x, product(net, mixed, WIDTH, WIDTH))
            y = normalized(net, x)
            gate = product(net, y, WIDTH, INNER)
            gate = net.node("Mul", gate, net.node("Sigmoid", gate))
            y = net.node("Mul", gate, product(net, y, WIDTH, INNER))
            x = net.node("Add", x, product(net, y, INNER, WIDTH))
        x = product(net, normalized(net, x), WIDTH, 8000)
        net.output(x, [1, 1, 8000])

    return add


def rows_by_vocabulary(net):
    x = net.input([2, WIDTH], {0: "rows"})
    net.output(dense(net, x, WIDTH, 32000), ["rows", 32000])


def resnet18(net):
    def conv(x, inputs, outputs, size, stride):
        weights = net.weights([outputs, inputs, size, size], inputs * size * size / 2)
        bias = net.constant(net.random.standard_normal(outputs, dtype=numpy.float32) * numpy.float32(0.1))
        return net.node("Conv", x, weights, bias, strides=[stride] * 2, pads=[size // 2] * 4)

    x = net.node("Relu", conv(net.input([1, 3, 224, 224], {0: "batch", 2: "height", 3: "width"}), 3, 64, 7, 2))
    x, width = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for channels, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        y = conv(net.node("Relu", conv(x, width, channels, 3, stride)), channels, channels, 3, 1)
        shortcut = x if width == channels else conv(x, width, channels, 1, stride)
        x, width = net.node("Relu", net.node("Add", y, shortcut)), channels
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.output(dense(net, x, 512, 1000), ["batch", 1000])


MODELS = [
    ("ResNet-18, 224²", resnet18, {"batch": 8, "height": 256, "width": 256}),
    ("matmul 2×768×32000", rows_by_vocabulary, {"rows": 64}),
    *(("%s after %d tokens" % (name, past), decoder(past, product, grouped), {"past": 2048})
      for name, product, grouped in (("decoder", dense, False), ("grouped decoder", dense, True), ("4-bit decoder", packed, False))
      for past in (128, 1024)),
]


def model(name, add, bounds=None):
    return lambda: DynamicModel(name, add, bounds)


WORKLOADS = [row for name, add, bounds in MODELS
             for row in ((name + ", code for its shapes", model(name, add)), (name + ", code for all shapes", model(name, add, bounds)))]
