# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes packs of S tensors of W elements. outputs.py FOLDER A B...: checks the outputs in FOLDER/A/extents_of/S.W ..."""
import sys

import numpy

folder, *runs = sys.argv[1:]
sizes = [(s, w) for s in (0, 1, 2, 4) for w in (0, 1, 3, 5)]
packs = {(s, w): numpy.float32(numpy.arange(s * w).reshape(s, w) - 2) for s, w in sizes}
if not runs:
    for (s, w), pack in packs.items():
        numpy.save("%s/%d.%d.npy" % (folder, s, w), pack)
    sys.exit()


def extents_of(t, pack):
    """The list of extents."""
    m = pack.shape[1]
    sums = [sum(t[: i + 1]) for i in range(len(t))]
    pairs = [(a, b) for i, a in enumerate(t) for b in t[i + 1 :]]
    product = 1
    for u in t:
        product *= u
    # A pack without items has neither a minimum nor a maximum; the shape has the extent nevertheless.
    facts = [sum(t), product, min(t, default=m), max(t, default=m), len(t), sum(sums)]
    facts += [all(a == b for a, b in pairs), all(a != b for a, b in pairs), all(u > 2 for u in t), any(u > 2 for u in t)]
    facts += [m in t, sum(3 * u + 1 for u in t)]
    return {
        "facts": numpy.array(facts, numpy.int64),
        "starts": numpy.array([0] + sums, numpy.int64),
        "back": numpy.array(sums[::-1], numpy.int64),
        "between": numpy.array([7, 8] + t + [9], numpy.int64),
        "doubled": numpy.array([2 * u + 1 if u > 2 else -u for u in t], numpy.int64),
        "scaled": pack * numpy.float32(m),
    }


def ends(t):
    sums = numpy.cumsum(t)
    return {"y": sums[1:], "z": sums[:-1], "last": sums[-1:]}


def same(run, graph, size, expected):
    for name, value in expected.items():
        numpy.testing.assert_array_equal(numpy.load("%s/%s/%s/%d.%d/%s.npy" % (folder, run, graph, *size, name)), value)


numpy.testing.assert_array_equal(extents_of([3, 3], packs[2, 3])["facts"], [6, 9, 3, 3, 2, 9, 1, 0, 1, 1, 1, 20])
for run in runs:
    for size, pack in packs.items():
        t = [size[1]] * size[0]
        expected = extents_of(t, pack)
        same(run, "Extents", size, {**expected, "joined": expected["scaled"].reshape(-1)})
        if size[1] == 3:
            same(run, "Three", size, expected)
        if size[0] > 0:
            same(run, "Ends", size, ends(t))
