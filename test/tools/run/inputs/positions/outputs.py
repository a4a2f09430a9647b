# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER MODEL: writes inputs and, for each engine, lines of a batch. outputs.py FOLDER ENGINE...: checks the results."""
import json
import os
import sys

import numpy

folder, *rest = sys.argv[1:]
items = {s: numpy.float32(numpy.arange(2 * s).reshape(s, 2) + 1) for s in (1, 2, 3, 4)}
rows = {s: numpy.float32([3, 1, 4, 1][:s]) for s in (0, 1, 2, 4)}
short = "index 2 is out of range: the pack has %d items"
leaves = "error[SK9205]: an index of %s runs from 1 to %d, the tensor's extent is %d; guard it with `| |`"


def item(values, index):
    """An item of a pack; negative indices count from the end, as in the language."""
    inside = -len(values) <= index < len(values)
    return values[index] if inside else "index %d is out of range: the pack has %d items" % (index, len(values))


def nearest(values, index):
    return values[min(max(index, 0), len(values) - 1)]


def lengthened(length):
    return length if isinstance(length, str) else numpy.arange(length)


# By graph and size: the result, or the message.
cases = {}
for s, xs in items.items():
    packs = {"Third": xs[2] if s > 2 else short % s, "ThirdExtent": numpy.int64([2]) if s > 2 else short % s}
    packs["ThirdOrFirst"] = xs[2] if s > 2 else xs[0]
    last, third = numpy.zeros_like(xs), numpy.zeros_like(xs)
    last[-1] = xs[0]
    if s > 2:
        third[2] = xs[0]
    packs |= {"LastWritten": last, "ThirdWritten": third if s > 2 else short % s}
    sums = [2 * (i + 1) for i in range(s)]
    shown = [sums[i] if i < s else 0 for i in range(3)]
    third = item(list(range(s)), s - 3)
    written = numpy.zeros_like(xs)
    if not isinstance(third, str):
        written[third] = xs[0]
    packs |= {
        "ThirdFromEnd": item(sums, s - 3),
        "TensorFromEnd": third if isinstance(third, str) else xs[third],
        "WrittenFromEnd": third if isinstance(third, str) else written,
        "InSteps": sums[1:3] if s > 2 else "an index runs from 1 to 2: the pack has %d items" % s,
        "InSomeSteps": shown,
        "InSomeOtherSteps": shown,
        "Long": lengthened(item([2] * s, 2 * s - 3)),
        "LongInside": lengthened(item([2] * s, 2 * s - 3)),
        "OnLine": [7 + 7, 3 + s, 5 + 2, 0],
        "OfTable": [4 + 7, 3 + s, 5 + 2, 0],
        "Strided": [sum(sums[::-2]), 1 if s > 2 else 2],
        "Joined": sums + [1] + [2] * s + [7],
        "Unrolled": xs[::-1] + numpy.float32(range(s))[:, None],
        "Backward": xs[::-2],
        "OfRange": xs[2:] if s > 1 else "a range from 1 is out of bounds: the pack has 0 items",
        "ItemOfRange": item(list(xs[1:]), -2),
        "KnownFromEnd": item([3, 5], s - 3),
        "ByData": [nearest([3, 5], i - 1) + 100 * nearest(sums, i - 1) for i in range(4)],
        "ByDataOfTable": [nearest([3, 5, 4], i - 1) + 100 * nearest(sums, i - 1) for i in range(4)],
    }
    cases |= {(graph, s): value for graph, value in packs.items()}
for s, x in rows.items():
    out = {w: leaves % (w, s, s) if s else x for w in ("`x`", "`y`")}
    cases |= {("Shifted", s): out["`x`"], ("Pushed", s): out["`y`"], ("Kept", s): x, ("Turned", s): x[::-1]}
    if s:
        cases["Differences", s] = x[1:] - x[:-1]
if rest and os.path.isdir(rest[0]):
    for s, value in items.items():
        numpy.save("%s/xs%d.npy" % (folder, s), value)
    for s, value in rows.items():
        numpy.save("%s/x%d.npy" % (folder, s), value)
    for engine in ("reference", "linalg", "scf"):
        with open("%s/%s.jsonl" % (folder, engine), "w") as file:
            for graph, s in cases:
                name = "xs" if (graph, 3) in cases else "x"
                given = "%s=%s/%s%d.npy" % (name, folder, name, s)
                out = "%s/%s/%s/%d" % (folder, engine, graph, s)
                file.write(json.dumps([rest[0], "--message-format=short", "--graph", graph, "--input", given, "--output-dir", out]) + "\n")
    sys.exit()
for engine in rest:
    with open("%s/%s.out" % (folder, engine)) as file:
        results = [json.loads(line) for line in file]
    assert len(results) == len(cases)
    for (case, expected), result in zip(cases.items(), results):
        if isinstance(expected, str):
            assert result["exit"] == 1 and (expected if expected.startswith("error[") else "error[SK9204]: " + expected) in result["stderr"], (engine, case, result)
        else:
            assert result["exit"] == 0, (engine, case, result)
            numpy.testing.assert_array_equal(numpy.load("%s/%s/%s/%d/y.npy" % (folder, engine, *case)), expected, str(case))
