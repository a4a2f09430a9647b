# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes inputs. outputs.py FOLDER A B...: checks that outputs in FOLDER/B are those in FOLDER/A, and correct."""
import sys

import numpy

folder, *runs = sys.argv[1:]
x = numpy.float32([[0, 3, 1, 3], [2, 0, 0, -1], [0, 0, 0, 5]])
if not runs:
    numpy.save(folder + "/x.npy", x)
    numpy.save(folder + "/image.npy", numpy.float32([[[1, 2, 3, 4]]]))
    numpy.save(folder + "/regions.npy", numpy.float32([[0, 4]]))
    numpy.save(folder + "/outside.npy", numpy.int64([1]))
    numpy.save(folder + "/inside.npy", numpy.int64([0]))
    sys.exit()


def load(run, name):
    return numpy.load("%s/%s/%s.npy" % (folder, run, name))


for run in runs:
    assert load(run, "places").tolist() == numpy.array(numpy.nonzero(x)).tolist(), run
    assert load(run, "where").tolist() == [[1, 3], [0, 1], [3, 0]], run
    assert load(run, "top").tolist() == [[3, 3], [2, 0], [5, 0]], run
    # Each invocation generates different numbers.
    assert (load(run, "noise") != load(run, "again")).any(), run
    for name in ["noise", "again", "walk"]:
        assert load(run, name).tolist() == load(runs[0], name).tolist(), (run, name)
