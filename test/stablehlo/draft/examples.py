#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example of the StableHLO draft: `examples.py --skript BINARY [--draft FILE]`.

The table contains each example of the draft: its line, the statement, the operands, the expected results. If the draft is
wrong, `instead` is the corrected statement or value, with the reason. With --draft, the statements are looked up in the
draft's text, and an example that the table lacks is an error.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy

T, F = True, False
DTYPES = {"si32": "<i4", "i32": "<i4", "f32": "<f4", "f64": "<f8", "pred": "?", "c64": "<c8", "c128": "<c16",
          "complex<f32>": "<c8"}
# Functions of implementation-defined precision; complex numbers have the same tolerance.
ROUNDED = {"cosine", "log", "logistic", "rsqrt", "sine", "tanh"}
ATOL = 1e-6


class Example:
    def __init__(self, line, statement, inputs, result, instead=None, reason=None, result_type=None):
        self.line, self.statement, self.inputs, self.result = line, statement, inputs, result
        self.instead, self.reason, self.result_type = instead, reason, result_type


def binary(line, op, kind, lhs, rhs, result):
    return Example(line, "%%result = stablehlo.%s %%lhs, %%rhs : tensor<2x2x%s>" % (op, kind), [lhs, rhs], result)


A, B = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
P, Q = [[F, F], [T, T]], [[F, T], [F, T]]
STEPS = [-0.8166, -0.2530, 0.2530, 0.8166, 2.0]
ANGLES = [[0.0, 1.57079632], [3.14159265, 4.71238898]]
RANK = "a list of rank 1 stands for a value of rank 0"

