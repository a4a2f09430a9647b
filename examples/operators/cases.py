# SPDX-License-Identifier: Apache-2.0
"""The operators of this folder in numpy: for each its sizes in tests, its inputs, and what it computes.

`CASES[name].small` are the attributes of the graph in tests; those in the file are realistic sizes.
"""
import dataclasses
import importlib
import os
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Case:
    small: dict
    inputs: object
    outputs: object


def rotary_inputs(random, a):
    return {"x": random.standard_normal((a.batch, a.steps, a.heads, a.width), np.float32)}


def rotary(x):
    half = x.shape[3] // 2
    rate = 10000.0 ** (-np.arange(half, dtype=np.float32) / np.float32(half))
    angle = np.arange(x.shape[1], dtype=np.float32)[:, None] * rate.astype(np.float32)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    first, second = x[..., :half], x[..., half:]
    return {"y": np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)}


def swiglu_inputs(random, a):
    x = random.standard_normal((a.rows, a.features), np.float32)
    weights = random.standard_normal((2, a.units, a.features), np.float32) / np.float32(a.features**0.5)
    return {"x": x, "value": weights[0], "gates": weights[1]}


def swiglu(x, value, gates):
    gate = x @ gates.T
    return {"y": (x @ value.T) * gate / (1 + np.exp(-gate))}


def local_attention_inputs(random, a):
    return {name: random.standard_normal((a.heads, a.steps, a.width), np.float32) for name in ("query", "key", "value")}


def local_attention(query, key, value, radius):
    steps, width = query.shape[1:]
    pad = ((0, 0), (radius, radius), (0, 0))
    windows = lambda x: np.lib.stride_tricks.sliding_window_view(np.pad(x, pad), 2 * radius + 1, axis=1)
    scores = np.matmul(query[:, :, None, :], windows(key))[:, :, 0] / np.float32(np.sqrt(width))
    at = np.arange(steps)[:, None] + np.arange(-radius, radius + 1)
    scores = np.where((at >= 0) & (at < steps), scores, np.float32(-np.inf))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    powers /= powers.sum(axis=-1, keepdims=True)
    return {"y": np.matmul(windows(value), powers[..., None])[..., 0]}


def soft_dtw_inputs(random, a):
    series = lambda n: random.standard_normal((a.batch, n, a.features), np.float32).cumsum(axis=1, dtype=np.float32) / 8
    return {"x": series(a.n), "y": series(a.m)}


def soft_dtw(x, y):
    """By anti-diagonals: row s has the cells (i, s - i)."""
    (batch, n, _), m = x.shape, y.shape[1]
    squares = (x * x).sum(axis=2)[:, :, None] + (y * y).sum(axis=2)[:, None, :]
    distance = squares - 2 * np.matmul(x, y.transpose(0, 2, 1))
    before = np.full((batch, n + 1), np.inf, np.float32)
    before[:, 0] = 0
    last = np.full((batch, n + 1), np.inf, np.float32)
    for s in range(2, n + m + 1):
        low, high = max(1, s - m), min(n, s - 1) + 1
        i = np.arange(low, high)
        terms = np.stack([before[:, low - 1 : high - 1], last[:, low - 1 : high - 1], last[:, low:high]])
        least = terms.min(axis=0)
        now = np.full((batch, n + 1), np.inf, np.float32)
        now[:, low:high] = distance[:, i - 1, s - i - 1] + least - np.log(np.exp(least - terms).sum(axis=0))
        before, last = last, now
    return {"cost": last[:, n]}


def haar_inputs(random, a):
    return {"x": random.standard_normal((a.batch, a.channels, a.rows, a.columns), np.float32)}


def haar(x):
    a, b, c, d = x[..., ::2, ::2], x[..., ::2, 1::2], x[..., 1::2, ::2], x[..., 1::2, 1::2]
    low, high, left, right = a + b, c + d, a - b, c - d
    bands = np.stack([low + high, left + right, low - high, left - right], axis=2) * np.float32(0.5)
    return {"y": bands.reshape(x.shape[0], -1, *bands.shape[3:])}


def histogram_inputs(random, a):
    return {"x": random.random(a.n, np.float32) * np.float32(1.1)}


