#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that the tests of the `onnx` package lack: dynamic slices, loops, scans, sequences, operators of com.microsoft. Each is compared
with onnxruntime, or must be refused with a reason. Usage: operators.py [--skript FILE] [--engine NAME] [--only PART]"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOAT, INT32, INT64, BOOL, UINT8 = (getattr(TensorProto, kind) for kind in ("FLOAT", "INT32", "INT64", "BOOL", "UINT8"))
MICROSOFT = "com.microsoft"
CASES = []
random = np.random.default_rng(2)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes) if isinstance(inputs, str) else \
        helper.make_node(operator, inputs, outputs.split(), **attributes)


def reals(*shape):
    return random.standard_normal(shape).astype(np.float32)


def case(name, nodes, arrays, constants=(), shapes=None, outputs="y", refused=None, close=1e-4):
    """`shapes` has the shapes of inputs with dynamic dimensions; `refused` is a part of the reason."""
    CASES.append((name, nodes, arrays, dict(constants), shapes or {}, outputs.split(), refused, close))


def body(nodes, inputs, outputs, name="body"):
    def values(group):
        return [helper.make_tensor_value_info(key, kind, shape) for key, kind, shape in group]
    return helper.make_graph(nodes, name, values(inputs), values(outputs))


x = np.arange(12, dtype=np.float32).reshape(3, 4)

# Slices of a dynamic dimension clamp their ends.
FAR = 2 ** 63 - 1
for begin, end, step in [(1, FAR, 1), (0, -1, 1), (-2, FAR, 1), (-5, -1, 1), (2, 5, 1), (5, 9, 1), (2, 1, 1), (-1, -FAR, -1), (FAR, -FAR, -2),
                         (1, -5, -1), (-1, 0, -1), (0, 2, 2), (0, 100, 2)]:
    case(f"slice {begin}:{end}:{step}", [node("Slice", "x b e a s", "y")], {"x": x},
         dict(b=np.array([begin]), e=np.array([end]), a=np.array([0]), s=np.array([step])), {"x": ["n", 4]})
case("table", [node("Shape", "x", "shape"), node("Gather", "shape i", "n"), node("Slice", "t z n i", "y")], {"x": np.ones((1, 12), np.float32)},
     dict(t=np.arange(10, dtype=np.float32).reshape(1, 10), z=np.array([0]), i=np.array([1])), {"x": [1, "n"]})

# Negative amounts of a border cut.
case("cut", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 0, -2])), {"x": ["n", "m"]})
case("cut and pad", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 2, -1])))
case("cut too much", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([0, 0, -4, 0])), refused="more elements than there are")
case("cut and pad dynamic", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 2, 0])), {"x": ["n", 4]}, refused="both signs")

# Windows that contradict themselves.
image, filters = reals(1, 3, 5, 5), reals(2, 3, 3, 3)
case("kernel_shape", [node("Conv", "x w", "y", kernel_shape=[2, 2])], {"x": image}, dict(w=filters), refused="`kernel_shape` is [2, 2]")
case("channels", [node("Conv", "x w", "y")], {"x": image}, dict(w=reals(2, 4, 3, 3)), refused="3 channels")
case("negative pads", [node("Conv", "x w", "y", pads=[-1, 0, 0, 0])], {"x": image}, dict(w=filters), refused="negative padding")
case("pool of padding", [node("MaxPool", "x", "y", kernel_shape=[2, 2], pads=[2] * 4)], {"x": image}, refused="in the padding alone")
case("dilated pool", [node("MaxPool", "x", "y", kernel_shape=[2, 2], dilations=[3, 3], pads=[1] * 4)], {"x": image})

# Quantization.
kinds = dict(s=np.float32(1), z=np.uint8(128))
case("saturated", [node("QuantizeLinear", "x s z", "y")], {"x": np.array([1e30, -1e30, np.inf, -np.inf, 3.5], np.float32)}, kinds)
case("range of zeros", [node("DynamicQuantizeLinear", "x", "y s z")], {"x": x * 0}, outputs="y s z")

