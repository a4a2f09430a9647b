# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(batch=3, n=9, m=12)
COMPILED = False

def inputs(random, a):
    return {"x": random.integers(0, 4, (a.batch, a.n)), "y": random.integers(0, 4, (a.batch, a.m))}


def numpy(x, y):
    (batch, n), m = x.shape, y.shape[1]
    before, last = np.zeros((batch, n + 1), np.int64), np.zeros((batch, n + 1), np.int64)
    score = np.zeros(batch, np.int64)
    for s in range(2, n + m + 1):
        low, high = max(1, s - m), min(n, s - 1) + 1
        i = np.arange(low, high)
        match = before[:, i - 1] + np.where(x[:, i - 1] == y[:, s - i - 1], 3, -3)
        gap = np.maximum(last[:, i - 1], last[:, i]) - 2
        now = np.zeros((batch, n + 1), np.int64)
        now[:, i] = np.maximum(0, np.maximum(match, gap))
        score = np.maximum(score, now.max(axis=1))
        before, last = last, now
    return score


def numba(x, y):
    (batch, n), m = x.shape, y.shape[1]
    score = np.empty(batch, np.int64)
    for b in prange(batch):
        row, most = np.zeros(m + 1, np.int64), 0
        for i in range(n):
            corner = 0
            for j in range(m):
                match = corner + (3 if x[b, i] == y[b, j] else -3)
                corner = row[j + 1]
                row[j + 1] = max(max(0, match), max(row[j + 1], row[j]) - 2)
                most = max(most, row[j + 1])
        score[b] = most
    return score
