# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(h=9, w=11, steps=3)

def inputs(random, a):
    return {"x": random.random((a.h, a.w), np.float32)}


def numpy(x, steps):
    for _ in range(steps):
        around = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
        x = x + np.float32(0.2) * (around - np.float32(4) * x)
    return x


def numba(x, steps):
    h, w = x.shape
    for _ in range(steps):
        y = np.empty_like(x)
        for i in prange(h):
            up, down = (i - 1) % h, (i + 1) % h
            for j in range(w):
                left = j - 1 if j > 0 else w - 1
                right = j + 1 if j < w - 1 else 0
                around = x[up, j] + x[down, j] + x[i, left] + x[i, right]
                y[i, j] = x[i, j] + np.float32(0.2) * (around - np.float32(4) * x[i, j])
        x = y
    return x


def torch(x, steps):
    import torch

    for _ in range(steps):
        around = torch.roll(x, 1, 0) + torch.roll(x, -1, 0) + torch.roll(x, 1, 1) + torch.roll(x, -1, 1)
        x = x + 0.2 * (around - 4 * x)
    return x