# Loops.
s, s1, q = ("s", FLOAT, [3, 4]), ("s1", FLOAT, [3, 4]), ("q", FLOAT, [3, 4])
i, c, c1 = ("i", INT64, []), ("c", BOOL, []), ("c1", BOOL, [])
add, goes_on = node("Add", "s x", "s1"), node("Identity", "c", "c1")
collecting = body([add, goes_on, node("Mul", "s1 s1", "q")], [i, c, s], [c1, s1, q])
case("counted", [node("Loop", ["m", "", "x0"], "y z", body=collecting)], {"x": x, "x0": x * 2}, dict(m=np.int64(5)), outputs="y z")
until = body([add, node("ReduceSum", "s1", "t", keepdims=0), node("Less", "t limit", "c1")], [i, c, s], [c1, s1])
start = {"x": x, "x0": x * 0}
for name, count, go in [("by data", 50, True), ("few", 2, True), ("none", 50, False)]:
    case(f"loop {name}", [node("Loop", "m c0 x0", "y", body=until)], dict(start, m=np.array(count), c0=np.array(go)), dict(limit=np.float32(300)))
case("while", [node("Loop", ["", "c0", "x0"], "y", body=until)], dict(start, c0=np.array(True)), dict(limit=np.float32(300)))
rows = body([node("Gather", "x i", "r"), node("Add", "s r", "s1"), goes_on, node("Identity", "s1", "q")], [i, c, ("s", FLOAT, [4])],
            [c1, ("s1", FLOAT, [4]), ("q", FLOAT, [4])])
case("dynamic count", [node("Shape", "x", "shape"), node("Gather", "shape zero", "m"), node("Loop", ["m", "", "x0"], "y z", body=rows)],
     {"x": x, "x0": x[0]}, dict(zero=np.int64(0)), {"x": ["n", 4]}, "y z")
longer = body([node("Concat", "s x", "s1", axis=0), goes_on], [i, c, ("s", FLOAT, None)], [c1, ("s1", FLOAT, None)])
case("other shapes", [node("Loop", ["m", "", "x0"], "y", body=longer)], {"x": x, "x0": x}, dict(m=np.int64(3)))
early = body(until.node[:] + [node("Identity", "s1", "q")], [i, c, s], [c1, s1, q])
case("early end", [node("Loop", ["m", "", "x0"], "y z", body=early)], start, dict(limit=np.float32(300), m=np.int64(20)), outputs="y z")
case("endless", [node("Loop", ["", "", "x0"], "y", body=body([add, goes_on], [i, c, s], [c1, s1]))], start, refused="no end")

# Scans.
def step(n):
    return body([node("Add", "s r", "s1"), node("Mul", "s1 s1", "q")], [("s", FLOAT, [n]), ("r", FLOAT, [n])], [("s1", FLOAT, [n]), ("q", FLOAT, [n])])
case("scan", [node("Scan", "s0 x", "y z", body=step(4), num_scan_inputs=1)], {"x": x, "s0": x[1]}, outputs="y z")
case("scan backwards", [node("Scan", "s0 x", "y z", body=step(4), num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1],
                             scan_output_axes=[1])], {"x": x, "s0": x[1]}, (), {"x": ["n", 4]}, "y z")
case("scan of columns", [node("Scan", "s0 x", "y z", body=step(3), num_scan_inputs=1, scan_input_axes=[1])], {"x": x, "s0": x[:, 1].copy()}, outputs="y z")

# Sequences.
case("sequence", [node("SplitToSequence", "x one", "s", axis=0), node("SequenceAt", "s at", "a"), node("SequenceInsert", "s a", "s2"),
                  node("ConcatFromSequence", "s2", "y", axis=0)], {"x": x}, dict(one=np.int64(1), at=np.int64(-2)))

# Positions of the largest ints, and the nearest elements.
case("largest ints", [node("TopK", "x k", "y z", axis=1)], {"x": random.integers(-5, 5, (4, 9))}, dict(k=np.array([3])), outputs="y z")
case("casts of outputs", [node("Cast", "x", "y", to=TensorProto.FLOAT16)], {"x": reals(50)})
case("casts between", [node("Cast", "x", "h", to=TensorProto.FLOAT16), node("Cast", "h", "y", to=FLOAT)], {"x": reals(5)}, refused="only its outputs are rounded")

