#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the bits of maxima and minima of windows and rows that contain NaN, zeros of both signs, infinities and subnormal numbers.

    extremes.py --skript BINARY [--count N] [--seed N]

Each model is compiled for this processor, and on x86-64 also for processors without AVX-512 and AVX2, which have other instructions
for maxima. The expected result is NaN if an operand is NaN; +0 is greater than -0 (docs/numerics.md).
"""

import argparse
import os
import platform
import sys
import tempfile

import numpy as np

import formulas

MODEL = """
operator extremes {
    @attrib { size: int; stride: int; }
    @input { x: real[m,n]; }
    @output { greatest: real[m,w]; least: real[m,w]; row: real[m]; }
    @using { w = (n - size) / stride + 1; }
    @lower {
        greatest[i,k] >= x[i,stride * k + j], i < m, k < w, j < size;
        least[i,k] <= x[i,stride * k + j], i < m, k < w, j < size;
        row[i,] >= x[i,j], i < m, j < n;
    }
}
graph G {
    @input { x: real[%d,%d]; }
    @output { greatest: real[%d,%d]; least: real[%d,%d]; row: real[%d]; }
    @compose { greatest, least, row = extremes{size=%d, stride=%d}(x); }
}
"""
TYPES = {"f32": (np.float32, np.int32), "f64": (np.float64, np.int64)}
SPECIAL = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-40, -1e-40, 1.0, -1.0]


def ordered(x, integer):
    """Maps the bits of numbers to integers in the same order, -0 before +0; the map is its own inverse."""
    bits = x.view(integer) if x.dtype != integer else x
    return bits ^ ((bits >> (8 * bits.itemsize - 1)) & np.iinfo(integer).max)


def extreme(x, integer, pick):
    """The extremes along the last axis."""
    chosen = ordered(pick(ordered(np.where(np.isnan(x), x.dtype.type(0), x), integer), axis=-1), integer).view(x.dtype)
    return np.where(np.isnan(x).any(axis=-1), x.dtype.type(np.nan), chosen)


def agree(found, wanted, integer):
    return found.shape == wanted.shape and ((np.isnan(found) & np.isnan(wanted)) | (found.view(integer) == wanted.view(integer))).all()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    processors = ["native"] + (["x86-64-v2", "x86-64-v3"] if platform.machine() == "x86_64" else [])
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs, cases = {processor: [] for processor in processors}, {processor: [] for processor in processors}
        for number in range(args.count):
            real = ("f32", "f64")[number % 2]
            number_type, integer = TYPES[real]
            m, n, size, stride = (int(random.integers(low, high)) for low, high in ((1, 9), (40, 200), (2, 12), (1, 4)))
            # Few special numbers or many.
            x = random.standard_normal((m, n)).astype(number_type)
            x = np.where(random.random((m, n)) < random.choice([0.01, 0.5, 1.0]), random.choice(SPECIAL, (m, n)).astype(number_type), x)
            windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=1)[:, ::stride]
            wanted = {"greatest": extreme(windows, integer, np.max), "least": extreme(windows, integer, np.min), "row": extreme(x, integer, np.max)}
            w = windows.shape[1]
            for processor in processors:
                home = os.path.join(folder, "%d-%s" % (number, processor))
                os.mkdir(home)
                with open(os.path.join(home, "main.sknd"), "w") as file:
                    file.write(MODEL % (m, n, m, w, m, w, m, size, stride))
                np.save(os.path.join(home, "x.npy"), x)
                jobs[processor].append([os.path.join(home, "main.sknd"), "--real=" + real, "--message-format=short",
                                        "--output-dir", home, "--input", "x=" + os.path.join(home, "x.npy")])
                name = "%d, %s, %s, %dx%d, window of %d by %d" % (number, processor, real, m, n, size, stride)
                cases[processor].append((name, home, wanted, integer))
        for processor in processors:
            answers = formulas.run(args.skript, ["--no-cache"], jobs[processor], folder, ["--cpu=" + processor])
            for (name, home, wanted, integer), (status, said) in zip(cases[processor], answers):
                wrong = [said] if status else [output for output, values in wanted.items()
                                               if not agree(np.load(os.path.join(home, output + ".npy")), values, integer)]
                if wrong:
                    print("extremes %s: %s" % (name, ", ".join(wrong)))
                    failures += 1
    count = args.count * len(processors)
    print("%d of %d models of maxima and minima agree" % (count - failures, count))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
