# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(persons=9, objects=7)


def inputs(random, a):
    return {"value": random.random((a.persons, a.objects), np.float32), "price": random.random(a.objects, np.float32)}


def numpy(value, price):
    profit = value - price
    best = profit.argmax(axis=1)
    first = profit.max(axis=1)
    np.put_along_axis(profit, best[:, None], -np.inf, axis=1)
    raised = price.copy()
    np.maximum.at(raised, best, price[best] + first - profit.max(axis=1) + np.float32(0.01))
    return raised, best


def numba(value, price):
    persons, objects = value.shape
    best, bid, raised = np.empty(persons, np.int64), np.empty(persons, np.float32), price.copy()
    for i in prange(persons):
        first, second, where = value[i, 0] - price[0], np.float32(-np.inf), 0
        for j in range(1, objects):
            profit = value[i, j] - price[j]
            if profit > first:
                second, first, where = first, profit, j
            elif profit > second:
                second = profit
        best[i], bid[i] = where, price[where] + first - second + np.float32(0.01)
    for i in range(persons):
        raised[best[i]] = max(raised[best[i]], bid[i])
    return raised, best


def torch(value, price):
    import torch

    most, at = torch.topk(value - price, 2, dim=1)
    best = at[:, 0]
    return price.scatter_reduce(0, best, price[best] + most[:, 0] - most[:, 1] + 0.01, "amax"), best
