#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports invocations of the standard library's operators to StableHLO, runs them with XLA, and compares with numpy and scipy.
Also counts the StableHLO forms of formulas.

    library.py --skript BINARY [--operator TEXT]... [--sample N] [--real f16|bf16|f32|f64] [--int i8|i16|i32|i64]
               [--dynamic first|all] [--jobs N] [--verbose]

The cases are those of test/library/sweep.py. `--sample N` selects about N of each operator, the same ones in each run. Cases
whose arrays the storage types cannot represent are skipped and counted. With `--dynamic`, the first extent of each input, or
each extent, is dynamic, and the arrays are padded. Exit status 1 if the result of a program is wrong, or if an operator uses a
fallback form and is not in the list below.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "library")]

import xla  # noqa: E402

# The fallback forms, and the operators whose formulas may use them: sampling at data-dependent positions, and sums of
# earlier sums.
GENERAL = ("general", "while")
MAY_BE_GENERAL = ("image._linear_grid_sample", "math.cumsum")


def export(skript, arguments, out):
    """Exports a program. Returns None, or the reason of the failure."""
    keep = [a for at, a in enumerate(arguments) if a != "--input" and (at == 0 or arguments[at - 1] != "--input")]
    from cases import StorageTypes
    command = [skript, "compile", "--message-format=short", "--emit=stablehlo", *keep, "-o", out, "--report", out + ".forms",
               "--real=" + StorageTypes.real, "--int=" + StorageTypes.int]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        return None
    said = done.stderr.strip().split("\n")
    return said[0] if said else "exit status %d" % done.returncode


def refused(skript, arguments):
    """Whether the evaluator refuses these inputs, which determine the extents."""
    done = subprocess.run([skript, "run", "--engine=reference", *arguments], capture_output=True, timeout=120)
    return done.returncode != 0


def stored(name, folder):
    """The array of an input, or the weights of a variable."""
    import numpy
    path = os.path.join(folder, name)
    return numpy.load(path + ".npy") if os.path.exists(path + ".npy") else xla.read_dat(path + ".dat")


def argument(port, folder, ports):
    """The array for an argument; if some extents are also arguments, it is padded to the shape in the program."""
    import ml_dtypes
    import numpy
    if port["role"] == "extent":
        return numpy.int32(stored(port["extent_of"], folder).shape[port["dimension"]])
    dtype = ml_dtypes.bfloat16 if port["dtype"] == "bf16" else xla.dtype_of(port["dtype"])
    values = stored(port["name"], folder).astype(dtype)
    if any(p.get("extent_of") == port["name"] for p in ports):
        return xla.padded_to(port["shape"], values)
    return values.reshape(port["shape"])


def answer(engine, path, folder, results):
    """Runs a program and writes its outputs to files."""
    import numpy
    with open(path) as file:
        text = file.read()
    with open(path + ".json") as file:
        manifest = json.load(file)
    ports = manifest["arguments"]
    values = engine.run(text, [argument(port, folder, ports) for port in ports])
    os.makedirs(results)
    bf16 = {port["name"] for port in manifest["results"] if port["dtype"] == "bf16"}
    for name, value in xla.results_of(manifest, values).items():
        # .npy files do not support bf16.
        numpy.save(os.path.join(results, name + ".npy"), value.astype(numpy.float32) if name in bf16 else value)


def collect(chosen, sample, dynamic):
    """The cases of operators whose names contain one of `chosen`, or all; `dynamic` is that of `type_of`."""
    import sweep
    cases, rest = list(sweep.examples.cases(sweep.library())), list(sweep.operators.all_cases())
    cases += list(sweep.sampled(rest, sample)) if sample else rest
    cases = [c for c in cases if not chosen or any(o in c.operator for o in chosen)]
    for case in cases:
        case.dynamic = dynamic
    return [c for c in cases if c.fits()], sum(not c.fits() for c in cases)


def work(job):
    """(operator, label, outcome, reason, forms) for each case of this job."""
    skript, chosen, types, number, jobs = job
    from cases import StorageTypes
    StorageTypes.real, StorageTypes.int = types
    cases = collect(*chosen)[0][number::jobs]  # their functions cannot be sent to other processes
    engine, found = xla.Xla(), []
    with tempfile.TemporaryDirectory(prefix="library_") as folder:
        for number, case in enumerate(cases):
            model = os.path.join(folder, str(number))
            arguments = case.write(model)
            path = model + ".mlir"
            forms = []
            try:
                reason = export(skript, arguments, path)
                outcome = "no export" if reason else "equal"
                if reason is None:
                    with open(path + ".forms") as file:
                        forms = [line.rstrip("\n").split("\t") for line in file]
                    answer(engine, path, model, model + ".out")
                    reason = case.complaint(model + ".out")
                    outcome = "wrong" if reason else "equal"
                    # Programs do not check anything; their callers do.
                    if reason and case.dynamic and refused(skript, arguments):
                        outcome = "refused"
            except Exception as error:  # XLA may raise any exception
                outcome, reason = "wrong", " ".join(str(error).split())[:300]
            found.append((case.operator, str(case), outcome, reason, forms))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--operator", action="append")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--real", choices=["f16", "bf16", "f32", "f64"], default="f32")
    parser.add_argument("--int", choices=["i8", "i16", "i32", "i64"], default="i64")
    parser.add_argument("--dynamic", choices=["first", "all"], help="which extents of inputs are dynamic: the first, or all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verbose", action="store_true", help="a line for each operator, and why cases have no program")
    args = parser.parse_args()
    xla.require()
    skript = os.path.abspath(args.skript)
    found = []
    from cases import StorageTypes
    types = StorageTypes.real, StorageTypes.int = args.real, args.int
    chosen = args.operator, args.sample, args.dynamic
    outside = collect(*chosen)[1]
    if outside:
        print("%d cases have arrays that --real=%s --int=%s does not hold" % ((outside,) + types))
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for part in pool.map(work, [(skript, chosen, types, number, args.jobs) for number in range(args.jobs)]):
            found += part
    status = 0
    outcomes, forms, general, refused = (collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter),
                                         collections.Counter())
    for operator, label, outcome, reason, lines in sorted(found, key=lambda f: f[:2]):
        outcomes[outcome] += 1
        if outcome == "wrong":
            print("WRONG %s: %s" % (label, reason))
            status = 1
        elif outcome == "no export":
            refused[(operator, reason.split(": ", 1)[-1] if args.verbose else "")] += 1
        for _, inner, form, *_ in lines:
            if form == "calls":  # no formula
                continue
            forms[form] += 1
            if form in GENERAL:
                general[inner or operator][form] += 1
    for (operator, reason), count in sorted(refused.items()):
        print("no program: %s: %d %s" % (operator, count, reason))
    for operator, count in sorted(general.items()):
        print("general form: %s: %s" % (operator, ", ".join("%s %d" % item for item in count.most_common())))
        if operator not in MAY_BE_GENERAL:
            print("GENERAL %s: its formulas have a better form" % operator)
            status = 1
    total = sum(forms.values())
    share = sum(forms[form] for form in GENERAL) / max(total, 1)
    print("forms of %d formulas: %s" % (total, ", ".join("%s %d" % item for item in forms.most_common())))
    print("general forms: %.1f %%" % (100 * share))
    print("library through XLA: %d cases, %s" % (len(found), ", ".join("%d %s" % (n, k) for k, n in outcomes.most_common())))
    return status


if __name__ == "__main__":
    sys.exit(main())
