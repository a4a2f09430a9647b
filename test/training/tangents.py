#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tangents of the formulas of bench/gradients.py against jax.jvp in f64, and Hessian-vector products against jax.jvp of jax.vjp: at most
1e-9 of the largest element. Without jax, nothing is compared.

    tangents.py [--only PART]
"""
import argparse
import os
import pathlib
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
except ImportError:
    sys.exit(print("tangents: skipped, because jax is missing"))
jax.config.update("jax_enable_x64", True)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/python")]
import package  # noqa: E402,F401  places the packages
from gradients import CASES, Jax, inputs_of  # noqa: E402
import numpy as np  # noqa: E402
import skript  # noqa: E402


def difference(ours, theirs):
    """The largest difference relative to the largest element of each array."""
    pairs = list(zip(ours, theirs, strict=True))
    assert all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs), [(a.shape, b.shape) for a, b in pairs]
    # A second derivative may be zero everywhere.
    return max(float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)) for a, b in pairs)


def compare(name):
    document, shapes, build = CASES[name]
    draw, run, names = np.random.default_rng(2), build(Jax(1)), inputs_of(document)
    inputs = [draw.uniform(0.1, 0.9, shape) for shape in shapes]
    tangents = [draw.uniform(-1, 1, shape) for shape in shapes]
    model = skript.from_text(document, real="f64")
    results = skript.grad(model, names, forward=True)(*inputs, *tangents)
    theirs = jax.jit(lambda x, t: jax.jvp(run, x, t))(tuple(inputs), tuple(tangents))
    worst = difference([np.asarray(x) for x in results], [np.asarray(x) for x in theirs])
    # The seed is constant, so it has no tangent.
    seed = draw.uniform(0.5, 1.5, theirs[0].shape)
    wanted = [name + "_grad" for name in names]
    product = skript.grad(skript.grad(model, names), names, of=wanted, forward=True)(*inputs, seed, *tangents)
    backward = jax.jit(lambda x, t: jax.jvp(lambda *x: jax.vjp(run, *x)[1](seed), x, t))
    gradients, theirs = backward(tuple(inputs), tuple(tangents))
    ours = [np.asarray(x) for x in product]
    return worst, difference(ours, [np.asarray(x) for x in (*gradients, *theirs)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    wrong = []
    for name in [name for name in CASES if arguments.only in name]:
        begun = time.monotonic()
        first, second = compare(name)
        print("%s: tangents differ by %.1e, Hessian-vector products by %.1e, %.1f s" % (name, first, second, time.monotonic() - begun), flush=True)
        if not max(first, second) <= 1e-9:
            wrong.append(name)
    if wrong:
        sys.exit("tangents differ from jax's: " + ", ".join(wrong))


main()
