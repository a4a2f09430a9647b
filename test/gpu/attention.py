#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs attentions, whose rows are computed in blocks of columns, on Vulkan, and compares them with numpy in f64.

    attention.py --skript BINARY

Rows have 1,500 and 4,099 scores, a static or dynamic number, with masks. In some rows, all scores are -inf, or all those of the first
blocks, or some are NaN or infinity. Their results are NaN if those of separate operations are, otherwise the weights of the other scores.
The scheduled code has one kernel. Exit status 1 if a result differs.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

MODEL = """
import linalg;
import math;
import nn;

graph Long {
    @input { q: real[2, %(n)s, 16]; k: real[2, %(m)s, 16]; v: real[2, %(m)s, %(c)d]; mask: real[%(n)s, %(m)s]; }
    @output { y: real[2, %(n)s, %(c)d]; }
    @compose {
        s = linalg.matmul{transB=true}(q, k);
        scaled = math.mul(s, 0.22);
        masked = math.add(scaled, mask);
        a = nn.softmax{axes=[2]}(masked);
        y = linalg.matmul(a, v);
    }
}
"""
# Rows, columns, columns of the result, whether extents are dynamic, the precision of matrix units, the type of arrays, the relative error.
CASES = [
    (256, 1500, 11, False, "f32", "f32", 2e-6),
    (70, 4099, 16, False, "f32", "f32", 2e-6),
    (70, 1500, 16, True, "f32", "f32", 2e-6),
    (67, 4099, 11, True, "f32", "f32", 2e-6),
    (64, 1500, 16, True, "f32", "f16", 2e-3),
    (64, 1500, 16, False, "f32", "bf16", 1.6e-2),
    (64, 2048, 16, False, "f32", "f64", 1e-12),
    (64, 1500, 16, False, "tf32", "f32", 2e-3),
    (70, 3, 16, True, "f32", "f32", 2e-6),
    (70, 0, 16, True, "f32", "f32", 0),
]


def expected(q, k, v, mask):
    """The result in f64."""
    q, k, v, mask = (array.astype(np.float64) for array in (q, k, v, mask))
    scores = np.einsum("hik,hjk->hij", q, k) * 0.22 + mask
    with np.errstate(invalid="ignore"):
        largest = scores.max(axis=2, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - largest)
        weights /= weights.sum(axis=2, keepdims=True)
    return np.einsum("hij,hjc->hic", weights, v)


def stored(array, real):
    """An array in f64 or f32, rounded to a storage type."""
    if real == "f64":
        return array
    array = array.astype(np.float32)
    if real == "f16":
        return array.astype(np.float16).astype(np.float32)
    if real == "bf16":
        bits = array.view(np.uint32).astype(np.uint64)
        bits = np.where(np.isnan(array), bits, (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000)
        return bits.astype(np.uint32).view(np.float32)
    return array


def inputs(n, m, c, random):
    arrays = {"q": (2, n, 16), "k": (2, m, 16), "v": (2, m, c), "mask": (n, m)}
    arrays = {name: random.standard_normal(shape) for name, shape in arrays.items()}
    mask = arrays["mask"]
    if m > 1000:
        mask[3] = -np.inf
        mask[4, : m - 5] = -np.inf
        mask[5, 5:] = -np.inf
        mask[6, m // 2] = np.nan
        mask[7, m // 2] = np.inf
        mask[8, ::7] = -np.inf
        mask[9] *= 100
        # The largest scores follow the others.
        mask[10] = np.linspace(-80, 80, m)
        mask[11] = np.linspace(80, -80, m)
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    skript = os.path.abspath(parser.parse_args().skript)
    random = np.random.default_rng(30)
    wrong = 0
    for n, m, c, is_dynamic, precision, real, error in CASES:
        name = "%d rows of %d scores, %s, units %s, real %s" % (n, m, "dynamic" if is_dynamic else "static", precision, real)
        arrays = {key: stored(array, real) for key, array in inputs(n, m, c, random).items()}
        extents = {"n": "n|100", "m": "m|5000"} if is_dynamic else {"n": n, "m": m}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "main.sknd")
            text = MODEL % {"c": c, **extents}
            with open(path, "w") as file:
                # The first use of an extent's name declares its bound.
                file.write(text.replace("v: real[2, m|5000", "v: real[2, m").replace("mask: real[n|100, m|5000]", "mask: real[n, m]").replace("y: real[2, n|100", "y: real[2, n"))
            target = ["--real=" + real]
            if precision != "f32":
                target += ["--gpu-arch=vulkan-matrices", "--gpu-precision=" + precision]
            scheduled = subprocess.run([skript, "compile", path, "--target=vulkan", "--emit=scheduled", *target], capture_output=True, text=True)
            kernels = scheduled.stdout.count("gpu.launch_func")
            if kernels != 1:
                print("%s: %d kernels %s" % (name, kernels, scheduled.stderr[:300]))
                wrong += 1
            command = [skript, "run", path, "--device=vulkan", "--output-dir", folder, *target]
            for key, array in arrays.items():
                file = os.path.join(folder, key + ".npy")
                np.save(file, array)
                command += ["--input", "%s=%s" % (key, file)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                print(name, done.stderr[:500])
                wrong += 1
                continue
            found = np.load(os.path.join(folder, "y.npy")).astype(np.float64)
            value = expected(**arrays)
            both = np.isnan(found) & np.isnan(value)
            difference = np.where(both, 0, np.abs(found - value) / np.maximum(1, np.abs(value)))
            # Large scores are rounded before the exponential function.
            limit = np.full(n, error)
            limit[9:12] *= 30
            limit = limit[None, :, None]
            if not np.all(difference <= limit):
                rows = np.unique(np.argwhere(~(difference <= limit))[:, 1])
                print("%s: rows %s differ, at most by %g" % (name, rows[:10], np.nanmax(difference)))
                wrong += 1
    print("attentions with long rows: %d differ" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
