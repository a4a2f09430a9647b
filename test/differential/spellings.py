#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles computations in equivalent spellings: their values must equal numpy, and the compiler must recognize the same kernel in each.

    spellings.py --skript BINARY [--count N] [--seed S] [--update | --times] [FAMILY…]

A family (spelling_families.py) is a text with slots, each of which has equivalent parts. Its spellings are the first parts, the base, then
the base with one other part, and N random combinations. The kernel of a spelling is its set of operations before code generation. A
spelling whose kernel is not that of the base is in spellings.txt, with a reason; combinations have no such parts. The list may only
shrink: superfluous entries fail. `--update` removes them, and appends new ones. `--times` measures the spellings on one thread instead.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

import formulas
from spelling_families import FAMILIES

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spellings.txt")
# The same kernels on all machines.
TARGET = "--cpu=x86-64-v3"
# Passes from this one on plan memory and calls.
LAST_PASS = "skript-prepare-variables"
# A larger ratio of the times of a spelling and of the fastest one is printed.
SLOW = 1.5
MODEL = """
operator op {
    @input { %(inputs)s }
    @output { %(outputs)s }
    @lower { %(text)s }
}
graph G {
    @input { %(inputs)s }
    @output { y: %(result)s; }
    @compose { %(names)s = op(%(passed)s); }
}
"""
OPERATION = re.compile(r"(?:^|= )\s*((?:scf|linalg|vector|memref)\.\w+)")
# Views, values of blocks, and operations whose number depends on constant extents only.
IGNORED = {
    "linalg.fill", "linalg.index", "linalg.yield", "memref.alloca", "memref.cast", "memref.collapse_shape", "memref.expand_shape",
    "memref.reinterpret_cast", "memref.subview", "memref.view", "scf.reduce", "scf.yield", "vector.broadcast", "vector.constant_mask",
}


class Spelling:
    """A family with the number of a part for each slot."""

    def __init__(self, family, choices):
        self.family, self.choices = family, choices
        self.label = " ".join([family.name, *("%s:%d" % (slot, at) for slot, at in choices.items() if at)])

    def text(self):
        text = self.family.text
        # Parts may have slots.
        while "{" in text:
            text = re.sub(r"\{(\w+)\}", lambda match: self.family.slots[match[1]][self.choices[match[1]]], text)
        return text

    def write(self, folder):
        self.home = os.path.join(folder, self.label.replace(" ", "-").replace(":", ""))
        self.path = os.path.join(self.home, "main.sknd")
        os.mkdir(self.home)
        with open(self.path, "w") as file:
            file.write(MODEL % {**self.family.signature(), "text": self.text()})


def spellings(family, known, count, seed):
    base = dict.fromkeys(family.slots, 0)
    found = [Spelling(family, base)]
    found += [Spelling(family, {**base, slot: at}) for slot, parts in family.slots.items() for at in range(1, len(parts))]
    same = {slot: [at for at in range(len(parts)) if "%s %s:%d" % (family.name, slot, at) not in known] for slot, parts in family.slots.items()}
    generator = random.Random("%d %s" % (seed, family.name))
    found += [Spelling(family, {slot: generator.choice(parts) for slot, parts in same.items()}) for _ in range(count)]
    return list({spelling.label: spelling for spelling in found}.values())


