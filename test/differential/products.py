#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares sums of bf16 products with numpy in f64. bf16 instructions would replace small numbers by zeros.

    products.py --skript BINARY [--count N] [--seed N]

The products are those of matrices and padded windows with random extents. Their numbers are ordinary or subnormal, cancel to subnormal
sums, are zero, or include infinity and NaN. The tolerance is the rounding of the f32 sum and of the result.
"""

import argparse
import os
import sys
import tempfile

import numpy as np

import formulas

PRODUCT = """
import linalg;
graph G {
    @input { a: real[%d,%d]; b: real[%d,%d]; }
    @output { y: real[%d,%d]; }
    @compose { y = linalg.matmul(a, b); }
}
"""
WINDOW = """
import nn;
graph G {
    @input { a: real[1,%d,%d,%d]; b: real[%d,%d,3,3]; }
    @output { y: real[1,%d,%d,%d]; }
    @compose { y = nn.conv{padding=[1,1,1,1]}(a, b); }
}
"""
KINDS = ("ordinary", "subnormal", "cancelling", "tiny sums", "zeros", "infinite")


def bf16(x):
    """The nearest bf16, ties to even, as f32; finite numbers and infinities."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def factors(kind, shapes, random):
    a, b = (random.standard_normal(shape) for shape in shapes)
    if kind == "subnormal":
        a, b = a * 1e-39, b * 1e3
    elif kind == "cancelling":
        # Each row contains its numbers with both signs, except for small differences.
        a, b = np.where(random.random(a.shape) < 0.5, 1, -1) * 2.0**-63, np.where(random.random(b.shape) < 0.02, 1 + 2.0**-6, 1) * 2.0**-62
    elif kind == "tiny sums":
        a, b = a * 2.0**-60, b * 2.0**-72
    elif kind == "zeros":
        a = np.where(random.random(a.shape) < 0.9, 0.0, a)
        b = b * 0.0
    elif kind == "infinite":
        a.flat[random.integers(a.size)] = np.inf
        b.flat[random.integers(b.size)] = np.nan
    return bf16(a), bf16(b)


def product(a, b):
    return a @ b, np.abs(a) @ np.abs(b), a.shape[1]


def window(a, b):
    """The sums of the windows, the sums of magnitudes, and the number of products."""
    (_, channels, height, width), filters = a.shape, b.shape[0]
    sums, sizes = np.zeros((1, filters, height, width)), np.zeros((1, filters, height, width))
    for y in range(3):
        for x in range(3):
            rows = slice(max(0, 1 - y), min(height, height + 1 - y)), slice(max(0, 1 - x), min(width, width + 1 - x))
            moved = slice(rows[0].start + y - 1, rows[0].stop + y - 1), slice(rows[1].start + x - 1, rows[1].stop + x - 1)
            part = a[:, :, moved[0], moved[1]]
            sums[:, :, rows[0], rows[1]] += np.einsum("fc,nchw->nfhw", b[:, :, y, x], part)
            sizes[:, :, rows[0], rows[1]] += np.einsum("fc,nchw->nfhw", np.abs(b[:, :, y, x]), np.abs(part))
    return sums, sizes, 9 * channels


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs, cases = [], []
        for number in range(args.count):
            kind = KINDS[number % len(KINDS)]
            m, k, n = (int(random.integers(low, 90)) for low in (17, 3, 17))
            is_window = number // len(KINDS) % 2 == 1
            if is_window:
                h, w = int(random.integers(5, 20)), int(random.integers(5, 20))
                text, shapes = WINDOW % (k, h, w, n, k, n, h, w), [(1, k, h, w), (n, k, 3, 3)]
            else:
                text, shapes = PRODUCT % (m, k, k, n, m, n), [(m, k), (k, n)]
            a, b = factors(kind, shapes, random)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            model = os.path.join(home, "main.sknd")
            with open(model, "w") as file:
                file.write(text)
            job = [model, "--real=bf16", "--message-format=short", "--output-dir", home]
            for name, array in (("a", a), ("b", b)):
                np.save(os.path.join(home, name + ".npy"), array)
                job += ["--input", "%s=%s" % (name, os.path.join(home, name + ".npy"))]
            jobs.append(job)
            cases.append((number, kind, shapes, home, (window if is_window else product)(a.astype(np.float64), b.astype(np.float64))))
        for (number, kind, shapes, home, (sums, sizes, count)), (status, said) in zip(cases, formulas.run(args.skript, ["--no-cache"], jobs, folder)):
            if status:
                print("products %d, %s %s: %s" % (number, kind, shapes, said))
                failures += 1
                continue
            actual = np.load(os.path.join(home, "y.npy")).astype(np.float64)
            with np.errstate(invalid="ignore", over="ignore"):
                # The rounding of an f32 sum, of values below the smallest f32, and to bf16.
                most = (count + 1) * (sizes * 2.0**-24 + 2.0**-149)
                most += np.maximum((np.abs(sums) + most) * 2.0**-8, 2.0**-134)
                equal = np.where(np.isfinite(sums), np.abs(actual - sums) <= most, (actual == sums) | (np.isnan(actual) & np.isnan(sums)))
            if not equal.all():
                at = tuple(np.argwhere(~equal)[0])
                print("products %d, %s %s: %d of %d differ, first at %s: %r instead of %r" % (number, kind, shapes, (~equal).sum(), equal.size, at, actual[at], sums[at]))
                failures += 1
    print("%d of %d sums of products of bf16 agree" % (args.count - failures, args.count))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
