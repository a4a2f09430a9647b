# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import prange

SMALL = dict(batch=3, steps=5, tags=7)
COMPILED = False


def inputs(random, a):
    return {
        "emission": random.standard_normal((a.batch, a.steps, a.tags), np.float32),
        "transition": random.standard_normal((a.tags, a.tags), np.float32),
    }


def numpy(emission, transition):
    score = np.zeros_like(emission[:, 0])
    for t in range(emission.shape[1]):
        score = (score[:, :, None] + transition).max(axis=1) + emission[:, t]
    return score


def numba(emission, transition):
    batch, steps, tags = emission.shape
    scores = np.zeros((batch, tags), np.float32)
    for b in prange(batch):
        score = np.zeros(tags, np.float32)
        for t in range(steps):
            after = np.full(tags, np.float32(-np.inf))
            for i in range(tags):
                for j in range(tags):
                    after[j] = max(after[j], score[i] + transition[i, j])
            for j in range(tags):
                score[j] = after[j] + emission[b, t, j]
        scores[b] = score
    return scores


def torch(emission, transition):
    import torch

    score = torch.zeros_like(emission[:, 0])
    for t in range(emission.shape[1]):
        score = (score[:, :, None] + transition).amax(1) + emission[:, t]
    return score
