# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=12)


def inputs(random, a):
    return {"p": random.standard_normal((a.n, 3), np.float32), "m": random.random(a.n, np.float32)}


def numpy(p, m):
    d = p - p[:, None]
    r = np.square(d).sum(axis=2) + np.float32(0.01)
    return ((m / (r * np.sqrt(r)))[:, :, None] * d).sum(axis=1)


def numba(p, m):
    n = p.shape[0]
    a = np.empty((n, 3), np.float32)
    for i in prange(n):
        ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
        for j in range(n):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            r = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            f = m[j] / (r * np.sqrt(r))
            ax += f * dx
            ay += f * dy
            az += f * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
    return a


def torch(p, m):
    d = p - p[:, None]
    r = d.square().sum(2) + 0.01
    return ((m / (r * r.sqrt()))[:, :, None] * d).sum(1)
