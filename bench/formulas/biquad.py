# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(rows=3, n=40)
COMPILED = False

def inputs(random, a):
    return {"x": random.standard_normal((a.rows, a.n), np.float32)}


def numpy(x):
    at = np.arange(x.shape[1])
    near = lambda k: x[:, np.clip(at - k, 0, None)]
    y = np.float32(0.2) * x + np.float32(0.4) * near(1) + np.float32(0.2) * near(2)
    for t in range(2, x.shape[1]):
        y[:, t] += np.float32(0.5) * y[:, t - 1] - np.float32(0.3) * y[:, t - 2]
    return y


def numba(x):
    y = np.empty_like(x)
    for r in prange(x.shape[0]):
        for t in range(x.shape[1]):
            u = np.float32(0.2) * x[r, t] + np.float32(0.4) * x[r, max(t - 1, 0)] + np.float32(0.2) * x[r, max(t - 2, 0)]
            y[r, t] = u if t < 2 else u + np.float32(0.5) * y[r, t - 1] - np.float32(0.3) * y[r, t - 2]
    return y
