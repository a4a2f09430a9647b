# SPDX-License-Identifier: Apache-2.0
"""Writes inputs for attributes.sknd to the first folder; compares the results in the others with numpy and with each other."""
import os
import sys

import numpy as np

folder, *engines = sys.argv[1:]
draw = np.random.default_rng(7)
TOP = {n: draw.permutation(3 * n).reshape(n, 3).astype(np.float32) for n in (2, 5, 6)}
IMAGES = {n: draw.standard_normal((1, 1, n, 4)).astype(np.float32) for n in (2, 3, 5)}
# The boxes do not overlap, so all are selected, the best first.
BOXES = {n: np.float32([[[3 * i, 0, 3 * i + 1, 1] for i in range(n)]]) for n in (1, 4, 6)}
SCORES = {n: draw.permutation(2 * n).reshape(1, 2, n).astype(np.float32) for n in BOXES}
if not engines:
    for name, tensors in (("top", TOP), ("image", IMAGES), ("boxes", BOXES), ("scores", SCORES)):
        for n, tensor in tensors.items():
            np.save(os.path.join(folder, "%s%d.npy" % (name, n)), tensor)
for engine in engines:
    at = lambda name, n, output: np.load(os.path.join(folder, engine, name + str(n), output + ".npy"))  # noqa: E731
    for n, x in TOP.items():
        order = np.argsort(-x, axis=0)[:n - 1]
        np.testing.assert_array_equal(at("top", n, "i"), order)
        np.testing.assert_array_equal(at("top", n, "v"), np.take_along_axis(x, order, axis=0))
    for n, x in IMAGES.items():
        np.testing.assert_allclose(at("same", n, "y"), x, atol=1e-6)
        np.testing.assert_array_equal(at("twice", n, "y"), np.load(os.path.join(folder, "fixed", str(n), "y.npy")))
    for n, scores in SCORES.items():
        rows = [[0, c, i] for c in range(2) for i in np.argsort(-scores[0, c])]
        for name in ("Boxes", "Unlimited"):
            np.testing.assert_array_equal(at(name, n, "y"), rows)
