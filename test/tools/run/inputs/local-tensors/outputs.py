# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs to a folder; with names of subfolders, compares the outputs there with numpy."""
import os
import sys

import numpy as np


def inputs(t, n, s):
    random = np.random.default_rng(3)
    draw = lambda *shape: random.normal(size=shape).astype("float32")
    return dict(x=draw(t, n), u=draw(n), series=draw(s))


def holt(x, alpha=0.5, beta=0.25):
    level, trend = np.full(len(x), x[0], "float64"), np.full(len(x), x[1] - x[0], "float64")
    for k in range(len(x) - 1):
        level[k + 1] = alpha * x[k + 1] + (1 - alpha) * (level[k] + trend[k])
        trend[k + 1] = beta * (level[k + 1] - level[k]) + (1 - beta) * trend[k]
    return level, trend


def cell(x, u):
    gate = 1 / (1 + np.exp(-x))
    h, c = np.zeros((len(x) + 1, len(u))), np.ones((len(x) + 1, len(u)))
    for k in range(len(x)):
        c[k + 1] = gate[k] * c[k] + (1 - gate[k]) * np.tanh(x[k] + u * h[k])
        h[k + 1] = gate[k] * np.tanh(c[k + 1])
    return h, c


def expected(x, u, series):
    x, u, series = (values.astype("float64") for values in (x, u, series))
    level, trend = holt(series)
    h, c = cell(x, u)
    y = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3)
    return dict(level=level, trend=trend, h=h, c=c, y=y, above=(y > 0).sum(0))


folder, *engines = sys.argv[1:]
for t, n, s in ((7, 3, 9), (40, 8, 50), (2, 1, 3)):
    given = inputs(t, n, s)
    for name, values in given.items():
        np.save(os.path.join(folder, "%s%d.npy" % (name, t)), values)
    for engine in engines:
        for position, (name, values) in enumerate(expected(**given).items()):
            name = position if engine == "stablehlo" else name
            path = os.path.join(folder, engine, str(t), "%s.npy" % name)
            np.testing.assert_allclose(np.load(path), values, 1e-5, 1e-5, err_msg=path)