def histogram(x, bins):
    x = x[(x >= 0) & (x <= 1)]
    places = np.minimum((x * np.float32(bins)).astype(np.int64), bins - 1)
    return {"counts": np.bincount(places, minlength=bins)}


def nearest_neighbours_inputs(random, a):
    return {"query": random.standard_normal((a.queries, a.width), np.float32), "point": random.standard_normal((a.points, a.width), np.float32)}


def nearest_neighbours(query, point, k):
    distance = (query * query).sum(axis=1)[:, None] + (point * point).sum(axis=1) - 2 * (query @ point.T)
    index = np.argpartition(distance, k, axis=1)[:, :k]
    near = np.take_along_axis(distance, index, axis=1)
    order = np.argsort(near, axis=1, kind="stable")
    return {"distance": np.take_along_axis(near, order, axis=1), "index": np.take_along_axis(index, order, axis=1)}


def offsets(random, parts, total):
    """Where each part begins, and the end; some parts are empty."""
    return np.concatenate([[0], np.sort(random.integers(0, total + 1, parts - 1)), [total]]).astype(np.int64)


def segment_sum_inputs(random, a):
    return {"value": random.standard_normal((a.n, a.width), np.float32), "start": offsets(random, a.segments, a.n)}


def segment_sum(value, start):
    # reduceat has the element at the start for empty segments.
    filled = start[:-1] < start[1:]
    sums = np.zeros((len(start) - 1, value.shape[1]), np.float32)
    sums[filled] = np.add.reduceat(value, start[:-1][filled], axis=0)
    return {"sum": sums}


def sparse_product_inputs(random, a):
    return {
        "value": random.standard_normal(a.entries, np.float32),
        "column": random.integers(0, a.columns, a.entries),
        "start": offsets(random, a.rows, a.entries),
        "x": random.standard_normal((a.columns, a.width), np.float32),
    }


def sparse_product(value, column, start, x):
    return {"y": segment_sum(value[:, None] * x[column], start)["sum"]}


def bilateral_inputs(random, a):
    return {"x": random.random((a.height, a.width), np.float32)}


def bilateral(x, radius):
    height, width = x.shape
    padded = np.pad(x, radius, mode="edge")
    weights, values = np.zeros_like(x), np.zeros_like(x)
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            other = padded[radius + i : radius + i + height, radius + j : radius + j + width]
            weight = np.exp(np.float32(-0.125 * (i * i + j * j)) - np.float32(50) * (other - x) ** 2)
            weights += weight
            values += weight * other
    return {"y": values / weights}


def sinkhorn_inputs(random, a):
    return {"cost": random.random((a.n, a.m), np.float32)}


def sinkhorn(cost, iterations):
    n, m = cost.shape
    kernel = -cost / np.float32(0.05)
    v = np.zeros(m, np.float32)
    for _ in range(iterations):
        for_rows = kernel + v
        most = for_rows.max(axis=1)
        u = -np.float32(np.log(n)) - most - np.log(np.exp(for_rows - most[:, None]).sum(axis=1))
        for_columns = kernel + u[:, None]
        most = for_columns.max(axis=0)
        v = -np.float32(np.log(m)) - most - np.log(np.exp(for_columns - most).sum(axis=0))
    return {"p": np.exp(kernel + u[:, None] + v)}


def moving_average_inputs(random, a):
    return {"x": random.standard_normal((a.batch, a.steps, a.channels), np.float32)}


def moving_average(x):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = np.float32(0.9) * y[:, t - 1] + np.float32(0.1) * x[:, t]
    return {"y": y}


def edit_distance_inputs(random, a):
    return {"x": random.integers(0, 4, (a.batch, a.n)), "y": random.integers(0, 4, (a.batch, a.m))}


def edit_distance(x, y):
    """By rows: insertions along a row are a running minimum."""
    (batch, n), m = x.shape, y.shape[1]
    at = np.arange(m + 1)
    row = np.broadcast_to(at, (batch, m + 1))
    for i in range(n):
        below = np.minimum(row[:, :-1] + (x[:, i, None] != y), row[:, 1:] + 1)
        first = np.full((batch, 1), i + 1)
        row = np.minimum.accumulate(np.concatenate([first, below], axis=1) - at, axis=1) + at
    return {"distance": row[:, m]}


