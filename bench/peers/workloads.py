# SPDX-License-Identifier: Apache-2.0
"""The table of workloads: name, group, and the function that adds the operators to the network."""
import dataclasses
import re
import typing

import decoders
import memory_bound
import networks
import operators as op
import quantized
from network import Network


@dataclasses.dataclass
class Workload:
    name: str
    group: str
    add: typing.Callable

    def build(self):
        if self.group == "decoder":
            return self.add()
        if self.group == "int8":
            return quantized.QuantizedNetwork(self.name, self.add)
        net = Network(self.name)
        self.add(net)
        return net

    @property
    def slug(self):
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower().translate(str.maketrans("×³²", "x32"))).strip("-")


def conv(shape, *geometry, **more):
    return lambda net: net.output(op.conv(net, net.input([1, *shape]), *geometry, **more))


def deconv(shape, *geometry):
    return lambda net: net.output(op.deconv(net, net.input([1, *shape]), *geometry))


def depthwise(channels, extents, size, stride=1):
    return conv([channels, *extents], channels, size, stride, groups=channels)


def product(left, right):
    """Two variable operands."""
    return lambda net: net.output(op.product(net, net.input(left), net.input(right)))


def product_with_constant(left, right):
    return lambda net: net.output(op.product(net, net.input(left), net.weights(right, right[-2])))


def linear(rows, features, channels):
    return lambda net: net.output(op.linear(net, net.input([rows, features]), channels))


def attention(net):
    net.output(networks.attention(net, *(net.input([1, 12, 128, 64]) for _ in range(3))))


def feed_forward(net):
    net.output(networks.feed_forward(net, net.input([128, 768]), 3072))


def lstm(net):
    net.output(op.lstm(net, net.input([64, 1, 256]), 256))


def dynamic(add, axis, name, shape):
    """A workload on one input with a dynamic dimension."""

    def build(net):
        net.output(add(net, net.input(shape, {axis: name})), {axis: name})

    return build


def pair(name, shape, axis, dimension, add):
    """The same layers with a dynamic and with static dimensions."""
    return [
        (name + ", dynamic " + dimension, dynamic(add, axis, dimension[0], shape)),
        (name + ", static " + dimension, lambda net: net.output(add(net, net.input(shape)))),
    ]


def two_convs(net, x):
    return op.relu(net, op.conv(net, op.relu(net, op.conv(net, x, 64, 3)), 64, 3, 2))


def mlp(net, x):
    return op.linear(net, op.relu(net, op.linear(net, op.relu(net, op.linear(net, x, 2048)), 2048)), 10)


