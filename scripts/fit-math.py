#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the polynomials of passes/src/codegen/vector_math and prints them with the errors of the functions in f32.

    .venv/bin/python scripts/fit-math.py

Each polynomial minimizes the greatest relative error of its function: iterated weighted least squares at Chebyshev nodes (C. L. Lawson,
1961), in f64. The functions are then evaluated as the code evaluates them, in f32 with fused multiply-adds, and compared with f64.
"""
import numpy as np
from scipy import special

LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(np.log(2) - 0.693359375)


def fit(x, target, weight, powers):
    """Coefficients of x**power that minimize the greatest |weight * (polynomial - target)|."""
    columns = np.stack([x**p for p in powers], 1)
    emphasis = np.ones_like(x)
    best = None
    for _ in range(400):
        scale = weight * np.sqrt(emphasis)
        found = np.linalg.lstsq(columns * scale[:, None], target * scale, rcond=None)[0]
        error = np.abs(weight * (columns @ found - target))
        if best is None or error.max() < best[0]:
            best = (error.max(), found)
        emphasis *= error / error.max() + 1e-3
        emphasis /= emphasis.max()
    return best[1]


def nodes(low, high, count=4000):
    return (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)


def fma(a, b, c):
    """One rounding, as far as f64 allows."""
    return (np.float64(a) * np.float64(b) + np.float64(c)).astype(np.float32)


def horner(coefficients, x):
    """From the highest power down."""
    result = np.full_like(x, np.float32(coefficients[-1]))
    for c in coefficients[-2::-1]:
        result = fma(result, x, np.float32(c))
    return result


r = nodes(-np.log(2) / 2 * 1.001, np.log(2) / 2 * 1.001)
EXP = fit(r, (np.expm1(r) - r) / r**2, r**2 / np.exp(r), range(6))
x = nodes(1e-3, 0.625)
TANH = fit(x, (np.tanh(x) - x) / x**3, x**3 / np.tanh(x), [0, 2, 4, 6, 8])
x = nodes(1e-3, 0.9375)
ERF = fit(x, special.erf(x) / x - 1, x / special.erf(x), [0, 2, 4, 6, 8, 10])
x = nodes(0.9375, 4.0)
# erf(x) = 1 - exp(-x·R(x)); an error d of x·R(x) is one of erfc(x)·d.
ERFC = fit(x, -np.log(special.erfc(x)) / x, x * special.erfc(x) / special.erf(x), range(8))
f = nodes(np.sqrt(0.5) - 1, np.sqrt(2) - 1)
LOG = fit(f, (np.log1p(f) - f + f**2 / 2) / f**3, np.abs(f**3 / np.log1p(f)), range(9))


def exp(x):
    x = np.clip(x, np.float32(-104), np.float32(89))
    n = np.rint(x * np.float32(1 / np.log(2))).astype(np.float32)
    r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x))
    p = fma(horner(EXP, r), r * r, r) + np.float32(1)
    half = np.floor(n / 2)
    return p * np.exp2(half).astype(np.float32) * np.exp2(n - half).astype(np.float32)


def tanh(x):
    a = np.abs(x)
    small = fma(horner(TANH, a * a) * (a * a), a, a)
    large = np.float32(1) - np.float32(2) / (exp(a + a) + np.float32(1))
    return np.copysign(np.where(a < 0.625, small, large), x)


def erf(x):
    a = np.abs(x)
    small = fma(horner(ERF, a * a), a, a)
    large = np.float32(1) - exp(-(np.minimum(a, np.float32(4)) * horner(ERFC, np.minimum(a, np.float32(4)))))
    return np.copysign(np.where(a < 0.9375, small, large), x)


def log(x):
    m, e = np.frexp(x)
    low = m < np.float32(np.sqrt(0.5))
    m, e = np.where(low, m * 2, m).astype(np.float32), (e - low).astype(np.float32)
    f = m - np.float32(1)
    s = f * f
    y = fma(e, LN2_LOW, horner(LOG, f) * f * s)
    y = fma(s, np.float32(-0.5), y)
    return fma(e, LN2_HIGH, f + y)


def worst(own, reference, x):
    x = x.astype(np.float32)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        error = np.abs(own(x).astype(np.float64) - exact) / unit
    return error[np.isfinite(error)].max()


if __name__ == "__main__":
    for name, coefficients in [("EXP", EXP), ("TANH", TANH), ("ERF", ERF), ("ERFC", ERFC), ("LOG", LOG)]:
        print(name, ", ".join(np.format_float_scientific(np.float32(c), exp_digits=1) for c in coefficients))
    random = np.random.default_rng(1)
    many = 4_000_000
    for name, own, reference, low, high in [("exp", exp, np.exp, -103, 88.7), ("tanh", tanh, np.tanh, -10, 10), ("erf", erf, special.erf, -4.5, 4.5)]:
        print("%-5s %.2f ulp" % (name, worst(own, reference, random.uniform(low, high, many))))
    print("log   %.2f ulp" % worst(log, np.log, np.exp2(random.uniform(-126, 127, many))))
    print("log near 1 %.2f ulp" % worst(log, np.log, random.uniform(0.5, 2, many)))
