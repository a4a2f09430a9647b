# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=7, m=9, d=3)


def inputs(random, a):
    return {"x": random.standard_normal((a.n, a.d), np.float32), "y": random.standard_normal((a.m, a.d), np.float32)}


def numpy(x, y):
    squares = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
    return np.sqrt(np.maximum(squares, 0))


def numba(x, y):
    r = np.empty((x.shape[0], y.shape[0]), np.float32)
    for i in prange(x.shape[0]):
        for j in range(y.shape[0]):
            total = np.float32(0)
            for c in range(x.shape[1]):
                total += (x[i, c] - y[j, c]) ** 2
            r[i, j] = np.sqrt(total)
    return r


def torch(x, y):
    import torch

    return torch.cdist(x, y)
