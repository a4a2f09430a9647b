#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures powers of f32 and functions of f64 at samples and hard cases, against mpmath.

    samples.py SKRIPT FOLDER

Prints a line for each: name, largest error in units in the last place of the true value, where it is, and how many results are infinite, NaN or
of a sign where the true value is not.
"""
import math
import subprocess
import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 160


def compute(skript, folder, graph, real, inputs):
    arguments = []
    for name, values in inputs.items():
        np.save("%s/%s.npy" % (folder, name), values)
        arguments += ["--input", "%s=%s/%s.npy" % (name, folder, name)]
    subprocess.run([skript, "run", "test/numerics/samples.sknd", "--graph", graph, "--real", real, *arguments, "--output-dir", folder], check=True)


def error_of(found, wanted, digits, least, most):
    """Units in the last place; None if one is infinite or NaN, or has a sign that the other has not."""
    if math.isnan(found) or wanted is None:
        return 0.0 if math.isnan(found) and wanted is None else None
    if math.isinf(found) or mp.isinf(wanted):
        beyond = mp.isinf(wanted) or abs(wanted) >= mp.ldexp(2 - mp.ldexp(1, -digits), most)
        return 0.0 if beyond and math.isinf(found) and (found > 0) == (wanted > 0) else None
    if wanted == 0:
        return 0.0 if found == 0 else None
    if math.copysign(1.0, found) != mp.sign(wanted):
        return None
    exponent = max(mp.frexp(wanted)[1] - digits, least)
    return float(abs(mp.mpf(found) - wanted) / mp.ldexp(1, exponent))


def report(name, found, wanted, where, kind):
    worst, at, wrong = 0.0, None, 0
    for f, w, a in zip(found, wanted, where):
        error = error_of(float(f), w, *kind)
        if error is None:
            wrong += 1
        elif error > worst:
            worst, at = error, a
    print("%s %.4f %s %d" % (name, worst, at, wrong))


def power(x, y):
    x, y = float(x), float(y)
    if y == 0 or x == 1:
        return mp.mpf(1)
    whole = math.isinf(y) or math.fmod(y, 1) == 0
    if math.isnan(x) or math.isnan(y) or (x < 0 and math.isfinite(x) and not whole):
        return None
    odd = whole and math.isfinite(y) and math.fmod(y, 2) != 0
    sign = -1 if odd and math.copysign(1.0, x) < 0 else 1
    if math.isinf(y):
        return mp.mpf(1) if abs(x) == 1 else mp.inf if (abs(x) > 1) == (y > 0) else mp.mpf(0)
    if x == 0 or math.isinf(x):
        return sign * mp.inf if math.isinf(x) == (y > 0) else mp.mpf(0)
    return sign * mp.power(abs(mp.mpf(x)), mp.mpf(y))


def main():
    skript, folder = sys.argv[1:]
    random = np.random.default_rng(1)
    count = 8000
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-45, -1e-45, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 16777215, 1.5, 1 / 3])
    x, y = [grid.ravel() for grid in np.meshgrid(special, special)]
    any_base = np.exp2(random.uniform(-149, 128, count))
    near_one = 1 + random.uniform(-1, 1, count) * np.exp2(random.uniform(-23, -1, count))
    bases = np.concatenate([any_base, near_one]).astype(np.float32)
    # Results over the whole range, at its borders above all.
    target = np.where(random.random(2 * count) < 0.5, random.uniform(-150, 128.5, 2 * count), random.choice([-149, -126, 127.99], 2 * count))
    with np.errstate(all="ignore"):
        exponents = target / np.log2(bases.astype(np.float64))
    whole = np.trunc(random.uniform(-40, 40, count))
    x = np.concatenate([x, bases, -np.exp2(random.uniform(-4, 4, count)), random.integers(2, 4000, 500), random.integers(2, 60, 500) ** 2])
    y = np.concatenate([y, exponents, whole, np.full(500, 2.0), np.full(500, 0.5)])
    x, y = x.astype(np.float32), y.astype(np.float32)
    compute(skript, folder, "Powers", "f32", {"x": x, "y": y})
    found = np.load(folder + "/pow.npy")
    report("pow", found, [power(a, b) for a, b in zip(x, y)], ["%s**%s" % (float(a).hex(), float(b).hex()) for a, b in zip(x, y)], (24, -149, 127))

    special = np.array([0.0, 5e-324, 2.2250738585072014e-308, 0.5, 1, 709.782712893384, 745.1332191019411, 1e300, np.inf, np.nan])
    near = [-1, 0.25, 0.4375, 0.5, 0.625, 1, math.sqrt(0.5), 1.1875, math.sqrt(2), 2, 2.4375, 6]
    x = [special, -special, random.uniform(-20, 20, count), random.uniform(-746, 710, count), np.exp2(random.uniform(-1074, 1024, count))]
    x += [random.uniform(-1, 1, count), np.array([1.0, -1.0, 710.4758600739439, -710.4758600739439, 710.5])]
    x += [a * (1 + random.uniform(-1, 1, 500) * 1e-3) for a in near]
    x = np.concatenate(x)
    compute(skript, folder, "Functions", "f64", {"x": x})

    def within(least, most, function):
        return lambda v: function(v) if least <= v <= most else None

    functions = {"exp": mp.exp, "log": within(0, mp.inf, mp.log), "tanh": mp.tanh, "erf": mp.erf, "sinh": mp.sinh, "cosh": mp.cosh}
    functions |= {"asin": within(-1, 1, mp.asin), "acos": within(-1, 1, mp.acos), "atan": mp.atan, "asinh": mp.asinh}
    functions |= {"acosh": within(1, mp.inf, mp.acosh), "atanh": within(-1, 1, mp.atanh)}
    for name, function in functions.items():
        wanted = [None if math.isnan(v) else function(mp.mpf(float(v))) for v in x]
        found = np.load("%s/%s.npy" % (folder, name))
        report(name + "_f64", found, wanted, [float(v).hex() for v in x], (53, -1074, 1023))


main()
