# SPDX-License-Identifier: Apache-2.0
"""The operators of examples/operators in idiomatic torch: without loops over elements where possible."""
import math

import torch
import torch.nn.functional as F


def rotary(x):
    half = x.shape[3] // 2
    rate = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
    angle = torch.arange(x.shape[1], dtype=torch.float32)[:, None] * rate
    cos, sin = torch.cos(angle)[:, None], torch.sin(angle)[:, None]
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def swiglu(x, value, gates):
    return F.linear(x, value) * F.silu(F.linear(x, gates))


def local_attention(query, key, value, radius):
    """Blocks of steps attend to three blocks of keys under a mask, the usual implementation of windows in torch."""
    heads, steps, width = query.shape
    block = radius if steps % radius == 0 else steps
    blocks = steps // block
    pad = (0, 0, block, block)
    windows = lambda x: F.pad(x, pad).unfold(1, 3 * block, block).transpose(2, 3)
    at = torch.arange(block)[:, None] + block - torch.arange(3 * block)
    keys = torch.arange(blocks)[:, None, None] * block + torch.arange(3 * block) - block
    mask = (at.abs() <= radius) & (keys >= 0) & (keys < steps)
    blocked = query.view(heads, blocks, block, width)
    mixed = F.scaled_dot_product_attention(blocked, windows(key), windows(value), attn_mask=mask)
    return mixed.reshape(heads, steps, width)


def soft_dtw(x, y):
    (batch, n, _), m = x.shape, y.shape[1]
    distance = torch.cdist(x, y).square()
    before = torch.full((batch, n + 1), torch.inf)
    before[:, 0] = 0
    last = torch.full((batch, n + 1), torch.inf)
    for s in range(2, n + m + 1):
        low, high = max(1, s - m), min(n, s - 1) + 1
        i = torch.arange(low, high)
        terms = torch.stack([before[:, low - 1 : high - 1], last[:, low - 1 : high - 1], last[:, low:high]])
        now = torch.full((batch, n + 1), torch.inf)
        now[:, low:high] = distance[:, i - 1, s - i - 1] - torch.logsumexp(-terms, dim=0)
        before, last = last, now
    return last[:, n]


def haar(x):
    a, b, c, d = x[..., ::2, ::2], x[..., ::2, 1::2], x[..., 1::2, ::2], x[..., 1::2, 1::2]
    low, high, left, right = a + b, c + d, a - b, c - d
    return (torch.stack([low + high, left + right, low - high, left - right], dim=2) * 0.5).flatten(1, 2)


def histogram(x, bins):
    return torch.histc(x, bins, 0.0, 1.0).long()


def nearest_neighbours(query, point, k):
    distance = query.square().sum(1)[:, None] + point.square().sum(1) - 2 * query @ point.T
    return tuple(torch.topk(distance, k, dim=1, largest=False))


def segment_sum(value, start):
    return torch.segment_reduce(value, "sum", offsets=start, axis=0)


def sparse_product(value, column, start, x):
    return torch.sparse_csr_tensor(start, column, value, (start.shape[0] - 1, x.shape[0])) @ x


def bilateral(x, radius):
    height, width = x.shape
    padded = F.pad(x[None, None], [radius] * 4, mode="replicate")[0, 0]
    weights, values = torch.zeros_like(x), torch.zeros_like(x)
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            other = padded[radius + i : radius + i + height, radius + j : radius + j + width]
            weight = torch.exp(-0.125 * (i * i + j * j) - 50 * (other - x) ** 2)
            weights = weights + weight
            values = values + weight * other
    return values / weights


def sinkhorn(cost, iterations):
    n, m = cost.shape
    kernel = -cost / 0.05
    v = torch.zeros(m)
    for _ in range(iterations):
        u = -math.log(n) - torch.logsumexp(kernel + v, dim=1)
        v = -math.log(m) - torch.logsumexp(kernel + u[:, None], dim=0)
    return torch.exp(kernel + u[:, None] + v)


def moving_average(x):
    rows = [x[:, 0]]
    for t in range(1, x.shape[1]):
        rows.append(torch.lerp(x[:, t], rows[-1], 0.9))
    return torch.stack(rows, dim=1)


def edit_distance(x, y):
    (batch, n), m = x.shape, y.shape[1]
    at = torch.arange(m + 1)
    row = at.expand(batch, m + 1)
    for i in range(n):
        below = torch.minimum(row[:, :-1] + (x[:, i, None] != y), row[:, 1:] + 1)
        first = torch.full((batch, 1), i + 1)
        row = torch.cummin(torch.cat([first, below], dim=1) - at, dim=1).values + at
    return row[:, m]


def viterbi(emission, transition):
    batch, steps, _ = emission.shape
    score, best = emission[:, 0], []
    for t in range(1, steps):
        most, where = (score[:, :, None] + transition).max(dim=1)
        best.append(where)
        score = most + emission[:, t]
    path = [score.argmax(dim=1)]
    for where in reversed(best):
        path.append(where.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], dim=1)


def total_variation(image, steps):
    x = image
    for _ in range(steps):
        down = torch.diff(x, dim=0, append=x[-1:])
        right = torch.diff(x, dim=1, append=x[:, -1:])
        length = torch.sqrt(down * down + right * right + 0.01)
        p, q = down / length, right / length
        divergence = p - F.pad(p, (0, 0, 1, 0))[:-1] + q - F.pad(q, (1, 0))[:, :-1]
        x = x - 0.2 * (x - image - 0.2 * divergence)
    return x
