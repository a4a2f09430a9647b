# SPDX-License-Identifier: Apache-2.0
"""Checks the real and imaginary parts of complex functions of `skript run`: `complex.py FOLDER`; FOLDER is for temporary files.

The arguments are on branch cuts, near zeros, poles and saddles of the functions, and such that squares overflow or underflow.
The results are compared with numpy in the next wider type; each part must be within 16 units in its last place.
"""
import json
import os
import subprocess
import sys

import numpy

numpy.seterr(all="ignore")


def log_plus_one(z):
    """log(1 + z) without a rounded sum, unlike numpy.log1p."""
    x, y = z.real.astype(numpy.longdouble), z.imag.astype(numpy.longdouble)
    beside, elsewhere = numpy.log1p(x * (2 + x) + y * y) / 2, numpy.log(numpy.hypot(1 + x, y))
    return numpy.where((x > -0.5) & (abs(z) < 4), beside, elsewhere) + 1j * numpy.arctan2(y, 1 + x)


NAMES = {"log_plus_one": log_plus_one, "exponential_minus_one": numpy.expm1, "log": numpy.log, "sqrt": numpy.sqrt,
         "rsqrt": lambda z: 1 / numpy.sqrt(z), "cbrt": lambda z: numpy.where(z == 0, 0, numpy.exp(numpy.log(z) / 3)),
         "sine": numpy.sin, "cosine": numpy.cos, "tan": numpy.tan, "tanh": numpy.tanh, "exponential": numpy.exp,
         "abs": abs, "logistic": lambda z: 1 / (1 + numpy.exp(-z)), "chlo.sinh": numpy.sinh, "chlo.cosh": numpy.cosh, "chlo.asin": numpy.arcsin, "chlo.acos": numpy.arccos, "chlo.atan": numpy.arctan,
         "chlo.asinh": numpy.arcsinh, "chlo.acosh": numpy.arccosh, "chlo.atanh": numpy.arctanh}
# These cancel digits, so the wider type is exact enough for f32 only.
TEXTBOOK = ["log_plus_one", "exponential_minus_one"]
UNITS = 16


def arguments(part):
    limits = numpy.finfo(part)
    most, least, unit = float(limits.max), float(limits.smallest_normal), float(limits.eps)
    ends = 88.9 if part == numpy.float32 else 710.0
    line = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -4.0, unit, -unit, 1e-10, -1e-10, 3.0, 100.0, -100.0, 0.6, -0.8, 0.70710678,
            4 * most ** 0.5, -4 * most ** 0.5, most / 2, -most, 4 * least, -4 * least, least ** 0.5 / 8, least / 64, -1 + 1e-3,
            1 + 3 * unit, -1 + unit, ends, -ends]
    z = numpy.empty((len(line), len(line)), "complex64" if part == numpy.float32 else "complex128")
    z.real, z.imag = numpy.array(line, part)[:, None], numpy.array(line, part)[None, :]
    return z.reshape(-1)


def text(name, count, part):
    pairs = "tensor<%dxcomplex<%s>>" % (count, part)
    result = "tensor<%dx%s>" % (count, part) if name == "abs" else pairs
    types = "%s -> %s" % (pairs, pairs) if "." in name else "(%s) -> %s" % (pairs, result) if name == "abs" else pairs
    operation = name if "." in name else "stablehlo." + name
    return "func.func @main(%%a: %s) -> %s {\n  %%0 = %s %%a : %s\n  return %%0 : %s\n}\n" % (pairs, result, operation, types, result)


def wrong(name, z, got, part):
    """The arguments for which a part is wrong."""
    wider = numpy.complex128 if part == numpy.float32 else numpy.clongdouble
    want = NAMES[name](z.astype(wider)).astype(got.dtype)
    limits = numpy.finfo(part)
    bad = numpy.zeros(z.shape, bool)
    for mine, right in [(got.real, want.real), (got.imag, want.imag)]:
        both = numpy.isfinite(mine) & numpy.isfinite(right)
        far = abs(mine.astype(numpy.longdouble) - right) > UNITS * limits.eps * abs(right) + 4 * limits.smallest_normal * numpy.maximum(1, abs(want))
        # Our quotient or product may be a number where numpy's result is NaN.
        other = ~both & ~numpy.isnan(right) & (mine != right)
        bad |= both & far | other
    if name in ("exponential_minus_one", "logistic"):
        # If the digits of a part cancel, the tolerance is in units of the absolute value.
        bad &= abs(got - want) > UNITS * limits.eps * abs(want)
    return [(z[n], got[n], want[n]) for n in numpy.flatnonzero(bad)]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    lines, cases = [], []
    for part, short in [(numpy.float32, "f32"), (numpy.float64, "f64")]:
        z = arguments(part)
        numpy.save(os.path.join(folder, short + ".npy"), z)
        for name in NAMES:
            if short == "f64" and name in TEXTBOOK:
                continue
            own = os.path.join(folder, "%s_%s" % (name, short))
            os.makedirs(own, exist_ok=True)
            with open(own + ".mlir", "w") as file:
                file.write(text(name, z.size, short))
            lines.append(json.dumps([own + ".mlir", "--input", "0=%s.npy" % os.path.join(folder, short), "--output-dir", own]))
            cases.append((name, z, own, part))
    batch = os.path.join(folder, "batch.jsonl")
    with open(batch, "w") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run(["skript", "run", "--output-dir", folder, "--batch", batch], capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    count = abs(len(cases) - len(answers))
    for (name, z, own, part), answer in zip(cases, answers):
        if answer["exit"]:
            count += 1
            print("%s: %s" % (name, answer["stderr"].strip()[:500]))
            continue
        found = wrong(name, z, numpy.load(os.path.join(own, "0.npy")), part)
        count += len(found)
        for one in found[:5]:
            print("%s of %s: %s instead of %s" % ((name,) + one))
    print("%d functions, %d values wrong" % (len(cases), count))


main()
