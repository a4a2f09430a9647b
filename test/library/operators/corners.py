# SPDX-License-Identifier: Apache-2.0
"""NaN, infinities, zeros of both signs, empty tensors, one element, rank 8: for operators whose other cases do not test
these. Expected values are those of numpy; elements that are only moved keep their sign and their NaN."""
import itertools

import numpy as np
import scipy.special

from cases import BOTH, Case, StorageTypes, f32, random

T = {"rtol": 5e-5, "atol": 1e-5}
SPECIALS = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5], dtype=np.float32)
# Arrays of rank 8, and one whose first dimension is empty.
DEEP = (1, 2, 1, 3, 1, 2, 1, 2)
HOLLOW = (0, 2, 4, 6)


def special(shape):
    return np.resize(SPECIALS, shape).astype(np.float32)


def movements(x):
    """(operator, further inputs, result, attributes) of operators that only move elements, on an array of rank 2 or more."""
    d, n = x.ndim, x.shape[-1]
    yield "layout.reshape", [], x.reshape(-1), {"shape": [x.size]}
    yield "layout.flatten", [], x.reshape(-1), {}
    yield "layout.transpose", [], x.transpose(), {"perm": list(range(d))[::-1]}
    yield "layout.slice", [], x[..., n // 2:], {"axes": [-1], "begin": [n // 2], "end": [n]}
    yield "layout.slice", [], x[..., ::-1][..., :n - 1], {"axes": [d - 1], "begin": [n - 1], "end": [0], "stride": [-1]}
    yield "layout.tile", [], np.concatenate([x, x], -1), {"axes": [d - 1], "repeats": [2]}
    for method, mode in {"CONSTANT": "constant", "REPLICATE": "edge", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}.items():
        around = [(0, 0)] * (d - 1) + [(1, 1)]
        yield "layout.pad", [], np.pad(x, around, mode=mode), {"axes": [d - 1], "padding": [1, 1], "method": method}
    yield "layout.split", [], [[x[..., :1].copy(), x[..., 1:].copy()]], {"axis": -1, "sizes": [1, n - 1]}
    yield "layout.unstack", [], [[x[..., k].copy() for k in range(n)]], {"axis": -1}
    places = np.array([n - 1, 0], dtype=np.int64)
    yield "layout.gather", [places], np.take(x, places, -1), {"axis": -1}
    if x.shape[0]:
        yield "layout.gather_nd", [np.zeros((3, 1), np.int64)], np.stack([x[0]] * 3), {}
        y = x.copy()
        y[0] = 1
        yield "layout.scatter_nd", [np.zeros((1, 1), np.int64), np.ones((1,) + x.shape[1:], np.float32)], y, {}
    y = x.copy()
    y[..., 1] = x[..., 0]
    yield "layout.scatter", [np.ones(x.shape[:-1] + (1,), np.int64), x[..., :1].copy()], y, {"axis": d - 1}
    yield "image.nearest_downsample", [], x[..., ::2], {"axes": [-1], "factor": [2]}
    yield "image.nearest_upsample", [], np.repeat(x, 2, -1), {"axes": [-1], "factor": [2]}
    yield "image.nearest_resize", [], np.repeat(x, 2, -1), {"axes": [-1], "size": [2 * n]}
    if d < 8:
        yield "layout.unsqueeze", [], x[..., None], {"axes": [d]}
        yield "layout.unflatten", [], x.reshape(x.shape[:-1] + (n // 2, 2)), {"axis": -1, "shape": [n // 2, 2]}
        yield "layout.stack", None, np.stack([x, x], 1), {"axis": 1}
        yield "layout.broadcast", [], x, {"axes": [d - 1], "shape": [n]}
    else:
        yield "layout.squeeze", [], x.reshape([n for n in x.shape if n > 1]), {"axes": [a for a, n in enumerate(x.shape) if n == 1]}
        yield "layout.broadcast", [], np.repeat(x, 2, 0), {"axes": [0], "shape": [2]}
    yield "layout.concat", None, np.concatenate([x, x], -1), {"axis": -1}


def moved():
    for label, x in [("specials", special((2, 3, 6))), ("rank 8", random("corners").real(DEEP)), ("empty", np.zeros(HOLLOW, np.float32)), ("one", special((1, 1, 4)))]:
        for operator, further, y, attributes in movements(x):
            y = [[np.ascontiguousarray(i) for i in v] if isinstance(v, list) else np.ascontiguousarray(v) for v in (y if isinstance(y, list) else [y])]
            yield Case(operator, [[x, x.copy()]] if further is None else [x] + further, y, attributes, label=label, signed_zero=True)
    x = special((1, 8, 2, 3))
    for name, deep in (("space_to_depth", False), ("space_to_batch", False), ("depth_to_space", True), ("batch_to_space", True)):
        # Blocks first, as numpy would: [b, (2, 2, c), h, w] or [(2, 2, b), c, h, w] from and to [b, c, 2 h, 2 w].
        batch = "batch" in name
        if deep:
            given = special((4, 3, 2, 3)) if batch else x
            b, c, h, w = given.shape
            blocks = given.reshape((2, 2, b // 4, c, h, w) if batch else (b, 2, 2, c // 4, h, w))
            y = blocks.transpose((2, 3, 4, 0, 5, 1) if batch else (0, 3, 4, 1, 5, 2))
            y = y.reshape((b // 4, c, 2 * h, 2 * w) if batch else (b, c // 4, 2 * h, 2 * w))
        else:
            given = special((2, 3, 4, 6))
            b, c, h, w = given.shape
            blocks = given.reshape(b, c, h // 2, 2, w // 2, 2).transpose((3, 5, 0, 1, 2, 4) if batch else (0, 3, 5, 1, 2, 4))
            y = blocks.reshape((4 * b, c, h // 2, w // 2) if batch else (b, 4 * c, h // 2, w // 2))
        yield Case("layout." + name, [given], y.copy(), {"block_size": [2, 2]}, label="specials", signed_zero=True)
    x = special((2, 6, 3))
    y = x.reshape(2, 3, 2, 3).transpose(0, 2, 1, 3).reshape(2, 6, 3)
    yield Case("layout.shuffle", [x], y.copy(), {"axis": 1, "groups": 3}, label="specials", signed_zero=True)


def windows(x, size, reduce, fill):
    """Windows of the last dimension with one element of padding on each side."""
    wide = np.pad(x.astype(np.float64), [(0, 0)] * (x.ndim - 1) + [(1, 1)], constant_values=fill)
    return f32(reduce(np.lib.stride_tricks.sliding_window_view(wide, size, -1), -1))


def reductions_by_window():
    for label, x in [("specials", special((2, 3, 6))), ("rank 8", random("corner windows").real(DEEP)), ("empty", np.zeros(HOLLOW, np.float32))]:
        attributes = {"axes": [x.ndim - 1], "size": [2], "padding": [1, 1]}
        with np.errstate(all="ignore"):
            yield Case("nn.max_pool", [x], windows(x, 2, np.max, -np.inf), attributes, label=label)
            yield Case("nn.sum_pool", [x], windows(x, 2, np.sum, 0), attributes, label=label, **T)
            yield Case("nn.avg_pool", [x], windows(x, 2, np.mean, 0), {**attributes, "ignore_border": False}, label=label, **T)
            yield Case("nn.lp_pool", [x], windows(np.abs(x), 2, np.sum, 0), {**attributes, "p": 1.0}, label=label, **T)
            rms = lambda w, axis: np.sqrt(np.mean(w * w, axis))  # noqa: E731
            yield Case("nn.rms_pool", [x], windows(x, 2, rms, 0), {**attributes, "ignore_border": False}, label=label, **T)
            mean = f32((x[..., ::2].astype(np.float64) + x[..., 1::2]) / 2)
            yield Case("image.area_downsample", [x], mean, {"axes": [-1], "factor": [2]}, label=label, **T)


def products():
    a, b = special((3, 6)), special((6, 2))
    with np.errstate(all="ignore"):
        yield Case("linalg.matmul", [a, b], f32(a.astype(np.float64) @ b), label="specials")
        yield Case("linalg.matvec", [a, a[0].copy()], f32(a.astype(np.float64) @ a[0]), label="specials")
        yield Case("linalg.dot", [a[0].copy(), a[1].copy()], f32(a[0].astype(np.float64) @ a[1]), label="specials")
        yield Case("linalg.outer", [a[0].copy(), a[1].copy()], f32(np.multiply.outer(a[0].astype(np.float64), a[1])), label="specials", signed_zero=True)
        x, f = special((2, 2, 3)), np.array([[[2.0]], [[-1.0]]], dtype=np.float32)
        yield Case("nn.conv", [x[:, :1].copy(), f], f32(x[:, :1] * f[:, 0][None]), {"padding": [0, 0]}, label="specials")
        yield Case("nn.linear", [a, b.T.copy()], f32(a.astype(np.float64) @ b), label="specials")
    for shape in [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0, 2, 3), (1, 3, 2))]:
        a, b = (np.ones(s, np.float32) for s in shape)
        yield Case("linalg.matmul", [a, b], np.matmul(a, b), label="empty")
    draw = random("corner products")
    a, b = draw.real((1, 2, 1, 2, 1, 2, 2, 3)), draw.real((2, 1, 1, 2, 2, 1, 3, 2))
    yield Case("linalg.matmul", [a, b], f32(np.matmul(a.astype(np.float64), b)), label="rank 8", **T)
    yield Case("nn.conv", [np.zeros((0, 2, 5), np.float32), draw.real((3, 2, 3))], np.zeros((0, 3, 3), np.float32), {"padding": [0, 0]}, label="empty")
    yield Case("nn.conv", [np.zeros((2, 0, 5), np.float32), np.zeros((3, 0, 3), np.float32), draw.real((3,)) * 0 + 2], np.full((2, 3, 3), 2, np.float32), {"padding": [0, 0]}, label="empty")
    yield Case("nn.deconv", [np.zeros((0, 2, 5), np.float32), draw.real((2, 3, 3))], np.zeros((0, 3, 7), np.float32), {"padding": [0, 0]}, label="empty")
    one, four = draw.real((1, 1)), draw.real((1, 1))
    yield Case("linalg.matmul", [one, four], one * four, label="one")
    yield Case("nn.conv", [one.reshape(1, 1, 1), four.reshape(1, 1, 1)], (one * four).reshape(1, 1, 1), {"padding": [0, 0]}, label="one")


def along_an_axis():
    """Sums, positions, softmax and norms along the last axis."""
    draw = random("corner axes")
    for label, x in [("specials", np.array([[1, np.inf, 2], [np.nan, 1, 2], [-np.inf, -np.inf, -np.inf], [0, -0.0, 0]], np.float32)),
                     ("rank 8", draw.real(DEEP)), ("empty", np.zeros((0, 3), np.float32)), ("one", draw.real((1, 1)))]:
        axis, wide = x.ndim - 1, x.astype(np.float64)
        with np.errstate(all="ignore"):
            yield Case("math.cumsum", [x], f32(np.cumsum(wide, -1)), {"axis": axis}, label=label, **T)
            top = np.max(wide, -1, keepdims=True, initial=-np.inf)
            ex = np.exp(wide - top)
            yield Case("nn.softmax", [x], f32(ex / ex.sum(-1, keepdims=True)), {"axes": [axis]}, label=label)
            # The norms of special values: NaN, or a ratio to infinity; of zeros 0 / 0 unless there is an epsilon.
            for p, norm in ((1, np.abs(wide).sum(-1, keepdims=True)), (2, np.sqrt((wide * wide).sum(-1, keepdims=True)))):
                yield Case("nn.l%d_norm" % p, [x], f32(wide / (norm + 0.5)), {"axes": [axis], "bias": 0.5}, label=label, **T)
            for squeeze in (False, True):
                mean, variance = wide.mean(-1, keepdims=not squeeze), wide.var(-1, keepdims=not squeeze)
                yield Case("math.moments", [x], [f32(mean), f32(variance)], {"axes": [axis], "squeeze": squeeze}, label=label, **T)
        if label != "specials":
            for name, find in (("argmax", np.argmax), ("argmin", np.argmin)):
                yield Case("math." + name, [x], find(x, -1), {"axis": axis, "squeeze": True}, label=label)
                yield Case("math." + name + "_nd", [x], [[find(x, -1)]], {"axes": [axis], "squeeze": True}, label=label)
            yield Case("algo.top_k", [x], [np.sort(x, -1)[..., ::-1][..., :1].copy(), np.argsort(-x, -1, kind="stable")[..., :1].copy()], {"k": 1, "axis": axis}, label=label)
    # For top_k, NaN is the largest number. For argmax and argmin, it is the extremum only if it is the first element.
    x = np.array([1, np.nan, np.inf, -np.inf, 2], np.float32)
    yield Case("algo.top_k", [x], [x[[1, 2, 4]], np.array([1, 2, 4])], {"k": 3}, label="specials")
    yield Case("algo.top_k", [x], [x[[3, 0]], np.array([3, 0])], {"k": 2, "largest": False}, label="specials")
    yield Case("math.argmax", [x], np.array(2), {"axis": 0, "squeeze": True}, label="specials")
    yield Case("math.argmin", [x], np.array(3), {"axis": 0, "squeeze": True}, label="specials")
    yield Case("layout.nonzero", [np.array([np.nan, -0.0, 0.0, np.inf], np.float32)], np.array([[0, 3]]), declared={"y0": "int[1,~|4]"}, label="specials")
    x = draw.int(DEEP, -1, 2).astype(np.float32)
    yield Case("layout.nonzero", [x], np.stack(np.nonzero(x)), declared={"y0": "int[8,~|24]"}, label="rank 8")
    yield Case("layout.nonzero", [np.array(2.0, np.float32)], np.zeros((0, 1), np.int64), declared={"y0": "int[0,~|1]"}, label="rank 0")


def by_channel():
    draw = random("corner channels")
    for label, x in [("specials", special((2, 2, 6))), ("rank 8", draw.real(DEEP)), ("empty", np.zeros((0, 2, 3), np.float32)), ("one", draw.real((1, 1, 1)))]:
        c = x.shape[1]
        column = [-1] + [1] * (x.ndim - 2)
        mean, variance, bias, scale = draw.real((c,)), draw.real((c,), 0.5, 2), draw.real((c,)), draw.real((c,))
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            y = (wide - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-5) * scale.reshape(column) + bias.reshape(column)
            yield Case("nn.batch_norm", [x, mean, variance, bias, scale], f32(y), label=label, **T)
            axes = tuple(range(2, x.ndim))
            y = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-5) * scale.reshape(column) + bias.reshape(column)
            yield Case("nn.mean_variance_norm", [x, bias, scale], f32(y), label=label, **T)
            yield Case("nn.prelu", [x, scale], f32(np.where(wide < 0, wide * scale.reshape(column), wide)), label=label)
            square = np.pad(wide * wide, [(0, 0), (1, 1)] + [(0, 0)] * (x.ndim - 2))
            around = sum(square[:, k:k + c] for k in range(3)) / 3
            yield Case("nn.local_response_norm", [x], f32(wide / np.sqrt(1 + around)), {"size": [3]}, label=label, **T)


def mixtures():
    x, y = (v.copy() for v in np.broadcast_arrays(SPECIALS[:, None], SPECIALS[None]))
    with np.errstate(all="ignore"):
        yield Case("math.axpb", [x, y, x.copy()], f32(x.astype(np.float64) * y + x), label="specials")
        yield Case("math.axpby", [x, y, y.copy(), x.copy()], f32(x.astype(np.float64) * y + y.astype(np.float64) * x), label="specials")
        yield Case("nn.silu", [SPECIALS[[0, 1, 3, 4, 5]]], f32(SPECIALS[[0, 1, 3, 4, 5]] * scipy.special.expit(SPECIALS[[0, 1, 3, 4, 5]].astype(np.float64))), label="specials", signed_zero=True)
        yield Case("nn.sigmoid", [SPECIALS], f32(scipy.special.expit(SPECIALS.astype(np.float64))), label="specials")
        yield Case("nn.softplus", [SPECIALS], f32(np.logaddexp(0, SPECIALS.astype(np.float64))), label="specials")
        yield Case("nn.erf", [SPECIALS], f32(scipy.special.erf(SPECIALS.astype(np.float64))), label="specials", signed_zero=True)
        yield Case("nn.elu", [SPECIALS], f32(np.where(SPECIALS < 0, np.expm1(SPECIALS.astype(np.float64)), SPECIALS)), label="specials")
        yield Case("nn.relu", [SPECIALS], np.array([np.nan, np.inf, 0, 0, 0, 1.5], np.float32), label="specials")
    draw = random("corner mixtures")
    x, y, z = draw.real(DEEP), draw.real(DEEP[::-1]), draw.real((1,) * 8)
    yield Case("math.axpb", [x, y, z], f32(x.astype(np.float64) * y + z), label="rank 8", **T)
    yield Case("math.clamp", [x, -z * z, z * z], f32(np.clip(x, -z * z, z * z)), label="rank 8")
    condition = draw.bool(DEEP)
    yield Case("math.select", [condition, x, y], np.where(condition, x, y), label="rank 8")
    for name, fold in (("sum_n", np.sum), ("min_n", np.min), ("max_n", np.max), ("prod_n", np.prod)):
        pack = [StorageTypes.round(x + shift) for shift in (0, 1, -2)]
        yield Case("math." + name, [pack], f32(fold(np.stack(pack).astype(np.float64), 0)), label="rank 8", **T)


def levels():
    """Quantizers: NaN is preserved, infinities become the limits."""
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.2, 60000.0], np.float32)
    y = np.array([np.nan, 62, -65.5, 0, 0, 1, 62], np.float32)
    yield Case("quant.zero_point_linear_quantize", [x], y, {"zero_point": 3, "scale": 0.5, "bits": 8}, label="specials")
    none = np.zeros((2, 0, 3), "f4")
    yield Case("quant.zero_point_linear_quantize", [none], none, {"zero_point": [], "scale": [], "bits": 8}, label="no channels")
    yield Case("quant.min_max_linear_quantize", [none], none, {"min": [], "max": [], "bits": 8}, label="no channels")
    y = np.array([np.nan, 64.5, -62.5, 0, 0, 1, 64.5], np.float32)
    yield Case("quant.zero_point_linear_quantize", [x], y, {"zero_point": -2, "scale": 0.5, "bits": 8, "symmetric": True, "channel_axis": 5}, label="specials")
    y = np.array([np.nan, 2, -1, 0, 0, 1, 2], np.float32)
    yield Case("quant.min_max_linear_quantize", [x], y, {"min": -1.0, "max": 2.0, "bits": 2}, label="specials", atol=1e-6)


def positions():
    """Positions that are NaN or infinite: of grids, and of the borders of regions."""
    x = np.array([[[1, 2, 3, 4]]], np.float32)
    far = [np.nan, np.inf, -np.inf, 6e4, -6e4]
    row = lambda values: np.array([values], np.float32)  # noqa: E731
    sides = {"ZEROS": [np.nan, 0, 0, 0, 0], "REPLICATE": [np.nan, 4, 1, 4, 1]}
    for mode in ("NEAREST", "LINEAR", "CUBIC"):
        for aligned in (False, True):
            attributes = {"mode": mode, "aligned": aligned}
            for padding, wanted in sides.items():
                yield Case("image.grid_sample", [x, row(far)[..., None]], row([wanted]), {**attributes, "padding": padding}, label="specials", **T)
                very = row([3e38, -3e38])[..., None]
                yield Case("image.grid_sample", [x, very], row([wanted[3:]]), {**attributes, "padding": padding}, label="very far", **T)
            reflected = row([far[:3] + [-1.0 if aligned else -0.75]])
            wanted = row([[np.nan, np.nan, np.nan, 1]])
            yield Case("image.grid_sample", [x, np.moveaxis(reflected, 1, 2)], wanted, {**attributes, "padding": "REFLECT"}, label="specials", **T)
            # One coordinate is NaN; the other one is inside or outside.
            pair = row([[np.nan, 0.0], [np.nan, 6e4], [-6e4, np.nan]])
            plane = np.ones((1, 1, 3, 3), np.float32)
            yield Case("image.grid_sample", [plane, pair[:, None]], row([[[np.nan, 0, 0]]]), {**attributes, "padding": "ZEROS"}, label="specials", **T)
            yield Case("image.grid_sample", [plane, pair[:, None]], row([[[np.nan] * 3]]), {**attributes, "padding": "REPLICATE"}, label="specials", **T)
    rois = np.array([[np.nan, 2], [0, 2], [0, np.nan], [-np.inf, np.inf], [1, np.inf], [-5, 60000]], np.float32)
    index = np.zeros(6, np.int64)
    n = np.nan
    for name, last in (("max", 4), ("avg", 2.5)):
        y = np.array([[n, n], [1, 2], [n, n], [n, n], [n, 0], [last, 0]], np.float32).reshape(6, 1, 2)
        yield Case("image.%s_roi_pool" % name, [x, rois, index], y, {"output_size": [2]}, label="specials")


def cases():
    cases = itertools.chain(moved(), reductions_by_window(), products(), along_an_axis(), by_channel(), mixtures(), levels(), positions())
    for at, case in enumerate(cases):
        if not case.operator.endswith("_nd"):  # whose results differ
            case.edition = BOTH[at % 2]
        yield case
