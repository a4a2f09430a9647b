# SPDX-License-Identifier: Apache-2.0
"""Losses, optimizers and schedules: the formulas of their papers, and of PyTorch where papers differ, in numpy's f64."""
import numpy as np
from scipy import special

from cases import BOTH, Case, f32, random

T = {"rtol": 2e-5, "atol": 2e-6}


def losses():
    draw = random("loss")
    for at, shape in enumerate([(), (1,), (5,), (2, 3), (3, 1, 4)]):
        x, t = draw.real(shape), draw.real(shape)
        d = x.astype(np.float64) - t
        edition = BOTH[at % 2]
        yield Case("loss.mse", [x, t], f32(np.mean(d * d)), edition=edition, **T)
        yield Case("loss.mae", [x, t], f32(np.mean(np.abs(d))), edition=edition, **T)
        for delta in (None, 0.5, 2.0):
            limit = 1.0 if delta is None else delta
            yield Case("loss.huber", [x, t], f32(np.mean(special.huber(limit, d))), {"delta": delta}, edition=edition, **T)
        sign = f32(np.where(draw.bool(shape), 1, -1))
        yield Case("loss.hinge", [x, sign], f32(np.mean(np.maximum(0, 1 - sign.astype(np.float64) * x))), edition=edition, **T)
        for scale in (1, 30):
            scores, parts = f32(scale * x), draw.real(shape, 0, 1)
            wide = scores.astype(np.float64)
            surprise = -parts * special.log_expit(wide) - (1 - parts.astype(np.float64)) * special.log_expit(-wide)
            yield Case("loss.binary_cross_entropy", [scores, parts], f32(np.mean(surprise)), edition=edition, **T)


def classification():
    draw = random("classification")
    for at, shape in enumerate([(1, 1), (4, 3), (2, 5, 3), (2, 2, 3, 4)]):
        x = draw.real(shape)
        classes = shape[1]
        labels = draw.int(shape[:1] + shape[2:], 0, classes)
        chosen = np.expand_dims(labels, 1)
        edition = BOTH[at % 2]
        for scale in (1, 300):
            scores = f32(scale * x)
            logs = special.log_softmax(scores.astype(np.float64), axis=1)
            for smoothing in (None, 0.1, 1.0):
                part = smoothing or 0.0
                surprise = -(1 - part) * np.take_along_axis(logs, chosen, 1)[:, 0] - part * logs.mean(axis=1)
                yield Case("loss.cross_entropy", [scores, labels], f32(surprise.mean()), {"smoothing": smoothing}, edition=edition, **T)
        yield Case("loss.accuracy", [x, labels], f32(np.mean(x.argmax(axis=1) == labels)), edition=edition, **T)


def states():
    """The weight, gradient, factor and state of a step."""
    draw = random("optim")
    for at, shape in enumerate([(), (4,), (2, 3), (1, 3, 2)]):
        for factor in (None, np.float32(0.25)):
            weight, gradient = draw.real(shape), draw.real(shape)
            inputs = [weight, gradient] + ([] if factor is None else [np.asarray(factor)])
            yield draw, inputs, 1.0 if factor is None else float(factor), shape, BOTH[at % 2]


