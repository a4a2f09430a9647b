# SPDX-License-Identifier: Apache-2.0
"""Writes random weights of the classifier: weights.py FOLDER writes FOLDER/main.npz."""
import pathlib
import sys

import numpy

random = numpy.random.default_rng(1)
arrays = {}
for name, (units, inputs) in {"first": (4096, 1024), "second": (1024, 4096), "third": (16, 1024)}.items():
    arrays[f"main.Classifier.{name}.weight"] = (random.standard_normal((units, inputs)) / inputs**0.5).astype("f")
    arrays[f"main.Classifier.{name}.bias"] = random.standard_normal(units).astype("f")
numpy.savez(pathlib.Path(sys.argv[1]) / "main.npz", **arrays)
