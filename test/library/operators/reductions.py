# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions of extrema and running sums: numpy's."""
import numpy as np

from cases import BOTH, Case, StorageTypes, f32, random

# shape, axes (None: all)
PLACES = [((), None), ((1,), None), ((5,), None), ((5,), [0]), ((5,), [-1]), ((2, 3), None), ((2, 3), [0]), ((2, 3), [1]),
          ((2, 3), [-1, 0]), ((2, 3), []), ((2, 3, 4), [1]), ((2, 3, 4), [2, 0]), ((2, 3, 4), [-3, -1]), ((2, 1, 3, 5), [1, 3]),
          ((3, 1, 1), [1]), ((2, 3, 1, 2, 3), [0, 2, 4]), ((17, 9), [0]), ((9, 17), [1]), ((1, 2, 1, 2, 1, 2, 1, 2), [0, 1, 7])]
EMPTY = [((0,), None), ((2, 0), [1]), ((0, 3), [0]), ((0, 3), [1]), ((2, 0, 3), [0, 2])]


def numpy_axes(shape, axes):
    return tuple(range(len(shape))) if axes is None else tuple(a % len(shape) for a in axes)


def norm(p):
    def apply(x, axis, keepdims):
        return np.sum(np.abs(x) ** p, axis=axis, keepdims=keepdims) ** (1 / p)
    return apply


def reduced(function, x, axes, squeeze):
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64) if x.dtype.kind == "f" else x
        found = np.asarray(function(wide, axis=numpy_axes(x.shape, axes), keepdims=not squeeze))
    return f32(found) if found.dtype.kind == "f" else found.astype(bool if x.dtype.kind == "b" else np.int64)


OPERATORS = [("min_reduce", np.min, ("real", "int"), {}), ("max_reduce", np.max, ("real", "int"), {}),
             ("sum_reduce", np.sum, ("real", "int"), {}), ("prod_reduce", np.prod, ("real", "int"), {}),
             ("mean_reduce", np.mean, ("real",), {}), ("any_reduce", np.any, ("bool",), {}), ("all_reduce", np.all, ("bool",), {}),
             *[("lp_reduce", norm(p), ("real",), {"p": p}) for p in (1.0, 2.0, 3.0, 0.5)]]
EMPTY_RESULTS = {"min_reduce": np.inf, "max_reduce": -np.inf}


def plain():
    for name, function, kinds, attributes in OPERATORS:
        operator = "math." + name
        draw = random(operator)
        for at, (shape, axes) in enumerate(PLACES):
            for squeeze in (None, False, True):
                for kind in kinds:
                    x = draw.of(kind, shape)
                    for edition in BOTH if squeeze else BOTH[at % 2:][:1]:
                        yield Case(operator, [x], reduced(function, x, axes, bool(squeeze)),
                                   {"axes": axes, "squeeze": squeeze, **attributes}, edition=edition, rtol=5e-5, atol=1e-5)
        for shape, axes in EMPTY:
            x = np.zeros(shape, dtype=np.float32 if "real" in kinds else bool)
            where = numpy_axes(shape, axes)
            if name in EMPTY_RESULTS:
                kept = tuple(n for d, n in enumerate(shape) if d not in where)
                want = np.full(kept, EMPTY_RESULTS[name], dtype=np.float32)
            else:
                want = reduced(function, x, axes, True)
            yield Case(operator, [x], want, {"axes": axes, "squeeze": True, **attributes}, label="empty")
        if "real" in kinds and name != "lp_reduce":
            x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, np.inf, 1], [3, 2, 1]], dtype=np.float32)
            yield Case(operator, [x], reduced(function, x, [1], True), {"axes": [1], "squeeze": True}, label="specials")


