# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=30, k=5, d=3)


def inputs(random, a):
    return {"x": random.standard_normal((a.n, a.d), np.float32), "centre": random.standard_normal((a.k, a.d), np.float32)}


def numpy(x, centre):
    return ((centre * centre).sum(axis=1) - 2 * (x @ centre.T)).argmin(axis=1)


def numba(x, centre):
    label = np.empty(x.shape[0], np.int64)
    for i in prange(x.shape[0]):
        least, where = np.float32(np.inf), 0
        for j in range(centre.shape[0]):
            distance = np.float32(0)
            for c in range(x.shape[1]):
                distance += (x[i, c] - centre[j, c]) ** 2
            if distance < least:
                least, where = distance, j
        label[i] = where
    return label


def torch(x, centre):
    return (centre.square().sum(1) - 2 * (x @ centre.T)).argmin(1)
