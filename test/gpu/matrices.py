#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs products for matrix units on Vulkan, where threads simulate the units, and compares them with numpy.

    matrices.py --skript BINARY

The kernels are those of tensor cores, except for the instruction: each thread stores the elements of its registers in the layout that the
PTX ISA defines for `mma.sync`. numpy rounds inputs to the precision of a unit. Extents are multiples of tiles and other numbers, static and
dynamic. Exit status 1 if a result differs.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

MODEL = """
operator product {
    @input { a: real[m, k]; b: real[k, n]; }
    @output { c: real[m, n]; }
    @lower { c[i, j] += a[i, l] * b[l, j], i < m, j < n, l < k; }
}

operator scores {
    @input { q: real[h, m, k]; p: real[h, n, k]; }
    @output { s: real[h, m, n]; }
    @lower { s[g, i, j] += q[g, i, l] * p[g, j, l], g < h, i < m, j < n, l < k; }
}

operator directions {
    @input { d: real[m, k]; e: real[n, k]; }
    @output { t: real[m, n]; }
    @lower { t[i, j] += d[i, l] * e[j, l], i < m, j < n, l < k; }
}

operator window {
    @input { x: real[c, h, w]; f: real[n, c, p, q]; }
    @output { y: real[n, h, w]; }
    @lower {
        y[k, i, j] += x[l, |i + u - p / 2|, |j + v - q / 2|] * f[k, l, u, v],
            k < n, i < h, j < w, l < c, u < p, v < q;
    }
}

graph Matrices {
    @input { a: real[%s]; b: real[%s]; q: real[3, 35, 33]; p: real[3, 34, 33]; x: real[5, 17, 19]; f: real[18, 5, 3, 3]; d: real[40, 96]; e: real[50, 96]; }
    @output { c: real[%s]; s: real[3, 35, 34]; y: real[18, 17, 19]; t: real[40, 50]; }
    @compose { c = product(a, b); s = scores(q, p); y = window(x, f); t = directions(d, e); }
}
"""
# Extents of the product, and whether they are dynamic.
SHAPES = [((64, 64, 48), False), ((37, 50, 41), False), ((37, 50, 41), True), ((5, 7, 9), True)]


def rounded(array, precision):
    """The array in the precision of a unit, as f32."""
    if precision == "f16":
        return array.astype(np.float16).astype(np.float32)
    bits = array.view(np.uint32).astype(np.uint64)
    if precision == "tf32":
        bits = (bits + 0x1000) & 0xFFFFE000
    else:
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def expected(inputs):
    """Results in f64."""
    a, b, q, p, x, f = (inputs[name].astype(np.float64) for name in "abqpxf")
    d, e = (inputs[name].astype(np.float64) for name in "de")
    height, width = x.shape[1:]
    rows = [[abs(i + u - 1) if i + u - 1 < height else 2 * height - 2 - (i + u - 1) for i in range(height)] for u in range(3)]
    columns = [[abs(j + v - 1) if j + v - 1 < width else 2 * width - 2 - (j + v - 1) for j in range(width)] for v in range(3)]
    y = np.zeros((f.shape[0], height, width))
    for u in range(3):
        for v in range(3):
            inside = np.zeros((height, width))
            for i in range(height):
                for j in range(width):
                    inside[i, j] = 0 <= i + u - 1 < height and 0 <= j + v - 1 < width
            y += np.einsum("chw,nc->nhw", x[:, rows[u]][:, :, columns[v]] * inside, f[:, :, u, v])
    return {"t": d @ e.T, "c": a @ b, "s": np.einsum("gik,gjk->gij", q, p), "y": y}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    skript = os.path.abspath(parser.parse_args().skript)
    random = np.random.default_rng(30)
    wrong = 0
    for (m, k, n), is_dynamic in SHAPES:
        sizes = {"a": (m, k), "b": (k, n), "q": (3, 35, 33), "p": (3, 34, 33), "x": (5, 17, 19), "f": (18, 5, 3, 3), "d": (40, 96), "e": (50, 96)}
        inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
        shapes = ("m|64, k|64", "k|64, n|64", "m, n") if is_dynamic else ("%d, %d" % (m, k), "%d, %d" % (k, n), "%d, %d" % (m, n))
        for precision in ("tf32", "f16", "bf16"):
            for real in ("f32",) + ((precision,) if precision != "tf32" else ()):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "main.sknd")
                    with open(path, "w") as file:
                        file.write(MODEL % shapes)
                    command = [skript, "run", path, "--device=vulkan", "--gpu-arch=vulkan-matrices", "--gpu-precision=" + precision,
                               "--real=" + real, "--output-dir", folder]
                    for name, array in inputs.items():
                        np.save(os.path.join(folder, name + ".npy"), rounded(array, real) if real != "f32" else array)
                        command += ["--input", "%s=%s" % (name, os.path.join(folder, name + ".npy"))]
                    done = subprocess.run(command, capture_output=True, text=True)
                    if done.returncode:
                        print(precision, real, shapes[0], done.stderr[:500])
                        wrong += 1
                        continue
                    # 16-bit results are rounded once more.
                    error = {"f32": 8e-6, "f16": 1.1e-3, "bf16": 8.5e-3}[real]
                    for name, value in expected({name: rounded(array, precision) for name, array in inputs.items()}).items():
                        found = np.load(os.path.join(folder, name + ".npy")).astype(np.float64)
                        difference = np.max(np.abs(found - value) / np.maximum(1, np.abs(value)), initial=0)
                        if not difference <= error:
                            print("%s of real %s in %s, %s: differs by %g" % (name, real, precision, shapes[0], difference))
                            wrong += 1
    print("products by simulated units for matrices: %d differ" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