def viterbi_inputs(random, a):
    return {"emission": random.standard_normal((a.batch, a.steps, a.tags), np.float32), "transition": random.standard_normal((a.tags, a.tags), np.float32)}


def viterbi(emission, transition):
    batch, steps, _ = emission.shape
    score, best = emission[:, 0], []
    for t in range(1, steps):
        candidates = score[:, :, None] + transition
        best.append(candidates.argmax(axis=1))
        score = candidates.max(axis=1) + emission[:, t]
    path = np.empty((batch, steps), np.int64)
    path[:, -1] = score.argmax(axis=1)
    for t in range(steps - 2, -1, -1):
        path[:, t] = best[t][np.arange(batch), path[:, t + 1]]
    return {"path": path}


def total_variation_inputs(random, a):
    return {"image": random.random((a.height, a.width), np.float32)}


def total_variation(image, steps):
    x = image
    for _ in range(steps):
        down = np.diff(x, axis=0, append=x[-1:])
        right = np.diff(x, axis=1, append=x[:, -1:])
        length = np.sqrt(down * down + right * right + np.float32(0.01))
        p, q = down / length, right / length
        divergence = np.diff(p, axis=0, prepend=np.float32(0)) + np.diff(q, axis=1, prepend=np.float32(0))
        x = x - np.float32(0.2) * (x - image - np.float32(0.2) * divergence)
    return {"y": x}


SMALL = {
    "rotary": dict(batch=2, steps=5, heads=3, width=6),
    "swiglu": dict(rows=5, features=7, units=9),
    "local_attention": dict(heads=2, steps=11, width=5, radius=3),
    "soft_dtw": dict(batch=20, n=15, m=16, features=2),
    "haar": dict(batch=2, channels=3, rows=6, columns=10),
    "histogram": dict(n=1000, bins=7),
    "nearest_neighbours": dict(queries=6, points=50, width=3, k=4),
    "segment_sum": dict(n=40, width=5, segments=12),
    "sparse_product": dict(rows=9, columns=8, entries=30, width=5),
    "bilateral": dict(height=9, width=12, radius=2),
    "sinkhorn": dict(n=6, m=9, iterations=4),
    "moving_average": dict(batch=2, steps=13, channels=5),
    "edit_distance": dict(batch=5, n=9, m=12),
    "viterbi": dict(batch=18, steps=12, tags=20),
    "total_variation": dict(height=7, width=9, steps=3),
}
CASES = {name: Case(small, globals()[name + "_inputs"], globals()[name]) for name, small in SMALL.items()}


class Attributes:
    """Attributes of the graph in a file, with others in their place."""

    def __init__(self, path, others):
        with open(path) as file:
            graph = file.read().split("\ngraph ")[1]
        found = {key: float(value) if "." in value else int(value) for key, value in re.findall(r"(\w+): (?:int|real) = ([\d.]+);", graph)}
        self.values = {**found, **others}
        self.__dict__.update(self.values)


def file_of(name):
    return os.path.join(HERE, name + ".sknd")


def made(name, others, seed=1):
    """The attributes and the inputs of an operator, always the same for a seed."""
    attributes = Attributes(file_of(name), others)
    return attributes, CASES[name].inputs(np.random.default_rng(seed), attributes)


def options(function, attributes):
    """The attributes that a function asks for by name."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name: attributes.values[name] for name in names if name in attributes.values}


def expected(name, attributes, inputs):
    outputs = CASES[name].outputs
    return outputs(**inputs, **options(outputs, attributes))


def small(name):
    """The attributes in tests."""
    return CASES[name].small


def function(engine, name):
    """The same computation in an engine of bench/operators.py."""
    return CASES[name].outputs if engine == "numpy" else getattr(importlib.import_module("operators_" + engine), name)


def compiles(name):
    """torch.compile unrolls loops over steps, so hundreds of steps take minutes to compile."""
    return name not in ("moving_average", "soft_dtw", "edit_distance", "viterbi")


def share(name):
    """The share of elements that may differ: values on the border of two bins may be in either bin."""
    return 0.1 if name == "histogram" else 0.0
