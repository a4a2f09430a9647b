# SPDX-License-Identifier: Apache-2.0
"""Operators in SkriptND and ONNX, and some also in torch. Each function adds a SkriptND statement, ONNX nodes and, if it has a torch
expression, a line of Python to a network, and returns the result."""
import math

import numpy


def listed(numbers):
    return "[%s]" % ",".join(map(str, numbers))


def repeated(number, count):
    return list(number) if isinstance(number, (list, tuple)) else [number] * count


# --- contractions -------------------------------------------------------------------------------------------------------


def conv(net, x, channels, size, stride=1, padding=None, dilation=1, groups=1, bias=True):
    """A convolution with new weights. `padding` applies to both sides; by default, the result has the extents of x divided by the stride."""
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
    """A transposed convolution with new weights and bias."""
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
    """A fully connected layer over the last dimension, x · w + b."""
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
    """An LSTM over x (steps, batch, features). The result has the outputs of all steps."""
    width = x.shape[2]
    W, R = net.variable([4 * features, width], width**-0.5), net.variable([4 * features, features], features**-0.5)
    B = net.variable([4 * features], 0.1)
    result, last, cell = (net.value([x.shape[0], x.shape[1], features]) for _ in range(3))
    net.statement([result, last, cell], "nn.lstm(%s, %s, %s, %s)", x, W, R, B)
    # ONNX requires a leading dimension for directions, and a second half of the bias, which is for R.
    gates = [net.derived(lambda v=v: _onnx_gates(net.variables[v.name].values, features)[None]) for v in (W, R)]
    gates.append(net.derived(lambda: numpy.pad(_onnx_gates(net.variables[B.name].values, features), (0, 4 * features))[None]))
    stacked = net.node("LSTM", [x, *gates], hidden_size=features)
    net.node("Squeeze", [stacked, net.constant([1])], [result])
    return result


def _onnx_gates(values, features):
    """The gates i, f, g, o in ONNX's order i, o, f, g."""
    return values.reshape(4, features, *values.shape[1:])[[0, 3, 1, 2]].reshape(values.shape)


# --- elementwise --------------------------------------------------------------------------------------------------------


def unary(net, x, text, operator, **attributes):
    """An elementwise operator with the same name in torch."""
    return net.both(x.shape, text + "(%s)", operator, [x], torch="torch.%s(%%s)" % text.split(".")[1], **attributes)


def relu(net, x):
    return unary(net, x, "nn.relu", "Relu")


def relu6(net, x):
    return net.both(x.shape, "nn.relu{max=6.0}(%s)", "Clip", [x], [net.constant(0.0), net.constant(6.0)])


def gelu(net, x):
    return net.both(x.shape, "nn.gelu(%s)", "Gelu", [x], torch="F.gelu(%s)")


def gelu_by_tanh(net, x):
    text = "nn.gelu{approximate='TANH'}(%s)"
    return net.both(x.shape, text, "Gelu", [x], approximate="tanh", torch="F.gelu(%s, approximate='tanh')")


# x · tanh(ln(1 + eˣ)) without tanh and ln, as the ONNX importer defines it.
MISH = """operator mish {
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @lower {
        e = `exp`(-`abs`(x[i..])),
        above = 2.0 * e + (x[i..] < 0.0 ? e * e : 1.0),
        y[i..] = x[i..] * (above / (above + 2.0 * (x[i..] < 0.0 ? 1.0 : e * e))), i < s;
    }
}
"""


def mish(net, x):
    net.operator(MISH)
    return net.both(x.shape, "mish(%s)", "Mish", [x], torch="F.mish(%s)")


def with_scalar(net, x, text, operator, number):
    """An elementwise operator with a scalar operand."""
    torch = {"Sub": "%%s - %r", "Add": "%%s + %r", "Mul": "%%s * %r", "Max": "torch.clamp(%%s, min=%r)", "Min": "torch.clamp(%%s, max=%r)"}
    return net.both(x.shape, "%s(%%s, %r)" % (text, number), operator, [x], [net.constant(number)], torch=torch[operator] % number)


def silu(net, x):
    result = net.value(x.shape)
    net.statement([result], "nn.silu(%s)", x)
    net.eager([result], "F.silu(%s)", x)
    net.node("Mul", [x, net.node("Sigmoid", [x])], [result])
    return result


def add(net, x, y):
    """The sum. The shape of y may be a suffix of the shape of x."""
    return net.both(x.shape, "math.add(%s, %s)", "Add", [x, y], torch="%s + %s")


def multiply(net, x, y):
    return net.both(x.shape, "math.mul(%s, %s)", "Mul", [x, y])


def scale(net, x, factor):
    return net.both(x.shape, "math.mul(%%s, %r)" % factor, "Mul", [x], [net.constant(factor)])


def add_channels(net, x):
    """A bias for each channel, dimension 1."""
    result, b = net.value(x.shape), net.variable([x.shape[1]])
    net.statement([result], "math.add{rhs_align=1}(%s, %s)", x, b)
    net.eager([result], "%%s + %%s.reshape(-1%s)" % (", 1" * (len(x.shape) - 2)), x, b)
    shape = [x.shape[1], *[1] * (len(x.shape) - 2)]
    net.node("Add", [x, net.derived(lambda: net.variables[b.name].values.reshape(shape))], [result])
    return result


