# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(height=11, width=13, steps=3)


def inputs(random, a):
    weak = random.random((a.height, a.width)) < 0.6
    return {"strong": weak & (random.random(weak.shape) < 0.02), "weak": weak}


def numpy(strong, weak, steps):
    edge = strong
    for _ in range(steps):
        padded = np.pad(edge, 1)
        h, w = edge.shape
        grown = np.zeros_like(edge)
        for a in range(3):
            for b in range(3):
                grown |= padded[a : a + h, b : b + w]
        edge = grown & weak
    return edge


def numba(strong, weak, steps):
    h, w = weak.shape
    edge = strong
    for _ in range(steps):
        grown = np.empty_like(edge)
        for i in prange(h):
            for j in range(w):
                found = False
                for a in range(max(i - 1, 0), min(i + 2, h)):
                    for b in range(max(j - 1, 0), min(j + 2, w)):
                        found |= edge[a, b]
                grown[i, j] = found & weak[i, j]
        edge = grown
    return edge


def torch(strong, weak, steps):
    import torch.nn.functional as F

    edge = strong
    for _ in range(steps):
        edge = (F.max_pool2d(edge[None].float(), 3, 1, 1)[0] > 0) & weak
    return edge
