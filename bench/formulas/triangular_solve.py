# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(n=9, m=4)


def inputs(random, a):
    lower = np.tril(random.standard_normal((a.n, a.n), np.float32), -1) / np.float32(a.n**0.5)
    return {"l": lower + np.eye(a.n, dtype=np.float32) * 2, "b": random.standard_normal((a.n, a.m), np.float32)}


def numpy(l, b):
    x = b.copy()
    for i in range(len(b)):
        x[i] = (x[i] - l[i, :i] @ x[:i]) / l[i, i]
    return x


def numba(l, b):
    x = b.copy()
    for i in range(b.shape[0]):
        for j in range(i):
            for r in range(b.shape[1]):
                x[i, r] -= l[i, j] * x[j, r]
        for r in range(b.shape[1]):
            x[i, r] /= l[i, i]
    return x


def torch(l, b):
    import torch

    return torch.linalg.solve_triangular(l, b, upper=False)
