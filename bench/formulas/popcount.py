# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=40)

def inputs(random, a):
    return {"x": random.integers(0, 2**32, a.n)}


def numpy(x):
    return np.bitwise_count(x).astype(np.int64)


def numba(x):
    count = np.empty_like(x)
    for i in prange(x.shape[0]):
        total = 0
        for k in range(32):
            total += (x[i] >> k) & 1
        count[i] = total
    return count


def torch(x):
    import torch

    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    return ((((x + (x >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24) & 0xFF
