# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(n=20, steps=9)


def inputs(random, a):
    ray = random.standard_normal((a.n, 3), np.float32) * np.float32(0.4)
    ray[:, 2] = 1
    ray /= np.sqrt((ray * ray).sum(axis=1, keepdims=True))
    return {"ray": ray, "centre": np.array([[0, 0, 4], [1, 0.5, 6]], np.float32), "radius": np.array([1, 2], np.float32)}


def numpy(ray, centre, radius, steps):
    t = np.zeros(len(ray), np.float32)
    for _ in range(steps):
        e = t[:, None, None] * ray[:, None] - centre
        d = (np.sqrt((e * e).sum(axis=2)) - radius).min(axis=1)
        t = np.where((d > np.float32(0.001)) & (t < 20), t + d, t)
    return t


def numba(ray, centre, radius, steps):
    n = ray.shape[0]
    distance = np.empty(n, np.float32)
    for i in prange(n):
        t = np.float32(0)
        for s in range(steps):
            d = np.float32(np.inf)
            for k in range(centre.shape[0]):
                dx, dy, dz = t * ray[i, 0] - centre[k, 0], t * ray[i, 1] - centre[k, 1], t * ray[i, 2] - centre[k, 2]
                d = min(d, np.sqrt(dx * dx + dy * dy + dz * dz) - radius[k])
            if d <= np.float32(0.001) or t >= np.float32(20):
                break
            t += d
        distance[i] = t
    return distance


def torch(ray, centre, radius, steps):
    import torch

    t = torch.zeros(len(ray))
    for _ in range(steps):
        d = ((t[:, None, None] * ray[:, None] - centre).square().sum(2).sqrt() - radius).amin(1)
        t = torch.where((d > 0.001) & (t < 20), t + d, t)
    return t
