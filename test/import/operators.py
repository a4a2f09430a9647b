#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that the tests of the `onnx` package do not cover: dynamic slices, loops, scans, sequences, operators of com.microsoft. Results are
compared with onnxruntime, or the model must be refused with a reason. Usage: operators.py [--skript FILE] [--engine NAME] [--only PART]"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import com_microsoft
from cases import BOOL, FLOAT, INT32, INT64, any_ints, body, case, node, quantized, random, reals, run, small_ints

x = np.arange(12, dtype=np.float32).reshape(3, 4)

# Slices of a dynamic dimension clamp their ends.
FAR = 2 ** 63 - 1
for begin, end, step in [(1, FAR, 1), (0, -1, 1), (-2, FAR, 1), (-5, -1, 1), (2, 5, 1), (5, 9, 1), (2, 1, 1), (-1, -FAR, -1), (FAR, -FAR, -2),
                         (1, -5, -1), (-1, 0, -1), (0, 2, 2), (0, 100, 2)]:
    case(f"slice {begin}:{end}:{step}", [node("Slice", "x b e a s", "y")], {"x": x},
         dict(b=np.array([begin]), e=np.array([end]), a=np.array([0]), s=np.array([step])), {"x": ["n", 4]})
case("table", [node("Shape", "x", "shape"), node("Gather", "shape i", "n"), node("Slice", "t z n i", "y")], {"x": np.ones((1, 12), np.float32)},
     dict(t=np.arange(10, dtype=np.float32).reshape(1, 10), z=np.array([0]), i=np.array([1])), {"x": [1, "n"]})

# Negative padding crops.
case("cut", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 0, -2])), {"x": ["n", "m"]})
case("cut and pad", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 2, -1])))
case("cut too much", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([0, 0, -4, 0])), refused="more elements than the dimension has")
case("cut and pad dynamic", [node("Pad", "x p", "y")], {"x": x}, dict(p=np.array([-1, 0, 2, 0])), {"x": ["n", 4]}, refused="different signs")

# Values that any operator computes from static extents and constants only.
shape_of_x = node("Shape", "x", "shape")
product = node("ReduceProd", "shape", "p", keepdims=0)
one, two, zero = np.array([1]), np.array([2]), np.array([0])
case("shape by ReduceProd", [shape_of_x, node("ReduceProd", "shape", "s"), node("Reshape", "x s", "y")], {"x": x})
case("shape by Max, Min, Clip", [shape_of_x, node("Min", "shape four shape", "b"), node("Max", "b shape one", "c"),
                                      node("Clip", "c low high", "s"), node("Reshape", "x s", "y")], {"x": x},
     dict(four=np.array([4]), one=one, low=np.int64(1), high=np.int64(4)))
case("shape by CumSum", [shape_of_x, node("CumSum", "shape axis", "a"), node("Sub", "a b", "s"), node("Reshape", "x s", "y")], {"x": x},
     dict(axis=np.int64(0), b=np.array([1, 1])))
case("shape by TopK", [shape_of_x, node("TopK", "shape two", "s i"), node("Reshape", "x s", "y")], {"x": x}, dict(two=two))
case("shape by ScatterND, Tile and Unique", [shape_of_x, node("ScatterND", "shape at two", "a"), node("Tile", "a two", "b"), node("Unique", "b", "c"),
                                             node("Concat", "c m", "s", axis=0), node("Reshape", "x s", "y")], {"x": x}, dict(at=np.array([[1]]), two=two, m=np.array([-1])))
case("shape by NonZero and GatherND", [shape_of_x, node("NonZero", "shape", "a"), node("Transpose", "a", "b"), node("GatherND", "shape b", "s"), node("Reshape", "x s", "y")],
     {"x": x})
case("shape by reals", [shape_of_x, node("Cast", "shape", "a", to=1), node("Mul", "a scale", "b"), node("Round", "b", "c"), node("Cast", "c", "s", to=7), node("Reshape", "x s", "y")],
     {"x": x}, dict(scale=np.array([1.98, 0.52], np.float32)))
case("shape in 8 bits", [node("Add", "a a", "b"), node("Neg", "b", "c"), node("Cast", "c", "d", to=7), node("Sub", "d e", "s"), node("Reshape", "x s", "y")],
     {"x": x}, dict(a=np.array([100], np.int8), e=np.array([44])))
case("range by ReduceProd", [shape_of_x, product, node("Range", "zero p one", "r"), node("Reshape", "r shape", "s"), node("Cast", "s", "t", to=1), node("Add", "x t", "y")],
     {"x": x}, dict(zero=np.int64(0), one=np.int64(1)))
case("depth by ReduceMax", [shape_of_x, node("ReduceMax", "shape", "d", keepdims=1), node("OneHot", "i d v", "y")],
     {"x": x, "i": np.array([0, 3])}, dict(v=np.array([0., 1.], np.float32)))
case("condition by Greater", [shape_of_x, product, node("Greater", "p ten", "c"),
                              node("If", "c", "y", then_branch=body([node("Exp", "x", "t")], [], [("t", FLOAT, None)]),
                                   else_branch=body([node("Neg", "x", "e")], [], [("e", FLOAT, None)]))], {"x": x}, dict(ten=np.int64(10)))
case("count by ReduceMin", [shape_of_x, node("ReduceMin", "shape", "n", keepdims=0),
                            node("Loop", ["n", "", "one"], "s", body=body([node("Identity", "c", "d"), node("Mul", "a two", "b")],
                                 [("i", INT64, []), ("c", BOOL, []), ("a", INT64, [1])], [("d", BOOL, []), ("b", INT64, [1])])),
                            node("Sub", "s four", "t"), node("Concat", "t three", "u", axis=0), node("Sub", "u one", "v"), node("Add", "v one", "w"), node("Reshape", "x w", "y")],
     {"x": x}, dict(one=one, two=two, four=np.array([4]), three=np.array([3])))
case("element by ArgMax", [shape_of_x, node("ArgMax", "shape", "at", keepdims=0), node("SequenceConstruct", "x z", "q"), node("SequenceAt", "q at", "y")],
     {"x": x, "z": x + 1})
case("border by Max and Clip", [shape_of_x, node("Sub", "six shape", "m"), node("Max", "m zero", "n"), node("Clip", "n low", "k"), node("Concat", "zeros k", "p", axis=0),
                                node("Pad", "x p", "y")], {"x": x}, dict(six=np.array([6]), zero=zero, low=np.int64(0), zeros=np.array([0, 0])))
case("extents beside dynamic ones", [node("ReduceProd", "k", "p"), shape_of_x, node("Gather", "shape zero", "n"), node("Concat", "n p", "s", axis=0), node("Reshape", "x s", "y")],
     {"x": x}, dict(k=np.array([2, 2]), zero=zero), {"x": ["n", 4]})
nothing = body([node("Identity", "c", "d"), node("Add", "a a", "b"), node("Neg", "b", "r")], [("i", INT64, []), ("c", BOOL, []), ("a", FLOAT, [3, 4])],
               [("d", BOOL, []), ("b", FLOAT, [3, 4]), ("r", FLOAT, [3, 4])])
case("collected in no step", [shape_of_x, node("ReduceMin", "shape", "m", keepdims=0), node("Sub", "m three", "n"), node("Loop", ["n", "", "x"], "y z", body=nothing)],
     {"x": x}, dict(three=np.int64(3)), outputs="y z")
doubling = [node("Concat", "a a", "b", axis=0), node("Shape", "b", "s"), node("ReduceMax", "s", "m", keepdims=0)]
doubled = [("i", INT64, []), ("c", BOOL, []), ("a", FLOAT, None)], [("d", BOOL, []), ("b", FLOAT, None)]
case("doubled below 20", [node("Loop", ["", "true", "x"], "y", body=body(doubling + [node("Less", "m most", "d")], *doubled))], {"x": x},
     dict(true=np.array(True), most=np.int64(20)))
