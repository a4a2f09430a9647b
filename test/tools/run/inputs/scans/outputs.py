# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: compares Chain in FOLDER/A/5 ... with numpy."""
import sys

import numpy

folder, *runs = sys.argv[1:]
x = numpy.float32([1, 2])
limits = {"0": 0, "5": 5, "99": 99}
if not runs:
    numpy.save(folder + "/x.npy", x)
    for name, value in limits.items():
        numpy.save("%s/m%s.npy" % (folder, name), numpy.float32(value))
        numpy.save("%s/n%s.npy" % (folder, name), numpy.int64(value))
    sys.exit()

for name, limit in limits.items():
    pack, s = [], x
    while len(pack) < 5 and (s < limit).all():
        s = s + s
        pack.append(s)
    sums, total = [], x
    for y in pack:
        total = total + y
        sums.append(total)
    some = x
    for y, z in zip(pack, sums):
        if not (some < limit).all():
            break
        some = some + (y + z)
    for run in runs:
        load = lambda output: numpy.load("%s/%s/%s/%s.npy" % (folder, run, name, output))
        numpy.testing.assert_array_equal(load("total"), total)
        numpy.testing.assert_array_equal(load("sums"), numpy.reshape(sums, [-1, 2]))
        numpy.testing.assert_array_equal(load("some"), some)