def optimizers():
    for draw, inputs, factor, shape, edition in states():
        w, g = (x.astype(np.float64) for x in inputs[:2])
        for decay in (None, 0.25):
            decayed = g + (decay or 0) * w
            yield Case("optim.sgd", inputs, f32(w - factor * 0.1 * decayed), {"rate": 0.1, "decay": decay}, edition=edition, **T)
            for nesterov in (None, True):
                velocity = draw.real(shape)
                v = 0.75 * velocity.astype(np.float64) + decayed
                step = decayed + 0.75 * v if nesterov else v
                yield Case("optim.sgd", inputs, f32(w - factor * 0.1 * step), {"rate": 0.1, "momentum": 0.75, "nesterov": nesterov, "decay": decay},
                           variables={"velocity": velocity}, edition=edition, **T)
            for momentum in (None, 0.5):
                moment, velocity = draw.real(shape, 0.1, 2), draw.real(shape)
                v = 0.75 * moment.astype(np.float64) + 0.25 * decayed * decayed
                moved = (momentum or 0) * velocity + decayed / (np.sqrt(v) + 1e-3)
                yield Case("optim.rmsprop", inputs, f32(w - factor * 0.1 * moved),
                           {"rate": 0.1, "beta": 0.75, "epsilon": 1e-3, "momentum": momentum, "decay": decay},
                           variables={"moment": moment, "velocity": velocity}, edition=edition, **T)
            moment = draw.real(shape)
            direction = np.sign(0.75 * moment.astype(np.float64) + 0.25 * g) + (decay or 0) * w
            yield Case("optim.lion", inputs, f32(w - factor * 0.1 * direction), {"rate": 0.1, "beta1": 0.75, "decay": decay},
                       variables={"moment": moment}, edition=edition, **T)
            for step in (0, 1, 1000):
                for name in ("adam", "adamw"):
                    first, second = draw.real(shape), draw.real(shape, 0.1, 2)
                    own = decayed if name == "adam" else g
                    m = 0.75 * first.astype(np.float64) + 0.25 * own
                    v = 0.999 * second.astype(np.float64) + 0.001 * own * own
                    kept = w * (1 - factor * 0.1 * (0.01 if decay is None else decay)) if name == "adamw" else w
                    m, v = m / (1 - 0.75 ** (step + 1)), v / (1 - 0.999 ** (step + 1))
                    yield Case("optim." + name, inputs, f32(kept - factor * 0.1 * m / (np.sqrt(v) + 1e-8)), {"rate": 0.1, "beta1": 0.75, "decay": decay},
                               variables={"first": first, "second": second, "step": np.asarray(step)}, edition=edition, **T)


def clipping():
    draw = random("clipping")
    for at, shape in enumerate([(), (5,), (2, 3)]):
        g = draw.real(shape)
        edition = BOTH[at % 2]
        for limit in (0.5, 100.0):
            yield Case("optim.clip_value", [g], np.clip(g, np.float32(-limit), np.float32(limit)), {"limit": limit}, edition=edition)
        wide = g.astype(np.float64)
        yield Case("optim.sum_of_squares", [g], f32((wide * wide).sum()), edition=edition, **T)
        yield Case("optim.scale", [g, np.asarray(np.float32(0.5))], f32(wide * 0.5), edition=edition)
    for count in (1, 2, 4):
        squares = [draw.real((), 0, 9) for _ in range(count)]
        norm = np.sqrt(sum(float(s) for s in squares))
        for limit in (0.25, 100.0):
            yield Case("optim.norm_factor", [squares], f32(min(1.0, limit / norm)), {"limit": limit}, **T)


def schedules():
    for step in (0, 1, 4, 5, 9, 10, 11, 10 ** 6):
        state = {"variables": {"step": np.asarray(step)}, **T}
        for warmup in (None, 1, 5):
            begun = (step + 1) / warmup if warmup and step < warmup else None
            part = min((step - (warmup or 0)) / (10 - (warmup or 0)), 1)
            for least in (None, 0.25):
                low = least or 0.0
                factor = low + (1 - low) * (1 + np.cos(np.pi * part)) / 2
                yield Case("optim.cosine", [], f32(factor if begun is None else begun), {"steps": 10, "warmup": warmup, "least": least}, **state)
            yield Case("optim.staircase", [], f32(0.5 ** (step // 4) if begun is None else begun), {"every": 4, "decay": 0.5, "warmup": warmup}, **state)
            yield Case("optim.constant", [], f32(0.75 if begun is None else begun), {"factor": 0.75, "warmup": warmup}, **state)


def cases():
    for family in (losses, classification, optimizers, clipping, schedules):
        yield from family()
