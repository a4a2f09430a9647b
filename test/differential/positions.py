#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with numpy on random reads at quotients and remainders of indices.

    positions.py --skript BINARY [--count N] [--seed S]

Each row of the output reads a row of the input at `(factor * j + offset) / divisor`, like resized images, or at a remainder of this
quotient. Rows are shorter and longer than vectors, element types have 8 to 64 bits, and the expression may read a second input.
"""

import argparse
import os
import random
import sys
import tempfile

import numpy as np

import formulas

TYPES = [("real", "f32", np.float32), ("real", "f16", np.float16), ("real", "f64", np.float64), ("int", "i64", np.int64),
         ("int", "i32", np.int32), ("int", "i16", np.int16), ("int", "i8", np.int8), ("real", "bf16", np.float32)]
# Expressions in the language and in numpy, of the read element and of the elements of the second input.
PAYLOADS = [("{x}", lambda x, z: x), ("{x} + z[k,i,j]", lambda x, z: x + z), ("z[k,i,j] * {x} + {x}", lambda x, z: z * x + x),
            ("{x} - z[k,i,0]", lambda x, z: x - z[:, :, :1])]


class Case:
    def __init__(self, seed):
        draw = random.Random(seed)
        kind, self.storage, self.dtype = draw.choice(TYPES)
        channels, rows = draw.choice([1, 2, 3]), draw.choice([1, 3, 6])
        length = draw.choice([1, 4, 5, 7, 8, 13, 16, 17, 31, 33, 48, 61, 97, 112, 130, 200, 515, 2100])
        factor, offset = draw.choice([1, 1, 2, 3, 5, 41, 82]), draw.choice([0, 0, 1, 3, 17])
        divisor, high = draw.choice([1, 2, 3, 4, 5, 7, 16, 97, 194]), draw.choice([1, 2, 3])
        modulus = draw.choice([None, None, 2, 3, 8, 16, 20])
        payload, compute = draw.choice(PAYLOADS)
        places = (factor * np.arange(length) + offset) // divisor
        places = places % modulus if modulus else places
        width = int(places.max()) + 1 + draw.choice([0, 0, 1, 5, 40])
        lines = np.arange(rows) // high
        place = "(%d * j + %d) / %d" % (factor, offset, divisor)
        place = "(%s) %% %d" % (place, modulus) if modulus else place
        numbers = np.random.default_rng(seed)
        shape, other = (channels, int(lines.max()) + 1, width), (channels, rows, length)
        # Small numbers: sums and products are exact in all types.
        self.inputs = {"x": numbers.integers(-7, 8, shape).astype(self.dtype), "z": numbers.integers(-4, 5, other).astype(self.dtype)}
        self.expected = compute(self.inputs["x"][:, lines][:, :, places], self.inputs["z"])
        axes = lambda extents: ",".join(map(str, extents))
        self.text = """
operator resized {
    @input { x: %s[c,h,w]; z: %s[c,r,n]; }
    @output { y: %s[c,r,n]; }
    @lower { y[k,i,j] = %s, k < c, i < r, j < n; }
}
graph G {
    @input { x: %s[%s]; z: %s[%s]; }
    @output { y: %s[%s]; }
    @compose { y = resized(x, z); }
}
""" % (kind, kind, kind, payload.format(x="x[k,i / %d,%s]" % (high, place)), kind, axes(shape), kind, axes(other), kind, axes(other))
        self.flags = ["--%s=%s" % (kind, self.storage)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        cases, jobs = [], []
        for number in range(args.count):
            case = Case(args.seed * 1_000_003 + number)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            path = os.path.join(home, "main.sknd")
            with open(path, "w") as file:
                file.write(case.text)
            job = [path, "--message-format=short", "--output-dir", home, *case.flags]
            for name, array in case.inputs.items():
                np.save(os.path.join(home, name + ".npy"), array)
                job += ["--input", "%s=%s" % (name, os.path.join(home, name + ".npy"))]
            cases.append(case)
            jobs.append(job)
        for number, (status, said) in enumerate(formulas.run(args.skript, ["--no-cache"], jobs, folder)):
            result = None if status else np.load(os.path.join(folder, str(number), "y.npy"))
            if result is None or not np.array_equal(result, cases[number].expected):
                failures += 1
                print("case %d, %s:\n%s%s%s" % (number, cases[number].storage, cases[number].text, said, "" if status else result))
    print("%d random reads at computed positions, %d differ from numpy" % (args.count, failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