def said(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit("spellings: %s: %s" % (" ".join(command)[:200], done.stderr.strip()[:2000]))
    return done.stdout


def kernels(skript, found):
    """The kernels of spellings by label."""
    pipeline = said([skript, "compile", found[0].path, "--emit=llvm", TARGET, "--print-pipeline"])
    pipeline = pipeline[: pipeline.index(LAST_PASS)].rstrip(",") + ")"
    modules = [said([skript, "compile", spelling.path, "--emit=skript", "--no-locations"]) for spelling in found]
    lowered = said([skript + "-opt", "--split-input-file", "--pass-pipeline=" + pipeline], "// -----\n".join(modules)).split("// -----")
    assert len(lowered) == len(found)
    return {spelling.label: kernel(module) for spelling, module in zip(found, lowered)}


def kernel(module):
    """Loops and accesses, and the iterators of the operations that become loops of scalars. The order and the number of each, and
    arithmetic, depend on the spelling."""
    found = set()
    for line in module.splitlines():
        operation = OPERATION.search(line)
        if operation and operation[1] not in IGNORED:
            iterators = re.search(r"iterator_types = \[(.*?)\]", line)
            found.add(" ".join([operation[1], *(re.findall(r"\w+", iterators[1]) if iterators else [])]))
    return found


def inputs(spelling):
    options = []
    for name, values in spelling.family.arrays().items():
        path = os.path.join(spelling.home, name + ".npy")
        np.save(path, values)
        options += ["--input", "%s=%s" % (name, path)]
    return options


def wrong_values(skript, found, folder):
    """The labels of spellings whose values differ from numpy, and why."""
    jobs = [[spelling.path, "--message-format=short", "--output-dir", spelling.home, *inputs(spelling)] for spelling in found]
    for spelling, (status, text) in zip(found, formulas.run(skript, ["--no-cache"], jobs, folder)):
        wanted = spelling.family.reference(*spelling.family.arrays().values())
        result = None if status else np.load(os.path.join(spelling.home, "y.npy"))
        if status:
            yield spelling, text or "exit status %d" % status
        elif result.shape != wanted.shape:
            yield spelling, "has shape %s instead of %s" % (result.shape, wanted.shape)
        elif not np.allclose(result, wanted, 1e-4, 1e-5):
            yield spelling, "differs by %s" % np.abs(result.astype(float) - wanted).max()


def read_known():
    """Labels with reasons, and the lines of the list."""
    with open(KNOWN) as file:
        lines = file.read().splitlines()
    return dict(line.split(" = ", 1) for line in lines if line and not line.startswith("#"))


def write_known(known):
    with open(KNOWN) as file:
        comments = [line for line in file.read().splitlines() if line.startswith("#")]
    with open(KNOWN, "w") as file:
        file.write("\n".join([*comments, *("%s = %s" % item for item in sorted(known.items()))]) + "\n")


def compared(found, kernels_by_label, known):
    """The list of known differences as it must be, and a line for each change of it."""
    result, lines = {}, []
    measured = {spelling.family.name for spelling in found}
    base = {spelling.family.name: kernels_by_label[spelling.family.name] for spelling in found}
    for spelling in found:
        wanted, made = base[spelling.family.name], kernels_by_label[spelling.label]
        if made != wanted:
            change = "adds %s; lacks %s" % (", ".join(sorted(made - wanted)) or "–", ", ".join(sorted(wanted - made)) or "–")
            result[spelling.label] = known.get(spelling.label, change)
            if spelling.label not in known:
                lines.append("%s has another kernel, which %s:\n    %s" % (spelling.label, change, spelling.text()))
    for label, reason in known.items():
        if label.split(" ")[0] not in measured:
            result[label] = reason
        elif label not in result:
            lines.append("%s has the kernel of the base: remove it from %s" % (label, os.path.basename(KNOWN)))
    return result, lines


def print_times(skript, found):
    """The spellings that take more than `SLOW` times the fastest one of their family, slowest first."""
    times = {}
    path = os.path.join(found[0].home, "times.json")
    for _ in range(2):
        for spelling in found:
            said([skript, "bench", spelling.path, "--threads", "1", "--calls", "50", "--json", path, *inputs(spelling)])
            with open(path) as file:
                times[spelling] = min(times.get(spelling, np.inf), json.load(file)["call_ms"])
    best = min(times.values())
    for spelling, ms in sorted(times.items(), key=lambda item: -item[1]):
        if ms > SLOW * best:
            print("%6.1f  %8.4f ms  %s\n    %s" % (ms / best, ms, spelling.label, spelling.text()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    known = read_known()
    families = [family for family in FAMILIES if family.name in args.names or not args.names]
    found = [s for family in families for s in spellings(family, known, args.count, args.seed)]
    with tempfile.TemporaryDirectory() as folder:
        for spelling in found:
            spelling.write(folder)
        if args.times:
            for family in families:
                print_times(args.skript, [spelling for spelling in found if spelling.family is family])
            return 0
        failures = ["%s: %s\n    %s" % (spelling.label, why, spelling.text()) for spelling, why in wrong_values(args.skript, found, folder)]
        after, changes = compared(found, kernels(args.skript, found), known)
    if args.update:
        write_known(after)
        changes = []
    print("\n".join([*failures, *changes, "spellings: %d of %d families, %d with other kernels" % (len(found), len(families), len(after))]))
    return 1 if failures or changes else 0


if __name__ == "__main__":
    sys.exit(main())
