#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""points.py OUT.npy writes eight points of the plane; points.py POINTS.npy INSIDE.npy prints the perceptron's answers."""
import sys

import numpy as np

if len(sys.argv) == 2:
    angles = np.arange(8) * np.pi / 4
    radii = np.where(np.arange(8) % 2 == 0, 0.6, 1.4)
    np.save(sys.argv[1], np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1).astype(np.float32))
else:
    for (x, y), inside in zip(np.load(sys.argv[1]), np.load(sys.argv[2])[:, 0]):
        print("  (%6.2f, %6.2f)  %s the unit circle" % (x, y, "inside " if inside else "outside"))
