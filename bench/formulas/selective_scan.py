# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(steps=7, d=5, n=4)
COMPILED = False


def inputs(random, a):
    many = lambda *shape: random.standard_normal(shape, np.float32)
    rate, decay = random.random((a.steps, a.d), np.float32), -random.random((a.d, a.n), np.float32)
    return {"x": many(a.steps, a.d), "rate": rate, "a": decay, "b": many(a.steps, a.n), "c": many(a.steps, a.n)}


def numpy(x, rate, a, b, c):
    h, y = np.zeros_like(a), np.empty_like(x)
    for t in range(len(x)):
        h = np.exp(rate[t, :, None] * a) * h + (rate[t] * x[t])[:, None] * b[t]
        y[t] = h @ c[t]
    return y


def numba(x, rate, a, b, c):
    steps, d = x.shape
    n, y = a.shape[1], np.empty_like(x)
    for i in prange(d):
        h = np.zeros(n, np.float32)
        for t in range(steps):
            total = np.float32(0)
            for s in range(n):
                h[s] = np.exp(rate[t, i] * a[i, s]) * h[s] + rate[t, i] * b[t, s] * x[t, i]
                total += h[s] * c[t, s]
            y[t, i] = total
    return y


def torch(x, rate, a, b, c):
    import torch

    h, y = torch.zeros_like(a), []
    for t in range(len(x)):
        h = torch.exp(rate[t, :, None] * a) * h + (rate[t] * x[t])[:, None] * b[t]
        y.append(h @ c[t])
    return torch.stack(y)
