# SPDX-License-Identifier: Apache-2.0
"""Random tensors: checks the range, and that mean and deviation are within five standard errors."""
import numpy as np

from cases import BOTH, Case


def check(kind, shape, low, high, mean, deviation, excluded=False):
    def complaint(got):
        if got.dtype.kind != kind or got.shape != tuple(shape):
            return "type %s, shape %s" % (got.dtype, got.shape)
        x = got.astype(np.float64)
        below = x < high if excluded and high > low else x <= high
        if not np.all((x >= low) & below):
            return "outside of [%s, %s]" % (low, high)
        error = 5 * deviation / np.sqrt(max(x.size, 1))
        if x.size >= 100 and (abs(x.mean() - mean) > error or abs(x.std() - deviation) > max(error, 0.1 * deviation)):
            return "mean %s, deviation %s instead of %s, %s" % (x.mean(), x.std(), mean, deviation)
        if x.size >= 100 and deviation > 0 and np.array_equal(x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2: x.shape[-1] // 2 * 2]):
            return "repeats itself"
        return None
    return complaint


def text(shape):
    return "[%s]" % ",".join(str(n) for n in shape)


def cases():
    for edition in BOTH:
        for shape in ([], [1], [0], [1000], [40, 50], [2, 3, 200]):
            for low, high in [(None, None), (-2.0, 2.0), (5.0, 5.5), (1024.0, 1088.0)]:
                l, h = (0.0 if low is None else low), (1.0 if high is None else high)
                yield Case("rand.uniform", [], [check("f", shape, l, h, (l + h) / 2, (h - l) / 12 ** 0.5, excluded=True)], {"min": low, "max": high, "shape": shape}, declared={"y0": "real" + text(shape)}, edition=edition)
            yield Case("rand.uniform", [], [check("i", shape, -3, 6, 1.5, (99 / 12) ** 0.5)], {"min": -3, "max": 7, "shape": shape}, types="<int>", declared={"y0": "int" + text(shape)}, edition=edition)
            for mean, std in [(None, None), (3.0, 0.5), (1.0, 0.0)]:
                m, s = (0.0 if mean is None else mean), (1.0 if std is None else std)
                yield Case("rand.normal", [], [check("f", shape, -100, 100, m, s)], {"mean": mean, "std": std, "shape": shape}, declared={"y0": "real" + text(shape)}, edition=edition)
            for prob in (0.0, 0.25, 1.0):
                yield Case("rand.bernoulli", [], [check("b", shape, 0, 1, prob, (prob * (1 - prob)) ** 0.5)], {"prob": prob, "shape": shape}, declared={"y0": "bool" + text(shape)}, edition=edition)
