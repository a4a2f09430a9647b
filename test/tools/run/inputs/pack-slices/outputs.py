# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes packs of 0, 1, 3 and 4 items. outputs.py FOLDER A B...: checks the outputs in FOLDER/A/parts/3 ..."""
import sys

import numpy

folder, *runs = sys.argv[1:]
packs = {s: numpy.float32([[1, 2], [3, -4], [5, 8], [-6, 7]][:s]).reshape(s, 2) for s in (0, 1, 3, 4)}
if not runs:
    for s, pack in packs.items():
        numpy.save("%s/%d.npy" % (folder, s), pack)
    sys.exit()
for s, xs in packs.items():
    for run in runs:
        load = lambda graph, name: numpy.load("%s/%s/%s/%d/%s.npy" % (folder, run, graph, s, name))
        # Each item is divided by its largest element.
        normed = [x / x.max() for x in xs]
        numpy.testing.assert_allclose(load("Normed", "ys"), numpy.reshape(normed, [s, 2]), rtol=1e-6)
        if s == 0:
            continue
        z = [2 * xs[0]]
        expected = {
            "tail": xs[1:],
            "framed": numpy.concatenate([z, xs, z]),
            "back": xs[::-1],
            "mixed": numpy.concatenate([xs[-1:], z, xs[1:], xs]),
            "steps": xs[1:] - xs[:-1],
            "sum": z[0] + xs[1:].sum(0),
            "last": xs[-1],
        }
        for name, value in expected.items():
            numpy.testing.assert_array_equal(load("Parts", name), value, name)
