#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes whose operands meet in dynamic dimensions. With matching arrays, results are compared with onnxruntime; calls with mismatching
arrays must be refused. Usage: dynamic.py [--skript FILE] [--engine NAME] [--only PART]"""

import sys

import numpy as np
from onnx import TensorProto, helper

from cases import FLOAT, INT64, body, case, node, reals, run

# Expand broadcasts static and dynamic extents of 1 in both directions.
shaped = [node("Shape", "b", "s"), node("Expand", "a s", "y")]
names = {"a": ["m"], "b": ["n"]}
for own, other in ((4, 4), (1, 4), (4, 1), (1, 1), (1, 0), (0, 1), (0, 0)):
    case(f"Expand {own} to {other}", shaped, {"a": reals(own), "b": reals(other)}, shapes=names)
for own, other in ((3, 4), (4, 3), (0, 4), (2, 0)):
    case(f"Expand {own} to {other}", shaped, {"a": reals(own), "b": reals(other)}, shapes=names, refused="SK9203")
for own, other in (((3, 1), (2, 1, 4)), ((1, 4), (2, 3, 1)), ((2, 3, 4), (1,)), ((1,), (2, 3, 4)), ((3, 4), (4,))):
    letters = {"a": [f"a{i}" for i in range(len(own))], "b": [f"b{i}" for i in range(len(other))]}
    case(f"Expand {own} to {other}", shaped, {"a": reals(*own), "b": reals(*other)}, shapes=letters)
for own in (1, 4, 3):
    case(f"Expand {own} to 4 that are static", shaped, {"a": reals(own), "b": reals(4)}, shapes={"a": ["m"]}, refused="SK9203" if own == 3 else None)
    case(f"Expand 4 that are static to {own}", shaped, {"a": reals(4), "b": reals(own)}, shapes={"b": ["m"]}, refused="SK9203" if own == 3 else None)
cut = [node("Slice", "x z e z", "row"), node("Shape", "x", "s"), node("Expand", "row s", "y")]
for rows in (0, 1, 2, 4):
    ends = {count: dict(z=np.array([0]), e=np.array([count])) for count in (1, 2)}
    case(f"the first of {rows} rows for all", cut, {"x": reals(rows, 3)}, ends[1], {"x": ["n", 3]})
    case(f"two of {rows} rows for all", cut, {"x": reals(rows, 3)}, ends[2], {"x": ["n", 3]}, refused="SK9203" if rows == 4 else None)
used = [node("Shape", "m", "s"), node("Expand", "x s", "e"), node("Mul", "e m", "z")]
for rows in (1, 3, 4):
    case(f"Expand {rows} rows, then Mul", used, {"x": reals(rows, 1), "m": reals(4, 5)}, (), {"x": ["a", 1], "m": ["b", "k"]}, "z",
         refused="SK9203" if rows == 3 else None)
case("Expand bools and ints", [node("Shape", "b", "s"), node("Expand", "a s", "y"), node("Expand", "i s", "z")],
     {"a": np.array([[True], [False]]), "i": np.array([[3]]), "b": reals(2, 3)}, (), {"a": ["m", "k"], "i": ["i", "j"], "b": ["n", "l"]}, "y z")

# Scans of several sequences.
adding = body([node("Add", "p q", "r")], [("p", FLOAT, [4]), ("q", FLOAT, [4])], [("r", FLOAT, [4])])
both = [node("Scan", "a b", "y", body=adding, num_scan_inputs=2)]
for first, second in ((3, 3), (2, 3), (3, 2)):
    for shapes in ({"a": ["m", 4], "b": ["k", 4]}, {"a": ["m", 4]}, {"b": ["k", 4]}):
        case(f"Scan of {first} and {second} rows {sorted(shapes)}", both, {"a": reals(first, 4), "b": reals(second, 4)}, shapes=shapes,
             refused=None if first == second else "SK9203")
case("Scan of other static extents", both, {"a": reals(2, 4), "b": reals(3, 4)}, refused="has the extent 2, and another operand has 3")

# Letters of an Einsum equation.
for equation, a, b in (("ij,jk->ik", (2, 3), (3, 4)), ("ij,ij->i", (2, 3), (2, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("i,i->", (5,), (5,))):
    letters = {"a": [f"a{i}" for i in range(len(a))], "b": [f"b{i}" for i in range(len(b))]}
    case(f"Einsum {equation} of other names", [node("Einsum", "a b", "y", equation=equation)], {"a": reals(*a), "b": reals(*b)}, shapes=letters)
    other = (*b[:-1], b[-1] + 1) if equation in ("ij,ij->i", "i,i->") else (*b[:-2], b[-2] + 1, b[-1])
    case(f"Einsum {equation} of other extents", [node("Einsum", "a b", "y", equation=equation)], {"a": reals(*a), "b": reals(*other)}, shapes=letters,
         refused="SK9203")
case("Einsum of a diagonal", [node("Einsum", "a", "y", equation="ii->i")], {"a": reals(3, 3)}, shapes={"a": ["m", "n"]})
case("Einsum of no diagonal", [node("Einsum", "a", "y", equation="ii->i")], {"a": reals(3, 4)}, shapes={"a": ["m", "n"]}, refused="SK9203")

# Other operators that combine dimensions: only the first extents match.
select = np.array([True, False, True])
together = [
    ("Add", [node("Add", "a b", "y")], reals(3), reals(3), reals(4)),
    ("Less", [node("Less", "a b", "y")], reals(2, 3), reals(3), reals(4)),
    ("Where", [node("Where", "c a b", "y")], reals(3), reals(3), reals(4)),
    ("Max", [node("Max", "a b", "y")], reals(3), reals(3), reals(2)),
    ("PRelu", [node("PRelu", "a b", "y")], reals(2, 3), reals(3), reals(2)),
    ("MatMul", [node("MatMul", "a b", "y")], reals(2, 3), reals(3, 4), reals(2, 4)),
    ("MatMul of batches", [node("MatMul", "a b", "y")], reals(2, 2, 3), reals(2, 3, 4), reals(3, 3, 4)),
    ("Gemm", [node("Gemm", "a b", "y", transB=1)], reals(2, 3), reals(4, 3), reals(4, 2)),
    ("Gemm with a bias", [node("Gemm", "w v b", "y")], None, reals(5), reals(4)),
    ("Concat", [node("Concat", "a b", "y", axis=0)], reals(2, 3), reals(4, 3), reals(4, 2)),
    ("GatherElements", [node("Cast", "b", "i", to=INT64), node("GatherElements", "a i", "y", axis=0)], reals(3, 2), np.zeros((5, 2), np.float32), np.zeros((5, 3), np.float32)),
    ("LayerNormalization", [node("LayerNormalization", "a b", "y")], reals(2, 3), reals(3), reals(2)),
    ("BatchNormalization", [node("BatchNormalization", "a b b b v", "y")], reals(2, 3), abs(reals(3)), abs(reals(2))),
    ("Sum", [node("Sum", "a b a", "y")], reals(3), reals(3), reals(2)),
]
for name, nodes, a, good, bad in together:
    weights = dict(c=select, v=np.ones(3, np.float32), w=reals(2, 3))
    read = {name for own in nodes for name in own.input}
    if name == "Gemm with a bias":
        weights["v"] = reals(3, 5)
    weights = {key: array for key, array in weights.items() if key in read}
    for arrays, refused in ((dict(a=a, b=good), None), (dict(a=a, b=bad), "error[SK9")):
        arrays = {key: array for key, array in arrays.items() if array is not None}
        shapes = {key: [f"{key}{i}" for i in range(array.ndim)] for key, array in arrays.items()}
        case(f"{name} {'of others' if refused else 'that fits'}", nodes, arrays, weights, shapes, refused=refused)

# Positions, lengths and updates that exceed a dimension.
for rows in (1, 2, 3):
    for dynamic in (["n", 2], None):
        case(f"Compress of {rows} rows by 3 conditions {dynamic}", [node("Compress", "x c", "y", axis=0)], {"x": reals(rows, 2), "c": select}, shapes={"x": dynamic} if dynamic else {})
        case(f"Compress of {rows} rows by 3 known conditions {dynamic}", [node("Compress", "x c", "y", axis=0)], {"x": reals(rows, 2)}, dict(c=select), {"x": dynamic} if dynamic else {})
for items in (2, 3):
    case(f"ReverseSequence of {items} items", [node("ReverseSequence", "x l", "y", batch_axis=1, time_axis=0)], {"x": reals(4, 3), "l": np.array([4, 2, 3][:items])},
         shapes={"x": ["t", "b"], "l": ["k"]}, refused="SK9203" if items == 2 else None)
for operator, more in (("GatherElements", {}), ("ScatterElements", {"u": reals(3, 3)})):
    inputs = {"x": reals(2, 4), "i": np.zeros((3, 3), np.int64), **more}
    case(f"{operator} of more rows", [node(operator, " ".join(inputs), "y", axis=1)], inputs, shapes={key: [f"{key}0", f"{key}1"] for key in inputs}, refused="SK9203")
    case(f"{operator} of more static rows", [node(operator, " ".join(inputs), "y", axis=1)], inputs, refused="dimension 0 of the indices has the extent 3, but that of the data is 2")

# Slices with data-dependent ends.
x, far = np.arange(20, dtype=np.float32).reshape(5, 4), 2**63 - 1
for begin, end, step in ((1, 3, 1), (0, far, 2), (-2, far, 1), (3, 1, 1), (4, 0, -1), (far, -far, -2), (-1, -9, -1), (2, 2, 1), (7, 9, 1), (-9, 2, 1)):
    case(f"slice by data {begin}:{end}:{step}", [node("Slice", "x b e a s", "y")], {"x": x, "b": np.array([begin]), "e": np.array([end])},
         dict(a=np.array([0]), s=np.array([step])), {"x": ["n", 4]})
case("slice of two axes by data", [node("Slice", "x b e", "y")], {"x": x, "b": np.array([1, -3]), "e": np.array([4, far])})
case("slice from data to the end", [node("Slice", "x b e a", "y")], {"x": x, "b": np.array([2])}, dict(e=np.array([far]), a=np.array([-1])))
window = [node("Add", "b two", "e"), node("Slice", "x b e zero", "y"), node("Add", "y w", "z")]
for begin in (0, 3, 4):
    case(f"two rows from {begin} on", window, {"x": x, "b": np.array([begin])}, dict(two=np.array([2]), zero=np.array([0]), w=reals(2, 4)), outputs="z",
         refused="SK9203" if begin == 4 else None)
# EmbeddingBag as exported by torch: a loop over bags, each of which is a slice of the indices.
bag = body([node("Gather", "offsets i", "first", axis=0), node("Add", "i one", "j"), node("Gather", "ends j", "last", axis=0),
            node("Unsqueeze", "first zero", "b"), node("Unsqueeze", "last zero", "e"), node("Slice", "indices b e zero", "own"),
            node("Gather", "w own", "rows", axis=0), node("ReduceSum", "rows zero", "sum", keepdims=0), node("Identity", "c", "c1")],
           [("i", INT64, []), ("c", TensorProto.BOOL, [])], [("c1", TensorProto.BOOL, []), ("sum", FLOAT, [3])])
bags = [node("Shape", "indices", "count"), node("Concat", "offsets count", "ends", axis=0), node("Shape", "offsets", "bags"), node("Squeeze", "bags zero", "m"),
        node("Loop", ["m", "go"], "y", body=bag)]
case("EmbeddingBag", bags, {"indices": np.array([1, 4, 0, 2, 2, 3, 1]), "offsets": np.array([0, 2, 2, 5])},
     dict(w=reals(6, 3), zero=np.array([0]), one=np.int64(1), go=np.array(True)), {"indices": ["n"], "offsets": ["k"]})

# A text recognizer that merges the columns of its image: the product of the other extents cancels.
merged = [node("Conv", "x w", "c", strides=[2, 2], pads=[1, 1, 1, 1]), node("Reshape", "c rows", "r"), node("Transpose", "r", "t", perm=[0, 2, 1]),
          node("MatMul", "t m", "p"), node("Reshape", "p heads", "y")]
kernels = dict(w=reals(12, 3, 3, 3), rows=np.array([0, 12, -1]), m=reals(12, 12), heads=np.array([0, -1, 2, 6]))
for shape in ((2, 3, 8, 31), (1, 3, 1, 1), (3, 3, 7, 4)):
    case(f"merged columns of {shape}", merged, {"x": reals(*shape)}, kernels, {"x": ["b", 3, "h", "w"]})

# Detectors as exported by torchvision: the boxes that are kept, possibly none; and the best ones, limited to their number.
none = helper.make_graph([], "none", [], [helper.make_tensor_value_info("nothing", INT64, [0])], [helper.make_tensor("nothing", INT64, [0], [])])
some = helper.make_graph([node("NonZero", "x", "z"), node("Squeeze", "z zero", "found")], "some", [], [helper.make_tensor_value_info("found", INT64, ["k"])])
for flag in (True, False):
    case(f"a branch of nothing {flag}", [node("If", "c", "f", then_branch=none, else_branch=some), node("Gather", "x f", "y")],
         {"x": np.array([0, 3, 0, 1], np.float32), "c": np.array(flag)}, dict(zero=np.array([0])), {"x": ["n"]})
best = [node("Greater", "x least", "b"), node("NonZero", "b", "z"), node("Transpose", "z", "t"), node("GatherND", "x t", "g"), node("Shape", "g", "s"),
        node("Concat", "three s", "both", axis=0), node("ReduceMin", "both", "k", keepdims=1), node("TopK", "g k", "y i")]
for least in (0.5, -9):
    case(f"the best above {least}", best, {"x": reals(9)}, dict(least=np.float32(least), three=np.array([3])), {"x": ["n"]}, "y i")
case("a count of all elements", [node("Shape", "x", "s"), node("ReduceProd", "s", "n", keepdims=0), node("Range", "zero n one", "y")], {"x": reals(3, 4)},
     dict(zero=np.int64(0), one=np.int64(1)), {"x": ["a", "b"]})

# Lengths of sequences.
batch, steps, size, hidden = 3, 5, 2, 4
series = {"x": reals(steps, batch, size)}
for operator, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        weights = dict(w=reals(count, gates * hidden, size), r=reals(count, gates * hidden, hidden), b=reals(count, 2 * gates * hidden))
        recurrent = [node(operator, "x w r b lengths", "y h", hidden_size=hidden, direction=direction)]
        for lengths in ([5, 3, 1], [2, 2, 2], [5, 5, 5]):
            lengths = dict(lengths=np.array(lengths, np.int32))
            case(f"{operator} {direction} of lengths {lengths['lengths']}", recurrent, dict(series, **lengths), weights, outputs="y h")
            case(f"{operator} {direction} of known lengths {lengths['lengths']}", recurrent, series, dict(weights, **lengths), outputs="y h")
    case(f"{operator} of lengths and states, dynamic", [node(operator, "x w r b lengths h0", "y h", hidden_size=hidden, direction=direction)],
         dict(series, lengths=np.array([4, 5, 2], np.int32), h0=reals(2, batch, hidden)), weights, {"x": ["s", "b", size], "lengths": ["b"], "h0": [2, "b", hidden]}, "y h")

# Shapes of empty tensors: copied extents cancel, even if they are zero. onnxruntime computes the same shapes.
pool = node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2])
filters = dict(w=reals(3, 3, 3, 3), zero=np.array([0]), one=np.array([1]), minus=np.array([-1]), last=np.array([2 ** 40]), two=np.array([2]), axis=np.array([3]))
image = {"x": ["n", 3, "h", 5]}
for batch in (0, 2):
    case(f"Flatten of {batch} behind MaxPool", [pool, node("Flatten", "p", "y")], {"x": reals(batch, 3, 5, 5)}, shapes=image)
    case(f"Flatten of {batch} behind Conv", [node("Conv", "x w", "p", strides=[2, 2]), node("Flatten", "p", "y")], {"x": reals(batch, 3, 5, 5)}, filters, image)
    case(f"Reshape of {batch} to rows", [pool, node("Reshape", "p s", "y", allowzero=1)], {"x": reals(batch, 3, 5, 5)}, dict(s=np.array([-1, 12])), image)
for height, width in ((4, 0), (0, 3), (4, 3)):
    x = reals(2, 3, height, width)
    case(f"Transpose, Slice, Reshape of {height}×{width}", [node("Transpose", "x", "t", perm=[0, 1, 3, 2]), node("Slice", "t zero last axis two", "c"),
         node("Reshape", "c s", "y")], {"x": x}, dict(filters, s=np.array([0, 0, 0, -1, 1])), {"x": ["n", 3, "h", "w"]},
         # onnxruntime refuses the product 0 of extents that are copied.
         expected=None if width else x.transpose(0, 1, 3, 2)[..., ::2, None])
joined = [node("Shape", "x", "s"), node("Gather", "s zero", "a"), node("Gather", "s one", "b"), node("Mul", "a b", "ab"), node("Concat", "ab minus", "t", axis=0),
          node("Reshape", "x t", "y")]
for rows, columns in ((2, 3), (0, 3), (2, 0), (0, 0)):
    x = reals(rows, columns, 4)
    case(f"Reshape of {rows}×{columns} rows to all of them", joined, {"x": x}, filters, {"x": ["a", "b", 4]}, expected=x.reshape(rows * columns, 4))
    case(f"Tile of {rows}×{columns}", [node("Tile", "x r", "y")], {"x": reals(rows, columns, 4)}, dict(r=np.array([2, 3, 1])))
    case(f"Tile of {rows}×{columns}, dynamic", [node("Tile", "x r", "y")], {"x": reals(rows, columns, 4)}, dict(r=np.array([2, 3, 1])), {"x": ["a", "b", 4]})
    case(f"Tile by {rows} and {columns}", [node("Shape", "x", "r"), node("Tile", "z r", "y")], {"x": reals(rows, columns), "z": reals(2, 3)}, (), {"x": ["a", "b"]})

# Windows whose padding or number depends on dynamic extents.
image = {"x": ["n", 2, "h", "w"]}
auto, above = dict(auto_pad="SAME_UPPER"), dict(ceil_mode=1)
filters = dict(w=reals(4, 2, 3, 2))
windows = [
    ("MaxPool", dict(kernel_shape=[2, 2], strides=[2, 2], **auto)),
    ("MaxPool", dict(kernel_shape=[3, 4], strides=[2, 3], auto_pad="SAME_LOWER")),
    ("MaxPool", dict(kernel_shape=[3, 2], strides=[2, 2], **above)),
    ("MaxPool", dict(kernel_shape=[4, 3], strides=[2, 2], pads=[1, 1, 1, 1], **above)),
    ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 1], **auto)),
    ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER", count_include_pad=1)),
    ("AveragePool", dict(kernel_shape=[3, 2], strides=[2, 2], **above)),
    ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1], count_include_pad=1, **above)),
    ("LpPool", dict(kernel_shape=[2, 3], strides=[2, 2], p=2, **auto)),
    ("Conv", dict(strides=[2, 2], **auto)),
    ("Conv", dict(strides=[3, 1], auto_pad="SAME_LOWER")),
    ("Conv", dict(strides=[2, 2], dilations=[2, 1], **auto)),
    ("MaxPool", dict(kernel_shape=[1, 1], strides=[2, 2], **above)),
]
for at, (operator, attributes) in enumerate(windows):
    opset = 22 if operator == "LpPool" else 19
    for height, width in ((7, 8), (8, 5), (4, 4), (9, 3)):
        weights = filters if operator == "Conv" else ()
        inputs = "x w" if operator == "Conv" else "x"
        case(f"{operator} with window {at} of {height}×{width}", [node(operator, inputs, "y", **attributes)], {"x": reals(3, 2, height, width)}, weights, image,
             opset=opset, oracle="onnx" if "dilations" in attributes else "onnxruntime")
for height, width in ((7, 8), (4, 4), (1, 2)):
    case(f"Conv with a window of one element of {height}×{width}", [node("Conv", "x w", "y", strides=[2, 2], **auto)], {"x": reals(3, 2, height, width)},
         dict(w=reals(4, 2, 1, 1)), image)
for attributes in (dict(kernel_shape=[2, 2], strides=[3, 3], **auto), dict(kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1], **above)):
    case(f"MaxPool with {attributes}", [node("MaxPool", "x", "y", **attributes)], {"x": reals(1, 2, 5, 5)}, (), image, refused="requires static extents")

# Whole factors.
for mode in ("nearest", "linear"):
    for attributes in (dict(), dict(coordinate_transformation_mode="pytorch_half_pixel"), dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor")):
        for scales in ((1, 1, 2, 2), (1, 1, 3, 1), (1, 1, 4, 3)):
            case(f"Resize {mode} by {scales} {attributes}", [node("Resize", "x r s", "y", mode=mode, **attributes)], {"x": reals(2, 2, 3, 4)},
                 dict(r=np.zeros(0, np.float32), s=np.array(scales, np.float32)), image)
    case(f"Upsample {mode}", [node("Upsample", "x s", "y", mode=mode)], {"x": reals(1, 2, 3, 4)}, dict(s=np.array([1, 1, 2, 3], np.float32)), image, opset=9)
for scales, attributes in (((1, 1, 1.5, 2), dict()), ((1, 1, 2, 2), dict(coordinate_transformation_mode="align_corners", mode="linear")), ((1, 1, 2, 2), dict(mode="cubic")),
                           ((1, 1, 2, 2), dict(coordinate_transformation_mode="asymmetric"))):
    case(f"Resize by {scales} {attributes}", [node("Resize", "x r s", "y", **attributes)], {"x": reals(2, 2, 3, 4)},
         dict(r=np.zeros(0, np.float32), s=np.array(scales, np.float32)), image, refused="must be static")

if __name__ == "__main__":
    sys.exit(run())
