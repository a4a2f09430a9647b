#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks conversions of f16 and bf16, and objects that compute with them, on each platform.

    narrow_reals.py --skript BINARY [--platform NAME]...

All f16 and bf16 numbers are widened. f32 and f64 numbers near all of their midpoints, subnormal numbers, infinities and NaN are rounded,
as vectors and as scalars. numpy and integer arithmetic compute the expected bits. Objects for processors without conversions must not
call functions for them. Exit status 1 if something differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from conformance import read_ports, run_in_node, run_natively
from platforms import MEMORY_FUNCTIONS, PLATFORMS, RISCV64, Platform

# x86-64 without F16C, with it, and with AVX-512.
X86 = [Platform("x86-64-" + level, ["--target=x86_64-none-elf", "--cpu=x86-64-" + level], ["cc", "-static"], ["env"], (), True, features)
       for level, features in [("v2", []), ("v3", ["avx2", "f16c", "fma"]), ("v4", ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])]]
# No program is linked for it; only its objects are checked.
THUMB = Platform("thumb", ["--target=thumbv7em-none-eabihf"], ["true"], ["true"], (), True)
# A processor with f16 instructions.
RISCV = [Platform("riscv64-zfh", ["--target=riscv64-linux-gnu", "--features=+zfh"], [RISCV64, "-static"], ["qemu-riscv64", "-cpu", "rv64,Zfh=true"])]
ALL = {platform.name: platform for platform in [*X86, THUMB, *RISCV, *PLATFORMS.values()] if platform.name != "x86-64-none"}
NM = "/usr/lib/llvm-22/bin/llvm-nm"
# Functions of the compiler library for 16-bit floats.
CONVERSIONS = {"__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2", "__extendbfsf2", "__gnu_h2f_ieee", "__gnu_f2h_ieee",
               "__aeabi_h2f", "__aeabi_f2h", "__aeabi_d2h"}

# `copy` is vectorized; `steps` reads with a stride and is not.
PROGRAM = """
operator copy {
    @input { x: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[i,], i < n; }
}
operator steps {
    @attrib { step: int; }
    @input { x: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[step * i %% n,], i < n; }
}
graph Convert {
    @input { narrow: real[65536]; single: real[%(singles)d]; double: real[%(doubles)d]; }
    @output { wide: real[~]; short: real[~]; least: real[~]; apart: real[~]; }
    @compose {
        wide = copy(narrow);
        short = copy(single);
        least = copy(double);
        apart = steps{step = 3}(single);
    }
}
"""
# A product, a convolution, and transposed reads at quotients and multiples of indices.
KERNELS = """
operator product {
    @input { a: real[m, k]; b: real[k, n]; }
    @output { c: real[m, n]; }
    @lower { c[i, j] += a[i, l] * b[l, j], i < m, j < n, l < k; }
}
operator window {
    @input { x: real[c, h, w]; f: real[d, c, p, q]; }
    @output { y: real[d, h - p + 1, w - q + 1]; }
    @lower { y[o, i, j] += x[b, i + r, j + s] * f[o, b, r, s], o < d, b < c, i < h - p + 1, j < w - q + 1, r < p, s < q; }
}
operator halves {
    @input { x: real[n]; q: real[m]; }
    @output { y: real[m, 2 * n]; }
    @lower { y[j, i] = x[i / 2,], i < 2 * n, j < m; }
}
operator thirds {
    @input { x: real[n]; q: real[m]; }
    @output { y: real[m, n / 3]; }
    @lower { y[j, i] = x[3 * i,], i < n / 3, j < m; }
}
operator greatest {
    @input { x: real[n]; z: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[i,] > z[i,] ? x[i,] : z[i,], i < n; }
}
graph Kernels {
    @input { a: real[12, 20]; b: real[20, 35]; x: real[5, 9, 21]; f: real[6, 5, 3, 3]; v: real[48]; u: real[64]; w: real[48]; }
    @output { c: real[~, ~]; y: real[~, ~, ~]; d: real[~, ~]; t: real[~, ~]; g: real[~]; }
    @compose {
        c = product(a, b);
        y = window(x, f);
        d = halves(v, u);
        t = thirds(v, u);
        g = greatest(v, w);
    }
}
"""


