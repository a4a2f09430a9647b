#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares integer divisions by divisors that are known at run time only with those of Python.

    divisions.py --skript BINARY

Divisors are a scalar input and a dynamic extent. Dividends are random numbers, multiples of the divisor and their neighbours, and the
ends of the range. A quotient by 0 is 0.
"""

import argparse
import os
import sys
import tempfile

import numpy as np

import formulas

COUNT = 1000
TEXT = """
operator divide {
    @input { x: int[n]; d: int[]; }
    @output { quotient: int[n]; rest: int[n]; }
    @lower { quotient[i,] = x[i,] / d[], i < n; rest[i,] = x[i,] %% d[], i < n; }
}
operator flatten {
    @input { m: int[r,c]; }
    @output { row: int[r*c]; }
    @lower { row[i,] = m[i / c, i %% c], i < r*c; }
}
graph G {
    @input { x: int[%d]; d: int[]; m: int[r|900,c|900]; }
    @output { quotient: int[%d]; rest: int[%d]; row: int[r*c]; }
    @compose { quotient, rest = divide(x, d); row = flatten(m); }
}
""" % (COUNT, COUNT, COUNT)
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
DIVISORS = [0, 1, -1, 2, 3, 7, -7, 10, 97, 1000, 65536, 2**31 - 1, 2**31, 2**31 + 1, 2**40 + 3, MOST, LEAST, -(2**31)]


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


def numbers(divisor, random):
    """Random numbers, multiples and their neighbours, and the ends of the range."""
    step = divisor if 0 < abs(divisor) <= 2**31 else 1
    near = [wrapped(int(factor) * step + more) for factor in random.integers(-(2**31), 2**31, 150) for more in (-1, 0, 1)]
    ends = [MOST, MOST - 1, LEAST, LEAST + 1, 0, 1, -1]
    few = random.integers(-1000, 1000, 200).tolist()
    many = random.integers(LEAST, MOST, COUNT).tolist()
    return (ends + few + near + many)[:COUNT]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "main.sknd")
        with open(model, "w") as file:
            file.write(TEXT)
        random = np.random.default_rng(1)
        jobs, cases = [], []
        for number, divisor in enumerate(DIVISORS):
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            own = numbers(divisor, random)
            matrix = random.integers(-9, 9, [(1, 1), (3, 5), (40, 7), (2, 700), (900, 1)][number % 5])
            job = [model, "--message-format=short", "--output-dir", home]
            for name, array in (("x", np.array(own, np.int64)), ("d", np.array(divisor, np.int64)), ("m", matrix)):
                np.save(os.path.join(home, name + ".npy"), array)
                job += ["--input", "%s=%s" % (name, os.path.join(home, name + ".npy"))]
            jobs.append(job)
            expected = {"quotient": [wrapped(x // divisor) if divisor else 0 for x in own], "rest": [x % divisor if divisor else 0 for x in own],
                        "row": matrix.reshape(-1).tolist()}
            cases.append((divisor, home, own, expected))
        for (divisor, home, own, expected), (status, said) in zip(cases, formulas.run(args.skript, ["--no-cache"], jobs, folder)):
            for name, values in expected.items():
                result = None if status else np.load(os.path.join(home, name + ".npy")).tolist()
                if result != values:
                    failures += 1
                    first = next(((x, a, b) for x, a, b in zip(own, result or [], values) if a != b), None)
                    print("divisor %d: %s differs, first (number, result, expected): %s %s" % (divisor, name, first, said))
    print("%d divisors, %d results differ" % (len(DIVISORS), failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
