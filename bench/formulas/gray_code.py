# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=40)

def inputs(random, a):
    return {"x": random.integers(0, 2**32, a.n)}


def numpy(x):
    return x ^ (x >> 1)


def numba(x):
    g = np.empty_like(x)
    for i in prange(x.shape[0]):
        g[i] = x[i] ^ (x[i] >> 1)
    return g


def torch(x):
    return x ^ (x >> 1)
