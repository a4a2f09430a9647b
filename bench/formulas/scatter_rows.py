# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(n=40, d=3, segments=7)


def inputs(random, a):
    return {"x": random.standard_normal((a.n, a.d), np.float32), "id": np.sort(random.integers(0, a.segments, a.n))}


def numpy(x, id, segments):
    sums = np.zeros((segments, x.shape[1]), np.float32)
    np.add.at(sums, id, x)
    return sums


def numba(x, id, segments):
    sums = np.zeros((segments, x.shape[1]), np.float32)
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            sums[id[i], c] += x[i, c]
    return sums


def torch(x, id, segments):
    import torch

    return torch.zeros(segments, x.shape[1]).index_add_(0, id, x)
