#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a conformance suite with one engine and compares the result with the list of passing cases.

    check.py SUITE --skript BINARY --engine reference|compiled [--pipeline linalg|linalg-named|affine|scf] [--device vulkan]
             [--small-caches] [--sample N] [--jobs N] [--update]

With `--device`, kernels run on this device; the list is `passing-<engine>-<device>.txt`. With `--small-caches`, models are compiled for a
simulated processor with small caches, so that small models are compiled like large ones, and their accesses are verified. `--sample N` selects
about one of N cases, the same ones in each run. The list (`passing-<engine>.txt` beside this file; `passing-<engine>-<pipeline>.txt` for
pipelines other than linalg) only grows: a listed case that fails is an error, a new passing case is printed, and `--update` adds it.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def sampled(suite, count):
    """Options that select about one of `count` cases: those whose names have the smallest checksums."""
    found = []
    for family in sorted(os.listdir(suite)):
        folder = os.path.join(suite, family)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if zlib.crc32(name.encode()) % count == 0:
                found += ["--case", "%s/%s" % (family, name)]
    return found


def run_suite(suite, command, jobs, count):
    # The suite writes outputs to temporary folders, but a batch writes only to subfolders of the folder on its command line.
    with tempfile.NamedTemporaryFile(suffix=".json") as results, tempfile.TemporaryDirectory(prefix="conformance_") as folder:
        command += " --output-dir=%s" % shlex.quote(folder)
        subprocess.run([sys.executable, os.path.join(suite, "run_conformance.py"), suite, "--batch", "--jobs", str(jobs),
                        "--command", command, "--json", results.name, *(sampled(suite, count) if count > 1 else [])], stdout=subprocess.DEVNULL, env=os.environ | {"TMPDIR": folder})
        with open(results.name) as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--engine", choices=["reference", "compiled"], required=True)
    parser.add_argument("--pipeline", choices=["linalg", "linalg-named", "affine", "scf"], default="linalg")
    parser.add_argument("--device", choices=["cuda", "vulkan"])
    parser.add_argument("--small-caches", action="store_true")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    name = args.engine if args.pipeline == "linalg" else "%s-%s" % (args.engine, args.pipeline)
    if args.device:
        name += "-" + args.device
    path = os.path.join(HERE, "passing-%s.txt" % name)
    listed = set()
    if os.path.exists(path):
        with open(path) as file:
            listed = set(file.read().split())
    command = "%s run --message-format=short --engine=%s" % (args.skript, args.engine)
    if args.engine == "compiled":
        command += " --pipeline=%s" % args.pipeline
    if args.device:
        command += " --device=%s" % args.device
    if args.small_caches:
        command += " --cache-bytes=4096,65536,1048576 --verify-accesses"
    results = run_suite(args.suite, command, args.jobs, args.sample)
    passing = {case for case, result in results.items() if result["passed"]}
    lost = sorted(listed & set(results) - passing)
    gained = sorted(passing - listed)
    for case in lost:
        print("REGRESSION %s: %s" % (case, results[case]["reason"]))
    if args.update and gained:
        with open(path, "w") as file:
            file.write("".join(case + "\n" for case in sorted(listed | passing)))
    elif gained:
        print("%d cases pass that the list does not hold yet (--update adds them)" % len(gained))
    print("conformance through %s: %d of %d cases pass, %d are listed" % (name, len(passing), len(results), len(listed)))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
