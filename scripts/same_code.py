#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the bytes that two compilers generate for the same models, and prints the first difference of the LLVM IR.

    same_code.py BEFORE AFTER [--formats obj,ptx,spv] [--sample N] [--jobs N] [--stablehlo]

BEFORE and AFTER are folders with `skript`. The models are the conformance cases, the examples, those of the tests, and the networks of
test/import/networks.py. With `--stablehlo`, they are the StableHLO programs of the tests and of test/stablehlo/jax_programs.py instead,
which compile to object code. A model that does not compile is compared by its messages.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = ROOT.parent / "shared/conformance"
# A fixed processor, so that results do not depend on the machine.
OPTIONS = {
    "obj": ["--emit=obj", "--cpu=x86-64-v4"],
    "ptx": ["--emit=asm", "--target=nvptx64"],
    "spv": ["--emit=obj", "--target=vulkan"],
}
SECONDS = 120
MOST_LINES = 40


def models(folder):
    """The models. Those of networks.py are written to a folder."""
    sys.path.insert(0, str(ROOT / "test/import"))
    import networks

    for network in networks.NETWORKS:
        yield networks.written(network, folder)[0]
    for parent in (ROOT / "examples", ROOT / "test", SUITE):
        yield from sorted(path.parent for path in parent.rglob("main.sknd"))


def programs(folder, is_compared):
    """The StableHLO programs with these names. Those of jax_programs.py are written to a folder."""
    sys.path.insert(0, str(ROOT / "test/stablehlo"))
    import jax_programs

    yield from (path for path in sorted((ROOT / "test/stablehlo").rglob("*.mlir")) if is_compared(path.name))
    for name in filter(is_compared, jax_programs.PROGRAMS):
        path = folder / (name + ".mlir")
        path.write_text(jax_programs.text(name))
        yield path


def generated(skript, model, options):
    """The compiled bytes, or the error messages of the compiler; None after the time limit."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "out")
        command = [skript, "compile", model, "--message-format=short", *options, "-o", output]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0 and output.exists():
            return output.read_bytes()
        return b"exit %d\n" % done.returncode + done.stderr.replace(folder.encode(), b"")


def difference(before, after, model, options):
    """The first lines in which the LLVM IR differs."""
    options = [option for option in options if not option.startswith("--emit")] + ["--emit=llvm"]
    texts = [(generated(skript, model, options) or b"").decode(errors="replace").splitlines() for skript in (before, after)]
    lines = list(difflib.unified_diff(*texts, "before", "after", lineterm="", n=1))
    return "\n".join(lines[:MOST_LINES]) or "the LLVM IR is the same"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--formats", default="obj,ptx,spv")
    parser.add_argument("--sample", type=int, default=1, help="compare about one of N models")
    parser.add_argument("--stablehlo", action="store_true", help="compare StableHLO programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    before, after = (folder.resolve() / "skript" for folder in (args.before, args.after))
    for skript in (before, after):
        if not skript.with_name("skript-driver").exists():
            sys.exit("same-code: %s lacks skript-driver" % skript.parent)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        def is_compared(name):
            return zlib.crc32(name.encode()) % args.sample == 0

        folder = pathlib.Path(folder)
        if args.stablehlo:
            subjects = list(programs(folder, is_compared))
        else:
            subjects = [model for model in models(folder) if is_compared(model.name)]
        differ = []
        for name in ["obj"] if args.stablehlo else args.formats.split(","):
            options = OPTIONS[name]
            pairs = pool.map(lambda model: [generated(skript, model, options) for skript in (before, after)], subjects)
            results = list(zip(subjects, pairs))
            late = [model for model, pair in results if None in pair]
            results = [(model, pair) for model, pair in results if None not in pair]
            unequal = [model for model, (old, new) in results if old != new]
            compiled = sum(not old.startswith(b"exit ") for _, (old, _) in results)
            print("%s: %d models, %d compiled, %d differ, %d take too long" % (name, len(subjects), compiled, len(unequal), len(late)), flush=True)
            if not compiled:
                sys.exit("same-code: no model compiles to %s" % name)
            differ += [(model, options) for model in unequal]
        for model, options in differ[:20]:
            print("differs: %s %s" % (model, " ".join(options)))
        # Programs have no form in LLVM IR.
        if differ and not args.stablehlo:
            print(difference(before, after, *differ[0]))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