EXAMPLES = [
    Example(151, "%x = stablehlo.abs %a : tensor<3xsi32>", [[-2, 0, 2]], [2, 0, 2]),
    Example(156, "%y = stablehlo.abs %b : tensor<3xf32>", [[-2.2, 0.0, 2.2]], [2.2, 0.0, 2.2]),
    Example(161, "%z = stablehlo.abs %c : tensor<2xc128>", [[1j, 4 - 3j]], [1, 5.0],
            instead="%z = stablehlo.abs %c : (tensor<2xc128>) -> tensor<2xf64>",
            reason="one type is shown, but abs_c2 makes the result's element type f64"),
    binary(208, "add", "f32", A, B, [[6, 8], [10, 12]]),
    binary(247, "and", "si32", A, B, [[1, 2], [3, 0]]),
    binary(253, "and", "pred", P, Q, [[F, F], [F, T]]),
    Example(290, "%z = stablehlo.ceil %x : tensor<5xf32>", [STEPS], [-0.0, -0.0, 1.0, 1.0, 2.0]),
    Example(323, "%result = stablehlo.constant dense<true> : tensor<pred>", [], True),
    Example(326, "%result = stablehlo.constant dense<0> : tensor<i32>", [], 0),
    Example(329, "%result = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>", [],
            [[0.0, 1.0], [2.0, 3.0]]),
    Example(335, "%result = stablehlo.constant dense<[(0.0, 1.0), (2.0, 3.0)]> : tensor<2xcomplex<f32>>", [],
            [1j, 2 + 3j]),
    Example(374, "%result = stablehlo.cosine %operand : tensor<2x2xf32>", [ANGLES], [[1.0, 0.0], [-1.0, 0.0]]),
    Example(410, "%z = stablehlo.floor %x : tensor<5xf32>", [STEPS], [-1.0, -1.0, 0.0, 0.0, 2.0]),
    Example(448, "%result = stablehlo.log %operand : tensor<2x2xf32>", [[[1.0, 2.0], [3.0, 4.0]]],
            [[0.0, 0.69314718], [1.09861229, 1.38629436]]),
    Example(452, "%result = stablehlo.log %operand : tensor<complex<f32>>", [1 + 2j], 0.80471896 + 1.10714871j),
    Example(490, "%result = stablehlo.logistic %operand : tensor<2x2xf32>", [[[0.0, 1.0], [2.0, 3.0]]],
            [[0.5, 0.73105858], [0.88079708, 0.95257413]]),
    Example(494, "%result = stablehlo.logistic %operand : tensor<complex<f32>>", [1 + 2j], 1.02141536 + 0.40343871j),
    Example(533, "%result = stablehlo.max %lhs, %rhs : tensor<2x2xi32>", [[[1, 2], [7, 8]], [[5, 6], [3, 4]]],
            [[5, 6], [7, 8]]),
    Example(572, "%result = stablehlo.min %lhs, %rhs : tensor<2x2xi32>", [[[1, 2], [7, 8]], [[5, 6], [3, 4]]],
            [[1, 2], [3, 4]]),
    Example(619, "%z = stablehlo.negate %x : tensor<2xsi32>", [[0, -2]], [0, 2]),
    Example(624, "%z = stablehlo.negate %x : tensor<1xc64>", [[2.5 + 0j]], [complex(-2.5, -0.0)],
            reason="the draft gives a value of rank 0 and two reals for a tensor of one complex number"),
    Example(660, "%result = stablehlo.not %operand : tensor<2x2xsi32>", [A], [[-2, -3], [-4, -5]]),
    Example(665, "%result = stablehlo.not %operand : tensor<2xpred>", [[T, F]], [F, T]),
    binary(704, "or", "si32", A, B, [[5, 6], [7, 12]]),
    binary(710, "or", "pred", P, Q, [[F, T], [T, T]]),
    Example(746, "%result = stablehlo.rsqrt %operand : tensor<2x2xf32>", [[[1.0, 4.0], [9.0, 25.0]]],
            [[1.0, 0.5], [0.333333343, 0.2]], reason="0.33333343 lost a digit: the f32 next to 1/3 is 0.333333343"),
    Example(750, "%result = stablehlo.rsqrt %operand : tensor<complex<f32>>", [1 + 2j], 0.56886448 - 0.35157758j,
            reason=RANK),
    Example(789, "%result = stablehlo.sine %operand : tensor<2x2xf32>", [ANGLES], [[0.0, 1.0], [0.0, -1.0]]),
    Example(825, "%result = stablehlo.sqrt %operand : tensor<2x2xf32>", [[[0.0, 1.0], [4.0, 9.0]]],
            [[0.0, 1.0], [2.0, 3.0]]),
    Example(829, "%result = stablehlo.sqrt %operand : tensor<complex<f32>>", [1 + 2j], 1.27201965 + 0.78615138j,
            reason=RANK),
    Example(865, "%result = stablehlo.tanh %operand : tensor<3xf32>", [[-1.0, 0.0, 1.0]],
            [-0.76159416, 0.0, 0.76159416]),
    binary(905, "xor", "si32", A, B, [[4, 4], [4, 12]]),
    binary(911, "xor", "pred", P, Q, [[F, T], [T, F]]),
]

# In addition to the examples: the program of "Programs", and the notations of "Constants". The pair `(12.34, 56,78)` in
# the draft has three numbers; 56.78 is meant.
PROGRAM = """ml_program.func @example_func(%arg: tensor<4x16xf32>) -> tensor<4x16xf32> {
 %1 = stablehlo.floor %arg : tensor<4x16xf32>
 %2 = stablehlo.ceil %arg : tensor<4x16xf32>
 %3 = stablehlo.add %1, %2 : tensor<4x16xf32>
 ml_program.return %3 : tensor<4x16xf32>
}
"""
CONSTANTS = [
    ("dense<123> : tensor<ui8>", "u1", 123), ("dense<-123> : tensor<si8>", "i1", -123),
    ("dense<false> : tensor<pred>", "?", False), ("dense<123.421> : tensor<f32>", "f4", 123.421),
    ("dense<1.23421e+2> : tensor<f32>", "f4", 123.421), ("dense<0x42f6d78d> : tensor<f32>", "f4", 123.421),
    ("dense<(12.34, 56.78)> : tensor<c64>", "c8", 12.34 + 56.78j),
    ("dense<(12.34, 56.78)> : tensor<c128>", "c16", 12.34 + 56.78j),
]


