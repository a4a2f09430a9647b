# SPDX-License-Identifier: Apache-2.0
"""The computations of spellings.py: a text with slots, the parts for each slot, and the same in numpy."""

import dataclasses
import re

import numpy as np


@dataclasses.dataclass
class Family:
    name: str
    # Inputs and outputs of the operator, with extents as numbers. The last output is `y`.
    inputs: dict
    outputs: dict
    text: str
    slots: dict
    reference: object
    # The largest element of inputs of ints, exclusive.
    limit: int = 5

    def signature(self):
        declare = lambda tensors: " ".join("%s: %s;" % item for item in tensors.items())
        names = ", ".join("y" if name == "y" else "~" for name in self.outputs)
        inputs = declare(self.inputs)
        return {"inputs": inputs, "arguments": inputs, "outputs": declare(self.outputs), "result": self.outputs["y"],
                "names": names, "passed": ", ".join(self.inputs)}

    def arrays(self):
        """Inputs: reals are small integers, so that sums are exact."""
        random = np.random.default_rng(1)
        return {name: self._array(random, *re.fullmatch(r"(\w+)\[(.*)\]", declared).groups()) for name, declared in self.inputs.items()}

    def _array(self, random, kind, shape):
        shape = [int(extent) for extent in shape.split(",") if extent.strip()]
        if kind == "bool":
            return random.random(shape) < 0.3
        return random.integers(0, self.limit, shape) if kind == "int" else random.integers(-4, 5, shape).astype(np.float32)


# Two factors `p` and `q` of a sum, in equivalent forms.
FACTORS = ["{p} * {q}", "{q} * {p}", "-{p} * -{q}", "-(-{p}) * {q}", "(0.0 - {p}) * -{q}"]


def row_sum():
    values = ["x[i, j]", "1.0 * x[i, j]", "-(-x[i, j])", "x[i, j] / 1.0", "x[i, 199 - j]", "x[i, |j + 3 - 3|]", "x[i, |j|]"]
    return Family("row_sum", {"x": "real[64, 200]"}, {"y": "real[64]"}, "{start}{local}y[i,] += {value}, {bounds};", {
        "start": ["", "y[i,] = 0.0, i < 64; "],
        "local": ["", "t = x[i, j], "],
        "value": values + ["real(1) * x[i, j]", "x[i, j] + 0.0", "(j < 200 ? x[i, j] : 0.0)"],
        "bounds": ["i < 64, j < 200", "j < 200, i < 64", "i < 64, j < 200 | j < 200", "i < 64, j < 300 | j < 200", "i < 64, j < 201 - 1", "i < 64, j < 200 | true"],
    }, lambda x: x.sum(axis=1))


def product():
    all = "i < 64, j < 128, k < 96"
    return Family("product", {"a": "real[64, 96]", "b": "real[96, 128]"}, {"y": "real[64, 128]"}, "{start}{local}y[i, j] += {value}, {bounds};", {
        "start": ["", "y[i, j] = 0.0, i < 64, j < 128; "],
        "local": ["", "t = a[i, k], "],
        "value": FACTORS + ["{p} * {q} / 1.0", "({p} + 0.0) * {q}", "(k < 96 ? {p} * {q} : 0.0)"],
        "p": ["a[i, k]", "a[i, 95 - (95 - k)]", "a[i, |k|]"],
        "q": ["b[k, j]", "b[k + 1 - 1, j]", "b[|k|, j]"],
        "bounds": [all, "k < 96, i < 64, j < 128", "j < 128, k < 96, i < 64", all + " | true", "i < 64, j < 128, k < 100 | k < 96"],
    }, lambda a, b: a @ b)


def scaled_product():
    values = [
        "a[i, k] * b[j, k] / 8.0", "a[i, k] / 8.0 * b[j, k]", "0.125 * a[i, k] * b[j, k]", "a[i, k] * (b[j, k] * 0.125)",
        "a[i, k] * b[j, k] / `sqrt`(64.0)", "a[i, k] * b[j, k] / `sqrt`(real(64))", "b[j, k] * a[i, k] * (1.0 / 8.0)", "a[i, k] * b[j, k] * 64.0 ** -0.5",
    ]
    return Family("scaled_product", {"a": "real[64, 64]", "b": "real[64, 64]"}, {"y": "real[64, 64]"},
                  "y[i, j] += {value}, i < 64, j < 64, k < 64;", {"value": values}, lambda a, b: a @ b.T / 8)


