#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures powers of f32 and functions of f64 at samples and hard cases, against mpmath.

    samples.py SKRIPT FOLDER

Prints a line for each: name, largest error in units in the last place of the true value, its argument, and the number of results that, unlike
the true value, are infinite, NaN or of the other sign.
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
    """The error in units in the last place; None if only one of the values is infinite or NaN, or if their signs differ."""
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


def measure_powers(skript, folder, random, count, name, real, least, most, digits):
    """Combinations of special values, bases close to 1, and results in the full range, mostly at its limits."""
    least_normal, most_normal = least + digits - 1, most - 0.01
    tiny, huge = float(np.finfo(real).smallest_subnormal), float(np.finfo(real).max)
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, tiny, -tiny, huge, -huge, np.inf, -np.inf, np.nan, 16777215, 2.0**53 - 1, 1.5, 1 / 3])
    x, y = [grid.ravel() for grid in np.meshgrid(special, special)]
    any_base = np.exp2(random.uniform(least, most, count))
    near_one = 1 + random.uniform(-1, 1, count) * np.exp2(random.uniform(1 - digits, -1, count))
    bases = np.concatenate([any_base, near_one]).astype(real)
    target = random.uniform(least - 1, most + 0.5, 2 * count)
    target = np.where(random.random(2 * count) < 0.5, target, random.choice([least, least_normal, most_normal], 2 * count))
    with np.errstate(all="ignore"):
        exponents = target / np.log2(bases.astype(np.float64))
    whole = np.trunc(random.uniform(-40, 40, count))
    x = np.concatenate([x, bases, -np.exp2(random.uniform(-4, 4, count)), random.integers(2, 4000, 500), random.integers(2, 60, 500) ** 2])
    y = np.concatenate([y, exponents, whole, np.full(500, 2.0), np.full(500, 0.5)])
    with np.errstate(all="ignore"):
        x, y = x.astype(real), y.astype(real)
    compute(skript, folder, "Powers", "f%d" % (8 * x.itemsize), {"x": x, "y": y})
    found = np.load(folder + "/pow.npy")
    where = ["%s**%s" % (float(a).hex(), float(b).hex()) for a, b in zip(x, y)]
    report(name, found, [power(a, b) for a, b in zip(x, y)], where, (digits, least, most - 1))


def near_quarters(random, count):
    """For each exponent, the f64 numbers nearest to multiples of π/2, by continued fractions of 2ᵉ · 2/π; and other numbers."""
    found = []
    with mp.workprec(1400):
        for exponent in range(-52, 972):
            # m · 2^exponent is near to n · π/2 if m/n is near to π/2 / 2^exponent.
            ratio = mp.pi / 2 / mp.ldexp(1, exponent)
            p, q, last_p, last_q = mp.floor(ratio), mp.mpf(1), mp.mpf(1), mp.mpf(0)
            rest = ratio - p
            best = None
            while p < 2**53 and rest > 0:
                best = p if p >= 2**52 else best
                term = mp.floor(1 / rest)
                rest = 1 / rest - term
                p, last_p, q, last_q = term * p + last_p, p, term * q + last_q, q
            # Multiples of the last denominator are also near.
            for candidate in [best, last_p * mp.floor(mp.mpf(2**53 - 1) / last_p) if 1 <= last_p < 2**53 else None]:
                if candidate:
                    found.append(float(mp.ldexp(candidate, exponent)))
    found.append(6381956970095103 * 2.0**797)
    return np.concatenate([np.array(found), np.exp2(random.uniform(-30, 1023, count)), np.arange(-count, count) * (np.pi / 4)])


def main():
    skript, folder = sys.argv[1:]
    random = np.random.default_rng(1)
    count = 8000
    measure_powers(skript, folder, random, count, "pow", np.float32, -149, 128, 24)
    measure_powers(skript, folder, random, count, "pow_f64", np.float64, -1074, 1024, 53)

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
    angles = {"sin": mp.sin, "cos": mp.cos, "tan": mp.tan}
    functions |= {"acosh": within(1, mp.inf, mp.acosh), "atanh": within(-1, 1, mp.atanh)}
    for name, function in functions.items():
        wanted = [None if math.isnan(v) else function(mp.mpf(float(v))) for v in x]
        found = np.load("%s/%s.npy" % (folder, name))
        report(name + "_f64", found, wanted, [float(v).hex() for v in x], (53, -1074, 1023))
    x = np.concatenate([x, near_quarters(random, count)])
    compute(skript, folder, "Functions", "f64", {"x": x})
    for name, function in angles.items():
        with mp.workprec(1400):
            wanted = [function(mp.mpf(float(v))) if math.isfinite(v) else None for v in x]
        found = np.load("%s/%s.npy" % (folder, name))
        report(name + "_f64", found, wanted, [float(v).hex() for v in x], (53, -1074, 1023))


main()
