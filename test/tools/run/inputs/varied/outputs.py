# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER NAME…: compares the outputs of two consecutive calls with numpy.

The name `one` is that of a third call.
"""
import itertools
import sys

import numpy as np

SHAPES = [(0, 3), (1, 1), (3, 2), (6, 4), (2, 0), (7, 4), (3, 5)]
TIMES = [0, 1, 3]


def items(count, extent):
    return np.random.default_rng(count * 10 + extent).normal(size=(count, extent)).astype(np.float32)


def sums(xs, times, total):
    found = []
    for x in xs:
        u = x[x > 0] if total < 4 else x
        moved = 0.5 + (u - 0.5) * 0.5**times
        total = total + u.sum() + moved.sum()
        found.append(total)
    return found, total


def main():
    folder, *names = sys.argv[1:]
    if not names:
        for count, extent in SHAPES:
            np.save("%s/xs%d-%d.npy" % (folder, count, extent), items(count, extent))
        for times in TIMES:
            np.save("%s/t%d.npy" % (folder, times), times)
    for name, (count, extent), times in itertools.product(names, SHAPES[:5], TIMES):
        xs, at = items(count, extent), "%s/%s/%d-%d-%d/" % (folder, name, count, extent, times)
        _, first = sums(xs, times, 0.0)
        if name == "one":
            _, first = sums(xs, times, first)
        expected, last = sums(xs, times, first)
        found = np.load(at + "sums.npy")
        assert found.shape == (count,), (at, found.shape)
        np.testing.assert_allclose(found, np.array(expected, np.float32), rtol=1e-5, err_msg=at)
        np.testing.assert_allclose(np.load(at + "before.npy"), first, rtol=1e-5, err_msg=at)
        if name == "one":
            continue
        kept = np.fromfile(at + "state/main.Varied.kept.dat", np.float32)[-1]
        np.testing.assert_allclose(kept, last, rtol=1e-5, err_msg=at)


main()
