# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=5, k=7, m=6)


def inputs(random, a):
    return {"a": random.random((a.n, a.k)) < 0.05, "b": random.random((a.k, a.m)) < 0.05}


def numpy(a, b):
    return a.astype(np.float32) @ b.astype(np.float32) > 0


def numba(a, b):
    (n, k), m = a.shape, b.shape[1]
    c = np.zeros((n, m), np.bool_)
    for i in prange(n):
        for l in range(k):
            if a[i, l]:
                for j in range(m):
                    c[i, j] |= b[l, j]
    return c


def torch(a, b):
    return a.float() @ b.float() > 0
