# SPDX-License-Identifier: Apache-2.0
"""Runs each scalar function and operator on constants, which the compiler folds, and on arguments; `constant-functions.py FOLDER`.

Both must agree with the evaluator on arguments, up to a few units in the last place of a function; signs of zeros and NaN count.
"""
import os
import subprocess
import sys
import warnings

import numpy

warnings.simplefilter("ignore")
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-40, -1e-40, 3e38, -1e30, 88.5]
FUNCTIONS = ("abs sign sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf round floor ceil frac").split()
OPERATORS = "+ - * / % ** << >>".split()
EXPRESSIONS = ["%s(a[i,])" % name for name in FUNCTIONS] + ["a[i,] %s b[i,]" % sign for sign in OPERATORS]


def document(expression, pairs, are_constant):
    names = ["v%d: real[1]" % n for n in range(len(VALUES))]
    given = " ".join(name + ";" for name in names) if not are_constant else ""
    constants = " ".join("%s = %r;" % pair for pair in zip(names, VALUES)) if are_constant else ""
    outputs = " ".join("y%d: real[1];" % n for n in range(len(pairs)))
    calls = " ".join("y%d = f(v%d, v%d);" % (n, i, j) for n, (i, j) in enumerate(pairs))
    return ("operator f { @input { a: real[1]; b: real[1]; } @output { y: real[1]; } @lower { y[i,] = %s, i < 1; } }\n"
            "graph G { @input { z: real[1]; %s } @output { %s } %s @compose { %s } }\n"
            % (expression, given, outputs, "@constant { %s }" % constants if constants else "", calls))


def main():
    folder, wrong = sys.argv[1], 0
    inputs = []
    for n, value in enumerate(VALUES):
        numpy.save(os.path.join(folder, "v%d.npy" % n), numpy.float32([value]))
        inputs += ["--input", "v%d=%s" % (n, os.path.join(folder, "v%d.npy" % n))]
    for expression in EXPRESSIONS:
        pairs = [(i, j) for i in range(len(VALUES)) for j in range(len(VALUES) if "b[" in expression else 1)]
        found = []
        for are_constant, engine in ((False, "reference"), (False, "compiled"), (True, "compiled")):
            path, out = os.path.join(folder, "main.sknd"), os.path.join(folder, "out")
            with open(path, "w") as file:
                file.write(document(expression, pairs, are_constant))
            command = ["skript", "run", path, "--engine=" + engine, "--no-cache", "--input", "z=random:1", "--output-dir", out]
            subprocess.run(command + ([] if are_constant else inputs), check=True)
            found.append(numpy.array([numpy.load(os.path.join(out, "y%d.npy" % n))[0] for n in range(len(pairs))]))
        expected = found[0]
        for how, values in zip(("computed", "folded"), found[1:]):
            alike = (numpy.signbit(values) == numpy.signbit(expected)) & numpy.isclose(values, expected, rtol=1e-5, atol=1e-42)
            for n in numpy.flatnonzero(~(alike | numpy.isnan(values) & numpy.isnan(expected))):
                wrong += 1
                print("%s of %s, %s: %s instead of %s" % (expression, [VALUES[k] for k in pairs[n]], how, values[n], expected[n]))
    print("%d expressions, %d values wrong" % (len(EXPRESSIONS), wrong))


main()
