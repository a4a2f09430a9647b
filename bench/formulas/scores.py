# SPDX-License-Identifier: Apache-2.0
import numpy as np

SMALL = dict(heads=2, n=5, m=7, d=4)


def inputs(random, a):
    return {name: random.standard_normal((a.heads, n, a.d), np.float32) for name, n in (("q", a.n), ("k", a.m))}


def numpy(q, k):
    return np.matmul(q, k.transpose(0, 2, 1)) / np.float32(np.sqrt(q.shape[2]))


def torch(q, k):
    import torch

    return torch.matmul(q, k.transpose(1, 2)) / q.shape[2] ** 0.5
