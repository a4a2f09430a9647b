# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(n=30, k=5, d=3)


def inputs(random, a):
    return {"x": random.standard_normal((a.n, a.d), np.float32), "label": random.integers(0, a.k, a.n)}


def numpy(x, label, k):
    sums = np.stack([np.bincount(label, column, k) for column in x.T], axis=1)
    return (sums / np.maximum(np.bincount(label, minlength=k), 1)[:, None]).astype(np.float32)


def numba(x, label, k):
    count, total = np.zeros(k, np.float32), np.zeros((k, x.shape[1]), np.float32)
    for i in range(x.shape[0]):
        count[label[i]] += np.float32(1)
        for c in range(x.shape[1]):
            total[label[i], c] += x[i, c]
    for j in range(k):
        for c in range(x.shape[1]):
            total[j, c] /= max(count[j], np.float32(1))
    return total


def torch(x, label, k):
    import torch

    total = torch.zeros(k, x.shape[1]).index_add_(0, label, x)
    return total / torch.bincount(label, minlength=k).clamp(min=1)[:, None]
