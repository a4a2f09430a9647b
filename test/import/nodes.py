#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the node tests of the `onnx` package through `skript run MODEL.onnx` and compares with their expected outputs.

A test is in scope if its operators are in the default domain, none of them is random, and all of its inputs and outputs are tensors of
numbers.
Inputs that decide shapes become constants (`--constant`), where the import asks for it. `nodes.txt` lists the tests that
pass; it only grows: `--update` adds to it, and a listed test that does not pass is an error. So is a wrong result.
`--dynamic` makes all dimensions of the inputs dynamic; `--shapes` passes the shapes of the arrays with `--input-shape`.

Usage: nodes.py [--engine reference|compiled] [--only PART] [--sample N] [--missing] [--update] [--reasons]
                [--dynamic] [--shapes] [--skript FILE]
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

warnings.filterwarnings("ignore")

import onnx  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LISTED = HERE / "nodes.txt"


# Tests that use the fractional extent `scale * extent`, although the definition of the operator, onnxruntime and torch use the extent of the
# result.
CONTRARY = {"test_resize_downsample_scales_cubic_align_corners", "test_resize_downsample_scales_linear_align_corners"}


def in_scope(test):
    """Whether the test consists of operators of the default domain on numeric tensors."""
    if test.model is None or test.name in CONTRARY:
        return False
    graph = test.model.graph
    if any(node.domain not in ("", "ai.onnx") for node in graph.node):
        return False
    if any(node.op_type == "Bernoulli" or node.op_type.startswith("Random") for node in graph.node):
        return False
    for value in list(graph.input) + list(graph.output):
        if not value.type.HasField("tensor_type"):
            return False
        element = value.type.tensor_type.elem_type
        if element not in NUMBERS:
            return False
    return True


NUMBERS = {getattr(onnx.TensorProto, name) for name in
           "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 UINT64".split()}


def run(arguments):
    environment = dict(os.environ, XDG_CACHE_HOME="/nonexistent/skript")
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, env=environment)
    return done.returncode, done.stdout, done.stderr