case("doubled without end", [node("Loop", ["", "true", "x"], "y", body=body([node("Less", "less most", "d"), node("Concat", "a one", "b", axis=0)], *doubled))], {"x": x[:, 0]},
     dict(true=np.array(True), most=np.int64(20), less=np.int64(1), one=np.ones(1, np.float32)), refused="the loop has more than 256 steps")
case("elements decide", [node("Cast", "x", "a", to=7), node("ReduceMax", "a", "s"), node("Reshape", "x s", "y")], {"x": x}, refused="the input has 12 elements, but the shape has")

# Windows that contradict themselves.
image, filters = reals(1, 3, 5, 5), reals(2, 3, 3, 3)
case("kernel_shape", [node("Conv", "x w", "y", kernel_shape=[2, 2])], {"x": image}, dict(w=filters), refused="`kernel_shape` is [2, 2]")
case("channels", [node("Conv", "x w", "y")], {"x": image}, dict(w=reals(2, 4, 3, 3)), refused="3 channels")
case("negative pads", [node("Conv", "x w", "y", pads=[-1, 0, 0, 0])], {"x": image}, dict(w=filters), refused="negative padding")
case("pool of padding", [node("MaxPool", "x", "y", kernel_shape=[2, 2], pads=[2] * 4)], {"x": image}, refused="entirely in the padding")
case("dilated pool", [node("MaxPool", "x", "y", kernel_shape=[2, 2], dilations=[3, 3], pads=[1] * 4)], {"x": image})

# Quantization.
kinds = dict(s=np.float32(1), z=np.uint8(128))
case("saturated", [node("QuantizeLinear", "x s z", "y")], {"x": np.array([1e30, -1e30, np.inf, -np.inf, 3.5], np.float32)}, kinds)
case("range of zeros", [node("DynamicQuantizeLinear", "x", "y s z")], {"x": x * 0}, outputs="y s z")
case("QuantizeLinear of NaN and infinities", [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "y")],
     {"x": np.array([np.nan, np.inf, -np.inf], np.float32)}, kinds, expected=np.array([0, 127, -128], np.float32))
# Quotients that a function other than that of the quantization rounds.
for whole in (41, 47, 55, 61, 82, 83, 94, 97):
    case(f"Floor of quotients by {whole}", [node("Div", "x d", "a"), node("Floor", "a", "b"), node("Mul", "b hundred", "c"), node("QuantizeLinear", "c s zero", "y")],
         {"x": np.array([whole, 2 * whole, whole - 1], np.float32)}, dict(d=np.float32(whole), hundred=np.float32(100), s=np.float32(1), zero=np.uint8(0)))
# The maximum of no elements is not an 8-bit value.
quantizing = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "r")]
fine = dict(s=np.float32(0.02), z=np.uint8(120))
for shape in ({}, {"x": [3, "n"]}):
    for width in (0, 1, 5):
        case(f"ReduceMax of {width} quantized elements, {len(shape)} dynamic", [*quantizing, node("ReduceMax", "r", "y", axes=[1], keepdims=0)], {"x": np.linspace(-2, 2, 3 * width, dtype=np.float32).reshape(3, width)}, fine, shape)
# Limits of integers that 32-bit integers do not hold.
case("Clip far from zero", [node("Clip", "x low high", "c"), node("Cast", "c", "y", to=FLOAT), node("QuantizeLinear", "r s z", "q")],
     {"x": np.array([0, 5000000050, 2 ** 62]), "r": np.array([0.4, 7, -200], np.float32)}, dict(low=np.int64(5000000000), high=np.int64(5000000100), **kinds), outputs="y q")


# Quantized products, computed in bytes. Quantized results may differ by 1.
maps, steps = dict(w=small_ints(6, 5, 3, 3), b=random.integers(-3000, 3000, 6).astype(np.int32)), random.uniform(0.001, 0.01, 6).astype(np.float32)
one_scale, by_channel = quantized(**maps), dict(quantized(**maps), ws=steps, wz=np.zeros(6, np.int8))
padded = node("QLinearConv", "x xs xz w ws wz ys yz b", "y", pads=[1] * 4)
pixels, matrix = any_ints(np.uint8, 1, 5, 9, 9), small_ints(33, 20)
case("QLinearConv", [padded], {"x": pixels}, one_scale, integers=1)
case("QLinearConv by channel", [padded], {"x": pixels}, by_channel, integers=1)
case("QLinearConv, zero points by channel", [padded], {"x": pixels}, dict(by_channel, wz=np.arange(6, dtype=np.int8)))
case("QLinearConv of two", [padded, node("QLinearConv", "y ys yz v ws wz xs xz", "z", group=3)], {"x": pixels},
     dict(one_scale, v=small_ints(3, 2, 3, 3)), outputs="z", integers=2)
case("QLinearConv of reals", [node("QuantizeLinear", "r xs xz", "x"), padded, node("DequantizeLinear", "y ys yz", "z")], {"r": reals(1, 5, 9, 9)},
     by_channel, outputs="z", integers=0.5)
case("QLinearConv of small weights", [node("QLinearConv", "x xs xz w ws wz ys yz b", "y", pads=[1] * 4)], {"x": any_ints(np.uint8, 1, 3, 6, 6)},
     dict(xs=np.float32(.02), xz=np.uint8(120), w=random.integers(-60, 60, (4, 3, 3, 3)).astype(np.int8), ws=np.array([.01, .02, .03, .015], np.float32),
          wz=np.zeros(4, np.int8), ys=np.float32(.5), yz=np.uint8(100), b=random.integers(-999, 999, 4).astype(np.int32)))
case("QLinearMatMul", [node("QLinearMatMul", "x xs xz w ws wz ys yz", "y")], {"x": any_ints(np.uint8, 7, 33)}, quantized(w=matrix), integers=1)
case("QLinearMatMul of inputs", [node("QLinearMatMul", "x xs xz w ws wz ys yz", "y")], {"x": any_ints(np.uint8, 7, 33), "w": matrix}, quantized(), integers=1)
case("MatMulInteger", [node("MatMulInteger", "x w xz", "y")], {"x": any_ints(np.uint8, 2, 7, 33)}, dict(w=matrix, xz=np.uint8(77)), integers=0)
case("MatMulInteger, all weights", [node("MatMulInteger", "x w xz", "y")], {"x": any_ints(np.uint8, 2, 7, 33)},
     dict(w=any_ints(np.int8, 33, 20), xz=np.uint8(77)), integers=0, oracle="onnx")
case("ConvInteger", [node("ConvInteger", "x w xz", "y", pads=[1] * 4)], {"x": pixels}, dict(w=maps["w"], xz=np.uint8(130)), integers=0)
ranged = [node("DynamicQuantizeLinear", "r", "x xs xz"), node("MatMulInteger", "x w xz", "i"), node("Cast", "i", "f", to=FLOAT),
          node("Mul", "xs ws", "s"), node("Mul", "f s", "y")]
case("DynamicQuantizeLinear", ranged, {"r": reals(7, 33)}, dict(w=matrix, ws=np.float32(0.01)), integers=0.05)
case("DynamicQuantizeLinear of rows", ranged, {"r": reals(7, 33)}, dict(w=matrix, ws=np.float32(0.01)), {"r": ["n", 33]}, integers=0.05)


def ranged_conv(**attributes):
    return [ranged[0], node("ConvInteger", "x w xz", "i", **attributes), *ranged[2:]]


