# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(h=9, w=11, n=40)


def inputs(random, a):
    return {"x": random.random((a.h, a.w), np.float32), "at": random.random((a.n, 2), np.float32)}


def numpy(x, at):
    h, w = x.shape
    u, v = at[:, 0] * np.float32(h - 1), at[:, 1] * np.float32(w - 1)
    i, j = np.clip(u.astype(np.int64), 0, h - 2), np.clip(v.astype(np.int64), 0, w - 2)
    f, g = u - i.astype(np.float32), v - j.astype(np.float32)
    return (1 - f) * ((1 - g) * x[i, j] + g * x[i, j + 1]) + f * ((1 - g) * x[i + 1, j] + g * x[i + 1, j + 1])


def numba(x, at):
    h, w = x.shape
    y, one = np.empty(at.shape[0], np.float32), np.float32(1)
    for p in prange(at.shape[0]):
        u, v = at[p, 0] * np.float32(h - 1), at[p, 1] * np.float32(w - 1)
        i, j = min(max(int(u), 0), h - 2), min(max(int(v), 0), w - 2)
        f, g = u - np.float32(i), v - np.float32(j)
        y[p] = (one - f) * ((one - g) * x[i, j] + g * x[i, j + 1]) + f * ((one - g) * x[i + 1, j] + g * x[i + 1, j + 1])
    return y


def torch(x, at):
    import torch.nn.functional as F

    return F.grid_sample(x[None, None], (at.flip(1) * 2 - 1)[None, None], align_corners=True)[0, 0, 0]
