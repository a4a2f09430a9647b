# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(h=9, w=12, radius=2)


def inputs(random, a):
    return {"x": random.random((a.h, a.w), np.float32), "guide": random.random((a.h, a.w, 3), np.float32)}


def numpy(x, guide, radius):
    h, w = x.shape
    weights, values = np.zeros_like(x), np.zeros_like(x)
    for a in range(-radius, radius + 1):
        for b in range(-radius, radius + 1):
            u, v = np.clip(np.arange(h) + a, 0, h - 1)[:, None], np.clip(np.arange(w) + b, 0, w - 1)
            weight = np.exp(np.float32(-20) * np.square(guide[u, v] - guide).sum(axis=2))
            weights += weight
            values += weight * x[u, v]
    return values / weights


def numba(x, guide, radius):
    h, w = x.shape
    y = np.empty_like(x)
    for i in prange(h):
        for j in range(w):
            weights, values = np.float32(0), np.float32(0)
            for a in range(-radius, radius + 1):
                u = min(max(i + a, 0), h - 1)
                for b in range(-radius, radius + 1):
                    v = min(max(j + b, 0), w - 1)
                    e = np.float32(0)
                    for c in range(3):
                        e += (guide[u, v, c] - guide[i, j, c]) ** 2
                    weight = np.exp(np.float32(-20) * e)
                    weights += weight
                    values += weight * x[u, v]
            y[i, j] = values / weights
    return y


def torch(x, guide, radius):
    import torch
    import torch.nn.functional as F

    (h, w), size = x.shape, 2 * radius + 1
    pad = [radius] * 4
    colours = F.pad(guide.permute(2, 0, 1)[None], pad, mode="replicate")[0]
    padded = F.pad(x[None, None], pad, mode="replicate")[0, 0]
    weights, values = torch.zeros_like(x), torch.zeros_like(x)
    for a in range(size):
        for b in range(size):
            e = (colours[:, a : a + h, b : b + w] - guide.permute(2, 0, 1)).square().sum(0)
            weight = torch.exp(-20 * e)
            weights = weights + weight
            values = values + weight * padded[a : a + h, b : b + w]
    return values / weights
