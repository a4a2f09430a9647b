# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(n=40)


def inputs(random, a):
    return {"x": random.random(a.n, np.float32), "mask": random.random(a.n) < 0.3}


def numpy(x, mask):
    return x[mask]


def numba(x, mask):
    y, k = np.empty_like(x), 0
    for i in range(x.shape[0]):
        if mask[i]:
            y[k] = x[i]
            k += 1
    return y[:k]


def torch(x, mask):
    return x[mask]
