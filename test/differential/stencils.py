#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares stencils whose subscripts are clamped or periodic at the ends of rows with numpy.

    stencils.py --skript BINARY [--count N] [--seed N]

Rows have up to 300 elements, stencils two to five neighbours with offsets along both dimensions. Elements are small integers, so sums
are exact.
"""

import argparse
import os
import sys
import tempfile

import numpy as np

import formulas

MODEL = """
operator stencil {
    @input { x: real[m,n]; }
    @output { y: real[m,n]; }
    @lower { y[i,j] = %s, i < m, j < n; }
}
graph G {
    @input { x: real[%d,%d]; }
    @output { y: real[%d,%d]; }
    @compose { y = stencil(x); }
}
"""


def subscript(index, extent, offset, mode):
    moved = "%s %s %d" % (index, "-" if offset < 0 else "+", abs(offset))
    return "|%s <> 0 : %s - 1|" % (moved, extent) if mode == "clip" else "(%s + %s) %% %s" % (moved, extent, extent)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs, cases = [], []
        for number in range(args.count):
            m, n = int(random.integers(6, 20)), int(random.integers(6, 300))
            x = random.integers(-99, 99, (m, n)).astype(np.float32)
            terms, wanted = [], np.zeros_like(x)
            for term in range(int(random.integers(2, 6))):
                rows, columns = int(random.integers(-2, 3)), int(random.integers(-5, 6))
                modes = [str(random.choice(["clip", "wrap"])) for _ in range(2)]
                taken = np.take(x, np.arange(m) + rows, axis=0, mode=modes[0])
                taken = np.take(taken, np.arange(n) + columns, axis=1, mode=modes[1])
                text = "x[%s, %s]" % (subscript("i", "m", rows, modes[0]), subscript("j", "n", columns, modes[1]))
                if random.random() < 0.3:
                    # A condition on a column that is near an end or not.
                    column = int(random.integers(0, n))
                    text = "(j > %d ? %s : 0.0)" % (column, text)
                    taken = np.where(np.arange(n) > column, taken, np.float32(0))
                terms.append("%d.0 * %s" % (term + 1, text))
                wanted += (term + 1) * taken
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            text = " + ".join(terms)
            with open(os.path.join(home, "main.sknd"), "w") as file:
                file.write(MODEL % (text, m, n, m, n))
            np.save(os.path.join(home, "x.npy"), x)
            jobs.append([os.path.join(home, "main.sknd"), "--message-format=short", "--output-dir", home, "--input", "x=" + os.path.join(home, "x.npy")])
            cases.append((text, home, wanted))
        for (text, home, wanted), (status, said) in zip(cases, formulas.run(args.skript, ["--no-cache"], jobs, folder)):
            if status or not np.array_equal(np.load(os.path.join(home, "y.npy")), wanted):
                print("stencil %s of %s: %s" % (text, wanted.shape, said or "differs"))
                failures += 1
    print("%d of %d stencils agree" % (args.count - failures, args.count))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
