# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(tokens=5, features=7, units=9, count=3)


def inputs(random, a):
    return {
        "x": random.standard_normal((a.tokens, a.features), np.float32),
        "w": random.standard_normal((a.count, a.units, a.features), np.float32),
        "expert": random.integers(0, a.count, (a.tokens, 2)),
        "gate": random.random((a.tokens, 2), np.float32),
    }


def numpy(x, w, expert, gate):
    y = np.zeros((x.shape[0], w.shape[1]), np.float32)
    for e in range(w.shape[0]):
        tokens, k = np.nonzero(expert == e)
        np.add.at(y, tokens, gate[tokens, k][:, None] * (x[tokens] @ w[e].T))
    return y


def numba(x, w, expert, gate):
    tokens, units = x.shape[0], w.shape[1]
    y = np.zeros((tokens, units), np.float32)
    for t in prange(tokens):
        for k in range(2):
            e = expert[t, k]
            for u in range(units):
                total = np.float32(0)
                for f in range(x.shape[1]):
                    total += w[e, u, f] * x[t, f]
                y[t, u] += gate[t, k] * total
    return y


def torch(x, w, expert, gate):
    import torch

    return torch.einsum("tkuf,tf,tk->tu", w[expert], x, gate)
