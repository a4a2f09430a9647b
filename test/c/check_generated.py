#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the C programs of `skript compile --emit=c` with numpy and onnxruntime.

    check_generated.py [--skript BINARY] [--cc gcc,clang-22] [--only PART] [--sample N] [--models N]

The models are the operators of examples/operators, the formulas of bench/formulas, the networks of test/import/networks.py, and those of
generated_calls.py. Every program is compiled without a warning, and undefined behaviour ends it. `--sample` selects every Nth model, and
all of generated_calls.py. A model whose operators have no formulas must be refused.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np

import generated_calls
from generated import Failed, Program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / folder) for folder in ("examples/operators", "bench/formulas", "test/import")]
# Operators that kernels compute.
REFUSED = {"nearest_neighbours": "algo.top_k"}


def compiled(options, model, flags, cc, inputs, folder):
    program = Program(options.skript, str(model), flags, cc, folder=folder)
    return program.run(inputs)


def formula(options, suite, name, cc):
    from check import compare
    others = suite.small(name)
    attributes, inputs = suite.made(name, others)
    flags = [word for key, value in others.items() for word in ("--set", "%s=%s" % (key, value))]
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = compiled(options, suite.file_of(name), flags, cc, inputs, folder)
        except Failed as error:
            if name in REFUSED and REFUSED[name] in str(error):
                return
            raise
    assert name not in REFUSED, name + " is not refused"
    share = suite.share(name) if hasattr(suite, "share") else 0.0
    compare(name, cc, found, suite.expected(name, attributes, inputs), share)


def network(options, build, cc):
    import networks
    import onnxruntime
    with tempfile.TemporaryDirectory() as folder:
        path, b, shapes = networks.written(build, pathlib.Path(folder))
        sizes = {"past": 5}
        inputs = {name: b.random.standard_normal([sizes.get(d, 3) if isinstance(d, str) else d for d in shape]).astype(np.float32)
                  for name, shape in shapes.items()}
        expected = onnxruntime.InferenceSession(str(path)).run(None, inputs)[0]
        dimensions = {d for shape in shapes.values() for d in shape if isinstance(d, str)}
        flags = ["--weights=file"] + ["--bound=%s=16" % d for d in sorted(dimensions)]
        found = compiled(options, path, flags, cc, inputs, folder)["y"]
    assert found.shape == expected.shape, (found.shape, expected.shape)
    error = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30)
    assert error < 1e-4, "differs by %.2g of the largest element" % error


def call(options, case, cc):
    with tempfile.TemporaryDirectory() as folder:
        case(options, cc, folder)


def cases(options):
    import cases as operators
    import kinds as formulas
    import networks
    for suite in (operators, formulas):
        for name in suite.CASES:
            yield name, lambda cc, suite=suite, name=name: formula(options, suite, name, cc)
    for build in networks.NETWORKS:
        yield build.__name__, lambda cc, build=build: network(options, build, cc)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--cc", default="gcc,clang-22")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--models", type=int, default=12, help="number of random models")
    options = parser.parse_args()
    options.skript = os.path.abspath(options.skript)
    compilers = [cc for cc in options.cc.split(",") if shutil.which(cc)]
    wrong = count = 0
    calls = [(case.__name__, lambda cc, case=case: call(options, case, cc)) for case in generated_calls.CASES]
    for name, check in list(cases(options))[::options.sample] + calls:
        if options.only not in name:
            continue
        for cc in compilers:
            count += 1
            try:
                check(cc)
            except (Failed, AssertionError, OSError) as error:
                wrong += 1
                print("%s, %s: %s" % (name, cc, str(error).strip()[:400]))
    print("%d of %d C programs equal numpy or onnxruntime" % (count - wrong, count))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
