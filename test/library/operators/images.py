# SPDX-License-Identifier: Apache-2.0
"""Scaling, pooling of regions and sampling. Each element of the result is a weighted mean of input elements in f64, or for
max_roi_pool their maximum. Positions are exact fractions or floats."""
import math
from fractions import Fraction

import numpy as np

from cases import BOTH, Case, StorageTypes, f32, points, random

T = {"rtol": 2e-5, "atol": 2e-5}
TRANSFORMS = (None, "SYMMETRIC", "ASYMMETRIC", "ALIGNED")
ROUNDINGS = (None, "FLOOR", "CEIL", "ROUND_PREFER_FLOOR", "ROUND_PREFER_CEIL")


def source(i, extent, size, transform):
    """The position among `extent` elements that corresponds to position i of `size`."""
    if transform == "ASYMMETRIC":
        return Fraction(i * extent, size)
    if transform == "ALIGNED":
        return Fraction(i * (extent - 1), size - 1) if size > 1 else Fraction(0)
    return Fraction((2 * i + 1) * extent - size, 2 * size)


def rounded(r, method):
    half = Fraction(1, 2)
    return {"FLOOR": math.floor(r), "CEIL": math.ceil(r), "ROUND_PREFER_CEIL": math.floor(r + half)}.get(method, math.ceil(r - half))


def along(x, axis, rows):
    """Applies a matrix of weights along an axis."""
    return np.moveaxis(np.tensordot(rows, x, axes=(1, axis)), 0, axis)


def matrix(size, extent, taps):
    """`taps(i)` lists (position, weight); positions outside are clamped to the border."""
    rows = np.zeros((size, extent))
    for i in range(size):
        for position, weight in taps(i):
            rows[i, min(max(position, 0), extent - 1)] += float(weight)
    return rows


def linear_taps(r):
    low = math.floor(r)
    return [(low, 1 - (r - low)), (low + 1, r - low)]


