# SPDX-License-Identifier: Apache-2.0
"""Parts of language models: numpy in f64."""
import numpy as np

from cases import BOTH, Case, StorageTypes, f32, random

T = {"rtol": 3e-5, "atol": 1e-5}


def rotated(x, cosine, sine, adjacent):
    m = cosine.shape[1]
    first = np.arange(0, 2 * m, 2) if adjacent else np.arange(m)
    second = first + 1 if adjacent else first + m
    y = x.copy()
    c, s = cosine[:, None], sine[:, None]
    y[..., first] = x[..., first] * c - x[..., second] * s
    y[..., second] = x[..., first] * s + x[..., second] * c
    return y


def attended(query, key, value, scale, window, past):
    n, h, _ = query.shape
    m, g, _ = key.shape
    key, value = (np.repeat(t, h // g, axis=1) for t in (key, value))
    scores = np.einsum("thd,jhd->htj", query, key) * scale
    at, j = np.arange(n)[:, None] + past, np.arange(m)
    scores = np.where((j <= at) & (j > at - (window or m)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("htj,jhd->thd", weights / weights.sum(-1, keepdims=True), value)


def routed(logits, used, normalize):
    """The positions and the probabilities of the largest logits; the first of equal ones first."""
    probabilities = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities /= probabilities.sum(-1, keepdims=True)
    order = np.argsort(-logits, axis=-1, kind="stable")[:, :used]
    weight = np.take_along_axis(probabilities, order, axis=-1)
    return order.astype(np.int64), weight / weight.sum(-1, keepdims=True) if normalize else weight


def experts_cases(draw, wide):
    # Products of fewer and of more elements than those for which slices of the matrices are read.
    for n, used, m, size, k in [(1, 2, 4, 5, 6), (3, 1, 2, 4, 4), (3, 2, 6, 80, 64), (1, 4, 5, 16, 512)]:
        logits = 0.5 * np.argsort(wide(n, m))
        logits[0, m // 2] = logits[0, 0]
        for normalize, edition in [(None, BOTH[0]), (True, BOTH[1])]:
            expert, weight = routed(logits, used, normalize)
            yield Case("lm.route", [f32(logits)], [expert, f32(weight)], {"used": used, "normalize": normalize}, edition=edition, **T)
            matrices = wide(m, size, k)
            for rows in {1, used}:
                x = wide(n, rows, k)
                want = np.einsum("tsk,tsjk->tsj", np.broadcast_to(x, (n, used, k)), matrices[expert])
                yield Case("lm.experts", [f32(x), expert, f32(matrices)], f32(want), edition=edition, rtol=3e-5, atol=1e-4)
            parts, weight = wide(n, used, size), StorageTypes.round(weight)
            yield Case("lm.mixture", [f32(parts), f32(weight)], f32(np.einsum("tsj,ts->tj", parts, weight)), edition=edition, **T)
            x, features, gate = wide(n, size), StorageTypes.round(wide(n, k) / k), wide(k)
            yield Case("lm.opened", [f32(x), f32(features), f32(gate)], f32(x / (1 + np.exp(-features @ gate)[:, None])), edition=edition, **T)


def cases():
    draw = random("lm")
    wide = lambda *shape: draw.real(shape).astype(np.float64)  # noqa: E731
    for shape in [(4,), (3, 8), (2, 3, 5)]:
        for edition in BOTH:
            x, scale = wide(*shape), wide(shape[-1])
            for epsilon in (None, 0.5):
                norm = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + (epsilon or 1e-5))
                yield Case("lm.rms_norm", [f32(x), f32(scale)], f32(x / norm * scale), {"epsilon": epsilon}, edition=edition, **T)
            up = wide(*shape)
            yield Case("lm.swiglu", [f32(x), f32(up)], f32(x / (1 + np.exp(-x)) * up), edition=edition, **T)
    for n, size in [(1, 4), (5, 2), (3, 6)]:
        position = draw.int((n,), 0, 40)
        factors = StorageTypes.round(np.abs(wide(size // 2)) + 0.5).astype(np.float64)
        angle = position[:, None] * 50.0 ** (-np.arange(0, size, 2) / size)
        for edition in BOTH:
            attributes = {"base": 50.0, "size": size}
            yield Case("lm.angles", [position], [f32(np.cos(angle)), f32(np.sin(angle))], attributes, edition=edition, rtol=1e-4, atol=2e-5)
            turned = angle / factors
            yield Case("lm.angles", [position, f32(factors)], [f32(np.cos(turned)), f32(np.sin(turned))], attributes, edition=edition,
                       rtol=1e-4, atol=2e-5)
            for adjacent in (None, True):
                x, c, s = wide(n, 2, 7), wide(n, size // 2), wide(n, size // 2)
                yield Case("lm.rotate", [f32(x), f32(c), f32(s)], f32(rotated(x, c, s, adjacent)), {"adjacent": adjacent}, edition=edition, **T)
    for n, m, h, g, window, past in [(3, 3, 2, 2, None, None), (4, 4, 4, 2, 2, None), (2, 5, 6, 1, None, 3), (1, 6, 2, 1, 3, 4), (2, 7, 2, 1, None, 3)]:
        query, key, value = wide(n, h, 4), wide(m, g, 4), wide(m, g, 3)
        inputs = [f32(query), f32(key), f32(value)] + ([np.array(past)] if past else [])
        for edition in BOTH:
            want = attended(query, key, value, 0.5, window, past or 0)
            yield Case("lm.attention", inputs, f32(want), {"scale": 0.5, "window": window}, edition=edition, **T)
    yield from experts_cases(draw, wide)
