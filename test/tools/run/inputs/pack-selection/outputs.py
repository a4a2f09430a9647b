# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: compares G and Run in FOLDER/A/3 ... with loops."""
import sys

import numpy

folder, *runs = sys.argv[1:]
xs = numpy.float32([[1, -2, 3, 0], [0.25, 2, 0.5, 4]])
froms, tos = numpy.array([1, -5, 7, 0]), numpy.array([0, 1, 2, -1])
if not runs:
    for n in (0, 1, 3, 4):
        for j in range(2):
            numpy.save("%s/x%d-%d.npy" % (folder, n, j), xs[j, :n])
        numpy.save("%s/from%d.npy" % (folder, n), froms[:n])
        numpy.save("%s/to%d.npy" % (folder, n), tos[:n])
    sys.exit()

for n in (0, 1, 3, 4):
    x = xs[:, :n]
    y, at = 0.0, [-1, -1]
    ys, zs = numpy.ones([2, n], "f"), numpy.zeros([2, n], "f") + numpy.float32([[0], [1]])
    reads, dealt = numpy.zeros(n, "f"), numpy.zeros([2, n], "f")
    for i in range(n):
        for j in range(2):
            if x[j, i] > 0.5:
                y, at = x[j, i], [i, j]
            ys[j, i] += x[j, i] + ys[j - 1, max(i - 1, 0)]
            if zs[0, max(i - 1, 0)] < 3:
                zs[1 - j, i] = x[j, i] - zs[1, i]
        reads[i] = x[min(max(froms[i], 0), 1), i]
        if 0 <= tos[i] < 2:
            dealt[tos[i], i] += reads[i]
    if n == 3:  # checks the computation above
        assert (y, at) == (3, [2, 0])
        numpy.testing.assert_array_equal(ys, [[3, 3.25, 10], [4.25, 6, 4.75]])
        numpy.testing.assert_array_equal(zs, [[0.25, 5, 0], [0, -3, 1]])
        numpy.testing.assert_array_equal(reads, [0.25, -2, 0.5])
        numpy.testing.assert_array_equal(dealt, [[0.25, 0, 0], [0, -2, 0]])
    expected = {"y": y, "at_0": at[0], "at_1": at[1], "reads": reads}
    for j in range(2):
        expected.update({"ys_%d" % j: ys[j], "zs_%d" % j: zs[j], "dealt_%d" % j: dealt[j]})
    for run in runs:
        for name, value in expected.items():
            numpy.testing.assert_array_equal(numpy.load("%s/%s/%d/%s.npy" % (folder, run, n, name)), value)
