# SPDX-License-Identifier: Apache-2.0
"""Single layers: each adds one or a few statements to a network and infers the shapes of the results."""

import random

from network_model import Network, Statement, Value

# The maximum number of channels of a layer; concatenations may exceed it.
MOST_CHANNELS = 32

class Layers:
    """A network under construction, and the source of its random choices."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.network, self.count, self.made, self.labels = Network(), 0, 0, 0
        self.batch = self.pick("b", 1, 1, 2, 3, 10)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    # Statements ----------------------------------------------------------------------------------------------------

    def input(self, shape, kind="real"):
        self.network.inputs.append(Value("x%d" % len(self.network.inputs), shape, kind))
        return self.network.inputs[-1]

    def variable(self, *shape):
        self.network.variables.append(Value("w%d" % len(self.network.variables), shape))
        return self.network.variables[-1]

    def calls(self, text, operands, shapes, kinds=None, packed=False, weight=1):
        """A statement with several results."""
        kinds = kinds or ["real"] * len(shapes)
        results = [Value("t%d" % (self.made + at), shape, kind) for at, (shape, kind) in enumerate(zip(shapes, kinds))]
        self.made += len(results)
        self.network.statements.append(Statement(results, text, operands, packed))
        self.count += weight
        return results

    def call(self, text, operands, shape, kind="real", weight=1):
        return self.calls(text, operands, [shape], [kind], weight=weight)[0]

    def own(self, name, attributes, operands, shape, weight=1):
        """A call of an operator that the network defines (network_operators.sknd)."""
        return self.call("%s%s(%s)" % (name, attributes, listed(operands)), operands, shape, weight=weight)

    def label(self):
        self.labels += 1
        return "l%d" % self.labels

    # Elementwise ---------------------------------------------------------------------------------------------------

    def unary(self, name, x):
        return self.call(name + "(%s)", [x], x.shape, x.kind)

    def binary(self, name, x, y, attributes=""):
        shape = [a if b == 1 else b for a, b in zip(x.shape, y.shape)] if len(x.shape) == len(y.shape) else longer(x, y).shape
        return self.call("math.%s%s(%%s, %%s)" % (name, attributes), [x, y], shape, x.kind)

    def scaled(self, x, factor):
        return self.call("math.mul(%%s, %s)" % factor, [x], x.shape)

    def activation(self, x):
        name = self.pick("nn.relu", "nn.relu", "nn.relu", "nn.relu{max=6.0}", "nn.relu{alpha=0.1}", "nn.elu", "nn.silu", "nn.sigmoid", "nn.gelu",
                         "nn.gelu{approximate='TANH'}", "nn.softplus", "math.tanh", "nn.selu", "prelu", "swish")
        if name == "prelu":
            alpha = self.variable(x.shape[1]) if len(x.shape) > 1 and isinstance(x.shape[1], int) else None
            return self.call("nn.prelu(%s, %s)", [x, alpha], x.shape) if alpha else self.unary("nn.relu", x)
        return self.own("swish", self.pick("", "{slope=1.5}"), [x], x.shape) if name == "swish" else self.unary(name, x)

    # Maps: batch, channels, height, width --------------------------------------------------------------------------

    def conv(self, x, channels, size=(1, 1), stride=(1, 1), dilation=(1, 1), groups=1, bias=None):
        reach = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
        before = [r // 2 for r in reach]
        after = [r - 1 - p for r, p in zip(reach, before)]
        extents = [(e - 1) // s + 1 for e, s in zip(x.shape[2:], stride)]
        shape = [x.shape[0], channels, *extents]
        attributes = "stride=%s, dilation=%s, padding=%s, groups=%d" % (list(stride), list(dilation), before + after, groups)
        if self.chance(0.2):
            text = "%s: layer.conv{channels=%d, size=%s, %s, use_bias=%s}(%%s)" % (
                self.label(), channels, list(size), attributes, self.pick("true", "false"))
            return self.call(text, [x], shape)
        operands = [x, self.variable(channels, x.shape[1] // (groups or x.shape[1]), *size)]
        if self.chance(0.4) if bias is None else bias:
            operands.append(self.variable(channels))
        return self.call("nn.conv{%s}(%s)" % (attributes, listed(operands)), operands, shape)

    def deconv(self, x, channels, factor):
        operands = [x, self.variable(x.shape[1], channels, factor, factor)]
        shape = [x.shape[0], channels, x.shape[2] * factor, x.shape[3] * factor]
        return self.call("nn.deconv{stride=[%d,%d], padding=[0,0,0,0]}(%%s, %%s)" % (factor, factor), operands, shape)

    def pool(self, x, size, stride, name=None):
        pad = [size // 2] * 2 + [(size - 1) // 2] * 2
        shape = x.shape[:2] + [(e - 1) // stride + 1 for e in x.shape[2:]]
        text = "nn.%s_pool{size=[%d,%d], stride=[%d,%d], padding=%s}(%%s)" % (name or self.pick("max", "avg"), size, size, stride, stride, pad)
        return self.call(text, [x], shape)

    def batch_norm(self, x):
        if self.chance(0.15):
            text = self.label() + ": layer.batch_norm{epsilon=0.01%s}(%%s)" % self.pick("", ", use_bias=false", ", use_scale=false", ", momentum=0.1")
            return self.call(text, [x], x.shape)
        operands = [x] + [self.variable(x.shape[1]) for _ in range(self.pick(2, 3, 4, 4, 4))]
        return self.call("nn.batch_norm{epsilon=%s}(%s)" % (self.pick("1e-5", "0.01"), listed(operands)), operands, x.shape)

    def mean_over_maps(self, x, squeeze):
        shape = x.shape[:2] + ([] if squeeze else [1, 1])
        name = self.pick("mean", "mean", "max")
        return self.call("math.%s_reduce{axes=[2,3], squeeze=%s}(%%s)" % (name, str(squeeze).lower()), [x], shape)

    def normalized(self, x):
        """A tensor of mean 0 and variance 1 over all dimensions after the batch, or values within bounds."""
        if x.is_dynamic() and x.shape[0] != "b" or volume(x.shape[1:]) < 4:
            return self.unary("math.tanh", x)
        choice = self.random.random()
        if len(x.shape) == 4 and choice < 0.4:
            groups = self.pick(*[g for g in (1, 1, 2, 4) if x.shape[1] % g == 0 and volume(x.shape[1:]) // g >= 4])
            return self.own("group_norm", "{groups=%d}" % groups, [x], x.shape, weight=2)
        if len(x.shape) == 4 and choice < 0.7:
            return self.call("nn.mean_variance_norm{axes=[1,2,3], epsilon=0.01}(%s)", [x], x.shape)
        if isinstance(x.shape[-1], int) and x.shape[-1] >= 4:
            operands = [x, self.variable(x.shape[-1]), self.variable(x.shape[-1])]
            return self.own("layer_norm", "", operands, x.shape, weight=6)
        length = self.call("nn.l2_norm{axes=%s, bias=0.1}(%%s)" % list(range(1, len(x.shape))), [x], x.shape)
        return self.scaled(length, "%.1f" % volume(x.shape[1:]) ** 0.5)

    # Any rank ------------------------------------------------------------------------------------------------------

    def concat(self, values, axis):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.call("layout.concat{axis=%d}([%s])" % (self.either_axis(axis, shape), listed(values)), values, shape, values[0].kind)

    def split(self, x, axis, sizes):
        shapes = [x.shape[:axis] + [size] + x.shape[axis + 1 :] for size in sizes]
        even = len(set(sizes)) == 1 and self.chance(0.5)
        attributes = "count=%d" % len(sizes) if even else "sizes=%s" % sizes
        return self.calls("layout.split{axis=%d, %s}(%%s)" % (axis, attributes), [x], shapes, [x.kind] * len(sizes), packed=True)

    def unstack(self, x, axis):
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        return self.calls("layout.unstack{axis=%d}(%%s)" % axis, [x], [shape] * x.shape[axis], packed=True)

    def stack(self, values, axis):
        shape = values[0].shape[:axis] + [len(values)] + values[0].shape[axis:]
        return self.call("layout.stack{axis=%d}([%s])" % (axis, listed(values)), values, shape)

    def slice(self, x, axis, begin, end, stride=1):
        shape = list(x.shape)
        shape[axis] = len(range(x.shape[axis])[begin:end:stride])
        text = "layout.slice{axes=[%d], begin=[%d], end=[%d], stride=[%d]}(%%s)" % (axis, begin, end, stride)
        return self.call(text, [x], shape, x.kind)

    def reversed(self, x, axis):
        text = "layout.slice{axes=[%d], begin=[-1], end=[%d], stride=[-1]}(%%s)" % (axis, -x.shape[axis] - 1)
        return self.call(text, [x], x.shape, x.kind)

    def transpose(self, x, order):
        return self.call("layout.transpose{perm=%s}(%%s)" % list(order), [x], [x.shape[a] for a in order], x.kind)

    def reshape(self, x, axis, rank, shape):
        """Replaces `rank` dimensions with static extents by those of `shape`."""
        given = list(shape)
        if given and self.chance(0.3):
            given[self.random.randrange(len(given))] = -1
        text = "layout.reshape{axis=%d, rank=%d, shape=%s}(%%s)" % (axis, rank, given)
        return self.call(text, [x], x.shape[:axis] + list(shape) + x.shape[axis + rank :], x.kind)

    def flatten(self, x, axis):
        if self.chance(0.5):
            return self.call("layout.flatten{axis=%d}(%%s)" % axis, [x], x.shape[:axis] + [volume(x.shape[axis:])], x.kind)
        return self.reshape(x, axis, len(x.shape) - axis, [volume(x.shape[axis:])])

    def squeeze(self, x, axes):
        return self.call("layout.squeeze{axes=%s}(%%s)" % list(axes), [x], [e for a, e in enumerate(x.shape) if a not in axes], x.kind)

    def unsqueeze(self, x, axis):
        return self.call("layout.unsqueeze{axes=[%d]}(%%s)" % axis, [x], x.shape[:axis] + [1] + x.shape[axis:], x.kind)

    def linear(self, x, channels):
        """Multiplies the last dimension of a matrix, or of a stack of matrices, by a matrix of weights."""
        if len(x.shape) == 2 and self.chance(0.2):
            text = "%s: layer.linear{channels=%d, use_bias=%s}(%%s)" % (self.label(), channels, self.pick("true", "false"))
            return self.call(text, [x], [x.shape[0], channels])
        filter = self.variable(channels, x.shape[-1])
        if len(x.shape) == 2 and self.chance(0.6):
            operands = [x, filter] + [self.variable(channels)] * self.pick(0, 1)
            return self.call("nn.linear(%s)" % listed(operands), operands, [x.shape[0], channels])
        product = self.call("linalg.matmul{transB=true}(%s, %s)", [x, filter], x.shape[:-1] + [channels])
        return self.binary("add", product, self.variable(channels)) if self.chance(0.5) else product

    def either_axis(self, axis, shape):
        return axis - len(shape) if self.chance(0.3) else axis


def listed(operands):
    return ", ".join(["%s"] * len(operands))


def longer(x, y):
    return x if len(x.shape) > len(y.shape) else y


def volume(extents):
    """The product of extents, at most one of which is dynamic."""
    product, dynamic = 1, ""
    for extent in extents:
        if isinstance(extent, int):
            product *= extent
        else:
            factor, _, name = extent.rpartition("*")
            product, dynamic = product * int(factor or 1), name
    return product if not dynamic else dynamic if product == 1 else "%d*%s" % (product, dynamic)
