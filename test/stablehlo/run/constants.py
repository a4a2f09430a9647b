# SPDX-License-Identifier: Apache-2.0
"""Compares elementwise operations on scalar constants, which the compiler folds, with the same operations on arguments.

    constants.py FOLDER [--shard I/N] [OPERATION...]

Each operation runs on all combinations of special values, a binary operation on all pairs. Folded values must have the
bits of computed ones, except that functions may differ by a few units in the last place, and that all NaN are equal. Operations
that numpy supports are also compared with numpy.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import warnings

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../.."))
import shards

warnings.simplefilter("ignore")

REALS = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 0.5, -2.5, 3.5, 1e-40, -1e-40, 1.1754944e-38, 3.4028235e38, -1e30, 88.5]
TYPES = {
    "f32": (numpy.float32, REALS),
    "f64": (numpy.float64, [*REALS, 5e-324, -5e-324, 1.7e308]),
    "f16": (numpy.float16, [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 0.5, -2.5, 6e-8, 65504.0]),
}
for bits in (8, 32, 64):
    TYPES["i%d" % bits] = (getattr(numpy, "int%d" % bits), [0, 1, -1, 2, -3, 7, bits, bits - 1, -(1 << bits - 1), (1 << bits - 1) - 1])
    TYPES["ui%d" % bits] = (getattr(numpy, "uint%d" % bits), [0, 1, 2, 7, bits, bits - 1, 1 << bits - 1, (1 << bits) - 1])
TYPES["i1"] = (numpy.bool_, [False, True])
PAIRS = [complex(x, y) for x in (0.0, -0.0, 1.0, -2.5, numpy.inf, numpy.nan) for y in (0.0, -0.0, 0.5, -1.0, -numpy.inf)]
TYPES["complex<f32>"] = (numpy.complex64, PAIRS)
TYPES["complex<f64>"] = (numpy.complex128, PAIRS)

REAL = ("f32", "f64", "f16")
COMPLEX = ("complex<f32>", "complex<f64>")
SIGNED, UNSIGNED = [tuple("%s%d" % (k, b) for b in (8, 32, 64)) for k in ("i", "ui")]
INTEGER = SIGNED + UNSIGNED
# Types of the operand, and the NumPy function for reals and integers.
UNARY = {
    "abs": (REAL + SIGNED, numpy.abs), "ceil": (REAL, numpy.ceil), "floor": (REAL, numpy.floor), "cosine": (REAL + COMPLEX, numpy.cos),
    "sine": (REAL + COMPLEX, numpy.sin), "tan": (REAL + COMPLEX, numpy.tan), "tanh": (REAL + COMPLEX, numpy.tanh), "log": (REAL + COMPLEX, numpy.log),
    "log_plus_one": (REAL + COMPLEX, numpy.log1p), "exponential": (REAL + COMPLEX, numpy.exp), "exponential_minus_one": (REAL + COMPLEX, numpy.expm1),
    "logistic": (REAL + COMPLEX, None), "sqrt": (REAL + COMPLEX, numpy.sqrt), "rsqrt": (REAL + COMPLEX, None), "cbrt": (REAL + COMPLEX, numpy.cbrt),
    "negate": (REAL + INTEGER + COMPLEX, numpy.negative), "not": (INTEGER + ("i1",), numpy.invert), "popcnt": (INTEGER, None),
    "count_leading_zeros": (INTEGER, None), "round_nearest_even": (REAL, numpy.rint), "round_nearest_afz": (REAL, None),
    "sign": (REAL + SIGNED + COMPLEX, None),
}
BINARY = {
    "add": (REAL + INTEGER + COMPLEX + ("i1",), numpy.add), "subtract": (REAL + INTEGER + COMPLEX, numpy.subtract),
    "multiply": (REAL + INTEGER + COMPLEX, numpy.multiply), "divide": (REAL + INTEGER + COMPLEX, None), "remainder": (REAL + INTEGER, None),
    "maximum": (REAL + INTEGER + COMPLEX + ("i1",), numpy.maximum), "minimum": (REAL + INTEGER + COMPLEX + ("i1",), numpy.minimum),
    "power": (REAL + INTEGER + COMPLEX, None), "atan2": (REAL + COMPLEX, numpy.arctan2), "and": (INTEGER + ("i1",), numpy.bitwise_and),
    "or": (INTEGER + ("i1",), numpy.bitwise_or), "xor": (INTEGER + ("i1",), numpy.bitwise_xor), "shift_left": (INTEGER, None),
    "shift_right_logical": (INTEGER, None), "shift_right_arithmetic": (INTEGER, None),
}
OF_CHLO = {name: (REAL + (COMPLEX if name not in ("erf", "erfc", "erf_inv", "lgamma", "digamma") else ()), function) for name, function in {
    "acos": numpy.arccos, "acosh": numpy.arccosh, "asin": numpy.arcsin, "asinh": numpy.arcsinh, "atan": numpy.arctan, "atanh": numpy.arctanh,
    "cosh": numpy.cosh, "sinh": numpy.sinh, "erf": None, "erfc": None, "erf_inv": None, "lgamma": None, "digamma": None}.items()}


def literal(value, element, kind):
    if element == "i1":
        return "true" if value else "false"
    if element.startswith("complex"):
        real = "f32" if kind == numpy.complex64 else "f64"
        return "(%s, %s)" % tuple(literal(part, real, numpy.float32 if real == "f32" else numpy.float64) for part in (value.real, value.imag))
    if element in ("f32", "f64", "f16"):
        size = {"f32": 4, "f64": 8, "f16": 2}[element]
        return "0x%0*X" % (2 * size, int.from_bytes(kind(value).tobytes(), "little"))
    return str(int(value))


def programs(name, arity, element):
    """The program for constants, the program for arguments, and the operands."""
    kind, values = TYPES[element]
    values = list({repr(value): value for value in values[:: 4 if arity > 1 and element in COMPLEX else 1]}.values())
    operands = list(itertools.product(values, repeat=arity))
    scalar, dialect = "tensor<%s>" % element, "chlo" if name in OF_CHLO else "stablehlo"
    signature = "%s -> %s" % (scalar, scalar) if dialect == "chlo" else scalar
    whole = "tensor<%dx%s>" % (len(operands), element)
    lines = ["func.func @main() -> %s {" % whole]
    names = {}
    for value in values:
        names[id(value)] = "%%c%d" % len(names)
        lines.append("  %s = stablehlo.constant dense<%s> : %s" % (names[id(value)], literal(value, element, kind), scalar))
    for number, operand in enumerate(operands):
        lines.append("  %%r%d = %s.%s %s : %s" % (number, dialect, name, ", ".join(names[id(v)] for v in operand), signature))
        lines.append("  %%s%d = stablehlo.reshape %%r%d : (%s) -> tensor<1x%s>" % (number, number, scalar, element))
    lines.append("  %%y = stablehlo.concatenate %s, dim = 0 : (%s) -> %s" % (
        ", ".join("%%s%d" % n for n in range(len(operands))), ", ".join(["tensor<1x%s>" % element] * len(operands)), whole))
    constant = "\n".join([*lines, "  return %%y : %s" % whole, "}"])
    arguments = ["%%x%d" % n for n in range(arity)]
    signature = "%s -> %s" % (whole, whole) if dialect == "chlo" else whole
    computed = "func.func @main(%s) -> %s {\n  %%y = %s.%s %s : %s\n  return %%y : %s\n}" % (
        ", ".join("%s: %s" % (a, whole) for a in arguments), whole, dialect, name, ", ".join(arguments), signature, whole)
    return constant, computed, [numpy.array(column, kind) for column in zip(*operands)]


def differs(folded, computed, element, signs, scale=0):
    """The mask of differences: by more than a few units in the last place, in being finite, or, where `signs` is true, in the sign of
    a zero. The units are those of the value, or of `scale` if that is larger."""
    if folded.dtype.kind not in "fc":
        return folded != computed
    if folded.dtype.kind == "c":
        parts = [differs(f, c, element, signs, scale) for f, c in ((folded.real, computed.real), (folded.imag, computed.imag))]
        return parts[0] | parts[1]
    step = numpy.finfo(folded.dtype).eps
    far = abs(folded.astype("f8") - computed.astype("f8")) > 8 * step * numpy.maximum(abs(computed.astype("f8")), scale) + 8 * numpy.finfo(folded.dtype).smallest_subnormal
    both = numpy.isnan(folded) & numpy.isnan(computed)
    exact = ~numpy.isfinite(folded) | ~numpy.isfinite(computed)
    zero = (folded == 0) & (computed == 0)
    sign = numpy.signbit(folded) != numpy.signbit(computed)
    return ~both & (numpy.where(exact, folded != computed, far) | (zero & sign & signs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("operations", nargs="*")
    shards.add_argument(parser)
    options = parser.parse_args()
    folder = options.folder
    os.makedirs(folder, exist_ok=True)
    tables = [(arity, *item) for arity, table in ((1, UNARY), (2, BINARY), (1, OF_CHLO)) for item in table.items()]
    selected = [item for item in tables if not options.operations or item[1] in options.operations]
    lines, cases = [], []
    for arity, name, (elements, function) in shards.shard(selected, options.shard):
        for element in elements:
            own = os.path.join(folder, "%s_%s" % (name, "".join(c for c in element if c.isalnum())))
            constant, computed, operands = programs(name, arity, element)
            for number, operand in enumerate(operands):
                numpy.save("%s.%d.npy" % (own, number), operand)
            given = [part for n in range(arity) for part in ("--input", "%d=%s.%d.npy" % (n, own, n))]
            for text, which, inputs in ((constant, "folded", []), (computed, "computed", given)):
                with open("%s.%s.mlir" % (own, which), "w") as file:
                    file.write(text + "\n")
                lines.append(json.dumps(["%s.%s.mlir" % (own, which), *inputs, "--no-cache", "--message-format=short", "--output-dir", "%s.%s" % (own, which)]))
            cases.append((name, element, function, operands, own))
    batch = os.path.join(folder, "batch.jsonl")
    with open(batch, "w") as file:
        file.write("\n".join(lines) + "\n")
    command = [os.environ.get("SKRIPT", "skript"), "run", "--output-dir", folder, "--batch", batch]
    done = subprocess.run(command, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    count = abs(len(lines) - len(answers))
    for (name, element, function, operands, own), *both in zip(cases, answers[::2], answers[1::2]):
        failed = [answer["stderr"].strip()[:300] for answer in both if answer["exit"]]
        if failed:
            count += 1
            print("%s of %s: %s" % (name, element, failed[0]))
            continue
        folded, computed = (numpy.load("%s.%s/0.npy" % (own, which)) for which in ("folded", "computed"))
        # The sign of a zero is unspecified in C99 if an operand is not finite, and in numpy for the extreme of two zeros.
        signs = True if element not in COMPLEX else numpy.all([numpy.isfinite(operand) for operand in operands], axis=0)
        pairs = [("folded", folded, computed, signs)]
        if function and element not in COMPLEX:
            pairs.append(("against numpy", computed, function(*operands), name not in ("maximum", "minimum")))
        for what, found, expected, signs in pairs:
            # The logarithms in the reflection formula cancel near the zeros of lgamma.
            wrong = numpy.flatnonzero(differs(found, expected, element, signs, scale=name == "lgamma"))
            count += len(wrong)
            for n in wrong[:3]:
                print("%s of %s, %s, %s: %s instead of %s" % (name, element, [o[n] for o in operands], what, found[n], expected[n]))
    print("%d operations, %d values wrong" % (len(cases), count))


main()
