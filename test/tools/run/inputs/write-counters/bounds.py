# SPDX-License-Identifier: Apache-2.0
"""bounds.py FOLDER: runs the graphs of bounds.sknd with dynamic and static shapes in every engine, and compares the results."""
import os
import subprocess
import sys

import numpy

folder = sys.argv[1]
model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bounds.sknd")
os.makedirs(folder, exist_ok=True)
arrays = {
    "x": [1, 2, 3], "none": [], "rows": [[1, 2], [0, 9], [3, 4]], "no-rows": numpy.zeros((0, 2)),
    "z2": [5, 6], "z4": [5, 6, 7, 8],
}
for name, values in arrays.items():
    numpy.save("%s/%s.npy" % (folder, name), numpy.array(values, "f"))
for n in (2, 4):
    numpy.save("%s/n%d.npy" % (folder, n), numpy.int64(n))
engines = (["--engine=reference"], ["--pipeline=linalg"], ["--pipeline=scf"])


def run(graph, engine, given):
    command = ["skript", "run", "--message-format=short", model, "--graph", graph, *engine, "--output-dir", folder + "/out"]
    for name, file in given.items():
        command += ["--input", "%s=%s/%s.npy" % (name, folder, file)]
    for shape in shapes:
        command += ["--input-shape", shape]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


def gives(graph, expected, output="y", **given):
    for engine in engines:
        done = run(graph, engine, given)
        assert done.returncode == 0, (graph, engine, shapes, done.stderr)
        found = numpy.load("%s/out/%s.npy" % (folder, output))
        numpy.testing.assert_array_equal(found, numpy.array(expected, "f"), "%s %s %s" % (graph, engine, shapes), strict=True)


def refuses(graph, text, **given):
    messages = set()
    for engine in engines:
        done = run(graph, engine, given)
        assert done.returncode == 1 and text in done.stderr, (graph, engine, shapes, done.stderr)
        messages.add(done.stderr)
    assert len(messages) == 1, messages


for shapes in ([], ["x=3"]):
    gives("Counted", [1, 2, 2], x="x")
    gives("Output", [5, 6], x="x", z="z2")
    gives("Unnamed", [5, 6], x="x", z="z2")
    gives("Input", [6, 8], x="x", z="z2")
    gives("Given", [5, 6], x="x", z="z2")
    gives("Before", [6, 8], x="x", z="z2")
    gives("Packed", [[1, 2, 2], [1, 2, 2]], "ys", x="x", z="n2")
    refuses("Output", "the extent `k` of `y` must not be larger than 3, this is 4", x="x", z="z4")
    refuses("Unnamed", "extent 0 of output `y` must be at most 3, it is 4", x="x", z="z4")
    refuses("Input", "extent 0 of input `z` must not be larger than 3, this is 4", x="x", z="z4")
    refuses("Packed", "3", x="x", z="n4")
for shapes in ([], ["x=0"]):
    gives("Counted", [], x="none")
for shapes in ([], ["x=3,2"]):
    gives("Rows", [[1, 0], [0, 2]], x="rows")
# With static shapes, composition knows the extents.
shapes = []
refuses("Rows", "an extent cannot be negative, but `n - 1` of `y` is -1", x="no-rows")
refuses("Before", "the extent `t` of `z` must not be larger than 3, this is 4", x="x", z="z4")
refuses("Given", "the extent `t` of `z` must not be larger than 3, this is 4", x="x", z="z4")
