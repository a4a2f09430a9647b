#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles cases of a conformance suite to object files for other processors, links each with `driver.c`, runs the programs
under qemu or in Node, and compares their outputs with the expected values by the suite's tolerances.

    conformance.py SUITE --skript BINARY [--platform NAME]... [--family NAME]... [--case TEXT] [--real f16|bf16] [--sample N] [--jobs N]

With `--real`, the expected values are those of the evaluator with this storage type, within a few units in its last place.
`--sample N` selects about one of N cases, the same ones in each run. A platform whose programs are not installed is skipped, with a
message. Code for systems without a C library may call only the functions for memory. Cases whose operators are kernels of the runtime
are counted separately. Exit status 1 if a case fails.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

from platforms import HERE, MEMORY_FUNCTIONS, PLATFORMS

TYPES = [np.dtype(t) for t in "?,i4,i8,f4,f8,f2,V2,i1,i2,u1,u2,u4,u8".split(",")]
# Symbols of kernels in the Rust runtime, which is not built for other processors.
KERNELS = "skript_intrinsic"
ROW = re.compile(r'X\(SKRIPT_(\w+), "([^"]*)", (\d+), (\d+), (\d+), SKRIPT_LIST\(([^)]*)\), SKRIPT_LIST\([^)]*\), (\d+)u\)')


# The storage types of reals, and the relative and absolute tolerances of their results.
TOLERANCES = {"f16": 4e-3, "bf16": 3e-2}
BRAIN = TYPES[6]