def widened(kind, bits):
    """The f32 bits of narrow numbers."""
    if kind == "bf16":
        return bits.astype("<u4") << 16
    return bits.view("<f2").astype("<f4").view("<u4")


def rounded(kind, numbers):
    """The bits of the nearest narrow numbers, ties to even; by integers for bf16, by numpy for f16."""
    if kind == "f16":
        with np.errstate(over="ignore"):
            return numbers.astype("<f2").view("<u2")
    # The candidates are the two adjacent bf16 numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        single = numbers.astype("<f4")
    lower = np.where(np.abs(single.astype("f8")) > np.abs(numbers.astype("f8")), single.view("<u4") - 1, single.view("<u4")) >> 16
    value = lambda words: (words << 16).astype("<u4").view("<f4").astype("f8")
    # The next number after the maximum would be a power of two.
    upper = lower + 1
    above = np.where((upper & 0x7FFF) == 0x7F80, np.where(upper & 0x8000, -(2.0**128), 2.0**128), value(upper))
    # Differences of close numbers are exact.
    with np.errstate(invalid="ignore"):
        first, second = np.abs(numbers.astype("f8") - value(lower)), np.abs(above - numbers.astype("f8"))
    result = np.where((first < second) | ((first == second) & (lower % 2 == 0)), lower, upper)
    result = np.where(np.isinf(numbers), np.where(numbers > 0, 0x7F80, 0xFF80), result)
    return result.astype("<u2")