def positions():
    for name, function, extreme in [("argmin", np.argmin, "min"), ("argmax", np.argmax, "max")]:
        operator = "math." + name
        draw = random(operator)
        for shape, axis in [((1,), 0), ((6,), 0), ((6,), -1), ((3, 4), 0), ((3, 4), 1), ((3, 4), -2), ((2, 3, 4), 1), ((2, 1, 5), 1),
                            ((2, 3, 4, 2), -1), ((0, 3), 1), ((2, 5, 0), 1), ((2, 2, 2, 2, 3), 4)]:
            for squeeze in (None, False, True):
                for edition in BOTH:
                    x = draw.int(shape, 0, 4).astype(np.float32)  # with ties
                    want = np.asarray(function(x, axis=axis, keepdims=not squeeze)).astype(np.int64)
                    yield Case(operator, [x], want, {"axis": axis, "squeeze": squeeze}, edition=edition)
        operator += "_nd"
        draw = random(operator)
        for shape, axes in [((1,), None), ((6,), None), ((3, 4), None), ((3, 4), [0]), ((3, 4), [-1]), ((3, 4), [1, 0]), ((2, 3, 4), [1]),
                            ((2, 3, 4), [0, 2]), ((2, 3, 4), [2, 1]), ((2, 3, 4), None), ((2, 1, 3, 2), [1, 3])]:
            for squeeze in (None, True):
                x = draw.int(shape, 0, 3).astype(np.float32)
                found = multi(function, x, numpy_axes(shape, axes), squeeze)
                attributes = {"axes": axes, "squeeze": squeeze}
                yield Case(operator, [x], [found], attributes)
                yield Case(operator, [x], np.stack(found, axis=-1), attributes, edition="khronos")


def multi(function, x, axes, squeeze):
    """Positions along each of `axes` of the first extremum in row-major order of the whole tensor."""
    kept = [d for d in range(x.ndim) if d not in axes]
    order = sorted(axes)  # ties: the first in row-major order, whatever the order of `axes`
    flat = np.transpose(x, kept + order).reshape([x.shape[d] for d in kept] + [-1])
    best = np.unravel_index(function(flat, axis=-1), [x.shape[d] for d in order])
    found = [np.asarray(best[order.index(a)]).astype(np.int64) for a in axes]
    if squeeze:
        return found
    return [f.reshape([1 if d in axes else x.shape[d] for d in range(x.ndim)]) for f in found]


def statistics():
    draw = random("math.moments")
    for shape, axes in [p for p in PLACES if p[1] != []]:
        for squeeze in (None, True):
            for edition in BOTH:
                x = draw.real(shape)
                mean = reduced(np.mean, x, axes, bool(squeeze))
                variance = reduced(np.var, x, axes, bool(squeeze))
                yield Case("math.moments", [x], [mean, variance], {"axes": axes, "squeeze": squeeze}, edition=edition, atol=1e-5)
    x = StorageTypes.round(10000.0 + draw.real((4, 50), 0, 1))
    yield Case("math.moments", [x], [reduced(np.mean, x, [1], False), reduced(np.var, x, [1], False)], {"axes": [1]}, rtol=2e-2,
               label="far from zero")


def sums():
    draw = random("math.cumsum")
    for shape, axis in [((1,), 0), ((5,), 0), ((5,), -1), ((2, 3), 0), ((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), -3), ((0, 2), 0),
                        ((2, 0), 0), ((2, 1, 3), 1)]:
        for exclusive in (None, False, True):
            for reverse in (None, True):
                for edition in BOTH:
                    x = draw.real(shape)
                    wide = x.astype(np.float64)
                    wide = np.flip(wide, axis) if reverse else wide
                    total = np.cumsum(wide, axis)
                    total = total - wide if exclusive else total
                    total = np.flip(total, axis) if reverse else total
                    yield Case("math.cumsum", [x], f32(total), {"axis": axis, "exclusive": exclusive, "reverse": reverse},
                               edition=edition, atol=1e-5)


def cases():
    yield from plain()
    yield from positions()
    yield from statistics()
    yield from sums()
