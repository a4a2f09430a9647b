#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models that use intrinsics in functions, branches and loops, runs them with XLA, and compares with the evaluator:
their random numbers must be equal.

    intrinsics.py --skript BINARY

In narrow storage types, all bits must be equal: a value is rounded once.

Exit status 1 if a result differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import xla  # noqa: E402

OPERATORS = """
operator noisy {
    @attrib { spread: real; }
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose {
        noise = rand.normal{std=spread, shape=s}();
        y = math.add(x, noise);
    }
}

operator noisier {
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose {
        once = noisy{spread=1.0}(x);
        y = noisy{spread=2.0}(once);
    }
}
"""

# The outputs of each model, and the composition that computes them from `x: real[2,4]` and `c: bool[]`.
MODELS = {
    "streams": ("a: real[8]; b: real[8]; c1: real[2,4]; d: int[50]; e: bool[50]; f: int[50]; g: int[50];", """
        a = rand.uniform{shape=[8]}();
        b = rand.uniform{min=-2.0, max=3.0, shape=[8]}();
        c1 = rand.normal{mean=1.0, std=0.5, shape=[2,4]}();
        d = rand.uniform<int>{min=-5, max=100, shape=[50]}();
        e = rand.bernoulli{prob=0.3, shape=[50]}();
        f = rand.uniform<int>{min=-6917529027641081856, max=6917529027641081855, shape=[50]}();
        g = rand.uniform<int>{min=9007199254740993, max=9007199254740996, shape=[50]}();"""),
    "functions": ("a: real[2,4]; b: real[2,4]; z: real[3];", """
        a = noisy{spread=0.5}(x);
        b = noisy{spread=0.5}(a);
        z = rand.uniform{shape=[3]}();"""),
    "branches": ("a: real[2,4]; z: real[3];", """
        a = if c then noisier(x) else x;
        z = rand.uniform{shape=[3]}();"""),
    "loops": ("a: real[2,4]; z: real[3];", """
        a = with w: real[2,4] = x do..(500) {
            next = noisy{spread=1.0}(w);
            yield next;
        };
        z = rand.uniform{shape=[3]}();"""),
}

# Enough numbers that double rounding would change some; the ints have nearly the full range of the storage type.
NARROW = ("a: real[200000]; b: real[200000]; d: int[50]; z: real[2,4];", """
        a = rand.uniform{shape=[200000]}();
        b = rand.normal{mean=1.0, std=0.5, shape=[200000]}();
        d = rand.uniform<int>{min=-120, max=127, shape=[50]}();
        z = math.add(x, x);""")


def text(outputs, composition):
    return ("import math;\nimport rand;\n%s\ngraph G {\n    @input { x: real[2,4]; c: bool[]; }\n    @output { %s }\n    @compose {%s\n    }\n}\n"
            % (OPERATORS, outputs, composition))


def complaint(engine, skript, folder, inputs, types):
    """Describes the wrong results of a model in these storage types, or returns None."""
    given = [a for name, value in inputs.items() for a in ("--input", "%s=%s" % (name, value[0]))]
    program = os.path.join(folder, "program.mlir")
    for command in (["run", "--engine=reference", folder, *types, *given, "--output-dir", os.path.join(folder, "reference")],
                    ["compile", "--emit=stablehlo", folder, *types, "-o", program]):
        done = subprocess.run([skript, *command, "--message-format=short"], capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
    with open(program) as file, open(program + ".json") as manifest:
        program, manifest = file.read(), json.load(manifest)
    import ml_dtypes
    dtype = lambda port: ml_dtypes.bfloat16 if port["dtype"] == "bf16" else xla.dtype_of(port["dtype"])  # noqa: E731
    results = engine.run(program, [inputs[port["name"]][1].astype(dtype(port)) for port in manifest["arguments"]])
    slack = {"rtol": 0, "atol": 0} if types else {"rtol": 1e-6, "atol": 1e-7}
    for port, got in zip(manifest["results"], results):
        want = numpy.load(os.path.join(folder, "reference", port["name"] + ".npy"))
        reason = xla.difference(want, got, slack)
        if reason:
            return "%s: %s" % (port["name"], reason)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    args = parser.parse_args()
    xla.require()
    engine, failed, count = xla.Xla(), 0, 0
    given = [("x", numpy.arange(8, dtype="f4").reshape(2, 4)), ("c", numpy.array(False))]
    runs = [(name, model, given[:1] + [("c", numpy.array(c))], []) for name, model in MODELS.items() for c in (False, True)]
    runs += [("narrow", NARROW, given, ["--real=" + real, "--int=i8"]) for real in ("f16", "bf16")]
    for name, (outputs, composition), arrays, types in runs:
        with tempfile.TemporaryDirectory(prefix="intrinsics_") as folder:
            with open(os.path.join(folder, "main.sknd"), "w") as file:
                file.write(text(outputs, composition))
            inputs = {}
            for key, value in arrays:
                path = os.path.join(folder, key + ".npy")
                numpy.save(path, value)
                inputs[key] = (path, value)
            reason = complaint(engine, os.path.abspath(args.skript), folder, inputs, types)
        count += 1
        if reason:
            failed += 1
            print("FAILED %s %s, c = %s: %s" % (name, " ".join(types), arrays[1][1], reason))
    print("intrinsics in XLA: %d models, %d equal to the evaluator" % (count, count - failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
