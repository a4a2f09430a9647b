#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the model for a Cortex-M4 without a system, links it with main.c, prints the sizes, runs it under qemu, and compares
the results with those of the evaluator.

    run.py --skript BINARY [--out DIR]
"""
import argparse
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = "/usr/lib/llvm-22/bin/"
CLANG = ["clang-22", "--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-std=c11", "-Os", "-ffreestanding"]
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "__aeabi_memcpy", "__aeabi_memset", "__aeabi_memclr"}
WEIGHTS = {"kernel": (8, 3, 5), "offset": (8,), "weights": (4, 240), "bias": (4,)}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_dat(path, array):
    """NNEF's binary format: a header of 128 bytes, then the elements."""
    extents = (list(array.shape) + [0] * 8)[:8]
    header = b"\x4e\xef\x01\x00" + struct.pack("<II8III", array.nbytes, array.ndim, *extents, 32, 0)
    with open(path, "wb") as file:
        file.write(header.ljust(128, b"\0") + array.astype("<f4").tobytes())


def make_data(out):
    """Weights as files, and the same bytes in assembly that the program is linked with."""
    random = np.random.default_rng(1)
    model = os.path.join(out, "model")
    os.makedirs(model, exist_ok=True)
    shutil.copy(os.path.join(HERE, "main.sknd"), model)
    lines = [".section .rodata, \"a\"\n"]
    samples = random.standard_normal((1, 3, 64), np.float32)
    np.save(os.path.join(out, "samples.npy"), samples)
    write_dat(os.path.join(out, "samples.dat"), samples)
    files = {"samples": os.path.join(out, "samples.dat")}
    for name, shape in WEIGHTS.items():
        files[name] = os.path.join(model, "main.Gesture.%s.dat" % name)
        write_dat(files[name], (random.standard_normal(shape) / 4).astype(np.float32))
    for name, path in files.items():
        lines.append('.balign 64\n.globl %s\n%s:\n.incbin "%s", 128\n' % (name, name, path))
    with open(os.path.join(out, "data.s"), "w") as file:
        file.write("".join(lines))
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--out", default=os.path.join(HERE, "..", "..", "out", "microcontroller"))
    args = parser.parse_args()
    missing = [p for p in ["clang-22", "ld.lld-22", "qemu-system-arm"] if not shutil.which(p)]
    if missing:
        print("microcontroller: skipped, %s is not installed" % missing[0])
        return 0
    out = os.path.abspath(args.out)
    os.makedirs(out, exist_ok=True)
    at = lambda name: os.path.join(out, name)
    model = make_data(out)
    run(args.skript, "compile", model, "--target=thumbv7em-none-eabihf", "-o", at("model.o"))
    called = set(run(LLVM + "llvm-nm", "-u", "-j", at("model.o")).split())
    with open(at("model.h")) as file:
        header = file.read()
    assert called <= MEMORY_FUNCTIONS and all(name in header for name in called), called
    run(*CLANG, "-I", out, "-c", os.path.join(HERE, "main.c"), "-o", at("main.o"))
    run(*CLANG, "-c", at("data.s"), "-o", at("data.o"))
    run("ld.lld-22", "-T", os.path.join(HERE, "memory.ld"), at("main.o"), at("data.o"), at("model.o"), "-o", at("gesture.elf"))
    for name in "model.o", "main.o", "data.o", "gesture.elf":
        print("%-12s" % name, *run(LLVM + "llvm-size", at(name)).split("\n")[1].split()[:3], "bytes of code and constants, data, zeros")
    machine = ["qemu-system-arm", "-M", "mps2-an386", "-cpu", "cortex-m4", "-nographic", "-semihosting-config", "enable=on,target=native"]
    # qemu writes the texts of semihosting to stderr.
    said = subprocess.run([*machine, "-kernel", at("gesture.elf")], capture_output=True, text=True, timeout=60).stderr.split()
    got = np.array([int(word, 16) for word in said], "<u4").view("<f4")
    run(args.skript, "run", model, "--engine=reference", "--input", "samples=" + at("samples.npy"), "--output-dir", out)
    wanted = np.load(at("likely.npy")).reshape(-1)
    print("qemu:", *got, "\nevaluator:", *wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
