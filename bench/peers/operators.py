# SPDX-License-Identifier: Apache-2.0
"""Operators in both languages. Each function adds a statement of SkriptND and nodes of ONNX to a network and returns the result."""
import math

import numpy


def listed(numbers):
    return "[%s]" % ",".join(map(str, numbers))


def repeated(number, count):
    return list(number) if isinstance(number, (list, tuple)) else [number] * count


# --- contractions -------------------------------------------------------------------------------------------------------


def conv(net, x, channels, size, stride=1, padding=None, dilation=1, groups=1, bias=True):
    """A convolution with weights of its own. `padding` is the amount on both sides; by default the extents stay, divided by the stride."""
    d = len(x.shape) - 2
    size, stride, dilation = (repeated(n, d) for n in (size, stride, dilation))
    reach = [(k - 1) * r + 1 for k, r in zip(size, dilation)]
    padding = [r // 2 for r in reach] if padding is None else repeated(padding, d)
    extents = [(n + 2 * p - r) // s + 1 for n, p, r, s in zip(x.shape[2:], padding, reach, stride)]
    width = x.shape[1] // groups
    operands = [x, net.weights([channels, width, *size], width * math.prod(size))]
    if bias:
        operands.append(net.variable([channels], 0.1))
    attributes = "stride=%s, padding=%s, dilation=%s, groups=%d" % (listed(stride), listed(padding * 2), listed(dilation), groups)
    text = "nn.conv{%s}(%s)" % (attributes, ", ".join(["%s"] * len(operands)))
    return net.both([x.shape[0], channels, *extents], text, "Conv", operands,
                    kernel_shape=size, strides=stride, pads=padding * 2, dilations=dilation, group=groups)


def deconv(net, x, channels, size, stride, padding):
    """A transposed convolution with weights and bias of its own."""
    d = len(x.shape) - 2
    size, stride, padding = (repeated(n, d) for n in (size, stride, padding))
    extents = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(x.shape[2:], stride, size, padding)]
    operands = [x, net.weights([x.shape[1], channels, *size], x.shape[1] * math.prod(size)), net.variable([channels], 0.1)]
    text = "nn.deconv{stride=%s, padding=%s}(%%s, %%s, %%s)" % (listed(stride), listed(padding * 2))
    return net.both([x.shape[0], channels, *extents], text, "ConvTranspose", operands, kernel_shape=size, strides=stride, pads=padding * 2)


def linear(net, x, channels):
    """A fully connected layer, x · wᵀ + b."""
    operands = [x, net.weights([channels, x.shape[1]], x.shape[1]), net.variable([channels], 0.1)]
    return net.both([x.shape[0], channels], "nn.linear(%s, %s, %s)", "Gemm", operands, transB=1)


def product(net, x, y):
    """The product of matrices, or of batches of matrices of the same rank."""
    return net.both([*x.shape[:-1], y.shape[-1]], "linalg.matmul(%s, %s)", "MatMul", [x, y])


def dense(net, x, channels, spread=None):
    """Products of the last dimension with weights, x · w + b."""
    shape = [x.shape[-1], channels]
    w = net.weights(shape, x.shape[-1]) if spread is None else net.variable(shape, spread)
    return add(net, product(net, x, w), net.variable([channels], 0.1))


def product_with_transposed(net, x, y):
    """x · yᵀ of two tensors of rank 4."""
    result = net.value([*x.shape[:-1], y.shape[-2]])
    net.statement([result], "linalg.matmul{transB=true}(%s, %s)", x, y)
    net.node("MatMul", [x, net.node("Transpose", [y], perm=[0, 1, 3, 2])], [result])
    return result


def lstm(net, x, features):
    """A recurrence over x (steps, batch, features); the outputs of all steps."""
    width = x.shape[2]
    W, R = net.variable([4 * features, width], width**-0.5), net.variable([4 * features, features], features**-0.5)
    B = net.variable([4 * features], 0.1)
    result, last, cell = (net.value([x.shape[0], x.shape[1], features]) for _ in range(3))
    net.statement([result, last, cell], "nn.lstm(%s, %s, %s, %s)", x, W, R, B)
    # ONNX has a leading dimension of directions, and a second bias, for R.
    gates = [net.derived(lambda v=v: _onnx_gates(net.variables[v.name].values, features)[None]) for v in (W, R)]
    gates.append(net.derived(lambda: numpy.pad(_onnx_gates(net.variables[B.name].values, features), (0, 4 * features))[None]))
    stacked = net.node("LSTM", [x, *gates], hidden_size=features)
    net.node("Squeeze", [stacked, net.constant([1])], [result])
    return result


def _onnx_gates(values, features):
    """The gates i, f, g, o in ONNX's order i, o, f, g."""
    return values.reshape(4, features, *values.shape[1:])[[0, 3, 1, 2]].reshape(values.shape)


# --- element by element -------------------------------------------------------------------------------------------------


def unary(net, x, text, operator, **attributes):
    return net.both(x.shape, text + "(%s)", operator, [x], **attributes)


def relu(net, x):
    return unary(net, x, "nn.relu", "Relu")


def relu6(net, x):
    return net.both(x.shape, "nn.relu{max=6.0}(%s)", "Clip", [x], [net.constant(0.0), net.constant(6.0)])


def gelu(net, x):
    return unary(net, x, "nn.gelu", "Gelu")


def silu(net, x):
    result = net.value(x.shape)
    net.statement([result], "nn.silu(%s)", x)
    net.node("Mul", [x, net.node("Sigmoid", [x])], [result])
    return result


def add(net, x, y):
    """The sum; the shape of y may be the end of that of x."""
    return net.both(x.shape, "math.add(%s, %s)", "Add", [x, y])


def multiply(net, x, y):
    return net.both(x.shape, "math.mul(%s, %s)", "Mul", [x, y])


def scale(net, x, factor):
    return net.both(x.shape, "math.mul(%%s, %r)" % factor, "Mul", [x], [net.constant(factor)])


def add_channels(net, x):
    """A bias for each channel, dimension 1."""
    result, b = net.value(x.shape), net.variable([x.shape[1]])
    net.statement([result], "math.add{rhs_align=1}(%s, %s)", x, b)
    shape = [x.shape[1], *[1] * (len(x.shape) - 2)]
    net.node("Add", [x, net.derived(lambda: net.variables[b.name].values.reshape(shape))], [result])
    return result


# --- normalization ------------------------------------------------------------------------------------------------------


def batch_norm(net, x):
    channels = [x.shape[1]]
    mean, variance, bias, gain = net.variable(channels, 0.1), net.positive(channels), net.variable(channels, 0.1), net.positive(channels)
    result = net.value(x.shape)
    net.statement([result], "nn.batch_norm(%s, %s, %s, %s, %s)", x, mean, variance, bias, gain)
    net.node("BatchNormalization", [x, gain, bias, mean, variance], [result], epsilon=1e-5)
    return result


def layer_norm(net, x):
    """Normalization over the last dimension, with scale and shift."""
    last, width = len(x.shape) - 1, x.shape[-1:]
    gain, bias = net.positive(width), net.variable(width, 0.1)
    normalized, scaled, result = (net.value(x.shape) for _ in range(3))
    net.statement([normalized], "nn.mean_variance_norm{axes=[%d]}(%%s)" % last, x)
    net.statement([scaled], "math.mul(%s, %s)", normalized, gain)
    net.statement([result], "math.add(%s, %s)", scaled, bias)
    net.node("LayerNormalization", [x, gain, bias], [result], axis=-1, epsilon=1e-5)
    return result


def rms_norm(net, x):
    """Division by the root of the mean of squares over the last dimension, with scale."""
    last, gain = len(x.shape) - 1, net.positive(x.shape[-1:])
    narrow = [*x.shape[:-1], 1]
    squares = net.both(x.shape, "math.mul(%s, %s)", "Mul", [x, x])
    mean = net.both(narrow, "math.mean_reduce{axes=[%d]}(%%s)" % last, "ReduceMean", [squares], [net.constant([-1])])
    safe = net.both(narrow, "math.add(%s, 1e-5)", "Add", [mean], [net.constant(1e-5)])
    root = net.both(narrow, "math.sqrt(%s)", "Sqrt", [safe])
    return multiply(net, net.both(x.shape, "math.div(%s, %s)", "Div", [x, root]), gain)


def instance_norm(net, x):
    gain, bias, result = net.positive([x.shape[1]]), net.variable([x.shape[1]], 0.1), net.value(x.shape)
    net.statement([result], "nn.mean_variance_norm(%s, %s, %s)", x, bias, gain)
    net.node("InstanceNormalization", [x, gain, bias], [result], epsilon=1e-5)
    return result


def softmax(net, x):
    """Softmax over the last dimension."""
    return net.both(x.shape, "nn.softmax{axes=[%d]}(%%s)" % (len(x.shape) - 1), "Softmax", [x], axis=-1)


# --- pooling and reduction ----------------------------------------------------------------------------------------------


def pool(net, x, kind, size, stride, padding):
    d = len(x.shape) - 2
    extents = [(n + 2 * padding - size) // stride + 1 for n in x.shape[2:]]
    axes = list(range(2, 2 + d))
    attributes = [listed(n) for n in (axes, [size] * d, [stride] * d, [padding] * (2 * d))]
    text = "nn.%s_pool{axes=%s, size=%s, stride=%s, padding=%s}(%%s)" % (kind, *attributes)
    return net.both([*x.shape[:2], *extents], text, {"max": "MaxPool", "avg": "AveragePool"}[kind], [x],
                    kernel_shape=[size] * d, strides=[stride] * d, pads=[padding] * (2 * d))


def global_pool(net, x):
    """The mean over the spatial dimensions, (batch, channels)."""
    result = net.value(x.shape[:2])
    net.statement([result], "math.mean_reduce{axes=[2,3], squeeze=true}(%s)", x)
    net.node("Flatten", [net.node("GlobalAveragePool", [x])], [result], axis=1)
    return result


def total(net, x, axis):
    shape = [n for at, n in enumerate(x.shape) if at != axis]
    text = "math.sum_reduce{axes=[%d], squeeze=true}(%%s)" % axis
    return net.both(shape, text, "ReduceSum", [x], [net.constant([axis])], keepdims=0)


def argmax(net, x):
    last = len(x.shape) - 1
    return net.both(x.shape[:-1], "math.argmax{axis=%d, squeeze=true}(%%s)" % last, "ArgMax", [x], axis=last, keepdims=0)


# --- layout -------------------------------------------------------------------------------------------------------------


def transpose(net, x, order):
    return net.both([x.shape[at] for at in order], "layout.transpose{perm=%s}(%%s)" % listed(order), "Transpose", [x], perm=order)


def split_last(net, x, extents):
    """The last dimension split into two."""
    at = len(x.shape) - 1
    target = net.constant([0] * at + list(extents))
    return net.both([*x.shape[:-1], *extents], "layout.unflatten{axis=%d, shape=%s}(%%s)" % (at, listed(extents)), "Reshape", [x], [target])


def merge_last(net, x):
    """The last two dimensions merged."""
    at = len(x.shape) - 2
    merged = x.shape[-2] * x.shape[-1]
    target = net.constant([0] * at + [merged])
    return net.both([*x.shape[:-2], merged], "layout.flatten{axis=%d, rank=2}(%%s)" % at, "Reshape", [x], [target])


def flatten(net, x):
    return net.both([x.shape[0], math.prod(x.shape[1:])], "layout.flatten{axis=1}(%s)", "Flatten", [x], axis=1)


def concat(net, xs, axis):
    shape = [sum(x.shape[axis] for x in xs) if at == axis else n for at, n in enumerate(xs[0].shape)]
    return net.both(shape, "layout.concat{axis=%d}([%s])" % (axis, ", ".join(["%s"] * len(xs))), "Concat", xs, axis=axis)


def resize(net, x, extents):
    """Bilinear interpolation of the last two dimensions."""
    shape = [*x.shape[:2], *extents]
    text = "image.linear_resize{axes=[2,3], size=%s}(%%s)" % listed(extents)
    return net.both(shape, text, "Resize", [x], ["", "", net.constant(shape)], mode="linear", coordinate_transformation_mode="half_pixel")


def gather(net, table, index):
    """Rows of a table."""
    return net.both([*index.shape, *table.shape[1:]], "layout.gather{axis=0}(%s, %s)", "Gather", [table, index], axis=0)
