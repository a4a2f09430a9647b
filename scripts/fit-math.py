#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the coefficients of frontend/semantics/src/expansion/coefficients.rs.

    .venv/bin/python scripts/fit-math.py > frontend/semantics/src/expansion/coefficients.rs

Each polynomial minimizes the maximum relative error of its function; the exchange algorithm of E. Remez (1934) computes it with 50
digits. Its doc comment states that error. Coefficients of functions that compute in f32 are rounded to f32, and the others to f64
(`_WIDE` are those of f32 functions, `_DOUBLE` those of f64 functions).
"""
import numpy as np
import mpmath as mp

mp.mp.dps = 60


def remez(target, weight, powers, low, high):
    """Coefficients of x**power that minimize the maximum of |weight * (polynomial - target)|, and that maximum."""
    powers = list(powers)
    n, low, high = len(powers), mp.mpf(low), mp.mpf(high)
    count = 40 * (n + 1)
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * mp.mpf(k) / (count - 1)) for k in range(count)]
    values = [(x, target(x), weight(x)) for x in nodes]
    picked = [round(k * (count - 1) / n) for k in range(n + 1)]
    best = None
    for _ in range(40):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for row, k in enumerate(picked):
            x, t, w = values[k]
            for column, power in enumerate(powers):
                matrix[row, column] = x**power * w
            matrix[row, n] = (-1) ** row
            right[row] = t * w
        solution = mp.lu_solve(matrix, right)
        found = [solution[k] for k in range(n)]
        errors = [w * (sum(c * x**p for c, p in zip(found, powers)) - t) for x, t, w in values]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, found)
        if worst <= abs(solution[n]) * mp.mpf("1.001"):
            break
        # The maximum error of each run of neighbours with the same sign.
        extrema = []
        for k, e in enumerate(errors):
            if not extrema or (errors[extrema[-1]] > 0) != (e > 0):
                extrema.append(k)
            elif abs(e) > abs(errors[extrema[-1]]):
                extrema[-1] = k
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n + 1:
            break
        picked = extrema
    return best


def rounded(target, weight, powers, low, high):
    """The same with f32 coefficients: each one is rounded before those of higher powers are fitted, so that they compensate."""
    powers, fixed = list(powers), []
    for k in range(len(powers)):
        rest = lambda x: target(x) - sum(c * x**p for c, p in zip(fixed, powers))
        found = remez(rest, weight, powers[k:], low, high)[1]
        fixed.append(mp.mpf(float(np.float32(str(found[0])))))
    low, high = mp.mpf(low), mp.mpf(high)
    points = [low + (high - low) * mp.mpf(k) / 2000 for k in range(2001)]
    error = max(abs(weight(x) * (sum(c * x**p for c, p in zip(fixed, powers)) - target(x))) for x in points)
    return error, fixed


def rust(value, single):
    number = np.float32(str(value)) if single else float(value)
    text = repr(float(number))
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    whole, fraction = mantissa.split(".")
    if len(fraction) > 5:
        fraction = "_".join(fraction[k : k + 3] for k in range(0, len(fraction), 3))
    return whole + "." + fraction + ("e" + exponent if exponent else "")


def table(name, what, *arguments, single=False):
    error, coefficients = (rounded if single else remez)(*arguments)
    print("\n/// %s: a relative error of 2^%.1f." % (what, float(mp.log(error, 2))))
    print("pub(super) const %s: [f64; %d] = [" % (name, len(coefficients)))
    for c in coefficients:
        print("    %s," % rust(c, single))
    print("];")


def even(count):
    return range(0, 2 * count, 2)


def parts(value, *bits):
    """The value as a sum of numbers whose lowest bits are at 2^-bits; the last number is rounded to f64."""
    result = []
    for lowest in bits:
        part = mp.floor(value * mp.mpf(2) ** lowest) / mp.mpf(2) ** lowest
        result.append(float(part))
        value -= part
    return result + [float(value)]


TINY = "1e-9"
print("""// SPDX-License-Identifier: Apache-2.0
//! The coefficients of polynomials, from the constant on, and parts of 2/π: written by `scripts/fit-math.py`.""")
mp.mp.dps = 60
half_ln2 = mp.log(2) / 2 * mp.mpf("1.001")
table("EXP", "`(exp(r) - 1 - r) / r²`, r between -½ ln 2 and ½ ln 2", lambda r: (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2,
      lambda r: r**2 / mp.exp(r), range(5), -half_ln2, half_ln2, single=True)
table("EXP_OF_TWICE", "`(exp(2r) - 1) / r`, r between -¼ ln 2 and ¼ ln 2", lambda r: mp.expm1(2 * r) / r if r else mp.mpf(2),
      lambda r: r / mp.exp(2 * r), range(6), -half_ln2 / 2, half_ln2 / 2, single=True)
fraction = lambda x: x**2 / (1 - mp.tanh(x) / x)
table("TANH", "`x² / (1 - tanh(x) / x)` by powers of x², x up to 1", fraction, lambda x: x**3 / (mp.tanh(x) * fraction(x) ** 2), even(4),
      "1e-5", 1, single=True)
ERF_BOUND = "0.84375"
table("ERF", "`erf(x) / x - 1` by powers of x², x up to 27/32", lambda x: mp.erf(x) / x - 1, lambda x: x / mp.erf(x), even(6), TINY,
      ERF_BOUND, single=True)
log2_erfc = lambda x: mp.log(mp.erfc(x), 2)
at_1 = mp.mpf(float(np.float32(float(log2_erfc(1)))))
print("\n/// `log2(erfc(1))`, rounded to f32.\npub(super) const LOG2_ERFC_1: f64 = %s;" % rust(at_1, True))
table("ERFC", "`(log2(erfc(x)) - LOG2_ERFC_1) / (x - 1)` by powers of x - 1, x between 27/32 and 4", lambda d: (log2_erfc(d + 1) - at_1) / d,
      lambda d: abs(d) * mp.erfc(d + 1) * mp.log(2) / mp.erf(d + 1), range(6), mp.mpf(ERF_BOUND) - 1, 3, single=True)
table("ERFC_POWER", "`2ʳ`, r between -0.168 and 0.832", lambda r: mp.mpf(2) ** r, lambda r: mp.mpf(2) ** -r, range(7), at_1 + mp.mpf("2.498"),
      at_1 + mp.mpf("3.502"), single=True)
root = mp.sqrt(2)
table("LOG", "`(log(1 + f) - f + f²/2) / f³`, 1 + f between √½ and √2",
      lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3 if f else mp.mpf(1) / 3, lambda f: abs(f**3 / mp.log1p(f)) if f else mp.mpf(0),
      range(9), 1 / root - 1, root - 1, single=True)
table("LOG_WIDE", "`log(1 + f) / f`, 1 + f between √½ and √2", lambda f: mp.log1p(f) / f if f else mp.mpf(1),
      lambda f: f / mp.log1p(f) if f else mp.mpf(1), range(13), 1 / root - 1, root - 1)
table("EXP2_WIDE", "`2ʳ`, r between -½ and ½", lambda r: mp.mpf(2) ** r, lambda r: mp.mpf(2) ** -r, range(8), "-0.5", "0.5")
table("SINH_WIDE", "`(sinh(x) / x - 1) / x²` by powers of x², x up to 1", lambda x: (mp.sinh(x) / x - 1) / x**2,
      lambda x: x**3 / mp.sinh(x), even(4), TINY, 1)
table("SIN_WIDE", "`sin(π/2 · r) / r` by powers of r², r up to ½", lambda r: mp.sin(mp.pi / 2 * r) / r, lambda r: r / mp.sin(mp.pi / 2 * r),
      even(5), TINY, "0.502")
table("COS_WIDE", "`(cos(π/2 · r) - 1) / r²` by powers of r², r up to ½", lambda r: (mp.cos(mp.pi / 2 * r) - 1) / r**2,
      lambda r: r**2 / mp.cos(mp.pi / 2 * r), even(4), TINY, "0.502")
table("ASIN_WIDE", "`(asin(x) / x - 1) / x²` by powers of x², x up to ½", lambda x: (mp.asin(x) / x - 1) / x**2,
      lambda x: x**3 / mp.asin(x), even(6), TINY, "0.5")
table("ATAN_WIDE", "`atan(x) / x` by powers of x², x up to 1", lambda x: mp.atan(x) / x, lambda x: x / mp.atan(x), even(11), TINY, 1)
table("EXP_DOUBLE", "`(exp(r) - 1 - r) / r²`, r between -½ ln 2 and ½ ln 2", lambda r: (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2,
      lambda r: r**2 / mp.exp(r), range(10), -half_ln2, half_ln2)
table("TANH_DOUBLE", "`(tanh(x) / x - 1) / x²` by powers of x², x up to 1", lambda x: (mp.tanh(x) / x - 1) / x**2,
      lambda x: x**3 / mp.tanh(x), even(16), TINY, 1)
table("ERF_DOUBLE", "`erf(x) / x - 1` by powers of x², x up to 1", lambda x: mp.erf(x) / x - 1, lambda x: x / mp.erf(x), even(13), TINY, 1)
table("ERFC_DOUBLE", "`-log(1 - erf(x)) / x`, x between 1 and 6", lambda x: -mp.log(mp.erfc(x)) / x,
      lambda x: x * mp.erfc(x) / mp.erf(x), range(18), 1, 6)
table("LOG_DOUBLE", "`(log((1 + s) / (1 - s)) / s - 2) / s²` by powers of s², the fraction between √½ and √2",
      lambda s: (2 * mp.atanh(s) / s - 2) / s**2, lambda s: s**3 / (2 * mp.atanh(s)), even(7), TINY, (root - 1) / (root + 1))
table("SINH_DOUBLE", "`(sinh(x) / x - 1) / x²` by powers of x², x up to 1", lambda x: (mp.sinh(x) / x - 1) / x**2,
      lambda x: x**3 / mp.sinh(x), even(8), TINY, 1)
table("ASIN_DOUBLE", "`(asin(x) / x - 1) / x²` by powers of x², x up to ½", lambda x: (mp.asin(x) / x - 1) / x**2,
      lambda x: x**3 / mp.asin(x), even(13), TINY, "0.5")
table("ATAN_DOUBLE", "`(atan(x) / x - 1) / x²` by powers of x², x up to 7/16", lambda x: (mp.atan(x) / x - 1) / x**2,
      lambda x: x**3 / mp.atan(x), even(11), TINY, "0.4376")
quarter = mp.pi / 4
table("SIN_DOUBLE", "`(sin(x) / x - 1) / x²` by powers of x², x up to π/4", lambda x: (mp.sin(x) / x - 1) / x**2,
      lambda x: x**3 / mp.sin(x), even(7), TINY, quarter)
table("COS_DOUBLE", "`(cos(x) - 1 + x²/2) / x⁴` by powers of x², x up to π/4", lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4,
      lambda x: x**4 / mp.cos(x), even(6), "1e-6", quarter)
table("LOG_PAIR", "`((log((1 + s) / (1 - s)) / s - 2) / s² - 2/3) / s²` by powers of s², the fraction between √½ and √2",
      lambda s: ((2 * mp.atanh(s) / s - 2) / s**2 - mp.mpf(2) / 3) / s**2, lambda s: s**5 / (2 * mp.atanh(s)), even(8), "1e-6",
      (root - 1) / (root + 1))
print("""
/// For angles below 2⁵⁰, 2⁷⁶, 2¹⁰² and 2¹²⁸: a power of two that the angle is multiplied by, and the remainder modulo 4 of 2/π divided
/// by that power, as a sum. The first two summands have 29 and 30 bits.
pub(super) const TURNS: [[f64; 4]; 4] = [""")
for k in [0, 27, 53, 79]:
    turns = mp.mpf(2) ** k * 2 / mp.pi
    turns -= 4 * mp.floor(turns / 4)
    if turns > 2:
        turns -= 4
    print("    [%s]," % ", ".join(rust(v, False) for v in [2.0**-k] + parts(turns, 28, 57)))
print("];")
print("""
/// Words of 64 bits: zeros, and the fraction of 2/π.
pub(super) const TURN_WORDS: [i64; 20] = [""")
with mp.workprec(1400):
    fraction = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (19 * 64)))
for word in range(20):
    bits = fraction >> 64 * (19 - word) & (2**64 - 1)
    print("    %d," % (bits - (bits >> 63 << 64)))
print("];")
