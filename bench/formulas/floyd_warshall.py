# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=9)
COMPILED = False


def inputs(random, a):
    return {"w": random.random((a.n, a.n), np.float32) * 10}


def numpy(w):
    d = w.copy()
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[k], out=d)
    return d


def numba(w):
    d, n = w.copy(), w.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def torch(w):
    import torch

    d = w
    for k in range(len(d)):
        d = torch.minimum(d, d[:, k, None] + d[k])
    return d
