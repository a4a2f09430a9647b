# SPDX-License-Identifier: Apache-2.0
"""outputs.py FOLDER: compares folds over parts of packs and over dynamic ranges of tensors with numpy."""
import os
import subprocess
import sys

import numpy

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
# Output, formula, and its result for a pack `xs`, a vector `v` and a matrix `x`.
forms = {
    "rest": ("real[n]", "y[i,] = xs[1:][i,] + .., i < n", lambda xs, v, x: xs[1:].sum(0)),
    "turned": ("real[n]", "y[i,] = xs[::-2][i,] * .., i < n", lambda xs, v, x: xs[::-2].prod(0)),
    "inner": ("real[n]", "y[i,] = 2.0 * (xs[1:][:-1][i,] + ..) - xs[1:][0][i,], i < n", lambda xs, v, x: 2 * xs[1:-1].sum(0) - xs[1]),
    "guarded": ("real[n]", "y[i,] = xs[1:][|i - 1|,] + .., i < n", lambda xs, v, x: numpy.append(0, xs[1:].sum(0)[:-1])),
    "remapped": ("real[n]", "y[i,] = xs[:-1][|i - 1 <> 0 : n - 1|,] + .., i < n", lambda xs, v, x: xs[:-1].sum(0)[numpy.maximum(numpy.arange(xs.shape[1]) - 1, 0)]),
    "differences": ("real[n]", "y[i,] = `abs`(xs[1:][i,] - xs[:-1][i,]) + .., i < n", lambda xs, v, x: abs(numpy.diff(xs, axis=0)).sum(0)),
    "vector": ("real[]", "y[] = v[:] + ..", lambda xs, v, x: v.sum()),
    "dot": ("real[]", "y[] = v[:] * v[[n - 1:-1:-1],] + ..", lambda xs, v, x: (v * v[::-1]).sum()),
    "rows": ("real[m]", "y[i,] = x[i,:] + .., i < m", lambda xs, v, x: x.sum(1)),
    "largest": ("real[m]", "y[i,] = x[i,:] >? .. ?? -1.0, i < m", lambda xs, v, x: x.max(1)),
    "some": ("real[m]", "y[i,] = x[i,[0:n:2]] + .., i < m", lambda xs, v, x: x[:, ::2].sum(1)),
    "diagonal": ("real[]", "y[] = x[[0:m],[0:m]] + ..", lambda xs, v, x: numpy.trace(x)),
    "items": ("real[]", "y[] += xs[k][:] * v[:] + .., k < l", lambda xs, v, x: (xs * v).sum()),
    "sorted": ("bool[m]", "y[i,] = x[i,:] <= .., i < m", lambda xs, v, x: (numpy.diff(x, axis=1) >= 0).all(1)),
}
random = numpy.random.default_rng(11)
engines = (["--engine=reference"], ["--pipeline=linalg"], ["--pipeline=scf"])
for name, (shape, formula, expected) in forms.items():
    inputs = "xs: real[n]..(l); v: real[n]; x: real[m,n];"
    graph = "xs: real[t|4]..(s|5); v: real[t]; x: real[r|4,t];"
    with open("%s/%s.sknd" % (folder, name), "w") as file:
        file.write("operator f { @input { %s } @output { y: %s; } @lower { %s; } }\n" % (inputs, shape, formula))
        rank = "~" if "[]" not in shape else ""
        file.write("graph G { @input { %s } @output { y: %s[%s]; } @compose { y = f(xs, v, x); } }\n" % (graph, shape.split("[")[0], rank))
    for length, rows, extent in ((3, 2, 4), (2, 1, 1), (5, 4, 4)):
        arrays = {"xs": (length, extent), "v": (extent,), "x": (rows, extent)}
        arrays = {key: random.integers(-3, 4, size).astype("f") for key, size in arrays.items()}
        command = ["skript", "run", "--edition=khronos", "%s/%s.sknd" % (folder, name), "--output-dir", folder + "/out"]
        for key, array in arrays.items():
            numpy.save("%s/%s.npy" % (folder, key), array)
            command += ["--input", "%s=%s/%s.npy" % (key, folder, key)]
        wanted = numpy.asarray(expected(*arrays.values()))
        for engine in engines:
            done = subprocess.run(command + engine, capture_output=True, text=True)
            assert done.returncode == 0, (name, engine, done.stderr)
            found = numpy.load(folder + "/out/y.npy")
            assert found.shape == wanted.shape, (name, engine, found, wanted)
            numpy.testing.assert_allclose(found, wanted, 1e-6, err_msg="%s %s" % (name, engine))
