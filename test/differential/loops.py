#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random loops and branches.

    loops.py --skript BINARY [--count N] [--seed S] [--pipelines linalg,affine,scf] [--depth D]

Nested statements, initial values, yielded values and outputs are random, so that loops change tensors that are also read elsewhere.
The models have branches, loops with a data-dependent count or condition, packs of run-time length that loops scan and collect,
tensors with data-dependent extents, and variables. Every operator is a mean or a permutation, so that numbers remain near one.
Failing models are printed. A run that the evaluator refuses must also be refused by compiled code. The affine pipeline skips models
without affine loops.
"""

import argparse
import os
import random
import sys
import tempfile

import numpy as np

import formulas
from agreement import agree

OPERATORS = """
import layout;
operator half { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] * 0.5 + 0.25, i < n; } }
operator back { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[n - 1 - i,], i < n; } }
operator mean { @input { x: real[n]; z: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] * 0.5 + z[i,] * 0.5, i < n; } }
operator pair { @input { x: real[n]; } @output { y: real[n]; z: real[n]; } @compose { w = back(x); y = mean(x, w); z = x; } }
operator low { @input { x: real[n]; } @output { y: bool[]; } @lower { y[] = true; y[] &= x[i,] < 0.75, i < n; } }
operator some {
    @input { x: real[n]; } @output { y: real[~|n]; }
    @compose { f = positive(x); at = layout.nonzero(f); y = taken(x, at); }
}
operator positive { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] > 0.25 ? 1.0 : 0.0, i < n; } }
operator taken { @input { x: real[n]; at: int[1,m]; } @output { y: real[m]; } @lower { y[j,] = x[at[0,j],], j < m; } }
operator into {
    @input { x: real[n]; e: real[m]; } @output { y: real[n]; }
    @lower { y[i,] = x[i,] * 0.5, i < n; y[i,] += e[j,] * 0.1, i < n, j < m; }
}
"""
EXTENT = 4
# Kinds of values: tensors with the extent of the inputs, tensors of data-dependent length, packs (of run-time length) of the former.
WHOLE, SOME, PACK = range(3)


class Body:
    """Statements on the names in scope."""

    def __init__(self, seed, depth):
        self.draw, self.made = random.Random(seed), 0
        known = [("x", WHOLE), ("z", WHOLE), ("es", PACK)]
        self.state = state = self.draw.random() < 0.3
        nested = not state and self.draw.random() < 0.5
        lines, names = self.statements(known + [("w", WHOLE)] * state, depth, self.draw.randint(2, 4))
        given = [name for name in names[len(known) + state :] if name[1] != PACK and not (nested and name[1] == SOME)]
        given = self.draw.sample(given, min(3, len(given))) or known[:1]
        self.outputs = ["o%d" % n for n in range(len(given))]
        lines += ["%s = %s;" % (output, name) for output, (name, _) in zip(self.outputs, given)]
        extents = ["~|4" if kind == SOME else "4" for _, kind in given]
        call = "%s = whole(x, z, es, t);" % ", ".join(self.outputs)
        self.text = ""
        if nested:
            self.text = "operator whole %s\n" % self.block(lines, ["n"] * len(given), "n", "l")
            lines = [call]
        variable = "@variable { w: real[4]; } " if state else ""
        update = " @update { w = %s; }" % self.pick(names, WHOLE) if state else ""
        self.text += "graph G %s\n" % self.block(lines, extents, "4", "l|3", variable, update)

    def block(self, lines, outputs, extent, length, variable="", update=""):
        declared = " ".join("%s: real[%s];" % pair for pair in zip(self.outputs, outputs))
        inputs = "x: real[{0}]; z: real[{0}]; es: real[{0}]..({1}); t: int[];".format(extent, length)
        body = "\n    ".join(lines)
        return "{ @input { %s } %s@output { %s } @compose {\n    %s\n}%s }" % (inputs, variable, declared, body, update)

    def results(self, folder):
        """The outputs, and the new value of the variable, which is at the end of its file."""
        found = [np.load(os.path.join(folder, output + ".npy")) for output in self.outputs]
        if self.state:
            found.append(np.fromfile(os.path.join(folder, "state", "main.G.w.dat"), np.float32)[-EXTENT:])
        return found

    def name(self):
        self.made += 1
        return "v%d" % self.made

    def pick(self, names, kind):
        return self.draw.choice([name for name, k in names if k == kind])

    def kind(self, names):
        """A random kind of tensor; data-dependent lengths are rarer."""
        return SOME if self.draw.random() < 0.25 and any(k == SOME for _, k in names) else WHOLE

    def statements(self, names, depth, count):
        names, lines = list(names), []
        for _ in range(count):
            made, text = self.statement(names, depth)
            left = [name + ".." * (kind == PACK) for name, kind in made]
            lines.append("%s = %s;" % (", ".join(left), text))
            names += made
        return lines, names

    def statement(self, names, depth):
        """The target of an assignment, and its value."""
        chance, whole = self.draw.random(), lambda: self.pick(names, WHOLE)
        if depth == 0 or chance < 0.35:
            return self.operator(names, whole)
        if chance < 0.5:
            kind, arms = self.kind(names), []
            for count in (self.draw.randint(1, 2), 1):
                lines, inner = self.statements(names, depth - 1, count)
                arms.append("{ %s yield %s; }" % (" ".join(lines), self.pick(inner, kind)))
            return [(self.name(), kind)], "if low(%s) then %s else %s" % (whole(), *arms)
        carried = [(self.name(), self.kind(names)) for _ in range(self.draw.choice([1, 1, 2]))]
        starts = ", ".join("%s = %s" % (name, self.pick(names, kind)) for name, kind in carried)
        inside, items, form = names + carried, "", self.draw.choice(["times", "times", "three", "for", "before", "after"])
        if form == "for":
            item = self.name()
            items, inside = "for %s : %s " % (item, self.pick(names, PACK)), inside + [(item, WHOLE)]
        lines, inner = self.statements(inside, depth - 1, self.draw.randint(1, 2))
        yields = []
        for place, (name, kind) in enumerate(carried):
            if kind == SOME:
                # Loop-carried tensors keep their extents.
                yields.append(self.name())
                lines.append("%s = %s(%s);" % (yields[-1], self.draw.choice(["half", "back"]), name))
            elif place:
                yields.append(self.pick(inner, kind))
            else:
                yields.append([name for name, kind in inner if kind == WHOLE][-1])
        left = [(self.name(), kind) for _, kind in carried]
        if form in ("for", "before", "after") and self.draw.random() < 0.5:
            yields.append(self.pick(inner, WHOLE))
            left.append((self.name(), PACK))
        body = "{ %s yield %s; }" % (" ".join(lines), ", ".join(yields))
        test = [name for name, kind in carried if kind == WHOLE] or [whole()]
        texts = {
            "times": "do..(%s -> t) %s" % (self.name(), body),
            "three": "do..(3) %s" % body,
            "for": "do %s" % body,
            "before": "while low(%s) do..(3) %s" % (test[0], body),
            "after": "do..(3) %s while low(%s)" % (body, test[0]),
        }
        return left, "with %s %s%s" % (starts, items, texts[form])

    def operator(self, names, whole):
        options = [("half", 1), ("back", 1), ("mean", 2), ("pair", 1), ("some", 1)]
        if any(kind == SOME for _, kind in names):
            options += [("into", 1), ("half", 0), ("back", 0)]
        operator, inputs = self.draw.choice(options)
        left = [(self.name(), SOME if operator == "some" or not inputs else WHOLE) for _ in range(2 if operator == "pair" else 1)]
        inputs = [whole() for _ in range(inputs)]
        if operator == "into" or not inputs:
            inputs.append(self.pick(names, SOME))
        return left, "%s(%s)" % (operator, ", ".join(inputs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--pipelines", default="linalg,affine,scf")
    args = parser.parse_args()
    engines = [("reference", ["--engine=reference"])]
    engines += [(p, ["--pipeline=" + p, "--no-cache"]) for p in args.pipelines.split(",")]
    failures, refused = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"x": [1.5, -0.5, 0.75, 0.1], "z": [0.3, 1.25, -1, 0.9]}
        for name, array in arrays.items():
            np.save(os.path.join(folder, name), np.array(array, np.float32))
        items = np.array([[0.5, 0.1, -0.75, 1], [0.9, 0.8, 0.2, 0.3], [-0.1, 0.7, 0.4, 0.6]], np.float32)
        for length in range(4):
            np.save(os.path.join(folder, "es%d" % length), items[:length])
            np.save(os.path.join(folder, "t%d" % length), np.array(length))
        bodies, jobs = [], {name: [] for name, _ in engines}
        for number in range(args.count):
            body = Body(args.seed * 1_000_003 + number, args.depth)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            model = os.path.join(home, "main.sknd")
            with open(model, "w") as file:
                file.write(OPERATORS + body.text)
            bodies.append(body)
            choice = random.Random(number)
            inputs = []
            for name, file in {"x": "x", "z": "z", "es": "es%d" % choice.randrange(4), "t": "t%d" % choice.randrange(4)}.items():
                inputs += ["--input", "%s=%s.npy" % (name, os.path.join(folder, file))]
            for name, _ in engines:
                out = os.path.join(home, name)
                state = ["--weights", "zero", "--save-variables", os.path.join(out, "state")] if body.state else []
                jobs[name].append([model, "--message-format=short", *inputs, *state, "--output-dir", out])
        answers = {name: formulas.run(args.skript, flags, jobs[name], folder) for name, flags in engines}
        for number, body in enumerate(bodies):
            load = lambda name: body.results(os.path.join(folder, str(number), name))
            expected, reason = answers["reference"][number]
            if expected == 1 and "error[SK92" in reason:
                refused += 1
            elif expected:
                failures += 1
                print("--- model %d of seed %d\n%s%s\n" % (number, args.seed, body.text, reason))
                continue
            for name, _ in engines:
                status, said = answers[name][number]
                if name == "affine" and "cannot become affine" in said:
                    continue
                problem = "exit %d: %s" % (status, said) if status != expected else None
                if not problem and status and "error[SK92" not in said:
                    problem = "evaluator %s\n%s %s" % (reason, name, said)
                if not problem and not status and not all(map(agree, load("reference"), load(name))):
                    problem = "evaluator %s\n%s %s" % (load("reference"), name, load(name))
                if problem:
                    failures += 1
                    print("--- model %d of seed %d, %s\n%s%s\n" % (number, args.seed, name, body.text, problem))
                    break
    print("loops: %d models computed alike, %d refused alike, %d differ" % (args.count - failures - refused, refused, failures))
    return 1 if failures or refused > args.count // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
