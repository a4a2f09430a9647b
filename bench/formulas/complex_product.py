# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=40)


def inputs(random, a):
    return {name: random.standard_normal((a.n, 2), np.float32) for name in "xy"}


def numpy(x, y):
    return (x.view(np.complex64) * y.view(np.complex64)).view(np.float32)


def numba(x, y):
    z = np.empty_like(x)
    for i in prange(x.shape[0]):
        z[i, 0] = x[i, 0] * y[i, 0] - x[i, 1] * y[i, 1]
        z[i, 1] = x[i, 0] * y[i, 1] + x[i, 1] * y[i, 0]
    return z


def torch(x, y):
    import torch

    return torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(y))
