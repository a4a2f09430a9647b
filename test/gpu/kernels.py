#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the cases of a conformance suite for NVIDIA GPUs, and assembles the kernels with `ptxas`, which needs no GPU.

    kernels.py SUITE --skript BINARY [--arch sm_80,sm_90] [--sample N] [--jobs N]

`--sample N` takes every Nth case with outputs. Prints how many cases are accepted, the most registers of a kernel, and the
kernels that spill registers. Exit status 1 if a case is refused by the compiler or by `ptxas`. `test/gpu/setup.sh` installs
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


def assemble(case, arch, skript, ptxas):
    """(complaint or None, registers, spilled bytes)"""
    _, folder, meta = case
    given, shapes = flags(folder, meta)
    with tempfile.TemporaryDirectory() as scratch:
        ptx = os.path.join(scratch, "model.ptx")
        command = [skript, "compile", folder, "--target=nvptx64", "--gpu-arch=" + arch, "--message-format=short", "-o", ptx, *given]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode and "shape" in done.stderr:
            done = subprocess.run(command + shapes, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return "compile: " + done.stderr.strip()[:300], 0, 0
        done = subprocess.run([ptxas, "-v", "-arch=" + arch, ptx, "-o", os.path.join(scratch, "cubin")], capture_output=True, text=True, timeout=300)
        if done.returncode:
            return "ptxas: " + (done.stdout + done.stderr).strip()[:300], 0, 0
        registers = max([int(n) for n in USED.findall(done.stderr + done.stdout)], default=0)
        spilled = sum(int(n) for n in SPILLED.findall(done.stderr + done.stdout))
        return None, registers, spilled


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--arch", default="sm_80,sm_90")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    found = glob.glob(PTXAS)
    if not found:
        sys.exit("there is no ptxas: run test/gpu/setup.sh")
    refused = 0
    for arch in args.arch.split(","):
        chosen = list(cases(args.suite))[:: args.sample]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda case: assemble(case, arch, args.skript, found[0]), chosen))
        for (name, _, _), (complaint, _, spilled) in zip(chosen, results):
            if complaint:
                refused += 1
                print("%s, %s: %s" % (name, arch, complaint))
            elif spilled:
                print("%s, %s: spills %d bytes" % (name, arch, spilled))
        accepted = sum(1 for complaint, _, _ in results if not complaint)
        most = max((registers for _, registers, _ in results), default=0)
        print("%s: ptxas accepts %d of %d cases; at most %d registers" % (arch, accepted, len(chosen), most))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
