# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: compares G and Fixed in FOLDER/A/2 ... with loops."""
import sys

import numpy

folder, *runs = sys.argv[1:]
rows = numpy.float32([[0, 5, -1], [7, 0, 0], [2, 2, 2], [0, 0, 9]])
if not runs:
    numpy.save(folder + "/limit.npy", numpy.float32(1))
    for n in (0, 1, 2, 4):
        numpy.save("%s/x%d.npy" % (folder, n), rows[:n])
    sys.exit()

for n in (0, 1, 2, 4):
    x = rows[:n]
    at, taken = [], []
    for i in range(n):
        for j in range(3):
            if x[i, j] != 0:
                at.append([i, j])
            if x[i, j] > 1 and len(taken) < 3:
                taken.append(numpy.zeros(3, "f"))
                taken[-1][j] = x[i, j] + len(taken) - 1
    at, y = numpy.reshape(at, [-1, 2]).T, numpy.reshape(taken, [-1, 3]) * 2
    if n == 2:  # checks the computation above
        numpy.testing.assert_array_equal(at, [[0, 0, 1], [1, 2, 0]])
        numpy.testing.assert_array_equal(y, [[0, 10, 0], [16, 0, 0]])
    for run in runs:
        for name, value in (("at", at), ("y", y)):
            numpy.testing.assert_array_equal(numpy.load("%s/%s/%d/%s.npy" % (folder, run, n, name)), value)
