#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every operator of the standard library with combinations of attributes, shapes, types and editions, and compares
with numpy, scipy and ONNX Runtime. Also runs the examples in the operators' comments.

    sweep.py --skript BINARY [--engine reference|compiled]... [--operator TEXT]... [--sample N] [--jobs N] [--verbose]
             [--real f16|bf16|f32|f64] [--int i8|i16|i32|i64]

`--real` and `--int` select the storage types of all runs; cases whose arrays the types cannot represent are skipped and counted.
Both engines run by default. `--sample N` selects about N cases of each operator, the same ones in each run. Cases that
compiled code refuses with SK8001 are counted as refused, not as passed. Exit status 1 if a case fails, or if an operator
of the library has no passing case.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import examples  # noqa: E402
import operators  # noqa: E402
from cases import StorageTypes  # noqa: E402

STDLIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "frontend", "stdlib")
CHUNK = 100


def sampled(cases, count):
    """About `count` of each operator's cases from each source: those whose text has the smallest checksums."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.operator, case.source].append(case)
    for group in groups.values():
        ranked = sorted(group, key=lambda c: zlib.crc32(c.document().encode() + c.edition.encode()))
        yield from ranked[:count]


def run_chunk(cases, command, folder):
    """(case, None | "refused" | error) for each case; all run in one process."""
    lines, outputs = [], []
    for at, case in enumerate(cases):
        model = os.path.join(folder, str(at))
        outputs.append(model + ".out")
        lines.append(json.dumps(case.write(model) + ["--output-dir", outputs[-1]]))
    batch = os.path.join(folder, "batch.jsonl")
    with open(batch, "w") as file:
        file.write("\n".join(lines) + "\n")
    process = subprocess.run(command + ["--output-dir", folder, "--batch", batch], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = process.stdout.splitlines()
    for at, case in enumerate(cases):
        if at >= len(results):
            yield case, "the process ended with status %s: %s" % (process.returncode, process.stderr.strip()[-200:])
            continue
        result = json.loads(results[at])
        if result["exit"] == 0:
            yield case, case.complaint(outputs[at])
        elif "error[SK8001]" in result["stderr"]:
            yield case, "refused"
        else:
            yield case, "exit status %d: %s" % (result["exit"], result["stderr"].strip().split("\n")[0][:300])


def run_engine(cases, engine, binary, jobs):
    command = [binary, "run", "--message-format=short", "--engine=" + engine, "--real=" + StorageTypes.real, "--int=" + StorageTypes.int]
    if engine == "compiled":
        command.append("--no-cache")
    chunks = [cases[at:at + CHUNK] for at in range(0, len(cases), CHUNK)]

    def work(chunk):
        with tempfile.TemporaryDirectory(prefix="sweep_") as folder:
            return list(run_chunk(chunk, command, folder))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for results in pool.map(work, chunks):
            yield from results


def library():
    """The library's public operators, with the examples in their comments."""
    entries = []
    for folder, edition in (("", None), ("khronos", "khronos")):
        for path in sorted(glob.glob(os.path.join(STDLIB, folder, "*.sknd"))):
            shown = []
            for line in open(path, encoding="utf-8").read().split("\n"):
                if line.startswith("# Example: "):
                    shown.append(line[len("# Example: "):])
                elif line.startswith("#   ") and shown:
                    shown[-1] += " " + line[1:].strip()
                elif not line.startswith("#"):
                    found = re.match(r"operator (?!_)(\w+)", line)
                    if found:
                        name = os.path.basename(path)[:-len("sknd")] + found[1]
                        entries.append({"name": name, "edition": edition, "examples": shown})
                    shown = []
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--engine", action="append", choices=["reference", "compiled"])
    parser.add_argument("--operator", action="append")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--dynamic", choices=["first", "all"], help="which extents of inputs are dynamic: the first, or all")
    parser.add_argument("--real", choices=["f16", "bf16", "f32", "f64"], default="f32")
    parser.add_argument("--int", choices=["i8", "i16", "i32", "i64"], default="i64")
    parser.add_argument("--verbose", action="store_true", help="a line for each operator")
    args = parser.parse_args()
    StorageTypes.real, StorageTypes.int = args.real, args.int

    entries = library()
    shown, cases = list(examples.cases(entries)), list(operators.all_cases())
    if args.sample:
        cases = list(sampled(cases, args.sample))
    cases = shown + cases
    for case in cases:
        case.dynamic = args.dynamic
    if args.operator:
        cases = [c for c in cases if any(o in c.operator for o in args.operator)]
    outside = [c for c in cases if not c.fits()]
    cases = [c for c in cases if c.fits()]
    if outside:
        print("%d cases have arrays that --real=%s --int=%s does not hold" % (len(outside), args.real, args.int))
    status = 0
    for engine in args.engine or ["reference", "compiled"]:
        counts = collections.defaultdict(lambda: {"passed": 0, "failed": 0, "refused": 0})
        for case, complaint in run_engine(cases, engine, args.skript, args.jobs):
            outcome = "passed" if complaint is None else "refused" if complaint == "refused" else "failed"
            counts[case.operator][outcome] += 1
            if outcome == "failed":
                print("FAILED %s: %s: %s" % (engine, case, complaint))
                status = 1
        if args.verbose:
            for operator in sorted(counts):
                print("  %-40s %s" % (operator, "  ".join("%5d %s" % (n, k) for k, n in counts[operator].items())))
        missing = [] if args.operator else sorted({e["name"] for e in entries} - set(counts))
        if missing:
            print("no case for: %s" % ", ".join(missing))
            status = 1
        total = {k: sum(c[k] for c in counts.values()) for k in ("passed", "failed", "refused")}
        print("library through %s: %d operators, %s" % (engine, len(counts), ", ".join("%d %s" % (n, k) for k, n in total.items())))
        idle = sorted(o for o, c in counts.items() if c["passed"] == 0)
        if idle:
            print("  %s: %s" % ("compiled code refuses all of" if engine == "compiled" else "nothing passed for", ", ".join(idle)))
            if engine == "reference":
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
