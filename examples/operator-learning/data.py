#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data.py make FILE.npz: writes signals, and their responses to filters with the parameters below, computed by numpy.
data.py check FOLDER: compares the parameters that were learned with them."""
import os
import sys

import numpy as np

WIDTH, PITCH, SIZE = [0.55, 0.7, 0.9], [0.6, 0.8, 0.95], 17


def make(path):
    draw = np.random.default_rng(1)
    signal = draw.standard_normal((256, 96))
    u = np.linspace(-1, 1, SIZE)
    target = np.empty((256, 3, 96 - SIZE + 1))
    for k, (width, pitch) in enumerate(zip(WIDTH, PITCH)):
        taps = np.exp(-u * u / (2 * width ** 2)) * np.cos(2 * np.pi * pitch * u)
        target[:, k] = [np.correlate(row, taps, "valid") for row in signal]
    np.savez(path, signal=signal.astype(np.float32), target=target.astype(np.float32))


def array(path, name):
    """An array of a .safetensors file."""
    import json
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(file.read()[begin:end], np.float32)


def check(folder):
    path = os.path.join(folder, "main.safetensors")
    for name, want in [("width", WIDTH), ("pitch", PITCH)]:
        found = array(path, "main.Learning." + name)
        print(name, found)
        np.testing.assert_allclose(found, want, atol=1e-3)


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
