# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: compares G and Fixed in FOLDER/A/3 ... with loops."""
import sys

import numpy

folder, *runs = sys.argv[1:]
rows = numpy.float32([[1, 2, 3], [0, -1, 4], [9, 5, 2], [1, 1, 1]])
if not runs:
    numpy.save(folder + "/limit.npy", numpy.float32(2))
    for n in (0, 1, 3, 4):
        numpy.save("%s/x%d.npy" % (folder, n), rows[:n])
    sys.exit()

for n in (0, 1, 3, 4):
    x = rows[:n]
    passed, delayed, crossed = x.copy(), numpy.zeros([n, 3], "f"), numpy.float32([[1, 2], [3, 4]])
    for i in range(n):
        if i >= 1 and passed[i, 0] < 2:
            passed[i] = passed[i - 1][[2, 0, 1]]
        for j in range(3):
            delayed[i] += [x[i, j], delayed[i, 0], delayed[i, 1]]
            if crossed[0, 0] < 20:
                (a, b), (c, d) = crossed
                crossed = numpy.float32([[a + b, c], [d, a * x[i, j]]])
    turned = numpy.stack([x[:, 1], x[:, 2], x[:, 0] + x[:, 1]], 1)
    if n == 3:  # checks the computation above
        numpy.testing.assert_array_equal(turned, [[2, 3, 3], [-1, 4, -1], [5, 2, 14]])
        numpy.testing.assert_array_equal(passed, [[1, 2, 3], [3, 1, 2], [9, 5, 2]])
        numpy.testing.assert_array_equal(delayed, [[6, 4, 1], [3, -1, 0], [16, 23, 9]])
    expected = {"turned": turned, "passed": passed, "delayed": delayed, "crossed": crossed}
    for run in runs:
        for name, value in expected.items():
            numpy.testing.assert_array_equal(numpy.load("%s/%s/%d/%s.npy" % (folder, run, n, name)), value)
