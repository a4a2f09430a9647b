# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=500, bins=16)


def inputs(random, a):
    other = np.minimum(random.integers(0, a.bins, a.n), random.integers(0, a.bins, a.n))
    return {"x": random.integers(0, a.bins, a.n), "other": other}


def numpy(x, other, bins):
    s = np.cumsum(np.bincount(x, minlength=bins))
    r = np.cumsum(np.bincount(other, minlength=bins))
    return np.searchsorted(r, s)[x]


def numba(x, other, bins):
    s, r, level = np.zeros(bins, np.int64), np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    for i in range(x.shape[0]):
        s[x[i]] += 1
        r[other[i]] += 1
    s, r = np.cumsum(s), np.cumsum(r)
    for i in range(bins):
        level[i] = np.searchsorted(r, s[i])
    y = np.empty_like(x)
    for i in prange(x.shape[0]):
        y[i] = level[x[i]]
    return y


def torch(x, other, bins):
    import torch

    s = torch.cumsum(torch.bincount(x, minlength=bins), 0)
    r = torch.cumsum(torch.bincount(other, minlength=bins), 0)
    return torch.searchsorted(r, s)[x]
