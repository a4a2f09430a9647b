# SPDX-License-Identifier: Apache-2.0
"""Runs models of a few ONNX nodes, and compares their results with those of onnxruntime."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "test"))
import shards  # noqa: E402

FLOAT, INT32, INT64, BOOL, UINT8 = (getattr(TensorProto, kind) for kind in ("FLOAT", "INT32", "INT64", "BOOL", "UINT8"))
MICROSOFT = "com.microsoft"
CASES = []
# A sum of products of bytes, in words.
PRODUCT = re.compile(r'"reduction".*\n?.*ins\([^)]*: memref<[^)]*xi8[^)]*>, memref<[^)]*xi8[^)]*>\) outs\([^)]*xi32')
random = np.random.default_rng(2)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes) if isinstance(inputs, str) else \
        helper.make_node(operator, inputs, outputs.split(), **attributes)


def reals(*shape):
    return random.standard_normal(shape).astype(np.float32)


def case(name, nodes, arrays, constants=(), shapes=None, outputs="y", refused=None, close=1e-4, integers=None, opset=17, oracle="onnxruntime", expected=None):
    """`shapes` has the shapes of inputs with dynamic dimensions; `refused` is a part of the reason. `integers` is how far results of integers,
    which must then be products of bytes, may differ; those of reals must not. `oracle` is `onnx` for its reference
    implementation: onnxruntime does not round halves between nodes. `expected` is the only output if neither of them computes it."""
    CASES.append((name, nodes, arrays, dict(constants), shapes or {}, outputs.split(), refused, close, integers, opset, oracle, expected))


def body(nodes, inputs, outputs, name="body"):
    def values(group):
        return [helper.make_tensor_value_info(key, kind, shape) for key, kind, shape in group]
    return helper.make_graph(nodes, name, values(inputs), values(outputs))


def any_ints(kind, *shape):
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max + 1, shape).astype(kind)


def small_ints(*shape):
    """Signed weights: without VNNI, onnxruntime saturates sums of two products of a byte with a weight at 16 bits."""
    return any_ints(np.int8, *shape) // np.int8(2)


def quantized(**more):
    return dict(xs=np.float32(0.02), xz=np.uint8(120), ws=np.float32(0.01), wz=np.int8(0), ys=np.float32(0.5), yz=np.uint8(100), **more)


def attempt(folder, options, name, nodes, arrays, constants, shapes, outputs, refused, close, integers, opset, oracle, expected):
    inputs = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), shapes.get(key, a.shape)) for key, a in arrays.items()]
    for key, a in constants.items():
        if isinstance(a, TensorProto):
            a.name = key
    weights = [a if isinstance(a, TensorProto) else numpy_helper.from_array(np.asarray(a), key) for key, a in constants.items()]
    results = [onnx.ValueInfoProto(name=key) for key in outputs]
    graph = helper.make_graph(nodes, "g", inputs, results, weights)
    domains = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=9 if opset < 21 else 10)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    command = [options.skript, "run", str(path), "--output-dir", str(folder / "out"), "--engine", options.engine, "--no-cache"]
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        command += ["--input", f"{key}={folder / key}.npy"]
    dimensions = {d for shape in shapes.values() for d in shape if isinstance(d, str)}
    bounds = [word for d in sorted(dimensions) for word in ("--bound", f"{d}=32")]
    command += bounds
    exact = [] if integers is None else ["--quantize=simulate"]
    done = subprocess.run(command + exact, capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    if refused:
        return None if done.returncode == 1 and refused in done.stderr else f"is not refused: {done.stderr.strip()[:300]}"
    if done.returncode != 0:
        return done.stderr.strip()[:300]
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    try:
        if expected is not None:
            results = [expected]
        elif oracle != "onnxruntime":
            raise NotImplementedError
        else:
            results = onnxruntime.InferenceSession(str(path), quiet).run(None, arrays)
    except (NotImplementedError, onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented, onnxruntime.capi.onnxruntime_pybind11_state.Fail,
            onnxruntime.capi.onnxruntime_pybind11_state.InvalidGraph):
        with np.errstate(all="ignore"):
            results = onnx.reference.ReferenceEvaluator(model).run(None, arrays)
    expected = dict(zip(outputs, results))
    problem = difference(folder, expected, close, close if close > 1e-3 else 1e-5)
    if problem or integers is None or options.engine != "compiled":
        return problem
    subprocess.run(command, check=True, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    code = [options.skript, "compile", str(path), "--emit=buffers", *bounds]
    code = subprocess.run(code, check=True, capture_output=True, text=True).stdout
    if not PRODUCT.search(code):
        return "computes no products of bytes"
    return difference(folder, expected, close, integers + 1e-5)


def difference(folder, expected, close, atol):
    for key, expected in expected.items():
        got = np.load(folder / "out" / f"{key}.npy")
        if got.dtype != expected.dtype or got.shape != expected.shape:
            return f"{key} is {got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
        # Integers above 53 bits are not exact as floats.
        if got.dtype.kind in "ui" and atol < 1 and not np.array_equal(got, expected):
            return f"{key} differs: {got[got != expected][:4]}, not {expected[got != expected][:4]}"
        if not np.allclose(got.astype(float), expected.astype(float), rtol=close, atol=atol if close else 0, equal_nan=True):
            return f"{key} differs by up to {np.nanmax(np.abs(got.astype(float) - expected.astype(float))):.3g}"
    return None


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--engine", default="compiled")
    parser.add_argument("--only", default="")
    shards.add_argument(parser)
    options = parser.parse_args()
    wrong, chosen = 0, shards.shard([c for c in CASES if options.only in c[0]], options.shard)
    if not chosen:
        parser.error(f"no case has {options.only!r} in its name")
    for one in chosen:
        with tempfile.TemporaryDirectory() as folder:
            problem = attempt(pathlib.Path(folder), options, *one)
        if problem:
            wrong += 1
            print(f"{one[0]}: {problem}")
    print(f"{len(chosen) - wrong} of {len(chosen)} cases equal onnxruntime or are refused as they should be")
    return 1 if wrong else 0
