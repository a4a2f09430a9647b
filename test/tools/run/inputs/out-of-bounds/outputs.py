# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER MODEL: writes inputs and lines of a batch. outputs.py FOLDER ENGINE...: checks the results of the runs."""
import json
import os
import sys

import numpy

F = numpy.float32
ONES = numpy.ones(400000, F)
X = numpy.array([-1, 1.5, 1, -2, -0.5], F)
A = numpy.array([0.5, 2, -1, 3, 1.5, -2], F)


def positions(x):
    p = [0, 0]
    for i in range(len(x)):
        for k in range(2):
            if x[i] + k > x[min(max(p[0] - p[1], 0), len(x) - 1)]:
                p[k] = i
    return numpy.array(p)


def wrapped(x):
    last = len(x) - 1
    products = [(i * 4611686018427387903 + 2**63) % 2**64 - 2**63 for i in range(len(x))]
    return numpy.array([x[max(min(product, last), 0)] for product in products])


# Graph, inputs, and expected results.
RUNS = [
    ("Guarded", {"a": ONES[:4000], "b": numpy.array([1, 2, 3], F)}, numpy.full(4000, 6, F)),
    ("Guarded", {"a": ONES[:7], "b": ONES[:0]}, numpy.zeros(7, F)),
    ("Fixed", {"a": ONES[:4000], "b": numpy.array([1, 2, 3], F)}, numpy.full(4000, 6, F)),
    ("Unguarded", {"a": ONES[:4], "c": ONES, "b": ONES[:0]}, numpy.zeros(4, F)),
    ("Unguarded", {"a": ONES[:4], "c": ONES[:3], "b": ONES[:2]}, numpy.array([2, 2, 2, 0], F)),
    ("Read", {"a": ONES[:4], "c": ONES, "b": ONES[:0]}, numpy.zeros(0, F)),
    ("Read", {"a": ONES[:4], "c": ONES[:3], "b": ONES[:2]}, numpy.full(2, 3, F)),
    ("Apart", {"x": X}, positions(X)),
    ("Wraps", {"x": X}, wrapped(X)),
    # One factor for each p < 2; a guard skips the others.
    ("Never", {"a": A[:2]}, (A[:2] * A[:2]).reshape(2, 1)),
    ("Never", {"a": A}, (A * A).reshape(6, 1)),
]


def main():
    folder, *rest = sys.argv[1:]
    if os.path.exists(rest[0]):
        for engine in ("reference", "linalg", "linalg-named", "affine", "scf"):
            how = "--engine=reference" if engine == "reference" else "--pipeline=" + engine
            for number, (graph, inputs, _) in enumerate(RUNS):
                for name, array in inputs.items():
                    numpy.save("%s/%d-%s.npy" % (folder, number, name), array)
                given = [part for name in inputs for part in ("--input", "%s=%s/%d-%s.npy" % (name, folder, number, name))]
                with open("%s/%s.jsonl" % (folder, engine), "a") as lines:
                    to = "%s/%s/%d" % (folder, engine, number)
                    lines.write(json.dumps([rest[0], how, "--graph", graph, "--output-dir", to] + given) + "\n")
        return
    for engine in rest:
        for number, (graph, _, expected) in enumerate(RUNS):
            path = "%s/%s/%d/y.npy" % (folder, engine, number)
            # A subscript that wraps around is not affine; the run reports it.
            if engine == "affine" and not os.path.exists(path) and graph in ("Apart", "Wraps"):
                continue
            found = numpy.load(path)
            if found.shape != expected.shape or not numpy.array_equal(found, expected):
                sys.exit("%s, run %d, %s: %s, not %s" % (engine, number, graph, found, expected))


main()
