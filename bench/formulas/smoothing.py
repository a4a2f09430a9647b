# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(rows=3, n=40)
COMPILED = False

def inputs(random, a):
    return {"x": random.standard_normal((a.rows, a.n), np.float32)}


def numpy(x):
    y = x.copy()
    for t in range(1, x.shape[1]):
        y[:, t] = np.float32(0.9) * y[:, t - 1] + np.float32(0.1) * x[:, t]
    return y


def numba(x):
    y = np.empty_like(x)
    for r in prange(x.shape[0]):
        y[r, 0] = x[r, 0]
        for t in range(1, x.shape[1]):
            y[r, t] = np.float32(0.9) * y[r, t - 1] + np.float32(0.1) * x[r, t]
    return y
