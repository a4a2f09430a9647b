#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every operator of this folder in small sizes, by the evaluator and by compiled code, and compares with numpy.

With --formulas, those of bench/formulas instead. With --realistic, compiled code in the sizes of the files as well.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

import cases

ENGINES = (["--engine=reference"], ["--pipeline=linalg"], ["--pipeline=scf"], ["--threads=2"])


def run(skript, path, others, inputs, engine):
    with tempfile.TemporaryDirectory() as folder:
        command = [skript, "run", path, *engine, "--output-dir", folder]
        for key, value in others.items():
            command += ["--set", "%s=%s" % (key, value)]
        for key, value in inputs.items():
            path = os.path.join(folder, "input-%s.npy" % key)
            np.save(path, value)
            command += ["--input", "%s=%s" % (key, path)]
        subprocess.run(command, check=True)
        files = [file for file in os.listdir(folder) if not file.startswith("input-")]
        return {file[: -len(".npy")]: np.load(os.path.join(folder, file)) for file in files}


def compare(name, engine, found, expected, share=0.0, absolute=2e-5):
    """Outputs must agree, reals to `absolute` times the largest element. At most `share` of the elements may differ."""
    assert found.keys() == expected.keys(), (name, found.keys(), expected.keys())
    for output, values in expected.items():
        result, label = found[output], "%s %s %s" % (name, engine, output)
        assert result.shape == values.shape, (label, result.shape, values.shape)
        largest = np.abs(values[np.isfinite(values)]).max(initial=0)
        tolerances = (0, 0) if values.dtype.kind in "ib" else (1e-4, absolute * largest)
        if share and np.isclose(result, values, *tolerances).mean() >= 1 - share:
            continue
        np.testing.assert_allclose(result, values, *tolerances, err_msg=label)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--skript", default="target/release/skript")
    options.add_argument("--formulas", action="store_true")
    options.add_argument("--realistic", action="store_true")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    suite = cases
    if options.formulas:
        sys.path.append(os.path.join(cases.HERE, "../../bench/formulas"))
        import kinds as suite
    names = options.names or list(suite.CASES)
    files = {file[: -len(".sknd")] for file in os.listdir(suite.HERE) if file.endswith(".sknd")}
    assert files == set(suite.CASES), files ^ set(suite.CASES)
    for name in names:
        sizes = [(suite.small(name), ENGINES)] + ([({}, ENGINES[3:])] if options.realistic else [])
        for others, engines in sizes:
            attributes, inputs = suite.made(name, others)
            expected = suite.expected(name, attributes, inputs)
            for engine in engines:
                found = run(options.skript, suite.file_of(name), others, inputs, engine)
                compare(name, engine, found, expected, suite.share(name) if options.formulas else 0.0)
    print("operators: %d equal numpy through the evaluator and compiled code" % len(names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
