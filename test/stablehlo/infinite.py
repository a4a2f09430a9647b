#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sums of products whose factors include infinities, NaN and zeros in XLA, and compares them with the evaluator.

    infinite.py --skript BINARY [--case SUBSTRING]...

Elements that a formula skips have no product; zero times infinity is NaN. Each model is exported once and run with non-finite
numbers in either factor at several positions. The padding of inputs is NaN.
"""
import sys

import padded

TRIANGLE = "operator o { @input { a: real[n,k]; b: real[k,m]; } @output { y: real[n,m]; } " \
           "@lower { y[i,j] = 0.0, i < n, j < m; y[i,j] += a[i,l] * b[l,j], i < n, j < m, l < k | %s; } }\n"
OUTER = "operator o { @input { a: real[n]; b: real[n,m]; } @output { y: real[n]; } " \
        "@lower { y[i] = 0.0, i < n; y[i] += a[i] * b[i,j] * b[l,j], i < n, j < m, l < n | l > i; } }\n"

# By name: inputs, outputs, their formulas, the shapes of the inputs of each run, and operators that the model defines.
MODELS = {
    "border": ("x: real[2,2,7]; w: real[3,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1}(x, w)", [[(2, 2, 7), (3, 2, 3)]] * 6, ""),
    "plane": ("x: real[1,2,5,4]; w: real[2,2,3,2]", "y: real[~,~,~,~]", "y = nn.conv{padding=1, stride=2}(x, w)",
              [[(1, 2, 5, 4), (2, 2, 3, 2)]] * 6, ""),
    "groups": ("x: real[1,4,6]; w: real[4,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, dilation=2, groups=2}(x, w)",
               [[(1, 4, 6), (4, 2, 3)]] * 6, ""),
    "depthwise": ("x: real[1,3,6]; w: real[3,1,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, groups=0}(x, w)", [[(1, 3, 6), (3, 1, 3)]] * 6, ""),
    "transposed": ("x: real[1,2,5]; w: real[2,3,3]", "y: real[~,~,~]", "y = nn.deconv{padding=1, stride=2}(x, w)", [[(1, 2, 5), (2, 3, 3)]] * 6, ""),
    "open": ("x: real[b|2,2,n|7]; w: real[3,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1}(x, w)",
             [[(b, 2, n), (3, 2, 3)] for b, n in ((1, 7), (2, 4))] * 6, ""),
    "open_kernel": ("x: real[1,2,7]; w: real[3,2,k|4]", "y: real[~,~,~]", "y = nn.conv{padding=1}(x, w)",
                    [[(1, 2, 7), (3, 2, k)] for k in (1, 3, 4)] * 6, ""),
    "lower": ("a: real[4,4]; b: real[4,3]", "y: real[~,~]", "y = o(a, b)", [[(4, 4), (4, 3)]] * 6, TRIANGLE % "l <= i"),
    "upper": ("a: real[3,4]; b: real[4,4]", "y: real[~,~]", "y = o(a, b)", [[(3, 4), (4, 4)]] * 6, TRIANGLE % "l >= j"),
    "both": ("a: real[4,4]; b: real[4,4]", "y: real[~,~]", "y = o(a, b)", [[(4, 4), (4, 4)]] * 6, TRIANGLE % "l >= j && l <= i"),
    "three": ("a: real[3]; b: real[3,2]", "y: real[~]", "y = o(a, b)", [[(3,), (3, 2)]] * 6, OUTER),
}
WILD = (float("inf"), float("-inf"), float("nan"), 0.0, -0.0)


def array(random, declaration, shape):
    """Finite numbers; every second array also has some that are not finite."""
    import numpy
    values = random.standard_normal(shape).astype(numpy.float32)
    if random.random() < 0.7:
        for value in random.choice(WILD, 3):
            values[tuple(random.integers(0, extent) for extent in shape)] = value
    return values


if __name__ == "__main__":
    sys.exit(padded.run(__doc__, "infinite factors", MODELS, array))
