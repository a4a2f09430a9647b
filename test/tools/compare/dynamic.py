# SPDX-License-Identifier: Apache-2.0
"""Compares the code for dynamic extents with the evaluator, for inputs of several shapes.

usage: dynamic.py MODEL FOLDER OPTIONS SHAPES...

SHAPES are those of one comparison, `x=2,3 y=4`. Arrays of real numbers are written into FOLDER, because with `--input-shape`
the code would be compiled for these shapes.
"""
import pathlib
import subprocess
import sys

import numpy

model, folder, options, *all_shapes = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
random = numpy.random.default_rng(1)
for shapes in all_shapes:
    inputs = []
    for name, shape in (one.split("=") for one in shapes.split()):
        file = folder / f"{name}.npy"
        numpy.save(file, random.standard_normal([int(n) for n in shape.split(",")], dtype=numpy.float32))
        inputs.append(f"--input={name}={file}")
    done = subprocess.run(["skript", "compare", model, *options.split(), *inputs])
    if done.returncode:
        sys.exit(f"with {shapes}")
