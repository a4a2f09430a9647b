# SPDX-License-Identifier: Apache-2.0
"""Writes inputs of functions.sknd into a folder, or compares its outputs with f64 to a number of units in the last place."""
import math
import sys

import numpy as np
from scipy import special as functions

command, folder = sys.argv[1:3]
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 88.72284, 88.72283, 89, -87.33655, -103.97, -104, -150, 1, -1, 0.625, 20], "f")
if command == "write":
    random = np.random.default_rng(7)
    x = random.uniform(-110, 95, 400012).astype("f").reshape(4, -1)
    x[1] = random.uniform(-2, 2, x.shape[1])
    x[2] = random.normal(0, 5, x.shape[1])
    x[3] = np.exp2(random.uniform(-126, 6, x.shape[1])) * random.choice([-1, 1], x.shape[1])
    x[:, : len(SPECIAL)] = SPECIAL
    positive = np.exp2(random.uniform(-149, 127.9, 200003)).astype("f")
    positive[:100000] = random.uniform(0.5, 2, 100000)
    positive[: len(SPECIAL)] = SPECIAL
    np.save(folder + "/x.npy", x)
    np.save(folder + "/positive.npy", positive)
    sys.exit()
x, positive = (np.load(folder + "/%s.npy" % name).astype("d") for name in ("x", "positive"))
with np.errstate(all="ignore"):
    exact = {"exponential": np.exp(x), "hyperbolic": np.tanh(x), "logarithm": np.log(positive), "logistic": 1 / (1 + np.exp(-x)), "integral": functions.erf(x)}
    for name, most in [("exponential", 1.01), ("hyperbolic", 1.4), ("logarithm", 0.9), ("logistic", 2.6), ("integral", 1.3)]:
        found, wanted = np.load("%s/%s.npy" % (folder, name)), exact[name]
        assert found.dtype == "f", found.dtype
        rounded = wanted.astype("f")
        special = ~np.isfinite(rounded) | (rounded == 0)
        # 1 / (1 + exp(-x)): the exponential is infinite for x below -88.7.
        beyond = x < -87 if name == "logistic" else np.zeros(rounded.shape, bool)
        same = (found == rounded) & (np.signbit(found) == np.signbit(rounded)) | np.isnan(found) & np.isnan(rounded)
        assert same[special & ~beyond].all(), (name, found[special & ~same][:5], rounded[special & ~same][:5])
        error = np.abs(found.astype("d") - wanted)[~special & ~beyond] / np.spacing(np.abs(rounded[~special & ~beyond]))
        print(name, "ulp", error.max() <= most, "" if error.max() <= most else error.max())