def stored(array, kind):
    """An array in the type of a port; the upper halves of f32, rounded to nearest, for bf16."""
    if kind != BRAIN:
        return array.astype(kind)
    bits = array.astype("<f4").view("<u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def loaded(data, kind, count, at):
    """An array that the driver wrote, and its bytes."""
    array = np.frombuffer(data, kind, count, at)
    if kind != BRAIN:
        return array, array.nbytes
    return (array.view("<u2").astype("<u4") << 16).view("<f4"), array.nbytes


class Port:
    def __init__(self, role, name, kind, _, rank, bounds, __):
        self.role, self.rank = role, int(rank)
        self.name = re.sub(r"\\(\d{3})", lambda c: chr(int(c.group(1), 8)), name)
        self.type = TYPES[int(kind)]
        self.bounds = [int(n) for n in bounds.split(",")][: self.rank]


class Case:
    """A case that is expected to have outputs."""

    def __init__(self, name, folder, meta):
        self.name, self.folder, self.meta = name, folder, meta
        # The folder of expected outputs, if they are not those of the suite.
        self.evaluated = None

    def arguments(self):
        given = list(self.meta.get("args") or [])
        for name, value in (self.meta.get("attrs") or {}).items():
            given += ["--set", "%s=%s" % (name, json.dumps(value))]
        return given

    def shapes(self):
        """Flags for the shapes of inputs, for graphs that do not determine them."""
        found = []
        for name, files in (self.meta.get("inputs") or {}).items():
            files = files if isinstance(files, list) else [files]
            shapes = (np.load(os.path.join(self.folder, file), mmap_mode="r").shape for file in files)
            found += ["--input-shape", "%s=%s" % (name, ";".join(",".join(map(str, shape)) for shape in shapes))]
        return found

    def evaluate(self, skript, real, folder):
        """Computes the expected outputs with a storage type of reals. Returns the error, or None."""
        command = [skript, "run", self.folder, "--engine", "reference", "--real", real, "--output-dir", folder, *self.arguments()]
        for name, files in (self.meta.get("inputs") or {}).items():
            files = files if isinstance(files, list) else [files]
            command += ["--input", "%s=%s" % (name, ",".join(os.path.join(self.folder, file) for file in files))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.evaluated = folder
        return "evaluator: " + done.stderr.strip()[:200] if done.returncode else None

    def file(self, table, port):
        """The file of an input or output; items of a pack `xs` are `xs:1`, `xs:2`, …"""
        if table == "outputs" and self.evaluated:
            pack, _, number = port.name.partition(":")
            return os.path.join(self.evaluated, ("%s_%d.npy" % (pack, int(number) - 1) if number else pack + ".npy"))
        files = (self.meta.get(table) or {}).get(port.name)
        if files is None and ":" in port.name:
            pack, number = port.name.rsplit(":", 1)
            files = self.meta[table][pack][int(number) - 1]
        return os.path.join(self.folder, files[0] if isinstance(files, list) else files)


def read_dat(path):
    """An array of NNEF's binary format."""
    with open(path, "rb") as file:
        data = file.read()
    length, rank = np.frombuffer(data, "<u4", 2, 4)
    extents = np.frombuffer(data, "<u4", 8, 12)[:rank]
    bits, kind = (int(v) for v in np.frombuffer(data, "<u4", 2, 44))
    body = data[128 : 128 + int(length)]
    if bits == 1:
        return np.unpackbits(np.frombuffer(body, "u1"))[: int(np.prod(extents))].astype(bool).reshape(extents)
    if kind == 5:
        return np.frombuffer(body, "u1").astype(bool).reshape(extents)
    return np.frombuffer(body, {0: "<f", 1: "<u", 2: "<u", 3: "<i", 4: "<i"}[kind] + str(bits // 8)).reshape(extents)


def read_ports(header):
    with open(header) as file:
        return [Port(*row) for row in ROW.findall(file.read())]


def stream(case, ports):
    """The input of the driver."""
    pieces = []
    for port in ports:
        if port.role == "INPUT":
            array = np.load(case.file("inputs", port))
        elif port.role == "VARIABLE":
            array = read_dat(os.path.join(case.folder, port.name + ".dat"))
        else:
            continue
        pieces.append(np.array(array.shape, "<i8").tobytes())
        pieces.append(np.ascontiguousarray(stored(array, port.type)).tobytes())
    return b"".join(pieces)


def judge(case, ports, path, suite, scratch, tolerance):
    """Describes the error in the driver's output, or returns None."""
    with open(path, "rb") as file:
        data = file.read()
    status, = np.frombuffer(data, "<i8", 1)
    if status:
        return "status %d" % status
    at = 8
    for port in ports:
        if port.role != "OUTPUT":
            continue
        shape = tuple(np.frombuffer(data, "<i8", port.rank, at))
        at += 8 * port.rank
        count = int(np.prod(shape, dtype=np.int64))
        array, size = loaded(data, port.type, count, at)
        array = array.reshape(shape)
        at += size
        got = os.path.join(scratch, "got.npy")
        np.save(got, array)
        wanted = np.load(case.file("outputs", port))
        reason = suite.difference(wanted, got, case.meta.get("rtol", 1e-4) + tolerance, case.meta.get("atol", 1e-5) + tolerance)
        if reason:
            return "%s: %s" % (port.name, reason)
    return None


def build(case, platform, skript, scratch, real):
    """(the error or None, the program, its input, its ports)"""
    model, header, program = (os.path.join(scratch, name) for name in ("model.o", "model.h", "program"))
    command = [skript, "compile", case.folder, "--message-format=short", *platform.flags, "-o", model, *case.arguments()]
    if real:
        command += ["--real", real]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and "shape" in done.stderr:
        done = subprocess.run(command + case.shapes(), capture_output=True, text=True, timeout=300)
    if done.returncode:
        return "compile: " + done.stderr.strip()[:300], None, None
    called = set(subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "-u", "-j", model], capture_output=True, text=True).stdout.split())
    if KERNELS in called:
        return KERNELS, None, None
    if platform.freestanding and called - MEMORY_FUNCTIONS:
        return "calls " + ", ".join(sorted(called - MEMORY_FUNCTIONS)), None, None
    ports = read_ports(header)
    with open(os.path.join(scratch, "in"), "wb") as file:
        file.write(stream(case, ports))
    return platform.link(header, model, program), program, ports


def run_natively(platform, scratch):
    done = subprocess.run([*platform.runner, os.path.join(scratch, "program"), os.path.join(scratch, "in"), os.path.join(scratch, "out")],
                          capture_output=True, text=True, timeout=120)
    return "run: exit status %d %s" % (done.returncode, done.stderr.strip()[:200]) if done.returncode else None


def run_in_node(folders):
    """The error of each case, or None; in one process, because Node starts slowly."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([{"module": f + "/program", "input": f + "/in", "output": f + "/out"} for f in folders], file)
        file.flush()
        done = subprocess.run(["node", os.path.join(HERE, "drive.mjs"), file.name], capture_output=True, text=True, timeout=600)
    lines = done.stdout.split("\n")
    lines += ["node: " + done.stderr.strip()[:200]] * (len(folders) - len(lines))
    return [None if line == "ok" else "run: " + line for line in lines]


def check(platform, cases, args, suite):
    """The errors by case."""
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folders = [os.path.join(root, str(n)) for n in range(len(cases))]

        def prepare(case, folder):
            os.mkdir(folder)
            wrong, _, ports = build(case, platform, args.skript, folder, args.real)
            if args.real and not wrong:
                wrong = case.evaluate(args.skript, args.real, folder + "/expected")
            if not wrong and platform.runner:
                wrong = run_natively(platform, folder)
            return wrong, ports

        found = list(pool.map(prepare, cases, folders))
        if not platform.runner:
            rest = [n for n, (wrong, _) in enumerate(found) if not wrong]
            for n, wrong in zip(rest, run_in_node([folders[n] for n in rest])):
                found[n] = wrong, found[n][1]
        tolerance = TOLERANCES.get(args.real, 0)
        return [wrong or judge(case, ports, folder + "/out", suite, folder, tolerance) for case, folder, (wrong, ports) in zip(cases, folders, found)]


def selected(args):
    for family in args.family or ["models", "nn", "math"]:
        folder = os.path.join(args.suite, family)
        for name in sorted(os.listdir(folder)):
            if args.case and args.case not in name or zlib.crc32(name.encode()) % args.sample:
                continue
            with open(os.path.join(folder, name, "case.json")) as file:
                meta = json.load(file)
            if meta["expect"] == "ok":
                yield Case(family + "/" + name, os.path.join(folder, name), meta)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--platform", action="append", choices=sorted(PLATFORMS))
    parser.add_argument("--family", action="append")
    parser.add_argument("--case")
    parser.add_argument("--real", choices=sorted(TOLERANCES))
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    spec = importlib.util.spec_from_file_location("run_conformance", os.path.join(args.suite, "run_conformance.py"))
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    cases, failed = list(selected(args)), 0
    for name in args.platform or PLATFORMS:
        missing = PLATFORMS[name].missing()
        if missing:
            print("%s: skipped, %s" % (name, missing))
            continue
        results = check(PLATFORMS[name], cases, args, suite)
        for case, wrong in zip(cases, results):
            if wrong and wrong != KERNELS:
                print("FAIL %s, %s: %s" % (name, case.name, wrong))
        kernels = results.count(KERNELS)
        right = results.count(None)
        failed += len(results) - kernels - right
        others = ", %d need a kernel of the runtime" % kernels if kernels else ""
        print("%s: %d of %d cases as expected%s" % (name, right, len(cases), others), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
