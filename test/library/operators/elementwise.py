# SPDX-License-Identifier: Apache-2.0
"""Operators with one operand, or a pack of operands of the same shape: numpy and scipy functions in f64, rounded to f32."""
import numpy as np
from scipy import special

from cases import BOTH, Case, StorageTypes, f32, random

SHAPES = [(), (1,), (0,), (7,), (2, 3), (1, 5, 1), (2, 0, 3), (3, 1, 2, 2), (2, 1, 3, 1, 2), (1, 2, 1, 2, 1, 2, 1, 2)]
INF = np.inf
SPECIALS = np.array([np.nan, INF, -INF, 0.0, -0.0, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5,
                     2.5, -2.5, 8388609.0, -8388609.0, 0.49999997, 1e10, -1e10, 88.0, -88.0, 100.0, -100.0, 700.0, -700.0],
                    dtype=np.float32)


def away(x):
    """Rounds halves away from zero; preserves the sign of zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def int_sign(x):
    return np.sign(x)


# name: function, low, high of ordinary arguments
REAL = {
    "rcp": (lambda x: 1 / x, 0.2, 4), "sqrt": (np.sqrt, 0, 9), "rsqr": (lambda x: 1 / (x * x), 0.3, 3),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "exp": (np.exp, -5, 5), "log": (np.log, 0.01, 20),
    "log2": (np.log2, 0.01, 20), "sin": (np.sin, -7, 7), "cos": (np.cos, -7, 7), "tan": (np.tan, -1.4, 1.4),
    "sinh": (np.sinh, -4, 4), "cosh": (np.cosh, -4, 4), "tanh": (np.tanh, -4, 4), "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9), "asinh": (np.arcsinh, -9, 9), "acosh": (np.arccosh, 1, 9),
    "atanh": (np.arctanh, -0.99, 0.99), "floor": (np.floor, -4, 4), "ceil": (np.ceil, -4, 4), "round": (away, -4, 4),
}
BOTH_KINDS = {"neg": np.negative, "sqr": np.square, "abs": np.abs, "sign": np.sign, "iden": np.positive}

SELU_ALPHA, SELU_LAMBDA = 1.67326319, 1.05070102


def elu(alpha):
    return lambda x: np.where(x < 0, alpha * np.expm1(x), x)


def relu(alpha=None, limit=None):
    def apply(x):
        # In the formula of 4.4.3, the slope multiplies x without the limit.
        return np.maximum(x if limit is None else np.minimum(x, limit), 0.0 if alpha is None else alpha * x)
    return apply


def gelu(approximate):
    if approximate == "TANH":
        return lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))
    if approximate == "SIGMOID":
        return lambda x: x * special.expit(1.702 * x)
    return lambda x: x * special.ndtr(x)


# operator, attributes, function
ACTIVATIONS = [
    *[("relu", {"alpha": a, "max": m}, relu(a, m)) for a in (None, 0.0, 0.1, 1.0) for m in (None, 1.5, 6.0)],
    *[("thresholded_relu", {"theta": t}, lambda x, t=t: np.where(x > (t or 0.0), x, 0.0)) for t in (None, 0.0, 0.75, 1.5)],
    *[("elu", {"alpha": a}, elu(1.0 if a is None else a)) for a in (None, 0.0, 0.5, 2.0)],
    ("selu", {}, lambda x: SELU_LAMBDA * elu(SELU_ALPHA)(x)),
    ("selu", {"alpha": 1.5, "lambda": 2.0}, lambda x: 2.0 * elu(1.5)(x)),
    *[("gelu", {"approximate": a}, gelu(a)) for a in (None, "TANH", "SIGMOID")],
    ("silu", {}, lambda x: x * special.expit(x)),
    ("sigmoid", {}, special.expit),
    ("softplus", {}, lambda x: np.logaddexp(x, 0.0)),
    ("erf", {}, special.erf),
]
# Far from zero, results of these formulas must be finite if their limits are.
LARGE = np.array([-3e38, -1e30, -1e4, -200, -104, -89, -88, -20, 20, 88, 89, 104, 200, 1e4, 1e30, 3e38, 0.0], dtype=np.float32)


def apply(function, x):
    with np.errstate(all="ignore"):
        return f32(function(x.astype(np.float64)))


def unary():
    for name, (function, low, high) in REAL.items():
        draw = random("math." + name)
        for shape in SHAPES:
            x = draw.real(shape, low, high)
            for edition in BOTH:
                yield Case("math." + name, [x], apply(function, x), edition=edition)
        # The sign of zero is compared if the function is exact.
        exact = name in ("rcp", "sqrt", "floor", "ceil", "round", "rsqrt")
        yield Case("math." + name, [SPECIALS], apply(function, SPECIALS), signed_zero=exact, label="specials")
        x = draw.real((600,), low, high)
        yield Case("math." + name, [x], apply(function, x), rtol=2e-6, label="many")
    for name, function in BOTH_KINDS.items():
        draw = random("math." + name)
        for shape in SHAPES:
            for kind in ("real", "int") + (("bool",) if name == "iden" else ()):
                x = draw.of(kind, shape)
                for edition in BOTH:
                    want = x.copy() if name == "iden" else function(x)
                    yield Case("math." + name, [x], np.asarray(want), edition=edition)
        specials = SPECIALS[1:] if name == "sign" else SPECIALS
        with np.errstate(all="ignore"):
            yield Case("math." + name, [specials], apply(function, specials), signed_zero=name != "sign", label="specials")
    draw = random("math.not")
    for shape in SHAPES:
        x = draw.bool(shape)
        for edition in BOTH:
            yield Case("math.not", [x], np.logical_not(x), edition=edition)


def activations():
    for name, attributes, function in ACTIVATIONS:
        draw = random("nn." + name)
        for at, shape in enumerate(SHAPES):
            x = draw.real(shape, -4, 4)
            yield Case("nn." + name, [x], apply(function, x), attributes, edition=BOTH[at % 2])
        yield Case("nn." + name, [LARGE], apply(function, LARGE), attributes, label="large")
    draw = random("nn.prelu")
    for shape, axis in [((3,), 0), ((2, 3), None), ((2, 3), -2), ((2, 3, 4), None), ((2, 3, 4), -1), ((2, 1, 3, 2), 1),
                        ((0, 3), 1), ((2, 3, 4, 1, 2), 2)]:
        x = draw.real(shape)
        where = 1 if axis is None else axis % len(shape)
        alpha = draw.real((shape[where],))
        slopes = alpha.reshape([-1 if d == where else 1 for d in range(len(shape))])
        for edition in BOTH:
            yield Case("nn.prelu", [x, alpha], f32(np.where(x < 0, slopes * x, x)), {"axis": axis}, edition=edition)


def packs():
    folds = {"sum_n": lambda xs: np.sum(xs, 0), "prod_n": lambda xs: np.prod(xs, 0), "min_n": lambda xs: np.min(xs, 0),
             "max_n": lambda xs: np.max(xs, 0), "argmin_n": lambda xs: np.argmin(xs, 0), "argmax_n": lambda xs: np.argmax(xs, 0)}
    for name, function in folds.items():
        draw = random("math." + name)
        for shape in [(), (1,), (0,), (5,), (2, 3), (2, 1, 3)]:
            for count in (1, 2, 3, 6):
                for kind in ("real", "int"):
                    xs = [draw.of(kind, shape) for _ in range(count)]
                    if name.startswith("arg"):  # with ties
                        xs = [draw.int(shape, 0, 3).astype(xs[0].dtype) for _ in range(count)]
                    want = np.asarray(function(np.stack(xs)))
                    want = want.astype(np.int64 if name.startswith("arg") else xs[0].dtype)
                    yield Case("math." + name, [xs], want, edition=BOTH[count % 2])
        special = np.array([np.nan, INF, -INF, 1.0], dtype=np.float32)
        xs = [np.array(x, dtype=np.float32) for x in np.meshgrid(special, special)]
        with np.errstate(all="ignore"):
            want = np.asarray(function(np.stack(xs)))
        yield Case("math." + name, [xs], want.astype(np.int64 if name.startswith("arg") else np.float32), label="specials")
    for name, function in {"any_n": np.any, "all_n": np.all}.items():
        draw = random("math." + name)
        for shape in [(), (1,), (0,), (5,), (2, 3)]:
            for count in (1, 2, 5):
                xs = [draw.bool(shape) for _ in range(count)]
                yield Case("math." + name, [xs], np.asarray(function(np.stack(xs), axis=0)), edition=BOTH[count % 2])


def casts():
    draw = random("layout.cast")
    dtypes = {"real": np.float32, "int": np.int64, "bool": bool}
    for shape in SHAPES:
        for source in dtypes:
            for target, dtype in dtypes.items():
                x = draw.of(source, shape)
                for edition in BOTH:
                    yield Case("layout.cast", [x], np.trunc(x).astype(dtype) if target == "int" and source == "real"
                               else x.astype(dtype), types="<%s>" % target, edition=edition)
    x = np.array([np.nan, 2.9, -2.9, -0.5, 0.0, -0.0, 1e-45], dtype=np.float32)
    yield Case("layout.cast", [x], np.array([0, 2, -2, 0, 0, 0, 0]), types="<int>", label="specials")
    yield Case("layout.cast", [x], StorageTypes.round(x) != 0, types="<bool>", label="specials")
    most = np.iinfo(StorageTypes.FILES[StorageTypes.int])
    x = np.array([INF, -INF, 3e38, -3e38], dtype=np.float32)
    yield Case("layout.cast", [x], np.array([most.max, most.min, most.max, most.min]), types="<int>", label="saturates")
    x = np.array([INF, -INF, 130.0, -130.0, 127.5, -128.5, 65504.0, -40000.0, np.nan], dtype=np.float32)
    y = np.array([most.max, most.min, *(int(min(max(int(v), most.min), most.max)) for v in StorageTypes.round(x[2:8])), 0])
    yield Case("layout.cast", [x], y, types="<int>", label="narrow")


def cases():
    yield from unary()
    yield from activations()
    yield from packs()
    yield from casts()
