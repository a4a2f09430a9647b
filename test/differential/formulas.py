#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random formulas.

    formulas.py --skript BINARY [--count N] [--seed S] [--pipelines linalg,affine,scf] [--keep DIR]

Two independent implementations are compared; there are no expected values. A formula that both refuse with the same message
counts as refused. A formula that only one refuses is a failure, unless the affine pipeline documents that it does not support
it. A failing case is written to --keep with the command that repeats it.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

from agreement import agree

KINDS = ["real", "real", "real", "int", "bool"]


class Tensor:
    def __init__(self, name, kind, shape):
        self.name, self.kind, self.shape = name, kind, shape

    def declare(self):
        return "%s: %s[%s];" % (self.name, self.kind, ", ".join(map(str, self.shape)))

    def values(self, rng):
        if self.kind == "int":
            return rng.integers(-4, 5, self.shape, dtype=np.int64)
        if self.kind == "bool":
            return rng.random(self.shape) < 0.5
        # Multiples of 1/2: sums of a few are exact in any order.
        return (rng.integers(-8, 9, self.shape) / 2).astype(np.float32)


class Case:
    """One operator with one or two formulas on a few small tensors."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.depth = 0
        self.inputs = [self.tensor("x%d" % n, KINDS) for n in range(self.random.randint(1, 3))]
        self.inputs.append(Tensor("k", "int", [self.extent()]))
        self.output = self.tensor("y", KINDS)
        self.text = self.document()

    def tensor(self, name, kinds):
        return Tensor(name, self.random.choice(kinds), [self.extent() for _ in range(self.random.randint(0, 3))])

    def extent(self):
        return 0 if self.random.random() < 0.05 else self.random.randint(1, 4)

    # Places --------------------------------------------------------------------------------------------------------

    def position(self, extent):
        """A subscript that is within `extent` or guarded."""
        names = list(self.bounds)
        fitting = self.within(extent)
        choice = self.random.random()
        if fitting and choice < 0.45:
            return self.random.choice(fitting)
        affine = self.affine(names)
        if choice < 0.65 or extent == 0:
            return "|%s|" % affine
        if choice < 0.75:
            return "|%s <> %d : %d|" % (affine, self.random.randrange(extent), self.random.randrange(extent))
        if choice < 0.83:
            return "|%s <> 0 : %d|" % (affine, extent - 1)
        if choice < 0.9 and names:
            return "(%s) %% %d" % (affine, extent)
        if choice < 0.95 and names and self.depth < 2:
            return "|%s|" % self.value("int", 1)
        return str(self.random.randrange(extent))

    def within(self, extent):
        """The indices that are always below `extent`."""
        return [name for name in self.bounds if self.bounds[name] <= extent]

    def affine(self, names):
        terms = []
        for name in self.random.sample(names, min(len(names), self.random.randint(1, 2))):
            factor = self.random.choice([1, 1, 1, 2, -1])
            terms.append(name if factor == 1 else "%d * %s" % (factor, name) if factor > 0 else "0 - %s" % name)
        terms.append(str(self.random.randint(-2, 3)))
        return " + ".join(terms)

    def access(self, tensor):
        if not tensor.shape:
            return "%s[]" % tensor.name
        places = [self.position(extent) for extent in tensor.shape]
        return "%s[%s]" % (tensor.name, places[0] + "," if len(places) == 1 else ", ".join(places))

    # Values --------------------------------------------------------------------------------------------------------

    def value(self, kind, depth):
        self.depth += 1
        try:
            return self.value_of(kind, depth)
        finally:
            self.depth -= 1

    def value_of(self, kind, depth):
        tensors = [t for t in self.inputs if t.kind == kind]
        if depth <= 0 or self.random.random() < 0.2:
            if tensors and self.random.random() < 0.8:
                return self.access(self.random.choice(tensors))
            if kind == "real":
                return self.random.choice(["0.5", "1.0", "2.0", "-1.5", "real(%s)" % self.value("int", 0)])
            if kind == "bool":
                return self.random.choice(["true", "false"])
            return self.random.choice(list(self.bounds) + ["1", "3"])
        sub = lambda k=kind: self.value(k, depth - 1)
        if kind == "bool":
            other = self.random.choice(["real", "int"])
            return self.random.choice([
                lambda: "(%s %s %s)" % (sub(other), self.random.choice(["<", "<=", ">", ">=", "==", "!="]), sub(other)),
                lambda: "(%s %s %s)" % (sub(), self.random.choice(["&&", "||", "^"]), sub()),
                lambda: "!%s" % sub(),
            ])()
        forms = [
            lambda: "(%s %s %s)" % (sub(), self.random.choice(["+", "-", "*", "<<", ">>"]), sub()),
            lambda: "(%s %s %s)" % (sub(), self.random.choice(["+", "-", "*"]), sub()),
            lambda: "(%s ? %s : %s)" % (sub("bool"), sub(), sub()),
            lambda: "(-%s)" % sub(),
        ]
        if kind == "int":
            forms += [lambda: "(%s %s %s)" % (sub(), self.random.choice(["/", "\\", "%"]), sub()),
                      lambda: "int(%s)" % sub("real")]
        else:
            function = self.random.choice(["abs", "floor", "ceil", "sign", "round"])
            forms += [lambda: "`%s`(%s)" % (function, sub()), lambda: "real(%s)" % sub("int")]
        return self.random.choice(forms)()

    # Statements ----------------------------------------------------------------------------------------------------

    def statement(self, start):
        output = self.output
        self.bounds = {}
        places = []
        for extent in output.shape:
            if extent == 0 or self.random.random() < 0.9:
                name = "ijlm"[len(self.bounds)]
                self.bounds[name] = extent
                places.append(name)
            else:
                places.append(str(self.random.randrange(extent)))
        sign = "="
        if not start:
            signs = {"real": ["+=", "+=", "*=", ">=", "<=", ":="], "int": ["+=", ">=", "<=", ":="], "bool": ["&=", "|="]}
            sign = self.random.choice(signs[output.kind])
            for name in "pq"[: self.random.randint(0, 2)]:
                self.bounds[name] = self.extent()
        value = self.value(output.kind, 1 if sign == "*=" else self.random.randint(0, 3))
        clauses = ["%s < %d" % item for item in self.bounds.items()]
        self.random.shuffle(clauses)
        condition = ""
        if self.bounds and self.random.random() < 0.3:
            condition = " | " + self.value("bool", 1)
        if not output.shape:
            target = "y[]"
        else:
            target = "y[%s]" % (places[0] + "," if len(places) == 1 else ", ".join(places))
        clauses = "".join(", " + c for c in clauses)
        return "%s %s %s%s%s;" % (target, sign, value, clauses, condition)

    def document(self):
        lines = [self.statement(True)]
        if self.random.random() < 0.7:
            lines.append(self.statement(False))
        inputs = " ".join(t.declare() for t in self.inputs)
        names = ", ".join(t.name for t in self.inputs)
        return ("operator mine {\n    @input { %s }\n    @output { %s }\n    @lower {\n        %s\n    }\n}\n\n"
                "graph G {\n    @input { %s }\n    @output { %s }\n    @compose { y = mine(%s); }\n}\n"
                % (inputs, self.output.declare(), "\n        ".join(lines), inputs, self.output.declare(), names))


def run(skript, flags, jobs, folder, common=()):
    """Runs `skript run` for all jobs in one process. Returns (exit status, stderr) of each. `common` are options of the command line only."""
    batch = os.path.join(folder, "batch.jsonl")
    with open(batch, "w") as file:
        file.writelines(json.dumps(flags + job) + "\n" for job in jobs)
    done = subprocess.run([skript, "run", *common, "--output-dir", folder, "--batch", batch], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    lines += [{"exit": done.returncode or -1, "stderr": "no answer: " + done.stderr[-200:]}] * (len(jobs) - len(lines))
    return [(line["exit"], line["stderr"]) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipelines", default="linalg,affine,scf")
    parser.add_argument("--keep", help="folder for cases that fail")
    args = parser.parse_args()

    engines = [("reference", ["--engine=reference"])]
    engines += [(p, ["--pipeline=" + p, "--no-cache"]) for p in args.pipelines.split(",")]
    failures, computed, refused = [], 0, 0
    skipped = dict.fromkeys(args.pipelines.split(","), 0)
    with tempfile.TemporaryDirectory() as folder:
        cases, jobs = [], {name: [] for name, _ in engines}
        for number in range(args.count):
            case = Case(args.seed * 1_000_003 + number)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            with open(os.path.join(home, "main.sknd"), "w") as file:
                file.write(case.text)
            rng = np.random.default_rng(number)
            inputs = []
            for tensor in case.inputs:
                path = os.path.join(home, tensor.name + ".npy")
                np.save(path, tensor.values(rng))
                inputs += ["--input", "%s=%s" % (tensor.name, path)]
            cases.append(case)
            for name, _ in engines:
                jobs[name].append([os.path.join(home, "main.sknd"), "--message-format=short", *inputs,
                                   "--output-dir", os.path.join(home, name)])
        answers = {name: run(args.skript, flags, jobs[name], folder) for name, flags in engines}
        for number, case in enumerate(cases):
            status, said = answers["reference"][number]
            result = lambda name: np.load(os.path.join(folder, str(number), name, "y.npy"))
            for name in skipped:
                other, text = answers[name][number]
                if name == "affine" and other == 1 and "SK8001" in text and status == 0:
                    skipped[name] += 1
                    problem = None
                elif status != other:
                    problem = "the evaluator ends with %d, %s with %d:\n%s%s" % (status, name, other, said, text)
                elif status == 0 and not agree(result("reference"), result(name)):
                    problem = "evaluator\n%s\n%s\n%s" % (result("reference"), name, result(name))
                elif status not in (0, 1):
                    problem = "exit %d: %s" % (status, said)
                else:
                    problem = None
                if problem:
                    failures.append((number, name, case.text, problem))
            computed += status == 0
            refused += status == 1
    for number, name, text, problem in failures[:5]:
        print("--- case %d of seed %d, %s\n%s%s\n" % (number, args.seed, name, text, problem))
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
        for number, name, text, problem in failures:
            with open(os.path.join(args.keep, "%d-%d-%s.txt" % (args.seed, number, name)), "w") as file:
                file.write("%s\n%s" % (text, problem))
    left = ", ".join("%s leaves %d" % item for item in skipped.items() if item[1])
    print("formulas: %d computed alike, %d refused, %d differ%s"
          % (computed - len({f[0] for f in failures}), refused, len(failures), "; " + left if left else ""))
    if computed < args.count // 2:
        print("formulas: too few cases could be computed at all")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