# --- normalization ------------------------------------------------------------------------------------------------------


def batch_norm(net, x):
    channels = [x.shape[1]]
    mean, variance, bias, gain = net.variable(channels, 0.1), net.positive(channels), net.variable(channels, 0.1), net.positive(channels)
    result = net.value(x.shape)
    net.statement([result], "nn.batch_norm(%s, %s, %s, %s, %s)", x, mean, variance, bias, gain)
    net.eager([result], "F.batch_norm(%s, %s, %s, %s, %s, False, 0.0, 1e-5)", x, mean, variance, gain, bias)
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
    net.eager([result], "F.layer_norm(%%s, %s, %%s, %%s, 1e-5)" % listed(width), x, gain, bias)
    net.node("LayerNormalization", [x, gain, bias], [result], axis=-1, epsilon=1e-5)
    return result


def rms_norm(net, x):
    """RMS normalization over the last dimension, with scale."""
    last, gain = len(x.shape) - 1, net.positive(x.shape[-1:])
    narrow = [*x.shape[:-1], 1]
    squares = net.both(x.shape, "math.mul(%s, %s)", "Mul", [x, x])
    mean = net.both(narrow, "math.mean_reduce{axes=[%d]}(%%s)" % last, "ReduceMean", [squares], [net.constant([-1])])
    safe = net.both(narrow, "math.add(%s, 1e-5)", "Add", [mean], [net.constant(1e-5)])
    root = net.both(narrow, "math.sqrt(%s)", "Sqrt", [safe])
    result = multiply(net, net.both(x.shape, "math.div(%s, %s)", "Div", [x, root]), gain)
    net.eager([result], "F.rms_norm(%%s, %s, %%s, 1e-5)" % listed(gain.shape), x, gain)
    return result


def instance_norm(net, x):
    gain, bias, result = net.positive([x.shape[1]]), net.variable([x.shape[1]], 0.1), net.value(x.shape)
    net.statement([result], "nn.mean_variance_norm(%s, %s, %s)", x, bias, gain)
    net.eager([result], "F.instance_norm(%s, None, None, %s, %s, True, 0.0, 1e-5)", x, gain, bias)
    net.node("InstanceNormalization", [x, gain, bias], [result], epsilon=1e-5)
    return result


