# SPDX-License-Identifier: Apache-2.0
"""Operators with two to four operands of different shapes: numpy's broadcasting after explicit reshaping by the alignment."""
import itertools

import numpy as np

from cases import BOTH, Case, f32, random


def floor_div(x, y):
    return np.floor_divide(x, y) if x.dtype.kind == "i" else x / y


def trunc_div(x, y):
    return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))) if x.dtype.kind == "i" else x / y


def floor_mod(x, y):
    return np.mod(x, y)


def power(x, y):
    if x.dtype.kind == "i":
        return np.vectorize(lambda a, b: int(a) ** int(b) if b >= 0 else 0 if abs(a) != 1 else int(a) ** int(-b),
                            otypes=[np.int64])(x, y)
    return np.power(x, y)


NUMERIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": floor_div, "mod": floor_mod, "pow": power,
           "min": np.minimum, "max": np.maximum}
COMPARING = {"lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}
LOGICAL = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
# shapes and alignments of the operands
PAIRS = [
    ((), (), None, None), ((3,), (), None, None), ((), (2, 3), None, None), ((1,), (4,), None, None),
    ((2, 3), (3,), None, None), ((3,), (2, 3), None, None), ((2, 1), (1, 3), None, None), ((2, 3), (2, 3), None, None),
    ((2, 1, 4), (3, 1), None, None), ((0, 3), (1, 3), None, None), ((1,), (0,), None, None), ((2, 3, 1, 5), (4, 1), None, None),
    ((2, 3, 4), (2,), None, 0), ((2, 3, 4), (3,), None, 1), ((2, 3, 4), (3,), None, -1), ((2, 3, 4), (2, 3), None, 0),
    ((3,), (2, 3, 4), 1, None), ((2,), (2, 3, 4), 0, None), ((3,), (2, 3, 4), -1, None), ((2, 3), (3,), -1, 1),
    ((2, 3, 4), (4,), None, 2), ((3,), (2,), 1, 0), ((2, 3), (4,), 0, 2), ((), (2, 3), 1, None),
    ((1, 2, 1, 3, 1), (2, 1, 1, 2), None, None), ((1,) * 8, (2, 1, 1, 1, 1, 1, 1, 3), None, None),
]


def placed(shape, align, rank):
    """The shape with singular dimensions around it: `align` before it, or -`align` behind it; from the right by default."""
    if align is None:
        before = rank - len(shape)
    elif align >= 0:
        before = align
    else:
        before = rank - len(shape) + align
    return (1,) * before + tuple(shape) + (1,) * (rank - len(shape) - before)


def aligned(arrays, aligns):
    rank = max(a.ndim + abs(n or 0) for a, n in zip(arrays, aligns))
    return [a.reshape(placed(a.shape, n, rank)) for a, n in zip(arrays, aligns)]


def result(function, arrays, aligns):
    arrays = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in aligned(arrays, aligns)]
    with np.errstate(all="ignore"):
        found = np.asarray(function(*arrays))
    return f32(found) if found.dtype.kind == "f" else found


def binary():
    for name, function in {**NUMERIC, **COMPARING, **LOGICAL}.items():
        operator = "math." + name
        draw = random(operator)
        for (sx, sy, left, right), edition in itertools.product(PAIRS, BOTH):
            kinds = ("bool",) if name in LOGICAL else ("real", "int", "bool") if name in ("eq", "ne") else ("real", "int")
            for kind in kinds:
                x, y = draw.of(kind, sx), draw.of(kind, sy)
                apply = function
                if name == "pow":
                    x, y = (draw.real(sx, 0.1, 4), draw.real(sy)) if kind == "real" else (draw.int(sx, -4, 5), draw.int(sy, -3, 8))
                    y = y if kind == "real" else np.where((x == 0).all(), np.abs(y), np.abs(y))
                if name in ("div", "mod"):
                    y = np.asarray(np.where(np.abs(y) < 0.5, np.ones_like(y), y))
                    if edition == "khronos":
                        apply = trunc_div if name == "div" else np.fmod
                if kind == "int" and name in COMPARING:  # with equal ones
                    x, y = draw.int(sx, 0, 3), draw.int(sy, 0, 3)
                yield Case(operator, [x, y], result(apply, [x, y], [left, right]),
                           {"lhs_align": left, "rhs_align": right}, edition=edition, rtol=5e-5 if name in ("pow", "mod") else 2e-6)
        if name in NUMERIC or name in COMPARING:
            values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5], dtype=np.float32)
            x, y = values.reshape(8, 1), values.reshape(1, 8)
            yield Case(operator, [x, y], result(function, [x, y], [None, None]), label="specials")
            # A scalar in the text takes the type of the other operand.
            x = draw.real((2, 3))
            yield Case(operator, [x, "2.0"], result(function, [x if name != "pow" else np.abs(x), np.float32(2.0)][:2]
                                                    if name != "pow" else [x, np.float32(2.0)], [None, None]), label="scalar")
    draw = random("math.mod of large quotients")
    for edition, remainder in (("draft6", np.mod), ("khronos", np.fmod)):
        x, y = draw.real((8, 1), -60000, 60000), draw.real((1, 9), 0.1, 3)
        yield Case("math.mod", [x, y], result(remainder, [x, y], [None, None]), edition=edition, label="large quotients")
    for name in ("lt", "eq", "ge"):  # comparisons take different types
        draw = random("mixed" + name)
        if name == "eq":
            continue
        x, y = draw.int((3,)), draw.int((2, 3))
        yield Case("math." + name, [x, y], result(COMPARING[name], [x, y], [None, None]))


