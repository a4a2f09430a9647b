# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER MODEL: writes inputs and, for each engine, lines of a batch. outputs.py FOLDER ENGINE...: checks the results."""
import json
import os
import sys

import numpy

folder, *rest = sys.argv[1:]
ENGINES = ("reference", "linalg", "linalg-named", "affine", "scf")
# Writes at i * i, and at positions that depend on data or dynamic extents, are not affine.
NOT_AFFINE = {"Last", "Strided", "Square", "Downward", "Written", "Dropped", "Chosen", "Nothing", "Branch", "Loop"}


class Left(Exception):
    pass


def within(extent, index, name, **where):
    """The index, which must be in bounds."""
    if not 0 <= index < extent:
        steps = ", ".join("%s = %d" % pair for pair in where.items())
        raise Left("an index of `%s` is %d%s, the tensor's extent is %d" % (name, index, steps and " where " + steps, extent))
    return index


def from_to(extent, low, high):
    if low < 0 or high >= extent:
        raise Left("an index of `x` runs from %d to %d, the tensor's extent is %d" % (low, high, extent))


def last(x, at):
    return x[within(len(x), len(x) - 1, "x")]


def strided(x, at):
    step = len(x) - 3
    from_to(len(x), min(2 * step, 0), max(2 * step, 0))
    return [x[step * i] for i in range(3)]


def square(x, at):
    return [x[within(len(x), i * i, "x", i=i)] for i in range(3)]


def downward(x, at):
    return [x[within(len(x), len(x) - 1 - i * i, "x", i=i)] for i in range(3)]


def even(x, at):
    return [x[within(len(x), 2 * i, "x", i=i)] if i % 2 == 0 else 0 for i in range(3)]


def lazy(x, at):
    return [x[within(len(x), i + 1, "x", i=i)] if i < 2 else 0 for i in range(3)]


def asked(x, at):
    return [x[within(len(x), i + 1, "x", i=i)] ** 2 if at[i] > 0 else 1 for i in range(3)]


def guarded(x, at):
    return [float(at[i] == 0 or x[within(len(x), i + 2, "x", i=i)] > 3) for i in range(3)]


def written(x, at):
    y = numpy.zeros_like(x)
    for i in range(3):
        y[within(len(x), i * i, "y", i=i)] = at[i]
    return y


def chosen(x, at):
    return [x[min(max(a, 0), len(x) - 1)] if len(x) else 0 for a in at]


def dropped(x, at):
    return [float(i in at) for i in range(len(x))]


def nothing(x, at):
    y = numpy.zeros_like(x)
    for i in range(len(x) - 2):
        y[i] = x[within(len(x), i * i + 1, "x", i=i)]
    return y


def running(x, at):
    y = 0
    for i in range(3):
        if y < 4:
            y += x[within(len(x), 2 * i, "x", i=i)]
    return y


def summed(x, at):
    y = [0, 0]
    for i in range(3):
        y[i % 2] += x[within(len(x), 2 * i, "x", i=i)] if y[0] < 3 else 0
    return y


def branch(x, at, more):
    return (square if more else asked)(x, at)


def loop(x, at, count):
    return count * numpy.float32(square(x, at)) if count else numpy.zeros(3)


def result(function, *arguments):
    try:
        return numpy.float32(function(*arguments))
    except Left as error:
        return str(error)


xs = {s: numpy.arange(s, dtype="float32") + 1 for s in (0, 2, 3, 5, 9)}
ats = {"none": [0, 0, 0], "last": [0, 0, 1], "far": [2, -5, 7]}
# By graph, size, positions and further inputs: the result, or the message of the run.
cases = {}
for s, x in xs.items():
    for places, at in ats.items():
        for function in (last, strided, square, downward, even, lazy, asked, guarded, written, chosen, dropped, nothing, running, summed):
            cases[function.__name__.title(), s, places, ""] = result(function, x, at)
        for more in (0, 1):
            cases["Branch", s, places, "more%d" % more] = result(branch, x, at, more)
    for count in (0, 2):
        cases["Loop", s, "none", "count%d" % count] = result(loop, x, ats["none"], count)
# If `at` is not read, one of its values suffices.
NOT_READ = {"Last", "Strided", "Square", "Downward", "Even", "Lazy", "Nothing", "Running", "Summed"}
cases = {case: value for case, value in cases.items() if case[0] not in NOT_READ or case[2] == "none"}


def of(engine):
    return {case: value for case, value in cases.items() if engine != "affine" or case[0] not in NOT_AFFINE}


if rest and os.path.isdir(rest[0]):
    for s, value in xs.items():
        numpy.save("%s/x%d.npy" % (folder, s), value)
    for name, value in ats.items():
        numpy.save("%s/%s.npy" % (folder, name), numpy.int64(value))
    for value in (0, 1):
        numpy.save("%s/more%d.npy" % (folder, value), numpy.bool_(value))
    for value in (0, 2):
        numpy.save("%s/count%d.npy" % (folder, value), numpy.int64(value))
    for engine in ENGINES:
        with open("%s/%s.jsonl" % (folder, engine), "w") as file:
            for graph, s, places, more in of(engine):
                line = [rest[0], "--message-format=short", "--graph", graph, "--input", "x=%s/x%d.npy" % (folder, s)]
                line += ["--input", "at=%s/%s.npy" % (folder, places)]
                if more:
                    line += ["--input", "%s=%s/%s.npy" % (more[:-1], folder, more)]
                file.write(json.dumps([*line, "--output-dir", "%s/%s/%s/%d%s%s" % (folder, engine, graph, s, places, more)]) + "\n")
    sys.exit()
for engine in rest:
    with open("%s/%s.out" % (folder, engine)) as file:
        results = [json.loads(line) for line in file]
    assert len(results) == len(of(engine)), (engine, len(results))
    for (case, expected), found in zip(of(engine).items(), results):
        graph, s, places, more = case
        if isinstance(expected, str):
            assert found["exit"] == 1 and "error[SK9205]: " + expected + ";" in found["stderr"], (engine, case, expected, found)
        else:
            assert found["exit"] == 0, (engine, case, found)
            y = numpy.load("%s/%s/%s/%d%s%s/y.npy" % (folder, engine, graph, s, places, more))
            numpy.testing.assert_array_equal(y, expected, str((engine, case)))
