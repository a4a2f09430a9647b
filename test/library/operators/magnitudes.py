# SPDX-License-Identifier: Apache-2.0
"""Numbers near the limits of f16: 3e4 to 6e4, whose squares and sums overflow, and around 1e-4, whose squares underflow.

Intermediate values of an operator must not be rounded to a narrow type. The expected values are computed by numpy in f64 from inputs
that the type represents; results may differ by the rounding of the outputs and by the error of f32."""
import numpy as np

from cases import BOTH, Case, StorageTypes, f32, random

T = {"rtol": 5e-5, "atol": 0}


def inputs(shape):
    draw = random("magnitudes %s" % (shape,))
    signs = np.where(draw.bool(shape), 1.0, -1.0)
    yield "large", draw.real(shape, 3e4, 6e4)
    yield "large, of both signs", StorageTypes.round(signs * draw.real(shape, 3e4, 6e4))
    yield "small", draw.real(shape, 5e-5, 2e-4)
    yield "small, of both signs", StorageTypes.round(signs * draw.real(shape, 5e-5, 2e-4))


def activations():
    """Arguments near those for which 1 + eˣ and eˣ − 1 would lose digits."""
    x = StorageTypes.round(-np.geomspace(1e-4, 4.0, 50))
    less = np.expm1(x.astype(np.float64))
    yield "nn.elu", [x], f32(0.5 * less), {"alpha": 0.5}
    yield "nn.selu", [x], f32(1.05070102 * 1.67326319 * less), {}
    x = StorageTypes.round(np.linspace(-8.0, 8.0, 50))
    yield "nn.softplus", [x], f32(np.logaddexp(0.0, x.astype(np.float64))), {}


def windows(x, reduce):
    """Windows of two elements in the last dimension."""
    return f32(reduce(np.lib.stride_tricks.sliding_window_view(x, 2, -1), -1))


def reductions(x, wide):
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    yield "math.mean_reduce", [f32(mean)], {"axes": [1]}
    yield "math.moments", [f32(mean), f32(variance)], {"axes": [1]}
    yield "math.sum_reduce", [f32(wide.sum(-1, keepdims=True))], {"axes": [1]}
    yield "nn.l1_norm", [f32(wide / np.abs(wide).sum(-1, keepdims=True))], {"axes": [1]}
    yield "nn.l2_norm", [f32(wide / np.sqrt((wide * wide).sum(-1, keepdims=True)))], {"axes": [1]}
    raised = np.exp(wide - wide.max(-1, keepdims=True))
    yield "nn.softmax", [f32(raised / raised.sum(-1, keepdims=True))], {"axes": [1]}


def pools(x, wide):
    attributes = {"axes": [-1], "size": [2], "padding": [0, 0]}
    yield "nn.avg_pool", [windows(wide, np.mean)], attributes
    yield "nn.rms_pool", [windows(wide, lambda w, axis: np.sqrt(np.mean(w * w, axis)))], attributes
    for p in (1.0, 2.0, 3.0):
        yield "nn.lp_pool", [windows(wide, lambda w, axis: (np.abs(w) ** p).sum(axis) ** (1 / p))], {**attributes, "p": p}
    yield "image.area_downsample", [f32((wide[..., ::2] + wide[..., 1::2]) / 2)], {"axes": [-1], "factor": [2]}
    yield "nn.local_response_norm", [f32(wide / np.sqrt(1e-8 + wide * wide))], {"size": [1], "bias": 1e-8}


def cases():
    for operator, given, output, attributes in activations():
        yield Case(operator, given, output, attributes, label="digits", **T)
    for label, x in inputs((3, 20)):
        for at, (operator, outputs, attributes) in enumerate(reductions(x, x.astype(np.float64))):
            yield Case(operator, [x], outputs, attributes, label=label, edition=BOTH[at % 2], **T)
    for label, x in inputs((2, 3, 8)):
        wide = x.astype(np.float64)
        for at, (operator, outputs, attributes) in enumerate(pools(x, wide)):
            yield Case(operator, [x], outputs, attributes, label=label, edition=BOTH[at % 2], **T)
        # Differences of elements from their mean are as exact as the f32 mean.
        y = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-12)
        yield Case("nn.mean_variance_norm", [x], f32(y), {"epsilon": 1e-12}, label=label, rtol=2e-4, atol=2e-5)
        mean, variance = (StorageTypes.round(v.mean((0, 2))) for v in (wide, np.abs(wide)))
        column = (1, -1, 1)
        y = (wide - mean.reshape(column)) / np.sqrt(variance.astype(np.float64).reshape(column) + 1e-5)
        yield Case("nn.batch_norm", [x, mean, variance], f32(y), label=label, rtol=5e-5, atol=1e-9)
    # More elements than the largest f16 number; and a mean of many elements, whose sum far exceeds that number.
    x = np.zeros((1, 70000), np.float32)
    yield Case("nn.softmax", [x], f32(np.full(x.shape, 1 / 70000)), label="many", **T)
    x = random("magnitudes many").real((1, 70000), 3e4, 6e4)
    yield Case("math.mean_reduce", [x], f32(x.astype(np.float64).mean(-1, keepdims=True)), {"axes": [1]}, label="many", **T)
