# SPDX-License-Identifier: Apache-2.0
"""Workloads bound by memory, or by functions of each element."""
import operators as op


def of(shape, add):
    """One operator on one input."""
    return lambda net: net.output(add(net, net.input(shape)))


def unary(text, operator):
    return of([4 << 20], lambda net, x: op.unary(net, x, text, operator))


def add(net):
    net.output(op.add(net, net.input([4 << 20]), net.input([4 << 20])))


def concat(net):
    net.output(op.concat(net, [net.input([1, 64, 112, 112]) for _ in range(3)], 1))


def embedding(net):
    net.output(op.gather(net, net.variable([30522, 768]), net.input([512], integers=30522)))


def argmax(net):
    net.output(op.argmax(net, net.input([4096, 1000])), integers=True)


WORKLOADS = [
    ("softmax 4096×1000", of([4096, 1000], op.softmax)),
    ("layer norm 4096×1024", of([4096, 1024], op.layer_norm)),
    ("RMS norm 4096×1024", of([4096, 1024], op.rms_norm)),
    ("instance norm 64×128²", of([1, 64, 128, 128], op.instance_norm)),
    ("batch norm 64×112²", of([1, 64, 112, 112], op.batch_norm)),
    ("gelu, 16 M", of([16 << 20], op.gelu)),
    ("tanh, 4 M", unary("math.tanh", "Tanh")),
    ("sigmoid, 4 M", unary("nn.sigmoid", "Sigmoid")),
    ("exp, 4 M", unary("math.exp", "Exp")),
    ("silu, 4 M", of([4 << 20], op.silu)),
    ("relu, 4 M", unary("nn.relu", "Relu")),
    ("add, 4 M", add),
    ("add per channel 64×112²", of([1, 64, 112, 112], op.add_channels)),
    ("max pool 3×3/2, 64×112²", of([1, 64, 112, 112], lambda net, x: op.pool(net, x, "max", 3, 2, 1))),
    ("average pool 3×3, 64×56²", of([1, 64, 56, 56], lambda net, x: op.pool(net, x, "avg", 3, 1, 1))),
    ("global pool 512×28²", of([1, 512, 28, 28], op.global_pool)),
    ("sum over axis 0, 4096×1024", of([4096, 1024], lambda net, x: op.total(net, x, 0))),
    ("sum over axis 1, 4096×1024", of([4096, 1024], lambda net, x: op.total(net, x, 1))),
    ("argmax 4096×1000", argmax),
    ("transposition 2048²", of([2048, 2048], lambda net, x: op.transpose(net, x, [1, 0]))),
    ("bilinear 64×56² to 112²", of([1, 64, 56, 56], lambda net, x: op.resize(net, x, [112, 112]))),
    ("concat 3 × 64×112²", concat),
    ("embedding 512 of 30522×768", embedding),
]
