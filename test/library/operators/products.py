# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and quantization: numpy's products in f64; quantization by its definition in f32."""
import numpy as np

from cases import BOTH, Case, f32, random

T = {"rtol": 2e-5, "atol": 1e-5}


def linalg():
    draw = random("linalg")
    for n in (0, 1, 2, 7, 33):
        for edition in BOTH:
            x, y, b = draw.real((n,)), draw.real((n,)), draw.real()
            want = np.dot(x.astype(np.float64), y)
            yield Case("linalg.dot", [x, y], f32(want), edition=edition, **T)
            yield Case("linalg.dot", [x, y, b], f32(want + b), edition=edition, **T)
    for m, n in [(1, 1), (2, 3), (3, 2), (5, 1), (1, 5), (9, 17), (0, 2), (2, 0)]:
        for transposed in (None, False, True):
            for edition in BOTH:
                a = draw.real((m, n))
                x, b = draw.real((m if transposed else n,)), draw.real((n if transposed else m,))
                want = (a.T if transposed else a).astype(np.float64) @ x
                yield Case("linalg.matvec", [a, x], f32(want), {"transA": transposed}, edition=edition, **T)
                yield Case("linalg.matvec", [a, x, b], f32(want + b), {"transA": transposed}, edition=edition, **T)
    for left, right, extra in [((), (), ()), ((2,), (2,), (2,)), ((2,), (), (1,)), ((), (3,), ()), ((2, 1), (1, 3), (2, 3)), ((1,), (4,), (1,)), ((2, 3), (3,), (3,)), ((3,), (2, 1), (1, 1))]:
        for m, k, n in [(1, 1, 1), (2, 3, 4), (3, 1, 2), (5, 7, 3)]:
            for ta in (None, True):
                for tb in (None, True):
                    a = draw.real(left + ((k, m) if ta else (m, k)))
                    b = draw.real(right + ((n, k) if tb else (k, n)))
                    c = draw.real(extra + (m, n))
                    wide = [np.swapaxes(v, -1, -2) if t else v for v, t in ((a.astype(np.float64), ta), (b, tb))]
                    want = np.matmul(*wide)
                    attributes = {"transA": ta, "transB": tb}
                    yield Case("linalg.matmul", [a, b], f32(want), attributes, edition=BOTH[m % 2], **T)
                    yield Case("linalg.matmul", [a, b, c], f32(want + c), attributes, edition=BOTH[n % 2], **T)
    for sx, sy in [((), ()), ((3,), (2,)), ((3,), ()), ((2, 3), (4,)), ((2,), (1, 3)), ((0,), (3,)), ((2, 1), (1, 2, 2))]:
        for edition in BOTH:
            x, y = draw.real(sx), draw.real(sy)
            yield Case("linalg.outer", [x, y], f32(np.multiply.outer(x, y)), edition=edition)
    for b, c, n in [(1, 1, 1), (2, 3, 4), (5, 1, 2), (3, 17, 9), (0, 2, 3)]:
        for edition in BOTH:
            x, w, bias = draw.real((b, c)), draw.real((n, c)), draw.real((n,))
            want = x.astype(np.float64) @ w.T
            yield Case("nn.linear", [x, w], f32(want), edition=edition, **T)
            yield Case("nn.linear", [x, w, bias], f32(want + bias), edition=edition, **T)
            for use_bias in (None, True, False):
                variables = {"filter": w} if use_bias is False else {"filter": w, "bias": bias}
                yield Case("layer.linear", [x], f32(want + (0 if use_bias is False else bias)), {"channels": n, "use_bias": use_bias},
                           variables=variables, edition=edition, **T)


def away(x):
    return np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)


def quant():
    draw = random("quant")
    for shape, axis in [((2, 3), None), ((2, 3, 4), None), ((3, 2), 0), ((2, 4, 3), -1), ((2, 1), 1), ((0, 2), 1)]:
        channels = shape[1 if axis is None else axis]
        at = (1 if axis is None else axis) % len(shape)
        spread = lambda v: np.asarray(v).reshape([-1 if d == at else 1 for d in range(len(shape))])  # noqa: E731
        for per_channel in (False, True):
            for bits in (1, 2, 4, 8):
                for signed in (None, True, False):
                    for symmetric in (None, True):
                        if symmetric and bits == 1:
                            continue
                        x = draw.real(shape, -6, 6)
                        count = channels if per_channel else 1
                        scale = [float(s) for s in np.exp2(-draw.int((count,), 0, 4).astype(float))]  # exact, so that ties do not depend on rounding
                        zero = [int(z) for z in draw.int((count,), -3, 4)]
                        most = 2 ** (bits - 1) - 1 if signed is not False else 2 ** bits - 1
                        least = 0 if signed is False else -most if symmetric else -most - 1
                        z, u = spread(zero), spread(scale).astype(np.float32)
                        q = np.clip(z + away(x / u), least, most)
                        attributes = {"bits": bits, "signed": signed, "symmetric": symmetric, "channel_axis": axis}
                        yield Case("quant.zero_point_linear_quantize", [x], f32((q - z) * u),
                                   {"zero_point": zero if per_channel else zero[0], "scale": scale if per_channel else scale[0], **attributes}, edition=BOTH[bits % 4 // 2])
                        steps = 2 ** bits - 1 - (1 if signed is not False and symmetric else 0)
                        low = [float(v) for v in draw.int((count,), -5, 0)]
                        high = [float(v) for v in draw.int((count,), 1, 6)]
                        l, h = spread(low), spread(high)
                        position = (np.clip(x.astype(np.float64), l, h) - l) / (h - l) * steps
                        near = np.abs(position - np.floor(position) - 0.5) < 1e-3  # a tie for f32
                        x = f32(np.where(near, l, x))
                        position = np.where(near, 0, position)
                        yield Case("quant.min_max_linear_quantize", [x], f32(np.floor(position + 0.5) / steps * (h - l) + l),
                                   {"min": low if per_channel else low[0], "max": high if per_channel else high[0], **attributes}, edition=BOTH[bits % 4 // 2], atol=1e-5)


def cases():
    yield from linalg()
    yield from quant()
