# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=100, m=50)


def inputs(random, a):
    return {"table": np.sort(random.random(a.n, np.float32)), "x": random.random(a.m, np.float32)}


def numpy(table, x):
    return np.searchsorted(table, x)


def numba(table, x):
    at = np.empty(x.shape[0], np.int64)
    for i in prange(x.shape[0]):
        low, high = 0, table.shape[0]
        while low < high:
            middle = (low + high) // 2
            if table[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        at[i] = low
    return at


def torch(table, x):
    import torch

    return torch.searchsorted(table, x)
