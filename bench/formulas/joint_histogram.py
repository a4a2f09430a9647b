# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(h=20, w=300, bins=5)


def inputs(random, a):
    return {name: random.random((a.h, a.w), np.float32) for name in "xy"}


def numpy(x, y, bins):
    place = lambda v: np.clip((v * np.float32(bins)).astype(np.int64), 0, bins - 1)
    return np.bincount((place(x) * bins + place(y)).ravel(), minlength=bins * bins).reshape(bins, bins)


def numba(x, y, bins):
    counts = np.zeros((bins, bins), np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a = min(max(int(x[i, j] * np.float32(bins)), 0), bins - 1)
            b = min(max(int(y[i, j] * np.float32(bins)), 0), bins - 1)
            counts[a, b] += 1
    return counts


def torch(x, y, bins):
    import torch

    place = lambda v: (v * bins).long().clamp(0, bins - 1)
    return torch.bincount((place(x) * bins + place(y)).flatten(), minlength=bins * bins).view(bins, bins)
