#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a conformance suite on the GPU of another computer, which has neither the compiler nor the suite.

    carried.py pack SUITE FOLDER --skript BINARY [--target nvptx64|vulkan] [--cpu NAME] [--sample N] [--shard I/N]
    carried.py run FOLDER --runner SKRIPT-RUN [--device NAME] [--jobs N] [--table FILE] [--first N] [--seconds N] [--wrapper COMMAND]

`pack` compiles each case that has outputs to a file with its weights, and writes its inputs and expected outputs beside it. With
N shards, folders are smaller. `run` needs the folder, the program skript-run, and numpy. It prints each case that differs, and
the counts.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np


def listed(value):
    return value if isinstance(value, list) else [value]


def selected(suite, sample, shard):
    """The folders of the cases that have outputs."""
    index, count = (int(n) for n in shard.split("/"))
    cases = sorted(suite.glob("*/*/case.json"))
    cases = [case.parent for case in cases if zlib.crc32(case.parent.name.encode()) % sample == 0]
    return [case for n, case in enumerate(cases) if n % count == index % count]


def pack_case(case, folder, options):
    """The reason why the case was not packed; empty for a case that expects an error."""
    description = json.loads((case / "case.json").read_text())
    if description["expect"] == "error":
        return ""
    own = folder / case.parent.name / case.name
    own.mkdir(parents=True, exist_ok=True)
    command = [options.skript, "compile", str(case), *(description.get("args") or []), "--message-format=short"]
    command += [f"--gpu-arch={options.arch}"] * (options.target == "nvptx64")
    command += [f"--target={options.target}", f"--cpu={options.cpu}", "--embed-weights", "-o", str(own / "model.skm")]
    for name, value in (description.get("attrs") or {}).items():
        command += ["--set", f"{name}={json.dumps(value)}"]
    inputs = description.get("inputs") or {}
    shapes = []
    for name, files in inputs.items():
        if isinstance(files, list):
            items = (",".join(map(str, np.load(case / file).shape)) for file in files)
            shapes += ["--input-shape", f"{name}=" + ";".join(items)]
    # The document may not determine the numbers of items.
    for more in ([], shapes):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300)
        if not done.returncode:
            break
    if done.returncode:
        shutil.rmtree(own)
        return done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no message"
    kept = {"rtol": description.get("rtol", 1e-4), "atol": description.get("atol", 1e-5), "inputs": {}, "outputs": {}}
    for role, arrays in [("inputs", inputs), ("outputs", description["outputs"])]:
        for name, files in arrays.items():
            for n, file in enumerate(listed(files)):
                shutil.copy(case / file, own / f"{role}-{name}-{n}.npy")
            kept[role][name] = [len(files)] if isinstance(files, list) else None
    (own / "case.json").write_text(json.dumps(kept))
    return None


def pack(options):
    folder = pathlib.Path(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    cases = selected(pathlib.Path(options.suite), options.sample, options.shard)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        reasons = list(pool.map(lambda case: pack_case(case, folder, options), cases))
    refused = [(case, reason) for case, reason in zip(cases, reasons) if reason]
    for case, reason in refused:
        print(f"{case.parent.name}/{case.name}: {reason}")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{reasons.count(None)} of {len(cases) - reasons.count('')} cases with outputs packed, {size / 1e6:.1f} MB")
    return 1 if refused else 0


def run_case(case, options):
    """Describes the error of the case, or returns None."""
    kept = json.loads((case / "case.json").read_text())
    command = [*options.wrapper.split(), options.runner, str(case / "model.skm"), f"--device={options.device}"]
    for name, pack in kept["inputs"].items():
        for n in range(pack[0] if pack else 1):
            command += ["--input", f"{name}:{n + 1}={case}/inputs-{name}-{n}.npy" if pack else f"{name}={case}/inputs-{name}-0.npy"]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([*command, "--output-dir", out], capture_output=True, text=True, timeout=options.case_seconds)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}"
        for name, pack in kept["outputs"].items():
            for n in range(pack[0] if pack else 1):
                wanted = np.load(case / f"outputs-{name}-{n}.npy")
                path = pathlib.Path(out) / (f"{name}_{n}.npy" if pack else f"{name}.npy")
                if not path.exists():
                    return f"no output {path.name}: there are {sorted(os.listdir(out))}"
                got = np.load(path)
                if got.shape != wanted.shape:
                    return f"{path.name} has the shape {got.shape} instead of {wanted.shape}"
                if wanted.dtype.kind == "f":
                    wrong = ~np.isclose(got.astype(np.float64), wanted.astype(np.float64), kept["rtol"], kept["atol"], equal_nan=True)
                else:
                    wrong = got != wanted
                if wrong.any():
                    first = tuple(int(i) for i in np.argwhere(wrong)[0])
                    return f"{path.name}: {int(wrong.sum())} of {wrong.size} differ, at {list(first)} {got[first]} instead of {wanted[first]}"
    return None


def run(options):
    folder = pathlib.Path(options.folder)
    cases = sorted((path.parent for path in folder.glob("*/*/case.json")), key=lambda case: zlib.crc32(str(case.relative_to(folder)).encode()))
    cases = cases[: options.first or None]
    if not cases:
        print(f"there are no cases in {options.folder}")
        return 1
    begun = time.monotonic()

    def checked(case):
        if time.monotonic() - begun > options.seconds:
            return "not run"
        try:
            return run_case(case, options)
        except (subprocess.TimeoutExpired, OSError, ValueError, LookupError) as error:
            return f"{type(error).__name__}: {error}"[:300]

    families, count = {}, {"equal": 0, "differ": 0, "not run": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(checked, case): case for case in cases}
        for done in concurrent.futures.as_completed(waiting):
            case, reason = waiting[done], done.result()
            right, all_of_it = families.get(case.parent.name, (0, 0))
            families[case.parent.name] = right + (reason is None), all_of_it + 1
            count["equal" if reason is None else "not run" if reason == "not run" else "differ"] += 1
            if reason and reason != "not run":
                print(f"{case.parent.name}/{case.name}: {reason}", flush=True)
            if options.table:
                write_table(families, options.table)
    lines = rows(families)
    print("\n".join(lines))
    print(f"{count['equal']} of {len(cases)} cases equal, {count['differ']} differ, {count['not run']} not run")
    return 0 if count["equal"] == len(cases) else 1


def rows(families):
    return ["| family | equal | cases |", "|---|---|---|"] + [f"| {name} | {right} | {n} |" for name, (right, n) in sorted(families.items())]


def write_table(families, path):
    pathlib.Path(path).write_text("\n".join(rows(families)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("suite")
    packing.add_argument("folder")
    packing.add_argument("--skript", required=True)
    packing.add_argument("--target", default="nvptx64", choices=["nvptx64", "vulkan"])
    packing.add_argument("--cpu", default="x86-64-v3")
    packing.add_argument("--arch", default="sm_80")
    packing.add_argument("--sample", type=int, default=1)
    packing.add_argument("--shard", default="0/1")
    packing.set_defaults(command=pack)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--runner", required=True)
    running.add_argument("--device", default="auto")
    running.add_argument("--table", help="a file that is written after each case")
    running.add_argument("--first", type=int, default=0, help="so many cases, in an order without meaning")
    running.add_argument("--seconds", type=float, default=1e6, help="begin no case after so many seconds")
    running.add_argument("--case-seconds", type=float, default=600)
    running.add_argument("--wrapper", default="", help="a command that runs the runner, such as compute-sanitizer")
    running.set_defaults(command=run)
    for command in (packing, running):
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    return options.command(options)


if __name__ == "__main__":
    sys.exit(main())
