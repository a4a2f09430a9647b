# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: compares G in FOLDER/A/2 ... with loops."""
import sys

import numpy

folder, *runs = sys.argv[1:]
two = [[1, -2, 3], [4, 5, -6]]
many = [[7, 0, -1], [0, -3, 2], [-5, 4, 1], [2, 2, 2]]
xs = {n: numpy.float32((two + many)[:n]).reshape(n, 3) for n in (0, 1, 2, 6)}
zs = {n: numpy.float32(([[1, 1, 1], [0, 2, 1]] + many[::-1])[:n]).reshape(n, 3) for n in xs}
w = numpy.float32([1, 2, 3])
if not runs:
    numpy.save(folder + "/w.npy", w)
    for n in xs:
        numpy.save("%s/x%d.npy" % (folder, n), xs[n])
        numpy.save("%s/z%d.npy" % (folder, n), zs[n])
    sys.exit()


def mixed(x, z):
    return [1 + sum((x[i + j - 1] - z[i]) * w[j] for j in range(3) if 0 <= i + j - 1 < 3) for i in range(3)]


def last(x):
    return max([i for i in range(3) if x[i] >= 0 and w[i] != 2], default=-1)


for n in xs:
    expected = {
        "mixed": numpy.reshape([mixed(x, z) for x, z in zip(xs[n], zs[n])], [n, 3]),
        "lasts": numpy.array([last(x) for x in xs[n]], numpy.int64),
        "sums": numpy.cumsum(xs[n], axis=1),
    }
    if n == 2:  # checks the computation above
        numpy.testing.assert_array_equal(expected["mixed"], [[-8, 1, 2], [24, -15, -9]])
        numpy.testing.assert_array_equal(expected["lasts"], [2, 0])
        numpy.testing.assert_array_equal(expected["sums"], [[1, -1, 2], [4, 9, 3]])
    for run in runs:
        for name, value in expected.items():
            numpy.testing.assert_array_equal(numpy.load("%s/%s/%d/%s.npy" % (folder, run, n, name)), value)
