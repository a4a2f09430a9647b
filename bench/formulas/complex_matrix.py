# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=5, k=7, m=6)


def inputs(random, a):
    return {"x": random.standard_normal((a.n, a.k, 2), np.float32), "y": random.standard_normal((a.k, a.m, 2), np.float32)}


def numpy(x, y):
    z = x.view(np.complex64)[:, :, 0] @ y.view(np.complex64)[:, :, 0]
    return z.view(np.float32).reshape(*z.shape, 2)


def numba(x, y):
    n, k, m = x.shape[0], x.shape[1], y.shape[1]
    z = np.zeros((n, m, 2), np.float32)
    for i in prange(n):
        for l in range(k):
            for j in range(m):
                z[i, j, 0] += x[i, l, 0] * y[l, j, 0] - x[i, l, 1] * y[l, j, 1]
                z[i, j, 1] += x[i, l, 0] * y[l, j, 1] + x[i, l, 1] * y[l, j, 0]
    return z


def torch(x, y):
    import torch

    return torch.view_as_real(torch.view_as_complex(x) @ torch.view_as_complex(y))
