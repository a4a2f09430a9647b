# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(batch=3, n=9, m=12)
COMPILED = False


def inputs(random, a):
    return {name: random.standard_normal((a.batch, n), np.float32) for name, n in (("x", a.n), ("y", a.m))}


def numpy(x, y):
    (batch, n), m = x.shape, y.shape[1]
    before, last = np.full((batch, n + 1), np.inf, np.float32), np.full((batch, n + 1), np.inf, np.float32)
    before[:, 0] = 0
    for s in range(2, n + m + 1):
        low, high = max(1, s - m), min(n, s - 1) + 1
        i = np.arange(low, high)
        least = np.minimum(before[:, i - 1], np.minimum(last[:, i - 1], last[:, i]))
        now = np.full((batch, n + 1), np.inf, np.float32)
        now[:, i] = (x[:, i - 1] - y[:, s - i - 1]) ** 2 + least
        before, last = last, now
    return last[:, n]


def numba(x, y):
    (batch, n), m = x.shape, y.shape[1]
    cost = np.empty(batch, np.float32)
    for b in prange(batch):
        row = np.full(m + 1, np.float32(np.inf))
        row[0] = 0
        for i in range(n):
            corner = row[0]
            row[0] = np.float32(np.inf)
            for j in range(m):
                e = x[b, i] - y[b, j]
                least = min(corner, min(row[j], row[j + 1]))
                corner = row[j + 1]
                row[j + 1] = e * e + least
        cost[b] = row[m]
    return cost