def array(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def dynamic(model):
    """The model with all dimensions of its inputs dynamic."""
    own = onnx.ModelProto()
    own.CopyFrom(model)
    initialized = {tensor.name for tensor in own.graph.initializer}
    for value in own.graph.input:
        if value.name not in initialized:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{axis}"
    return own


def attempt(test, options):
    """`equal`, `wrong: …` or `refused: …`, and whether inputs became constants."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(dynamic(test.model) if options.dynamic else test.model, folder / "model.onnx")
        initialized = {tensor.name for tensor in test.model.graph.initializer}
        names = [value.name for value in test.model.graph.input if value.name not in initialized]
        for at, (inputs, outputs) in enumerate(test.data_sets):
            arrays = {}
            for name, value in zip(names, inputs):
                given = array(value)
                arrays[name] = folder / f"in{at}_{len(arrays)}.npy"
                np.save(arrays[name], np.ascontiguousarray(given).reshape(given.shape))
            result, constants = one(folder, arrays, [array(o) for o in outputs], test, options)
            if result != "equal":
                return result, constants
    return "equal", constants


def one(folder, arrays, expected, test, options):
    constants = set()
    for _ in range(len(arrays) + 1):
        command = [options.skript, "run", str(folder / "model.onnx"), "--engine", options.engine, "--no-cache", "--threads", "1",
                   "--message-format", "short", "--output-dir", str(folder / "out")]
        for name, path in arrays.items():
            command += ["--constant" if name in constants else "--input", f"{name}={path}"]
            shape = np.load(path).shape if options.shapes and name not in constants else ()
            command += ["--input-shape", f"{name}={','.join(map(str, shape))}"] if shape else []
        status, _, errors = run(command)
        asked = set(re.findall(r"--constant (\S+?)=FILE", errors)) & set(arrays) - constants
        if status == 0 or not asked:
            break
        constants |= asked
    if status != 0:
        first = errors.strip().splitlines()[0] if errors.strip() else f"exit status {status}"
        kind = "refused" if "SK9107" in first else "failed"
        return f"{kind}: {first}", bool(constants)
    for value, wanted in zip(test.model.graph.output, expected):
        path = folder / "out" / f"{options.names(folder, value.name)}.npy"
        if not path.exists():
            path = next(iter(sorted((folder / "out").glob("*.npy"))), None) if len(expected) == 1 else path
        got = np.load(path)
        wanted = np.asarray(wanted)
        if got.dtype != wanted.dtype:
            return f"wrong: dtype {got.dtype}, not {wanted.dtype}", bool(constants)
        if got.shape != wanted.shape:
            return f"wrong: shape {got.shape}, not {wanted.shape}", bool(constants)
        # Expected values in f16 are rounded after each operation, so those of an attention have as large an error as the computed ones.
        least = 2**-11 if wanted.dtype == np.float16 else 1e-7
        # Expected values of inverse transforms are sums that were rounded in f32, so zeros have an error relative to the largest element.
        if wanted.size and any(node.op_type == "DFT" for node in test.model.graph.node):
            least = max(least, float(np.abs(wanted).max()) * 2**-23)
        if not np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=test.rtol or 1e-3, atol=max(test.atol or 0, least), equal_nan=True):
            worst = np.nanmax(np.abs(got.astype(np.float64) - wanted.astype(np.float64)))
            return f"wrong: differs by up to {worst:.3g}", bool(constants)
    return "equal", bool(constants)


def valid(name):
    """The name of an output by the rule of docs/onnx.md."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", name.removesuffix("_output_0")).strip("_")
    return name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", default="compiled")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--missing", action="store_true", help="only tests that are not listed")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--dynamic", action="store_true", help="with dynamic dimensions in place of those of the inputs")
    parser.add_argument("--shapes", action="store_true", help="with the shapes of the arrays as those of the inputs")
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.names = lambda folder, name: valid(name)
    tests = sorted((t for t in collect_testcases(None) if in_scope(t)), key=lambda t: t.name)
    listed = set(LISTED.read_text().split()) if LISTED.exists() else set()
    total = len(tests)
    tests = [t for t in tests if options.only in t.name]
    if options.missing:
        tests = [t for t in tests if t.name not in listed]
    if options.sample:
        known = [t for t in tests if t.name in listed]
        tests = known[:: max(1, len(known) // options.sample)]
    counts, reasons, problems, passed, constants = collections.Counter(), collections.Counter(), [], [], 0
    with ThreadPoolExecutor(options.jobs) as pool:
        def guarded(test):
            try:
                return attempt(test, options)
            except subprocess.TimeoutExpired:
                return "failed: more than 300 s", False
        results = list(pool.map(guarded, tests))
    for test, (result, constant) in zip(tests, results):
        kind = result.split(":")[0]
        counts[kind] += 1
        if kind == "equal":
            passed.append(test.name)
            constants += constant
        else:
            reason = re.sub(r"^.*?error\[(SK\d+)\]: (?:\S*model\.onnx: )?", r"\1 ", result)
            reasons[reason.replace(str(tempfile.gettempdir()), "")] += 1
            if kind != "refused" or test.name in listed:
                problems.append((test.name, result))
            elif options.only or options.missing:
                print(f"{test.name}: {result}")
    print(f"{total} tests in scope of onnx {onnx.__version__}, {len(tests)} run by the {options.engine} engine: "
          f"{counts['equal']} equal ({constants} with inputs as constants), {counts['wrong']} wrong, "
          f"{counts['failed']} failed, {counts['refused']} refused")
    if options.reasons:
        for reason, count in reasons.most_common():
            print(f"{count:5} {reason[:200]}")
    for name, result in problems:
        print(f"{name}: {result[:300]}")
    if options.update:
        LISTED.write_text("\n".join(sorted(listed | set(passed))) + "\n")
    lost = [name for name, _ in problems if name in listed]
    return 1 if counts["wrong"] or lost else 0


if __name__ == "__main__":
    sys.exit(main())