def hard(kind):
    """f32 and f64 numbers at and around the midpoints of narrow ones, and beyond their maximum and minimum."""
    bits = np.arange(65536, dtype="<u2")
    wide = widened(kind, bits)
    finite = wide[(wide & 0x7F800000) != 0x7F800000]
    half = {"bf16": 0x8000, "f16": 0x1000}[kind]
    words = [finite, finite + 1, finite + half - 1, finite + half, finite + half + 1, finite + 2 * half - 1]
    # The midpoints of subnormal f16 numbers have other bits.
    if kind == "f16":
        halves = np.arange(-2049, 2050).astype("f8") * 2.0**-25
        around = [np.nextafter(halves.astype("<f4"), np.float32(side)) for side in (-1, 1)]
        words += [array.astype("<f4").view("<u4") for array in [halves, *around]]
    random = np.random.default_rng(1).integers(0, 2**32, 100000, dtype="u4")
    single = np.concatenate([*words, random, np.arange(0x7F800000, 0x7F800100, 7, "u4"), np.array([0xFF800001, 0xFFFFFFFF, 0x7FC00000], "u4")]).astype("<u4").view("<f4")
    exact = single[np.isfinite(single)].astype("<f8")
    tiny = exact.view("<u8")
    double = np.concatenate([exact, (tiny + 1).view("<f8"), (tiny - 1).view("<f8"), np.array([1e300, -1e300, 1e-300, 5e-324, np.inf, -np.inf, np.nan])])
    return single, double[: 400000 // 2 * 2]


def is_nan(kind, bits):
    return (bits & 0x7FFF) > {"bf16": 0x7F80, "f16": 0x7C00}[kind]


def differences(kind, arrays, outputs):
    """The errors as lines."""
    narrow, single, double = arrays
    apart = single[3 * np.arange(len(single)) % len(single)]
    with np.errstate(invalid="ignore"):
        tests = [("widened", widened(kind, narrow), outputs["wide"].view("<u4"), np.isnan)]
        tests += [("rounded from " + what, rounded(kind, numbers), outputs[name].view("<u2"), None)
                  for name, what, numbers in [("short", "f32", single), ("least", "f64", double), ("apart", "f32 one by one", apart)]]
    found = []
    for what, wanted, got, _ in tests:
        if what == "widened":
            nan = (is_nan(kind, narrow), (got & 0x7FFFFFFF) > 0x7F800000)
        else:
            numbers = {"rounded from f32": single, "rounded from f64": double, "rounded from f32 one by one": apart}[what]
            nan = (np.isnan(numbers), is_nan(kind, got))
        wrong = np.where(nan[0], ~nan[1], got != wanted)
        if wrong.any():
            n = int(np.argmax(wrong))
            found.append("%s %s: %d of %d differ; number %d is %#x in place of %#x" % (kind, what, wrong.sum(), len(wrong), n, got[n], wanted[n]))
    return found


def compiled(skript, platform, folder, *flags):
    """The functions that the object of a folder calls, or the message of the compiler."""
    model = os.path.join(folder, "model.o")
    done = subprocess.run([skript, "compile", folder, "--message-format=short", *platform.flags, *flags, "-o", model], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return None, done.stderr.strip()[:400]
    return set(subprocess.run([NM, "-u", "-j", model], capture_output=True, text=True).stdout.split()), None


def written(root, name, text, types=None):
    folder = os.path.join(root, name)
    os.mkdir(folder)
    with open(os.path.join(folder, "main.sknd"), "w") as file:
        file.write(text)
    if types:
        with open(os.path.join(folder, "import.json"), "w") as file:
            json.dump({"version": 1, "real": "f32", "inputs": [], "outputs": [], "tensors": types}, file)
    return folder


def calls(kind, platform, skript, root):
    """The forbidden functions that kernel objects call."""
    folder = written(root, kind + "-kernels", KERNELS)
    called, message = compiled(skript, platform, folder, "--real=" + kind)
    if message:
        return ["%s: %s" % (kind, message)]
    wrong = called - MEMORY_FUNCTIONS if platform.freestanding else called & CONVERSIONS
    return ["%s kernels call %s" % (kind, ", ".join(sorted(wrong)))] if wrong else []


def conversions(kind, platform, skript, root):
    """The values that convert to wrong bits."""
    single, double = hard(kind)
    arrays = np.arange(65536, dtype="<u2"), single, double
    types = {"narrow": kind, "single": "f32", "double": "f64", "wide": "f32", "short": kind, "least": kind, "apart": kind}
    folder = written(root, kind, PROGRAM % {"singles": len(single), "doubles": len(double)}, types)
    called, message = compiled(skript, platform, folder)
    if message:
        return ["%s: %s" % (kind, message)]
    if called & CONVERSIONS:
        return ["%s conversions call %s" % (kind, ", ".join(sorted(called & CONVERSIONS)))]
    ports = read_ports(os.path.join(folder, "model.h"))
    given = dict(zip(["narrow", "single", "double"], arrays))
    with open(os.path.join(folder, "in"), "wb") as file:
        for port in ports:
            if port.role == "INPUT":
                file.write(np.array(port.bounds, "<i8").tobytes() + given[port.name].tobytes())
    wrong = platform.link(os.path.join(folder, "model.h"), os.path.join(folder, "model.o"), os.path.join(folder, "program"))
    wrong = wrong or (run_natively(platform, folder) if platform.runner else run_in_node([folder])[0])
    if wrong:
        return ["%s: %s" % (kind, wrong)]
    with open(os.path.join(folder, "out"), "rb") as file:
        data = file.read()
    status, = np.frombuffer(data, "<i8", 1)
    if status:
        return ["%s: status %d" % (kind, status)]
    outputs, at = {}, 8
    for port in ports:
        if port.role == "OUTPUT":
            count, = np.frombuffer(data, "<i8", 1, at)
            size = 4 if port.name == "wide" else 2
            outputs[port.name] = np.frombuffer(data, "<u%d" % size, count, at + 8)
            at += 8 + count * size
    return differences(kind, arrays, outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--platform", action="append", choices=list(ALL))
    args = parser.parse_args()
    failed = False
    for name in args.platform or ALL:
        platform = ALL[name]
        if platform.missing():
            print("%s: skipped, %s" % (name, platform.missing()))
            continue
        wrong = []
        for kind in ["f16", "bf16"]:
            with tempfile.TemporaryDirectory() as root:
                wrong += calls(kind, platform, args.skript, root)
                if platform is not THUMB:
                    wrong += conversions(kind, platform, args.skript, root)
        right = "no function is called" if platform is THUMB else "all conversions are exact"
        print("%s: %s" % (name, "; ".join(wrong) or right), flush=True)
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
