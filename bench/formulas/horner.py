# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=40)


def inputs(random, a):
    return {"x": random.random(a.n, np.float32) * 2 - 1, "c": random.standard_normal(a.k, np.float32)}


def numpy(x, c):
    y = np.zeros_like(x)
    for factor in c[::-1]:
        y *= x
        y += factor
    return y


def numba(x, c):
    y = np.empty_like(x)
    for i in prange(x.shape[0]):
        total = np.float32(0)
        for j in range(c.shape[0] - 1, -1, -1):
            total = total * x[i] + c[j]
        y[i] = total
    return y


def torch(x, c):
    import torch

    y = torch.zeros_like(x)
    for j in range(len(c) - 1, -1, -1):
        y = y * x + c[j]
    return y