# Positions of windows of 3 x 3 within a map of 40 x 60.
INSIDE = "i + u >= 1 && i + u < 41 && j + v >= 1 && j + v < 61"
CLAMPED = "x[|i + u - 1 <> 0 : 39|, |j + v - 1 <> 0 : 59|]"
NEAR, GUARDED = "x[i + u - 1, j + v - 1]", "x[|i + u - 1|, |j + v - 1|]"
WINDOW = "i < 40, j < 60, u < 3, v < 3"


def padded(x, u, v):
    return np.pad(x, 1)[u : u + 40, v : v + 60]


def window():
    put = "i - u + 1 >= 0 && i - u + 1 < 40 && j - v + 1 >= 0 && j - v + 1 < 60"
    return Family("window", {"x": "real[40, 60]", "w": "real[3, 3]"}, {"y": "real[40, 60]"}, "{text};", {
        "text": [
            "y[i, j] += %s * w[u, v], %s" % (GUARDED, WINDOW),
            "y[i, j] += w[u, v] * %s, %s" % (GUARDED, WINDOW),
            "y[i, j] += x[|u + i - 1|, |v - 1 + j|] * w[u, v], u < 3, v < 3, i < 40, j < 60",
            "y[i, j] += x[|i - u + 1|, |j - v + 1|] * w[2 - u, 2 - v], " + WINDOW,
            "y[i, j] += %s * w[u, v], %s | %s" % (NEAR, WINDOW, INSIDE),
            "y[i, j] += (%s ? %s : 0.0) * w[u, v], %s" % (INSIDE, CLAMPED, WINDOW),
            "y[i, j] += (%s ? %s * w[u, v] : 0.0), %s" % (INSIDE, NEAR, WINDOW),
            "p = |i + u - 1|, q = |j + v - 1|, y[i, j] += x[p, q] * w[u, v], " + WINDOW,
            "y[i, j] = 0.0, i < 40, j < 60; y[i, j] += %s * w[u, v], %s" % (GUARDED, WINDOW),
            "y[i, j] += %s * w[u, v], %s | i + u > 0" % (GUARDED, WINDOW),
            "y[i - u + 1, j - v + 1] += x[i, j] * w[u, v], %s | %s" % (WINDOW, put),
        ],
    }, lambda x, w: sum(w[u, v] * padded(x, u, v) for u in range(3) for v in range(3)))


def max_pool():
    bounds, at = "c < 8, i < 20, j < 30, u < 2, v < 2", "x[c, 2 * i + u, 2 * j + v]"
    start = "y[c, i, j] = -1.0 / 0.0, c < 8, i < 20, j < 30; "
    return Family("max_pool", {"x": "real[8, 40, 60]"}, {"y": "real[8, 20, 30]"}, "{text};", {
        "text": [
            "y[c, i, j] >= %s, %s" % (at, bounds),
            "y[c, i, j] >= x[c, i * 2 + u, v + j * 2], " + bounds,
            "y[c, i, j] >= x[c, |2 * i + u|, |2 * j + v|], " + bounds,
            "y[c, i, j] >= x[c, 2 * i + 1 - u, 2 * j + 1 - v], " + bounds,
            start + "y[c, i, j] := y[c, i, j] >> %s, %s" % (at, bounds),
            start + "y[c, i, j] := %s >> y[c, i, j], %s" % (at, bounds),
            start + "y[c, i, j] := %s, %s | %s > y[c, i, j]" % (at, bounds, at),
            start + "t = %s, y[c, i, j] := t > y[c, i, j] ? t : y[c, i, j], %s" % (at, bounds),
            "y[c, i / 2, j / 2] >= x[c, i, j], c < 8, i < 40, j < 60",
        ],
    }, lambda x: x.reshape(8, 20, 2, 30, 2).max(axis=(2, 4)))


