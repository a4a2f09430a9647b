# SPDX-License-Identifier: Apache-2.0
"""Normalization and recurrence: numpy and scipy in f64."""
import numpy as np
from scipy import special

from cases import BOTH, Case, f32, points, random
from operators.reductions import numpy_axes

T = {"rtol": 5e-5, "atol": 1e-5}


def spread(v, shape, axis):
    return v.reshape([-1 if d == axis % len(shape) else 1 for d in range(len(shape))])


def batch_norm():
    draw = random("batch_norm")
    for shape, axis in [((2, 3), None), ((1, 1, 4), None), ((2, 3, 4, 2), None), ((2, 3, 4), -1), ((3, 2), 0), ((0, 3, 2), None)]:
        c = shape[1 if axis is None else axis]
        for epsilon in (None, 0.0, 0.1):
            for with_bias in (False, True):
                for with_scale in (False, True):
                    x, mean, variance = draw.real(shape), draw.real((c,)), draw.real((c,), 0.2, 4)
                    bias, scale = draw.real((c,)), draw.real((c,))
                    part = lambda v: spread(v.astype(np.float64), shape, 1 if axis is None else axis)  # noqa: E731
                    y = (x - part(mean)) / np.sqrt(part(variance) + (1e-5 if epsilon is None else epsilon))
                    y = y * (part(scale) if with_scale else 1) + (part(bias) if with_bias else 0)
                    edition = BOTH[(with_bias + with_scale) % 2]
                    inputs = [x, mean, variance] + ([bias, scale] if with_bias and with_scale else [bias] if with_bias else [None, scale] if with_scale else [])
                    yield Case("nn.batch_norm", inputs, f32(y), {"epsilon": epsilon, "channel_axis": axis}, edition=edition, **T)
                    if axis is None:
                        variables = {"mean": mean, "variance": variance, **({"bias": bias} if with_bias else {}), **({"scale": scale} if with_scale else {})}
                        for momentum in (None, 0.0, 0.25):
                            yield Case("layer.batch_norm", [x], f32(y), {"epsilon": epsilon, "use_bias": None if with_bias else False, "use_scale": None if with_scale else False,
                                       "momentum": momentum}, variables=variables, edition=edition, **T)


def norms():
    draw = random("norms")
    for shape, axes in [((2, 3, 4), None), ((2, 3, 4, 5), None), ((2, 3, 4, 5), [1, 2, 3]), ((2, 3, 4), [-1, 1]), ((2, 3, 4), [0, 2]), ((1, 2, 1), None), ((2, 3, 4), [2])]:
        for epsilon in (None, 0.5):
            for with_bias in (False, True):
                for with_scale in (False, True):
                    x, bias, scale = draw.real(shape), draw.real((shape[1],)), draw.real((shape[1],))
                    where = tuple(range(2, len(shape))) if axes is None else numpy_axes(shape, axes)
                    wide = x.astype(np.float64)
                    y = (wide - wide.mean(where, keepdims=True)) / np.sqrt(wide.var(where, keepdims=True) + (1e-5 if epsilon is None else epsilon))
                    y = y * (spread(scale, shape, 1) if with_scale else 1) + (spread(bias, shape, 1) if with_bias else 0)
                    inputs = [x] + ([bias, scale] if with_bias and with_scale else [bias] if with_bias else [None, scale] if with_scale else [])
                    yield Case("nn.mean_variance_norm", inputs, f32(y), {"axes": axes, "epsilon": epsilon}, edition=BOTH[with_bias], **T)
    for shape, axes in [((5,), [0]), ((2, 3), [1]), ((2, 3), [-2]), ((2, 3, 4), [1, 2]), ((2, 1, 3), [1]), ((2, 3, 4), [0, -1]), ((17, 2), [0])]:
        for bias in (None, 0.5):
            for epsilon in (None, 0.001, 100.0):
                for edition in BOTH:
                    x = draw.real(shape)
                    for name, length in [("l1_norm", lambda v: np.abs(v).sum(numpy_axes(shape, axes), keepdims=True)), ("l2_norm", lambda v: np.sqrt((v * v).sum(numpy_axes(shape, axes), keepdims=True)))]:
                        wide = x.astype(np.float64)
                        divisor = length(wide) + (bias or 0)
                        divisor = divisor if epsilon is None else np.maximum(divisor, epsilon)
                        yield Case("nn." + name, [x], f32(wide / divisor), {"axes": axes, "bias": bias, "epsilon": epsilon}, edition=edition, **T)
    for shape, axes in [((2, 3), None), ((2, 1), None), ((2, 3, 4), None), ((5,), [0]), ((2, 3), [0]), ((2, 3), [-1]), ((2, 3, 4), [1, 2]), ((2, 3, 4, 2), [-3]), ((0, 3), [1]), ((3, 33), [1])]:
        for edition in BOTH:
            for low, high in [(-3, 3), (-2000, 2000), (3e37, 3e38)]:
                x = draw.real(shape, low, high)
                where = numpy_axes(shape, [1] if axes is None else axes)
                y = special.softmax(x.astype(np.float64), axis=where) if x.size else x
                yield Case("nn.softmax", [x], f32(y), {"axes": axes}, edition=edition, label="%g" % high, **T)
    x = np.array([[-np.inf, 0, 0], [-np.inf, -np.inf, 3]], dtype=np.float32)
    yield Case("nn.softmax", [x], np.array([[0, 0.5, 0.5], [0, 0, 1]], np.float32), label="masked")