def group_norm(net, x, groups):
    """Normalization of a batch of one over groups of channels, with scale and shift for each channel."""
    channels = x.shape[1]
    gain, bias, result = net.positive([channels]), net.variable([channels], 0.1), net.value(x.shape)
    flat = [groups, channels // groups * math.prod(x.shape[2:])]
    grouped, normalized, split, scaled = net.value(flat), net.value(flat), net.value(x.shape), net.value(x.shape)
    net.statement([grouped], "layout.reshape{shape=%s}(%%s)" % listed(flat), x)
    net.statement([normalized], "nn.mean_variance_norm{axes=[1]}(%s)", grouped)
    net.statement([split], "layout.reshape{shape=%s}(%%s)" % listed(x.shape), normalized)
    net.statement([scaled], "math.mul{rhs_align=1}(%s, %s)", split, gain)
    net.statement([result], "math.add{rhs_align=1}(%s, %s)", scaled, bias)
    net.eager([result], "F.group_norm(%%s, %d, %%s, %%s, 1e-5)" % groups, x, gain, bias)
    # GroupNormalization has parameters for each channel from opset 21 on.
    rows, shape = net.node("Reshape", [x, net.constant([1, groups, -1])]), [channels, *[1] * (len(x.shape) - 2)]
    ones, zeros = (net.derived(lambda fill=fill: fill(groups, numpy.float32)) for fill in (numpy.ones, numpy.zeros))
    rows = net.node("InstanceNormalization", [rows, ones, zeros], epsilon=1e-5)
    rows = net.node("Reshape", [rows, net.constant(x.shape)])
    factor, term = (net.derived(lambda v=v: net.variables[v.name].values.reshape(shape)) for v in (gain, bias))
    net.node("Add", [net.node("Mul", [rows, factor]), term], [result])
    return result


def softmax(net, x):
    """Softmax over the last dimension."""
    return net.both(x.shape, "nn.softmax{axes=[%d]}(%%s)" % (len(x.shape) - 1), "Softmax", [x], axis=-1, torch="torch.softmax(%s, -1)")


def log_softmax(net, x):
    """The logarithm of softmax over the last dimension."""
    last, narrow = len(x.shape) - 1, [*x.shape[:-1], 1]
    most, total, log = (net.value(narrow) for _ in range(3))
    shifted, raised, result = (net.value(x.shape) for _ in range(3))
    net.statement([most], "math.max_reduce{axes=[%d]}(%%s)" % last, x)
    net.statement([shifted], "math.sub(%s, %s)", x, most)
    net.statement([raised], "math.exp(%s)", shifted)
    net.statement([total], "math.sum_reduce{axes=[%d]}(%%s)" % last, raised)
    net.statement([log], "math.log(%s)", total)
    net.statement([result], "math.sub(%s, %s)", shifted, log)
    net.eager([result], "torch.log_softmax(%s, -1)", x)
    net.node("LogSoftmax", [x], [result], axis=-1)
    return result


# --- pooling and reduction ----------------------------------------------------------------------------------------------


def pool(net, x, kind, size, stride, padding):
    d = len(x.shape) - 2
    extents = [(n + 2 * padding - size) // stride + 1 for n in x.shape[2:]]
    axes = list(range(2, 2 + d))
    attributes = [listed(n) for n in (axes, [size] * d, [stride] * d, [padding] * (2 * d))]
    text = "nn.%s_pool{axes=%s, size=%s, stride=%s, padding=%s}(%%s)" % (kind, *attributes)
    torch = "F.%s_pool%dd(%%s, %d, %d, %d%s)" % (kind, d, size, stride, padding, ", count_include_pad=False" * (kind == "avg"))
    return net.both([*x.shape[:2], *extents], text, {"max": "MaxPool", "avg": "AveragePool"}[kind], [x], torch=torch,
                    kernel_shape=[size] * d, strides=[stride] * d, pads=[padding] * (2 * d))


def global_pool(net, x):
    """The mean over the spatial dimensions, (batch, channels)."""
    result = net.value(x.shape[:2])
    net.statement([result], "math.mean_reduce{axes=[2,3], squeeze=true}(%s)", x)
    net.eager([result], "torch.mean(%s, (2, 3))", x)
    net.node("Flatten", [net.node("GlobalAveragePool", [x])], [result], axis=1)
    return result


def total(net, x, axis):
    shape = [n for at, n in enumerate(x.shape) if at != axis]
    text = "math.sum_reduce{axes=[%d], squeeze=true}(%%s)" % axis
    return net.both(shape, text, "ReduceSum", [x], [net.constant([axis])], keepdims=0, torch="torch.sum(%%s, %d)" % axis)


def cumulative_sum(net, x, axis):
    text, torch = "math.cumsum{axis=%d}(%%s)" % axis, "torch.cumsum(%%s, %d)" % axis
    return net.both(x.shape, text, "CumSum", [x], [net.constant([axis])], torch=torch)


def argmax(net, x):
    last = len(x.shape) - 1
    return net.both(x.shape[:-1], "math.argmax{axis=%d, squeeze=true}(%%s)" % last, "ArgMax", [x], axis=last, keepdims=0, torch="torch.argmax(%s, -1)")


def top_k(net, x, k):
    """The k largest elements of each row and their positions, in descending order."""
    last, shape = len(x.shape) - 1, [*x.shape[:-1], k]
    results = [net.value(shape), net.value(shape)]
    net.statement(results, "algo.top_k{k=%d, axis=%d}(%%s)" % (k, last), x)
    net.eager(results, "torch.topk(%%s, %d, -1)" % k, x)
    net.node("TopK", [x, net.constant([k])], results, axis=-1)
    return results


# --- layout -------------------------------------------------------------------------------------------------------------


def transpose(net, x, order):
    text, torch = "layout.transpose{perm=%s}(%%s)" % listed(order), "%%s.permute(%s).contiguous()" % listed(order)
    return net.both([x.shape[at] for at in order], text, "Transpose", [x], perm=order, torch=torch)


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
    names = ", ".join(["%s"] * len(xs))
    return net.both(shape, "layout.concat{axis=%d}([%s])" % (axis, names), "Concat", xs, axis=axis, torch="torch.cat([%s], %d)" % (names, axis))


def resize(net, x, extents):
    """Bilinear interpolation of the last two dimensions."""
    shape = [*x.shape[:2], *extents]
    text = "image.linear_resize{axes=[2,3], size=%s}(%%s)" % listed(extents)
    torch = "F.interpolate(%%s, %s, mode='bilinear')" % listed(extents)
    sizes = ["", "", net.constant(shape)]
    return net.both(shape, text, "Resize", [x], sizes, mode="linear", coordinate_transformation_mode="half_pixel", torch=torch)


def resize_nearest(net, x, extents):
    """The nearest element, in the last two dimensions."""
    shape = [*x.shape[:2], *extents]
    text = "image.nearest_resize{axes=[2,3], size=%s}(%%s)" % listed(extents)
    torch = "F.interpolate(%%s, %s, mode='nearest-exact')" % listed(extents)
    sizes = ["", "", net.constant(shape)]
    return net.both(shape, text, "Resize", [x], sizes, mode="nearest", coordinate_transformation_mode="half_pixel", torch=torch)


def gather(net, table, index):
    """Rows of a table."""
    result = net.both([*index.shape, *table.shape[1:]], "layout.gather{axis=0}(%s, %s)", "Gather", [table, index], axis=0)
    net.eager([result], "F.embedding(%s, %s)", index, table)
    return result
