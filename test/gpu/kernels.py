#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the cases of a conformance suite for NVIDIA or AMD GPUs, and assembles the kernels, without a GPU.

    kernels.py SUITE --skript BINARY [--arch sm_80,sm_90,gfx90a,gfx1100] [--precision tf32] [--sample N] [--jobs N]

`ptxas` assembles for NVIDIA GPUs, and the assembler of LLVM for AMD GPUs, where kernels must not refer to undefined symbols. `--sample N`
takes every Nth case with outputs, `--precision` uses tensor cores. Prints the number of accepted cases, the maximum number of registers of
a kernel, and the kernels that spill registers. Exit status 1 if the compiler or the assembler refuses a case. `test/gpu/setup.sh` installs
`ptxas`.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PTXAS = os.path.join(ROOT, "build/gpu-venv/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas")
USED = re.compile(r"Used (\d+) registers")
SPILLED = re.compile(r"(\d+) bytes spill stores")
LLVM = "/usr/lib/llvm-22/bin"
VECTORS = re.compile(r"\.vgpr_count: +(\d+)")
VECTORS_SPILLED = re.compile(r"\.vgpr_spill_count: +(\d+)")


def cases(suite):
    """(name, folder, description) of every case with outputs."""
    for path in sorted(glob.glob(os.path.join(suite, "*", "*", "case.json"))):
        with open(path) as file:
            meta = json.load(file)
        if meta["expect"] == "ok":
            folder = os.path.dirname(path)
            yield os.path.relpath(folder, suite), folder, meta


def flags(folder, meta):
    """The arguments of the case, and the shapes of its inputs."""
    given = list(meta.get("args") or [])
    for name, value in (meta.get("attrs") or {}).items():
        given += ["--set", "%s=%s" % (name, json.dumps(value))]
    shapes = []
    for name, files in (meta.get("inputs") or {}).items():
        files = files if isinstance(files, list) else [files]
        found = (np.load(os.path.join(folder, file), mmap_mode="r").shape for file in files)
        shapes += ["--input-shape", "%s=%s" % (name, ";".join(",".join(map(str, shape)) for shape in found))]
    return given, shapes


def run_ptxas(arch, code, scratch):
    done = subprocess.run([glob.glob(PTXAS)[0], "-v", "-arch=" + arch, code, "-o", os.path.join(scratch, "cubin")], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return "ptxas: " + (done.stdout + done.stderr).strip()[:300], 0, 0
    text = done.stderr + done.stdout
    return None, max(map(int, USED.findall(text)), default=0), sum(map(int, SPILLED.findall(text)))


def run_llvm_mc(arch, code, scratch):
    made = os.path.join(scratch, "kernels.o")
    command = [os.path.join(LLVM, "llvm-mc"), "--triple=amdgcn-amd-amdhsa", "--mcpu=" + arch, "--filetype=obj", code, "-o", made]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return "llvm-mc: " + done.stderr.strip()[:300], 0, 0
    missing = subprocess.run([os.path.join(LLVM, "llvm-nm"), "-u", "-j", made], capture_output=True, text=True).stdout.split()
    if missing:
        return "undefined: " + ", ".join(missing), 0, 0
    with open(code) as file:
        text = file.read()
    return None, max(map(int, VECTORS.findall(text)), default=0), 4 * sum(map(int, VECTORS_SPILLED.findall(text)))


def assemble(case, arch, skript, precision):
    """(complaint or None, registers, spilled bytes)"""
    _, folder, meta = case
    given, shapes = flags(folder, meta)
    is_amd = arch.startswith("gfx")
    target = "amdgcn" if is_amd else "nvptx64"
    with tempfile.TemporaryDirectory() as scratch:
        code = os.path.join(scratch, "model.s" if is_amd else "model.ptx")
        command = [skript, "compile", folder, "--target=" + target, "--gpu-arch=" + arch, "--message-format=short", "-o", code, *given]
        command += ["--gpu-precision=" + precision]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode and "shape" in done.stderr:
            done = subprocess.run(command + shapes, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return "compile: " + done.stderr.strip()[:300] + " (status %d)" % done.returncode, 0, 0
        return (run_llvm_mc if is_amd else run_ptxas)(arch, code, scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--arch", default="sm_80,sm_90")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    architectures = args.arch.split(",")
    if any(arch.startswith("sm_") for arch in architectures) and not glob.glob(PTXAS):
        sys.exit("there is no ptxas: run test/gpu/setup.sh")
    refused = 0
    for arch in architectures:
        chosen = list(cases(args.suite))[:: args.sample]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda case: assemble(case, arch, args.skript, args.precision), chosen))
        for (name, _, _), (complaint, _, spilled) in zip(chosen, results):
            if complaint:
                refused += 1
                print("%s, %s: %s" % (name, arch, complaint))
            elif spilled:
                print("%s, %s: spills %d bytes" % (name, arch, spilled))
        accepted = sum(1 for complaint, _, _ in results if not complaint)
        most = max((registers for _, registers, _ in results), default=0)
        print("%s: the assembler accepts %d of %d cases; at most %d registers" % (arch, accepted, len(chosen), most))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
