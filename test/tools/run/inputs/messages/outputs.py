# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: compares the messages of failed checks of main.sknd, in every engine and in a shared object."""
import os
import subprocess
import sys

import numpy

folder = sys.argv[1]
model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "main.sknd")
os.makedirs(folder, exist_ok=True)
arrays = {
    "x4": numpy.ones(4, "f"), "z6": numpy.ones(6, "f"), "true": numpy.array(True), "n3": numpy.int64(3), "one": numpy.float32(1),
    "inf": numpy.float32(numpy.inf),
}
for name, value in arrays.items():
    numpy.save("%s/%s.npy" % (folder, name), value)
engines = (["--engine=reference"], ["--pipeline=linalg"], ["--pipeline=affine"], ["--pipeline=scf"])
# The affine pipeline refuses extents that depend on a loop or on data.
open_extents = (engines[0], engines[1], engines[3])


def run(graph, engine, given, flags):
    command = ["skript", "run", "--message-format=short", model, "--graph", graph, *engine, *flags, "--output-dir", folder + "/out"]
    for name, file in given.items():
        command += ["--input", "%s=%s/%s.npy" % (name, folder, file)]
    return subprocess.run(command, capture_output=True, text=True)


def fails(graph, expected, *flags, engines=engines, **given):
    for engine in engines:
        done = run(graph, engine, given, flags)
        assert done.returncode == 1, (graph, engine, done)
        said = [line.split("main.sknd:", 1)[-1] for line in done.stderr.splitlines()]
        said = [line.split(": ", 1)[-1] for line in said if ": " in line]
        assert said == expected, (graph, engine, said)


fails("Larger", [
    "error[SK9203]: {0} false [true, true] b 6 1.3333333333333333; both = false, s = middling, r = 2.0, [n, m] << .. = 4, "
    "n in [m, 4] = true, n > m ? [n] : [n, m] = [4, 6], ['x', n > 2 ? 'y' : 'z'] = [x, y], n > m ? m = null, n * 2 > m = true, "
    "real(m) * 2.0 = 12.0, 1.0 / 0.0 * real(n - n) = nan",
    "note: in operator `larger`, called from operator `outer`",
    "note: in operator `outer`, called from graph `Larger`",
], x="x4", z="z6", c="true", engines=open_extents)
# 63 values, then an ellipsis, for each; composition does not know any of the multiples.
fails("Many", [
    "error[SK9203]: n = 4: [%s]; n * [0:3] > 4 = [false, …, …]" % ", ".join(
        ["0"] + [str(4 * k) if k <= 63 else "…" for k in range(1, 70)]),
    "note: in operator `many`, called from graph `Many`",
], x="x4")
fails("Items", ["error[SK9201]: item 1 of a pack has the extent 3, but the items before have 4"], x="x4", n="n3", engines=open_extents)
endless = "error[SK9201]: the loop does not end within 1000 steps (limit `loop_steps`)"
fails("Endless", [endless], "--limit", "loop_steps=1000", v="one")
fails("EndlessBehind", [endless], "--limit", "loop_steps=1000", v="one")
fails("Endless", [endless.replace("1000", "4194304")], v="one", engines=engines[1:])
for engine in engines:
    # The loop ends in the last step that the limit permits.
    done = run("EndlessBehind", engine, {"v": "inf"}, ["--limit", "loop_steps=1"])
    assert done.returncode == 0, done
    done = run("Endless", engine, {"v": "inf"}, ["--limit", "loop_steps=0"])
    assert done.returncode == 0, done