GROUPS = {
    "main": [
        ("AlexNet", networks.alexnet),
        ("ResNet-50", networks.resnet50),
        ("MobileNet-v2", networks.mobilenet_v2),
        ("BERT-like 12×768, 128 steps", networks.bert),
        ("MLP 784-2048-2048-10", networks.perceptron),
        *(("matmul %d³, constant" % n, product_with_constant([n, n], [n, n])) for n in (512, 1024, 2048)),
        *(("matmul %d³, variable" % n, product([n, n], [n, n])) for n in (512, 1024, 2048)),
        ("conv 3×3, 64→64, 56²", conv([64, 56, 56], 64, 3)),
    ],
    "single": [
        ("first layer 7×7/2, 3→64, 224²", conv([3, 224, 224], 64, 7, 2)),
        ("conv 3×3/2, 128→128, 56²", conv([128, 56, 56], 128, 3, 2)),
        ("conv 1×1/2, 256→512, 56²", conv([256, 56, 56], 512, 1, 2)),
        ("conv 3×3, 512→512, 7²", conv([512, 7, 7], 512, 3)),
        ("dilated conv 3×3, dilation 2, 64→64, 56²", conv([64, 56, 56], 64, 3, dilation=2)),
        ("grouped conv 3×3, 32 groups, 256→256, 28²", conv([256, 28, 28], 256, 3, groups=32)),
        ("depthwise 3×3, 128, 112²", depthwise(128, [112, 112], 3)),
        ("depthwise 5×5/2, 240, 28²", depthwise(240, [28, 28], 5, 2)),
        ("transposed conv 4×4/2, 128→64, 28²", deconv([128, 28, 28], 64, 4, 2, 1)),
        ("1-D conv 9, 64→64, 1024", conv([64, 1024], 64, 9)),
        ("3-D conv 3³, 16→32, 16×56²", conv([16, 16, 56, 56], 32, 3)),
        ("GEMV 4096²", linear(1, 4096, 4096)),
        ("odd GEMM 251×1009×997", product([251, 1009], [1009, 997])),
        ("tall GEMM 16384×64×64", product_with_constant([16384, 64], [64, 64])),
        ("batched GEMM 16×128³", product([16, 128, 128], [16, 128, 128])),
        ("feed-forward 128×768×3072", feed_forward),
        ("attention 12×128×64", attention),
        ("LSTM 64 steps, 256", lstm),
    ],
    "untuned": [
        ("DenseNet-121", networks.densenet121),
        ("matmul 127×509×331, constant", product_with_constant([127, 509], [509, 331])),
        ("matmul 1031×17×263, variable", product([1031, 17], [17, 263])),
        ("matmul 3×4099×1021, constant", product_with_constant([3, 4099], [4099, 1021])),
        ("matmul 6007×31×29, constant", product_with_constant([6007, 31], [31, 29])),
        ("matmul 61³, variable", product([61, 61], [61, 61])),
        ("batched matmul 7×53×97×101", product([7, 53, 97], [7, 97, 101])),
        ("linear 5×1733→877", linear(5, 1733, 877)),
        ("conv 3×3, 37→53, 31×29", conv([37, 31, 29], 53, 3)),
        ("conv 5×5, 11→29, 47×43", conv([11, 47, 43], 29, 5)),
        ("conv 3×3, 3 groups, 48→96, 30²", conv([48, 30, 30], 96, 3, groups=3)),
        ("conv 3×3, groups of 3, 51→51, 44²", conv([51, 44, 44], 51, 3, groups=17)),
        ("conv 7×7/3, 5→41, 101×89", conv([5, 101, 89], 41, 7, 3)),
        ("conv 1×1, 67→131, 23×19", conv([67, 23, 19], 131, 1)),
        ("conv 2×2/2, 24→40, 62×58", conv([24, 62, 58], 40, 2, 2, 0)),
        ("conv 3×3, dilation 3, 20→28, 35²", conv([20, 35, 35], 28, 3, dilation=3)),
        ("conv 1×7, 23→24, 13×211", conv([23, 13, 211], 24, [1, 7])),
        ("1-D conv 9/3, 33→65, 1009", conv([33, 1009], 65, 9, 3)),
        ("3-D conv 3³, 7→13, 9×17×23", conv([7, 9, 17, 23], 13, 3)),
        ("depthwise 7×7, 60, 37×41", depthwise(60, [37, 41], 7)),
        ("transposed conv 3×3/3, 19→23, 15×17", deconv([19, 15, 17], 23, 3, 3, 0)),
    ],
    "dynamic": [
        *pair("MLP 784-2048-2048-10", [8, 784], 0, "batch", mlp),
        *pair("conv 3×3 and 3×3/2, 64 channels, 28²", [8, 64, 28, 28], 0, "batch", two_convs),
        *pair("encoder layer 768", [1, 128, 768], 1, "steps", lambda net, x: networks.encoder_layer(net, x, 12)),
        *pair("matmul 512×768×768, constant", [512, 768], 0, "rows", lambda net, x: op.dense(net, x, 768)),
    ],
    **memory_bound.WORKLOADS,
    "int8": quantized.WORKLOADS,
    "decoder": decoders.WORKLOADS,
}
WORKLOADS = [Workload(name, group, add) for group, rows in GROUPS.items() for name, add in rows]
