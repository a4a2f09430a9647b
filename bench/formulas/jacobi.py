# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=9, steps=3)


def inputs(random, a):
    return {"a": random.random((a.n, a.n), np.float32) + a.n * np.eye(a.n, dtype=np.float32), "b": random.random(a.n, np.float32)}


def numpy(a, b, steps):
    diagonal, x = a.diagonal(), b
    rest = a - np.diag(diagonal)
    for _ in range(steps):
        x = (b - rest @ x) / diagonal
    return x


def numba(a, b, steps):
    n, x = b.shape[0], b
    for _ in range(steps):
        y = np.empty_like(b)
        for i in prange(n):
            total = np.float32(0)
            for j in range(n):
                total += a[i, j] * x[j]
            y[i] = (b[i] - total + a[i, i] * x[i]) / a[i, i]
        x = y
    return x


def torch(a, b, steps):
    diagonal, x = a.diagonal(), b
    rest = a - diagonal.diag()
    for _ in range(steps):
        x = (b - rest @ x) / diagonal
    return x