# Quantized operators. Weights are small: onnxruntime's own sums of two products may saturate.
ints = random.integers(0, 255, (1, 3, 6, 6)).astype(np.uint8)
case("QLinearConv", [node("QLinearConv", "x xs xz w ws wz ys yz b", "y", pads=[1] * 4)], {"x": ints},
     dict(xs=np.float32(.02), xz=np.uint8(120), w=random.integers(-60, 60, (4, 3, 3, 3)).astype(np.int8), ws=np.array([.01, .02, .03, .015], np.float32),
          wz=np.zeros(4, np.int8), ys=np.float32(.5), yz=np.uint8(100), b=random.integers(-999, 999, 4).astype(np.int32)))
scales = dict(s=np.float32(.02), z=np.uint8(120), s2=np.float32(.03), z2=np.uint8(20))
two = {"x": ints, "x2": ints[..., ::-1].copy()}
for operator in ("QLinearAdd", "QLinearMul"):
    case(operator, [node(operator, "x s z x2 s z s2 z2", "y", domain=MICROSOFT)], two, scales)
case("QLinearSigmoid", [node("QLinearSigmoid", "x s z s3 z3", "y", domain=MICROSOFT)], {"x": ints}, dict(scales, s3=np.float32(1 / 256), z3=np.uint8(0)))
case("QLinearLeakyRelu", [node("QLinearLeakyRelu", "x s z s2 z2", "y", domain=MICROSOFT, alpha=.2)], {"x": ints}, scales)
case("QLinearGlobalAveragePool", [node("QLinearGlobalAveragePool", "x s z s2 z2", "y", domain=MICROSOFT)], {"x": ints}, scales)
case("QLinearConcat", [node("QLinearConcat", "s2 z2 x s z x2 s2 z", "y", domain=MICROSOFT, axis=1)], two, scales)
weights = dict(b=random.integers(-60, 60, (8, 3)).astype(np.int8), bs=np.float32(.01), bz=np.int8(3), bias=reals(3))
case("DynamicQuantizeMatMul", [node("DynamicQuantizeMatMul", "x b bs bz bias", "y", domain=MICROSOFT)], {"x": reals(5, 8)}, weights)
case("MatMulIntegerToFloat", [node("MatMulIntegerToFloat", "x b s bs z bz bias", "y", domain=MICROSOFT)],
     {"x": random.integers(0, 200, (5, 8)).astype(np.uint8)}, dict(weights, **scales))

# Attention of onnxruntime.
steps, mask = reals(2, 5, 32), np.array([[1] * 5, [1] * 3 + [0] * 2], np.int32)
for causal in (0, 1):
    case(f"Attention {causal}", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4, unidirectional=causal)], {"x": steps, "mask": mask},
         dict(w=reals(32, 96) * np.float32(.2), b=reals(96)), {"x": ["b", "s", 32], "mask": ["b", "s"]})
case("MultiHeadAttention", [node("MultiHeadAttention", "q k v b mask bias", "y", domain=MICROSOFT, num_heads=4)],
     {"q": steps, "k": reals(2, 5, 32), "v": reals(2, 5, 32), "mask": mask, "bias": reals(1, 4, 5, 5)}, dict(b=reals(96)))
case("MultiHeadAttention cache", [node("MultiHeadAttention", ["q", "k", "v", "", "", "", "pk", "pv"], "y nk nv", domain=MICROSOFT, num_heads=4, unidirectional=1)],
     {"q": steps, "k": reals(2, 5, 32), "v": reals(2, 5, 32), "pk": reals(2, 4, 3, 8), "pv": reals(2, 4, 3, 8)},
     (), {"q": ["b", "s", 32], "k": ["b", "s", 32], "v": ["b", "s", 32], "pk": ["b", 4, "p", 8], "pv": ["b", 4, "p", 8]}, "y nk nv")
