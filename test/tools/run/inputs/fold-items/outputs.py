# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: writes packs of 0 to 4 items. outputs.py FOLDER A B...: checks the outputs in FOLDER/A/Steps/3-2 ..."""
import sys

import numpy

folder, *runs = sys.argv[1:]
draw = numpy.random.default_rng(3)
packs = {(s, n): draw.integers(-4, 9, [s, n]).astype(numpy.float32) for s in range(5) for n in (0, 1, 2, 4)}
weights = {n: draw.integers(-1, 4, [n]).astype(numpy.float32) for n in (0, 1, 2, 4)}
if not runs:
    for (s, n), pack in packs.items():
        numpy.save("%s/%d-%d.npy" % (folder, s, n), pack)
    for n, w in weights.items():
        numpy.save("%s/w%d.npy" % (folder, n), w)
    for name, x in ("two", [1, 1]), ("four", [1] * 4), ("five", [1, 1, -1, -1, -1]):
        numpy.save("%s/%s.npy" % (folder, name), numpy.float32(x))
    numpy.save("%s/True.npy" % folder, numpy.array(True))
    numpy.save("%s/False.npy" % folder, numpy.array(False))
    for s in range(5):
        numpy.save("%s/three%d.npy" % (folder, s), numpy.zeros([s, 3], numpy.float32))
    sys.exit()


def folds(s):
    sums = [3 * k for k in range(1, s + 1)]
    mixed = [1, *(n % 4 for n in sums), 9]
    distinct = lambda items: len(set(items)) == len(items)
    squares = [n * n for n in sums]
    y = [distinct(mixed), distinct([7, *sums]), distinct([6, *sums]), numpy.prod(sums, dtype=int), sum(mixed), min(mixed), 9 in squares, -1]
    return {"y": y, "z": numpy.cumsum(squares, dtype=int)}


def steps(xs, w):
    s, n = xs.shape
    positive = numpy.all(xs > 0, 0)
    near = numpy.all(2 * xs * w >= -8, 0) & (w > 0)
    low = [[x if i < n - j else 0 for i, x in enumerate(xs[j])] for j in range(s)]
    first = xs[:, 0] if n else numpy.zeros(s)
    return {
        "ys": numpy.where(positive, xs, 0),
        "zs": numpy.where(near, 1 + xs * w, 1),
        "sums": [sum(xs[j][: j + 1]) for j in range(s)],
        "low": numpy.reshape(low, [s, n]),
        "pairs": sum(first[j] * first[l] for j in range(s) for l in range(j)),
    }


def columns(xs):
    s, n = xs.shape
    negative = [next((k for k in range(s) if xs[k, i] < 0), 100 if s else 50) for i in range(n)]
    return {
        "ys": xs * s - xs.sum(0),
        "most": xs.max(0) * 2 if s else numpy.full(n, -1),
        "count": (xs > 0).sum(0),
        "place": negative,
    }


def library(x):
    return {
        "sum": x.sum(0),
        "prod": x.prod(0),
        "largest": x.max(0),
        "smallest": x.min(0),
        "last": x.argmax(0),
        "first": x.argmin(0),
        "any": (x < 0).any(0),
        "all": (x < 0).all(0),
    }


def check(run, graph, case, expected):
    for name, value in expected.items():
        got = numpy.load("%s/%s/%s/%s/%s.npy" % (folder, run, graph, case, name))
        numpy.testing.assert_array_equal(got, value, "%s %s %s" % (run, case, name))


for run in runs:
    for s in range(5):
        check(run, "Folds", str(s), folds(s))
    for (s, n), xs in packs.items():
        if n or not s:
            check(run, "Steps", "%d-%d" % (s, n), steps(xs, weights[n]))
        check(run, "Columns", "%d-%d" % (s, n), columns(xs))
        if s:
            check(run, "Library", "%d-%d" % (s, n), library(xs))
            check(run, "Many", "%d-%d" % (s, n), {k: v for k, v in library(xs).items() if k in ("sum", "largest", "any")})
    check(run, "Beside", "2", {"y": [[3, 5, 3, 6, 2], [30, 6, 3, 3, 1]], "z": [3, 3, 7, 6, 3, 7]})
