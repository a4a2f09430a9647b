# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=20, steps=9)
# Points beside the border of the set may differ by rounding.
SHARE = 0.01


def inputs(random, a):
    return {"c": (random.random((a.n, 2), np.float32) * 3 - np.array([2, 1.5])).astype(np.float32)}


def numpy(c, steps):
    u, v, count = (np.zeros(len(c), np.float32) for _ in range(3))
    for _ in range(steps):
        near = u * u + v * v <= 4
        u, v = np.where(near, u * u - v * v + c[:, 0], u), np.where(near, np.float32(2) * u * v + c[:, 1], v)
        count += near
    return count


def numba(c, steps):
    n = c.shape[0]
    count = np.empty(n, np.float32)
    for i in prange(n):
        u, v, k = np.float32(0), np.float32(0), 0
        while k < steps and u * u + v * v <= np.float32(4):
            u, v = u * u - v * v + c[i, 0], np.float32(2) * u * v + c[i, 1]
            k += 1
        count[i] = k
    return count


def torch(c, steps):
    import torch

    u, v, count = torch.zeros(len(c)), torch.zeros(len(c)), torch.zeros(len(c))
    for _ in range(steps):
        near = u * u + v * v <= 4
        u, v = torch.where(near, u * u - v * v + c[:, 0], u), torch.where(near, 2 * u * v + c[:, 1], v)
        count = count + near
    return count