pads = dict(w=maps["w"], ws=np.float32(0.01))
case("DynamicQuantizeLinear, ConvInteger", ranged_conv(pads=[1] * 4), {"r": reals(2, 5, 9, 9)}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, all positive", ranged_conv(pads=[1] * 4), {"r": abs(reals(1, 5, 9, 9))}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, all negative", ranged_conv(pads=[2, 0, 1, 1]), {"r": -abs(reals(1, 5, 9, 9))}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, zeros", ranged_conv(pads=[1] * 4), {"r": 0 * reals(1, 5, 9, 9)}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, steps and groups", ranged_conv(pads=[1] * 4, strides=[2, 1], dilations=[1, 2], group=3),
     {"r": reals(1, 15, 11, 8)}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, without padding", ranged_conv(), {"r": reals(1, 5, 9, 9)}, pads, integers=0.05)
case("DynamicQuantizeLinear, ConvInteger, batches", ranged_conv(pads=[1] * 4), {"r": reals(3, 5, 9, 9)}, pads, {"r": ["n", 5, 9, 9]}, integers=0.05)
# Unsigned weights with zero points: they also require sums of input bytes; those of windows include the padding.
unsigned = dict(w=any_ints(np.uint8, 6, 5, 3, 3), wz=np.uint8(121), ws=np.float32(0.01))


def ranged_unsigned(**attributes):
    return [ranged[0], node("ConvInteger", "x w xz wz", "i", **attributes), *ranged[2:]]


for name, attributes, channels, shapes in [("padded", dict(pads=[2, 0, 1, 1]), 5, {}), ("strides", dict(strides=[2, 1], dilations=[1, 2], pads=[1] * 4), 5, {}),
                                           ("groups", dict(group=3, pads=[1] * 4), 15, {}), ("dynamic", dict(pads=[1] * 4), 5, {"r": ["n", 5, 9, "w"]})]:
    case(f"ConvInteger, unsigned weights, {name}", ranged_unsigned(**attributes), {"r": reals(2, channels, 9, 9)}, unsigned, shapes, integers=0.05)
case("ConvInteger, unsigned weights, one channel", ranged_unsigned(group=5, pads=[1] * 4), {"r": reals(1, 5, 9, 9)},
     dict(unsigned, w=any_ints(np.uint8, 5, 1, 3, 3)), integers=0.05)
case("ConvInteger, unsigned weights, 1×1", ranged_unsigned(), {"r": reals(1, 5, 9, 9)}, dict(unsigned, w=any_ints(np.uint8, 6, 5, 1, 1)), integers=0.05)
case("MatMulInteger, unsigned weights", [ranged[0], node("MatMulInteger", "x w xz wz", "i"), *ranged[2:]], {"r": reals(2, 7, 33)},
     dict(unsigned, w=any_ints(np.uint8, 33, 20)), integers=0.05)
case("MatMulInteger, two zero points of inputs", [node("MatMulInteger", "x w xz wz", "y")],
     {"x": any_ints(np.uint8, 7, 33), "w": small_ints(33, 20), "xz": np.array(77, np.uint8), "wz": np.array(-9, np.int8)})
pairs = [node("QuantizeLinear", "r xs xz", "q"), node("DequantizeLinear", "q xs xz", "a"), node("DequantizeLinear", "w ws wz", "k", axis=0),
         node("Conv", "a k", "c", pads=[1] * 4), node("Relu", "c", "d"), node("QuantizeLinear", "d ys yz", "e"), node("DequantizeLinear", "e ys yz", "f"),
         node("DequantizeLinear", "v vs vz", "g"), node("MatMul", "f g", "y")]
for kind in (np.uint8, np.int8):
    middle = 128 if kind == np.uint8 else 0
    case(f"pairs of {kind.__name__}, by channel", pairs, {"r": reals(2, 5, 9, 9)},
         dict(xs=np.float32(0.02), xz=kind(middle - 8), w=maps["w"], ws=steps, wz=np.zeros(6, np.int8), ys=np.float32(0.1), yz=kind(middle - 100),
              v=any_ints(np.uint8, 9, 4), vs=np.float32(0.01), vz=np.uint8(121)), integers=0.4)
case("ConvInteger, zero point of an input", [node("ConvInteger", "x w xz", "y", pads=[1] * 4)],
     {"x": pixels, "xz": np.array(130, np.uint8)}, dict(w=maps["w"]), integers=0)

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
case("endless", [node("Loop", ["", "", "x0"], "y", body=body([add, goes_on], [i, c, s], [c1, s1]))], start, refused="neither a number of steps nor a condition")

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

# Positions up to the maximum int, and the nearest elements.
# Sorts large enough that comparing all pairs would take gigabytes.
many = random.integers(-4000, 4000, 20000)
for what, values in [("reals", (many / 8).astype(np.float32)), ("ints", many * 2 ** 40 + 1)]:
    for order in [0, 1]:
        case(f"different {what} {order}", [node("Unique", "x", "y i v c", sorted=order)], {"x": values}, outputs="y i v c")
case("different of a dynamic number", [node("Unique", "x", "y i v c")], {"x": many[:30] // 900}, shapes={"x": ["n"]}, outputs="y i v c")
for along in [0, 1]:
    for order in [0, 1]:
        case(f"different rows {along} {order}", [node("Unique", "x", "y i v c", axis=along, sorted=order)],
             {"x": random.integers(0, 3, (60, 40, 1) if along else (400, 3, 2)).astype(np.float32)}, outputs="y i v c")
case("ints in order", [node("TopK", "x k", "y z", axis=0, largest=0)], {"x": many * 2 ** 40}, dict(k=np.array([15000])), outputs="y z")
for flags in [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}]:
    case(f"sums {flags}", [node("CumSum", "x a", "y", **flags)], {"x": random.integers(-9, 9, (3, 500, 2))}, dict(a=np.array(1)))
corner = random.uniform(0, 300, (2, 3000, 2))
boxes = np.concatenate([corner, corner + random.exponential(12, (2, 3000, 2))], -1).astype(np.float32)
case("boxes", [node("NonMaxSuppression", "x s m t", "y")], {"x": boxes, "s": random.random((2, 3, 3000), np.float32)},
     dict(m=np.array([2000]), t=np.array([0.4], np.float32)))
case("largest ints", [node("TopK", "x k", "y z", axis=1)], {"x": random.integers(-5, 5, (4, 9))}, dict(k=np.array([3])), outputs="y z")
case("casts of outputs", [node("Cast", "x", "y", to=TensorProto.FLOAT16)], {"x": reals(50)})

# Several float types: results with narrow types are rounded. Ties, the largest and smallest numbers, and overflow.
HALF, BFLOAT, DOUBLE = TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE
edges = np.array([1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, 2**-24, 2**-25, 1.5 * 2**-25, 3 * 2**-25, 2**-14 - 2**-26, 65504, 65519.99, 65520, 1e30, 3.3895e38,
                  3.4e38, 1e-39, 2**-133, 2**-134, 1.25 * 2**-133, 0, np.inf, np.nan], np.float32)
edges = np.concatenate([edges, -edges, (reals(2000) * 10.0 ** random.integers(-44, 38, 2000)).astype(np.float32), reals(500), reals(500) * 1e-6])
double = np.concatenate([edges.astype(np.float64), 1 + 2.0 ** -np.arange(20, 30), np.array([3.4028235677973366e38, 3.402823567797336e38, 2.0**-150, 1.1 * 2.0**-150])])
case("to half and back", [node("Cast", "x", "h", to=HALF), node("Cast", "h", "y", to=FLOAT)], {"x": edges}, close=0)
case("to bfloat and back", [node("Cast", "x", "h", to=BFLOAT), node("Cast", "h", "y", to=FLOAT)], {"x": edges}, close=0)
case("to single and back", [node("Cast", "x", "h", to=FLOAT), node("Cast", "h", "y", to=DOUBLE)], {"x": double}, close=0)
case("double to half", [node("Cast", "x", "h", to=HALF), node("Cast", "h", "y", to=DOUBLE)], {"x": double}, close=0)
halves = {key: reals(6, 7).astype(np.float16) for key in ("h", "g")}
steps_of_halves = [node("Mul", "h g", "a"), node("Add", "a g", "b"), node("Div", "b h", "d"), node("Abs", "d", "e"), node("Sqrt", "e", "r"), node("Max", "r g", "o")]
case("islands of singles", [*steps_of_halves, node("Cast", "o", "f", to=FLOAT), node("MatMul", "f w", "m"), node("Cast", "m", "n", to=HALF), node("Mul", "n n", "y"),
                            node("Sin", "m", "z")], halves, dict(w=reals(7, 3)), outputs="y z o", oracle="onnx")
case("weights of halves", [node("Cast", "w", "f", to=FLOAT), node("MatMul", "x f", "m"), node("Cast", "m", "h", to=HALF), node("Add", "h b", "y")],
     {"x": reals(4, 7)}, dict(w=reals(7, 3).astype(np.float16), b=reals(3).astype(np.float16)), oracle="onnx")
case("a part in doubles", [node("Mul", "x x", "a"), node("Cast", "a", "d", to=DOUBLE), node("Exp", "d", "e"), node("Cast", "e", "f", to=FLOAT), node("Add", "f x", "y"),
                           node("Div", "x y", "z")], {"x": reals(300)}, outputs="y z e", close=1e-7)
adding = body([node("Mul", "s k", "t"), node("Add", "t k", "s1"), goes_on], [i, c, ("s", HALF, [5])], [c1, ("s1", HALF, [5])])
case("a loop of halves", [node("Loop", ["m", "", "h"], "o", body=adding), node("Cast", "o", "f", to=FLOAT), node("Sin", "f", "y")], {"h": reals(5).astype(np.float16)},
     dict(m=np.int64(9), k=np.array([.37], np.float16)), outputs="o y", close=1e-6)
case("halves of both kinds", [node("Mul", "h h", "a"), node("Cast", "a", "b", to=BFLOAT), node("Cast", "b", "y", to=HALF)], {"h": reals(50).astype(np.float16)}, close=0, oracle="onnx")
case("limits of halves", [node("Clip", "h", "a", min=-.1, max=.1), node("Cast", "a", "y", to=FLOAT)], {"h": reals(50).astype(np.float16)}, opset=10, close=0, oracle="onnx")

# Unsigned 64-bit integers. Inputs are below 2^63, results are not.
big = np.array([0, 1, 2, 3, 255, 2**31, 2**32 + 7, 2**53 + 1, 2**62 + 1, 2**63 - 1], np.uint64)
large = np.array([2**64 - 1, 2**63, 2**63 + 1, 1, 3, 2**63 + 1025, 7, 2**64 - 2**40, 2**62 + 1, 10], np.uint64)
for operator in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "GreaterOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    case(f"uint64 {operator}", [node(operator, "x k", "y"), node(operator, "k x", "z")], {"x": np.maximum(big, 1)}, dict(k=large), outputs="y z", opset=18, close=0)
case("uint64 Mod", [node("Mod", "k x", "y"), node("Mod", "k r", "z")], {"x": np.maximum(big, 1)}, dict(k=large, r=large[::-1].copy()), outputs="y z", close=0)
case("uint64 shifts", [node("BitShift", "k x", "y", direction="RIGHT"), node("BitShift", "k x", "z", direction="LEFT")], {"x": np.arange(10).astype(np.uint64) * 7},
     dict(k=large), outputs="y z", close=0)
case("uint64 order", [node("Mul", "x k", "m"), node("ReduceMax", "m", "a"), node("ReduceMin", "m", "b"), node("ArgMax", "m", "p"), node("TopK", "m n", "v i"),
                      node("ReduceSum", "m", "s")], {"x": big}, dict(k=large, n=np.array([4])), outputs="a b p v i s", close=0)
case("uint64 casts", [node("Cast", "k", "a", to=FLOAT), node("Add", "x k", "m"), node("Cast", "m", "b", to=FLOAT), node("Cast", "m", "c", to=INT32),
                      node("Cast", "r", "d", to=TensorProto.UINT64), node("Cast", "m", "e", to=BOOL)],
     {"x": big, "r": np.array([0, 1.9, 2**40, 2**63, 1.5 * 2**63], np.float32)}, dict(k=large), outputs="a b c d e", close=0)
case("int64 bits", [node("BitwiseAnd", "x y", "a"), node("BitwiseOr", "x y", "b"), node("BitwiseXor", "x y", "c")],
     {"x": np.array([-1, -5, 2**62, -2**63, 7]), "y": np.array([-1, 3, -2, -1, -2**63])}, outputs="a b c", opset=18, close=0)

# Reductions and other operators of ints: quotients and roots are rounded towards zero. As in onnxruntime, the sum of a mean does not wrap around
# in a narrow type. The ONNX reference implementation wraps it around.
whole = {kind: random.integers(-900, 900, (4, 5, 3)).astype(kind) for kind in (np.int32, np.int64)}
for kind, x in whole.items():
    case(f"mean of {x.dtype}", [node("ReduceMean", "x", "a", axes=[1]), node("ReduceMean", "x", "b", keepdims=0)],
         {"x": x}, outputs="a b", close=0, opset=13, oracle="onnx")
case("mean of a dynamic number", [node("ReduceMean", "x", "y", axes=[0], keepdims=0)], {"x": whole[np.int64]}, (), {"x": ["n", 5, 3]}, opset=13, close=0, oracle="onnx")
case("mean of large ints", [node("ReduceMean", "x", "y")], {"x": np.array([2**31 - 1, 2**31 - 1, 5], np.int32)}, close=0, opset=13)
case("mean of unsigned", [node("ReduceMean", "x", "y"), node("ReduceMean", "u", "z")], {"x": np.array([2**31, 2, 7], np.uint32), "u": np.full(3, 2**62, np.uint64)},
     outputs="y z", close=0, opset=13, oracle="onnx")
case("norm of ints", [node("ReduceL1", "x", "y", axes=[1])], {"x": whole[np.int64]}, close=0, opset=13, oracle="onnx")
case("signs of uint64", [node("Sign", "x", "y")], {"x": np.array([0, 1, 2**63, 2**64 - 1], np.uint64)}, close=0)
case("PRelu of ints", [node("PRelu", "x s", "y"), node("PRelu", "u t", "z")], {"x": whole[np.int32], "u": np.array([1, 2**31, 5], np.uint32)},
     dict(s=np.array([3, -2, 2**22], np.int32), t=np.array([9], np.uint32)), outputs="y z", close=0, oracle="onnx")
for kind in (np.int8, np.uint8, np.int32):
    case(f"extremes of no {kind.__name__}", [node("ReduceMax", "x a", "y", keepdims=0), node("ReduceMin", "x a", "z", keepdims=0)], {"x": np.zeros((0, 2), kind)},
         dict(a=np.array([0])), outputs="y z", close=0, opset=20, oracle="onnx")
case("mel weights of ints", [node("MelWeightMatrix", "b n r f t", "y", output_datatype=INT32)], {},
     dict(b=np.int64(8), n=np.int64(16), r=np.int64(8192), f=np.float32(0), t=np.float32(4096)), close=0, oracle="onnx")
case("average with zeros and more", [node("AveragePool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1)],
     {"x": reals(2, 3, 6, 8)}, opset=19)
case("average beyond the end", [node("AveragePool", "x", "y", kernel_shape=[3], strides=[2], ceil_mode=1, count_include_pad=1)], {"x": reals(2, 3, 6)}, opset=19)
branch = lambda operator: helper.make_graph([node(operator, "x", "o")], "b", [], [helper.make_tensor_value_info("o", FLOAT, [4])])
case("a condition of one element", [node("If", "c", "y", then_branch=branch("Exp"), else_branch=branch("Neg"))], {"x": reals(4), "c": np.array([True])})

# Data-dependent branches with different static extents.
branch = lambda name, nodes: helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=name)])
positive = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum zero", "c")]
repeated = node("If", "c", "f", then_branch=branch("t", [node("Concat", "x x", "t", axis=0)]), else_branch=branch("e", [node("Neg", "x", "e")]))
for sign in (1, -1):
    case(f"branches of other extents {sign}", [*positive, repeated, node("Exp", "f", "y")], {"x": sign * abs(reals(3, 2))}, dict(zero=np.float32(0)))
# `squeeze` of a dimension that may be 1, as exported by torch: the model is imported for other extents, and each call checks the extent.
squeezed = [node("NonZero", "x", "z"), node("Shape", "z", "s"), node("Gather", "s one", "k"), node("Equal", "k one", "c"),
            node("If", "c", "f", then_branch=branch("t", [node("Squeeze", "z one", "t")]), else_branch=branch("e", [node("Identity", "z", "e")])), node("Neg", "f", "y")]
for count in (0, 1, 3):
    case(f"a dimension of {count} that is removed if it is 1", squeezed, {"x": np.arange(5) < count}, dict(one=np.array([1])), refused="SK9203" if count == 1 else None)
# The check remains if only the shape of the result is used, which is known at import, and in the body of a loop.
ranked = [node("ReduceSum", "w", "s", keepdims=0), node("Equal", "s zero", "c"),
          node("If", "c", "f", then_branch=branch("t", [node("Squeeze", "x one", "t")]), else_branch=branch("e", [node("Identity", "x", "e")]))]
for weight in (0, 1):
    case(f"the shape of a branch of another rank {weight}", [*ranked, node("Shape", "f", "y")], {"x": reals(2, 1), "w": np.array([weight], np.float32)},
         dict(zero=np.float32(0), one=np.array([1])), refused=None if weight else "SK9203")
stepped = body([node("Equal", "i three", "c"), node("If", "c", "f", then_branch=branch("t", [node("Squeeze", "x one", "t")]), else_branch=branch("e", [node("Identity", "x", "e")])),
                node("Size", "f", "n"), node("Shape", "f", "d"), node("ReduceSum", "d", "k", keepdims=0), node("Add", "a k", "b"), node("Identity", "g", "h")],
               [("i", INT64, []), ("g", onnx.TensorProto.BOOL, []), ("a", INT64, [])], [("h", onnx.TensorProto.BOOL, []), ("b", INT64, [])])
for steps in (3, 4):
    case(f"the shape of a branch in {steps} steps", [node("Loop", ["n", "go", "a"], "y", body=stepped)], {"x": reals(2, 1), "n": np.int64(steps), "a": np.int64(0)},
         dict(three=np.int64(3), one=np.array([1]), go=np.array(True)), refused="SK9203" if steps == 4 else None)

# A branch that is not taken does not check anything.
inside = [*squeezed[2:5], node("Cast", "f", "g", to=FLOAT), node("ReduceSum", "g", "o", keepdims=0)]
outside = [node("NonZero", "x", "z"), node("Shape", "z", "s"), node("ReduceSum", "w", "v", keepdims=0), node("Greater", "v zero", "d"),
           node("If", "d", "y", then_branch=branch("o", inside), else_branch=branch("p", [node("Neg", "v", "p")]))]
for sign in (1, -1):
    case(f"a check in a branch {sign}", outside, {"x": np.arange(5) < 1, "w": sign * abs(reals(4))}, dict(one=np.array([1]), zero=np.float32(0)), refused="SK9203" if sign == 1 else None)

# Results without elements.
case("repeated no times", [node("Tile", "x r", "t"), node("Concat", "t x", "y", axis=1)], {"x": reals(3, 4)}, dict(r=np.array([1, 0])))
case("repeated no times, dynamic", [node("Tile", "x r", "y")], {"x": reals(3, 4)}, dict(r=np.array([2, 0])), {"x": ["n", 4]})
case("the best none", [node("TopK", "x k", "y i"), node("Not", "b", "n"), node("Tile", "n r", "z")], {"x": reals(3, 4), "b": reals(3, 4) > 0}, dict(k=np.array([0]), r=np.array([0, 1])),
     {"x": ["n", 4], "b": [3, "m"]}, outputs="y i z")
case("a window beyond the image", [node("MaxPool", "x", "y i", kernel_shape=[3, 3]), node("AveragePool", "x", "z", kernel_shape=[3, 2])], {"x": reals(1, 2, 2, 5)}, outputs="y i z")
case("a window beyond the end", [node("MaxPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)], {"x": reals(1, 2, 2, 5)})
case("a window far beyond the image", [node("MaxPool", "x", "y", kernel_shape=[4, 3])], {"x": reals(1, 2, 2, 5)}, refused="larger than the padded input")

# Scan of opset 8 has a batch; each item becomes a loop.
running = body([node("Add", "s v", "s1"), node("Mul", "v v", "o")], [("s", FLOAT, [2]), ("v", FLOAT, [2])], [("s1", FLOAT, [2]), ("o", FLOAT, [2])])
for directions in ([0], [1]):
    case(f"Scan of a batch {directions}", [node("Scan", ["", "s0", "v0"], "y z", body=running, num_scan_inputs=1, directions=directions)],
         {"s0": reals(3, 2), "v0": reals(3, 5, 2)}, outputs="y z", opset=8)
case("Scan of a dynamic batch", [node("Scan", ["", "s0", "v0"], "y z", body=running, num_scan_inputs=1)], {"s0": reals(3, 2), "v0": reals(3, 5, 2)},
     (), {"s0": ["b", 2], "v0": ["b", 5, 2]}, outputs="y z", opset=8, refused="the extent of the batch must be static")

# 4-bit integers, and parameters by blocks.
nibbles = lambda kind, *shape: helper.make_tensor("q", kind, shape, random.integers(*((0, 16) if kind == TensorProto.UINT4 else (-8, 8)), np.prod(shape)).tolist())
for kind in (TensorProto.UINT4, TensorProto.INT4):
    zeros = helper.make_tensor("z", kind, [3, 2], [1, 2, 3, 4, 5, 6])
    case(f"blocks of nibbles {kind}", [node("DequantizeLinear", "q s z", "f", axis=0, block_size=3), node("MatMul", "x f", "y")], {"x": reals(4, 7)},
         dict(q=nibbles(kind, 7, 2), s=np.abs(reals(3, 2)), z=zeros), opset=21)
    zero = helper.make_tensor("z", kind, [], [2])
    case(f"nibbles between {kind}", [node("QuantizeLinear", "x s z", "q"), node("Transpose", "q", "t"), node("DequantizeLinear", "t s z", "y")], {"x": reals(5, 4) * 3},
         dict(s=np.float32(.3), z=zero), opset=21)
case("blocks", [node("QuantizeLinear", "x s z", "q", axis=1, block_size=2), node("DequantizeLinear", "q s z", "y", axis=1, block_size=2)], {"x": reals(3, 5, 2) * 50},
     dict(s=np.abs(reals(3, 3, 2)), z=small_ints(3, 3, 2)), outputs="q y", opset=21)
case("nibbles added", [node("Add", "q q", "y")], {}, dict(q=nibbles(TensorProto.INT4, 7, 2)), refused="4-bit", opset=21)

# The bits of reals; all NaN have the same bits.
kept = edges[~np.isnan(edges)]
case("bits of reals", [node("BitCast", "x", "b", to=INT32), node("BitCast", "b", "y", to=FLOAT)], {"x": kept}, outputs="b y", opset=26, close=0)

# Determinants: of a singular matrix, and with row swaps.
matrices = np.concatenate([reals(3, 5, 5), np.ones((1, 5, 5), np.float32), np.eye(5, dtype=np.float32)[None, [1, 0, 2, 4, 3]], np.eye(5, dtype=np.float32)[None, [1, 0, 2, 3, 4]]])
case("determinants", [node("Det", "x", "y")], {"x": matrices})
case("deformed", [node("DeformConv", "x w o b m", "y", strides=[2, 1], dilations=[1, 2], pads=[1, 2, 1, 2], group=2, offset_group=2)],
     {"x": reals(2, 4, 7, 6), "w": reals(6, 2, 3, 3), "o": reals(2, 36, 4, 6) * 3, "m": reals(2, 18, 4, 6)}, dict(b=reals(6)), opset=19)
case("diagonals", [node("Einsum", "x z", "y", equation="biji,ij->bj")], {"x": reals(3, 4, 5, 4), "z": reals(4, 5)})

# Elements of small inputs determine the end of a range.
natural = dict(zero=np.int64(0), one=np.int64(1))
highest = node("ReduceMax", "n", "k", keepdims=0)
case("a range to an input", [node("Range", "zero n one", "y")], {"n": np.array(5)}, natural)
case("a range backwards", [node("Range", "a n b", "y")], {"a": np.array(9), "n": np.array(2), "b": np.array(-2)})
case("a range to a maximum", [highest, node("Range", "zero k one", "y")], {"n": np.array([3, 7, 2])}, natural)
case("a mask of lengths", [highest, node("Range", "zero k one", "r"), node("Unsqueeze", "n one_axis", "u"), node("Less", "r u", "y")], {"n": np.array([3, 7, 2])},
     dict(natural, one_axis=np.array([1])))

# Statistics have the type of `stash_type`, and are computed in it if it is wider.
for kind in (np.float16, np.float32, np.float64):
    inputs = {"x": (reals(2, 3, 8) * 100 + 900).astype(kind), "s": reals(8).astype(kind), "b": reals(8).astype(kind)}
    case(f"statistics of {kind.__name__}", [node("LayerNormalization", "x s b", "y mean inverse")], inputs, outputs="y mean inverse", close=2e-3)
# Keys beyond the end of a mask are masked, also for a mask with one key.
attended = {"q": reals(1, 2, 4, 8), "k": reals(1, 2, 6, 8), "v": reals(1, 2, 6, 8)}
for shape in ((4, 1), (1, 1, 4, 1), (4, 3), (1, 2, 4, 3)):
    case(f"mask of {shape}", [node("Attention", "q k v m", "y")], {**attended, "m": reals(*shape)}, opset=24)
    case(f"bools of {shape}", [node("Attention", "q k v m", "y")], {**attended, "m": random.random(shape) > .3}, opset=24)
case("mask of ints", [node("Attention", "q k v m", "y")], {**attended, "m": random.integers(-2, 2, (4, 6)).astype(np.int8)}, opset=23)
# The first of equal elements in row-major order, also with column-major positions.
ties = random.integers(0, 3, (2, 2, 6, 5))
for kind, order in ((np.float32, 0), (np.float32, 1), (np.int8, 0), (np.uint8, 1)):
    case(f"positions of {kind.__name__}, {order}", [node("MaxPool", "x", "y i", kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 0], storage_order=order)],
         {"x": ties.astype(kind)}, outputs="y i", close=0)
least = np.array([-2**63, -2**63, -2**63, 7, -7, 2**53 + 1, 5])
case("remainders of INT_MIN", [node("Mod", "x d", "y", fmod=1), node("Mod", "x d", "z")], {"x": least, "d": np.array([-1, 3, -2**63, -3, 3, 5, -2**63])},
     outputs="y z", close=0)
case("filled with bits", [node("ConstantOfShape", "n", "c", value=numpy_helper.from_array(np.array([2**63 + 5], np.uint64))), node("BitShift", "c x", "y", direction="RIGHT"),
                          node("Cast", "c", "z", to=FLOAT)], {"x": np.arange(3).astype(np.uint64)}, dict(n=np.array([3])), outputs="y z", close=0)
case("filled with INT_MIN", [node("ConstantOfShape", "n", "c", value=numpy_helper.from_array(np.array([-2**63]))), node("Add", "c x", "y")], {"x": np.arange(3000)},
     dict(n=np.array([3000])), close=0)
case("no rows", [node("Expand", "x s", "y")], {"x": reals(1, 3)}, dict(s=np.array([0, 3])))
case("no rows of a dynamic number", [node("Shape", "r", "s"), node("Expand", "x s", "y")], {"x": reals(1, 3), "r": reals(0, 3)}, shapes={"r": ["n", 3]})
case("filled with nothing", [node("LeakyRelu", "x", "y", alpha=float("nan")), node("Elu", "x", "z", alpha=float("inf"))], {"x": np.array([-1, 0, 2], np.float32)}, outputs="y z")

# Cases beyond the opset.
case("newer", [node("Gelu", "x", "y")], {"x": reals(4)}, opset=19, refused="Gelu `y`: the operator exists from opset 20 on, the model has opset 19")
case("new", [node("Gelu", "x", "y")], {"x": reals(4)}, opset=20)
twice = node("Softmax", "x", "y", axis=0)
twice.attribute.append(helper.make_attribute("axis", 1))
case("an attribute twice", [twice], {"x": reals(3, 4)}, refused="it has the attribute `axis` more than once")
gates = dict(w=reals(1, 16, 3), r=reals(1, 16, 4))
case("another size", [node("LSTM", "x w r", "y", hidden_size=5)], {"x": reals(2, 1, 3)}, gates, refused="`hidden_size` is 5")
case("its size", [node("LSTM", "x w r", "y", hidden_size=4)], {"x": reals(2, 1, 3)}, gates)

# Ints for which the ONNX reference is unambiguous.
pair = {"x": random.integers(-99, 99, (3, 4)).astype(np.int32), "z": random.integers(-2**30, 2**30, (4, 5)).astype(np.int32)}
case("Einsum of ints", [node("Einsum", "x z", "y", equation="ij,jk->ki")], pair, close=0, oracle="onnx")
case("Einsum of uint64", [node("Einsum", "x z w", "y", equation="i,i,j->j")],
     {key: random.integers(0, 2**64, 5, np.uint64) for key in "xzw"}, close=0, oracle="onnx")
for kind, factor in ((np.int8, 1), (np.int16, -1), (np.uint8, 1), (np.int64, 10**9)):
    case(f"Shrink of {kind.__name__}", [node("Shrink", "x", "y", lambd=1.5, bias=.75), node("Shrink", "x", "z", lambd=2., bias=-3.)],
         {"x": (np.arange(10) - (0 if kind == np.uint8 else 5)).astype(kind) * kind(factor)}, outputs="y z", close=0, oracle="onnx")
    case(f"nearest {kind.__name__}", [node("Resize", ["x", "", "s"], "y", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
         {"x": (np.arange(12) * factor).reshape(1, 1, 3, 4).astype(kind)}, dict(s=np.array([1, 1, 2, 1.5], np.float32)), close=0, oracle="onnx")
for kind in (np.int32, np.int64):
    case(f"Euclidean norm of {kind.__name__}", [node("ReduceL2", "x", "y", axes=[1]), node("ReduceL2", "x", "z", keepdims=0)], {"x": whole[kind]}, outputs="y z",
         opset=13, close=0, oracle="onnx")
case("Euclidean norm of uint64", [node("ReduceL2", "x", "y")], {"x": np.array([2**31, 2**31 + 3, 5], np.uint64)}, opset=13, close=0, oracle="onnx")
case("linear ints", [node("Resize", ["x", "", "s"], "y", mode="linear")], {"x": np.arange(4, dtype=np.uint8).reshape(1, 1, 4)},
     dict(s=np.array([1, 1, 2], np.float32)), refused="for elements of type u8 it is supported only in the mode \"nearest\"")
case("logarithm of ints", [node("ReduceLogSum", "x", "y")], {"x": whole[np.int32]}, opset=13, refused="ReduceLogSum")

# Positions that count from the end in some calls.
behind = [node("Shape", "x", "d"), node("Sub", "d three", "p"), node("Div", "d two", "h"), node("Neg", "h", "m")]
for rows in (0, 1, 3, 6):
    for name, begin, end, step in (("n-3:", "p", "far", 1), (":n-3", "zero", "p", 1), ("-n/2:", "m", "far", 1), ("n/2:", "h", "d", 1), ("-n/2:n-3:-1", "m", "p", -1)):
        case(f"slice {name} of {rows}", [*behind, node("Slice", f"x {begin} {end} zero step", "s"), node("Reshape", "s flat", "f"), node("Neg", "f", "y")],
             {"x": np.arange(rows, dtype=np.float32)}, dict(two=np.array([2]), three=np.array([3]), zero=np.array([0]), far=np.array([FAR]), step=np.array([step]),
                                                            flat=np.array([-1])), {"x": ["n"]}, opset=13)
# Each step reads a different part: loops with a known number of steps are unrolled.
part = body([node("Unsqueeze", "i zero", "b"), node("Add", "b one", "e"), node("Slice", "t b e", "part"), node("Add", "s part", "s1"), node("Identity", "c", "c1"),
             node("Identity", "s1", "o")], [("i", INT64, []), ("c", BOOL, []), ("s", FLOAT, [1])], [("c1", BOOL, []), ("s1", FLOAT, [1]), ("o", FLOAT, [1])])
parts = dict(t=np.arange(5, dtype=np.float32), zero=np.array([0]), one=np.array([1]), m=np.int64(5))
case("parts by steps", [node("Loop", ["m", "", "x"], "y z", body=part)], {"x": reals(1)}, parts, outputs="y z")
for end in (dict(), dict(opset=13)):
    case(f"parts by dynamic steps {end}", [node("Loop", ["k", "", "x"], "y", body=body(part.node[:-1], [("i", INT64, []), ("c", BOOL, []), ("s", FLOAT, [1])],
                                                                                    [("c1", BOOL, []), ("s1", FLOAT, [1])]))], {"x": reals(1), "k": np.array(5)}, parts, **end)
strange = body([node("Frobnicate", "s", "s1"), node("Identity", "c", "c1")], [("i", INT64, []), ("c", BOOL, []), ("s", FLOAT, [1])], [("c1", BOOL, []), ("s1", FLOAT, [1])])
case("an unknown operator by steps", [node("Loop", ["m", "", "x"], "y", body=strange)], {"x": reals(1)}, parts, refused="Frobnicate `s1`: the operator is not supported\n\n1 error")

# The parts of a Split have the given extents, whose sum must be equal to a dynamic dimension.
equal_parts, first_parts = dict(e=np.array([3, 3])), node("Split", "x", "y z", split=[3, 3])
case("equal parts of a dynamic dimension", [node("Split", "x e", "y z")], {"x": reals(6, 4)}, equal_parts, {"x": ["n", 4]}, "y z")
case("equal parts of opset 11", [first_parts], {"x": reals(6, 4)}, shapes={"x": ["n", 4]}, outputs="y z", opset=11)
case("equal parts of too many", [node("Split", "x e", "y z")], {"x": reals(8, 4)}, equal_parts, {"x": ["n", 4]}, "y z", refused="'sizes' must sum to the extent")
case("equal parts of too many, opset 11", [first_parts], {"x": reals(8, 4)}, shapes={"x": ["n", 4]}, outputs="y z", opset=11, refused="'sizes' must sum to the extent")
case("parts that do not add up", [node("Split", "x e", "y z", name="cut")], {"x": reals(8, 4)}, equal_parts, outputs="y z",
     refused="Split `cut`: the extents of the parts add up to 6, but the extent of dimension 0 is 8")
case("parts below zero", [node("Split", "x e", "y z")], {"x": reals(6, 4)}, dict(e=np.array([7, -1])), outputs="y z", refused="the extent -1 of a part is negative")
case("another number of parts", [node("Split", "x", "y z", num_outputs=3)], {"x": reals(6, 4)}, outputs="y z", opset=18,
     refused="`num_outputs` is 3, but the node has 2 outputs")
case("parts by both", [node("Split", "x e", "y z", num_outputs=2)], {"x": reals(6, 4)}, equal_parts, outputs="y z", opset=18, refused="both `num_outputs` and the extents")

# Squares that exceed the type.
for kind, large in ((np.int32, [50000, 60000]), (np.int64, [4 * 10**9, 3 * 10**9])):
    case(f"Euclidean norm of large {kind.__name__}", [node("ReduceL2", "x", "y")], {"x": np.array(large, kind)}, opset=13, close=0)

# The nearest elements before opset 11, and extents from scales that f32 cannot represent.
for name, scales in (("shorter", [.6, .7]), ("mixed", [1.5, .6]), ("longer", [1.4, 2])):
    case(f"nearest of opset 10, {name}", [node("Resize", "x s", "y")], {"x": reals(1, 1, 14, 5)}, dict(s=np.array([1, 1, *scales], np.float32)), opset=10, close=0)
    case(f"nearest by floor, {name}", [node("Resize", ["x", "", "s"], "y", nearest_mode="floor", coordinate_transformation_mode="asymmetric")],
         {"x": reals(1, 1, 14, 5)}, dict(s=np.array([1, 1, *scales], np.float32)), opset=13, close=0)
case("Upsample by 1.4", [node("Upsample", "x s", "y")], {"x": reals(1, 1, 5, 5)}, dict(s=np.array([1, 1, 1.4, 1.4], np.float32)), opset=9, close=0)
case("scales and sizes", [node("Resize", ["x", "", "s", "z"], "y")], {"x": reals(1, 1, 4, 4)}, dict(s=np.array([1, 1, 2, 2], np.float32), z=np.array([1, 1, 8, 8])),
     refused="both `scales` and `sizes`")
case("an unknown nearest mode", [node("Resize", ["x", "", "s"], "y", nearest_mode="up")], {"x": reals(1, 1, 4, 4)}, dict(s=np.array([1, 1, 2, 2], np.float32)),
     refused='the nearest mode "up" is unknown')

# TopK with k larger than the dimension.
for kind in (np.float32, np.int64):
    case(f"largest of a dynamic number of {kind.__name__}", [node("TopK", "x k", "y z", axis=0)], {"x": random.permutation(20).reshape(5, 4).astype(kind)},
         dict(k=np.array([3])), {"x": ["n", 4]}, "y z", close=0)
    case(f"largest of too few {kind.__name__}", [node("TopK", "x k", "y z", axis=0)], {"x": np.ones((2, 4), kind)}, dict(k=np.array([3])), {"x": ["n", 4]}, "y z",
         refused="'k' must not be larger than the extent")

# Data-dependent index tuples with dynamic extents.
rows_of = {"x": reals(6, 4), "i": np.array([[0, 1], [-1, -2], [3, 3]])}
dynamic = {"x": ["n", 4], "i": ["m", 2]}
case("elements at tuples", [node("GatherND", "x i", "y")], rows_of, shapes=dynamic)
case("elements written at tuples", [node("ScatterND", "x i u", "y")], dict(rows_of, u=reals(3)), shapes=dict(dynamic, u=["m"]))
case("masked elements", [node("Greater", "x zero", "m"), node("NonZero", "m", "i"), node("Transpose", "i", "t", perm=[1, 0]), node("GatherND", "x t", "y")],
     {"x": reals(6, 4)}, dict(zero=np.float32(0)), {"x": ["n", "k"]})

# Required attributes.
for operator, attribute, shape, opset in (("Concat", "axis", [3], 13), ("DepthToSpace", "blocksize", [1, 4, 2, 2], 13), ("SpaceToDepth", "blocksize", [1, 1, 2, 2], 13),
                                          ("LRN", "size", [1, 4, 2, 2], 13), ("Cast", "to", [3], 13), ("TfIdfVectorizer", "mode", [3], 9),
                                          ("MaxPool", "kernel_shape", [1, 1, 4, 4], 13), ("Upsample", "scales", [1, 1, 4, 4], 7), ("Unsqueeze", "axes", [3], 11)):
    array = np.arange(np.prod(shape)).reshape(shape)
    case(f"{operator} without {attribute}", [node(operator, "x", "y", name="bare")], {"x": array if operator == "TfIdfVectorizer" else array.astype(np.float32)}, opset=opset,
         refused=f"{operator} `bare`: ")
    case(f"{operator} names {attribute}", [node(operator, "x", "y", name="bare")], {"x": array if operator == "TfIdfVectorizer" else array.astype(np.float32)}, opset=opset,
         refused=f"the attribute `{attribute}` is missing")
case("GroupNormalization without num_groups", [node("GroupNormalization", "x s s", "y", name="bare")], {"x": reals(1, 4, 3)}, dict(s=np.ones(4, np.float32)), opset=21,
     refused="GroupNormalization `bare`: the attribute `num_groups` is missing")

# Einsum broadcasts dimensions of one element.
for equation, a, b in (("ij,ij->ij", (4, 6), (1, 6)), ("ij,ij->i", (4, 6), (4, 1)), ("ij,ij->", (1, 6), (4, 1)), ("...j,...j->...", (2, 4, 6), (1, 6)), ("ij,jk->ik", (4, 1), (6, 3)),
                       ("...ij,...jk->...ik", (1, 2, 3), (5, 3, 2))):
    case(f"Einsum {equation} of {a} and {b}", [node("Einsum", "x z", "y", equation=equation)], {"x": reals(*a), "z": reals(*b)})
case("Einsum of dynamic rows and one", [node("Einsum", "x z", "y", equation="ij,ij->ij")], {"x": reals(4, 6), "z": reals(1, 6)}, shapes={"x": ["n", 6]})
case("Einsum of other extents", [node("Einsum", "x z", "y", equation="ij,ij->i")], {"x": reals(4, 6), "z": reals(4, 3)}, refused="the extents along the letter `j` differ, and neither is 1")
case("Einsum with a digit", [node("Einsum", "x", "y", equation="i1->i")], {"x": reals(4, 6)}, refused="the equation has characters that are not letters")
case("Einsum of a term too many", [node("Einsum", "x", "y", equation="ij,jk->ij")], {"x": reals(4, 6)}, refused="the equation must have one term for each operand")
case("GroupNormalization of rows", [node("GroupNormalization", "x s b", "y", num_groups=2)], {"x": reals(4, 6)}, dict(s=reals(6), b=reals(6)), opset=21)
for mode in range(3):
    case(f"capped scores {mode}", [node("Attention", ["q", "k", "v", "m"], "y a b s", softcap=1., qk_matmul_output_mode=mode)],
         {key: reals(1, 2, 3, 4) for key in "qkv"}, dict(m=reals(3, 3)), outputs="y s", opset=23)

# Contradictory models.
for shape in ((5, 7), (2, 4, 5), (3, 1)):
    case(f"Gemm plus {shape}", [node("Gemm", "x w c", "y", alpha=2.)], {"x": reals(4, 3)}, dict(w=reals(3, 5), c=reals(*shape)), refused="Gemm")
case("Gemm of one row plus rows", [node("Gemm", "x w c", "y")], {"x": reals(1, 3)}, dict(w=reals(3, 5), c=reals(4, 5)), refused="C does not broadcast to the shape of the product")
case("Gemm plus one column", [node("Gemm", "x w c", "y")], {"x": reals(4, 3)}, dict(w=reals(3, 5), c=reals(4, 1)))
deformed = {"x": reals(1, 1, 3, 3), "o": reals(1, 8, 2, 2)}
case("DeformConv of another kernel", [node("DeformConv", "x w o", "y", kernel_shape=[3, 3])], deformed, dict(w=reals(1, 1, 2, 2)), opset=19,
     refused="`kernel_shape` is [3, 3], but the filter has the size [2, 2]")
for batch, time in ((0, 0), (1, 1), (0, 2), (2, 1)):
    case(f"ReverseSequence along {batch} and {time}", [node("ReverseSequence", "x l", "y", batch_axis=batch, time_axis=time)], {"x": reals(2, 2, 2)}, dict(l=np.array([1, 2])),
         refused="`batch_axis` and `time_axis` are not 0 and 1")
case("CenterCropPad of fewer extents", [node("CenterCropPad", "x s", "y", axes=[0, 1])], {"x": reals(4, 5)}, dict(s=np.array([3])), opset=18,
     refused="the shape has 1 extents, but there are 2 axes")

# Signs of zeros.
signed = np.array([-0.5, -0.3, -0.0, 0.0, 0.3, 0.5, 1.5, -1.5, 2.5, -2.5, np.inf, -np.inf, np.nan], np.float32)
case("signs of Round", [node("Round", "x", "r"), node("Reciprocal", "r", "y")], {"x": signed}, outputs="r y", close=0)
case("signs of Mod", [node("Mod", "x two", "r", fmod=1), node("Reciprocal", "r", "y")], {"x": np.append(signed, [-4, 4, 1e30, -7.5]).astype(np.float32)},
     dict(two=np.float32(2)), outputs="r y", close=0)
for operator in ("Ceil", "Floor"):
    case(f"signs of {operator}", [node(operator, "x", "r"), node("Reciprocal", "r", "y")], {"x": signed}, outputs="r y", close=0)

# Positions in resized images are relative to the extents of the results, not to the scales.
transforms = {"half_pixel": 13, "pytorch_half_pixel": 13, "asymmetric": 13, "align_corners": 13, "tf_half_pixel_for_nn": 11, "half_pixel_symmetric": 19}
for transform, opset in transforms.items():
    for mode in ("nearest", "linear", "cubic"):
        for name, given in (("scales", [2.6, 1.5]), ("less", [.7, .3]), ("mixed", [.26, 2.4615386])):
            scales = dict(s=np.array([1, 1, *given], np.float32))
            case(f"Resize {mode} {transform} by {name}", [node("Resize", "x r s", "y", mode=mode, coordinate_transformation_mode=transform, nearest_mode="floor")],
                 {"x": reals(1, 1, 4, 26)}, dict(r=np.zeros(0, np.float32), **scales), opset=opset)
    for mode in ("linear", "cubic"):
        sizes = dict(r=np.zeros(0, np.float32), e=np.zeros(0, np.float32), z=np.array([1, 2, 1, 1]))
        case(f"Resize {mode} {transform} to one", [node("Resize", "x r e z" if opset < 13 else ["x", "", "", "z"], "y", mode=mode, coordinate_transformation_mode=transform)],
             {"x": reals(1, 2, 4, 4)}, sizes if opset < 13 else dict(z=sizes["z"]), opset=opset)
for policy in ("not_larger", "not_smaller"):
    for transform in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        case(f"Resize {policy} {transform}", [node("Resize", ["x", "", "", "z"], "y", mode="linear", coordinate_transformation_mode=transform, axes=[2, 3], keep_aspect_ratio_policy=policy)],
             {"x": reals(1, 1, 4, 7)}, dict(z=np.array([7, 9])), opset=19)
case("Resize by an unknown transformation", [node("Resize", ["x", "", "s"], "y", coordinate_transformation_mode="diagonal")], {"x": reals(1, 1, 4, 4)},
     dict(s=np.array([1, 1, 2, 2], np.float32)), refused='the coordinate transformation "diagonal" is unknown')

# Before opset 13, several dimensions are flattened to one.
for at in (0, 1, 2):
    case(f"Hardmax of opset 11 from {at} on", [node("Hardmax", "x", "y", axis=at)], {"x": reals(2, 3, 4)}, opset=11)
# Before opset 14, a node with further outputs is in training mode.
case("BatchNormalization that trains, opset 9", [node("BatchNormalization", "x s b m v", "y a c d e")], {"x": reals(2, 3, 4)},
     dict(s=reals(3), b=reals(3), m=reals(3), v=np.abs(reals(3))), outputs="y a c d e", opset=9)
for axis in (-1, 1):
    case(f"reciprocal deviations from {axis} on", [node("SimplifiedLayerNormalization", "x s", "y d", axis=axis)], {"x": reals(2, 3, 4)},
         dict(s=reals(4) if axis == -1 else reals(3, 4)), outputs="y d")

# Random numbers differ from those of onnxruntime; the tests check their range, and that they are not all equal.
for operator, attributes in (("RandomUniformLike", dict(low=2., high=3., seed=7.)), ("RandomNormalLike", dict(seed=7., mean=2.5, scale=.01))):
    spread = [node(operator, "x", "r", **attributes), node("Clip", "r low high", "k"), node("Equal", "r k", "e"), node("Cast", "e", "f", to=FLOAT), node("ReduceMin", "f", "y"),
              node("ReduceMax", "r", "a"), node("ReduceMin", "r", "b"), node("Equal", "a b", "z")]
    case(operator, spread, {"x": reals(4, 50)}, dict(low=np.float32(2), high=np.float32(3)), outputs="y z", opset=13)
# Probabilities of 0 and 1 are omitted, because ONNX's function body, which onnxruntime uses, inverts the comparison.
case("Bernoulli", [node("Bernoulli", "h", "r"), node("ReduceMax", "r", "a"), node("ReduceMin", "r", "b")],
     {"h": np.full(200, .5, np.float32)}, outputs="a b", opset=15)
case("RandomNormal", [node("RandomNormal", "", "r", shape=[3, 4]), node("Shape", "r", "y"), node("Sub", "r r", "z")], {}, outputs="y z")

com_microsoft.add_cases()

if __name__ == "__main__":
    sys.exit(run())
