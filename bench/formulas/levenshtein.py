# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(n=17, m=23)
COMPILED = False


def inputs(random, a):
    return {"x": random.integers(0, 4, a.n), "y": random.integers(0, 4, a.m)}


def numpy(x, y):
    at = np.arange(len(y) + 1)
    row = at
    for i in range(len(x)):
        below = np.minimum(row[:-1] + (x[i] != y), row[1:] + 1)
        row = np.minimum.accumulate(np.concatenate([[i + 1], below]) - at) + at
    return row[-1:]


def numba(x, y):
    n, m = x.shape[0], y.shape[0]
    row = np.arange(m + 1)
    for i in range(n):
        corner, row[0] = row[0], i + 1
        for j in range(m):
            above = row[j + 1]
            row[j + 1] = min(corner + (0 if x[i] == y[j] else 1), min(above, row[j]) + 1)
            corner = above
    return row[m:]