TRIPLES = [((), (), ()), ((2, 3), (2, 3), (2, 3)), ((), (2, 3), (3,)), ((2, 1), (3,), ()), ((1, 3), (2, 1), (2, 3)),
           ((0, 2), (1,), (2,)), ((1,), (1, 1), (1, 1, 1)), ((2, 1, 1), (1, 3, 1), (1, 1, 4)), ((4,), (3, 1), (2, 1, 1))]
ALIGNED_TRIPLES = [(((2,), (2, 3), (2, 3)), (0, None, None)), (((2, 3, 4), (3,), (2, 3)), (None, 1, 0)),
                   (((2, 3, 4), (3,), (4,)), (None, -1, None)), (((3,), (2, 3, 4), (2,)), (1, None, 0))]


def three():
    for name, names, function in [
            ("select", ("cond_align", "lhs_align", "rhs_align"), lambda c, x, y: np.where(c, x, y)),
            ("clamp", ("val_align", "min_align", "max_align"), lambda x, a, b: np.minimum(np.maximum(x, a), b)),
            ("axpb", ("a_align", "x_align", "b_align"), lambda a, x, b: a * x + b)]:
        operator = "math." + name
        draw = random(operator)
        for shapes, aligns in [(s, (None,) * 3) for s in TRIPLES] + ALIGNED_TRIPLES:
            for kind in {"select": ("real", "int", "bool"), "clamp": ("real", "int"), "axpb": ("real",)}[name]:
                for edition in BOTH:
                    arrays = [draw.of(kind, s) for s in shapes]
                    if name == "select":
                        arrays[0] = draw.bool(shapes[0])
                    if name == "clamp":
                        arrays[1] = np.asarray(arrays[1] - arrays[1].dtype.type(4))
                        arrays[2] = np.asarray(np.abs(arrays[2]))
                    yield Case(operator, arrays, result(function, arrays, aligns), dict(zip(names, aligns)), edition=edition)
    x = np.array([np.nan, np.inf, -np.inf, 5.0, -5.0, 0.0], dtype=np.float32)
    yield Case("math.clamp", [x, "-1.0", "2.0"], np.clip(x, np.float32(-1), np.float32(2)), label="specials")
    c, nan = np.array([True, False]), np.array([np.nan, np.nan], dtype=np.float32)
    yield Case("math.select", [c, np.array([1.0, 2.0], np.float32), nan], np.array([1.0, np.nan], np.float32), label="specials")
    draw = random("math.axpby")
    names = ("a_align", "x_align", "b_align", "y_align")
    for shapes, aligns in [(((),) * 4, (None,) * 4), (((2, 3),) * 4, (None,) * 4), (((), (2, 3), (), (3,)), (None,) * 4),
                           (((2, 1), (3,), (1,), (2, 3)), (None,) * 4), (((3, 1), (4,), (2, 1, 1), ()), (None,) * 4),
                           (((2,), (2, 3), (), (3,)), (0, None, None, None)), (((0, 1), (1, 3), (1,), (3,)), (None,) * 4),
                           (((3,), (2, 3, 4), (2,), (2, 3, 1)), (1, None, 0, None)), (((3,), (2, 3, 4), (2, 3), (4,)), (-1, None, 0, None))]:
        for edition in BOTH:
            arrays = [draw.real(s) for s in shapes]
            yield Case("math.axpby", arrays, result(lambda a, x, b, y: a * x + b * y, arrays, aligns), dict(zip(names, aligns)),
                       edition=edition)


def cases():
    yield from binary()
    yield from three()