def cubic_kernel(x, a):
    """The cubic convolution kernel of Keys."""
    x = abs(x)
    return (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1 if x <= 1 else a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a if x < 2 else 0.0


def cubic_taps(r, extent, size, a, antialias):
    width = max(1.0, extent / size) if antialias else 1.0
    r = float(r)
    taps = [(q, cubic_kernel((q - r) / width, a)) for q in range(math.floor(r - 2 * width), math.ceil(r + 2 * width) + 1)]
    total = sum(w for _, w in taps)
    return [(q, w / total if width > 1 else w) for q, w in taps]


SIZES = [((4,), None, [8]), ((4,), None, [2]), ((5,), [0], [7]), ((4,), None, [4]), ((1,), None, [3]), ((5,), None, [1]), ((3, 4), None, [6, 2]), ((3, 4), [1], [5]), ((3, 4), [-2], [7]),
         ((1, 2, 3, 4), [2, 3], [6, 8]), ((1, 2, 3, 4), [3, 2], [4, 3]), ((2, 3, 2, 2), [1, 2, 3], [2, 4, 3])]


def resized(x, axes, size, mode, transform, rounding, antialias=True, a=-0.75):
    y = x.astype(np.float64)
    for axis, n in zip(range(x.ndim) if axes is None else axes, size):
        extent = x.shape[axis]
        place = lambda i: source(i, extent, n, transform)  # noqa: E731
        taps = {"NEAREST": lambda i: [(rounded(place(i), rounding), 1)], "LINEAR": lambda i: linear_taps(place(i)),
                "CUBIC": lambda i: cubic_taps(place(i), extent, n, a, antialias)}[mode]
        y = along(y, axis, matrix(n, extent, taps))
    return f32(y)


def resizing():
    draw = random("resize")
    for at, (shape, axes, size) in enumerate(SIZES):
        for transform in TRANSFORMS:
            for rounding in ROUNDINGS:
                x = draw.real(shape)
                y = resized(x, axes, size, "NEAREST", transform, rounding)
                both = {"coordinate_transform": transform, "rounding_method": rounding}
                yield Case("image.nearest_resize", [x], y, {"axes": axes, "size": size, **both}, edition=BOTH[at % 2])
                yield Case("image.resize", [x], y, {"axes": axes, "size": size, "mode": None if at % 2 else "NEAREST", **both}, edition=BOTH[at // 2 % 2])
            for antialias in (None, False):
                x = draw.real(shape)
                y = resized(x, axes, size, "LINEAR", transform, None)
                attributes = {"axes": axes, "size": size, "antialias": antialias, "coordinate_transform": transform}
                yield Case("image.linear_resize", [x], y, attributes, edition=BOTH[at % 2], **T)
                yield Case("image.resize", [x], y, {**attributes, "mode": "LINEAR"}, edition=BOTH[at % 2], **T)
                for a in (None, -0.5):
                    y = resized(x, axes, size, "CUBIC", transform, None, antialias is not False, -0.75 if a is None else a)
                    yield Case("image.cubic_resize", [x], y, {**attributes, "coeff_a": a}, edition=BOTH[at % 2], **T)
                    yield Case("image.resize", [x], y, {**attributes, "mode": "CUBIC", "cubic_coeff_a": a}, edition=BOTH[at % 2], **T)
    for shape, axes, factor in [((4,), None, [2.0]), ((4,), None, [0.5]), ((5,), None, [1.5]), ((3, 4), [1], [1.25]), ((3, 4), [-2], [3.0]), ((1, 1, 3, 3), [2, 3], [2.0, 0.5]), ((7,), None, [0.3])]:
        size = [int(math.floor(shape[a] * f + 0.5)) for a, f in zip(range(len(shape)) if axes is None else axes, factor)]
        for mode in (None, "NEAREST", "LINEAR", "CUBIC"):
            for transform in TRANSFORMS:
                x = draw.real(shape)
                yield Case("image.rescale", [x], resized(x, axes, size, mode or "NEAREST", transform, None), {"axes": axes, "factor": factor, "mode": mode, "coordinate_transform": transform},
                           edition=BOTH[len(factor) % 2], **T)


def factors():
    draw = random("factors")
    for shape, axes, factor in [((6,), None, [2]), ((6,), [0], [3]), ((6,), None, [1]), ((4, 6), None, [2, 3]), ((4, 6), [1], [2]), ((4, 6), [-2], [4]), ((1, 2, 4, 4), [2, 3], [2, 2]), ((2, 6, 4), [2, 1], [2, 3]), ((1, 1, 1, 2), [2, 3], [1, 2])]:
        where = list(range(len(shape))) if axes is None else [a % len(shape) for a in axes]
        for edition in BOTH:
            x = draw.real(shape)
            down = tuple(slice(None, None, dict(zip(where, factor)).get(d, 1)) for d in range(len(shape)))
            yield Case("image.nearest_downsample", [x], x[down].copy(), {"axes": axes, "factor": factor}, edition=edition)
            up, mean = x, x.astype(np.float64)
            for a, f in zip(where, factor):
                up = np.repeat(up, f, axis=a)
                n = shape[a]
                mean = along(mean, a, np.kron(np.eye(n // f), np.full((1, f), 1 / f)))
            yield Case("image.nearest_upsample", [x], up, {"axes": axes, "factor": factor}, edition=edition)
            yield Case("image.area_downsample", [x], f32(mean), {"axes": axes, "factor": factor}, edition=edition, **T)
            for symmetric in (None, True, False):
                for replicate in (None, True, False):
                    y = x.astype(np.float64)
                    for a, f in zip(where, factor):
                        n = shape[a]
                        rows = np.zeros((n * f, n))
                        for o in range(n * f):
                            r = source(o, n, n * f, "ASYMMETRIC" if symmetric is False else "SYMMETRIC")
                            for q, w in linear_taps(r):
                                if replicate is not False:
                                    rows[o, min(max(q, 0), n - 1)] += float(w)
                                elif 0 <= q < n:
                                    rows[o, q] += float(w)
                        y = along(y, a, rows)
                    yield Case("image.linear_upsample", [x], f32(y), {"axes": axes, "factor": factor, "symmetric": symmetric, "replicate_border": replicate}, edition=edition, **T)


def regions():
    draw = random("regions")
    for b, c, spatial, n, bins in [(1, 1, (4, 4), 1, [2, 2]), (2, 3, (5, 6), 3, [2, 3]), (1, 2, (7,), 2, [3]), (2, 1, (4, 4, 4), 2, [1, 2, 2]), (1, 1, (6, 6), 2, [1, 1])]:
        for whole in (True, False):
            for edition in BOTH:
                d = len(spatial)
                x = draw.real((b, c) + spatial)
                begin = draw.real((n, d), 0, 1.5)
                end = begin + np.array([draw.real((n,), 1.5, e - 1.6) for e in spatial]).T.reshape(n, d)
                rois = StorageTypes.round(np.concatenate([begin, end], axis=1))
                rois = np.floor(rois) if whole else rois
                index = draw.int((n,), 0, b)
                for name, reduce in [("max_roi_pool", np.max), ("avg_roi_pool", np.mean)]:
                    y = np.zeros([n, c] + bins)
                    for r in range(n):
                        for p in points(bins):
                            block = x[index[r]].astype(np.float64)
                            for i in range(d):
                                first, size = rois[r, i], (rois[r, d + i] - rois[r, i]) / np.float32(bins[i])
                                low, high = math.floor(first + p[i] * size), math.ceil(first + (p[i] + 1) * size)
                                block = np.take(block, range(max(low, 0), min(high, spatial[i])), axis=i + 1)
                            y[(r, slice(None)) + p] = reduce(block.reshape(c, -1), axis=1)
                    yield Case("image." + name, [x, rois, index], f32(y), {"output_size": bins}, edition=edition, **T)


def mirrored(p, n, aligned):
    low, span = (0.0, n - 1.0) if aligned else (-0.5, float(n))
    if span <= 0:
        return 0.0
    fold = math.fmod(abs(p - low), 2 * span)
    return min(fold, 2 * span - fold) + low


def sampled(x, grid, mode, padding, aligned):
    n, c, *s = x.shape
    d = len(s)
    y = np.zeros((n, c) + grid.shape[1:-1])
    for at in points((n,) + grid.shape[1:-1]):
        terms = [((), 1.0)]
        for i in range(d):
            g = float(grid[at][d - 1 - i])
            p = (g + 1) * 0.5 * (s[i] - 1) if aligned else (g + 1) * 0.5 * s[i] - 0.5
            if padding == "REFLECT" and mode != "CUBIC":
                p = mirrored(p, s[i], aligned)
            if mode == "NEAREST":
                taps = [(int(math.copysign(math.floor(abs(p) + 0.5), p)), 1.0)]
            elif mode == "CUBIC":
                taps = [(q, cubic_kernel(q - p, -0.75)) for q in range(math.floor(p) - 1, math.floor(p) + 3)]
            else:
                taps = [(math.floor(p), 1 - (p - math.floor(p))), (math.floor(p) + 1, p - math.floor(p))]
            if padding in (None, "ZEROS"):
                taps = [(q, w) for q, w in taps if 0 <= q < s[i]]
            elif padding == "REFLECT" and mode == "CUBIC":
                taps = [(int(round(mirrored(q, s[i], aligned))), w) for q, w in taps]
            taps = [(min(max(q, 0), s[i] - 1), w) for q, w in taps]
            terms = [(place + (q,), v * w) for place, v in terms for q, w in taps]
        for place, w in terms:
            y[(at[0], slice(None)) + at[1:]] += x[(at[0], slice(None)) + place].astype(np.float64) * w
    return y


def sampling():
    draw = random("image.grid_sample")
    for n, c, spatial, places in [(1, 1, (4,), (5,)), (1, 2, (4, 4), (3, 3)), (2, 1, (3, 5), (2, 4)), (1, 1, (2, 3, 4), (2, 2, 2)), (1, 1, (1, 3), (2, 2))]:
        for mode in (None, "LINEAR", "NEAREST", "CUBIC"):
            for padding in (None, "ZEROS", "REPLICATE", "REFLECT"):
                for aligned in (None, True):
                    for edition in BOTH:
                        x = draw.real((n, c) + spatial)
                        grid = StorageTypes.round(draw.real((n,) + places + (len(spatial),), -1.3, 1.3) * 64 // 1 / 64 + 1 / 512)
                        y = sampled(x, grid, mode or "LINEAR", padding, bool(aligned))
                        yield Case("image.grid_sample", [x, grid], f32(y), {"mode": mode, "padding": padding, "aligned": aligned}, edition=edition, rtol=1e-4, atol=5e-5)


def cases():
    yield from resizing()
    yield from factors()
    yield from regions()
    yield from sampling()