def softmax():
    first, all = "m[i,] = x[i, 0], i < 64; ", "i < 64, j < 200"
    outputs = {"m": "real[64]", "e": "real[64, 200]", "s": "real[64]", "y": "real[64, 200]"}

    def reference(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return Family("softmax", {"x": "real[64, 200]"}, outputs, "{most}; {exp}; {sum}; y[i, j] = {last}, %s;" % all, {
        "most": ["m[i,] >= x[i, j], " + all, "m[i,] >= x[i, j], j < 200, i < 64", first + "m[i,] >= x[i, j], " + all, first + "m[i,] := m[i,] >> x[i, j], " + all,
                 first + "m[i,] >= x[i, j + 1], i < 64, j < 199", "m[i,] >= x[i, 199 - j], " + all],
        "exp": ["e[i, j] = `exp`(x[i, j] - m[i,]), " + all, "e[i, j] = `exp`(-m[i,] + x[i, j]), " + all,
                "t = x[i, j] - m[i,], e[i, j] = `exp`(t), j < 200, i < 64", "e[i, j] = `exp`(-(m[i,] - x[i, j])), " + all],
        "sum": ["s[i,] += e[i, j], " + all, "s[i,] += `exp`(x[i, j] - m[i,]), " + all, "s[i,] = 0.0, i < 64; s[i,] += e[i, j], j < 200, i < 64"],
        "last": ["e[i, j] / s[i,]", "`exp`(x[i, j] - m[i,]) / s[i,]", "e[i, j] * (1.0 / s[i,])", "1.0 / s[i,] * e[i, j]", "`exp`(x[i, j] - m[i,] - `log`(s[i,]))"],
    }, reference)


def prefix(name, sign, neutral, joined, reference):
    """Running sums or maxima. `joined` combines two values."""
    start, square = "y[r, i] = x[r, i], r < 64, i < 200; ", "r < 64, i < 200, j < 200"
    return Family(name, {"x": "real[64, 200]"}, {"y": "real[64, 200]"}, "{text};", {
        "text": [
            "y[r, i] %s x[r, j], r < 64, i < 200, j < i + 1" % sign,
            "y[r, i] %s x[r, j], %s | j <= i" % (sign, square),
            "y[r, i] %s x[r, j], r < 64, j < 200, i < 200 | i >= j" % sign,
            "y[r, i] %s x[r, j], %s | !(j > i)" % (sign, square),
            "y[r, i] %s x[r, j], %s | j < i + 1" % (sign, square),
            "y[r, i] %s x[r, i - j], r < 64, i < 200, j < i + 1" % sign,
            "y[r, i] %s x[r, |i - j|], %s" % (sign, square),
            "y[r, i] %s (j <= i ? x[r, j] : %s), %s" % (sign, neutral, square),
            "y[r, i] = %s, r < 64, i < 200; y[r, i] %s x[r, j], r < 64, i < 200, j < i + 1" % (neutral, sign),
            start + "y[r, i] %s x[r, j], r < 64, i < 200, j < i" % sign,
            start + "y[r, i + 1] := %s, r < 64, i < 199" % joined("y[r, i]", "x[r, i + 1]"),
            start + "y[r, i] := i == 0 ? x[r, i] : %s, r < 64, i < 200" % joined("x[r, i]", "y[r, i - 1]"),
            start + "y[r, i] := %s, r < 64, i < 200" % joined("x[r, i]", "y[r, |i - 1|]"),
            start + "y[r, i + 1] %s y[r, i], r < 64, i < 199" % sign,
        ],
    }, reference)


def gather_product():
    bounds = "t < 32, u < 64, f < 48"
    return Family("gather_product", {"k": "int[32]", "w": "real[5, 64, 48]", "x": "real[32, 48]"}, {"y": "real[32, 64]"}, "{text};", {
        "text": [
            "y[t, u] += w[k[t,], u, f] * x[t, f], " + bounds,
            "y[t, u] += x[t, f] * w[k[t,], u, f], " + bounds,
            "e = k[t,], y[t, u] += w[e, u, f] * x[t, f], " + bounds,
            "y[t, u] += w[|k[t,]|, u, f] * x[t, f], " + bounds,
            "y[t, u] += w[|k[t,] <> 0 : 4|, u, f] * x[t, f], " + bounds,
            "y[t, u] += w[k[t,], u, f] * x[t, f], f < 48, t < 32, u < 64",
            "y[t, u] += w[e, u, f] * x[t, f], %s, e < 5 | e == k[t,]" % bounds,
            "y[t, u] += (e == k[t,] ? w[e, u, f] * x[t, f] : 0.0), %s, e < 5" % bounds,
        ],
    }, lambda k, w, x: np.einsum("tuf,tf->tu", w[k], x))


def argmax():
    start, all, best = "y[i,] = 0, i < 64; ", "i < 64, j < 200", "x[i, y[i,]]"
    return Family("argmax", {"x": "real[64, 200]"}, {"y": "int[64]"}, "{text};", {
        "text": [
            start + "y[i,] := j, %s | x[i, j] > %s" % (all, best),
            start + "y[i,] := j, %s | %s < x[i, j]" % (all, best),
            start + "y[i,] := j + 1, i < 64, j < 199 | x[i, j + 1] > %s" % best,
            start + "y[i,] := x[i, j] > %s ? j : y[i,], %s" % (best, all),
            start + "best = %s, y[i,] := j, %s | x[i, j] > best" % (best, all),
            start + "y[i,] := j, %s | !(x[i, j] <= %s)" % (all, best),
            "y[i,] = 199, i < 64; y[i,] := 199 - j, %s | x[i, 199 - j] >= %s" % (all, best),
        ],
    }, lambda x: x.argmax(axis=1))


def normalization():
    all, deviation, root = "i < 64, j < 256", "(x[i, j] - m[i,])", "`sqrt`(v[i,] + 0.00001)"
    outputs = {"m": "real[64]", "v": "real[64]", "y": "real[64, 256]"}
    return Family("normalization", {"x": "real[64, 256]"}, outputs, "{mean}; {variance}; {last};", {
        "mean": ["m[i,] += x[i, j] / 256.0, " + all, "m[i,] += x[i, j] * (1.0 / 256.0), " + all, "m[i,] += x[i, j] / real(256), j < 256, i < 64"],
        "variance": ["v[i,] += %s * %s / 256.0, %s" % (deviation, deviation, all), "t = x[i, j] - m[i,], v[i,] += t * t / 256.0, " + all,
                     "v[i,] += %s ** 2.0 / 256.0, %s" % (deviation, all), "t = m[i,] - x[i, j], v[i,] += t * t / 256.0, " + all,
                     "t = x[i, j] - m[i,], v[i,] += t / 256.0 * t, " + all],
        "last": ["y[i, j] = %s / %s, %s" % (deviation, root, all), "y[i, j] = %s * (1.0 / %s), %s" % (deviation, root, all),
                 "d = `sqrt`(0.00001 + v[i,]), y[i, j] = %s / d, %s" % (deviation, all), "y[i, j] = %s * (v[i,] + 0.00001) ** -0.5, %s" % (deviation, all)],
    }, lambda x: (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 0.00001))


def bool_window():
    start = "y[i, j] = false, i < 40, j < 60; "
    return Family("bool_window", {"x": "bool[40, 60]"}, {"y": "bool[40, 60]"}, "{text};", {
        "text": [
            "y[i, j] |= %s, %s" % (GUARDED, WINDOW),
            "y[i, j] |= %s == true, %s" % (GUARDED, WINDOW),
            "y[i, j] |= !!%s, %s" % (GUARDED, WINDOW),
            "y[i, j] |= %s, u < 3, v < 3, i < 40, j < 60" % GUARDED,
            "y[i, j] |= x[|i + 1 - u|, |j + 1 - v|], " + WINDOW,
            "y[i, j] |= %s, %s | %s" % (NEAR, WINDOW, INSIDE),
            start + "y[i, j] |= %s, %s" % (GUARDED, WINDOW),
            start + "y[i, j] := y[i, j] || %s, %s" % (GUARDED, WINDOW),
            start + "y[i, j] := true, %s | %s" % (WINDOW, GUARDED),
            "y[i, j] |= int(%s) > 0, %s" % (GUARDED, WINDOW),
            "y[i, j] |= (%s ? %s : false), %s" % (INSIDE, NEAR, WINDOW),
            "y[i, j] |= %s && %s, %s" % (INSIDE, CLAMPED, WINDOW),
        ],
    }, lambda x: np.any([padded(x, u, v) for u in range(3) for v in range(3)], axis=0))


FAMILIES = [
    row_sum(), product(), scaled_product(), window(), max_pool(), softmax(),
    prefix("prefix_sum", "+=", "0.0", "{} + {}".format, lambda x: np.cumsum(x, axis=1)),
    prefix("prefix_max", ">=", "-1.0 / 0.0", "{} >> {}".format, lambda x: np.maximum.accumulate(x, axis=1)),
    gather_product(), argmax(), normalization(), bool_window(),
]