angles = dict(cos=reals(16, 8), sin=reals(16, 8))
for interleaved in (0, 1):
    case(f"RotaryEmbedding {interleaved}", [node("RotaryEmbedding", "x p cos sin", "y", domain=MICROSOFT, interleaved=interleaved)],
         {"x": steps, "p": random.integers(0, 16, (2, 5))}, angles)
case("RotaryEmbedding offset", [node("RotaryEmbedding", "x p cos sin", "y", domain=MICROSOFT)], {"x": steps, "p": np.array([3])}, angles, {"x": ["b", "s", 32]})
for name, batch, new, past, lengths, more in [("decode", 2, 1, 6, [7, 5], {}), ("window", 2, 1, 6, [7, 7], dict(local_window_size=3)),
                                              ("cap", 2, 1, 6, [7, 6], dict(softcap=2.0, rotary_interleaved=1)), ("more", 1, 3, 6, [9], {})]:
    case(f"GroupQueryAttention {name}", [node("GroupQueryAttention", "q k v pk pv last total cos sin", "y nk nv", domain=MICROSOFT, num_heads=4, kv_num_heads=2, do_rotary=1, **more)],
         {"q": reals(batch, new, 64), "k": reals(batch, new, 32), "v": reals(batch, new, 32), "pk": reals(batch, 2, past, 16), "pv": reals(batch, 2, past, 16),
          "last": np.array(lengths, np.int32) - 1}, dict(angles, total=np.int32(past + new)),
         {"q": ["b", "s", 64], "k": ["b", "s", 32], "v": ["b", "s", 32], "pk": ["b", 2, "p", 16], "pv": ["b", 2, "p", 16], "last": ["b"]}, "y nk nv")
case("GroupQueryAttention packed", [node("GroupQueryAttention", ["q", "", "", "", "", "last", "total", "cos", "sin"], "y nk nv", domain=MICROSOFT, num_heads=4, kv_num_heads=2, do_rotary=1)],
     {"q": reals(2, 5, 128), "last": np.array([4, 4], np.int32)}, dict(angles, total=np.int32(5)), outputs="y nk nv")


def attempt(folder, options, name, nodes, arrays, constants, shapes, outputs, refused, close):
    inputs = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), shapes.get(key, a.shape)) for key, a in arrays.items()]
    weights = [numpy_helper.from_array(np.asarray(a), key) for key, a in constants.items()]
    results = [onnx.ValueInfoProto(name=key) for key in outputs]
    graph = helper.make_graph(nodes, "g", inputs, results, weights)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=9)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    command = [options.skript, "run", str(path), "--output-dir", str(folder / "out"), "--engine", options.engine, "--no-cache"]
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        command += ["--input", f"{key}={folder / key}.npy"]
    dimensions = {d for shape in shapes.values() for d in shape if isinstance(d, str)}
    command += [word for d in sorted(dimensions) for word in ("--bound", f"{d}=32")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    if refused:
        return None if done.returncode == 1 and refused in done.stderr else f"is not refused: {done.stderr.strip()[:300]}"
    if done.returncode != 0:
        return done.stderr.strip()[:300]
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    for key, expected in zip(outputs, onnxruntime.InferenceSession(str(path), quiet).run(None, arrays)):
        got = np.load(folder / "out" / f"{key}.npy")
        if got.dtype != expected.dtype or got.shape != expected.shape:
            return f"{key} is {got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
        if not np.allclose(got.astype(float), expected.astype(float), rtol=close, atol=1e-5, equal_nan=True):
            return f"{key} differs by up to {np.nanmax(np.abs(got.astype(float) - expected.astype(float))):.3g}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--engine", default="compiled")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wrong, chosen = 0, [c for c in CASES if options.only in c[0]]
    for one in chosen:
        with tempfile.TemporaryDirectory() as folder:
            problem = attempt(pathlib.Path(folder), options, *one)
        if problem:
            wrong += 1
            print(f"{one[0]}: {problem}")
    print(f"{len(chosen) - wrong} of {len(chosen)} cases equal onnxruntime or are refused as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
