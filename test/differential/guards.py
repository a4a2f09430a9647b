#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random chains of formulas with dynamic extents.

    guards.py --skript BINARY [--count N] [--seed S] [--pipelines linalg,linalg-named,affine,scf] [--keep DIR]

Subscripts may be out of bounds; their guards and clamps are weaker or stronger than necessary. Each model runs with extents from zero to
the bound. A run that both refuse with the same message counts as refused. A run that only one refuses is a failure, unless the affine
pipeline documents that it does not support the formula. A failing case is written to --keep.
"""
import argparse
import os
import random
import re
import sys
import tempfile

import numpy as np

from agreement import agree
from formulas import run

BOUNDS = {"n": 6, "m": 5, "k": 3, "h": 9}
CHAINS = {
    "real": ["{0} * 2.0", "{0} + 1.0", "({0} > 0.0 ? 1.0 : {0})", "`abs`({0})", "-{0}"],
    "int": ["{0} * 2", "{0} + 1", "({0} >> 0)", "{0} % 3", "-{0}"],
    "bool": ["!{0}"],
}
WRITES = {"real": ["+=", "+=", "+=", "*=", ">=", "<=", ":="], "int": ["+=", "*=", ">=", "<=", ":="], "bool": ["&=", "|="]}


def subscripts(places):
    return "[%s]" % (", ".join(places) + ("," if len(places) == 1 else ""))


class Model:
    """A graph of elementwise operators, followed by operators of one or two random formulas."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        names = self.random.sample(list(BOUNDS), self.random.randint(1, 3))
        kinds = ["real", "real", "real", "int", "bool"]
        self.inputs = []
        for number in range(self.random.randint(1, 3)):
            shape = [self.random.choice(names) if self.random.random() < 0.85 else str(self.random.randint(1, 4))
                     for _ in range(self.random.choice([1, 1, 1, 2, 2, 3]))]
            self.inputs.append(("x%d" % number, self.random.choice(kinds), shape))
        self.names = [n for n in names if any(n in shape for _, _, shape in self.inputs)]
        if not self.names:
            self.names = ["n"]
            self.inputs.append(("extra", "real", ["n"]))
        self.operators, self.steps = [], []
        known = list(self.inputs)
        for number in range(self.random.randint(0, 2)):
            known.append(self.chain("e%d" % number, *self.random.choice(known)))
        self.outputs = []
        for number in range(self.random.randint(1, 3)):
            self.outputs.append(self.formulas("y%d" % number, known))
            known.append(self.outputs[-1])
        self.text = self.document()

    def chain(self, result, name, kind, shape):
        """An elementwise operator on one tensor."""
        indices = ["i%d" % axis for axis in range(len(shape))]
        extents = ["d%d" % axis for axis in range(len(shape))]
        value = self.random.choice(CHAINS[kind]).format("a" + subscripts(indices))
        loops = ", ".join("%s < %s" % pair for pair in zip(indices, extents))
        self.operators.append("operator f_%s { @input { a: %s[%s]; } @output { y: %s[%s]; } @lower { y%s = %s, %s; } }"
                              % (result, kind, ",".join(extents), kind, ",".join(extents), subscripts(indices), value, loops))
        self.steps.append("%s = f_%s(%s);" % (result, result, name))
        return result, kind, shape

    def extent(self):
        n, m, c = self.random.choice(self.extents), self.random.choice(self.extents), self.random.randint(1, 3)
        return self.random.choice([
            n, n, n, n, "%s+%d" % (n, c), "2*%s" % n, "(%s+1)/2" % n, "%s/2" % n, "(%s-%d>>0)" % (n, c), "(%s+%s)" % (n, m),
            "(%s<<%s)" % (n, m), "(%s>>%s)" % (n, m), "%s*%s" % (n, m), str(c), "(%s-%s>>0)" % (n, m), "(%s-1)/%d+1" % (n, c + 1)])

    def formulas(self, result, known):
        """An operator of one or two formulas on some of the tensors."""
        is_open = lambda tensor: any(not extent.isdigit() for extent in tensor[2])
        given = self.random.sample(known, min(len(known), self.random.randint(1, 3)))
        if not any(map(is_open, given)):
            given.append(next(tensor for tensor in self.inputs if is_open(tensor)))
        symbols = {}
        self.tensors = []
        for number, (_, kind, shape) in enumerate(given):
            own = [e if e.isdigit() else symbols.setdefault(e, e if e in BOUNDS else "d%d" % len(symbols)) for e in shape]
            self.tensors.append(("a%d" % number, kind, own))
        self.extents = list(symbols.values())
        kind = self.random.choice(["real", "real", "real", "int", "bool"])
        shape = [self.extent() for _ in range(self.random.choice([1, 1, 2, 2, 3, 0]))]
        lines = [self.statement(kind, shape, True)] if self.random.random() < 0.45 else []
        if not lines or self.random.random() < 0.6:
            line = self.statement(kind, shape, False)
            if not lines and " := " in line:
                lines.append(self.statement(kind, shape, True))
            lines.append(line)
        declared = " ".join("%s: %s[%s];" % (name, own, ",".join(extents)) for name, own, extents in self.tensors)
        self.operators.append("operator o_%s {\n  @input { %s }\n  @output { y: %s[%s]; }\n  @lower {\n    %s\n  }\n}"
                              % (result, declared, kind, ",".join(shape), "\n    ".join(lines)))
        self.steps.append("%s = o_%s(%s);" % (result, result, ", ".join(name for name, _, _ in given)))
        extents = [e if e.isdigit() or e in symbols and e in BOUNDS else "%s_%d" % (result, axis) for axis, e in enumerate(shape)]
        return result, kind, extents

    def affine(self):
        terms = []
        for index in self.random.sample(list(self.loops), min(len(self.loops), self.random.choice([1, 1, 2, 2, 2]))):
            terms.append(self.random.choice(["{0}", "{0}", "{0}", "{0}", "2*{0}", "2*{0}", "3*{0}", "(0-{0})"]).format(index))
        text = (" + ".join(terms) or "0") + self.random.choice(["", "", "-1", "-1", "-2", "+1", "+2", "-3"])
        if self.random.random() < 0.2:
            text += self.random.choice(["-", "+"]) + self.random.choice(self.extents) + self.random.choice(["", "/2"])
        if self.random.random() < 0.1:
            divisor = self.random.choice(["2", "3", "(%s>>1)" % self.random.choice(self.extents)])
            text = "(%s)%s%s" % (text, self.random.choice(["/", "\\", "%"]), divisor)
        return text

    def place(self, extent):
        """A subscript of a dimension."""
        exact = [index for index, end in self.loops.items() if end == extent]
        if exact and self.random.random() < 0.4:
            return self.random.choice(exact)
        if self.random.random() < 0.03:
            return "|%s|" % self.value("int", 1)
        form = self.affine()
        end = extent if self.random.random() < 0.7 else self.random.choice(self.extents)
        low, high = self.random.choice(["0", "0", extent + "-1"]), self.random.choice([extent + "-1", extent + "-1", "0"])
        return self.random.choice(5 * ["|%s|" % form] + 2 * ["(%s >> 0) << %s-1" % (form, end)] + [
            "|%s <> %s : %s|" % (form, low, high), "(%s << %s-1) >> 0" % (form, end), "(%s) %% (%s>>1)" % (form, end), form])

    def access(self, name, extents):
        return name + subscripts([self.place(extent) for extent in extents])

    def condition(self, depth=1):
        form, extent = self.affine(), self.random.choice(self.extents)
        compared = self.random.choice([self.affine(), extent, extent + "-1"])
        choices = [
            lambda: "(%s >= %s && %s < %s%s)" % (form, self.random.choice("0001"), form, extent, self.random.choice(["", "", "+1", "-1"])),
            lambda: "(%s < 0 || %s >= %s)" % (form, form, extent),
            lambda: "%s %s %s" % (form, self.random.choice(["<", "<=", ">", "==", "!=", ">="]), compared)]
        if depth:
            choices += [
                lambda: "!(%s)" % self.condition(0),
                lambda: "(%s %s %s)" % (self.condition(0), self.random.choice(["&&", "||"]), self.condition(0)),
                lambda: self.value("bool", 1)]
        return self.random.choice(choices)()

    def value(self, kind, depth):
        own = [(name, extents) for name, tensor, extents in self.tensors if tensor == kind]
        if depth <= 0 or self.random.random() < 0.3:
            if own and self.random.random() < 0.88:
                return self.access(*self.random.choice(own))
            numbers = list(self.loops) + self.extents
            return self.random.choice({"real": ["0.5", "1.0", "-1.5", "real(%s)" % self.random.choice(numbers)],
                                       "bool": ["true", "false"], "int": numbers + ["1", "3"]}[kind])
        inner = lambda kind=kind: self.value(kind, depth - 1)
        if kind == "bool":
            other = self.random.choice(["real", "int"])
            return self.random.choice([
                lambda: "(%s %s %s)" % (inner(other), self.random.choice(["<", "<=", ">", "==", "!="]), inner(other)),
                lambda: "(%s %s %s)" % (inner(), self.random.choice(["&&", "||", "^"]), inner()),
                self.condition, lambda: "!%s" % inner()])()
        choices = [
            lambda: "(%s %s %s)" % (inner(), self.random.choice(["+", "-", "*", "<<", ">>", "*", "*"]), inner()),
            lambda: "(%s ? %s : %s)" % (self.condition(), inner(), inner()),
            lambda: "(%s ? %s : %s)" % (self.condition(), inner(), "0" if kind == "int" else self.random.choice(["0.0", "1.0", "-3.0"])),
            lambda: "(-%s)" % inner()]
        if kind == "int":
            choices.append(lambda: "(%s %s %s)" % (inner(), self.random.choice(["/", "\\", "%"]), inner()))
        else:
            choices.append(lambda: "`%s`(%s)" % (self.random.choice(["abs", "floor", "sign"]), inner()))
        return self.random.choice(choices)()

    def statement(self, kind, shape, first):
        self.loops, places = {}, []
        for index, extent in zip("ijlv", shape):
            choice = self.random.random()
            self.loops[index] = self.extent() if 0.85 <= choice < 0.9 else extent
            places.append(index if choice < 0.85 else "|%s|" % index if choice < 0.9 else
                          "%s-1-%s" % (extent, index) if choice < 0.95 else None)
        sign = "=" if first else self.random.choice(WRITES[kind])
        if not first:
            for index in "pq"[:self.random.choice([0, 1, 1, 1, 2])]:
                self.loops[index] = self.random.choice([self.extent(), str(self.random.randint(1, 4)), self.random.choice(self.extents)])
        places = [place or "|%s|" % self.affine() for place in places]
        value = self.value(kind, 1 if sign == "*=" else self.random.randint(0, 2))
        loops = ["%s < %s" % loop for loop in self.loops.items()]
        if self.random.random() < 0.2:
            self.random.shuffle(loops)
        guard = " | " + self.condition() if self.loops and self.random.random() < 0.35 else ""
        return "y%s %s %s%s;" % (subscripts(places), sign, ", ".join([value] + loops), guard)

    def document(self):
        bounded = set()

        def declared(extent):
            if extent.isdigit() or extent in bounded:
                return extent
            bounded.add(extent)
            return "%s|%d" % (extent, BOUNDS[extent])

        inputs = ["%s: %s[%s];" % (name, kind, ",".join(map(declared, shape))) for name, kind, shape in self.inputs]
        outputs = ["%s: %s[%s];" % (name, kind, ",".join(e if e.isdigit() else "~" for e in shape)) for name, kind, shape in self.outputs]
        return "%s\ngraph G {\n  @input { %s }\n  @output { %s }\n  @compose { %s }\n}\n" % (
            "\n".join(self.operators), " ".join(inputs), " ".join(outputs), " ".join(self.steps))

    def sizes(self):
        """The extents of some runs: the bounds, one, zero, and others."""
        found = [dict(BOUNDS), dict.fromkeys(BOUNDS, 1), dict.fromkeys(BOUNDS, 0)]
        for _ in range(3):
            found.append({name: self.random.choice([0, 1, 2, 3, bound - 1, bound]) for name, bound in BOUNDS.items()})
        return [{name: min(sizes[name], BOUNDS[name]) for name in self.names} for sizes in found]

    def values(self, sizes, values):
        for name, kind, shape in self.inputs:
            extents = [int(e) if e.isdigit() else sizes[e] for e in shape]
            if kind == "int":
                yield name, values.integers(-4, 5, extents, dtype=np.int64)
            elif kind == "bool":
                yield name, np.asarray(values.random(extents) < 0.5)
            else:
                yield name, (values.integers(-8, 9, extents) / 2).astype("f")