def local_response():
    draw = random("nn.local_response_norm")
    for shape, axes, size in [((1, 5), None, [3]), ((2, 4, 3), None, [1]), ((2, 4, 3), None, [2]), ((2, 4, 3), None, [5]), ((1, 2, 4, 4), [2, 3], [3, 2]), ((2, 5, 3), [-2], [4]), ((6,), [0], [3])]:
        for alpha, beta, bias in [(None, None, None), (0.5, 0.75, 2.0), (0.0, 1.0, 1.0), (2.0, 0.0, 0.5)]:
            for edition in BOTH:
                x = draw.real(shape)
                where = [1] if axes is None else [a % len(shape) for a in axes]
                y = np.zeros(shape)
                for at in points(shape):
                    total = 0.0
                    for tap in points(size):
                        place = list(at)
                        for i, a in enumerate(where):
                            place[a] = at[a] + tap[i] - (size[i] - 1) // 2
                        if all(0 <= place[a] < shape[a] for a in where):
                            total += float(x[tuple(place)]) ** 2
                    mean = total / np.prod(size)
                    y[at] = x[at] / ((1.0 if bias is None else bias) + (1.0 if alpha is None else alpha) * mean) ** (0.5 if beta is None else beta)
                yield Case("nn.local_response_norm", [x], f32(y), {"axes": axes, "size": size, "alpha": alpha, "beta": beta, "bias": bias}, edition=edition, **T)


def step(h, c, x, w, r, b):
    i, f, g, o = np.split(x @ w.T + h @ r.T + b, 4, axis=-1)
    c = special.expit(f) * c + special.expit(i) * np.tanh(g)
    return special.expit(o) * np.tanh(c), c


def recurrence():
    draw = random("lstm")
    for s, b, c, n in [(1, 1, 1, 1), (1, 2, 3, 2), (3, 2, 2, 3), (5, 1, 4, 2), (4, 3, 1, 5), (0, 2, 3, 2)]:
        x, w, r, bias = draw.real((s, b, c)), draw.real((4 * n, c)), draw.real((4 * n, n)), draw.real((4 * n,))
        h0, c0 = draw.real((b, n)), draw.real((b, n))
        for with_state in (False, True):
            h, cell = (h0.astype(np.float64), c0.astype(np.float64)) if with_state else (np.zeros((b, n)), np.zeros((b, n)))
            hs, cells = [h], [cell]
            for t in range(s):
                h, cell = step(hs[-1], cells[-1], x[t].astype(np.float64), w, r, bias)
                hs.append(h)
                cells.append(cell)
            everything = lambda k: [f32(np.array(hs[1:k + 1]).reshape(k, b, n)), f32(hs[k]), f32(cells[k])]  # noqa: E731
            varying = {"y0": "real[~|%d,%d,%d]" % (s, b, n)}
            for edition in BOTH:
                inputs = [x, w, r, bias] + ([h0, c0] if with_state else [])
                yield Case("nn.lstm", inputs, everything(s), edition=edition, **T)
                if with_state and s:
                    yield Case("nn.lstm_step", [h0, c0, x[0], w, r, bias], [f32(hs[1]), f32(cells[1])], edition=edition, **T)
                    yield Case("nn.lstm_loop", inputs, everything(s), edition=edition, **T)
                    for k in {1, s}:
                        yield Case("nn.lstm_loop", inputs + [np.array(k)], everything(k), declared=varying, edition=edition, **T)
                    for steps in {(s,) * b, tuple(1 + i % s for i in range(b)), tuple(s - i % s for i in range(b))}:
                        longest = max(steps)
                        y = np.stack(hs[1:longest + 1])
                        for i, k in enumerate(steps):
                            y[k:, i] = 0
                        last = [np.stack([v[k][i] for i, k in enumerate(steps)]) for v in (hs, cells)]
                        yield Case("nn.lstm", inputs + [np.array(steps)], [f32(y)] + [f32(v) for v in last], declared=varying, edition=edition, **T)


def cases():
    yield from batch_norm()
    yield from norms()
    yield from local_response()
    yield from recurrence()