def types(statement):
    """The types of the operands and of the result."""
    signature = statement.split(" : ", 1)[1]
    if "->" in signature:
        source, result = signature.split(" -> ")
        return source.strip("()"), result
    return signature, signature


def array(values, tensor):
    element = re.fullmatch(r"tensor<(?:\d+x)*(.*)>", tensor).group(1)
    return numpy.array(values, dtype=DTYPES[element])


def execute(skript, text, inputs, count=1):
    """The results of a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.mlir")
        with open(path, "w") as file:
            file.write(text)
        command = [skript, "run", path, "--message-format=short", "--output-dir", folder]
        for number, values in enumerate(inputs):
            numpy.save(os.path.join(folder, "in%d.npy" % number), values)
            command += ["--input", "%d=%s" % (number, os.path.join(folder, "in%d.npy" % number))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.strip())
        return [numpy.load(os.path.join(folder, "%d.npy" % n)) for n in range(count)]


def same(got, want, rounded):
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if rounded or got.dtype.kind == "c":
        return bool(numpy.allclose(got, want, rtol=0, atol=ATOL))
    return got.tobytes() == want.tobytes()


def check(skript, example):
    """The error, or None."""
    statement = example.instead or example.statement
    source, target = types(statement)
    result = re.match(r"(%\w+) = stablehlo\.(\w+) ?([^:]*?)(?= : |$)", statement)
    names = re.findall(r"%\w+", result.group(3)) if example.inputs else []
    arguments = ", ".join("%s: %s" % (name, source) for name in names)
    text = "ml_program.func @example(%s) -> %s {\n  %s\n  ml_program.return %s : %s\n}\n" % (
        arguments, target, statement, result.group(1), target)
    try:
        got, = execute(skript, text, [array(values, source) for values in example.inputs])
    except ValueError as error:
        return str(error)
    want = array(example.result, target)
    if same(got, want, result.group(2) in ROUNDED):
        return None
    return "%s instead of %s" % (got.tolist(), want.tolist())


def against(draft):
    """The differences between the draft's text and the table."""
    with open(draft) as file:
        lines = file.read().split("\n")
    wrong = ["line %d of the draft is not `%s`" % (e.line, e.statement)
             for e in EXAMPLES if lines[e.line - 1].strip() != e.statement]
    start = next(n for n, line in enumerate(lines) if line == "### stablehlo.abs")
    known = {e.line for e in EXAMPLES}
    wrong += ["line %d of the draft is not in the table: `%s`" % (n + 1, line.strip())
              for n, line in enumerate(lines) if n > start and "= stablehlo." in line and n + 1 not in known]
    if PROGRAM.strip() not in "\n".join(lines):
        wrong.append("the program is not the draft's")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--draft", help="the draft's text")
    args = parser.parse_args()
    wrong = against(args.draft) if args.draft and os.path.exists(args.draft) else []
    for example in EXAMPLES:
        reason = check(args.skript, example)
        if reason:
            wrong.append("line %d: %s" % (example.line, reason))
    x = numpy.linspace(-3, 3, 64, dtype="<f4").reshape(4, 16)
    got, = execute(args.skript, PROGRAM, [x])
    if not same(got, numpy.floor(x) + numpy.ceil(x), False):
        wrong.append("the program gives %s" % got.tolist())
    for constant, dtype, value in CONSTANTS:
        element = constant.split(" : ")[1]
        text = "ml_program.func @c() -> %s {\n  %%0 = stablehlo.constant %s\n  ml_program.return %%0 : %s\n}\n" % (
            element, constant, element)
        got, = execute(args.skript, text, [])
        if not same(got, numpy.array(value, dtype=dtype), False):
            wrong.append("%s is %s" % (constant, got))
    for line in wrong:
        print(line)
    operations = {re.search(r"stablehlo\.(\w+)", e.statement).group(1) for e in EXAMPLES}
    corrected = sum(1 for e in EXAMPLES if e.reason)
    print("the draft's examples: %d of %d operations, %d corrected; %d wrong" % (
        len(EXAMPLES), len(operations), corrected, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