def difference(answers, folders, name):
    """Describes how the second of two answers differs from the first; `None` if they are equal."""
    (status, said), (other, text) = answers
    if status not in (0, 1) or status != other:
        return "the evaluator ends with %s, %s with %s:\n%s\n%s" % (status, name, other, said[:400], text[:600])
    for file in sorted(os.listdir(folders[0])) if status == 0 else []:
        one, two = (np.load(os.path.join(folder, file)) for folder in folders)
        if not agree(one, two):
            return "%s\nevaluator\n%s\n%s\n%s" % (file, one, name, two)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipelines", default="linalg,linalg-named,affine,scf")
    parser.add_argument("--keep", help="folder for cases that fail")
    args = parser.parse_args()
    pipelines = args.pipelines.split(",")
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number in range(args.count):
            model = Model(args.seed * 1_000_003 + number)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            with open(os.path.join(home, "main.sknd"), "w") as file:
                file.write(model.text)
            for position, sizes in enumerate(model.sizes()):
                given = []
                for name, array in model.values(sizes, np.random.default_rng([number, position])):
                    path = os.path.join(home, "%d.%s.npy" % (position, name))
                    np.save(path, array)
                    given += ["--input", "%s=%s" % (name, path)]
                runs.append((number, model, sizes, os.path.join(home, "main.sknd"), given))
        to = lambda name, run: os.path.join(folder, "out", name, str(run))
        answers = {}
        for name in ["reference"] + pipelines:
            flags = ["--engine=reference"] if name == "reference" else ["--pipeline=" + name]
            jobs = [[path, "--message-format=short", *given, "--output-dir", to(name, at)] for at, (*_, path, given) in enumerate(runs)]
            answers[name] = run(args.skript, flags, jobs, folder)
        failures, left = {}, 0
        for at, (number, model, sizes, *_) in enumerate(runs):
            expected = answers["reference"][at]
            for name in pipelines:
                found = answers[name][at]
                if name == "affine" and expected[0] == 0 and found[0] == 1 and "SK8001" in found[1]:
                    left += 1
                    continue
                said = difference([expected, found], [to("reference", at), to(name, at)], name)
                if said:
                    failures.setdefault((number, name), "%s\nextents %s\n%s" % (model.text, sizes, said))
        computed = sum(status == 0 for status, _ in answers["reference"])
    for (number, name), problem in list(failures.items())[:5]:
        print("--- model %d of seed %d, %s\n%s\n" % (number, args.seed, name, problem))
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
        for (number, name), problem in failures.items():
            with open(os.path.join(args.keep, "%d-%d-%s.txt" % (args.seed, number, name)), "w") as file:
                file.write(problem)
    print("guards: %d of %d runs of %d models computed, affine leaves %d, %d differ" % (computed, len(runs), args.count, left, len(failures)))
    return 1 if failures or computed < len(runs) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
