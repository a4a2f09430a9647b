# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(batch=3, n=9, m=12)
COMPILED = False
LEAST = -1000000

def inputs(random, a):
    return {"x": random.integers(0, 4, (a.batch, a.n)), "y": random.integers(0, 4, (a.batch, a.m))}


def numpy(x, y):
    """By anti-diagonals: element i of a table is the cell (i, s - i)."""
    (batch, n), m = x.shape, y.shape[1]
    new = lambda: np.full((batch, n + 1), LEAST)
    before, last, gap_x, gap_y = new(), new(), new(), new()
    before[:, 0] = 0
    for s in range(2, n + m + 1):
        low, high = max(1, s - m), min(n, s - 1) + 1
        i = np.arange(low, high)
        up, left, here = new(), new(), new()
        up[:, i] = np.maximum(gap_x[:, i - 1] - 1, last[:, i - 1] - 3)
        left[:, i] = np.maximum(gap_y[:, i] - 1, last[:, i] - 3)
        match = before[:, i - 1] + np.where(x[:, i - 1] == y[:, s - i - 1], 2, -1)
        here[:, i] = np.maximum(match, np.maximum(up[:, i], left[:, i]))
        before, last, gap_x, gap_y = last, here, up, left
    return last[:, n]


def numba(x, y):
    (batch, n), m = x.shape, y.shape[1]
    score = np.empty(batch, np.int64)
    for b in prange(batch):
        row, gap_x = np.full(m + 1, LEAST), np.full(m + 1, LEAST)
        row[0] = 0
        for i in range(n):
            corner, gap_y = row[0], LEAST
            row[0] = LEAST
            for j in range(m):
                gap_x[j + 1] = max(gap_x[j + 1] - 1, row[j + 1] - 3)
                gap_y = max(gap_y - 1, row[j] - 3)
                match = corner + (2 if x[b, i] == y[b, j] else -1)
                corner = row[j + 1]
                row[j + 1] = max(match, max(gap_x[j + 1], gap_y))
        score[b] = row[m]
    return score
